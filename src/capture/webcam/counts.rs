//! Counts of a camera's frames that give no picture, written by its thread and read by its source.

use crate::capture::decode_camera::{Damage, Damaged};
use parking_lot::Mutex;

/// Counts of one opening of a camera. The lock is held briefly.
#[derive(Debug, Default)]
pub(super) struct Counts(Mutex<FrameLosses>);

/// Frames without a picture.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct FrameLosses {
    /// Damaged frames.
    pub(super) damaged: Damaged,
    /// Gaps in the driver's sequence numbers.
    pub(super) missed: u64,
    /// Pictures that were not taken in time.
    pub(super) late: u64,
}

impl std::ops::Add for FrameLosses {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self { damaged: self.damaged + other.damaged, missed: self.missed + other.missed, late: self.late + other.late }
    }
}

impl Counts {
    /// Current counts.
    pub(super) fn get(&self) -> FrameLosses {
        *self.0.lock()
    }

    /// Counts a damaged frame.
    pub(super) fn drop_damaged(&self, damage: Damage) {
        self.0.lock().damaged.count(damage);
    }

    /// Counts a picture that was not taken in time.
    pub(super) fn drop_late(&self) {
        self.0.lock().late += 1;
    }

    /// Counts frames missing in the driver's sequence numbers.
    pub(super) fn miss(&self, frames: u32) {
        self.0.lock().missed += u64::from(frames);
    }
}
