//! Tests of the sparse matches on rendered pairs and shifted textures.

use super::*;
use glam::FloatExt;
use stereopsis_base::image::Image;
use stereopsis_frame::SceneOptions;
use stereopsis_scene::render;

/// Returns the fraction of values up to `limit`.
fn share(values: impl Iterator<Item = f64>, limit: f64) -> f64 {
    let (mut all, mut within) = (0.0, 0.0);
    for value in values {
        all += 1.0;
        within += f64::from(u8::from(value.abs() <= limit));
    }
    within / all
}

#[test]
fn finds_points_to_sub_pixel_accuracy_under_noise() {
    for (noise, exposure, fewest) in [(0.0, 1.0, 400), (4.0, 1.0, 350), (3.0, 1.3, 300), (1.0, 0.6, 300)] {
        let options = SceneOptions { noise, exposure, vertical_px: 2.4, ..SceneOptions::default() };
        let pair = render(&options, 3, false);
        let truth = pair.truth.unwrap();
        let found = matches(&pair.left.luma, &pair.right.luma);
        assert!(found.len() >= fewest, "{} matches at noise {noise}, exposure {exposure}", found.len());
        let exact = |m: &Match| f64::from(truth.left_px.at(m.left.x as usize, m.left.y as usize));
        let disparity = || found.iter().map(|m| m.disparity_px() - exact(m));
        let rows = || found.iter().map(|m| m.row_offset_px() - 2.4);
        // patches at the edges of objects contain two depths
        assert!(share(rows(), 0.25) > 0.7 && share(rows(), 1.0) > 0.93, "rows at noise {noise}, exposure {exposure}");
        assert!(share(disparity(), 0.5) > 0.7 && share(disparity(), 3.0) > 0.93, "disparities at noise {noise}");
    }
}

/// Returns the brightness at (x, y) px of non-repeating blobs of about 5 px: random values at grid nodes, with smooth steps between.
fn texture(x: f64, y: f64) -> u8 {
    let at = DVec2::new(x, y) / 5.0 + 1000.0;
    let (whole, part) = (at.floor(), at - at.floor());
    let corner = |i: u32, j: u32| {
        let mut bits = (whole.x as u32 + i).wrapping_mul(0x9e37_79b1) ^ (whole.y as u32 + j).wrapping_mul(0x85eb_ca77);
        bits = (bits ^ (bits >> 15)).wrapping_mul(0x2c1b_3c6d);
        f64::from((bits ^ (bits >> 12)).wrapping_mul(0x297a_2d39) >> 24)
    };
    let w = part * part * (3.0 - 2.0 * part);
    let (upper, lower) = (corner(0, 0).lerp(corner(1, 0), w.x), corner(0, 1).lerp(corner(1, 1), w.x));
    upper.lerp(lower, w.y) as u8
}

fn shifted(width: usize, height: usize, dx: f64, dy: f64) -> Luma {
    Luma::U8(Image::from_fn(width, height, |x, y| texture(x as f64 + dx, y as f64 + dy)))
}

#[test]
fn searches_the_whole_window_of_large_images() {
    for (width, height) in [(320, 240), (1280, 800)] {
        let (w, h) = (width as f64, height as f64);
        for (dx, dy) in [(0.33 * w, 0.06 * h), (-0.07 * w, -0.06 * h), (11.3, 0.4)] {
            let found = matches(&shifted(width, height, 0.0, 0.0), &shifted(width, height, dx, dy));
            assert!(found.len() > 60, "{} matches at {dx}, {dy}", found.len());
            let right = share(found.iter().map(|m| m.disparity_px() - dx), 0.15);
            let rows = share(found.iter().map(|m| m.row_offset_px() + dy), 0.15);
            assert!(right > 0.95 && rows > 0.95, "{width}x{height} at {dx}, {dy}: {right} {rows}");
        }
    }
}

#[test]
fn sixteen_bit_images_match_like_eight_bit_ones() {
    let deep = |luma: &Luma| Luma::U16 { image: luma.to_u16().map(|v| v << 4), bits: 12 };
    let (left, right) = (shifted(320, 240, 0.0, 0.0), shifted(320, 240, 9.0, 1.0));
    assert_eq!(matches(&deep(&left), &deep(&right)), matches(&left, &right));
}

#[test]
fn unmatchable_images_have_no_matches() {
    let one = shifted(320, 240, 0.0, 0.0);
    assert_eq!(matches(&one, &shifted(160, 240, 0.0, 0.0)), []);
    assert_eq!(matches(&shifted(20, 20, 0.0, 0.0), &shifted(20, 20, 0.0, 0.0)), []);
    assert_eq!(matches(&one, &Luma::U8(Image::filled(320, 240, 0))), []);
}
