//! Steps from one setting to its neighbours.

use super::judge::Judge;
use super::space::{
    ADAPTIVE_P2, AGGREGATIONS, ARMS, CHOICE, COSTS, LEFT_RIGHT, MAX_PENALTY_FACTOR, MEDIANS, PATHS, RANK_WINDOWS,
    SAD_WINDOWS, SPATIAL, SPECKLE_SIZES, TAUS, UNIQUENESS,
};
use crate::parameter::{Group, ParameterType, Value};
use crate::stereo::StereoParams;

/// A change of a setting.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Move {
    /// A parameter gets a value.
    Set(&'static str, Value),
    /// Penalties are multiplied.
    Scale(&'static [&'static str], f64),
}

/// Penalties that are scaled together.
const SCALED: [&[&str]; 5] = [&["p1"], &["p2"], &["p2-min"], &["p2-alpha"], &["p1", "p2", "p2-min", "p2-alpha"]];
/// By how much.
const FACTORS: [f64; 4] = [0.5, 0.7, 1.4, 2.0];

/// Every move. Both judges count a dropped pixel like a wrong one. The error against truth also tells how many pixels are wrong, but
/// the score without truth would find every check too strict: with it the checks stay as they are. Neither sees what a fraction of a
/// pixel is worth, so sub-pixel stays as it is.
pub(super) fn all(judge: Judge) -> Vec<Move> {
    let mut moves = [
        to("cost", &COSTS),
        to("rank-window", &RANK_WINDOWS),
        to("sad-window", &SAD_WINDOWS),
        to("aggregation", &AGGREGATIONS),
        to("tau", &TAUS),
        to("arms", &ARMS),
        to("paths", &PATHS),
        to("adaptive-p2", &ADAPTIVE_P2),
        to("median", &MEDIANS),
        to("left-right", &LEFT_RIGHT),
        to("uniqueness", &UNIQUENESS),
        to("speckle-size", &SPECKLE_SIZES),
        to("spatial", &SPATIAL),
        to("choice", &CHOICE),
    ]
    .concat();
    moves.extend(SCALED.iter().flat_map(|names| FACTORS.map(|factor| Move::Scale(names, factor))));
    moves.retain(|step| judge == Judge::Truth || !step.changes_checks());
    moves
}

/// A parameter set to each of these values.
fn to<T: ParameterType>(name: &'static str, values: &[T]) -> Vec<Move> {
    let mut moves: Vec<_> = values.iter().map(|value| Move::Set(name, value.to_value())).collect();
    moves.dedup();
    moves
}

impl Move {
    fn changes_checks(self) -> bool {
        match self {
            Self::Set(name, _) => StereoParams::parameter(name).is_some_and(|p| p.group == Group::Rejection),
            Self::Scale(..) => false,
        }
    }

    /// The setting after this move; `None` where it changes nothing that has an effect, or leads to an invalid one.
    pub(super) fn from(self, params: &StereoParams) -> Option<StereoParams> {
        let mut next = params.clone();
        match self {
            Self::Set(name, value) => {
                set(&mut next, name, value)?;
                if name == "aggregation" {
                    next.arms = next.arms.min(ARMS[ARMS.len() - 1]);
                }
            }
            Self::Scale(names, factor) => {
                for name in names {
                    scale(&mut next, name, factor);
                }
            }
        }
        next.repair(|_| false);
        (next != *params && next.validate().is_ok()).then_some(next)
    }
}

fn set(params: &mut StereoParams, name: &str, value: Value) -> Option<()> {
    let parameter = StereoParams::parameter(name).filter(|p| p.inapplicable(params).is_none())?;
    params.set(parameter, value);
    Some(())
}

/// Multiplies a penalty, within the bounds around that of the cost. One without an effect stays.
fn scale(params: &mut StereoParams, name: &str, factor: f64) {
    let usual = StereoParams::for_cost(params.cost);
    let Some(parameter) = StereoParams::parameter(name).filter(|p| p.inapplicable(params).is_none()) else { return };
    if let (Value::Integer(now), Value::Integer(usual)) = ((parameter.get)(params), (parameter.get)(&usual)) {
        let usual = usual as f64;
        let scaled = (now as f64 * factor).clamp(usual / MAX_PENALTY_FACTOR, usual * MAX_PENALTY_FACTOR).round();
        params.set(parameter, Value::Integer(scaled as i64));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stereo::Preset;

    #[test]
    fn moves_from_every_preset_are_valid_and_keep_the_range_and_what_is_filled() {
        for &preset in Preset::ALL {
            let mut params = StereoParams { min_disparity: -3, num_disparities: 40, ..StereoParams::default() };
            preset.apply(&mut params);
            let next: Vec<_> = all(Judge::Truth).into_iter().filter_map(|step| step.from(&params)).collect();
            assert!(next.len() > 15, "{preset}: {}", next.len());
            let wrong = next.iter().find(|next| next.fill != params.fill || next.num_disparities != 40);
            assert!(wrong.is_none(), "{preset}: {wrong:?}");
        }
    }

    #[test]
    fn without_truth_no_check_is_moved() {
        let names = |judge| {
            let moves = all(judge).into_iter();
            moves.filter_map(|step| if let Move::Set(name, _) = step { Some(name) } else { None }).collect::<Vec<_>>()
        };
        assert!(["left-right", "uniqueness", "speckle-size"].iter().all(|name| names(Judge::Truth).contains(name)));
        let without = names(Judge::WithoutTruth);
        assert!(!without.iter().any(|name| ["left-right", "uniqueness", "speckle-size"].contains(name)), "{without:?}");
    }

    #[test]
    fn penalties_stay_near_those_of_the_cost() {
        let mut params = StereoParams::default();
        let usual = params.p2;
        for _ in 0..9 {
            params = Move::Scale(&["p2"], 2.0).from(&params).unwrap_or(params);
        }
        assert_eq!(params.p2, 4 * usual);
        assert_eq!(Move::Scale(&["p2"], 2.0).from(&params), None);
    }
}
