//! Fits two cameras to matches: robust least squares on the row offsets after rectification.
//!
//! After Fusiello and Irsara, "Quasi-Euclidean uncalibrated epipolar rectification" (ICPR 2008), with both lenses free: yaw and roll of each
//! camera and the pitch between them bring every point into one row, the pitch of both together has no effect. The ratio of the focal
//! lengths is well determined: it scales the rows of one image. The rest is weakly determined, principal points above all, which differ
//! little from yaw and pitch. Every parameter has a prior of the spread of usual rigs, which keeps what the scene does not tell at usual
//! values; the covariance of the parameters says how much is left open.

use crate::formats::ValueError;
use crate::linear::solve;
use crate::matches::Match;
use crate::{Camera, Distortion, FocalLength, LensGuess};
use glam::{DMat3, DVec2, DVec3};
use stereopsis_base::quantile::quantile;

/// Left yaw and roll, pitch between the cameras, right yaw and roll, rad; logarithm of the right focal length over the left one; principal
/// points from the middle, left and right, x and y, in widths; logarithm of the mean focal length over the given one; two coefficients of
/// both lenses, see [`Lens`]. The rest is what real lenses have, too: half of the difference of the first lens coefficients, right less left;
/// and of each camera the focal length along y over that along x, less 1, and the tangential coefficients p1 and p2.
pub(super) type Parameters = [f64; COUNT];
const COUNT: usize = 20;
const YAWS: [usize; 2] = [0, 3];
const RATIO: usize = 5;
const FOCAL: usize = 10;
const LENS: [usize; 2] = [11, 12];

/// Angles between the viewing axes, rad, and first coefficients of the lens, from each pair of which a fit begins: there are several
/// minima.
const STARTS: [[f64; 2]; 6] = [[0.0, 0.0], [0.0, -0.25], [0.15, 0.0], [0.15, -0.25], [0.3, 0.0], [0.3, -0.25]];
/// Prior standard deviations of yaw and lens while a fit begins.
const HELD: [f64; 2] = [0.02, 0.03];
/// Largest number of matches and of steps for the beginning of a fit.
const HELD_MATCHES: usize = 200;
const HELD_STEPS: usize = 12;
const STEPS: usize = 60;
/// Largest effective number of matches; neighbours share the errors of the model.
const MAX_EFFECTIVE_MATCHES: f64 = 300.0;
/// Smallest row offset to be expected of matches, px.
const MIN_SIGMA_PX: f64 = 0.1;
/// Factor of the covariance: with it 95 of 100 random rigs lie in their intervals (the curvature at the minimum alone holds 91).
const COVARIANCE_FACTOR: f64 = 1.15;

/// Images and lens of two cameras that are fitted.
#[derive(Debug)]
pub(super) struct Model {
    pub(super) size: (usize, usize),
    center: DVec2,
    lens: LensGuess,
}

/// Fitted parameters.
#[derive(Clone, Debug)]
pub(super) struct Fit {
    pub(super) parameters: Parameters,
    /// Standard deviation of the row offsets, px.
    pub(super) sigma_px: f64,
    /// Whether each match agrees with the fit.
    pub(super) inliers: Vec<bool>,
    /// Sum of the negative logarithms of probabilities.
    cost: f64,
}

/// Distortion `r (1 + (a + b) r²) / (1 + b r²)`: with b = 0 the cubic of usual lenses, with b above 0 near to the arc tangent of a fisheye.
#[derive(Clone, Copy, Debug)]
struct Lens {
    a: f64,
    b: f64,
}

impl Lens {
    fn distort(&self, r: f64) -> f64 {
        r * (1.0 + (self.a + self.b) * r * r) / (1.0 + self.b * r * r)
    }

    /// Returns the tangent of the ray of a distorted radius, at most 3, also where the model has none.
    fn undistort(&self, distorted: f64) -> f64 {
        let mut r = distorted;
        for _ in 0..25 {
            let error = r + (self.a + self.b) * r * r * r - distorted * (1.0 + self.b * r * r);
            let slope = 1.0 + 3.0 * (self.a + self.b) * r * r - 2.0 * distorted * self.b * r;
            let next = (r - error / slope.max(0.1)).clamp(0.0, 3.0);
            if (next - r).abs() < 1e-12 {
                break;
            }
            r = next;
        }
        r
    }
}

