//! The progress line of commands that work on pairs; nothing where there is no terminal.

use indicatif::{ProgressBar, ProgressStyle};

/// A bar that counts so many pairs, or a hidden one.
pub(super) fn pair_bar(pairs: Option<u64>) -> ProgressBar {
    let bar = pairs.map_or_else(ProgressBar::hidden, ProgressBar::new);
    match ProgressStyle::with_template("{bar:40} {pos}/{len} pairs, {per_sec}, {eta} left") {
        Ok(style) => bar.with_style(style),
        Err(_) => bar,
    }
}
