//! Assignment of rigs to engines, which every machine computes identically from the members alone.
//!
//! Rendezvous hashing (Thaler & Ravishankar 1998): the scores of an engine for a rig are hashes of both names, as many as the engine's
//! weight; the largest score wins. Only the rigs of a lost or a new engine move. Weights are powers of two and the arithmetic is
//! integer, so that rounding cannot make machines disagree. Other versions must compute the same: never change the hash.

use super::key::Member;
use std::collections::BTreeMap;
use std::fmt::Write as _;
use xxhash_rust::xxh3::xxh3_64;

pub(crate) const MAX_WEIGHT: u32 = 1024;

/// Returns the weight of an engine of this rate: the nearest power of two from 1 to 1024.
pub fn weight(pairs_per_s: f64) -> u32 {
    let exponent = pairs_per_s.max(1.0).log2().round().min(f64::from(MAX_WEIGHT.ilog2()));
    1 << exponent as u32
}

/// Returns the engine of a rig; `None` if no engine matches it.
pub fn owner<'a>(rig: &str, members: impl IntoIterator<Item = &'a Member>) -> Option<&'a Member> {
    let engines = members.into_iter().filter(|member| member.matches(rig));
    engines.max_by(|a, b| by_score((score(rig, a), *a), (score(rig, b), *b)))
}

fn by_score(a: (u64, &Member), b: (u64, &Member)) -> std::cmp::Ordering {
    a.0.cmp(&b.0).then_with(|| b.1.cmp(a.1))
}

fn score(rig: &str, engine: &Member) -> u64 {
    let mut text = format!("{rig}/{}/", engine.name);
    let prefix = text.len();
    let numbers = 0..engine.weight.clamp(1, MAX_WEIGHT);
    let number = |k: u32| {
        text.truncate(prefix);
        let _ = write!(text, "{k}"); // writing to a string cannot fail
        xxh3_64(text.as_bytes())
    };
    numbers.map(number).max().unwrap_or_default()
}

/// Engines of rigs in order of precedence, with cached scores.
#[derive(Default)]
pub struct Orders {
    /// Scores by rig, and by name and weight of an engine.
    scores: BTreeMap<String, BTreeMap<(String, u32), u64>>,
}

impl Orders {
    /// Returns these engines in their order for a rig.
    pub fn of<'a>(&mut self, rig: &str, engines: impl IntoIterator<Item = &'a Member>) -> Vec<&'a Member> {
        let known = self.scores.entry(rig.to_owned()).or_default();
        let engines: Vec<_> = engines.into_iter().filter(|engine| engine.matches(rig)).collect();
        known.retain(|(name, weight), _| engines.iter().any(|it| it.name == *name && it.weight == *weight));
        let mut scored: Vec<_> = engines
            .into_iter()
            .map(|engine| {
                let key = (engine.name.clone(), engine.weight);
                (*known.entry(key).or_insert_with(|| score(rig, engine)), engine)
            })
            .collect();
        scored.sort_by(|a, b| by_score(*b, *a));
        scored.into_iter().map(|(_, engine)| engine).collect()
    }

    /// Discards the scores of rigs that are gone.
    pub fn retain(&mut self, is_there: impl Fn(&str) -> bool) {
        self.scores.retain(|rig, _| is_there(rig));
    }
}

#[cfg(test)]
mod tests {
    use super::super::key::Role;
    use super::*;
    use std::collections::BTreeSet;

    fn engine(name: &str, weight: u32) -> Member {
        Member { role: Role::Engine, name: name.into(), boot: 1, weight, only: BTreeSet::new() }
    }

    fn spread(engines: &[Member]) -> BTreeMap<String, String> {
        let owned = |n: u32| (format!("rig-{n}"), owner(&format!("rig-{n}"), engines).unwrap().name.clone());
        (0..2000).map(owned).collect()
    }

    #[test]
    fn shares_rigs_by_weight_and_moves_only_those_of_a_lost_engine() {
        let all = [engine("a", 64), engine("b", 64), engine("c", 128)];
        let before = spread(&all);
        for (engine, expected) in all.iter().zip([500, 500, 1000]) {
            let rigs = before.values().filter(|name| **name == engine.name).count();
            assert!(rigs.abs_diff(expected) < 100, "{}: {rigs}", engine.name);
        }
        let after = spread(&all[..2]);
        assert!(before.iter().all(|(rig, name)| name == "c" || after[rig] == *name));
        let mut turned = all.to_vec();
        turned.reverse();
        assert_eq!(spread(&turned), before, "the order in which they were seen does not count");
        let head = Member { role: Role::Head, ..engine("z", 1024) };
        assert_eq!(owner("rig", &[head]), None);
    }

    #[test]
    fn the_order_begins_with_the_owner() {
        let other = Member { only: ["elsewhere".to_owned()].into(), ..engine("other", 1024) };
        let all = [engine("a", 64), engine("b", 64), engine("c", 128), other];
        let mut orders = Orders::default();
        for rig in (0..50).map(|n| format!("rig-{n}")) {
            for count in [4, 2, 3] {
                let order = orders.of(&rig, &all[..count]);
                assert_eq!(order.first().copied(), owner(&rig, &all[..count]));
                assert_eq!(order.len(), count.min(3));
                // without the first engine the next one is the owner
                assert_eq!(order.get(1).copied(), owner(&rig, order[1..].iter().copied()));
            }
        }
        assert!(orders.of("elsewhere", &all).iter().any(|engine| engine.name == "other"));
        orders.retain(|rig| rig == "elsewhere");
        assert_eq!(orders.scores.len(), 1);
    }

    #[test]
    fn weights_are_powers_of_two() {
        let weights = [0.0, 1.0, 1.4, 1.5, 60.0, 90.0, 91.0, 1e9, f64::NAN].map(weight);
        assert_eq!(weights, [1, 1, 1, 2, 64, 64, 128, 1024, 1]);
    }

    #[test]
    fn owners_are_the_same_in_all_versions() {
        let engines = [engine("desk", 64), engine("rack", 256)];
        let owners = ["pi", "robot", "lab", "door", "arm"].map(|rig| owner(rig, &engines).unwrap().name.as_str());
        assert_eq!(owners, ["rack", "rack", "desk", "rack", "rack"]);
    }
}
