//! Tests of the explanation: every number equals the volume of the reference, for random pairs and parameters.

use super::verdict::Remedy;
use super::*;
use crate::aggregate::{path_costs, penalty_table};
use crate::cost::CostSettings;
use crate::disparity::{WinnerRules, right_map, winner_takes_all};
use crate::filter::black_border::drop_black_borders;
use crate::local::LocalSettings;
use crate::map::{INVALID, Maps};
use crate::params::words::Penalties;
use crate::{CostKind, Past, local, match_next, sum_volume, swapped_map};
use fastrand::Rng;
use stereopsis_base::image::{Image, Luma};
use stereopsis_base::parameter::{Domain, Value};
use stereopsis_base::testing::seeds;

fn pair(rng: &mut Rng, (width, height): (usize, usize)) -> [Luma; 2] {
    let bits = *rng.choice(&[8, 8, 12]).unwrap();
    let (coarse, levels) = (rng.usize(1..9), *rng.choice(&[1, 2, 3, 40, 4000]).unwrap());
    let texture = Image::from_fn(width + 64, height, |_, _| rng.u16(0..levels));
    let noise = rng.u16(0..3).min(levels - 1);
    let luma = |rng: &mut Rng, right: bool| {
        let image = Image::from_fn(width, height, |x, y| {
            let shift = if right { (y / 3 % 5) * 2 } else { 0 };
            texture.at((x + shift) / coarse, y) + rng.u16(0..=noise)
        });
        if bits == 8 { Luma::U8(image.map(|&v| v as u8)) } else { Luma::U16 { image, bits } }
    };
    [luma(rng, false), luma(rng, true)]
}

fn random_params(rng: &mut Rng) -> StereoParams {
    loop {
        let mut params = StereoParams::default();
        for parameter in StereoParams::table() {
            if rng.u8(0..4) == 0 {
                continue;
            }
            let short = rng.bool();
            let mut integer = |from: i64, to: i64| {
                let (from, to) = match parameter.name {
                    "min-disparity" => (-20, 20),
                    "num-disparities" => (1, if short { 8 } else { 50 }),
                    "sad-window" | "window" | "arms" => (from, 7),
                    "paths" => (0, if short { 8 } else { 20 }),
                    "uniqueness" => (0, 30),
                    "match-threshold" => (2, 20),
                    _ if short => (from, to.min(from + 64)),
                    _ => (from, to),
                };
                Value::Integer(rng.i64(from..=to))
            };
            let value = match &parameter.domain {
                Domain::Integer(range) => integer(*range.start(), *range.end()),
                Domain::OptionalInteger(range) if !short => integer(*range.start(), *range.end()),
                Domain::OptionalInteger(_) => Value::Off,
                Domain::Switch => Value::Switch(rng.bool()),
                Domain::Choice(words) => Value::Choice(rng.choice(words).unwrap().0),
            };
            (parameter.set)(&mut params, value);
        }
        if params.validate().is_ok() {
            return params;
        }
    }
}

struct Reference {
    costs: crate::Volume<u8>,
    inputs: crate::Volume<u8>,
    sums: crate::Volume<u32>,
    paths: Vec<crate::Volume<u16>>,
    left: crate::DisparityMap,
    right: crate::DisparityMap,
    left8: Image<u8>,
}

