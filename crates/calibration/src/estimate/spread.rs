//! Spread of the depth of a fitted rig, from the covariance of its parameters.

use super::fit::{Fit, Model, Normal, Parameters, Prior, Square, derivatives, distribution, row_sigma_px};
use crate::matches::Match;
use glam::{DMat2, DVec2};
use stereopsis_base::geometry::DepthSpread;
use stereopsis_base::quantile::quantile;

/// Share of the matches that are farther than the farthest one that counts; some matches are wrong.
const FARTHEST: f64 = 0.03;

/// Largest ratio of the row offsets of a usual rig to those of the best one with which it is preferred.
const MAX_SIGMA: f64 = 1.3;
/// Largest number of steps to the middle rig, and the change of the middle parallax that ends them, as a share of it.
const STEPS: usize = 30;
const ACCURACY: f64 = 0.01;

/// Returns the parameters of the middle one of the usual rigs that explain matches, and the spread of all rigs that do. `found` are the
/// matches that agree with the fit, `parts` the parameters of fits to parts of them. `None` if they determine nothing.
pub(super) fn middle_rig(
    model: &Model,
    found: &[Match],
    fit: &Fit,
    parts: &[Parameters],
) -> Option<(Parameters, DepthSpread)> {
    let spread_at = |parameters: &Parameters| {
        Around::of(model, found, parameters, fit.sigma_px, &model.prior(Prior::REAL)).map(|around| around.spread)
    };
    let mut parameters = middle_of(model, found, fit, &model.prior(Prior::USUAL))?;
    let mut spread = spread_at(&parameters)?;
    let [low, high] = spread.interval(spread.middle);
    if !(low..high).contains(&spread.middle) {
        if row_sigma_px(model, found, &parameters) < MAX_SIGMA * fit.sigma_px {
            // a usual rig explains the matches nearly as well: what tells against it are errors of the lens model
            let [offset, slope] = spread.mean;
            spread = spread.widened([offset * offset, slope * slope], offset * slope);
        } else {
            parameters = middle_of(model, found, fit, &model.prior(Prior::ANY))?;
            spread = spread_at(&parameters)?;
        }
    }
    let (variances, covariance) = between_parts(model, found, [&parameters, &fit.parameters], parts);
    Some((parameters, spread.widened(variances, covariance)))
}

/// Returns the parameters of the middle one of the rigs with a prior that explain matches.
fn middle_of(model: &Model, found: &[Match], fit: &Fit, prior: &Prior) -> Option<Parameters> {
    let mut parameters = fit.parameters;
    for _ in 0..STEPS {
        let around = Around::of(model, found, &parameters, fit.sigma_px, prior)?;
        let centre = around.spread.centre();
        let middle = around.spread.middle;
        if (centre[0] + centre[1] * middle).abs() < ACCURACY * middle {
            break;
        }
        parameters = prior.stepped(&parameters, &around.step_to(centre));
    }
    Some(parameters)
}

/// Returns the variances of offset and slope of the parallaxes, and their covariance, by the differences of fits to parts of the matches
/// (jackknife): lenses are not quite as the model has them, which shows where fits to different parts disagree.
fn between_parts(
    model: &Model,
    found: &[Match],
    [middle, fitted]: [&Parameters; 2],
    parts: &[Parameters],
) -> ([f64; 2], f64) {
    let at = |parameters| -> Vec<f64> { parallaxes(model, found, parameters).collect() };
    let (middle, fitted) = (at(middle), at(fitted));
    let error = |part| {
        let change: Vec<f64> = parallaxes(model, found, part).zip(&fitted).map(|(to, from)| to - from).collect();
        line(&middle, &change)
    };
    let errors: Vec<DVec2> = parts.iter().map(error).collect();
    let count = errors.len().max(1) as f64;
    let mean = errors.iter().sum::<DVec2>() / count;
    let sum =
        |of: &dyn Fn(DVec2) -> f64| errors.iter().map(|&error| of(error - mean)).sum::<f64>() * (count - 1.0) / count;
    ([sum(&|error| error.x * error.x), sum(&|error| error.y * error.y)], sum(&|error| error.x * error.y))
}

