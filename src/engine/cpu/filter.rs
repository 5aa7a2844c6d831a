//! Filters on the CPU, in the order of [`crate::stereo::filter_maps`]: median, left-right, speckle, fill.

use super::maps::WinnerMaps;
use super::median::Strip;
use super::simd::{SimdLevel, on_level};
use crate::image::Image;
use crate::stereo::DisparityMap;
use crate::stereo::map::{INVALID, SUBPIXEL_STEPS, reason};
use crate::stereo::params::{Fill, StereoParams};
use fearless_simd::Simd;
use rayon::prelude::*;

/// Rows that a thread filters together.
const STRIP: usize = 16;

/// Everything after the winner.
pub(super) fn filter_maps(level: SimdLevel, mut maps: WinnerMaps, params: &StereoParams) -> DisparityMap {
    let confidence = maps.left.confidence.take();
    let mut map = smooth_and_check(level, maps, params);
    if params.speckle_size > 0 {
        remove_speckle(&mut map, params.speckle_size, params.speckle_range);
    }
    if params.fill == Fill::Background {
        fill_background(&mut map);
        map = smooth_and_check(level, WinnerMaps { left: map, right: None }, params);
    }
    map.confidence = confidence.map(|mut confidence| {
        for (confidence, &reasons) in confidence.pixels_mut().iter_mut().zip(map.reasons.pixels()) {
            // no measured disparity
            *confidence = if reasons == 0 { *confidence } else { 0 };
        }
        confidence
    });
    map
}

/// The median of both maps, and a disparity holds if the right picture finds its way back.
fn smooth_and_check(level: SimdLevel, maps: WinnerMaps, params: &StereoParams) -> DisparityMap {
    let WinnerMaps { left: DisparityMap { values: left, mut reasons, .. }, right } = maps;
    let radius = params.median.radius();
    let check = params.left_right.zip(right.as_ref());
    if radius == 0 && check.is_none() {
        return DisparityMap { values: left, reasons, confidence: None };
    }
    let (width, height) = left.size();
    let mut values = Image::filled(width, height, INVALID);
    let strips =
        values.pixels_mut().par_chunks_mut(STRIP * width).zip(reasons.pixels_mut().par_chunks_mut(STRIP * width));
    let scratch = || (Strip::default(), Strip::default(), vec![INVALID; width]);
    strips.enumerate().for_each_init(scratch, |(left_strip, right_strip, right_row), (s, (values, reasons))| {
        let rows = values.len() / width;
        left_strip.set(&left, s * STRIP, rows, radius);
        if let Some((_, right)) = check {
            right_strip.set(right, s * STRIP, rows, radius);
        }
        let lines = values.chunks_exact_mut(width).zip(reasons.chunks_exact_mut(width)).enumerate();
        on_level!(level, simd => for (n, (values, reasons)) in lines {
            left_strip.filter_row(simd, n, values);
            if let Some((tolerance_px, _)) = check {
                right_strip.filter_row(simd, n, right_row);
                check_row(simd, values, reasons, right_row, tolerance_px);
            }
        });
    });
    DisparityMap { values, reasons, confidence: None }
}

/// After [`crate::stereo::filter::check_left_right`], without branches.
#[inline(always)]
fn check_row<S: Simd>(_: S, values: &mut [i16], reasons: &mut [u8], right: &[i16], tolerance_px: u32) {
    let width = right.len() as i32;
    let tolerance = 16 * tolerance_px as i32;
    for x in 0..values.len() {
        let d16 = i32::from(values[x]);
        let right_x = x as i32 - ((d16 + SUBPIXEL_STEPS / 2) >> 4);
        let inside = (0..width).contains(&right_x);
        let back = right[right_x.clamp(0, width - 1) as usize];
        let agrees = inside & (back != INVALID) & ((d16 - i32::from(back)).abs() <= tolerance);
        let why = if inside { reason::LEFT_RIGHT } else { reason::RANGE };
        let fails = (values[x] != INVALID) & !agrees;
        values[x] = if fails { INVALID } else { values[x] };
        reasons[x] |= if fails { why } else { 0 };
    }
}