impl Reference {
    fn of(left: &Luma, right: &Luma, params: &StereoParams) -> Self {
        let prior = Prior::of(left, right, params, None);
        let (left8, right8) = (left.to_u8(), right.to_u8());
        let sums = sum_volume(left, right, params, &prior);
        let costs = crate::cost::volume(
            left,
            right,
            &CostSettings::of(params),
            &params.disparities(),
            prior.information.as_ref(),
        );
        let costs = crate::Volume { gates: prior.gates.clone(), ..costs };
        let inputs = if params.aggregation == Aggregation::None {
            costs.clone()
        } else {
            let aggregated =
                local::aggregate(&costs, &left8, &right8, &LocalSettings::of(params), params.min_disparity);
            crate::Volume { gates: prior.gates.clone(), ..aggregated.map(|&cost| params.unit().mean(cost)) }
        };
        let directions = crate::aggregate::directions(params.paths, params.start_angle_deg);
        let p2_of_step = penalty_table(params.adaptive_p2, &Penalties::of(params));
        let path = |&direction| path_costs(&inputs, &left8, direction, params.p1, &p2_of_step);
        let right_map = match params.right_matching {
            RightMatching::Diagonal => right_map(&sums, params.min_disparity),
            RightMatching::Swapped => swapped_map(left, right, params, &prior),
        };
        let mut maps = Maps { left: winner_takes_all(&sums, &WinnerRules::of(params)), right: Some(right_map) };
        drop_black_borders(&mut maps, [left, right].map(Into::into));
        Self {
            paths: directions.iter().map(path).collect(),
            left: maps.left,
            right: maps.right.unwrap(),
            costs,
            inputs,
            sums,
            left8,
        }
    }

    fn check(&self, found: &Explanation, what: &str) {
        let (x, y) = found.pixel;
        let params = &found.params;
        let wide = |values: &[u8]| values.iter().map(|&v| u32::from(v)).collect::<Vec<_>>();
        assert_eq!(found.sums, self.sums.existing(x, y), "sums, {what}");
        assert_eq!(found.first_px, params.disparity(self.sums.gate(x, y).first.into()), "{what}");
        if params.is_block_matching() {
            assert_eq!(found.costs, found.sums, "{what}");
        } else {
            assert_eq!(found.costs, wide(self.costs.existing(x, y)), "costs, {what}");
        }
        if let Some(means) = &found.means {
            assert_eq!(*means, wide(self.inputs.existing(x, y)), "means, {what}");
        }
        assert_eq!(found.means.is_some(), params.paths > 0 && params.aggregation != Aggregation::None, "{what}");
        let smallest = *found.sums.iter().min().unwrap();
        assert_eq!(found.winner, found.sums.iter().position(|&sum| sum == smallest).unwrap(), "{what}");
        let rivals = || found.sums.iter().enumerate().filter(|(i, _)| i.abs_diff(found.winner) > 1);
        let least = rivals().map(|(_, &sum)| sum).min();
        assert_eq!(found.second.map(|second| found.sums[second]), least, "{what}");
        assert_eq!(found.second, rivals().find(|&(_, &sum)| Some(sum) == least).map(|(i, _)| i), "{what}");

        assert_eq!(found.reasons, self.left.reasons.at(x, y), "{what}");
        let value = self.left.values.at(x, y);
        if found.reasons == 0 {
            assert_eq!(found.disparity_16th, i32::from(value), "{what}");
            if let Some(confidence) = &self.left.confidence {
                assert_eq!(found.confidence, confidence.at(x, y), "{what}");
            }
        }
        if let Some(refinement) = found.refinement {
            assert_eq!(refinement.sums, found.sums[found.winner - 1..=found.winner + 1], "{what}");
            let whole = 16 * found.disparity_px(found.winner);
            assert_eq!(found.disparity_16th, whole + refinement.offset_16th, "{what}");
        }

        assert_eq!(found.directions.len(), self.paths.len(), "{what}");
        let p2_of_step = penalty_table(params.adaptive_p2, &Penalties::of(params));
        for (winner, path) in found.directions.iter().zip(&self.paths) {
            let path = path.existing(x, y);
            let smallest = *path.iter().min().unwrap();
            assert_eq!((winner.cost, path[winner.winner]), (smallest.into(), smallest), "{what}");
            assert_eq!(winner.winner, path.iter().position(|&cost| cost == smallest).unwrap(), "{what}");
            let before = winner.direction.previous(x, y, self.left8.width(), self.left8.height());
            let step = before.map(|(xb, yb)| self.left8.at(xb, yb).abs_diff(self.left8.at(x, y)));
            assert_eq!(winner.p2, step.map(|step| p2_of_step[usize::from(step)]), "{what}");
        }

        assert_eq!(found.partner.is_some(), params.left_right.is_some(), "{what}");
        let Some(partner) = &found.partner else { return };
        assert_eq!(partner.column, x as i64 - i64::from((found.disparity_16th + 8).div_euclid(16)), "{what}");
        let back = self.right.values.get(partner.column as isize, y as isize);
        let wanted = back.map(|back| (back != INVALID).then_some(i32::from(back)));
        assert_eq!(partner.right.as_ref().map(|right| right.disparity_16th), wanted, "the right winner, {what}");
        if let (Some(right), RightMatching::Diagonal) = (&partner.right, params.right_matching) {
            // a winner in a black border has lost its disparity, not its sum
            let sum = right.disparity_16th.map(|d| {
                let d = d / 16;
                let left_x = (partner.column + i64::from(d)) as usize;
                self.sums.at(left_x, y)[(d - params.min_disparity) as usize]
            });
            assert!(sum.is_none() || right.sum == sum, "{what}");
        }
    }
}

