//! The learned choice on the CPU: runs [`stereopsis_stereo::filter::choice`] on all rows in parallel.
//!
//! The reference's own code decides. Only the search for its inputs is faster: windows many columns at once, and other
//! disparities in a direction by skipping blocks without any.

mod directions;
mod slopes;
mod windows;

use super::simd::{SimdLevel, on_level};
use directions::Directions;
use rayon::prelude::*;
use slopes::Slopes;
use stereopsis_base::image::{Image, PictureRef};
use stereopsis_stereo::filter::choice::{
    Candidate, ChoiceSettings, Chooser, Neighbourhood, STEP, SURE_RADIUS, Slope, WindowEvidence,
};
use stereopsis_stereo::map::INVALID;
use stereopsis_stereo::{DisparityMap, StereoParams};
use windows::Windows;

pub(super) fn run(
    level: SimdLevel,
    map: &mut DisparityMap,
    pictures: [PictureRef<'_>; 2],
    last: Option<&DisparityMap>,
    params: &StereoParams,
) {
    let chooser = Chooser::new(map, pictures, last, &ChoiceSettings::of(params));
    let (windows, directions) = (Windows::new(&chooser), Directions::new(level, chooser.trusted()));
    let slopes = Slopes::new(level, chooser.slanted());
    let (width, height) = map.size();
    let mut chances = Image::filled(width, height, 0);
    let rows = map.values.pixels_mut().par_chunks_mut(width).zip(map.reasons.pixels_mut().par_chunks_mut(width));
    let rows = rows.zip(chances.pixels_mut().par_chunks_mut(width)).enumerate();
    rows.for_each_init(SureRow::default, |sure, (y, ((values, reasons), chances))| {
        on_level!(level, _ => {
            sure.find(chooser.trusted(), y);
            let (chooser, windows, directions, slopes) = (&chooser, &windows, &directions, &slopes);
            let here = RowNeighbourhood { chooser, windows, directions, slopes, sure: &sure.sure };
            for x in 0..width {
                let chosen = chooser.chosen_by((x, y), &here);
                (values[x], reasons[x], chances[x]) = (chosen.value, chosen.reasons, chosen.chance);
            }
        });
    });
    map.confidence = params.confidence.then_some(chances);
}

/// Neighbourhoods of the pixels of one row.
struct RowNeighbourhood<'a> {
    chooser: &'a Chooser<'a>,
    windows: &'a Windows,
    directions: &'a Directions,
    slopes: &'a Slopes,
    sure: &'a [bool],
}

impl Neighbourhood for RowNeighbourhood<'_> {
    #[inline(always)]
    fn is_sure(&self, (x, _): (usize, usize)) -> bool {
        self.sure[x]
    }

    #[inline(always)]
    fn slope(&self, pixel: (usize, usize)) -> Slope {
        self.slopes.at(pixel)
    }

    #[inline(always)]
    fn first_other(&self, pixel: (usize, usize), own: Candidate, direction: (i32, i32)) -> Option<i32> {
        self.directions.first_other(self.chooser, pixel, own, direction)
    }

    #[inline(always)]
    fn measured(&self, pixel: (usize, usize), candidates: &[Candidate]) -> WindowEvidence {
        self.windows.measured(pixel, candidates)
    }
}

/// Sure pixels of a row, from the smallest and largest disparities around them: column by column, then along the row.
#[derive(Default)]
struct SureRow {
    /// Columns with [`SURE_RADIUS`] more on each side.
    smallest: Vec<i16>,
    largest: Vec<i16>,
    sure: Vec<bool>,
}