impl Model {
    pub(super) fn new(size: (usize, usize), lens: impl Into<LensGuess>) -> Self {
        let center = DVec2::new(size.0 as f64 - 1.0, size.1 as f64 - 1.0) / 2.0;
        Self { size, center, lens: lens.into() }
    }

    /// Returns a prior with what is known of the lenses.
    pub(super) fn prior(&self, mut prior: Prior) -> Prior {
        prior.mean[RATIO] = self.lens.ratio.ln();
        prior.sigma[FOCAL] = prior.sigma[FOCAL].min(self.lens.deviation);
        prior
    }

    /// Returns the rotations from both cameras' axes to the common ones.
    pub(super) fn rotations(parameters: &Parameters) -> [DMat3; 2] {
        let [left_yaw, left_roll, pitch, yaw, roll, ..] = *parameters;
        let turned = |pitch, yaw, roll| {
            DMat3::from_rotation_x(pitch) * DMat3::from_rotation_y(yaw) * DMat3::from_rotation_z(roll)
        };
        [turned(-pitch / 2.0, left_yaw, left_roll), turned(pitch / 2.0, yaw, roll)]
    }

    /// Returns both cameras.
    pub(super) fn cameras(&self, parameters: &Parameters) -> Result<[Camera; 2], ValueError> {
        let Lens { a, b } = Self::lens(parameters);
        let distortion = Distortion::from_opencv("the estimated lens", &[a + b, 0.0, 0.0, 0.0, 0.0, b, 0.0, 0.0])?;
        Ok(self.pinholes(parameters).map(|(focal, center)| Camera {
            fx: focal,
            fy: focal,
            cx: center.x,
            cy: center.y,
            skew: 0.0,
            distortion,
        }))
    }

    fn lens(parameters: &Parameters) -> Lens {
        Lens { a: parameters[LENS[0]], b: parameters[LENS[1]] }
    }

    /// Returns the mean focal length, px. A field of view includes the distortion.
    pub(super) fn focal_px(&self, parameters: &Parameters) -> f64 {
        let longer = parameters[FOCAL].exp();
        match self.lens.focal {
            FocalLength::FovDeg(fov_deg) => {
                let tangent = (fov_deg.to_radians() / 2.0).tan();
                let bent = Self::lens(parameters).distort(tangent).max(0.3 * tangent);
                self.size.0 as f64 / 2.0 / bent * longer
            }
            focal => focal.px(self.size.0) * longer,
        }
    }

    /// Returns focal length and principal point of both cameras, px.
    fn pinholes(&self, parameters: &Parameters) -> [(f64, DVec2); 2] {
        let [_, _, _, _, _, ratio, left_x, left_y, right_x, right_y, ..] = *parameters;
        let focal = self.focal_px(parameters);
        let center = |x, y| self.center + DVec2::new(x, y) * self.size.0 as f64;
        [
            (focal * (-ratio / 2.0).exp(), center(left_x, left_y)),
            (focal * (ratio / 2.0).exp(), center(right_x, right_y)),
        ]
    }

