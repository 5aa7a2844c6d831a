//! Features of the window, a folder each, which import the core and no other feature: `commands` has the steps and the work once per frame,
//! and `panel` draws the page or strip.

pub(crate) mod cameras;
pub(crate) mod comparison;
pub(crate) mod conversion;
pub(crate) mod doctor;
pub(crate) mod explain;
pub(crate) mod guide;
pub(crate) mod help;
pub(crate) mod history;
pub(crate) mod measure;
pub(crate) mod presets;
pub(crate) mod reach;
pub(crate) mod recording;
pub(crate) mod rig;
pub(crate) mod search;
