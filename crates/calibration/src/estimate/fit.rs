//! Fits the rotation between two cameras to matches: robust least squares on the row offsets after rectification.
//!
//! After Fusiello and Irsara, "Quasi-Euclidean uncalibrated epipolar rectification" (ICPR 2008): the left camera's yaw and roll and the
//! right one's pitch, yaw and roll bring every point into one row; the left pitch rotates both cameras about the baseline and has no
//! effect. Three more parameters are fitted: two radial coefficients of both lenses, without which distortion is mistaken for a yaw (on
//! five real rigs they halve the remaining row offsets), and the vertical difference of the principal points, which differs from a pitch
//! in wide lenses. The focal length is fixed: the matches constrain it so little that it varied by up to 45 %.
//!
//! Every parameter has a weak prior, which keeps parameters that the scene does not constrain at usual values.

use crate::Distortion;
use crate::formats::ValueError;
use crate::matches::Match;
use glam::{DMat3, DMat4, DVec2, DVec3, DVec4};
use stereopsis_base::quantile::quantile;

/// Left yaw and roll, right pitch, yaw and roll, rad; offset of the right principal point below the left one, as a fraction of the height;
/// two radial coefficients.
pub(super) type Parameters = [f64; COUNT];
const COUNT: usize = 8;
const ROW_SHIFT: usize = 5;
const RADIAL: [usize; 2] = [6, 7];

/// Prior standard deviation of each parameter: 4 degrees, 1.5 % of the height, coefficients of 0.15 and 0.1.
const PRIOR_SIGMA: Parameters = [0.07, 0.07, 0.07, 0.07, 0.07, 0.015, 0.15, 0.1];
/// Largest effective number of matches; neighbours share the errors of the model.
const MAX_EFFECTIVE_MATCHES: f64 = 300.0;
/// Typical row offset of good matches, px.
const SIGMA_PX: f64 = 0.25;
const STEPS: usize = 40;

#[derive(Debug)]
pub(super) struct Model {
    pub(super) size: (usize, usize),
    pub(super) center: DVec2,
    pub(super) focal_px: f64,
}

#[derive(Debug)]
pub(super) struct Fit {
    pub(super) parameters: Parameters,
    /// Whether each match agrees with the fit.
    pub(super) inliers: Vec<bool>,
}

impl Model {
    pub(super) fn new(size: (usize, usize), focal_px: f64) -> Self {
        let center = DVec2::new(size.0 as f64 - 1.0, size.1 as f64 - 1.0) / 2.0;
        Self { size, center, focal_px }
    }

    /// Returns the rotations from both cameras' axes to the common ones.
    pub(super) fn rotations(parameters: &Parameters) -> [DMat3; 2] {
        let [left_yaw, left_roll, pitch, yaw, roll, ..] = *parameters;
        let turned = |pitch, yaw, roll| {
            DMat3::from_rotation_x(pitch) * DMat3::from_rotation_y(yaw) * DMat3::from_rotation_z(roll)
        };
        [turned(0.0, left_yaw, left_roll), turned(pitch, yaw, roll)]
    }

    /// Returns the lens in OpenCV's direction, from rays to pixels: k1 to k4, fitted from the centre to the corners.
    pub(super) fn distortion(&self, parameters: &Parameters) -> Result<Distortion, ValueError> {
        let corner = self.center.length() / self.focal_px;
        let (mut normal, mut target) = (DMat4::ZERO, DVec4::ZERO);
        for step in 1..=50 {
            let bent = corner * f64::from(step) / 50.0;
            let ray = bent * undistortion_factor(parameters, bent * bent);
            let r2 = ray * ray;
            // distorted (1 + k4 r²) = ray (1 + k1 r² + k2 r⁴ + k3 r⁶)
            let row = DVec4::new(ray, ray * r2, ray * r2 * r2, -bent) * r2;
            normal += DMat4::from_cols(row * row.x, row * row.y, row * row.z, row * row.w);
            target += row * (bent - ray);
        }
        // without distortion there are many solutions; this selects 0
        normal += DMat4::from_diagonal(DVec4::splat(1e-12));
        let [k1, k2, k3, k4] = (normal.inverse() * target).to_array();
        Distortion::from_opencv("the estimated lens", &[k1, k2, 0.0, 0.0, k3, k4, 0.0, 0.0])
    }

    /// Returns the tangent of the angle of the rays at the middle of the left and the right border.
    pub(super) fn slope_at_border(&self, parameters: &Parameters) -> f64 {
        let bent = self.size.0 as f64 / 2.0 / self.focal_px;
        bent * undistortion_factor(parameters, bent * bent)
    }

    /// Returns the principal point of the right image, px.
    pub(super) fn right_center(&self, parameters: &Parameters) -> DVec2 {
        self.center + DVec2::new(0.0, parameters[ROW_SHIFT] * self.size.1 as f64)
    }

