//! Tests of depth quality on planes with known noise.

use super::*;
use stereopsis_base::geometry::DepthSpread;
use stereopsis_base::image::Image;
use stereopsis_stereo::{INVALID, reason};

/// 500 px, 100 mm; the principal point lies at column 39.5 and row 29.5.
pub(super) const RIG: Geometry = Geometry::new(500.0, 0.1, 0.0, [39.5, 29.5]);
const WHOLE: Region = Region { x: 0, y: 0, width: 80, height: 60 };

pub(super) fn map_of(mut disparity_px: impl FnMut(usize, usize) -> Option<f64>) -> DisparityMap {
    let values = Image::from_fn(80, 60, |x, y| disparity_px(x, y).map_or(INVALID, |d: f64| (16.0 * d).round() as i16));
    let reasons = values.map(|&value| if value == INVALID { reason::SPECKLE } else { 0 });
    DisparityMap { values, reasons, confidence: None }
}

/// Returns the disparity of a pixel on the plane that crosses the optical axis at this depth, turned about the vertical by this angle.
fn tilted(depth_m: f64, angle_deg: f64) -> impl Fn(usize, usize) -> Option<f64> {
    let slope = angle_deg.to_radians().tan();
    move |x, _| {
        let ray = (x as f64 - RIG.cx_px) / RIG.focal_px;
        // Z = depth + slope X, with X = ray Z
        Some(RIG.disparity_px(depth_m / (1.0 - slope * ray)))
    }
}

fn gaussian(random: &mut fastrand::Rng) -> f64 {
    (0..12).map(|_| random.f64()).sum::<f64>() - 6.0
}

#[test]
fn a_perfect_tilted_plane_has_only_rounding_errors() {
    for angle_deg in [0.0, 10.0, 40.0] {
        let quality = depth_quality(&map_of(tilted(1.0, angle_deg)), Some(&RIG), WHOLE, Some(1.0));
        let plane = quality.plane.unwrap();
        assert!((plane.angle_deg - angle_deg).abs() < 0.3, "{angle_deg}: {plane:?}");
        let distance_mm = 1e3 * angle_deg.to_radians().cos();
        assert!((plane.distance_mm - distance_mm).abs() < 1.0, "{angle_deg}: {plane:?}");
        assert!((quality.fill_percent - 100.0).abs() < 1e-9 && (plane.inlier_percent - 100.0).abs() < 1e-9);
        // a step of 1/16 px has a standard deviation of 1/16/sqrt(12) = 0.018 px
        let subpixel = quality.subpixel_rms_px.unwrap();
        assert!(subpixel < 0.025, "{angle_deg}: {subpixel}");
        assert!((plane.rms_percent - 100.0 * plane.rms_mm / plane.distance_mm).abs() < 1e-9);
        assert!(quality.z_accuracy_percent.unwrap().abs() < 0.1, "{quality:?}");
    }
}

#[test]
fn a_plane_and_a_length_of_an_estimate_have_bounds() {
    let spread =
        DepthSpread { mean: [0.0; 2], deviation: [0.01, 0.0], correlation: 0.0, rest: 0.0, farthest: 1.0, middle: 1.0 };
    let rig = Geometry { estimated: true, spread: Some(spread), ..RIG };
    let quality = |geometry: &Geometry| depth_quality(&map_of(tilted(1.0, 0.0)), Some(geometry), WHOLE, None);
    assert_eq!(quality(&RIG).plane.unwrap().between_mm, None);
    // a parallax of 0.1 with a deviation of 0.01
    let [near_mm, far_mm] = quality(&rig).plane.unwrap().between_mm.unwrap();
    assert!((near_mm - 836.0).abs() < 5.0 && (far_mm - 1244.0).abs() < 10.0, "{near_mm} {far_mm}");
    let names: Vec<_> = quality(&rig).quantities(Err(Missing::Pairs)).iter().map(|found| found.name).collect();
    assert!(names.ends_with(&["plane_distance_least_mm", "plane_distance_most_mm"]), "{names:?}");
    let wide = Geometry { spread: Some(DepthSpread { deviation: [0.2, 0.0], ..spread }), ..rig };
    let quantities = quality(&wide).quantities(Err(Missing::Pairs));
    assert_eq!(quantities.last().unwrap().value, Err(Missing::FarBound));
    // 100 mm across at 1 m: as long as depth
    let across = |geometry| distance(&map_of(tilted(1.0, 0.0)), Some(geometry), [(10, 20), (60, 20)], STEP_PX).unwrap();
    let calibration_mm = across(&rig).calibration_mm.unwrap();
    assert!((calibration_mm - 24.4).abs() < 1.0, "{calibration_mm}");
    assert_eq!(across(&wide).calibration_mm, Err(Missing::Estimate));
}

#[test]
fn a_shifted_plane_is_too_near_and_not_noisy() {
    // 50 px at 1 m; half a pixel more is 1 % nearer
    let plane = tilted(1.0, 0.0);
    let map = map_of(|x, y| plane(x, y).map(|d| d + 0.5));
    let quality = depth_quality(&map, Some(&RIG), WHOLE, Some(1.0));
    assert!((quality.z_accuracy_percent.unwrap() + 100.0 * 0.5 / 50.5).abs() < 0.05, "{quality:?}");
    assert!(quality.subpixel_rms_px.unwrap() < 0.02);
    let unknown = depth_quality(&map, Some(&RIG), WHOLE, None);
    assert_eq!(unknown.z_accuracy_percent, Err(Missing::TrueDistance));
}

