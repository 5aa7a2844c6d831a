//! Charts of a side's image: board coverage and re-projection errors.

use super::markup::{figures, paragraph, section};
use crate::{CELLS, Coverage, Outcome};
use glam::DVec2;
use std::fmt::Write as _;
use stereopsis_base::quantile::quantile;
use stereopsis_frame::Side;

/// Largest number of corners and arrows per image, above which every n-th is drawn.
pub(super) const MAX_DRAWN: usize = 4000;
const NAMES: [&str; 2] = ["Left", "Right"];
/// Length of the median arrow, as a share of the image's width.
const ARROW: f64 = 0.02;
const PLOT: DVec2 = DVec2::new(360.0, 170.0);
/// Number of rings around the centre, each with a median error.
const RINGS: usize = 8;

/// Corner and its re-projection error (observed minus computed), px.
#[derive(Clone, Copy)]
struct Residual {
    at: DVec2,
    error: DVec2,
}

fn residuals(outcome: &Outcome, side: Side) -> Vec<Residual> {
    let of_fit = |fit: &crate::ViewFit| -> Vec<Residual> {
        let corners = fit.view.of(side).iter().zip(&fit.errors[side as usize]);
        corners.map(|(corner, error)| Residual { at: corner.at, error: *error }).collect()
    };
    let all = outcome.solution.views.iter().flat_map(of_fit);
    all.filter(|residual| residual.at.is_finite() && residual.error.is_finite()).collect()
}

fn drawn(all: &[Residual]) -> impl Iterator<Item = &Residual> {
    all.iter().step_by(all.len().div_ceil(MAX_DRAWN).max(1))
}

/// Opens a drawing of a whole image in px.
fn canvas((width, height): (usize, usize)) -> String {
    // pixel centres have integer coordinates
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"-0.5 -0.5 {width} {height}\">\n\
         <rect x=\"-0.5\" y=\"-0.5\" width=\"{width}\" height=\"{height}\" class=\"paper\"/>\n"
    )
}

pub(super) fn coverage(outcome: &Outcome) -> String {
    let drawings = Side::ALL.map(|side| {
        let coverage = &outcome.coverage[side as usize];
        let caption =
            format!("{} image: corners in {:.0} % of the cells", NAMES[side as usize], 100.0 * coverage.share());
        (cells(coverage, &residuals(outcome, side), outcome.size), caption)
    });
    let mut body = figures(&drawings);
    body += &paragraph(
        "Each dot is a corner that was used. The number of a cell counts all corners that were seen there; in a red cell there was none, \
         and the lens there is known from its neighbourhood only.",
    );
    section("Coverage", &body)
}

fn cells(coverage: &Coverage, residuals: &[Residual], size: (usize, usize)) -> String {
    let mut svg = canvas(size);
    let (width, height) = (size.0 as f64 / CELLS.0 as f64, size.1 as f64 / CELLS.1 as f64);
    let most = coverage.cells.iter().copied().max().unwrap_or(0).max(1) as f64;
    let mut counts = String::new();
    for (i, &count) in coverage.cells.iter().enumerate() {
        let (x, y) = ((i % CELLS.0) as f64 * width - 0.5, (i / CELLS.0) as f64 * height - 0.5);
        let (colour, opacity) =
            if count == 0 { ("#d43d2a", 0.14) } else { ("#2a6fb0", 0.08 + 0.5 * (count as f64 / most).sqrt()) };
        let _ = writeln!(
            svg,
            "<rect x=\"{x:.1}\" y=\"{y:.1}\" width=\"{width:.1}\" height=\"{height:.1}\" fill=\"{colour}\" fill-opacity=\"{opacity:.2}\" \
             stroke=\"#fff\" stroke-width=\"{:.2}\"/>",
            size.0 as f64 / 500.0
        );
        let _ = writeln!(counts, "<text x=\"{:.1}\" y=\"{:.1}\">{count}</text>", x + 0.06 * width, y + 0.36 * height);
    }
    // a zero-length stroke with round ends is a dot
    let _ = write!(
        svg,
        "<path fill=\"none\" stroke=\"#10304f\" stroke-linecap=\"round\" stroke-width=\"{:.2}\" d=\"",
        size.0 as f64 / 220.0
    );
    for Residual { at, .. } in drawn(residuals) {
        let _ = write!(svg, "M{:.1} {:.1}h0", at.x, at.y);
    }
    let halo = size.0 as f64 / 250.0;
    let _ = writeln!(
        svg,
        "\"/>\n<g font-size=\"{:.1}\" fill=\"#222\" stroke=\"#fff\" stroke-width=\"{halo:.2}\" paint-order=\"stroke\">\n{counts}</g>\n</svg>",
        0.3 * height
    );
    svg
}

