//! Claims on cameras: exclusive use of a camera by one thread of this program. nokhwa gives all openers in a process the same device, so
//! that two openers would change each other's mode. Every camera must be claimed before it is opened.

use super::error::CameraError;
use super::mode::Mode;
use parking_lot::Mutex;
use std::collections::BTreeMap;
use std::thread;
use std::time::{Duration, Instant};

/// Claimed cameras by number, with their modes once these are known.
static CLAIMED: Mutex<BTreeMap<u32, Vec<Mode>>> = Mutex::new(BTreeMap::new());
/// Timeout of a claim; listing the modes of a camera claims it briefly.
const CLAIM_TIMEOUT: Duration = Duration::from_secs(1);
const POLL_INTERVAL: Duration = Duration::from_millis(10);

/// Exclusive right to open one camera; released when the thread that uses the camera drops it.
#[derive(Debug)]
pub(super) struct Claim(u32);

impl Claim {
    /// Claims a camera; waits up to [`CLAIM_TIMEOUT`] if it is claimed already.
    ///
    /// # Errors
    /// The camera stays claimed, by another source or by a thread that was detached while blocked in the driver.
    pub(super) fn take(index: u32) -> Result<Self, CameraError> {
        let deadline = Instant::now() + CLAIM_TIMEOUT;
        loop {
            if let Some(claim) = Self::try_take(index) {
                return Ok(claim);
            }
            if Instant::now() >= deadline {
                return Err(CameraError::Held(index));
            }
            thread::sleep(POLL_INTERVAL);
        }
    }

    pub(super) fn try_take(index: u32) -> Option<Self> {
        let mut claimed = CLAIMED.lock();
        if claimed.contains_key(&index) {
            return None;
        }
        claimed.insert(index, Vec::new());
        Some(Self(index))
    }

    pub(super) fn set_modes(&self, modes: &[Mode]) {
        CLAIMED.lock().insert(self.0, modes.to_vec());
    }
}

impl Drop for Claim {
    fn drop(&mut self) {
        CLAIMED.lock().remove(&self.0);
    }
}

pub(super) fn modes_of_claimed(index: u32) -> Vec<Mode> {
    CLAIMED.lock().get(&index).cloned().unwrap_or_default()
}

pub(super) fn is_taken(index: u32) -> bool {
    CLAIMED.lock().contains_key(&index)
}

pub(super) fn other_claimed(index: u32) -> Vec<u32> {
    CLAIMED.lock().keys().copied().filter(|&other| other != index).collect()
}
