//! Row offsets of a rectified pair: they reveal a rig that has moved, or the calibration of another rig.

use super::matches::Match;
use super::polynomial;
use glam::DVec2;
use std::fmt;
use stereopsis_base::console::counted;
use stereopsis_base::geometry::Axis;
use stereopsis_base::parameter::choices;
use stereopsis_base::quantile::quantile;

/// Row offset of matched points, right minus left; for cameras one above the other the column offset.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize)]
pub struct RowOffset {
    /// Direction of the baseline; rows are compared if it is horizontal, columns if it is vertical.
    pub axis: Axis,
    /// Median, px; positive if the right image shows points lower, or further to the right.
    pub median_px: f64,
    /// Median of the absolute offsets, px; it reveals offsets of both signs that cancel.
    pub median_abs_px: f64,
    /// 95th percentile of the absolute offsets, px.
    pub p95_abs_px: f64,
    /// Number of matches without outliers.
    pub matches: usize,
    /// Ninth of the image with the largest offset, among those with enough matches.
    pub worst: Option<WorstRegion>,
}

/// Offset of a ninth of the image.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize)]
pub struct WorstRegion {
    /// Name of the region, such as `upper left`.
    pub place: &'static str,
    /// Signed median offset, px.
    pub median_px: f64,
}

choices! {
    /// Effect of a row offset on matching.
    pub enum Verdict {
        /// Below 0.25 px: no effect on matching.
        Good = "good",
        /// Up to 0.5 px: first errors at slanted edges and fine texture.
        Fair = "fair",
        /// Above 0.5 px: holes and errors; the rig should be calibrated again.
        Bad = "bad",
    }
}

const MIN_MATCHES: usize = 20;
const MIN_MATCHES_PER_REGION: usize = 12;
/// Largest distance of an inlier from the fitted plane, px.
const MAX_RESIDUAL_PX: f64 = 0.75;

const REGIONS: [&str; 9] =
    ["upper left", "top", "upper right", "left", "middle", "right", "lower left", "bottom", "lower right"];

/// Returns the row offset of the matches of images of `width` x `height`, rectified or not; matches of several pairs of one rig may be
/// combined. `None` with too few: no texture, darkness, images of different sizes or of different scenes.
pub fn row_offset_of(found: &[Match], width: usize, height: usize) -> Option<RowOffset> {
    let size = DVec2::new(width as f64, height as f64);
    let kept = inliers(found, size);
    if kept.len() < MIN_MATCHES {
        return None;
    }
    let mut offsets: Vec<_> = kept.iter().map(Match::row_offset_px).collect();
    let median_px = quantile(&mut offsets, 0.5);
    let mut amounts: Vec<_> = offsets.iter().map(|v| v.abs()).collect();
    let mut regions: [Vec<f64>; 9] = Default::default();
    for found in &kept {
        let cell = (found.left * 3.0 / size).as_usizevec2().min(glam::USizeVec2::splat(2));
        regions[cell.y * 3 + cell.x].push(found.row_offset_px());
    }
    let filled = regions.iter_mut().zip(REGIONS).filter(|(offsets, _)| offsets.len() >= MIN_MATCHES_PER_REGION);
    let of_places = filled.map(|(offsets, place)| WorstRegion { place, median_px: quantile(offsets, 0.5) });
    Some(RowOffset {
        axis: Axis::Horizontal,
        median_px,
        median_abs_px: quantile(&mut amounts, 0.5),
        p95_abs_px: quantile(&mut amounts, 0.95),
        matches: kept.len(),
        worst: of_places.max_by(|a, b| a.median_px.abs().total_cmp(&b.median_px.abs())),
    })
}

impl RowOffset {
    /// Converts an offset measured in turned images to the upright images of a rig with this axis. Images with a vertical axis were turned
    /// counterclockwise.
    #[must_use]
    pub fn upright(self, axis: Axis) -> Self {
        if axis == Axis::Horizontal {
            return self;
        }
        let turned = |worst: WorstRegion| {
            let cell = REGIONS.iter().position(|place| *place == worst.place).unwrap_or(0);
            let (column, row) = (2 - cell / 3, cell % 3);
            WorstRegion { place: REGIONS[3 * row + column], median_px: -worst.median_px }
        };
        Self { axis, median_px: -self.median_px, worst: self.worst.map(turned), ..self }
    }

    /// Returns the verdict, by the median over the image, or by half of the worst ninth's. The latter detects a roll, whose offsets cancel.
    pub fn verdict(&self) -> Verdict {
        let worst = self.worst.map_or(0.0, |worst| worst.median_px.abs());
        match self.median_px.abs().max(worst / 2.0) {
            px if px < 0.25 => Verdict::Good,
            px if px <= 0.5 => Verdict::Fair,
            _ => Verdict::Bad,
        }
    }
}

impl fmt::Display for RowOffset {
    // `rows differ by 0.62 px (bad), most at the upper left: -1.10 px; 412 matches`
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} differ by {:.2} px ({})", self.axis.lines(), self.median_px.abs(), self.verdict())?;
        if let Some(WorstRegion { place, median_px }) = self.worst {
            write!(f, ", most at the {place}: {median_px:+.2} px")?;
        }
        write!(f, "; {}", counted(self.matches as u64, "match"))
    }
}

const PLANE_TERMS: usize = 3;

/// Returns the inliers of a plane fitted to the offsets over the image.
fn inliers(found: &[Match], size: DVec2) -> Vec<Match> {
    if found.is_empty() {
        return Vec::new();
    }
    let offsets: Vec<_> = found.iter().map(|m| (m.left * 2.0 / size - 1.0, m.row_offset_px())).collect();
    let (plane, sigma_px) = polynomial::fit(&offsets, PLANE_TERMS, MAX_RESIDUAL_PX / 3.0);
    let is_inlier = |(at, px): &(DVec2, f64)| (px - polynomial::value(&plane, *at)).abs() <= 3.0 * sigma_px;
    found.iter().zip(&offsets).filter(|(_, offset)| is_inlier(offset)).map(|(m, _)| *m).collect()
}

#[cfg(test)]
mod tests;