    /// Returns the rectified points of matches, as (x / z, y / z), left and right.
    pub(super) fn rectified<'a>(
        &self,
        parameters: &Parameters,
        found: &'a [Match],
    ) -> impl Iterator<Item = [DVec2; 2]> + use<'a> {
        self.seen(parameters, found).map(|sides| sides.map(|Seen { at, .. }| at))
    }

    fn seen<'a>(&self, parameters: &Parameters, found: &'a [Match]) -> impl Iterator<Item = [Seen; 2]> + use<'a> {
        let Lens { a, b } = Self::lens(parameters);
        let [of_left, of_right] = self.pinholes(parameters);
        let [left, right] = Self::rotations(parameters);
        let &[.., differ, left_y, left_p1, left_p2, right_y, right_p1, right_p2] = parameters;
        let seen =
            move |at: DVec2, (focal, center): (f64, DVec2), rotation: DMat3, lens: Lens, [y, p1, p2]: [f64; 3]| {
                let mut bent = (at - center) / focal;
                bent.y /= 1.0 + y;
                let (r2, xy) = (bent.length_squared(), bent.x * bent.y);
                bent.x -= 2.0 * p1 * xy + p2 * (r2 + 2.0 * bent.x * bent.x);
                bent.y -= p1 * (r2 + 2.0 * bent.y * bent.y) + 2.0 * p2 * xy;
                let radius = bent.length().max(1e-12);
                let widening = lens.undistort(radius) / radius;
                let ray: DVec3 = rotation * (bent * widening).extend(1.0);
                Seen { at: ray.truncate() / ray.z, px: focal * ray.z / widening }
            };
        let lenses = [Lens { a: a - differ, b }, Lens { a: a + differ, b }];
        let others = [[left_y, left_p1, left_p2], [right_y, right_p1, right_p2]];
        found.iter().map(move |found| {
            [
                seen(found.left, of_left, left, lenses[0], others[0]),
                seen(found.right, of_right, right, lenses[1], others[1]),
            ]
        })
    }

    /// Returns the row of the right point minus that of the left one after rectification, in px of the raw images: in rectified ones a short
    /// focal length would make every error small.
    fn row_offsets<'a>(&self, parameters: &Parameters, found: &'a [Match]) -> impl Iterator<Item = f64> + use<'a> {
        self.seen(parameters, found).map(|[left, right]| {
            let px = (2.0 / (left.px.powi(-2) + right.px.powi(-2))).sqrt();
            px * (right.at.y - left.at.y)
        })
    }
}

/// Rectified point of a raw pixel.
#[derive(Clone, Copy, Debug)]
struct Seen {
    /// Place, as (x / z, y / z).
    at: DVec2,
    /// Raw pixels for each unit of y / z there.
    px: f64,
}

/// Prior of the parameters: independent normal distributions.
#[derive(Clone, Copy, Debug)]
pub(super) struct Prior {
    mean: Parameters,
    /// Standard deviations; 0 for a parameter that keeps its mean.
    sigma: Parameters,
}

/// Standard deviations of all rigs: 8 degrees of yaw, 4 of the other angles, focal lengths that differ by 6 %, principal points 4 % of the
/// width from the middle, a given focal length that is 20 % wrong.
const ANY_RIG: [f64; 11] = [0.14, 0.07, 0.07, 0.14, 0.07, 0.06, 0.04, 0.04, 0.04, 0.04, 0.2];

impl Prior {
    /// All rigs.
    pub(super) const ANY: Self = Self::of(ANY_RIG, [0.0; 7]);
    /// All rigs, of real lenses.
    pub(super) const REAL: Self = Self::of(ANY_RIG, [0.006, 2e-3, 1e-3, 1e-3, 2e-3, 1e-3, 1e-3]);
    /// Usual rigs, of two cameras of one kind that are meant to look in the same direction, with the given lens.
    pub(super) const USUAL: Self =
        Self::of([0.05, 0.05, 0.07, 0.05, 0.05, 0.02, 0.015, 0.015, 0.015, 0.015, 0.02], [0.0; 7]);

    const fn of(rig: [f64; 11], rest: [f64; 7]) -> Self {
        let (mut mean, mut sigma) = ([0.0; COUNT], [0.0; COUNT]);
        let mut i = 0;
        while i < 11 {
            sigma[i] = rig[i];
            i += 1;
        }
        (sigma[LENS[0]], sigma[LENS[1]]) = (0.2, 0.1);
        mean[LENS[1]] = 0.1;
        i = 0;
        while i < 7 {
            sigma[13 + i] = rest[i];
            i += 1;
        }
        Self { mean, sigma }
    }

