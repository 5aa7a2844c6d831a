//! Second-degree polynomials over an image, fitted to values with outliers.

use glam::DVec2;
use stereopsis_base::quantile::quantile;

/// Number of coefficients of a polynomial: for 1, x, y, xy, x² and y².
pub(crate) const TERMS: usize = 6;
/// Coefficients of a polynomial.
pub(crate) type Factors = [f64; TERMS];

/// Number of rounds of a fit.
const ROUNDS: usize = 8;
/// Standard deviation of normal numbers whose absolute values have the median 1.
const SIGMA_OF_MEDIAN: f64 = 1.4826;

fn terms(at: DVec2) -> Factors {
    [1.0, at.x, at.y, at.x * at.y, at.x * at.x, at.y * at.y]
}

/// Returns the value of a polynomial at a place, whose coordinates are -1 to 1 over the image.
pub(crate) fn value(factors: &Factors, at: DVec2) -> f64 {
    terms(at).iter().zip(factors).map(|(term, factor)| term * factor).sum()
}

/// Fits the first `count` coefficients to at least one value by least squares in which outliers lose their weight (Cauchy's). Returns them
/// with the standard deviation of the other values, at least `min_sigma`.
pub(crate) fn fit(values: &[(DVec2, f64)], count: usize, min_sigma: f64) -> (Factors, f64) {
    let mut factors = [0.0; TERMS];
    factors[0] = quantile(&mut values.iter().map(|(_, value)| *value).collect::<Vec<_>>(), 0.5);
    let mut sigma = min_sigma;
    for _ in 0..ROUNDS {
        let residual = |(at, here): &(DVec2, f64)| here - value(&factors, *at);
        let mut amounts: Vec<f64> = values.iter().map(|value| residual(value).abs()).collect();
        sigma = (SIGMA_OF_MEDIAN * quantile(&mut amounts, 0.5)).max(min_sigma);
        let mut normal = [[0.0; TERMS + 1]; TERMS];
        for value in values {
            let weight = 1.0 / (1.0 + (residual(value) / sigma).powi(2));
            let row = terms(value.0);
            for i in 0..count {
                for j in 0..count {
                    normal[i][j] += weight * row[i] * row[j];
                }
                normal[i][TERMS] += weight * row[i] * value.1;
            }
        }
        // keeps the surface flat in directions that the places do not determine
        (1..count).for_each(|i| normal[i][i] += 1.0);
        factors = solved(normal, count);
    }
    (factors, sigma)
}

/// Solves the first `count` of symmetric positive definite equations by elimination.
fn solved(mut rows: [[f64; TERMS + 1]; TERMS], count: usize) -> Factors {
    for i in 0..count {
        let pivot = rows[i];
        for row in &mut rows[i + 1..count] {
            let factor = row[i] / pivot[i];
            for (value, above) in row.iter_mut().zip(&pivot).skip(i) {
                *value -= factor * above;
            }
        }
    }
    let mut solution = [0.0; TERMS];
    for i in (0..count).rev() {
        let known: f64 = (i + 1..count).map(|j| rows[i][j] * solution[j]).sum();
        solution[i] = (rows[i][TERMS] - known) / rows[i][i];
    }
    solution
}
