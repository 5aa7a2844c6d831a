//! Tests of computed results of the paper, and of the exhibits on small images.

use super::kernels::{ORDERS, visit};
use super::prediction::{Rate, follows, mean_height_in_colour, predict, rates, typed_rates};
use super::setup::*;
use super::tables::TABLE_3;
use super::*;
use crate::aggregation_model::{Kernel, Workload};
use crate::reproduce::exhibit::{Exhibit, Verdict};
use crate::reproduce::resources::ExhibitResources;
use stereopsis_base::image::Image;
use stereopsis_cpu::CpuEngine;
use stereopsis_stereo::{Aggregation, Preset};

fn exhibit(resources: &mut ExhibitResources, name: &str) -> Exhibit {
    let (_, make) = PLANS.iter().find(|(plan, _)| *plan == name).unwrap();
    make(resources).unwrap()
}

fn is_reproduced(exhibit: &Exhibit) -> bool {
    exhibit.rows.iter().all(|row| matches!(row.verdict, Verdict::Reproduced(_)))
}

#[test]
fn computed_numbers_equal_the_papers_to_the_last_digit() {
    let mut resources = ExhibitResources::small().unwrap();
    assert!(is_reproduced(&exhibit(&mut resources, "Fig. 8")));
    assert!(is_reproduced(&exhibit(&mut resources, "Eq. 6")));
    let table = exhibit(&mut resources, "Table III");
    let (papers, predictions) = table.rows.split_at(TABLE_3.len());
    assert!(papers.iter().all(|row| matches!(row.verdict, Verdict::Reproduced(_))));
    assert!(predictions.iter().all(|row| row.what.contains("prediction") && row.cells[0].paper.is_none()));
}

#[test]
fn every_usage_of_the_paper_follows_from_its_rate_and_table_iii() {
    for (row, &(radius, _)) in typed_rates().iter().zip(&TABLE_3) {
        for [rate_hz, usage, ideal_hz] in row {
            assert!(follows(*usage, *rate_hz, *ideal_hz), "radius {radius}: {rate_hz} of {ideal_hz} is not {usage} %");
        }
    }
    assert!(!follows(38.40, 776.35, 2022.72), "another digit does not follow");
}

#[test]
fn errors_on_tsukuba_need_the_pair() {
    let exhibit = exhibit(&mut ExhibitResources::small().unwrap(), "Fig. 15");
    assert!(exhibit.rows.iter().all(|row| row.verdict.sentence().contains("Middlebury v2")), "{:?}", exhibit.rows);
}

/// Checks that a step in one colour ends an arm although brightness hardly changes; the lower two rows are equal.
#[test]
fn arms_by_colour_end_at_a_step_of_one_colour() {
    let rows = [[0, 0, 0], [0, 0, 21], [0, 0, 41]];
    let picture = Image::from_fn(2, 3, |_, y| rows[y]);
    assert!((mean_height_in_colour(&picture, 20, 17) - (1.0 + 2.0 + 2.0) / 3.0).abs() < 1e-12);
    assert!((mean_height_in_colour(&picture, 41, 1) - (2.0 + 3.0 + 2.0) / 3.0).abs() < 1e-12, "arms have a length");
}

#[test]
fn every_mapping_visits_the_whole_volume() {
    for (name, order) in ORDERS {
        let mut volume = vec![0.0; 3 * 4 * 5];
        visit(&mut volume, [3, 4, 5], order);
        assert!(volume.iter().all(|&visits| (visits - 1.0).abs() < 1e-6), "{name}: {volume:?}");
    }
}

/// Checks that the model predicts an ideal kernel exactly, with equal usage on every pair.
#[test]
fn the_model_predicts_a_kernel_that_obeys_it() {
    let rate = |radius: u32, (width, height)| {
        let ideal_hz = Workload::of_paper(width, height, 16).ideal_rates_hz(Kernel::Window { radius }, 1e9);
        let side_px = f64::from(2 * radius + 1);
        Rate { radius, side_px, rate_hz: 0.4 * ideal_hz[0], ideal_hz }
    };
    let found = predict(&[rate(1, TSUKUBA), rate(4, TSUKUBA)], vec![rate(2, (450, 375))]);
    assert!(found[0].errors()[0] < 1e-9, "{:?}", found[0].errors());
}

/// Checks that radius 16 takes less than three times as long as radius 2, instead of 44 times by loops over the window; the limit covers
/// a shared machine and the border of a small image.
#[test]
fn running_sums_hardly_follow_the_radius() {
    let resources = ExhibitResources::small().unwrap();
    let params = method(Preset::Fang2012Cw, 2);
    let size = (TSUKUBA.0 / 2 * resources.shrink, TSUKUBA.1 / 2 * resources.shrink);
    let job = resources.jobs(size, &params).unwrap().remove(0);
    let measured = rates(&mut CpuEngine::new(Some(1)), &job, (Aggregation::Window, &[2, 16]), 1e9, 7).unwrap();
    let growth = measured[0].rate_hz / measured[1].rate_hz;
    assert!(growth < 3.0, "{growth:.1} times as long");
}
