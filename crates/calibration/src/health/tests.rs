//! Tests of the row offset and its verdict on rendered pairs.

use super::*;
use crate::{matches, shared_data};
use stereopsis_base::image::{Image, Luma};
use stereopsis_frame::SceneOptions;
use stereopsis_scene::render;

fn row_offset(left: &Luma, right: &Luma) -> Option<RowOffset> {
    let (width, height) = left.size();
    row_offset_of(&matches(left, right), width, height)
}

fn of_scene(options: &SceneOptions) -> RowOffset {
    let pair = render(options, 5, false);
    row_offset(&pair.left.luma, &pair.right.luma).unwrap()
}

#[test]
fn tenths_of_a_pixel_are_distinguished() {
    for (noise, vertical_px, verdict) in [
        (0.0, 0.0, Verdict::Good),
        (5.0, 0.1, Verdict::Good),
        (0.0, -0.3, Verdict::Fair),
        (5.0, 0.3, Verdict::Fair),
        (2.0, 0.6, Verdict::Bad),
        (2.0, -9.0, Verdict::Bad),
    ] {
        let found = of_scene(&SceneOptions { noise, vertical_px, ..SceneOptions::default() });
        assert!((found.median_px - vertical_px).abs() < 0.05, "{vertical_px}: {found:?}");
        assert_eq!(found.verdict(), verdict, "{found}");
    }
}

#[test]
fn the_worst_region_reveals_a_tilt_with_median_zero() {
    let tilted = |x: f64, y: f64| Match {
        left: DVec2::new(x, y),
        right: DVec2::new(x - 20.0, y + (x - 320.0) / 200.0),
        score: 1.0,
    };
    let found: Vec<_> = (0..400).map(|i| tilted(f64::from(i % 20) * 32.0 + 16.0, f64::from(i / 20) * 24.0)).collect();
    let health = row_offset_of(&found, 640, 480).unwrap();
    assert!(health.median_px.abs() < 0.1 && health.median_abs_px > 0.4, "{health:?}");
    assert_eq!(health.verdict(), Verdict::Bad);
    let worst = health.worst.unwrap();
    assert!(worst.place.contains("left") || worst.place.contains("right"), "{health}");
    assert!((worst.median_px.abs() - 1.04).abs() < 0.15, "{health}");
}

#[test]
fn a_third_of_wrong_matches_changes_nothing() {
    let at = |i: u32| {
        let left = DVec2::new(f64::from(i * 37 % 640), f64::from(i * 101 % 480));
        let wrong = if i.is_multiple_of(3) { f64::from(i % 30) } else { 0.0 };
        Match { left, right: left + DVec2::new(-12.0, 0.2 + wrong), score: 0.9 }
    };
    let found: Vec<_> = (1..300).map(at).collect();
    let health = row_offset_of(&found, 640, 480).unwrap();
    assert!((health.median_px - 0.2).abs() < 1e-6 && health.matches < 215, "{health:?}");
}

#[test]
fn images_without_texture_have_no_offset() {
    let flat = Luma::U8(Image::filled(320, 240, 90));
    assert_eq!(row_offset(&flat, &flat), None);
    let noise = |mut seed: u32| {
        Luma::U8(Image::from_fn(320, 240, |_, _| {
            seed = seed.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            (seed >> 24) as u8
        }))
    };
    assert_eq!(row_offset(&noise(1), &noise(2)), None, "two images of nothing in common");
    assert_eq!(row_offset(&noise(1), &Luma::U8(Image::filled(160, 240, 90))), None);
}

#[test]
fn a_raw_rig_is_bad_and_the_rectified_one_good() {
    let Some(data) = shared_data::folder() else { return };
    let (pairs, rig) = shared_data::euroc(&data);
    let rectifier = rig.rectifier(752, 480, 0.0).unwrap();
    for pair in &pairs {
        let raw = row_offset(&pair.left.luma, &pair.right.luma).unwrap();
        let (left, right) = rectifier.apply(&pair.left, &pair.right).unwrap();
        let rectified = row_offset(&left.luma, &right.luma).unwrap();
        eprintln!("{}: raw {raw}; rectified {rectified}; p95 {:.2}", pair.name, rectified.p95_abs_px);
        assert!((10.0..13.5).contains(&raw.median_px) && raw.verdict() == Verdict::Bad, "{raw}");
        assert!(rectified.median_px.abs() < 0.1 && rectified.matches > 100, "{rectified}");
    }
}
