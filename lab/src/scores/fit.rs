//! Weights of the scores that correlate best with truth, cross-validated on other scenes.

use super::study::Study;
use stereopsis_metrics::scores::{NUM_PARTS, combined};

/// Weights in tenths.
pub(super) type Weights = [u32; NUM_PARTS];

/// Number of tenths distributed over the parts.
const TENTHS: u32 = 10;

/// Agreement of weights with the truth of one scene.
#[derive(Clone, Debug, serde::Serialize)]
pub(super) struct Agreement {
    pub(super) scene: String,
    /// Weights fitted to the scenes of other groups.
    pub(super) weights: Weights,
    /// Rank correlation with bad-1.0 and bad-2.0.
    pub(super) correlations: [Option<f64>; 2],
}

/// Returns all weights with sum one.
fn all_weights() -> Vec<Weights> {
    let mut all = Vec::new();
    let mut weights = [0; NUM_PARTS];
    distribute(&mut weights, 0, TENTHS, &mut all);
    all
}

fn distribute(weights: &mut Weights, part: usize, left: u32, all: &mut Vec<Weights>) {
    if part + 1 == NUM_PARTS {
        weights[part] = left;
        all.push(*weights);
        return;
    }
    for tenths in 0..=left {
        weights[part] = tenths;
        distribute(weights, part + 1, left - tenths, all);
    }
}

/// Computes the correlation of each of these weights on one scene, or 0 if undefined.
fn table(study: &Study, all: &[Weights]) -> Vec<f64> {
    let of = |weights: &Weights| {
        let found = study.correlations(|sample| combined(&sample.parts, weights));
        found.iter().map(|correlation| correlation.unwrap_or(0.0)).sum()
    };
    all.iter().map(of).collect()
}

/// Returns the weights with the largest mean correlation, the first of equal ones.
fn best<'a>(all: &[Weights], tables: impl Iterator<Item = &'a Vec<f64>> + Clone) -> Weights {
    let sum = |i: usize| tables.clone().map(|table| table[i]).sum::<f64>();
    let better = |best: (usize, f64), i: usize| {
        let sum = sum(i);
        if sum > best.1 { (i, sum) } else { best }
    };
    all[(0..all.len()).fold((0, f64::NEG_INFINITY), better).0]
}

/// Fits weights to all scenes, and cross-validates each scene with weights fitted to the other groups.
pub(super) fn fit(studies: &[Study]) -> (Weights, Vec<Agreement>) {
    let all = all_weights();
    let tables: Vec<_> = studies.iter().map(|study| table(study, &all)).collect();
    let agreement = |study: &Study| {
        let others = studies.iter().zip(&tables).filter(|(other, _)| other.group != study.group);
        let weights = best(&all, others.map(|(_, table)| table));
        let correlations = study.correlations(|sample| combined(&sample.parts, &weights));
        Agreement { scene: study.scene.clone(), weights, correlations }
    };
    (best(&all, tables.iter()), studies.iter().map(agreement).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scores::study::Sample;
    use stereopsis_metrics::Random;

    /// Creates a scene whose error is this part, with noise in the others.
    fn study(group: &str, part: usize, seed: u64) -> Study {
        let mut random = Random::with_seed(seed);
        let sample = |_| {
            let parts = [(); NUM_PARTS].map(|()| 10.0 * random.share());
            Sample { parts, bad_1_percent: parts[part], bad_2_percent: parts[part] / 2.0 }
        };
        Study { scene: group.into(), group: group.into(), drawn: 60, samples: (0..60).map(sample).collect() }
    }

    #[test]
    fn fitted_weights_find_the_informative_part() {
        let (weights, agreements) = fit(&[study("a", 3, 1), study("b", 3, 2), study("c", 3, 3)]);
        assert!(weights[3] >= 1, "{weights:?}");
        for agreement in agreements {
            assert!(agreement.correlations.iter().all(|c| c.unwrap() > 0.95), "{agreement:?}");
        }
    }

    #[test]
    fn a_scene_and_its_group_do_not_choose_their_own_weights() {
        let studies = [study("a", 1, 1), study("a", 1, 2), study("b", 0, 3), study("c", 0, 4)];
        let (_, agreements) = fit(&studies);
        assert!(agreements[0].weights[0] > agreements[0].weights[1], "{agreements:?}");
        assert!(agreements[0].correlations[0].unwrap() < 0.7, "{agreements:?}");
    }

    #[test]
    fn all_weights_sum_to_one() {
        let all = all_weights();
        assert!(all.iter().all(|weights| weights.iter().sum::<u32>() == TENTHS));
        assert_eq!(all.len(), 1001);
    }
}
