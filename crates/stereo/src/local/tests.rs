//! Tests of local aggregation: regions and weights computed by hand, and whole matches.

use super::*;
use crate::{CostKind, Prior, StereoParams, Volume, match_pair, sum_volume};
use fastrand::Rng;
use stereopsis_base::image::{Image, Luma};

fn noise(rng: &mut Rng, width: usize, height: usize) -> Image<u8> {
    Image::from_fn(width, height, |_, _| rng.u8(..))
}

fn line(costs: &[u8]) -> Volume<u8> {
    Volume { width: costs.len(), height: 1, candidates: 1, data: costs.to_vec(), gates: None }
}

#[test]
fn arms_end_at_edges_at_their_length_and_at_the_border() {
    let row = Image::new(7, 1, vec![50, 10, 12, 14, 16, 18, 90]);
    let arms = arms(&row, 4, 2);
    assert_eq!(arms.at(3, 0), Arms { left: 2, right: 2, up: 0, down: 0 }, "each is compared with the pixel itself");
    assert_eq!(arms.at(1, 0), Arms { left: 0, right: 2, up: 0, down: 0 });
    assert_eq!(arms.at(6, 0), Arms { left: 0, right: 0, up: 0, down: 0 });
    assert_eq!(super::arms(&row, 255, 17).at(2, 0), Arms { left: 2, right: 4, up: 0, down: 0 });
}

#[test]
fn a_cross_is_made_of_the_arms_of_its_own_column() {
    // a 3 x 3 image whose corner (2, 2) is an edge, the same on both sides
    let picture = Image::from_fn(3, 3, |x, y| if (x, y) == (2, 2) { 200 } else { 10 });
    let params = StereoParams { aggregation: Aggregation::Cross, num_disparities: 1, ..StereoParams::default() };
    let offsets = Offsets::new(&picture, &picture, &LocalSettings::of(&params));
    let mut region = Vec::new();
    offsets.for_each((1, 1, 1), |dx, dy| region.push((1 + dx, 1 + dy)));
    assert_eq!(region, [(0, 0), (1, 0), (2, 0), (0, 1), (1, 1), (2, 1), (0, 2), (1, 2)]);
}

#[test]
fn a_constant_window_is_the_sum_and_its_mean_is_rounded() {
    let flat = Image::filled(4, 1, 7);
    let params =
        StereoParams { aggregation: Aggregation::Window, window: 3, num_disparities: 1, ..StereoParams::default() };
    let sums = aggregate(&line(&[0, 9, 5, 200]), &flat, &flat, &LocalSettings::of(&params), params.min_disparity);
    assert_eq!(sums.data, [3 * 9, 3 * 14, 3 * 214, 3 * 405], "rows and the last columns repeat");
    assert_eq!(sums.map(|&sum| params.unit().mean(sum)).data, [3, 5, 71, 135]);
}

#[test]
fn weights_depend_on_likeness_in_both_images() {
    let params = StereoParams {
        aggregation: Aggregation::AdaptiveWeight,
        window: 3,
        num_disparities: 1,
        gamma_color: 100,
        gamma_space: 2,
        ..StereoParams::default()
    };
    let left = Image::new(3, 1, vec![10, 10, 30]);
    let right = Image::filled(3, 1, 10);
    let tables = WeightTables::new(&LocalSettings::of(&params));
    assert_eq!((tables.color[0], tables.color[10], tables.color[20]), (255, 94, 5));
    assert_eq!(tables.space, [255, 155, 155, 94]);
    // centre: 254 in both; beside: 154; above and below the same by the clamped rows; to the right 5 in the left image
    let (centre, beside, corner) = ((254 * 254) >> 8, (154 * 154) >> 8, (93 * 93) >> 8);
    // with 5 of brightness the left weights are 5 * 155 / 256 = 3 and 5 * 94 / 256 = 1
    let (edge, edge_corner) = ((3 * 154) >> 8, 0);
    let total = centre + 2 * beside + beside + 2 * corner + edge + 2 * edge_corner;
    let sum = 20 * (centre + 2 * beside) + 40 * (beside + 2 * corner) + 100 * (edge + 2 * edge_corner);
    let aggregated = aggregate(&line(&[40, 20, 100]), &left, &right, &LocalSettings::of(&params), params.min_disparity);
    assert_eq!(aggregated.at(1, 0), [16 * sum / total]);
}

#[test]
fn without_edges_a_cross_is_a_window_and_equal_costs_stay() {
    let rng = &mut Rng::with_seed(3);
    let flat = Image::filled(9, 9, 100);
    let costs = Volume::from_fn(9, 9, 2, |_, _, _| rng.u8(..));
    let params =
        |aggregation| StereoParams { aggregation, window: 5, arms: 2, num_disparities: 2, ..StereoParams::default() };
    let window = aggregate(&costs, &flat, &flat, &LocalSettings::of(&params(Aggregation::Window)), 0);
    let cross = aggregate(&costs, &flat, &flat, &LocalSettings::of(&params(Aggregation::Cross)), 0);
    assert_eq!(cross.at(4, 4), window.at(4, 4).iter().map(|&sum| (16 * sum + 12) / 25).collect::<Vec<_>>());
    let same = costs.map(|_| 77);
    let (left, right) = (noise(rng, 9, 9), noise(rng, 9, 9));
    for &aggregation in Aggregation::ALL.iter().filter(|&&a| a != Aggregation::None) {
        let params = params(aggregation);
        let aggregated = aggregate(&same, &left, &right, &LocalSettings::of(&params), params.min_disparity);
        assert!(aggregated.data.iter().all(|&v| v == 77 * params.unit().per_cost()), "{aggregation}");
    }
}

#[test]
fn sad_is_a_window_of_absolute_differences() {
    let rng = &mut Rng::with_seed(5);
    let (left, right) = (Luma::U8(noise(rng, 21, 9)), Luma::U8(noise(rng, 21, 9)));
    for paths in [0, 8] {
        let base =
            StereoParams { paths, num_disparities: 9, min_disparity: -2, p1: 9, p2: 60, ..StereoParams::default() };
        let sad = StereoParams { cost: CostKind::Sad, sad_window: 5, ..base.clone() };
        let ad = StereoParams { cost: CostKind::Ad, aggregation: Aggregation::Window, window: 5, ..base };
        let sums = |params| sum_volume(&left, &right, params, &Prior::default());
        assert_eq!(sums(&sad), sums(&ad), "{paths} paths");
    }
}

#[test]
fn every_cost_with_every_aggregation_finds_a_shift() {
    let rng = &mut Rng::with_seed(6);
    let texture = noise(rng, 60, 14);
    let view = |offset| Luma::U8(Image::from_fn(46, 14, |x, y| texture.at(x + offset, y)));
    // mutual information learns nothing from so little noise
    for &cost in CostKind::ALL.iter().filter(|&&cost| !cost.is_learned()) {
        for &aggregation in Aggregation::ALL {
            for paths in [0, 8] {
                let params = StereoParams {
                    aggregation,
                    window: 5,
                    arms: 3,
                    paths,
                    num_disparities: 10,
                    ..StereoParams::for_cost(cost)
                };
                let map = match_pair(&view(4), &view(9), &params);
                let inside = || (9..46).flat_map(|x| (0..14).map(move |y| (x, y)));
                let good =
                    inside().filter(|&(x, y)| map.disparity_px(x, y).is_some_and(|d| (d - 5.0).abs() < 0.5)).count();
                assert!(10 * good > 9 * inside().count(), "{cost}, {aggregation}, {paths} paths: {good}");
            }
        }
    }
}
