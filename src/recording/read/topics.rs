//! Which topics of a recording show the eyes.

use crate::recording::Channel;
use std::sync::Arc;

/// Which topics show the eyes, as far as the user says so.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TopicChoice {
    /// The left eye's pictures.
    pub left: Option<String>,
    /// The right eye's pictures.
    pub right: Option<String>,
    /// One picture of both eyes, the left half is the left one.
    pub both: Option<String>,
}

/// The topics that show the eyes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Eyes {
    /// One for each.
    Two {
        /// The left eye's.
        left: Arc<Channel>,
        /// The right eye's.
        right: Arc<Channel>,
    },
    /// One picture of both.
    Both(Arc<Channel>),
}