/// Distribution of rigs as it looks at some parameters.
struct Around {
    spread: DepthSpread,
    of_parameters: Normal,
    /// Effect of each parameter on the parallaxes p: offset and slope of offset + slope p.
    effects: [Parameters; 2],
}

impl Around {
    fn of(model: &Model, found: &[Match], parameters: &Parameters, sigma_px: f64, prior: &Prior) -> Option<Self> {
        let parallaxes = |parameters: &Parameters| parallaxes(model, found, parameters);
        let of_parameters = distribution(model, found, parameters, sigma_px, prior)?;
        let Normal { mean, covariance } = &of_parameters;
        let at: Vec<f64> = parallaxes(parameters).collect();
        let columns = derivatives(parameters, prior, parallaxes);
        let lines = columns.each_ref().map(|column| line(&at, column));
        let effects @ [offsets, slopes] = [lines.map(|effect| effect.x), lines.map(|effect| effect.y)];
        let of = |a: &Parameters, b: &Parameters| product(a, covariance, b);
        let deviation = [of(&offsets, &offsets), of(&slopes, &slopes)].map(f64::sqrt);
        // what offset and slope leave of the effects
        let rest = (0..found.len()).map(|k| {
            let left: Parameters = std::array::from_fn(|i| columns[i][k] - offsets[i] - slopes[i] * at[k]);
            of(&left, &left)
        });
        let noise = sigma_px / model.focal_px(parameters);
        let rest = rest.sum::<f64>() / found.len() as f64 + noise * noise;
        let mut sorted = at;
        let spread = DepthSpread {
            mean: effects.map(|effects| effects.iter().zip(mean).map(|(effect, mean)| effect * mean).sum()),
            deviation,
            correlation: of(&offsets, &slopes) / (deviation[0] * deviation[1]),
            rest: rest.sqrt(),
            farthest: quantile(&mut sorted, FARTHEST),
            middle: quantile(&mut sorted, 0.5),
        };
        Some(Self { spread, of_parameters, effects })
    }

    /// Returns the step to the most likely parameters with these errors of offset and slope.
    fn step_to(&self, errors: [f64; 2]) -> Parameters {
        let Self { spread, of_parameters: Normal { mean, covariance }, effects: [offsets, slopes] } = self;
        let [a, b] = spread.deviation;
        let with = spread.correlation * a * b;
        let square = DMat2::from_cols(DVec2::new(a * a, with), DVec2::new(with, b * b));
        let by = square.inverse() * (DVec2::from(errors) - DVec2::from(spread.mean));
        let weights: Parameters = std::array::from_fn(|i| offsets[i] * by.x + slopes[i] * by.y);
        std::array::from_fn(|i| {
            mean[i] + covariance[i].iter().zip(weights).map(|(with, weight)| with * weight).sum::<f64>()
        })
    }
}

fn parallaxes<'a>(model: &Model, found: &'a [Match], parameters: &Parameters) -> impl Iterator<Item = f64> + use<'a> {
    model.rectified(parameters, found).map(|[left, right]| left.x - right.x)
}

/// Returns offset and slope of the line through points, by least squares.
fn line(x: &[f64], y: &[f64]) -> DVec2 {
    let (mut normal, mut target) = (DMat2::ZERO, DVec2::ZERO);
    for (&x, &y) in x.iter().zip(y) {
        let row = DVec2::new(1.0, x);
        normal += DMat2::from_cols(row, row * x);
        target += row * y;
    }
    normal.inverse() * target
}

fn product(a: &Parameters, square: &Square, b: &Parameters) -> f64 {
    a.iter().zip(square).map(|(a, row)| a * row.iter().zip(b).map(|(value, b)| value * b).sum::<f64>()).sum()
}