/// Returns a random pair of an odd size; `None` where the parameters cannot be explained.
fn random_case(seed: u64) -> Option<(Explainer, [Luma; 2], String)> {
    let rng = &mut Rng::with_seed(seed);
    let size = (rng.usize(1..=41), rng.usize(1..=23));
    let params = random_params(rng);
    let [left, right] = pair(rng, size);
    let words: Vec<_> = params.words().map(|(name, value)| format!("{name} {value}")).collect();
    let what = format!("SEED={seed}, {}x{}: {}", size.0, size.1, words.join(", "));
    match Explainer::new(&left, &right, &params) {
        Ok(explainer) => Some((explainer, [left, right], what)),
        Err(why) => {
            let is_known = params.starts_from_last() || params.paths > 0 && params.aggregation.has_weights();
            assert!(is_known, "{why}: {what}");
            None
        }
    }
}

#[test]
fn all_numbers_are_those_of_the_whole_volume() {
    let mut explained = 0;
    for seed in seeds(120) {
        let Some((explainer, [left, right], what)) = random_case(seed) else { continue };
        let reference = Reference::of(&left, &right, &explainer.left.params);
        let rng = &mut Rng::with_seed(seed);
        let (width, height) = left.size();
        let corners = [(0, 0), (width - 1, height - 1)];
        for pixel in (0..8).map(|_| (rng.usize(..width), rng.usize(..height))).chain(corners) {
            let found = explainer.explain(pixel, &|| true).unwrap();
            reference.check(&found, &format!("{pixel:?} of {what}"));
            explained += 1;
        }
    }
    assert!(explained > 0);
}

