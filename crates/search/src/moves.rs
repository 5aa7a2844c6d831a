//! Single changes of a setting that a search may propose: changes whose gains on several pairs mostly held on further ones. Many others
//! gain more on some pairs and lose far more on others.
//!
//! The checks stay unchanged, like everything that neither judge measures: search range, filling, sub-pixel.

use crate::parameter::{ParameterType as _, Value};
use crate::stereo::{Median, StereoParams};

/// Change of a setting.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Move {
    /// Sets a parameter to a value.
    Set(&'static str, Value),
    /// Multiplies penalties.
    Scale(&'static [&'static str], f64),
}

/// Returns every change, in the order in which they are tried.
pub(super) fn all() -> [Move; 10] {
    const PENALTIES: &[&str] = &["p1", "p2", "p2-min", "p2-alpha"];
    [
        Move::Scale(PENALTIES, 0.7),
        Move::Scale(PENALTIES, 1.4),
        Move::Scale(&["p2"], 0.7),
        Move::Scale(&["p2"], 1.4),
        Move::Scale(&["p1"], 0.7),
        Move::Scale(&["p1"], 1.4),
        Move::Set("arms", Value::Integer(4)),
        Move::Set("tau", Value::Integer(6)),
        Move::Set("tau", Value::Integer(20)),
        Move::Set("median", Median::Five.to_value()),
    ]
}

impl Move {
    /// Returns the setting after this move; `None` if nothing with an effect changes, or the result is invalid.
    pub(super) fn from(self, params: &StereoParams) -> Option<StereoParams> {
        let mut next = params.clone();
        match self {
            Self::Set(name, value) => change(&mut next, name, |_| value),
            Self::Scale(names, factor) => {
                for name in names {
                    change(&mut next, name, |now| match now {
                        Value::Integer(now) => Value::Integer((now as f64 * factor).round() as i64),
                        other => other,
                    });
                }
            }
        }
        next.repair(|_| false);
        (next != *params && next.validate().is_ok()).then_some(next)
    }
}

/// Changes a parameter that has an effect.
fn change(params: &mut StereoParams, name: &str, to: impl Fn(Value) -> Value) {
    if let Some(parameter) = StereoParams::parameter(name).filter(|p| p.inapplicable(params).is_none()) {
        params.set(parameter, to((parameter.get)(params)));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parameter::Group;
    use crate::stereo::Preset;

    #[test]
    fn changes_of_every_preset_are_valid_and_keep_the_range_and_the_checks_and_what_is_filled() {
        for &preset in Preset::ALL {
            let mut params = StereoParams { min_disparity: -3, num_disparities: 40, ..StereoParams::default() };
            preset.apply(&mut params);
            let next: Vec<_> = all().into_iter().filter_map(|step| step.from(&params)).collect();
            assert!(
                (!next.is_empty() || preset.paper().is_some()) && next.iter().all(|next| next.validate().is_ok()),
                "{preset}"
            );
            for next in next {
                assert_eq!((next.fill, next.num_disparities, next.min_disparity), (params.fill, 40, -3), "{preset}");
                let mut checks = StereoParams::table().iter().filter(|parameter| parameter.group == Group::Rejection);
                assert!(checks.all(|check| (check.get)(&next) == (check.get)(&params)), "{preset}: {next:?}");
            }
        }
    }

    #[test]
    fn what_has_no_effect_is_no_change() {
        let without_crosses = StereoParams::default();
        assert_eq!(Move::Set("arms", Value::Integer(4)).from(&without_crosses), None);
        let mut with_crosses = without_crosses;
        Preset::Fang2012Cross.apply(&mut with_crosses);
        let next = Move::Set("arms", Value::Integer(4)).from(&with_crosses).unwrap();
        assert_eq!(next, StereoParams { arms: 4, ..with_crosses });
    }
}
