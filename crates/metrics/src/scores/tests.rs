//! Tests of the scores on a rendered square in front of a background.

use super::*;
use stereopsis_base::image::Image;
use stereopsis_stereo::INVALID;

const SIZE: (usize, usize) = (120, 60);
/// Disparities of the background and of a square in front of it, px.
const BEHIND_PX: usize = 4;
const BEFORE_PX: usize = 12;

fn is_square(x: usize, y: usize) -> bool {
    (40..80).contains(&x) && (15..45).contains(&y)
}

/// Returns a texture whose square is darker than the background.
fn texture(x: usize, y: usize, square: bool) -> u8 {
    let noise = (x.wrapping_mul(0x9E37) ^ y.wrapping_mul(0x85EB)).wrapping_mul(0x2C1B).wrapping_mul(x + 7 * y + 1) >> 5;
    (if square { 10 } else { 180 }) + (noise % 60) as u8
}

/// Returns the left and the right image, and the exact map with its hidden pixels invalid.
fn example() -> (Luma, Luma, DisparityMap) {
    let (width, height) = SIZE;
    let left = Image::from_fn(width, height, |x, y| texture(x, y, is_square(x, y)));
    let right = Image::from_fn(width, height, |x, y| {
        let square = is_square(x + BEFORE_PX, y);
        texture(x + if square { BEFORE_PX } else { BEHIND_PX }, y, square)
    });
    let hidden = |x: usize, y: usize| !is_square(x, y) && (x < BEHIND_PX || is_square(x - BEHIND_PX + BEFORE_PX, y));
    let value = |x, y| 16 * if is_square(x, y) { BEFORE_PX } else { BEHIND_PX } as i16;
    let values = Image::from_fn(width, height, |x, y| if hidden(x, y) { INVALID } else { value(x, y) });
    let reasons = values.map(|&value| if value == INVALID { reason::LEFT_RIGHT } else { 0 });
    (Luma::U8(left), Luma::U8(right), DisparityMap { values, reasons, confidence: None })
}

fn moved(map: &DisparityMap, by: isize) -> DisparityMap {
    let (width, height) = map.size();
    let at = |x: usize| x as isize - by;
    DisparityMap {
        values: Image::from_fn(width, height, |x, y| map.values.at_clamped(at(x), y as isize)),
        reasons: Image::from_fn(width, height, |x, y| map.reasons.at_clamped(at(x), y as isize)),
        confidence: None,
    }
}

fn changed(map: &DisparityMap, by: i16) -> DisparityMap {
    let values = map.values.map(|&value| if value == INVALID { INVALID } else { value + by });
    DisparityMap { values, ..map.clone() }
}

fn empty() -> DisparityMap {
    let (width, height) = SIZE;
    DisparityMap {
        values: Image::filled(width, height, INVALID),
        reasons: Image::filled(width, height, reason::UNIQUENESS),
        confidence: None,
    }
}

#[test]
fn a_perfect_map_warps_the_right_image_into_the_left_one() {
    let (left, right, map) = example();
    let exact = photometric(&left, &right, &map).unwrap();
    assert!(exact.grey_levels.abs() < 1e-9 && exact.census_bits.abs() < 1e-9, "{exact:?}");
    let measured = map.values.pixels().iter().filter(|&&value| value != INVALID).count();
    assert_eq!(exact.pixels, measured);
}

#[test]
fn a_wrong_map_does_not() {
    let (left, right, map) = example();
    let wrong = photometric(&left, &right, &changed(&map, 32)).unwrap();
    assert!(wrong.grey_levels > 10.0 && wrong.census_bits > 8.0, "{wrong:?}");
    let half = photometric(&left, &right, &changed(&map, 8)).unwrap();
    assert!(half.census_bits > 1.0 && half.census_bits < wrong.census_bits, "{half:?}");
}

#[test]
fn occluded_pixels_of_a_dense_map_are_left_out() {
    let (left, right, map) = example();
    let mut dense = map.clone();
    for (value, reasons) in dense.values.pixels_mut().iter_mut().zip(dense.reasons.pixels_mut()) {
        if *value == INVALID {
            (*value, *reasons) = (16 * BEHIND_PX as i16, 0);
        }
    }
    let exact = photometric(&left, &right, &dense).unwrap();
    assert!(exact.grey_levels.abs() < 1e-9, "{exact:?}");
}

#[test]
fn different_exposure_changes_grey_levels_only() {
    let (left, right, map) = example();
    let Luma::U8(darker) = &right else { panic!("8 bits") };
    let darker = Luma::U8(darker.map(|&v| v - 5));
    let found = photometric(&left, &darker, &map).unwrap();
    assert!((found.grey_levels - 5.0).abs() < 1e-9 && found.census_bits.abs() < 1e-9, "{found:?}");
}