#[test]
fn the_verdict_is_that_of_the_map_and_its_remedy_works() {
    let mut cured = std::collections::BTreeMap::new();
    for seed in seeds(100) {
        let Some((explainer, [left, right], what)) = random_case(seed) else { continue };
        // without the filters after the check the verdict is the map's
        let params = StereoParams {
            speckle_size: 0,
            spatial: None,
            temporal: crate::Temporal::Off,
            choice: false,
            fill: crate::Fill::None,
            ..explainer.left.params.clone()
        };
        let map = |params: &StereoParams| match_next(&mut Past::default(), &left, &right, params, false).left;
        let explainer = Explainer::new(&left, &right, &params).unwrap();
        let before = map(&params);
        let rng = &mut Rng::with_seed(seed);
        for _ in 0..4 {
            let (x, y) = (rng.usize(..left.size().0), rng.usize(..left.size().1));
            let found = explainer.explain((x, y), &|| true).unwrap();
            let checked = explainer.check(&found, &|| true).unwrap();
            let verdict = found.verdict(None, checked.as_ref());
            assert_eq!(verdict.reasons, before.reasons.at(x, y), "({x}, {y}) of {what}");
            let has_remedy = verdict.reasons != 0 && !verdict.sentence.contains("black");
            assert_eq!(verdict.remedy.is_some(), has_remedy, "{verdict:?}");
            if verdict.reasons == 0
                && let Some((_, after)) = verdict.sentence.rsplit_once(" %, ")
            {
                let percent: u32 = after.split(' ').next().unwrap().parse().unwrap();
                // with another uniqueness the right image may drop the partner too
                let is_dropped = |uniqueness| {
                    map(&StereoParams { uniqueness, ..params.clone() }).reasons.at(x, y) == reason::UNIQUENESS
                };
                assert!(!is_dropped(percent - 1) && is_dropped(percent), "({x}, {y}) of {what}");
            }
            let Some(remedy) = verdict.remedy else { continue };
            let changed = remedy.apply(&params);
            changed.validate().unwrap();
            // the check of smaller images may open other gates
            let prior = |params| Prior::of(&left, &right, params, None);
            let is_same_search = |changed| prior(changed) == prior(&params);
            if !is_same_search(&changed) {
                assert!(verdict.sentence.ends_with("so another candidate may win"), "{}", verdict.sentence);
                continue;
            }
            let after = map(&changed).reasons.at(x, y);
            assert_eq!(after & verdict.reasons, 0, "{remedy:?} at ({x}, {y}) of {what}");
            *cured.entry(remedy.name).or_insert(0) += 1;
            if let Value::Integer(value) = remedy.value {
                let step = if remedy.name == "uniqueness" { 1 } else { -1 };
                let nearer = Remedy { value: Value::Integer(value + step), ..remedy }.apply(&params);
                if nearer.validate().is_ok() && nearer != params && is_same_search(&nearer) {
                    assert_ne!(map(&nearer).reasons.at(x, y) & verdict.reasons, 0, "{remedy:?} of {what}");
                }
            }
        }
    }
    // by chance one kind may be missing
    assert!(cured.len() >= 3 || std::env::var_os("SEED").is_some(), "{cured:?}");
}

/// Returns a texture that repeats after 6 px, 2 px further left and brighter by 5 in the right image: costs alone decide.
fn repeating() -> ([Luma; 2], StereoParams) {
    let rng = &mut Rng::with_seed(3);
    let row: Vec<u8> = (0..6).map(|k| 30 * k + rng.u8(..9)).collect();
    let luma = |shift, more| Luma::U8(Image::from_fn(40, 9, |x, y| row[(x + shift) % 6] + y as u8 + more));
    let local = StereoParams { paths: 0, subpixel: Subpixel::Off, ..StereoParams::for_cost(CostKind::Ad) };
    let params = StereoParams { num_disparities: 12, uniqueness: 10, ..local };
    ([luma(0, 0), luma(2, 5)], params)
}

#[test]
fn ambiguous_pixels_report_their_numbers() {
    let ([left, right], params) = repeating();
    let explainer = Explainer::new(&left, &right, &params).unwrap();
    let found = explainer.explain((30, 4), &|| true).unwrap();
    let verdict = found.verdict(None, None);
    assert_eq!(verdict.reasons, reason::UNIQUENESS, "{}", verdict.sentence);
    let wanted = "not unique: second minimum at 8.0 px is 0.0 % away, uniqueness asks for 10 %";
    assert_eq!((found.disparity_px(found.winner), verdict.sentence.as_str()), (2, wanted));
    assert_eq!(verdict.remedy.unwrap().label(), "Set uniqueness to 0");
    let filled = Finished { reasons: reason::UNIQUENESS | reason::FILLED, disparity_16th: Some(40) };
    assert_eq!(
        found.verdict(Some(filled), None).sentence,
        format!("{wanted}; filled in from its neighbours, so not measured")
    );
}

