//! Helpers of tests: seeds of random cases, and waiting for other threads.

use std::time::{Duration, Instant};

/// Time after which a test gives up waiting, far above every expected wait.
const PATIENCE: Duration = Duration::from_mins(2);

fn number(name: &str) -> Option<u64> {
    std::env::var(name).ok().map(|text| text.parse().expect("SEED and CASES are numbers"))
}

/// Returns the number of random cases: `count`, or with `CASES=N` N times as many.
///
/// # Panics
/// The variable is no number.
pub fn cases(count: u64) -> u64 {
    number("CASES").unwrap_or(1) * count
}

/// Returns seeds of random cases: the same `count` in each run. `SEED=N` repeats one; `CASES=N` draws N times as many new ones.
///
/// # Panics
/// A variable is no number.
pub fn seeds(count: u64) -> Vec<u64> {
    if let Some(seed) = number("SEED") {
        return vec![seed];
    }
    let first = if number("CASES").is_some() { fastrand::u64(..u64::MAX / 2) } else { 1 };
    (first..first + cases(count)).collect()
}

/// Waits until a condition holds; `what` is its name in the panic.
///
/// # Panics
/// The condition does not hold in time.
pub fn until(what: &str, mut condition: impl FnMut() -> bool) {
    found(what, || condition().then_some(()));
}

/// Waits until `look` finds something; `what` is its name in the panic.
///
/// # Panics
/// Nothing is found in time.
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
