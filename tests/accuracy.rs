//! Accuracy on real pairs with truth, by the rules of the Middlebury benchmark.

#![allow(clippy::unwrap_used, reason = "a test may fail")]

use image::GrayImage;
use std::path::{Path, PathBuf};
use stereopsis::capture::scene::{SceneOptions, render};
use stereopsis::frame::Luma;
use stereopsis::image::Image;
use stereopsis::metrics::truth_error;
use stereopsis::stereo::{DisparityMap, Fill, Prior, StereoParams, match_pair};

/// The four pairs of the second Middlebury evaluation, with the scale of their truth and the size of the search range.
const SCENES: [(&str, f32, u32); 4] = [
    ("middlebury2001/tsukuba", 16.0, 16),
    ("middlebury2001/venus", 8.0, 22),
    ("middlebury2003/teddy", 4.0, 56),
    ("middlebury2003/cones", 4.0, 57),
];

#[test]
fn the_defaults_beat_opencvs_eight_paths_on_the_middlebury_pairs() {
    let Some(data) = data() else { return };
    let mean = mean_bad_percent(&data, |num_disparities| StereoParams { num_disparities, ..StereoParams::default() });
    // OpenCV's eight paths with their best block size and penalties reach 9.54 on the same work.
    assert!(mean <= 7.8, "mean bad-1.0 is {mean:.2} %");
}

/// More directions, or turned ones, change little where texture is everywhere; a line drawn wrongly would.
#[test]
fn any_directions_match_the_scene_as_well_as_eight() {
    let pair = render(&SceneOptions { width: 240, height: 180, ..SceneOptions::default() }, 0, false);
    let bad_percent = |paths, start_angle_deg| {
        let params = StereoParams { num_disparities: 40, paths, start_angle_deg, ..StereoParams::default() };
        let map = match_pair(&pair.left.luma, &pair.right.luma, &params);
        let bad = truth_error(&map, pair.truth.as_ref().unwrap()).unwrap().nonocc.bad_1_percent;
        eprintln!("{paths} directions from {start_angle_deg} degrees: bad-1.0 nonocc {bad:.2} %");
        bad
    };
    let eight = bad_percent(8, 0);
    for (paths, start_angle_deg) in [(5, 0), (8, 11), (16, 0), (16, 7), (24, 0)] {
        let bad = bad_percent(paths, start_angle_deg);
        assert!(bad < eight + 0.5, "{paths} from {start_angle_deg}: {bad:.2} %, and {eight:.2} % with eight");
    }
}

/// Range of the tests of gating: longer than any of the pairs needs, as of somebody who does not know his scene.
const LONG_RANGE: u32 = 96;

#[test]
fn gating_matches_the_middlebury_pairs_as_well_as_the_whole_range() {
    let Some(data) = data() else { return };
    let mean = |gating| {
        let params = StereoParams { num_disparities: LONG_RANGE, gating, ..StereoParams::default() };
        mean_bad_percent(&data, |_| params.clone())
    };
    let whole = mean(None);
    for levels in [1, 3] {
        let gated = mean(Some(levels));
        assert!(gated < whole + 0.1, "{levels} levels: {gated:.2} %, and {whole:.2} % over the whole range");
    }
}

#[test]
fn gating_matches_the_scene_as_well_as_the_whole_range() {
    let pair = render(&SceneOptions { width: 240, height: 180, ..SceneOptions::default() }, 0, false);
    let (left, right) = (&pair.left.luma, &pair.right.luma);
    let bad_percent = |gating| {
        let params = StereoParams { num_disparities: LONG_RANGE, gating, ..StereoParams::default() };
        let map = match_pair(left, right, &params);
        let bad = truth_error(&map, pair.truth.as_ref().unwrap()).unwrap().nonocc.bad_1_percent;
        let share = searched_percent(left, right, &params);
        eprintln!("{} levels: bad-1.0 nonocc {bad:.2} %, {share:.1} % searched", gating.unwrap_or(0));
        (bad, share)
    };
    let (whole, _) = bad_percent(None);
    for levels in 1..=3 {
        let (bad, share) = bad_percent(Some(levels));
        assert!(bad < whole + 0.3, "{levels} levels: {bad:.2} %, and {whole:.2} % over the whole range");
        assert!(share < 40.0, "{levels} levels: {share:.1} % searched");
    }
}

/// The folder with the pairs, where there is one.
fn data() -> Option<PathBuf> {
    let data = std::env::var_os("STEREOPSIS_DATA").map(PathBuf::from);
    if data.is_none() {
        eprintln!("skipped: STEREOPSIS_DATA is not set");
    }
    data
}

/// Mean over the four Middlebury pairs and their three regions, filled; `params` from the size of the pair's own range.
fn mean_bad_percent(data: &Path, params: impl Fn(u32) -> StereoParams) -> f64 {
    let mut means = Vec::new();
    for (scene, scale, num_disparities) in SCENES {
        let folder = data.join(scene);
        let params = StereoParams { fill: Fill::Background, ..params(num_disparities) };
        let (left, right) = (luma(&folder.join("left.png")), luma(&folder.join("right.png")));
        let map = match_pair(&left, &right, &params);
        let truth = grey(&folder.join("disp.png"));
        let bad = ["nonocc", "all", "disc"]
            .map(|region| bad_percent(&map, &truth, scale, &grey(&folder.join(format!("{region}.png")))));
        let how = params.gating.map_or(String::new(), |levels| {
            format!(", {levels} levels: {:.1} % searched", searched_percent(&left, &right, &params))
        });
        eprintln!("{scene}: bad-1.0 nonocc {:.2} all {:.2} disc {:.2} %{how}", bad[0], bad[1], bad[2]);
        means.extend(bad);
    }
    let mean = means.iter().sum::<f64>() / means.len() as f64;
    eprintln!("mean bad-1.0 {mean:.2} %");
    mean
}

/// Share of the candidates that gates leave.
fn searched_percent(left: &Luma, right: &Luma, params: &StereoParams) -> f64 {
    let Some(gates) = Prior::of(left, right, params, None).gates else { return 100.0 };
    let searched: usize = gates.pixels().iter().map(|gate| gate.range().count()).sum();
    100.0 * searched as f64 / (gates.pixels().len() * params.num_disparities as usize) as f64
}

/// Share of the region's pixels whose disparity is wrong by more than 1 px; none at all counts as wrong.
fn bad_percent(map: &DisparityMap, truth: &GrayImage, scale: f32, region: &GrayImage) -> f64 {
    let (mut pixels, mut bad) = (0, 0);
    for (x, y, mask) in region.enumerate_pixels() {
        let truth = f32::from(truth.get_pixel(x, y).0[0]) / scale;
        if mask.0[0] != 255 || truth <= 0.0 {
            continue;
        }
        pixels += 1;
        let estimate = map.disparity_px(x as usize, y as usize).filter(|&d| d > 0.0);
        bad += u32::from(estimate.is_none_or(|d| (d - truth).abs() > 1.0));
    }
    100.0 * f64::from(bad) / f64::from(pixels)
}

fn luma(path: &Path) -> Luma {
    let picture = image::open(path).unwrap().to_rgb8();
    let grey = |[r, g, b]: [u8; 3]| ((77 * u32::from(r) + 150 * u32::from(g) + 29 * u32::from(b) + 128) >> 8) as u8;
    let pixels = picture.pixels().map(|p| grey(p.0)).collect();
    Luma::U8(Image::new(picture.width() as usize, picture.height() as usize, pixels))
}

fn grey(path: &Path) -> GrayImage {
    image::open(path).unwrap().to_luma8()
}