#[test]
fn a_winner_that_the_learned_choice_dropped_was_unique() {
    let ([left, right], params) = repeating();
    let params = StereoParams { uniqueness: 0, choice: true, min_chance: Some(60), ..params };
    let explainer = Explainer::new(&left, &right, &params).unwrap();
    let found = explainer.explain((30, 4), &|| true).unwrap();
    let dropped = Finished { reasons: reason::UNIQUENESS, disparity_16th: None };
    let verdict = found.verdict(Some(dropped), None);
    assert!(verdict.sentence.starts_with("unlikely: 2.00 px won"), "{}", verdict.sentence);
    assert!(verdict.sentence.contains("a chance of 60 %"), "{}", verdict.sentence);
    assert_eq!(verdict.remedy.unwrap().label(), "Set min-chance to off");
}

#[test]
fn filters_override_the_verdict() {
    let ([left, right], params) = repeating();
    let params = StereoParams { uniqueness: 0, ..params };
    let explainer = Explainer::new(&left, &right, &params).unwrap();
    let found = explainer.explain((30, 4), &|| true).unwrap();
    assert!(found.verdict(None, None).sentence.starts_with("valid: 2.00 px won; the second minimum at 8.0 px"));
    let speckle = Finished { reasons: reason::SPECKLE, disparity_16th: None };
    let verdict = found.verdict(Some(speckle), None);
    assert!(verdict.sentence.starts_with("isolated: 2.00 px won"), "{}", verdict.sentence);
    assert_eq!(verdict.remedy.unwrap().apply(&params).speckle_size, 0);
    let moved = Finished { reasons: 0, disparity_16th: Some(36) };
    assert!(found.verdict(Some(moved), None).sentence.ends_with("; the filters moved it to 2.25 px"));
}

#[test]
fn windows_show_the_compared_pixels() {
    let ([left, right], params) = repeating();
    let explainer = Explainer::new(&left, &right, &params).unwrap();
    let found = explainer.explain((30, 4), &|| true).unwrap();
    let Windows { left: own, right: partner, second, line, .. } = &found.windows;
    assert_eq!((own.size(), line.size()), ((7, 7), (12, 7)));
    assert_eq!(own.at(3, 3), left.to_u8().at(30, 4));
    let brighter = own.map(|v| v + 5);
    assert_eq!((&brighter, &brighter), (partner, second.as_ref().unwrap()), "the texture repeats");
    assert_eq!(line.at(2, 3), right.to_u8().at(28, 4));
}

#[test]
fn refuses_pixels_without_an_exact_explanation() {
    let ([left, right], params) = repeating();
    let params = StereoParams { paths: 8, ..params };
    let why = |left: &Luma, params: &StereoParams| Explainer::new(left, &right, params).err().unwrap().to_string();
    let start = StereoParams { mi_start: MiStart::LastFrame, ..StereoParams::for_cost(CostKind::MutualInformation) };
    assert!(why(&left, &start).contains("mi-start random needs only this one"));
    let weights = StereoParams { aggregation: Aggregation::WeightedCross, ..params.clone() };
    assert!(why(&left, &weights).contains("not explained with aggregation weighted-cross before paths"));
    let large = Luma::U8(Image::filled(2000, 1500, 0));
    let gated = StereoParams { gating: Some(2), num_disparities: 256, ..StereoParams::default() };
    let refused = Explainer::new(&large, &large, &gated).err().unwrap().to_string();
    assert!(refused.starts_with("not explained with gating here"), "{refused}");
    assert!(why(&Luma::U8(Image::filled(3, 3, 0)), &params).contains("different sizes"));
    let explainer = Explainer::new(&left, &right, &params).unwrap();
    assert!(explainer.explain((40, 0), &|| true).unwrap_err().to_string().contains("lies outside"));
    assert_eq!(explainer.explain((20, 4), &|| false), Err(Unexplained::Abandoned));
}
