//! Table of a study.

use super::folds::{Errors, FoldResult};
use std::io::{self, Write};

pub(super) fn heading(out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "left out: bad-1.0 with holes filled, time of a pair")
}

pub(super) fn row(searched: &FoldResult, out: &mut dyn Write) -> io::Result<()> {
    let FoldResult { scene, default, best_preset: (preset, of_preset), found, changed } = searched;
    let changed = if changed.is_empty() { "nothing".to_owned() } else { changed.join(", ") };
    let difference = found.bad_1_percent - default.bad_1_percent;
    writeln!(out, "{scene}: {difference:+.2} points")?;
    for (name, of) in [("balanced", default), (preset, of_preset), ("found", found)] {
        let Errors { bad_1_percent, time_ms, .. } = of;
        writeln!(out, "  {name:<14} {bad_1_percent:>6.2} % {time_ms:>7.1} ms")?;
    }
    writeln!(out, "  changed: {changed}")
}

pub(super) fn summary(all: &[FoldResult], out: &mut dyn Write) -> io::Result<()> {
    let differences: Vec<f64> = all.iter().map(|s| s.found.bad_1_percent - s.default.bad_1_percent).collect();
    let mean = differences.iter().sum::<f64>() / differences.len().max(1) as f64;
    let worst = differences.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let better = differences.iter().filter(|difference| **difference < 0.0).count();
    writeln!(out, "mean {mean:+.2} points, worst {worst:+.2}, better on {better} of {} scenes", all.len())
}
