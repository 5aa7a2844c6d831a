//! The filters over surfaces and over time on the CPU, after [`stereopsis_stereo::filter`]. A running mean is sequential along its line,
//! so that many lines are computed side by side: rows are transposed.

use super::simd::{SimdLevel, on_level};
use rayon::prelude::*;
use stereopsis_base::image::Image;
use stereopsis_stereo::DisparityMap;
use stereopsis_stereo::filter::{RunningMean, Smoothed, TemporalRow};
use stereopsis_stereo::map::INVALID;
use stereopsis_stereo::params::StereoParams;

const LINES: usize = 32;

/// Numbers of these lines at one position.
type Place = [i16; LINES];

/// Computes running means along rows and columns, there and back.
pub(super) fn along_surfaces(level: SimdLevel, values: &mut Image<i16>, params: &StereoParams) {
    let (width, height) = values.size();
    let limits = Limits { share: params.spatial_alpha as i32, delta: params.spatial_delta as i32 };
    for _ in 0..params.spatial.unwrap_or(0) {
        values.pixels_mut().par_chunks_mut(LINES * width).for_each_init(Vec::new, |places, rows| {
            places.clear();
            places.resize(width, [INVALID; LINES]);
            for (line, row) in rows.chunks_exact(width).enumerate() {
                for x in 0..width {
                    places[x][line] = row[x];
                }
            }
            on_level!(level, _ => there_and_back(places, limits));
            for (line, row) in rows.chunks_exact_mut(width).enumerate() {
                for x in 0..width {
                    row[x] = places[x][line];
                }
            }
        });
        let rows = &*values;
        let columns = (0..width.div_ceil(LINES)).into_par_iter().map(|block| {
            let first = block * LINES;
            let some = LINES.min(width - first);
            let mut places = vec![[INVALID; LINES]; height];
            for (y, place) in places.iter_mut().enumerate() {
                place[..some].copy_from_slice(&rows.row(y)[first..][..some]);
            }
            on_level!(level, _ => there_and_back(&mut places, limits));
            places
        });
        let columns: Vec<Vec<Place>> = columns.collect();
        values.pixels_mut().par_chunks_exact_mut(width).with_min_len(LINES).enumerate().for_each(|(y, row)| {
            for (row, places) in row.chunks_mut(LINES).zip(&columns) {
                row.copy_from_slice(&places[y][..row.len()]);
            }
        });
    }
}

#[derive(Clone, Copy)]
struct Limits {
    /// Share of the next pixel in a mean, per cent.
    share: i32,
    /// Largest step within a surface, sixteenths of a pixel.
    delta: i32,
}

#[inline(always)]
fn there_and_back(places: &mut [Place], limits: Limits) {
    let mut means = [INVALID; LINES];
    for place in places.iter_mut() {
        go_on(&mut means, place, limits);
    }
    means = [INVALID; LINES];
    for place in places.iter_mut().rev() {
        go_on(&mut means, place, limits);
    }
}

/// Continues the mean of each line with its next pixel. A float division is exact here: the numerator is a whole number below 2^23,
/// and a quotient that is no whole number differs from the next one by at least 1 / 100; rounding moves it by at most 1 / 2^8.
#[inline(always)]
fn go_on(means: &mut Place, place: &mut Place, Limits { share, delta }: Limits) {
    // offset that makes every number positive, so that the quotient is rounded down
    const UP: i32 = 1 << 15;
    for i in 0..LINES {
        let (mean, value) = (i32::from(means[i]), i32::from(place[i]));
        let goes_on = (means[i] != INVALID) & (place[i] != INVALID) & ((value - mean).abs() <= delta);
        let hundredths = share * value + (100 - share) * mean + 50 + 100 * UP;
        let blended = ((hundredths as f32 / 100.0) as i32 - UP) as i16;
        means[i] = if goes_on { blended } else { place[i] };
        place[i] = means[i];
    }
}

pub(super) fn over_time(map: &mut DisparityMap, past: &mut Option<Smoothed>, params: &StereoParams) {
    let width = map.values.width();
    let past = past.get_or_insert_with(|| Smoothed::empty(map.size()));
    let values = map.values.pixels_mut().par_chunks_exact_mut(width);
    let reasons = map.reasons.pixels_mut().par_chunks_exact_mut(width);
    let means = past.values.pixels_mut().par_chunks_exact_mut(width);
    let seen = past.seen.pixels_mut().par_chunks_exact_mut(width);
    let rows = values.zip(reasons).zip(means.zip(seen)).with_min_len(LINES);
    let (running, persistence) = (RunningMean::over_time(params), params.persistence);
    rows.for_each(|((values, reasons), (means, seen))| {
        TemporalRow { values, reasons, means, seen }.smooth(running, persistence);
    });
}

#[cfg(test)]
mod tests {
    use super::*;
    use fastrand::Rng;
    use stereopsis_stereo::filter::smooth_along_surfaces;

    #[test]
    fn running_means_match_the_reference() {
        let rng = &mut Rng::with_seed(41);
        for round in 0..60 {
            let side = |rng: &mut Rng| [1, 2, 31, 32, 33, rng.usize(1..100)][rng.usize(..6)];
            let (width, height) = (side(rng), side(rng));
            let (around, steps) = (rng.i16(-16_384..16_384), rng.i16(1..60));
            let extremes = rng.u8(..4) == 0;
            let values = Image::from_fn(width, height, |_, _| match rng.u8(..8) {
                0 => INVALID,
                1 if extremes => [-16_384, 16_376, i16::MAX, -i16::MAX][rng.usize(..4)],
                _ => around + rng.i16(0..steps),
            });
            let params = StereoParams {
                spatial: Some(rng.u32(1..=5)),
                spatial_alpha: rng.u32(1..=100),
                spatial_delta: rng.u32(1..=255),
                ..StereoParams::default()
            };
            let mut expected = DisparityMap { values, reasons: Image::filled(width, height, 0), confidence: None };
            let values = expected.values.clone();
            smooth_along_surfaces(&mut expected, params.spatial.unwrap(), RunningMean::along_surfaces(&params));
            for level in SimdLevel::all() {
                let mut got = values.clone();
                along_surfaces(level, &mut got, &params);
                assert!(got == expected.values, "round {round}: {width}x{height}, {params:?}");
            }
        }
    }
}
