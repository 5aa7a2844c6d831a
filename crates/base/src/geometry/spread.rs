//! Spread of the depth of a rig that is estimated from images: an interval for each depth, narrowed by known distances.
//!
//! Matches of two images determine how rows lie, but hardly tell principal points beside the middle from cameras that look towards each
//! other, nor a longer lens from a nearer scene. Either changes the parallax, the baseline over depth, by an offset and a factor.

/// Normal distribution of the two errors of an estimated rig's depth. Where the geometry has a parallax p = (d + doffs) / f, the true one is
/// p + offset + slope p. Rigs with the farthest match behind the cameras are left out, and of the others, those that have the scene nearer
/// count less (by 1 / parallax of the middle match), so that no order of depth is preferred.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct DepthSpread {
    /// Means of offset and slope, before rigs are left out.
    pub mean: [f64; 2],
    /// Standard deviations of offset and slope.
    pub deviation: [f64; 2],
    /// Correlation of offset and slope, -1 to 1.
    pub correlation: f64,
    /// Standard deviation of the parallax of one match beside both errors: noise, and errors that differ over the image.
    pub rest: f64,
    /// Parallax of the farthest matches, by the geometry.
    pub farthest: f64,
    /// Parallax of the middle match, by the geometry.
    pub middle: f64,
}

/// Point at a known distance.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct KnownParallax {
    /// Parallax by the geometry.
    pub measured: f64,
    /// True parallax: the baseline over the known distance.
    pub truth: f64,
    /// Standard deviation of the truth.
    pub deviation: f64,
}

/// Rig of the distribution.
struct Draw {
    weight: f64,
    error: [f64; 2],
}

/// Quantiles of normal numbers between which 95 of 100 lie.
const WITHIN_95: f64 = 1.96;
/// Places of the distribution along each of its two axes.
const PLACES: [usize; 2] = [96, 32];

impl DepthSpread {
    /// Whether the numbers are those of a distribution.
    pub fn is_plausible(&self) -> bool {
        let Self { mean, deviation, correlation, rest, farthest, middle } = *self;
        let numbers = [mean, deviation, [rest, correlation], [farthest, middle]];
        let is_spread = |value: f64| (0.0..=100.0).contains(&value);
        numbers.iter().flatten().all(|number| number.is_finite())
            && deviation.into_iter().chain([rest]).all(is_spread)
            && correlation.abs() <= 1.0
    }

    /// Returns the parallaxes between which the true one of a point lies in 95 of 100 rigs, `parallax` being that of the geometry. The
    /// lower one is 0 or less where the point may be at infinity.
    pub fn interval(&self, parallax: f64) -> [f64; 2] {
        let along = |[offset, slope]: [f64; 2]| parallax + offset + slope * parallax;
        let [low, middle, high] = self.quantiles(&self.draws(), along, [0.025, 0.5, 0.975]);
        let rest = WITHIN_95 * self.rest;
        [middle - (middle - low).hypot(rest), middle + (high - middle).hypot(rest)]
    }

    /// Returns the errors of the middle rig: half of the rigs have the middle match farther.
    pub fn centre(&self) -> [f64; 2] {
        let middle = |[offset, slope]: [f64; 2]| self.middle + offset + slope * self.middle;
        let draws = self.draws();
        let [median] = self.quantiles(&draws, middle, [0.5]);
        // of the rigs with this parallax of the middle match the mean one, by the covariance with that parallax
        let total: f64 = draws.iter().map(|draw| draw.weight).sum();
        let mean =
            |of: &dyn Fn([f64; 2]) -> f64| draws.iter().map(|draw| draw.weight * of(draw.error)).sum::<f64>() / total;
        let (at, means) = (mean(&middle), [0, 1].map(|i| mean(&|error| error[i])));
        let variance = mean(&|error| (middle(error) - at).powi(2));
        [0, 1].map(|i| {
            let with = mean(&|error| (middle(error) - at) * (error[i] - means[i]));
            means[i] + if variance > 0.0 { with / variance * (median - at) } else { 0.0 }
        })
    }

    /// Returns the spread for a geometry that is corrected by these errors, the true ones or a guess.
    #[must_use]
    pub fn corrected(&self, [offset, slope]: [f64; 2]) -> Self {
        let factor = 1.0 + slope;
        // p = (q - offset) / factor, so p + o + s p = q + (o - offset (1 + s) / factor) + ((1 + s) / factor - 1) q
        let map = |[o, s]: [f64; 2]| [o - offset * (1.0 + s) / factor, (1.0 + s) / factor - 1.0];
        let ([a, b], c) = self.covariance();
        let by_slope = -offset / factor;
        let variances = [a + 2.0 * by_slope * c + by_slope * by_slope * b, b / (factor * factor)];
        let covariance = (c + by_slope * b) / factor;
        let place = |parallax: f64| parallax + offset + slope * parallax;
        Self {
            mean: map(self.mean),
            farthest: place(self.farthest),
            middle: place(self.middle),
            ..self.with_covariance(variances, covariance)
        }
    }

