//! Recording of pairs and results.

pub(crate) mod commands;
pub(crate) mod panel;
pub(crate) mod question;
pub(crate) mod state;
