//! Where exactly a corner of the board is: the saddle of the brightness around it.
//!
//! A quadratic surface is fitted to the pixels around the corner, with weights that fall off, and moved to its stationary point until it
//! stays (Ha, Perdoch, Alismail, Kweon and Sheikh, "Deltille Grids for Geometric Camera Calibration", ICCV 2017, section 3.3, with
//! the weights in place of their cone filter). Two straight edges that cross are symmetric about their crossing, so blur,
//! exposure and the angle between them leave the result where it is.

use crate::image::Image;
use glam::DVec2;
use nalgebra::{SMatrix, SVector};

/// Radii of the window, px: smaller ones have too few pixels, larger ones see the lens bend the edges.
const RADIUS_PX: (f64, f64) = (2.0, 7.0);
/// Rounds before a corner counts as one that does not converge.
const ROUNDS: usize = 30;
/// Movement in a round below which a corner has converged, px.
const CONVERGED_PX: f64 = 2e-3;

/// A saddle of the brightness.
#[derive(Clone, Copy, Debug)]
pub(super) struct Saddle {
    /// Its position, px.
    pub(super) at: DVec2,
    /// Difference between its bright and its dark quadrants, grey levels, if they are evenly so.
    pub(super) contrast: f64,
    /// Share of the brightness' variance that the surface explains, 0 to 1.
    pub(super) explained: f64,
    /// Second derivatives of the brightness: along x, along both, along y.
    bend: [f64; 3],
}

impl Saddle {
    /// Above 0 if the quadrant between the two directions is bright, below 0 if it is dark; 1 where the saddle is aligned with them.
    pub(super) fn brightness_between(&self, u: DVec2, v: DVec2) -> f64 {
        let [xx, xy, yy] = self.bend;
        let (u, v) = (u.normalize_or_zero(), v.normalize_or_zero());
        let strongest = (xy * xy - xx * yy).max(1e-12).sqrt();
        (xx * u.x * v.x + xy * (u.x * v.y + u.y * v.x) + yy * u.y * v.y) / strongest
    }
}

/// Follows the brightness from `start` to the saddle nearby, in a window of `radius` px; `None` if there is none within `most_px`.
pub(super) fn refine(picture: &Image<u8>, start: DVec2, radius: f64, most_px: f64) -> Option<Saddle> {
    let radius = radius.clamp(RADIUS_PX.0, RADIUS_PX.1);
    let mut at = start;
    for _ in 0..ROUNDS {
        let surface = Surface::fit(picture, at, radius)?;
        let step = surface.stationary()?;
        at += step.clamp_length_max(0.5 * radius);
        if at.distance(start) > most_px {
            return None;
        }
        if step.length() < CONVERGED_PX {
            return Some(surface.saddle(at, radius));
        }
    }
    None
}

/// `c0 + c1 x + c2 y + c3 x² + c4 xy + c5 y²` around a point.
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
                // Tukey's biweight: much like a Gaussian, and 0 at the rim, so that no pixel enters or leaves with a jump
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
        // the Cholesky factors are made of the lower triangle alone
        let coefficients = normal.cholesky()?.solve(&right);
        let total = squares - right[0] * right[0] / normal[(0, 0)];
        let explained = (coefficients.dot(&right) - right[0] * right[0] / normal[(0, 0)]) / total.max(1e-9);
        Some(Self { coefficients, explained })
    }

    /// From the centre to the stationary point; `None` if it is no saddle.
    fn stationary(&self) -> Option<DVec2> {
        let [_, x, y, xx, xy, yy]: [f64; 6] = self.coefficients.into();
        let determinant = 4.0 * xx * yy - xy * xy;
        (determinant < -1e-9).then(|| DVec2::new(xy * y - 2.0 * yy * x, xy * x - 2.0 * xx * y) / determinant)
    }

    fn saddle(&self, at: DVec2, radius: f64) -> Saddle {
        let [_, _, _, xx, xy, yy]: [f64; 6] = self.coefficients.into();
        // quadrants of +-h around a mean have a coefficient of xy of h (20 / π) / radius² under the weight
        let contrast = (xy * xy - 4.0 * xx * yy).max(0.0).sqrt() * std::f64::consts::PI / 10.0 * radius * radius;
        Saddle { at, contrast, explained: self.explained, bend: [2.0 * xx, xy, 2.0 * yy] }
    }
}
