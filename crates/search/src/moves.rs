//! Single changes of a setting that a search may propose.
//! Their gains on several pairs mostly held on further ones; many others gain more on some pairs and lose far more on others.
//! Neither the checks nor anything that no judge measures (search range, filling, sub-pixel) may change.

use stereopsis_base::parameter::{ParameterType as _, Value};
use stereopsis_stereo::{Median, StereoParams};

#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Move {
    Set(&'static str, Value),
    Scale(&'static [&'static str], f64),
}

/// Returns every change in the order of the trials.
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
    /// Returns the setting after this move, if something with an effect changes and the result is valid.
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

fn change(params: &mut StereoParams, name: &str, to: impl Fn(Value) -> Value) {
    if let Some(parameter) = StereoParams::parameter(name).filter(|p| p.inapplicable(params).is_none()) {
        params.set(parameter, to((parameter.get)(params)));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use stereopsis_base::parameter::Group;
    use stereopsis_stereo::Preset;

    #[test]
    fn changes_of_presets_are_valid_and_keep_range_checks_and_fill() {
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
    fn change_without_effect_is_rejected() {
        let without_crosses = StereoParams::default();
        assert_eq!(Move::Set("arms", Value::Integer(4)).from(&without_crosses), None);
        let mut with_crosses = without_crosses;
        Preset::Fang2012Cross.apply(&mut with_crosses);
        let next = Move::Set("arms", Value::Integer(4)).from(&with_crosses).unwrap();
        assert_eq!(next, StereoParams { arms: 4, ..with_crosses });
    }
}
