//! Kind of a command, which owns the messages of its failures and its jobs.

use std::hash::{DefaultHasher, Hash, Hasher as _};

/// Kind of a command; messages of its failures stay until a command of this kind is executed again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Owner {
    kind: u64,
    /// Whether the failure concerns the open source alone.
    pub(crate) is_of_source: bool,
}

impl Owner {
    /// Returns the owner of commands of this kind.
    pub(crate) fn new(kind: impl Hash, is_of_source: bool) -> Self {
        let mut hasher = DefaultHasher::new();
        kind.hash(&mut hasher);
        Self { kind: hasher.finish(), is_of_source }
    }
}
