//! Tests of the gathering, of changed lenses, and of corrected rigs.

use super::random_rigs::{Random, SIZE, calibrated, error, gathered, turned, view};
use super::*;
use crate::rig::tests::plain_rig;

fn random(seed: u64) -> Random {
    Random(fastrand::Rng::with_seed(seed))
}

#[test]
fn one_view_again_and_again_is_not_judged() {
    let random = &mut random(1);
    let rig = calibrated(random);
    let rectifier = rig.rectifier(SIZE.0, SIZE.1, 0.0).unwrap();
    let truth = turned(&rig, DVec3::new(0.0, 0.0, 0.3));
    let mut gatherer = DriftGatherer::default();
    let found = view(&truth, &rectifier, 0.2, random);
    for n in 0..9 {
        assert_eq!(gatherer.add(&rectifier, &found, SIZE, &RowField::default()).unwrap(), n == 0);
    }
    for views in 1..MIN_DRIFT_VIEWS {
        let drift = gatherer.drift().unwrap();
        assert!(
            drift.views == views && !drift.is_enough && !drift.is_offered && drift.correction.is_zero(),
            "{drift:?}"
        );
        let found = view(&truth, &rectifier, 0.2, random);
        assert!(gatherer.add(&rectifier, &found, SIZE, &RowField::default()).unwrap());
    }
    let drift = gatherer.drift().unwrap();
    assert!(drift.is_offered && drift.views == MIN_DRIFT_VIEWS, "{drift:?}");
    for _ in 0..60 {
        let found = view(&truth, &rectifier, 0.2, random);
        gatherer.add(&rectifier, &found, SIZE, &RowField::default()).unwrap();
    }
    assert!(gatherer.drift().unwrap().matches <= gatherer.cells.len() * KEPT_PER_CELL);
    assert_eq!(gatherer.remembered.len(), REMEMBERED_VIEWS);
}

#[test]
fn a_longer_lens_is_named_and_corrected() {
    for (percent, is_named) in [(0.5, true), (-0.4, true), (1.0, true), (0.15, false), (0.0, false)] {
        let random = &mut random(2);
        let rig = calibrated(random);
        let mut truth = rig.clone();
        truth.right.fx *= 1.0 + percent / 100.0;
        truth.right.fy *= 1.0 + percent / 100.0;
        let rectifier = rig.rectifier(SIZE.0, SIZE.1, 0.0).unwrap();
        let drift = gathered(&truth, &rectifier, random).drift().unwrap();
        assert_eq!(drift.lens.is_some(), is_named, "{percent}: {drift:?}");
        let Some(lens) = drift.lens else { continue };
        assert!((lens.percent - percent).abs() < 0.1, "{percent}: {lens:?}");
        let which = if percent > 0.0 { "% longer than calibrated" } else { "% shorter than calibrated" };
        assert!(lens.words().contains(which), "{}", lens.words());
        // a longer right lens shows what lies at the right further to the right, and so farther
        let [left, right] = lens.sides_percent.map(|side| side * percent);
        assert!(left < 0.0 && right > 0.0, "{lens:?}");
        let corrected = rig.corrected(&drift.correction).unwrap();
        assert!(error(&corrected, &truth) < 0.3 * error(&rig, &truth), "{percent}: {drift:?}");
    }
}

#[test]
fn a_correction_is_judged_against_the_calibration_and_undone_exactly() {
    let random = &mut random(3);
    let rig = calibrated(random);
    let truth = turned(&rig, DVec3::new(0.2, 0.3, -0.2));
    let rectifier = rig.rectifier(SIZE.0, SIZE.1, 0.0).unwrap();
    let first = gathered(&truth, &rectifier, random).drift().unwrap();
    assert!(first.is_offered && first.in_force.is_none(), "{first:?}");
    let corrected = rectifier.corrected(&first.correction).unwrap();
    assert_eq!(corrected.rig().as_calibrated(), &rig);
    let second = gathered(&truth, &corrected, random).drift().unwrap();
    assert!(!second.is_offered && second.in_force.as_ref() == Some(&first.correction), "{second:?}");
    for (a, b) in first.correction.right_deg.iter().zip(second.correction.right_deg) {
        assert!((a - b).abs() < 0.05, "{first:?} {second:?}");
    }
    assert!((second.rows_before_px - first.rows_before_px).abs() < 0.3 && second.rows_after_px < 0.5, "{second:?}");
    assert!(first.depth[2].after_percent < 0.5 * first.depth[2].before_percent, "{}", first.depth_words());
    // another correction takes the place of the first
    let again = corrected.rig().corrected(&Correction::default()).unwrap();
    assert!(again.rotation.abs_diff_eq(rig.rotation, 1e-12) && again.as_calibrated() == &rig);
}

