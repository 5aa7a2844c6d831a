//! Helpers of tests: seeds of random cases, waiting for other threads, tables of the documentation.

use std::path::Path;
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

/// Checks that a page of the documentation contains this table right behind the line `<!-- from the code -->`.
/// `UPDATE_DOCS=1` writes the table into the page instead.
///
/// # Panics
/// The page cannot be read or written, has no such line, or another table.
pub fn check_table(page: &Path, table: &str) {
    const MARK: &str = "<!-- from the code -->\n";
    let text = std::fs::read_to_string(page).expect("the page can be read");
    let start = text.find(MARK).expect("the page has a place for the table") + MARK.len();
    let lines = text[start..].split_inclusive('\n').take_while(|line| line.starts_with('|'));
    let end = start + lines.map(str::len).sum::<usize>();
    if std::env::var_os("UPDATE_DOCS").is_some() {
        let page_text = [&text[..start], table, &text[end..]].concat();
        std::fs::write(page, page_text).expect("the page can be written");
        return;
    }
    assert!(
        &text[start..end] == table,
        "{}: its table is not that of the code; UPDATE_DOCS=1 writes it",
        page.display()
    );
}