pub(super) fn errors(outcome: &Outcome) -> String {
    let all = Side::ALL.map(|side| residuals(outcome, side));
    // one factor for both sides, which makes their arrows comparable
    let mut lengths: Vec<f64> = all.iter().flatten().map(|residual| residual.error.length()).collect();
    if lengths.is_empty() {
        return section("Residuals", &paragraph("No corner was used."));
    }
    let factor = magnification(ARROW * outcome.size.0 as f64, quantile(&mut lengths, 0.5));
    let highest = 1.1 * quantile(&mut lengths, 0.995).max(1e-3);
    let arrows = Side::ALL.map(|side| {
        let found = &all[side as usize];
        let left_out = if found.len() > MAX_DRAWN {
            format!(", every {}th one", found.len().div_ceil(MAX_DRAWN))
        } else {
            String::new()
        };
        (
            arrows(found, outcome.size, factor),
            format!("{} image: errors, {factor} times as long{left_out}", NAMES[side as usize]),
        )
    });
    let plots = Side::ALL.map(|side| {
        let caption =
            format!("{} image: length of errors over the distance from the middle; line: median", NAMES[side as usize]);
        (plot(&all[side as usize], outcome.size, highest), caption)
    });
    let mut body = figures(&arrows);
    body += &figures(&plots);
    body += &paragraph(
        "Each dart begins at a corner and points from where the solution expects it to where it is seen. Good residuals have no order: \
         their directions differ from corner to corner, and their lengths do not grow towards the borders.",
    );
    section("Residuals", &body)
}

/// Returns the round factor (1, 2 or 5 times a power of ten) that scales a length to at most `wished`.
fn magnification(wished: f64, length: f64) -> f64 {
    let target = (wished / length.max(1e-6)).clamp(1.0, 1e4);
    let power = 10f64.powf(target.log10().floor());
    let step = [5.0, 2.0].into_iter().find(|step| step * power <= target).unwrap_or(1.0);
    step * power
}

fn arrows(all: &[Residual], size: (usize, usize), factor: f64) -> String {
    let mut svg = canvas(size);
    svg.push_str("<path fill=\"#b3261e\" fill-opacity=\"0.8\" d=\"");
    let half = size.0 as f64 / 400.0;
    for Residual { at, error } in drawn(all) {
        let along = *error * factor;
        let across = along.normalize_or(DVec2::X).perp() * half;
        let (first, tip, second) = (*at - across, along + across, across - along);
        let _ =
            write!(svg, "M{:.1} {:.1}l{:.1} {:.1}l{:.1} {:.1}z", first.x, first.y, tip.x, tip.y, second.x, second.y);
    }
    svg.push_str("\"/>\n</svg>\n");
    svg
}