impl SureRow {
    #[inline(always)]
    fn find(&mut self, trusted: &Image<i16>, y: usize) {
        let (width, height) = trusted.size();
        let Self { smallest, largest, sure } = self;
        for (extreme, none) in [(&mut *smallest, i16::MAX), (&mut *largest, i16::MIN)] {
            extreme.clear();
            extreme.resize(width + 2 * SURE_RADIUS, none);
        }
        sure.clear();
        sure.resize(width, false);
        for row in y.saturating_sub(SURE_RADIUS)..(y + SURE_RADIUS + 1).min(height) {
            let values = trusted.row(row);
            let inner = SURE_RADIUS..SURE_RADIUS + width;
            let (smallest, largest) = (&mut smallest[inner.clone()], &mut largest[inner]);
            for x in 0..width {
                // INVALID is smaller than all disparities
                smallest[x] = smallest[x].min(values[x]);
                largest[x] = largest[x].max(values[x]);
            }
        }
        let own = trusted.row(y);
        let side = 2 * SURE_RADIUS + 1;
        for x in 0..width {
            let (mut least, mut most) = (i16::MAX, i16::MIN);
            for k in 0..side {
                least = least.min(smallest[x + k]);
                most = most.max(largest[x + k]);
            }
            let step = STEP as i16;
            sure[x] = (own[x] != INVALID) & (least > own[x].wrapping_sub(step)) & (most < own[x].wrapping_add(step));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fastrand::Rng;
    use stereopsis_base::image::{Luma, Picture};
    use stereopsis_stereo::filter::choice::DIRECTIONS;
    use stereopsis_stereo::map::{ON_PLANE, reason};

    /// Returns steps and slopes with holes and filled pixels, and images with patches of like colours.
    fn random(rng: &mut Rng, (width, height): (usize, usize)) -> (DisparityMap, [Picture; 2]) {
        let (first, span) = (rng.i32(-600..600), rng.i32(1..400));
        let block = rng.usize(2..30);
        let levels: Vec<i32> = (0..400).map(|_| first + rng.i32(0..span)).collect();
        let at = |x: usize, y: usize| (x / block + 20 * (y / block)) % levels.len();
        let mut map = DisparityMap {
            values: Image::from_fn(width, height, |x, y| (levels[at(x, y)] + (x % block + 2 * y) as i32) as i16),
            reasons: Image::filled(width, height, 0),
            confidence: Some(Image::from_fn(width, height, |_, _| rng.u8(..))),
        };
        let holes = rng.u32(1..40);
        for (x, y) in (0..height).flat_map(|y| (0..width).map(move |x| (x, y))) {
            match rng.u32(..holes) {
                0 => map.invalidate(x, y, reason::UNIQUENESS),
                1 => map.reasons.set(x, y, reason::FILLED),
                2 => map.reasons.set(x, y, ON_PLANE),
                _ => {}
            }
        }
        let pictures = [(); 2].map(|()| {
            let noise = rng.u8(1..30);
            let rgb = Image::from_fn(width, height, |x, y| {
                [7, 31, 77].map(|k| (levels[at(x, y)] * k) as u8 / 2 + rng.u8(..noise))
            });
            Picture { luma: Luma::U8(rgb.map(|color| color[1])), rgb: Some(rgb) }
        });
        (map, pictures)
    }

    #[test]
    fn surroundings_match_plain_loops_on_every_level() {
        let rng = &mut Rng::with_seed(91);
        let params = StereoParams { choice: true, confidence: true, ..StereoParams::default() };
        let (mut found, mut sure, mut slanted) = (0, 0, 0);
        for size in [(1, 1), (2, 9), (9, 2), (17, 1), (40, 31), (63, 52), (101, 64), (33, 120)] {
            let (map, pictures) = random(rng, size);
            let pictures = [PictureRef::from(&pictures[0]), PictureRef::from(&pictures[1])];
            let chooser = Chooser::new(&map, pictures, None, &ChoiceSettings::of(&params));
            let (chooser, windows) = (&chooser, &Windows::new(&chooser));
            for level in SimdLevel::all() {
                let directions = &Directions::new(level, chooser.trusted());
                let slopes = &Slopes::new(level, chooser.slanted());
                let mut row = SureRow::default();
                for (x, y) in (0..size.1).flat_map(|y| (0..size.0).map(move |x| (x, y))) {
                    if map.values.at(x, y) == INVALID {
                        continue;
                    }
                    row.find(chooser.trusted(), y);
                    let here = RowNeighbourhood { chooser, windows, directions, slopes, sure: &row.sure };
                    let what = format!("{x} {y} of {size:?}");
                    assert_eq!(here.is_sure((x, y)), chooser.is_sure((x, y)), "{what}");
                    sure += usize::from(here.is_sure((x, y)));
                    let slope = chooser.slope((x, y));
                    assert_eq!(here.slope((x, y)), slope, "{what}");
                    slanted += usize::from(slope.across != 0 && slope.down != 0);
                    let (candidates, count) = chooser.candidates(x, y);
                    for direction in DIRECTIONS {
                        let other = here.first_other((x, y), candidates[0], direction);
                        let expected = chooser.first_other((x, y), candidates[0], direction);
                        assert_eq!(other, expected, "{what}, {direction:?}");
                        found += usize::from(other.is_some());
                    }
                    let expected = chooser.measured((x, y), &candidates[..count]);
                    assert_eq!(here.measured((x, y), &candidates[..count]), expected, "{what}");
                }
            }
        }
        let enough = found > 5000 && sure > 1000 && slanted > 1000;
        assert!(enough, "{found} other disparities, {sure} sure pixels, {slanted} slopes");
    }
}
