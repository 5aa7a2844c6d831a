//! Tests of the scene: its ground truth is exact, and its pixels depend only on options and frame number.

use super::*;
use stereopsis_base::image::{Luma, Picture};
use stereopsis_stereo::{StereoParams, match_pair};

fn small() -> SceneOptions {
    SceneOptions { width: 200, height: 150, ..SceneOptions::default() }
}

fn luma(picture: &Picture) -> &Image<u8> {
    let Luma::U8(image) = &picture.luma else { panic!("8 bits expected") };
    image
}

#[test]
fn random_worlds_depend_on_their_seed() {
    let pair = |seed| render(&SceneOptions { world: SceneWorld::Random, seed, ..small() }, 0, true);
    let (one, again) = (pair(1), pair(1));
    assert_eq!((&one.left, &one.right), (&again.left, &again.right));
    assert_ne!(one.left, pair(2).left);
    for seed in 1..20 {
        let truth = pair(seed).truth.unwrap();
        let range = truth.left_px.pixels().iter().fold((f32::MAX, 0.0_f32), |(a, b), &px| (a.min(px), b.max(px)));
        // every pixel shows a surface between the nearest possible one and the back of the largest room
        assert!(truth.left_px.pixels().iter().all(|px| px.is_finite()), "{seed}");
        assert!(range.0 > 1.0 && range.1 < 60.0 && range.1 > 1.5 * range.0, "{seed}: {range:?}");
    }
}

fn between(row: &[f32], x: f64) -> f64 {
    let x = x.clamp(0.0, (row.len() - 1) as f64);
    let (k, f) = ((x as usize).min(row.len() - 2), x.fract());
    f64::from(row[k]) * (1.0 - f) + f64::from(row[k + 1]) * f
}

#[test]
fn a_left_pixel_and_its_partner_see_the_same_point() {
    for vertical_px in [0.0, 1.5] {
        let options = SceneOptions { vertical_px, ..small() };
        let (world, rig) = (World::room(options.seed, 0.0), Rig::new(&options));
        let truth = render(&options, 0, false).truth.unwrap();
        let mut visible = 0;
        for y in 0..options.height {
            for x in 0..options.width {
                let d = f64::from(truth.left_px.at(x, y));
                let xr = x as f64 - d;
                let ray = rig.ray(View::Right, xr, y as f64 + vertical_px);
                let dr = rig.disparity_px(world.hit(&ray, &world.row(&ray, 0.01)).unwrap().t);
                let hidden = truth.is_occluded(x, y);
                assert!(dr > d - 1e-3, "nothing is seen through another thing");
                if !hidden {
                    visible += 1;
                    assert!((dr - d).abs() < 1e-3, "({x}, {y}): {d} and {dr}");
                } else if xr >= -0.5 && y as f64 + vertical_px < options.height as f64 - 0.5 {
                    assert!(dr > d, "({x}, {y}) is called hidden, but nothing hides it");
                }
            }
        }
        assert!((0.7..0.97).contains(&(f64::from(visible) / 30_000.0)), "{visible} visible");
    }
}

#[test]
fn the_right_map_agrees_with_the_left_one() {
    let truth = render(&small(), 7, false).truth.unwrap();
    let (mut visible, mut agree) = (0, 0);
    for y in 0..150 {
        for x in (0..200).filter(|&x| !truth.is_occluded(x, y)) {
            let d = f64::from(truth.left_px.at(x, y));
            visible += 1;
            agree += u32::from((between(truth.right_px.as_ref().unwrap().row(y), x as f64 - d) - d).abs() < 0.05);
        }
    }
    assert!(f64::from(agree) > 0.96 * f64::from(visible), "{agree} of {visible}");
}

#[test]
fn the_right_image_warped_by_the_truth_is_the_left_one() {
    let pair = render(&SceneOptions { width: 400, height: 300, ..small() }, 3, false);
    let truth = pair.truth.as_ref().unwrap();
    let (left, right) = (luma(&pair.left), luma(&pair.right).map(|&v| f32::from(v)));
    let mut differences = Vec::new();
    for y in 0..300 {
        for x in (0..400).filter(|&x| !truth.is_occluded(x, y)) {
            let seen = between(right.row(y), x as f64 - f64::from(truth.left_px.at(x, y)));
            differences.push((seen - f64::from(left.at(x, y))).abs());
        }
    }
    differences.sort_by(f64::total_cmp);
    let share = |part: f64| differences[(differences.len() as f64 * part) as usize];
    assert!(share(0.5) <= 1.0, "median {}", share(0.5));
    assert!(share(0.9) <= 3.0, "nine in ten {}", share(0.9));
}