/// Plots errors over the distance from the centre, with medians of rings.
fn plot(all: &[Residual], (width, height): (usize, usize), highest: f64) -> String {
    let middle = (DVec2::new(width as f64, height as f64) - 1.0) / 2.0;
    let farthest = (middle + 0.5).length();
    let (low, high) = (DVec2::new(46.0, PLOT.y - 30.0), DVec2::new(PLOT.x - 14.0, 8.0));
    let place =
        |distance: f64, error: f64| low + (high - low) * DVec2::new(distance / farthest, (error / highest).min(1.0));
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {} {}\" font-size=\"11\">\n<g stroke=\"#d5d9de\" stroke-width=\"0.7\">\n",
        PLOT.x, PLOT.y
    );
    let mut labels = String::new();
    for quarter in 0..=4 {
        let share = f64::from(quarter) / 4.0;
        let at = place(share * farthest, share * highest);
        let _ = writeln!(
            svg,
            "<path d=\"M{:.1} {:.1}H{:.1}M{:.1} {:.1}V{:.1}\"/>",
            low.x, at.y, high.x, at.x, low.y, high.y
        );
        let _ = writeln!(
            labels,
            "<text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"end\">{:.2}</text>",
            low.x - 4.0,
            at.y + 4.0,
            share * highest
        );
        let _ = writeln!(
            labels,
            "<text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"middle\">{:.0}</text>",
            at.x,
            low.y + 13.0,
            share * farthest
        );
    }
    svg.push_str("</g>\n<path fill=\"none\" stroke=\"#10304f\" stroke-opacity=\"0.45\" stroke-linecap=\"round\" stroke-width=\"2\" d=\"");
    for Residual { at, error } in drawn(all) {
        let at = place(at.distance(middle), error.length());
        let _ = write!(svg, "M{:.1} {:.1}h0", at.x, at.y);
    }
    svg.push_str("\"/>\n<path fill=\"none\" stroke=\"#d43d2a\" stroke-width=\"2\" d=\"");
    let mut letter = 'M';
    for ring in 0..RINGS {
        let range = ring as f64 / RINGS as f64 * farthest..(ring + 1) as f64 / RINGS as f64 * farthest;
        let mut lengths: Vec<f64> = all
            .iter()
            .filter(|found| range.contains(&found.at.distance(middle)))
            .map(|found| found.error.length())
            .collect();
        // medians of few errors are unstable
        if lengths.len() >= 8 {
            let at = place(f64::midpoint(range.start, range.end), quantile(&mut lengths, 0.5));
            let _ = write!(svg, "{letter}{:.1} {:.1}", at.x, at.y);
            letter = 'L';
        }
    }
    let _ = writeln!(
        svg,
        "\"/>\n<g fill=\"#444\">\n{labels}<text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"middle\">distance from the middle, px</text>\n\
         <text transform=\"translate(11 {:.1}) rotate(-90)\" text-anchor=\"middle\">error, px</text>\n</g>\n</svg>",
        f64::midpoint(low.x, high.x),
        PLOT.y - 3.0,
        f64::midpoint(low.y, high.y)
    );
    svg
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_are_magnified_by_round_factors() {
        let factors = [(12.8, 0.1), (12.8, 0.12), (12.8, 0.3), (12.8, 50.0), (12.8, 0.0)]
            .map(|(wished, length)| magnification(wished, length) as u32);
        assert_eq!(factors, [100, 100, 20, 1, 10_000]);
    }

    #[test]
    fn a_dart_begins_at_its_corner_and_ends_at_the_error() {
        let residual = Residual { at: DVec2::new(100.0, 50.0), error: DVec2::new(0.0, 0.2) };
        let svg = arrows(&[residual], (400, 300), 100.0);
        // half a base to each side of the corner, and the tip 20 px below
        assert!(svg.contains("d=\"M101.0 50.0l-1.0 20.0l-1.0 -20.0z\""), "{svg}");
    }

    #[test]
    fn drawings_are_bounded() {
        let all = vec![Residual { at: DVec2::new(10.0, 10.0), error: DVec2::X }; 3 * MAX_DRAWN + 1];
        let svg = arrows(&all, (400, 300), 1.0);
        let count = svg.matches('z').count();
        assert!(count <= MAX_DRAWN && count > MAX_DRAWN / 2, "{count}");
    }
}
