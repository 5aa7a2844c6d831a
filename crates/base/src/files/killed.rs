//! Simulation of a process that is killed between two changes of the disk, for tests.

use std::cell::Cell;
use std::io;

thread_local! {
    /// Number of changes that this thread may still make.
    static LEFT: Cell<usize> = const { Cell::new(usize::MAX) };
    static WAS_KILLED: Cell<bool> = const { Cell::new(false) };
}

/// Runs `work` and lets only the first `changes` of the disk succeed. Returns whether a further one was attempted.
pub fn after<R>(changes: usize, work: impl FnOnce() -> R) -> (R, bool) {
    LEFT.set(changes);
    WAS_KILLED.set(false);
    let done = work();
    LEFT.set(usize::MAX);
    (done, WAS_KILLED.get())
}

pub(super) fn step() -> io::Result<()> {
    let left = LEFT.get();
    LEFT.set(left.saturating_sub(1));
    if left > 0 {
        return Ok(());
    }
    WAS_KILLED.set(true);
    Err(io::Error::other("killed"))
}
