//! Background trials of settings: a sweep over two parameters, and a search for better ones.

pub(crate) mod commands;
pub(crate) mod front;
pub(crate) mod labels;
pub(crate) mod map;
pub(crate) mod suggest;
pub(crate) mod sweep;
pub(crate) mod tried_pairs;
