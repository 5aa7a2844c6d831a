//! Button, menu and question of the recording.

pub(crate) mod panel;
pub(crate) mod question;
