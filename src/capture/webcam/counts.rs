//! What becomes of a camera's frames that give no picture, counted by its thread and read by its source.

use crate::capture::decode_camera::{Damage, Damaged};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Of one opening of a camera. Held for a moment only.
#[derive(Debug, Default)]
pub(super) struct Counts(Mutex<Lost>);

/// Frames that gave no picture.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Lost {
    /// Were damaged.
    pub(super) damaged: Damaged,
    /// Are missing in the driver's count.
    pub(super) missed: u64,
    /// Nobody took in time.
    pub(super) late: u64,
}

impl std::ops::Add for Lost {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self { damaged: self.damaged + other.damaged, missed: self.missed + other.missed, late: self.late + other.late }
    }
}

impl Counts {
    /// As they stand.
    pub(super) fn get(&self) -> Lost {
        *self.lost()
    }

    /// A frame was damaged.
    pub(super) fn drop_damaged(&self, damage: Damage) {
        self.lost().damaged.count(damage);
    }

    /// A picture was not taken in time.
    pub(super) fn drop_late(&self) {
        self.lost().late += 1;
    }

    /// So many frames are missing in the driver's count.
    pub(super) fn miss(&self, frames: u32) {
        self.lost().missed += u64::from(frames);
    }

    fn lost(&self) -> MutexGuard<'_, Lost> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