    /// Returns the spread with independent errors of these variances of offset and slope, and their covariance, beside its own.
    #[must_use]
    pub fn widened(&self, variances: [f64; 2], covariance: f64) -> Self {
        let ([a, b], c) = self.covariance();
        self.with_covariance([a + variances[0], b + variances[1]], c + covariance)
    }

    /// Returns the spread of those rigs that have a point at its known distance.
    #[must_use]
    pub fn knowing(&self, point: KnownParallax) -> Self {
        let ([a, b], c) = self.covariance();
        let (with, variance) = self.observed(point);
        if variance <= 0.0 {
            return *self;
        }
        let gain = with.map(|with| with / variance);
        let mean = [0, 1].map(|i| self.mean[i] + gain[i] * self.error(point));
        let left = [a - gain[0] * with[0], b - gain[1] * with[1]].map(|variance| variance.max(0.0));
        Self { mean, ..self.with_covariance(left, c - gain[0] * with[1]) }
    }

    /// Returns by how many standard deviations a point at its known distance differs from the mean rig.
    pub fn surprise(&self, point: KnownParallax) -> f64 {
        let (_, variance) = self.observed(point);
        self.error(point).abs() / variance.max(f64::MIN_POSITIVE).sqrt()
    }

    /// Returns the error of the mean rig at a point.
    fn error(&self, point: KnownParallax) -> f64 {
        point.truth - point.measured - self.mean[0] - point.measured * self.mean[1]
    }

    /// Returns the covariances of offset and slope with the error at a point, and its variance: Kalman's update observes
    /// offset + measured slope.
    fn observed(&self, point: KnownParallax) -> ([f64; 2], f64) {
        let ([a, b], c) = self.covariance();
        let p = point.measured;
        let with = [a + p * c, c + p * b];
        (with, with[0] + p * with[1] + point.deviation.powi(2) + self.rest.powi(2))
    }

    /// Returns the variances of offset and slope, and their covariance.
    fn covariance(&self) -> ([f64; 2], f64) {
        let [offset, slope] = self.deviation;
        ([offset * offset, slope * slope], self.correlation * offset * slope)
    }

    fn with_covariance(&self, variances: [f64; 2], covariance: f64) -> Self {
        let deviation = variances.map(f64::sqrt);
        let product = deviation[0] * deviation[1];
        let correlation = if product > 0.0 { (covariance / product).clamp(-1.0, 1.0) } else { 0.0 };
        Self { deviation, correlation, ..*self }
    }

    /// Returns rigs at a grid of places of the distribution, with their probabilities.
    fn draws(&self) -> Vec<Draw> {
        let ([a, b], c) = self.covariance();
        // first axis: the parallax of the farthest match, which is cut at 0; second axis: what leaves it as it is
        let far = self.farthest;
        let with_far = [a + far * c, c + far * b];
        let far_deviation = (with_far[0] + far * with_far[1]).max(1e-18).sqrt();
        let first = with_far.map(|with| with / far_deviation);
        let across = (b - first[1] * first[1]).max(0.0).sqrt();
        let second = [-far * across, across];
        let cut = -(far + self.mean[0] + far * self.mean[1]) / far_deviation;
        let from = cut.max(-5.0);
        let to = from.max(0.0) + 5.0 / from.max(1.0);
        let mut draws = Vec::with_capacity(PLACES[0] * PLACES[1]);
        for i in 0..PLACES[0] {
            let u = from + (to - from) * (i as f64 + 0.5) / PLACES[0] as f64;
            for j in 0..PLACES[1] {
                let w = -4.0 + 8.0 * (j as f64 + 0.5) / PLACES[1] as f64;
                let error = [0, 1].map(|k| self.mean[k] + first[k] * u + second[k] * w);
                let middle = self.middle + error[0] + error[1] * self.middle;
                if middle > 0.0 && error[1] > -1.0 {
                    let nearness = middle.max(1e-3 * far_deviation);
                    draws
                        .push(Draw { weight: ((from.max(0.0).powi(2) - u * u - w * w) / 2.0).exp() / nearness, error });
                }
            }
        }
        draws
    }

