//! Which engine has which rig: the same answer on every machine, from who is there alone.
//!
//! Rendezvous hashing (Thaler & Ravishankar 1998): each engine has as many numbers for a rig as its weight, hashes of both names;
//! the largest number wins. An engine that goes moves only its own rigs, one that comes takes only those that it wins. Weights are
//! powers of two, and all arithmetic is whole, so that machines cannot disagree by rounding.

use super::key::{Member, Role};
use xxhash_rust::xxh3::xxh3_64;

/// Largest weight.
pub const MAX_WEIGHT: u32 = 1024;

/// The weight of an engine that matches so many pairs in a second: the nearest power of two from 1 to [`MAX_WEIGHT`].
pub fn weight(pairs_per_s: f64) -> u32 {
    let exponent = pairs_per_s.max(1.0).log2().round().min(f64::from(MAX_WEIGHT.ilog2()));
    1 << exponent as u32
}

/// The engine that has a rig; `None` where there is no engine.
pub fn owner<'a>(rig: &str, members: impl IntoIterator<Item = &'a Member>) -> Option<&'a Member> {
    let engines = members.into_iter().filter(|member| member.role == Role::Engine);
    engines.max_by(|a, b| score(rig, a).cmp(&score(rig, b)).then_with(|| b.cmp(a)))
}

fn score(rig: &str, engine: &Member) -> u64 {
    let numbers = 0..engine.weight.clamp(1, MAX_WEIGHT);
    numbers.map(|k| xxh3_64(format!("{rig}/{}/{k}", engine.name).as_bytes())).max().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;

    fn engine(name: &str, weight: u32) -> Member {
        Member { role: Role::Engine, name: name.into(), boot: 1, weight }
    }

    fn spread(engines: &[Member]) -> BTreeMap<String, String> {
        let owned = |n: u32| (format!("rig-{n}"), owner(&format!("rig-{n}"), engines).unwrap().name.clone());
        (0..2000).map(owned).collect()
    }

    #[test]
    fn rigs_are_shared_by_weight_and_only_those_of_a_dead_engine_move() {
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
    fn weights_are_powers_of_two() {
        let weights = [0.0, 1.0, 1.4, 1.5, 60.0, 90.0, 91.0, 1e9, f64::NAN].map(weight);
        assert_eq!(weights, [1, 1, 1, 2, 64, 64, 128, 1024, 1]);
    }

    #[test]
    fn the_answer_is_pinned_because_other_versions_must_give_the_same() {
        let engines = [engine("desk", 64), engine("rack", 256)];
        let owners = ["pi", "robot", "lab", "door", "arm"].map(|rig| owner(rig, &engines).unwrap().name.as_str());
        assert_eq!(owners, ["rack", "rack", "desk", "rack", "rack"]);
    }
}
