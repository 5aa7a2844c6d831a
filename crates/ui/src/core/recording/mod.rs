//! Recording of the running source, and the changes that wait for its end.

pub(crate) mod commands;
pub(crate) mod state;
