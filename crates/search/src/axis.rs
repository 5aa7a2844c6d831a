//! Numeric parameter with the values of a sweep.

use std::fmt;
use stereopsis_base::parameter::{Domain, Parameter, Value};
use stereopsis_stereo::StereoParams;

/// Numeric parameter with values in order.
#[derive(Clone)]
pub struct SearchAxis {
    parameter: &'static Parameter<StereoParams>,
    values: Vec<Value>,
}

/// Largest number of steps of an automatic axis, whose 17 values have the first and the last among every fourth one.
const MAX_STEPS: i64 = 16;
const ROUND: [i64; 8] = [1, 2, 3, 4, 5, 6, 8, 10];

impl SearchAxis {
    /// Returns the axis of a parameter over its slider, including the value of `base`.
    ///
    /// `None` if no numeric parameter of this name has an effect beside the others of `base`.
    pub fn of(name: &str, base: &StereoParams) -> Option<Self> {
        let parameter = StereoParams::parameter(name).filter(|p| p.inapplicable(base).is_none())?;
        let mut values: Vec<_> = steps(parameter, base)?.into_iter().map(Value::Integer).collect();
        if let Value::Integer(own) = (parameter.get)(base) {
            own_among(&mut values, own);
        }
        if matches!(parameter.domain, Domain::OptionalInteger(_)) {
            values.insert(0, Value::Off);
        }
        Some(Self { parameter, values })
    }

    #[cfg(test)]
    pub(super) fn with_values(self, values: Vec<Value>) -> Self {
        Self { values, ..self }
    }

    /// Returns every axis with an effect beside the other parameters of `base`, in the order of the parameters.
    pub fn all(base: &StereoParams) -> Vec<Self> {
        StereoParams::table().iter().filter_map(|parameter| Self::of(parameter.name, base)).collect()
    }

    /// Returns the parameter.
    pub fn parameter(&self) -> &'static Parameter<StereoParams> {
        self.parameter
    }

    /// Returns the values in order.
    pub fn values(&self) -> &[Value] {
        &self.values
    }
}

impl fmt::Debug for SearchAxis {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {:?}", self.parameter.name, self.values)
    }
}

/// Returns numbers over the slider of a numeric parameter with one round step.
fn steps(parameter: &Parameter<StereoParams>, base: &StereoParams) -> Option<Vec<i64>> {
    let (first, last, step) = if let &[least, .., most] = parameter.properties.shortcuts {
        // without a slider the range is far too long
        (least, 2 * most, least)
    } else {
        let span = parameter.slider_span(base)?;
        (*span.start(), *span.end(), round_step(span.end() - span.start(), parameter.properties.is_odd))
    };
    let multiples = (first.div_euclid(step) * step..=last).step_by(step as usize);
    Some(if parameter.properties.is_odd {
        (first..=last).step_by(step as usize).collect()
    } else {
        std::iter::once(first).chain(multiples.filter(|&value| value > first)).collect()
    })
}

/// Returns the smallest round step with at most [`MAX_STEPS`] over this length, an even one for windows, which are odd.
fn round_step(length: i64, is_odd: bool) -> i64 {
    let steps = (0..6).flat_map(|power| ROUND.map(|round| round * 10_i64.pow(power)));
    let mut fitting = steps.filter(|step| length <= step * MAX_STEPS && !(is_odd && step % 2 == 1));
    fitting.next().unwrap_or(length.max(1))
}

/// Replaces the nearest value by the present one in the range, so that the map has a cell for it.
fn own_among(values: &mut [Value], own: i64) {
    let distance = |value: &Value| match value {
        Value::Integer(v) => (v - own).abs(),
        _ => i64::MAX,
    };
    let ends = [values.first(), values.last()].map(|end| end.copied().map(|end| (distance(&end), end)));
    let is_inside = match ends {
        [Some((_, Value::Integer(first))), Some((_, Value::Integer(last)))] => (first..=last).contains(&own),
        _ => false,
    };
    if let Some(nearest) = values.iter_mut().filter(|_| is_inside).min_by_key(|value| distance(value)) {
        *nearest = Value::Integer(own);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn numbers(axis: &SearchAxis) -> Vec<i64> {
        axis.values.iter().filter_map(|v| if let Value::Integer(v) = v { Some(*v) } else { None }).collect()
    }

    #[test]
    fn every_axis_is_short_rising_and_holds_the_setting() {
        let base = StereoParams {
            temporal: stereopsis_stereo::Temporal::On,
            spatial: Some(2),
            p1: 7,
            ..StereoParams::default()
        };
        let axes = SearchAxis::all(&base);
        assert!(axes.len() > 15, "{axes:?}");
        for axis in &axes {
            let numbers = numbers(axis);
            assert!((2..=18).contains(&axis.values.len()), "{axis:?}");
            assert!(numbers.is_sorted_by(|a, b| a < b), "{axis:?}");
            assert!(axis.values.iter().all(|value| axis.parameter.accepts(*value)), "{axis:?}");
            let own = (axis.parameter.get)(&base);
            assert!(axis.values.contains(&own), "{axis:?} has no {own}");
            if axis.parameter.properties.is_odd {
                assert!(numbers.iter().all(|v| v % 2 == 1), "{axis:?}");
            }
        }
    }

    #[test]
    fn steps_are_round() {
        let base = StereoParams { p1: 14, p2: 50, ..StereoParams::default() };
        let p2 = SearchAxis::of("p2", &base).unwrap();
        assert_eq!(numbers(&p2)[..4], [1, 10, 20, 30]);
        assert_eq!(numbers(&SearchAxis::of("paths", &base).unwrap()), [4, 8, 12, 16, 20, 24, 28, 32]);
        assert_eq!(SearchAxis::of("left-right", &base).unwrap().values[0], Value::Off);
        assert!(SearchAxis::of("cost", &base).is_none() && SearchAxis::of("subpixel", &base).is_none(), "no numbers");
        assert!(SearchAxis::of("rank-window", &base).is_none(), "it has no effect");
    }
}
