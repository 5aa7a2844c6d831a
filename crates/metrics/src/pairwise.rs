//! Sums whose rounding errors grow with the logarithm of their length.

/// Largest number of values that are added in lanes.
const BLOCK: usize = 128;
const LANES: usize = 8;

/// Sums all values: halves separately, down to blocks that are added in eight lanes. numpy has the same order, so that means over the same
/// pixels are equal to the last bit.
pub(super) fn sum(values: &[f64]) -> f64 {
    if values.len() > BLOCK {
        let half = values.len() / 2;
        let (first, second) = values.split_at(half - half % LANES);
        return sum(first) + sum(second);
    }
    let (lanes, rest) = values.as_chunks::<LANES>();
    let of_lanes = lanes.iter().copied().reduce(|sums, lane| std::array::from_fn(|k| sums[k] + lane[k]));
    let of_lanes = of_lanes.map_or(0.0, |[a, b, c, d, e, f, g, h]| ((a + b) + (c + d)) + ((e + f) + (g + h)));
    rest.iter().fold(of_lanes, |sum, value| sum + value)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_value_counts_once() {
        for n in [0, 1, 7, 8, 9, 127, 128, 129, 1000, 4099] {
            let values: Vec<f64> = (1..=n).map(f64::from).collect();
            let expected = f64::from(n) * f64::from(n + 1) / 2.0;
            assert!((sum(&values) - expected).abs() < 1e-9, "{n}");
        }
    }

    #[test]
    fn many_tenths_stay_exact_to_the_last_digits() {
        let tenths = vec![0.1; 1_000_000];
        assert!((sum(&tenths) - 100_000.0).abs() < 1e-9);
        assert!((tenths.iter().sum::<f64>() - 100_000.0).abs() > 1e-7, "one after the other they are not");
    }
}