    /// Returns the row of the right point minus that of the left one after rectification, px.
    fn row_offsets<'a>(&self, parameters: &Parameters, found: &'a [Match]) -> impl Iterator<Item = f64> + use<'a> {
        let [left, right] = Self::rotations(parameters);
        let (focal, center, parameters) = (self.focal_px, self.center, *parameters);
        let right_center = self.right_center(&parameters);
        let ray = move |at: DVec2, center: DVec2| {
            let bent = (at - center) / focal;
            (bent * undistortion_factor(&parameters, bent.length_squared())).extend(1.0)
        };
        let row = |ray: DVec3| ray.y / ray.z;
        found.iter().map(move |m| focal * (row(right * ray(m.right, right_center)) - row(left * ray(m.left, center))))
    }
}

/// Returns the factor that undistorts a point of squared radius `r2`.
fn undistortion_factor(parameters: &Parameters, r2: f64) -> f64 {
    1.0 + r2 * (parameters[RADIAL[0]] + r2 * parameters[RADIAL[1]])
}

/// Fits by Levenberg-Marquardt, with Cauchy weights at the current scale of the residuals.
pub(super) fn fit(model: &Model, found: &[Match]) -> Fit {
    let mut parameters = [0.0; COUNT];
    let mut damping = 1e-3;
    let share = (MAX_EFFECTIVE_MATCHES / found.len() as f64).min(1.0);
    let mut residuals: Vec<f64> = model.row_offsets(&parameters, found).collect();
    for _ in 0..STEPS {
        let sigma = scale(&residuals);
        let cost = |parameters: &Parameters, residuals: &[f64]| {
            let data: f64 = residuals.iter().map(|r| (r / sigma).powi(2).ln_1p()).sum();
            data * share + parameters.iter().zip(PRIOR_SIGMA).map(|(p, usual)| (p / usual).powi(2)).sum::<f64>()
        };
        let (normal, target) = equations(model, found, &parameters, &residuals, sigma, share);
        let before = cost(&parameters, &residuals);
        let mut improved = false;
        for _ in 0..8 {
            let mut damped = normal;
            for (i, row) in damped.iter_mut().enumerate() {
                row[i] *= 1.0 + damping;
            }
            let Some(step) = solve(damped, target) else { break };
            let tried: Parameters = std::array::from_fn(|i| parameters[i] - step[i]);
            let of_tried: Vec<f64> = model.row_offsets(&tried, found).collect();
            if cost(&tried, &of_tried) < before {
                (parameters, residuals) = (tried, of_tried);
                damping = (damping * 0.2).max(1e-9);
                improved = true;
                break;
            }
            damping *= 8.0;
        }
        if !improved {
            break;
        }
    }
    let limit = 3.0 * scale(&residuals);
    Fit { parameters, inliers: residuals.iter().map(|r| r.abs() <= limit).collect() }
}

fn scale(residuals: &[f64]) -> f64 {
    let mut amounts: Vec<_> = residuals.iter().map(|r| r.abs()).collect();
    (1.4826 * quantile(&mut amounts, 0.5)).max(SIGMA_PX)
}

type Square = [[f64; COUNT]; COUNT];

fn equations(
    model: &Model,
    found: &[Match],
    parameters: &Parameters,
    residuals: &[f64],
    sigma: f64,
    share: f64,
) -> (Square, Parameters) {
    const H: f64 = 1e-6;
    let columns: [Vec<f64>; COUNT] = std::array::from_fn(|i| {
        let mut moved = *parameters;
        moved[i] += H;
        model.row_offsets(&moved, found).zip(residuals).map(|(to, from)| (to - from) / H).collect()
    });
    let (mut normal, mut target) = ([[0.0; COUNT]; COUNT], [0.0; COUNT]);
    for (k, residual) in residuals.iter().enumerate() {
        let weight = share / (sigma * sigma + residual * residual);
        for i in 0..COUNT {
            target[i] += weight * columns[i][k] * residual;
            for j in 0..COUNT {
                normal[i][j] += weight * columns[i][k] * columns[j][k];
            }
        }
    }
    for i in 0..COUNT {
        normal[i][i] += PRIOR_SIGMA[i].powi(-2);
        target[i] += parameters[i] * PRIOR_SIGMA[i].powi(-2);
    }
    (normal, target)
}

/// Solves linear equations by Gaussian elimination with pivoting; `None` for a singular matrix.
fn solve(mut a: Square, mut b: Parameters) -> Option<Parameters> {
    for i in 0..COUNT {
        let pivot = (i..COUNT).max_by(|&p, &q| a[p][i].abs().total_cmp(&a[q][i].abs()))?;
        a.swap(i, pivot);
        b.swap(i, pivot);
        if a[i][i].abs() < 1e-300 {
            return None;
        }
        for row in i + 1..COUNT {
            let (upper, lower) = a.split_at_mut(row);
            let factor = lower[0][i] / upper[i][i];
            for (below, above) in lower[0].iter_mut().zip(&upper[i]).skip(i) {
                *below -= factor * above;
            }
            b[row] -= factor * b[i];
        }
    }
    for i in (0..COUNT).rev() {
        let known: f64 = (i + 1..COUNT).map(|j| a[i][j] * b[j]).sum();
        b[i] = (b[i] - known) / a[i][i];
    }
    Some(b)
}