    /// Returns parameters after a step, shortened so that none changes by more than its standard deviation. The lens stays one.
    pub(super) fn stepped(&self, from: &Parameters, step: &Parameters) -> Parameters {
        let share = |(step, sigma): (&f64, f64)| if sigma > 0.0 { step.abs() / sigma } else { 0.0 };
        let longest = step.iter().zip(self.sigma).map(share).fold(1.0, f64::max);
        let mut to: Parameters = std::array::from_fn(|i| from[i] + step[i] / longest);
        to[LENS[1]] = to[LENS[1]].clamp(0.0, 2.0);
        to
    }
}

/// Fits by Levenberg-Marquardt, with Cauchy weights at the current scale of the residuals, from several starts.
pub(super) fn fit(model: &Model, found: &[Match]) -> Fit {
    let some: Vec<Match> = found.iter().step_by(found.len().div_ceil(HELD_MATCHES)).copied().collect();
    let from = |[toe_in, lens]: [f64; 2]| {
        let mut prior = model.prior(Prior::ANY);
        for (index, value, held) in
            [(YAWS[0], toe_in / 2.0, HELD[0]), (YAWS[1], -toe_in / 2.0, HELD[0]), (LENS[0], lens, HELD[1])]
        {
            (prior.mean[index], prior.sigma[index]) = (value, held);
        }
        fit_from(model, found, descended(model, &some, prior.mean, &prior, HELD_STEPS))
    };
    let fits = STARTS.map(from);
    fits.into_iter().min_by(|a, b| a.cost.total_cmp(&b.cost)).expect("there are starts")
}

/// Returns the parameters of the usual rig that fits best.
pub(super) fn usual(model: &Model, found: &[Match]) -> Parameters {
    let prior = model.prior(Prior::USUAL);
    descended(model, found, prior.mean, &prior, STEPS)
}

/// Fits from given parameters on.
pub(super) fn fit_from(model: &Model, found: &[Match], start: Parameters) -> Fit {
    let prior = model.prior(Prior::ANY);
    let parameters = descended(model, found, start, &prior, STEPS);
    let residuals: Vec<f64> = model.row_offsets(&parameters, found).collect();
    let sigma_px = scale(&residuals);
    let limit = 3.0 * sigma_px.max(0.25);
    let cost = share(found) * found.len() as f64 * sigma_px.ln()
        + cost(&parameters, &residuals, sigma_px, &prior, share(found));
    Fit { parameters, sigma_px, inliers: residuals.iter().map(|r| r.abs() <= limit).collect(), cost }
}

/// Returns the standard deviation of the row offsets, px.
pub(super) fn row_sigma_px(model: &Model, found: &[Match], parameters: &Parameters) -> f64 {
    scale(&model.row_offsets(parameters, found).collect::<Vec<_>>())
}

fn share(found: &[Match]) -> f64 {
    (MAX_EFFECTIVE_MATCHES / found.len() as f64).min(1.0)
}

/// Returns the cost of parameters; infinite for a lens that is none: so short that all rows are the same, or with a pole.
fn cost(parameters: &Parameters, residuals: &[f64], sigma: f64, prior: &Prior, share: f64) -> f64 {
    if parameters[FOCAL].abs() > 1.0 || !(0.0..2.0).contains(&parameters[LENS[1]]) {
        return f64::INFINITY;
    }
    let data: f64 = residuals.iter().map(|r| (r / sigma).powi(2).ln_1p()).sum();
    let distances = parameters.iter().zip(prior.mean).zip(prior.sigma).filter(|(_, sigma)| *sigma > 0.0);
    data * share + distances.map(|((p, mean), sigma)| ((p - mean) / sigma).powi(2)).sum::<f64>()
}

