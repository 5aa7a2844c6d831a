//! The table of a study.

use super::folds::Searched;
use std::io::{self, Write};

/// One scene.
pub(super) fn row(searched: &Searched, out: &mut dyn Write) -> io::Result<()> {
    let Searched { scene, default_percent, found_percent, wrong_percent, losses, time_ms, changed } = searched;
    let changed = if changed.is_empty() { "nothing changed".to_owned() } else { changed.join(", ") };
    writeln!(
        out,
        "{scene:<28} bad-1.0 {default_percent:>6.2} -> {found_percent:>6.2} % ({:>+6.2})  wrong {:>5.2} -> {:>5.2} %  {:>6.1} -> {:>6.1} ms  \
         searched {:.3} -> {:.3}: {changed}",
        found_percent - default_percent,
        wrong_percent[0],
        wrong_percent[1],
        time_ms[0],
        time_ms[1],
        losses[0],
        losses[1],
    )
}

/// All scenes together.
pub(super) fn summary(found: &[Searched], out: &mut dyn Write) -> io::Result<()> {
    let differences: Vec<f64> = found.iter().map(|s| s.found_percent - s.default_percent).collect();
    let mean = differences.iter().sum::<f64>() / differences.len().max(1) as f64;
    let worst = differences.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let better = differences.iter().filter(|difference| **difference < 0.0).count();
    let total = differences.len();
    writeln!(out, "mean difference {mean:+.2} points, largest {worst:+.2}, lower on {better} of {total} scenes")
}
