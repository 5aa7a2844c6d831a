//! Filters of the maps on the CPU, in the order and with the bits of [`stereopsis_stereo::filter_maps`]. Winners go in, finished maps
//! come out.

use super::maps::WinnerMaps;
use super::median::{STRIP, Strip, load_some, store_some};
use super::regions::{Regions, Run, far_apart, row};
use super::simd::{SimdLevel, on_level};
use super::{choice, planes, running_mean, weighted_median};
use fearless_simd::Simd;
use fearless_simd::prelude::*;
use rayon::prelude::*;
use stereopsis_base::image::{Image, PictureRef};
use stereopsis_stereo::filter::{BlackBorder, FilterKind, black_border};
use stereopsis_stereo::map::{INVALID, reason, rounded_px};
use stereopsis_stereo::params::StereoParams;
use stereopsis_stereo::{DisparityMap, Fill, Maps, Past};

/// Columns of padding beside a row, so that a register may reach beyond it: 32 at most.
const MARGIN: usize = 32;
/// Mark of the padding; no disparity is so large.
const OUTSIDE: i16 = i16::MAX;

/// Runs all steps behind the winners; returns both maps if `wants_right`.
pub(super) fn filter_maps(
    level: SimdLevel,
    maps: WinnerMaps,
    pictures: [PictureRef<'_>; 2],
    params: &StereoParams,
    past: &mut Past,
    wants_right: bool,
) -> Maps {
    let WinnerMaps { mut left, mut right } = maps;
    let mut confidence = left.confidence.take();
    let has_borders = drop_black_borders(&mut left, right.as_mut(), pictures);
    let right_values = right.as_ref().map(|right| &right.values);
    let check = |sign: i32| params.left_right.map(|tolerance_px| (tolerance_px, sign));
    let left_values = smooth_and_check(level, &left.values, right_values, check(-1), params, &mut left.reasons);
    let right = right.filter(|_| wants_right).map(|mut right| {
        for (reasons, &value) in right.reasons.pixels_mut().iter_mut().zip(right.values.pixels()) {
            *reasons |= if value == INVALID && *reasons == 0 { reason::RANGE } else { 0 };
        }
        let other = Some(&left.values);
        right.values = smooth_and_check(level, &right.values, other, check(1), params, &mut right.reasons);
        right
    });
    left.values = left_values;
    let mut maps = Maps { left, right };
    for (kind, _) in FilterKind::active(params) {
        match kind {
            FilterKind::BlackBorder | FilterKind::Median | FilterKind::LeftRight => {} // done above
            FilterKind::Speckle => {
                maps.for_each(|map| remove_speckle(level, map, params.speckle_size, params.speckle_range));
            }
            FilterKind::Spatial => maps.for_each(|map| running_mean::along_surfaces(level, &mut map.values, params)),
            FilterKind::Temporal => running_mean::over_time(&mut maps.left, &mut past.smoothed, params),
            FilterKind::Fill => {
                // the choice marks only the left map
                let of_right = StereoParams { choice: false, ..params.clone() };
                let [left, right] = pictures;
                let sides = [(left, params), (right, &of_right)];
                maps.for_each_with(sides, |map, (picture, params)| {
                    fill(level, map, picture, params);
                    if has_borders {
                        black_border::empty(map);
                    }
                });
            }
            FilterKind::Choice => {
                maps.left.confidence = confidence.take();
                choice::run(level, &mut maps.left, pictures, past.last.as_ref(), params);
            }
            FilterKind::WeightedMedian => {
                maps.for_each_with(pictures, |map, picture| weighted_median::run(level, &mut map.values, picture));
            }
            FilterKind::LastMedian => maps.for_each(|map| {
                map.values = smooth_and_check(level, &map.values, None, None, params, &mut map.reasons);
            }),
        }
    }
    if let Some(mut confidence) = confidence {
        for (confidence, &reasons) in confidence.pixels_mut().iter_mut().zip(maps.left.reasons.pixels()) {
            // only measured disparities keep a confidence
            *confidence = if reasons == 0 { *confidence } else { 0 };
        }
        maps.left.confidence = Some(confidence);
    }
    maps
}

/// Implements [`black_border::drop_black_borders`]. Returns `false` without a border; a few end pixels of rows and columns decide.
fn drop_black_borders(
    left: &mut DisparityMap,
    right: Option<&mut DisparityMap>,
    pictures: [PictureRef<'_>; 2],
) -> bool {
    let borders = pictures.map(BlackBorder::of);
    if borders == [None, None] {
        return false;
    }
    let [of_left, of_right] = borders.each_ref().map(Option::as_ref);
    let drop = |map: &mut DisparityMap, borders: [Option<&BlackBorder>; 2], sign: i32| {
        let width = map.size().0;
        let values = map.values.pixels_mut().par_chunks_mut(width);
        let rows = values.zip(map.reasons.pixels_mut().par_chunks_mut(width)).enumerate();
        rows.for_each(|(y, row)| black_border::drop_of_row(row, y, borders, sign));
    };
    drop(left, [of_left, of_right], -1);
    if let Some(right) = right {
        drop(right, [of_right, of_left], 1);
    }
    true
}

/// Applies the median and, if there is another map and a tolerance, the left-right check against it. `check` has the tolerance
/// and the sign of the offset to the partner.
fn smooth_and_check(
    level: SimdLevel,
    map: &Image<i16>,
    other: Option<&Image<i16>>,
    check: Option<(u32, i32)>,
    params: &StereoParams,
    reasons: &mut Image<u8>,
) -> Image<i16> {
    let radius = params.median.radius();
    let check = other.zip(check);
    if radius == 0 && check.is_none() {
        return map.clone();
    }
    let (width, height) = map.size();
    let mut values = Image::filled(width, height, INVALID);
    let strips =
        values.pixels_mut().par_chunks_mut(STRIP * width).zip(reasons.pixels_mut().par_chunks_mut(STRIP * width));
    let scratch = || (Strip::default(), Strip::default(), vec![OUTSIDE; width + 2 * MARGIN]);
    strips.enumerate().for_each_init(scratch, |(strip, other_strip, other_row), (s, (values, reasons))| {
        let rows = s * STRIP..s * STRIP + values.len() / width;
        on_level!(level, simd => {
            strip.set(map, rows.clone(), radius, |&value| value);
            if let Some((other, _)) = check {
                other_strip.set(other, rows, radius, |&value| value);
            }
            let lines = values.chunks_exact_mut(width).zip(reasons.chunks_exact_mut(width)).enumerate();
            for (n, (values, reasons)) in lines {
                strip.filter_row(simd, n, values);
                if let Some((_, tolerance)) = check {
                    other_strip.filter_row(simd, n, &mut other_row[MARGIN..][..width]);
                    check_row(simd, values, reasons, other_row, tolerance);
                }
            }
        });
    });
    values
}

/// Implements [`stereopsis_stereo::filter::check_left_right`]; `other` has [`MARGIN`] on either side. The pixels of a register mostly
/// have one or two different distances to their partners, so that the loop handles one distance at a time.
#[inline(always)]
fn check_row<S: Simd>(simd: S, values: &mut [i16], reasons: &mut [u8], other: &[i16], check: (u32, i32)) {
    let (tolerance_px, sign) = check;
    let len = <S::i16s as SimdBase<S>>::LEN;
    let invalid = S::i16s::splat(simd, INVALID);
    let [range, left_right] = [reason::RANGE, reason::LEFT_RIGHT].map(|why| S::i16s::splat(simd, why.into()));
    for x in (0..values.len()).step_by(len) {
        let value = load_some(simd, &values[x..]);
        let is_valid = value.simd_ne(invalid);
        let distances = (value + 8) >> 4; // as rounded_px has it
        let mut partner = invalid;
        let mut waiting = is_valid.to_bitmask();
        while waiting != 0 {
            let distance = rounded_px(values[x + waiting.trailing_zeros() as usize].into());
            let at = (x as i32 + sign * distance + MARGIN as i32).clamp(0, (other.len() - MARGIN) as i32) as usize;
            let same = distances.simd_eq(distance as i16);
            partner = same.select(S::i16s::from_slice(simd, &other[at..][..len]), partner);
            waiting &= !same.to_bitmask();
        }
        let is_outside = partner.simd_eq(OUTSIDE);
        let is_wrong = is_outside | partner.simd_eq(invalid) | far_apart::<S>(value, partner, 16 * tolerance_px as i16);
        let fails = is_valid & is_wrong;
        store_some(fails.select(invalid, value), &mut values[x..]);
        let why = fails.select(is_outside.select(range, left_right), S::i16s::splat(simd, 0));
        for (reasons, &why) in reasons[x..].iter_mut().zip(why.as_slice()) {
            *reasons |= why as u8;
        }
    }
}

fn remove_speckle(level: SimdLevel, map: &mut DisparityMap, size: u32, range_px: u32) {
    let values = &map.values;
    let (width, height) = values.size();
    let range = 16 * range_px as i16;
    let belong = |above: Run, here: Run| {
        let shared = above.x.max(here.x) as usize..above.end.min(here.end) as usize;
        let [above, here] = [above, here].map(|run| &values.row(run.y as usize)[shared.clone()]);
        above.iter().zip(here).any(|(a, b)| a.abs_diff(*b) <= range as u16)
    };
    let of_strip = |rows| {
        let mut regions = Regions::default();
        on_level!(level, simd => for y in rows {
            regions.add_row(simd, (y, values.row(y)), range, belong);
        });
        regions
    };
    let (runs, sets, pixels) = Regions::of_rows(height, of_strip, belong).sets();
    let values = map.values.pixels_mut().par_chunks_mut(width);
    let rows = values.zip(map.reasons.pixels_mut().par_chunks_mut(width)).with_min_len(STRIP).enumerate();
    rows.for_each(|(y, (values, reasons))| {
        for run in row(&runs, y).filter(|&run| pixels[sets[run] as usize] <= size) {
            values[runs[run].columns()].fill(INVALID);
            reasons[runs[run].columns()].iter_mut().for_each(|reasons| *reasons |= reason::SPECKLE);
        }
    });
}

fn fill(level: SimdLevel, map: &mut DisparityMap, picture: PictureRef<'_>, params: &StereoParams) {
    if params.fill == Fill::Planes {
        planes::fill_planes(level, map, picture.luma, params);
        planes::fill_bands(level, map, params);
    }
    fill_rows(map, params.fill.values_per_side());
}

fn fill_rows(map: &mut DisparityMap, per_side: usize) {
    let width = map.size().0;
    let values = map.values.pixels_mut();
    let rows = values.par_chunks_mut(width).zip(map.reasons.pixels_mut().par_chunks_mut(width));
    let has_any: Vec<bool> = rows.map(|(values, reasons)| fill_row(values, reasons, per_side)).collect();
    let Some(first) = has_any.iter().position(|&any| any) else { return };
    let mut source = first;
    for (y, any) in has_any.into_iter().enumerate() {
        if any {
            source = y;
        } else {
            values.copy_within(source * width..(source + 1) * width, y * width);
            map.reasons.row_mut(y).iter_mut().for_each(|reasons| *reasons |= reason::FILLED);
        }
    }
}

/// Fills one row. Returns `false` if it has no disparity.
fn fill_row(values: &mut [i16], reasons: &mut [u8], per_side: usize) -> bool {
    let valid: Vec<usize> = (0..values.len()).filter(|&x| values[x] != INVALID).collect();
    let measured: Vec<i16> = valid.iter().map(|&x| values[x]).collect();
    // the k-th gap lies before the k-th valid pixel
    for k in 0..=valid.len() {
        let gap = if k == 0 { 0 } else { valid[k - 1] + 1 }..valid.get(k).copied().unwrap_or(values.len());
        if gap.is_empty() {
            continue;
        }
        let left = middle(&measured[k.saturating_sub(per_side)..k]);
        let right = middle(&measured[k..(k + per_side).min(valid.len())]);
        let Some(with) = left.into_iter().chain(right).min() else { return false };
        values[gap.clone()].fill(with);
        reasons[gap].iter_mut().for_each(|reasons| *reasons |= reason::FILLED);
    }
    !valid.is_empty()
}

/// Returns the median of at most three values, of two the larger one.
fn middle(side: &[i16]) -> Option<i16> {
    match *side {
        [a, b, c] => Some(a.min(b).max(c.min(a.max(b)))),
        [a, b] => Some(a.max(b)),
        [a] => Some(a),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fastrand::Rng;
    use stereopsis_base::image::{Luma, Picture};
    use stereopsis_stereo::Median;

    fn map(rng: &mut Rng, (width, height): (usize, usize)) -> DisparityMap {
        let extreme = [16_376, -16_384][rng.usize(..2)];
        let surfaces = [80, 88, 96, [400, extreme][rng.usize(..2)]];
        let noise = [1, 6][rng.usize(..2)];
        let (holes, block) = (rng.u8(0..200), rng.usize(1..12));
        let of_blocks: Vec<usize> = (0..width * height).map(|_| rng.usize(..4)).collect();
        let values = Image::from_fn(width, height, |x, y| {
            let value = surfaces[of_blocks[y / block * width + x / block]] + rng.i16(0..noise);
            if rng.u8(..) < holes { INVALID } else { value }
        });
        let reasons = values.map(|&value| if value == INVALID { reason::RANGE } else { 0 });
        DisparityMap { values, reasons, confidence: None }
    }

    fn picture(rng: &mut Rng, (width, height): (usize, usize)) -> Picture {
        let (contrast, bits) = (rng.u16(1..80), rng.u8(9..17));
        let mut level = |x: usize| 40 + 60 * (x as u16 / 5 % 2) + rng.u16(0..contrast);
        let rgb = Image::from_fn(width, height, |x, _| [level(x), level(x), level(x)].map(|level| level as u8));
        let gray = rgb.map(|color| color[0]);
        let deep = Luma::U16 { image: gray.map(|&luma| u16::from(luma) << (bits - 8)), bits };
        let luma = if rng.bool() { Luma::U8(gray) } else { deep };
        Picture { luma, rgb: rng.bool().then_some(rgb) }
    }

    #[test]
    fn filters_match_the_reference() {
        let rng = &mut Rng::with_seed(43);
        for round in 0..150 {
            let size = if round == 0 { (1, 1) } else { (rng.usize(1..=70), rng.usize(1..=40)) };
            let (left, right) = (map(rng, size), map(rng, size));
            let pictures = [picture(rng, size), picture(rng, size)];
            let pictures = PictureRef::pair(&pictures[0], &pictures[1]);
            let params = StereoParams {
                median: [Median::Off, Median::Three, Median::Five][rng.usize(..3)],
                left_right: [None, Some(rng.u32(0..=64))][rng.usize(..2)],
                speckle_size: rng.u32(0..30),
                speckle_range: rng.u32(0..3),
                fill: [Fill::None, Fill::Background][rng.usize(..2)],
                choice: false,
                weighted_median: rng.bool(),
                ..StereoParams::default()
            };
            let wants_right = rng.bool();
            let maps = Maps { left: left.clone(), right: Some(right.clone()) };
            let expected = stereopsis_stereo::filter_maps(maps, pictures, &params, &mut Past::default(), wants_right);
            for level in SimdLevel::all() {
                let winners = WinnerMaps { left: left.clone(), right: Some(right.clone()) };
                let got = filter_maps(level, winners, pictures, &params, &mut Past::default(), wants_right);
                assert!(got == expected, "round {round}: {size:?}, {}, {params:?}", level.word());
            }
        }
    }
}