fn descended(model: &Model, found: &[Match], start: Parameters, prior: &Prior, steps: usize) -> Parameters {
    const MIN_GAIN: f64 = 1e-7;
    let mut parameters = start;
    let mut damping = 1e-3;
    let share = share(found);
    let mut residuals: Vec<f64> = model.row_offsets(&parameters, found).collect();
    for _ in 0..steps {
        let sigma = scale(&residuals);
        let weights: Vec<f64> = residuals.iter().map(|r| share / (sigma * sigma + r * r)).collect();
        let columns = derivatives(&parameters, prior, |parameters| model.row_offsets(parameters, found));
        let (normal, target) = equations(&columns, &residuals, &weights, &parameters, prior);
        let before = cost(&parameters, &residuals, sigma, prior, share);
        let mut gain = 0.0;
        for _ in 0..10 {
            let mut damped = normal;
            for (i, row) in damped.iter_mut().enumerate() {
                row[i] *= 1.0 + damping;
            }
            let Some(step) = solve(damped, target) else { break };
            let tried: Parameters = std::array::from_fn(|i| parameters[i] - step[i]);
            let of_tried: Vec<f64> = model.row_offsets(&tried, found).collect();
            let after = cost(&tried, &of_tried, sigma, prior, share);
            if after < before {
                gain = before - after;
                (parameters, residuals) = (tried, of_tried);
                damping = (damping * 0.2).max(1e-9);
                break;
            }
            damping *= 8.0;
        }
        if gain <= MIN_GAIN * before {
            break;
        }
    }
    parameters
}

fn scale(residuals: &[f64]) -> f64 {
    let mut amounts: Vec<_> = residuals.iter().map(|r| r.abs()).collect();
    (1.4826 * quantile(&mut amounts, 0.5)).max(MIN_SIGMA_PX)
}

pub(super) type Square = [[f64; COUNT]; COUNT];

/// Returns the derivatives of values by each parameter; 0 for one that keeps its mean.
pub(super) fn derivatives<I: Iterator<Item = f64>>(
    parameters: &Parameters,
    prior: &Prior,
    values: impl Fn(&Parameters) -> I,
) -> [Vec<f64>; COUNT] {
    const H: f64 = 1e-6;
    let at: Vec<f64> = values(parameters).collect();
    std::array::from_fn(|i| {
        if prior.sigma[i] == 0.0 {
            return vec![0.0; at.len()];
        }
        let mut moved = *parameters;
        moved[i] += H;
        values(&moved).zip(&at).map(|(to, from)| (to - from) / H).collect()
    })
}

fn equations(
    columns: &[Vec<f64>; COUNT],
    residuals: &[f64],
    weights: &[f64],
    parameters: &Parameters,
    prior: &Prior,
) -> (Square, Parameters) {
    let (mut normal, mut target) = ([[0.0; COUNT]; COUNT], [0.0; COUNT]);
    for (k, (residual, weight)) in residuals.iter().zip(weights).enumerate() {
        for i in 0..COUNT {
            target[i] += weight * columns[i][k] * residual;
            for j in 0..COUNT {
                normal[i][j] += weight * columns[i][k] * columns[j][k];
            }
        }
    }
    for i in 0..COUNT {
        if prior.sigma[i] == 0.0 {
            (normal[i][i], target[i]) = (1e12, 0.0);
            continue;
        }
        normal[i][i] += prior.sigma[i].powi(-2);
        target[i] += (parameters[i] - prior.mean[i]) * prior.sigma[i].powi(-2);
    }
    (normal, target)
}

/// Normal distribution of the parameters, by the curvature at a place.
pub(super) struct Normal {
    /// Mean, less the place.
    pub(super) mean: Parameters,
    pub(super) covariance: Square,
}

/// Returns the distribution of the parameters that matches with these row offsets have, as it looks at `parameters`.
pub(super) fn distribution(
    model: &Model,
    found: &[Match],
    parameters: &Parameters,
    sigma_px: f64,
    prior: &Prior,
) -> Option<Normal> {
    let residuals: Vec<f64> = model.row_offsets(parameters, found).collect();
    let columns = derivatives(parameters, prior, |parameters| model.row_offsets(parameters, found));
    let weights = vec![share(found) / sigma_px.powi(2); found.len()];
    let (normal, target) = equations(&columns, &residuals, &weights, parameters, prior);
    let mean = solve(normal, target.map(|value| -value))?;
    let mut covariance = [[0.0; COUNT]; COUNT];
    for (i, row) in covariance.iter_mut().enumerate() {
        let unit = std::array::from_fn(|j| if i == j { COVARIANCE_FACTOR } else { 0.0 });
        *row = solve(normal, unit)?;
    }
    Some(Normal { mean, covariance })
}