    fn quantiles<const N: usize>(&self, draws: &[Draw], of: impl Fn([f64; 2]) -> f64, shares: [f64; N]) -> [f64; N] {
        let mut values: Vec<_> = draws.iter().map(|draw| (of(draw.error), draw.weight)).collect();
        values.sort_by(|(a, _), (b, _)| a.total_cmp(b));
        let total: f64 = values.iter().map(|(_, weight)| weight).sum();
        shares.map(|share| {
            let mut sum = 0.0;
            let at = values.iter().find(|(_, weight)| {
                sum += weight;
                sum >= share * total
            });
            at.or(values.last()).map_or(of(self.mean), |(value, _)| *value)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::geometry::Geometry;

    const SPREAD: DepthSpread = DepthSpread {
        mean: [-0.01, 0.1],
        deviation: [0.03, 0.15],
        correlation: -0.4,
        rest: 0.002,
        farthest: 0.02,
        middle: 0.05,
    };

    /// Draws rigs one by one, as the type's description says.
    fn drawn(spread: &DepthSpread, of: impl Fn([f64; 2]) -> f64) -> Vec<f64> {
        let mut rng = fastrand::Rng::with_seed(4);
        let mut normals = || {
            let (length, angle) = ((-2.0 * (1.0 - rng.f64()).ln()).sqrt(), std::f64::consts::TAU * rng.f64());
            (length * angle.cos(), length * angle.sin())
        };
        let mut chances = fastrand::Rng::with_seed(5);
        let mut found = Vec::new();
        while found.len() < 40_000 {
            let ((u, v), (noise, _)) = (normals(), normals());
            let offset = spread.mean[0] + spread.deviation[0] * u;
            let across = spread.correlation * u + (1.0 - spread.correlation.powi(2)).sqrt() * v;
            let slope = spread.mean[1] + spread.deviation[1] * across;
            let [far, middle] = [spread.farthest, spread.middle].map(|p| p + offset + slope * p);
            // of rigs with a nearer scene fewer are kept
            if far > 0.0 && 0.01 / middle > chances.f64() {
                found.push(of([offset, slope]) + spread.rest * noise);
            }
        }
        found
    }

    #[test]
    fn interval_holds_95_of_100_rigs() {
        for (spread, parallax) in [
            (SPREAD, 0.05),
            (SPREAD, 0.02),
            (DepthSpread { mean: [-0.05, 0.0], ..SPREAD }, 0.2),
            (DepthSpread { mean: [-0.09, 0.0], ..SPREAD }, 0.05),
        ] {
            let found = drawn(&spread, |[offset, slope]| parallax + offset + slope * parallax);
            let [low, high] = spread.interval(parallax);
            let outside = |is: &dyn Fn(f64) -> bool| {
                100.0 * found.iter().filter(|&&value| is(value)).count() as f64 / found.len() as f64
            };
            let [below, above] = [outside(&|value| value < low), outside(&|value| value > high)];
            assert!((1.8..3.5).contains(&below) && (1.8..3.5).contains(&above), "{below} {above} {spread:?}");
        }
    }

    #[test]
    fn a_corrected_geometry_has_the_same_bounds() {
        let geometry = Geometry { spread: Some(SPREAD), ..Geometry::new(500.0, 0.06, 3.0, [319.5, 239.5]) };
        let corrected = geometry.corrected(SPREAD.centre());
        for disparity_px in [4.0, 20.0, 60.0] {
            let [before, after] = [geometry, corrected].map(|g| g.depth_interval_m(disparity_px).unwrap());
            for (before, after) in before.into_iter().zip(after) {
                assert!((1.0 / after - 1.0 / before).abs() < 0.01 / before.min(1.0), "{before} {after}");
            }
            assert!((after[0]..after[1]).contains(&corrected.depth_m(disparity_px).unwrap()));
        }
        let again = corrected.spread.unwrap().centre();
        assert!(again.iter().all(|error| error.abs() < 2e-3), "{again:?}");
    }

    #[test]
    fn known_distances_narrow_the_interval() {
        let known = |measured: f64| KnownParallax { measured, truth: 1.08 * measured - 0.012, deviation: 1e-4 };
        let exact = DepthSpread { rest: 0.0, ..SPREAD };
        let (once, twice) = (exact.knowing(known(0.05)), exact.knowing(known(0.05)).knowing(known(0.02)));
        let width = |spread: &DepthSpread| {
            let [low, high] = spread.interval(0.1);
            assert!((low..high).contains(&(1.08 * 0.1 - 0.012)), "{low} {high}");
            high - low
        };
        let widths = [&exact, &once, &twice].map(width);
        assert!(widths[1] < 0.5 * widths[0] && widths[2] < 0.1 * widths[1], "{widths:?}");
        let [offset, slope] = twice.centre();
        assert!((offset + 0.012).abs() < 2e-4 && (slope - 0.08).abs() < 4e-3, "{offset} {slope}");
    }
}