#[test]
fn copying_static_pixels_changes_no_frame() {
    let stage = StaticScene::new(&small());
    for number in [0_u32, 11, 50] {
        let frame = stage.frame(u64::from(number));
        let world = World::room(small().seed, f64::from(number) / 90.0);
        let whole = stage.rig.view(&world, View::Right, None);
        assert!(frame.truth.right_px.as_ref() == Some(&whole.disparity_px));
        let left = stage.rig.view(&world, View::Left, None);
        assert!(frame.truth.left_px == left.disparity_px);
        assert!(frame.truth.occluded == Some(stage.rig.occluded(&world, &left, None)));
        let differ = frame.right.pixels().iter().zip(whole.rgb.pixels()).filter(|(a, b)| a != b).count();
        assert!(differ <= 3, "{differ} pixels at an edge may miss a shadow that only touches them");
    }
}

#[test]
fn pixels_depend_on_seed_and_frame_alone() {
    let options = SceneOptions { noise: 2.0, exposure: 1.1, ..small() };
    let (one, same) = (render(&options, 12, true), render(&options, 12, true));
    assert!(one.left == same.left && one.right == same.right);
    assert!(one.left != render(&options, 13, true).left);
    assert!(one.left != render(&SceneOptions { seed: 2, ..options }, 12, true).left);
    assert!(one.left == render(&options, 12 + 90, true).left, "the loop closes");
}

#[test]
fn any_size_and_baseline() {
    for (width, height) in [(1, 1), (1, 40), (95, 61)] {
        let pair = render(&SceneOptions { width, height, ..small() }, 0, true);
        assert_eq!((pair.left.size(), pair.right.size()), ((width, height), (width, height)));
        assert!(pair.truth.unwrap().left_px.pixels().iter().all(|d| d.is_finite() && *d > 0.0));
    }
    let wide = render(&SceneOptions { baseline_m: 0.13, ..small() }, 0, false).truth.unwrap();
    let truth = render(&small(), 0, false).truth.unwrap();
    assert!((wide.left_px.at(100, 20) - 2.0 * truth.left_px.at(100, 20)).abs() < 1e-4);
}

#[test]
fn disparities_fit_the_default_range() {
    for frame in (0..90).step_by(9) {
        let options = SceneOptions { width: 160, height: 120, ..small() };
        let truth = render(&options, frame, false).truth.unwrap();
        for d in truth.left_px.pixels() {
            assert!((4.0..60.0).contains(&(d * 4.0)), "{} px at 640 columns", d * 4.0);
        }
    }
}

#[test]
fn a_vertical_offset_lowers_the_right_image() {
    let (level, low) = (render(&small(), 0, false), render(&SceneOptions { vertical_px: 2.0, ..small() }, 0, false));
    assert_eq!(level.left, low.left);
    for y in 0..140 {
        assert_eq!(luma(&level.right).row(y), luma(&low.right).row(y + 2));
    }
}

#[test]
fn the_matcher_finds_the_true_disparity() {
    let options = SceneOptions { width: 320, height: 240, ..SceneOptions::default() };
    let pair = render(&options, 0, false);
    let truth = pair.truth.unwrap();
    let params = StereoParams { num_disparities: 32, ..StereoParams::default() };
    let map = match_pair(&pair.left.luma, &pair.right.luma, &params);
    let (mut seen, mut good) = (0, 0);
    for y in 0..240 {
        for x in (0..320).filter(|&x| !truth.is_occluded(x, y)) {
            seen += 1;
            good += u32::from(map.disparity_px(x, y).is_some_and(|d| (d - truth.left_px.at(x, y)).abs() < 1.0));
        }
    }
    assert!(good * 100 > seen * 85, "{good} of {seen} visible pixels within one pixel of the truth");
}

// writes images for inspection: `cargo test -p stereopsis-scene save_pictures -- --ignored`
#[test]
#[ignore = "writes images to look at"]
fn save_pictures() {
    let folder = std::env::temp_dir().join("stereopsis-scene");
    std::fs::create_dir_all(&folder).unwrap();
    for number in [0, 30] {
        let pair = render(&SceneOptions::default(), number, true);
        for (side, picture) in [("left", &pair.left), ("right", &pair.right)] {
            let rgb = picture.rgb.as_ref().unwrap();
            let flat = rgb.pixels().as_flattened().to_vec();
            let file = image::RgbImage::from_raw(rgb.width() as u32, rgb.height() as u32, flat).unwrap();
            file.save(folder.join(format!("{number}-{side}.png"))).unwrap();
        }
        let truth = pair.truth.unwrap();
        let grey = truth.left_px.map(|d| (d * 4.0).min(255.0) as u8).into_pixels();
        image::GrayImage::from_raw(640, 480, grey).unwrap().save(folder.join(format!("{number}-truth.png"))).unwrap();
        let hidden = truth.occluded.as_ref().unwrap().map(|&o| u8::from(o) * 255).into_pixels();
        image::GrayImage::from_raw(640, 480, hidden)
            .unwrap()
            .save(folder.join(format!("{number}-hidden.png")))
            .unwrap();
    }
}