#[test]
fn a_corrected_rig_is_the_turned_one_also_with_a_rectification_of_its_own() {
    let rig = plain_rig();
    let correction = Correction { right_deg: [0.1, 0.2, -0.3], ..Correction::default() };
    let truth = turned(&rig, DVec3::from(correction.right_deg));
    let corrected = rig.corrected(&correction).unwrap();
    // the camera has turned: what it sees has turned the other way
    assert!(corrected.rotation.abs_diff_eq(truth.rotation.transpose(), 1e-9));
    let own = Rectification::compute(&rig, 640, 480, 0.3).unwrap();
    let with_own = StereoRig { rectification: Some(own), ..rig.clone() }.corrected(&correction).unwrap();
    let kept = with_own.rectification.unwrap();
    assert_eq!((kept.left, kept.right, kept.baseline_m), (own.left, own.right, own.baseline_m));
    assert!(with_own.rotation.abs_diff_eq(corrected.rotation, 1e-9));
    let far = DVec3::new(0.2, -0.1, 1.0);
    assert!((kept.rotation_left * far - kept.rotation_right * (with_own.rotation * far)).length() < 1e-9);
    let along = kept.rotation_right * with_own.translation_m;
    assert!((along - DVec3::new(-0.12, 0.0, 0.0)).length() < 1e-9, "{along}");
    let much = Correction { right_deg: [0.0, 9.0, 0.0], ..Correction::default() };
    assert!(rig.corrected(&much).unwrap_err().to_string().contains("no slight change"));
}

#[test]
fn cameras_one_above_the_other_are_judged_alike() {
    let random = &mut random(4);
    let mut rig = plain_rig();
    rig.translation_m = DVec3::new(0.0, -0.12, 0.0);
    for (degrees, nth) in
        [(DVec3::new(0.3, 0.0, 0.0), 0), (DVec3::new(0.0, 0.3, 0.0), 1), (DVec3::new(0.0, 0.0, 0.3), 2)]
    {
        let truth = turned(&rig, degrees);
        let rectifier = rig.rectifier(SIZE.0, SIZE.1, 0.0).unwrap();
        let mut gatherer = DriftGatherer::default();
        for _ in 0..8 {
            let in_rows = |at: DVec2| DVec2::new(at.y, SIZE.0 as f64 - 1.0 - at.x);
            let found: Vec<_> = view(&truth, &rectifier, 0.2, random)
                .into_iter()
                .map(|found| Match { left: in_rows(found.left), right: in_rows(found.right), ..found })
                .collect();
            gatherer.add(&rectifier, &found, (SIZE.1, SIZE.0), &RowField::default()).unwrap();
        }
        let drift = gatherer.drift().unwrap();
        assert!((drift.correction.right_deg[nth] + 0.3).abs() < 0.06, "{degrees}: {drift:?}");
        let corrected = rig.corrected(&drift.correction).unwrap();
        assert!(error(&corrected, &truth) < 0.5 * error(&rig, &truth), "{degrees}: {drift:?}");
    }
}

#[test]
fn a_row_correction_and_a_smaller_working_size_are_taken_out() {
    let random = &mut random(5);
    let rig = plain_rig();
    let truth = turned(&rig, DVec3::new(0.3, 0.0, 0.0));
    let rectifier = rig.rectifier(SIZE.0, SIZE.1, 0.0).unwrap();
    let field = RowField { terms: [1.5 * 2.0 / 240.0, 0.0, 0.0, 0.0, 0.0, 0.0] };
    let mut gatherer = DriftGatherer::default();
    for _ in 0..6 {
        let half = |at: DVec2| (at + 0.5) / 2.0 - 0.5;
        let corrected =
            |found: Match| Match { left: half(found.left), right: half(found.right) - DVec2::new(0.0, 1.5), ..found };
        let found: Vec<_> = view(&truth, &rectifier, 0.2, random).into_iter().map(corrected).collect();
        gatherer.add(&rectifier, &found, (320, 240), &field).unwrap();
    }
    let drift = gatherer.drift().unwrap();
    assert!((drift.correction.right_deg[0] + 0.3).abs() < 0.03, "{drift:?}");
}

#[test]
fn one_view_of_a_turned_rig_names_no_lens() {
    let named = |seed: u64| {
        let random = &mut random(seed);
        let rig = calibrated(random);
        let degrees = DVec3::new(random.between(-0.5, 0.5), random.between(-0.5, 0.5), random.between(-0.5, 0.5));
        let rectifier = rig.rectifier(SIZE.0, SIZE.1, 0.0).unwrap();
        let found = view(&turned(&rig, degrees), &rectifier, 0.25, random);
        let mut gatherer = DriftGatherer::default();
        gatherer.add(&rectifier, &found, SIZE, &RowField::default()).unwrap();
        gatherer.drift().unwrap().lens
    };
    let named: Vec<_> = (0..60).filter_map(named).collect();
    assert!(named.is_empty(), "{named:?}");
}
