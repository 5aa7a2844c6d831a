//! Sub-pixel refinement of a board's corner to the saddle of its brightness.
//!
//! A weighted quadratic surface is fitted around the corner and moved to its stationary point until convergence (Ha, Perdoch, Alismail,
//! Kweon and Sheikh, "Deltille Grids for Geometric Camera Calibration", ICCV 2017, section 3.3, with weights instead of their cone
//! filter). Two crossing straight edges are symmetric about their crossing, so blur, exposure and their angle do not bias the result.

use glam::DVec2;
use nalgebra::{SMatrix, SVector};
use stereopsis_base::image::Image;

/// Smallest and largest radius of the window, px: smaller ones have too few pixels, larger ones edges bent by the lens.
const RADIUS_PX: (f64, f64) = (2.0, 7.0);
const ROUNDS: usize = 30;
/// Movement per iteration that counts as converged, px.
const CONVERGED_PX: f64 = 2e-3;

#[derive(Clone, Copy, Debug)]
pub(super) struct Saddle {
    pub(super) at: DVec2,
    /// Difference between bright and dark uniform quadrants, grey levels.
    pub(super) contrast: f64,
    /// Share of the brightness variance explained by the surface, 0 to 1.
    pub(super) explained: f64,
    /// Second derivatives of the brightness: xx, xy, yy.
    bend: [f64; 3],
}

impl Saddle {
    /// Returns the sign of the quadrant between two directions, positive for bright, with magnitude 1 for a saddle aligned with them.
    pub(super) fn brightness_between(&self, u: DVec2, v: DVec2) -> f64 {
        let [xx, xy, yy] = self.bend;
        let (u, v) = (u.normalize_or_zero(), v.normalize_or_zero());
        let strongest = (xy * xy - xx * yy).max(1e-12).sqrt();
        (xx * u.x * v.x + xy * (u.x * v.y + u.y * v.x) + yy * u.y * v.y) / strongest
    }
}

/// Finds the saddle near `start` in a window of `radius` px, at a distance of at most `max_px`.
pub(super) fn refine(picture: &Image<u8>, start: DVec2, radius: f64, max_px: f64) -> Option<Saddle> {
    let radius = radius.clamp(RADIUS_PX.0, RADIUS_PX.1);
    let mut at = start;
    for _ in 0..ROUNDS {
        let surface = Surface::fit(picture, at, radius)?;
        let step = surface.stationary()?;
        at += step.clamp_length_max(0.5 * radius);
        if at.distance(start) > max_px {
            return None;
        }
        if step.length() < CONVERGED_PX {
            return Some(surface.saddle(at, radius));
        }
    }
    None
}

/// Surface `c0 + c1 x + c2 y + c3 x² + c4 xy + c5 y²` around a point.
struct Surface {
    coefficients: SVector<f64, 6>,
    explained: f64,
}

impl Surface {
    fn fit(picture: &Image<u8>, centre: DVec2, radius: f64) -> Option<Self> {
        let (low, high) = (centre - radius, centre + radius);
        let inside = low.min_element() >= 0.0
            && high.x <= picture.width() as f64 - 1.0
            && high.y <= picture.height() as f64 - 1.0;
        if !inside {
            return None;
        }
        let (mut normal, mut right) = (SMatrix::<f64, 6, 6>::zeros(), SVector::<f64, 6>::zeros());
        let mut squares = 0.0;
        for y in low.y.ceil() as usize..=high.y.floor() as usize {
            let row = picture.row(y);
            for (x, &value) in row.iter().enumerate().take(high.x.floor() as usize + 1).skip(low.x.ceil() as usize) {
                let d = DVec2::new(x as f64, y as f64) - centre;
                // Tukey's biweight resembles a Gaussian but is 0 at the rim, so that pixels enter and leave continuously
                let inner = 1.0 - d.length_squared() / (radius * radius);
                if inner <= 0.0 {
                    continue;
                }
                let weight = inner * inner;
                let value = f64::from(value);
                let basis = SVector::from([1.0, d.x, d.y, d.x * d.x, d.x * d.y, d.y * d.y]);
                let weighted = basis * weight;
                for column in 0..6 {
                    for row in column..6 {
                        normal[(row, column)] += weighted[row] * basis[column];
                    }
                }
                right += weighted * value;
                squares += weight * value * value;
            }
        }
        // Cholesky reads only the lower triangle
        let coefficients = normal.cholesky()?.solve(&right);
        let total = squares - right[0] * right[0] / normal[(0, 0)];
        let explained = (coefficients.dot(&right) - right[0] * right[0] / normal[(0, 0)]) / total.max(1e-9);
        Some(Self { coefficients, explained })
    }

    /// Returns the offset of the stationary point from the centre if it is a saddle.
    fn stationary(&self) -> Option<DVec2> {
        let [_, x, y, xx, xy, yy]: [f64; 6] = self.coefficients.into();
        let determinant = 4.0 * xx * yy - xy * xy;
        (determinant < -1e-9).then(|| DVec2::new(xy * y - 2.0 * yy * x, xy * x - 2.0 * xx * y) / determinant)
    }

    fn saddle(&self, at: DVec2, radius: f64) -> Saddle {
        let [_, _, _, xx, xy, yy]: [f64; 6] = self.coefficients.into();
        // under the weight, quadrants of +-h have an xy coefficient of h (20 / π) / radius²
        let contrast = (xy * xy - 4.0 * xx * yy).max(0.0).sqrt() * std::f64::consts::PI / 10.0 * radius * radius;
        Saddle { at, contrast, explained: self.explained, bend: [2.0 * xx, xy, 2.0 * yy] }
    }
}
