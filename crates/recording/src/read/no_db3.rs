//! Bag of ROS 2 in SQLite in a build without the feature `db3`: none can be opened.

use super::index::FileIndex;
use crate::error::{Db3Error, OpenError};
use std::path::Path;

/// First bytes of each base.
pub(super) const MAGIC: &[u8; 16] = b"SQLite format 3\0";
/// Largest row number of a message that is read.
pub(super) const MAX_ROW: u64 = 0;

/// Bag in SQLite, which no build of this kind opens.
#[derive(Debug)]
pub(super) enum Db3 {}

impl Db3 {
    pub(super) fn open(path: &Path, _bytes: u64) -> Result<Self, OpenError> {
        Err(OpenError::NoDb3(path.to_owned()))
    }

    pub(super) fn index(&mut self, _start: u64, _index: &mut FileIndex) -> Result<(), OpenError> {
        match *self {}
    }

    pub(super) fn record(&self, _id: u64) -> Result<Option<Vec<u8>>, Db3Error> {
        match *self {}
    }
}