#[test]
fn steps_belong_where_the_brightness_steps() {
    let (left, _, map) = example();
    let exact = smoothness_px(&left, &map).unwrap();
    let shifted = smoothness_px(&left, &moved(&map, 6)).unwrap();
    assert!(exact < 0.1 * shifted, "{exact} and {shifted} px");
    let mut rough = map.clone();
    for (i, value) in rough.values.pixels_mut().iter_mut().enumerate().filter(|(_, value)| **value != INVALID) {
        *value += if i % 2 == 0 { 16 } else { 0 };
    }
    assert!(smoothness_px(&left, &rough).unwrap() > shifted, "noise is rougher than wrong edges");
}

#[test]
fn maps_agree_where_nothing_moved() {
    let (left, _, map) = example();
    let view = View { left: &left, map: &map };
    assert!((temporal_agreement_percent(view, view).unwrap() - 100.0).abs() < 1e-9);
    let (near, far) = (changed(&map, 16), changed(&map, 17));
    assert!((temporal_agreement_percent(view, View { left: &left, map: &near }).unwrap() - 100.0).abs() < 1e-9);
    assert!(temporal_agreement_percent(view, View { left: &left, map: &far }).unwrap().abs() < 1e-9);
    let gone = temporal_agreement_percent(view, View { left: &left, map: &empty() }).unwrap();
    assert!(gone.abs() < 1e-9, "a disparity that vanishes does not agree");
}

#[test]
fn moving_pixels_are_not_compared() {
    let (left, _, map) = example();
    let Luma::U8(image) = &left else { panic!("8 bits") };
    let after = Luma::U8(Image::from_fn(SIZE.0, SIZE.1, |x, y| {
        if x < 60 { image.at(x, y) } else { image.at_clamped(x as isize + 9, y as isize + 5) }
    }));
    let mut other = map.clone();
    for y in 0..SIZE.1 {
        // up to the border of the windows that detect motion
        other.values.row_mut(y)[62..].fill(16 * 30);
        other.reasons.row_mut(y)[62..].fill(0);
    }
    let found =
        temporal_agreement_percent(View { left: &left, map: &map }, View { left: &after, map: &other }).unwrap();
    assert!(found > 97.0, "{found}");
    let inverted = Luma::U8(image.map(|&v| 255 - v));
    assert_eq!(temporal_agreement_percent(View { left: &left, map: &map }, View { left: &inverted, map: &map }), None);
}

#[test]
fn passing_counts_pixels_that_reached_the_check() {
    let (_, _, mut map) = example();
    let hidden = map.reasons.pixels().iter().filter(|&&reasons| reasons != 0).count();
    let all = SIZE.0 * SIZE.1;
    let expected = 100.0 * (all - hidden) as f64 / all as f64;
    assert!((left_right_percent(&map) - expected).abs() < 1e-9);
    map.invalidate(30, 5, reason::SPECKLE);
    assert!((left_right_percent(&map) - expected).abs() < 1e-9, "what was removed later had passed");
    for reasons in map.reasons.pixels_mut().iter_mut().filter(|reasons| **reasons == reason::LEFT_RIGHT) {
        *reasons |= reason::FILLED;
    }
    assert!((left_right_percent(&map) - expected).abs() < 1e-9, "what was filled had not");
}

#[test]
fn an_empty_map_has_sentences_instead_of_scores() {
    let (left, right, map) = example();
    let (nothing, view) = (empty(), View { left: &left, map: &map });
    let found = scores(View { left: &left, map: &nothing }, &right, true, None);
    assert_eq!(found.left_right_percent, Ok(0.0));
    assert_eq!(found.photometric, Err(Missing::Nothing));
    assert_eq!(found.smoothness_px, Err(Missing::Nothing));
    assert_eq!(found.agreement_percent, Err(Missing::Previous));
    let found = scores(view, &right, false, Some(view));
    assert_eq!(found.left_right_percent, Err(Missing::LeftRightCheck));
    assert_eq!(found.agreement_percent, Ok(100.0));
    assert_eq!(found.quantities().len(), 6);
    assert_eq!(score_without_truth(&found), Err(Missing::LeftRightCheck));
    let small = Luma::U8(Image::filled(3, 3, 0));
    assert_eq!(photometric(&left, &small, &map), None);
    assert_eq!(smoothness_px(&small, &map), None);
}

#[test]
fn a_perfect_map_has_the_best_score_and_holes_and_errors_worsen_it() {
    let (left, right, map) = example();
    let score =
        |map: &DisparityMap| score_without_truth(&scores(View { left: &left, map }, &right, true, None)).unwrap();
    let exact = score(&map);
    assert!(score(&changed(&map, 32)) > exact + 1.0, "wrong");
    assert!(score(&moved(&map, 6)) > exact, "shifted");
    let mut holes = map.clone();
    (0..SIZE.1).for_each(|y| (0..40).for_each(|x| holes.invalidate(x, y, reason::LEFT_RIGHT)));
    assert!(score(&holes) > exact + 1.0, "holes");
    assert_eq!(super::combined::WEIGHTS.iter().sum::<u32>(), 10, "tenths");
}