#[test]
fn noise_of_known_size_is_found() {
    for sigma_px in [0.25, 0.5] {
        let mut random = fastrand::Rng::with_seed(3);
        let plane = tilted(1.0, 20.0);
        let map = map_of(|x, y| plane(x, y).map(|d| d + sigma_px * gaussian(&mut random)));
        let quality = depth_quality(&map, Some(&RIG), WHOLE, None);
        // the foot of a point is nearer than the plane on the line of sight, by the squared cosine of the angle
        let expected = sigma_px * 20.0f64.to_radians().cos().powi(2);
        let found = quality.subpixel_rms_px.unwrap();
        assert!((found / expected - 1.0).abs() < 0.1, "{sigma_px}: {found}, expected {expected}");
        // at 1 m, 1 px is 20 mm of depth, seen along the normal
        let rms_mm = quality.plane.unwrap().rms_mm;
        let expected_mm = 20.0 * sigma_px * 20.0f64.to_radians().cos();
        assert!((rms_mm / expected_mm - 1.0).abs() < 0.1, "{sigma_px}: {rms_mm} mm, expected {expected_mm}");
        let alone = depth_quality(&map, None, WHOLE, None).subpixel_rms_px.unwrap();
        assert!((alone / sigma_px - 1.0).abs() < 0.1, "{sigma_px}: {alone} without a calibration");
    }
}

#[test]
fn background_does_not_tilt_the_plane_but_counts_as_error() {
    let plane = tilted(1.0, 10.0);
    // a third of the region shows an object half a metre behind
    let map = map_of(|x, y| if x >= 55 { Some(RIG.disparity_px(1.5)) } else { plane(x, y) });
    let quality = depth_quality(&map, Some(&RIG), WHOLE, None);
    let plane = quality.plane.unwrap();
    assert!((plane.angle_deg - 10.0).abs() < 0.5, "{plane:?}");
    assert!((plane.inlier_percent - 100.0 * 55.0 / 80.0).abs() < 1.0, "{plane:?}");
    assert!(plane.rms_mm > 100.0, "{plane:?}");
}

#[test]
fn an_empty_region_names_missing_data() {
    let nothing = depth_quality(&map_of(|_, _| None), Some(&RIG), WHOLE, Some(1.0));
    assert!(nothing.fill_percent.abs() < 1e-9);
    assert_eq!(nothing.plane, Err(Missing::Pixels { have: 0 }));
    assert_eq!(nothing.subpixel_rms_px, Err(Missing::Pixels { have: 0 }));
    assert_eq!(nothing.z_accuracy_percent, Err(Missing::Pixels { have: 0 }));
    let line = depth_quality(&map_of(|x, y| (x == y).then_some(50.0)), Some(&RIG), WHOLE, None);
    assert_eq!(line.plane, Err(Missing::Line));
    let outside = Region { x: 900, y: 900, width: 10, height: 10 };
    let quality = depth_quality(&map_of(|_, _| Some(50.0)), Some(&RIG), outside, None);
    assert_eq!(quality.plane, Err(Missing::Pixels { have: 0 }));
    let behind = Geometry { doffs_px: -60.0, ..RIG };
    let quality = depth_quality(&map_of(|_, _| Some(50.0)), Some(&behind), WHOLE, None);
    assert_eq!(quality.plane, Err(Missing::Pixels { have: 0 }));
    assert_eq!(depth_quality(&map_of(|_, _| Some(50.0)), None, WHOLE, Some(1.0)).plane, Err(Missing::Calibration));
}

#[test]
fn filled_and_held_pixels_are_not_measured() {
    let mut map = map_of(|_, _| Some(50.0));
    for (x, y) in (0..80).flat_map(|x| [(x, 3), (x, 4)]) {
        map.reasons.set(x, y, reason::LEFT_RIGHT | if y == 3 { reason::FILLED } else { reason::HELD });
    }
    let quality = depth_quality(&map, Some(&RIG), WHOLE, None);
    assert!((quality.fill_percent - 100.0 * 58.0 / 60.0).abs() < 1e-9, "{quality:?}");
}

#[test]
fn every_number_has_its_own_name_and_a_unit() {
    let quality = depth_quality(&map_of(tilted(1.0, 5.0)), Some(&RIG), WHOLE, Some(1.0));
    let quantities = quality.quantities(Err(Missing::Pairs));
    let names: std::collections::BTreeSet<_> = quantities.iter().map(|quantity| quantity.name).collect();
    assert_eq!(names.len(), quantities.len());
    assert!(quantities.iter().all(|quantity| !quantity.unit.is_empty()));
    let missing: Vec<_> = quantities.iter().filter(|quantity| quantity.value.is_err()).map(|q| q.name).collect();
    assert_eq!(missing, ["temporal_noise_percent"]);
}