/// Regions of at most `size` pixels become invalid. Runs of a row are joined with those of the row above.
fn remove_speckle(map: &mut DisparityMap, size: u32, range_px: u32) {
    let width = map.values.width();
    let close = |a: i16, b: i16| i32::from(a).abs_diff(b.into()) <= 16 * range_px;
    let mut regions = Regions::default();
    // one more than the region of each pixel, 0 for those without a disparity
    let mut labels = vec![0_u32; map.values.pixels().len()];
    for (y, row) in map.values.pixels().chunks_exact(width).enumerate() {
        let (above, rest) = labels.split_at_mut(y * width);
        let above = y.checked_sub(1).map(|y| (map.values.row(y), &above[y * width..]));
        let mut run = 0;
        for x in 0..width {
            if row[x] == INVALID {
                continue;
            }
            if x == 0 || row[x - 1] == INVALID || !close(row[x], row[x - 1]) {
                run = regions.start();
            }
            regions.pixels[run as usize] += 1;
            rest[x] = run + 1;
            if let Some((values, labels)) = above
                && values[x] != INVALID
                && close(row[x], values[x])
            {
                regions.join(run, labels[x] - 1);
            }
        }
    }
    let small = regions.at_most(size);
    let pixels = map.values.pixels_mut().iter_mut().zip(map.reasons.pixels_mut());
    for ((value, reasons), label) in pixels.zip(labels) {
        if label > 0 && small[label as usize - 1] {
            *value = INVALID;
            *reasons |= reason::SPECKLE;
        }
    }
}

/// Sets of runs that belong together: each run points to one with a smaller number, the first of a set to itself.
#[derive(Default)]
struct Regions {
    parent: Vec<u32>,
    pixels: Vec<u32>,
}

impl Regions {
    fn start(&mut self) -> u32 {
        let run = self.parent.len() as u32;
        self.parent.push(run);
        self.pixels.push(0);
        run
    }

    fn first(&mut self, mut run: u32) -> u32 {
        while self.parent[run as usize] != run {
            let grandparent = self.parent[self.parent[run as usize] as usize];
            self.parent[run as usize] = grandparent;
            run = grandparent;
        }
        run
    }

    fn join(&mut self, a: u32, b: u32) {
        let (a, b) = (self.first(a), self.first(b));
        self.parent[a.max(b) as usize] = a.min(b);
    }

    /// For each run whether its set has at most `size` pixels.
    fn at_most(mut self, size: u32) -> Vec<bool> {
        let firsts: Vec<u32> = (0..self.parent.len() as u32).map(|run| self.first(run)).collect();
        let mut total = vec![0_u64; firsts.len()];
        for (&first, &pixels) in firsts.iter().zip(&self.pixels) {
            total[first as usize] += u64::from(pixels);
        }
        firsts.into_iter().map(|first| total[first as usize] <= u64::from(size)).collect()
    }
}

/// Pixels without a disparity take the smaller one of their nearest neighbours in the row, or the nearest row's.
fn fill_background(map: &mut DisparityMap) {
    let (width, height) = map.size();
    let values = map.values.pixels_mut();
    let rows = values.par_chunks_mut(width).zip(map.reasons.pixels_mut().par_chunks_mut(width));
    let has_any: Vec<bool> = rows.map(|(values, reasons)| fill_row(values, reasons)).collect();
    let Some(first) = has_any.iter().position(|&any| any) else { return };
    let mut source = first;
    for (y, any) in has_any.into_iter().enumerate().take(height) {
        if any {
            source = y;
        } else {
            values.copy_within(source * width..(source + 1) * width, y * width);
            map.reasons.row_mut(y).iter_mut().for_each(|reasons| *reasons |= reason::FILLED);
        }
    }
}

/// Fills one row; false if it has nothing to fill it with.
fn fill_row(values: &mut [i16], reasons: &mut [u8]) -> bool {
    let mut last = None;
    for x in 0..values.len() {
        if values[x] == INVALID {
            continue;
        }
        let gap = last.map_or(0, |last: usize| last + 1)..x;
        let with = last.map_or(values[x], |last| values[last].min(values[x]));
        values[gap.clone()].fill(with);
        reasons[gap].iter_mut().for_each(|reasons| *reasons |= reason::FILLED);
        last = Some(x);
    }
    let Some(last) = last else { return false };
    let with = values[last];
    values[last + 1..].fill(with);
    reasons[last + 1..].iter_mut().for_each(|reasons| *reasons |= reason::FILLED);
    true
}
