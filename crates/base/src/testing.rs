//! Helpers of tests: seeds of random cases, and waiting for other threads.

use std::time::{Duration, Instant};

/// Time after which a test gives up waiting; nothing takes so long.
const PATIENCE: Duration = Duration::from_mins(2);

/// Seeds of random cases: the same `count` in each run. `SEED=N` repeats one, and `CASES=N` takes N times as many, drawn anew.
///
/// # Panics
/// A variable is no number.
pub fn seeds(count: u64) -> Vec<u64> {
    let number = |name: &str| std::env::var(name).ok().map(|text| text.parse().expect("SEED and CASES are numbers"));
    if let Some(seed) = number("SEED") {
        return vec![seed];
    }
    let (first, count): (u64, u64) = match number("CASES") {
        Some(times) => (fastrand::u64(..u64::MAX / 2), times * count),
        None => (1, count),
    };
    (first..first + count).collect()
}

/// Waits until a condition holds.
///
/// # Panics
/// It never does; `what` names it.
pub fn until(what: &str, mut condition: impl FnMut() -> bool) {
    found(what, || condition().then_some(()));
}

/// Waits until something is there.
///
/// # Panics
/// It never is; `what` names it.
pub fn found<T>(what: &str, mut look: impl FnMut() -> Option<T>) -> T {
    let deadline = Instant::now() + PATIENCE;
    loop {
        if let Some(found) = look() {
            return found;
        }
        assert!(Instant::now() < deadline, "waited in vain until {what}");
        std::thread::sleep(Duration::from_millis(2));
    }
}
