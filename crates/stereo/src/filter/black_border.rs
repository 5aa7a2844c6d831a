//! Black borders: rectification leaves pixels of brightness 0 outside the view of a camera. They have no depth and are no partners. In masked
//! images this holds for all pixels of brightness 0.

use crate::map::{DisparityMap, INVALID, Maps, NO_PICTURE, reason, rounded_px};
use stereopsis_base::image::{Image, Luma, PictureRef};

/// Length of the shortest run of black pixels in a border, px, and smallest number of rows or columns with such a run.
pub const MIN_RUN: usize = 4;
/// Largest change of the step from run to run, px: the runs of a border end on a line or a curve.
pub const MAX_BEND: usize = 2;
/// Number of runs for each one that may exceed [`MAX_BEND`], as at a corner; with fewer, the black is a dark object at the edge.
pub const RUNS_A_BREAK: usize = 8;

/// Lengths of the runs of black pixels at both ends of a row or a column, px.
type Runs = [usize; 2];

/// Black border of an image: runs of pixels of brightness 0 from its edges inwards that end on straight or bent lines. That of a masked
/// image has all pixels of brightness 0.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BlackBorder {
    rows: Vec<Runs>,
    columns: Vec<Runs>,
    /// Pixels of brightness 0 of a masked image.
    masked: Option<Image<bool>>,
}

impl BlackBorder {
    /// Finds the border of an image; `None` where it has none.
    pub fn of<'a>(picture: impl Into<PictureRef<'a>>) -> Option<Self> {
        let PictureRef { luma, is_masked, .. } = picture.into();
        match luma {
            Luma::U8(image) => Self::from_zeros(image, is_masked),
            Luma::U16 { image, .. } => Self::from_zeros(image, is_masked),
        }
    }

    fn from_zeros<T: Copy + Default + PartialEq>(image: &Image<T>, is_masked: bool) -> Option<Self> {
        let (width, height) = image.size();
        if is_masked {
            let masked = Some(image.map(|v| *v == T::default()));
            return Some(Self { rows: vec![[0, 0]; height], columns: vec![[0, 0]; width], masked });
        }
        let is_black = |x: usize, y: usize| image.at(x, y) == T::default();
        let rows = (0..height).map(|y| runs(width, |x| is_black(x, y))).collect();
        let columns = (0..width).map(|x| runs(height, |y| is_black(x, y))).collect();
        let border = Self { rows: keep_borders(rows, width), columns: keep_borders(columns, height), masked: None };
        border.rows.iter().chain(&border.columns).any(|runs| *runs != [0, 0]).then_some(border)
    }

    /// Whether pixel `(x, y)` lies in the border.
    pub fn contains(&self, x: usize, y: usize) -> bool {
        if let Some(masked) = &self.masked {
            return masked.at(x, y);
        }
        let [left, right] = self.rows[y];
        let [top, bottom] = self.columns[x];
        x < left || x + right >= self.columns.len() || y < top || y + bottom >= self.rows.len()
    }
}

fn runs(length: usize, is_black: impl Fn(usize) -> bool) -> Runs {
    let first = (0..length).find(|&at| !is_black(at)).unwrap_or(length);
    let last = (first..length).rev().find(|&at| !is_black(at));
    [first, last.map_or(length, |last| length - 1 - last)]
}

/// Returns the runs of all rows, or of all columns; 0 at a side where they form no border.
fn keep_borders(mut runs: Vec<Runs>, length: usize) -> Vec<Runs> {
    for side in 0..2 {
        let run = |n: usize| runs[n][side];
        let long = (0..runs.len()).filter(|&n| run(n) >= MIN_RUN && run(n) < length);
        let breaks = long.clone().filter(|&n| n > 0 && n + 1 < runs.len()).filter(|&n| {
            let neighbours = [run(n - 1), run(n + 1)];
            let is_cut = neighbours.contains(&length); // the border of another side begins
            !is_cut && (2 * run(n)).abs_diff(neighbours[0] + neighbours[1]) > MAX_BEND
        });
        let is_border = long.clone().count() >= MIN_RUN && RUNS_A_BREAK * breaks.count() <= long.count();
        if !is_border {
            for runs in &mut runs {
                runs[side] = 0;
            }
        }
    }
    runs
}

/// Invalidates the pixels of both maps in the black border of their image ([`NO_PICTURE`]), and pixels whose partner lies in the border
/// of the other image ([`reason::RANGE`]).
pub fn drop_black_borders(maps: &mut Maps, pictures: [PictureRef<'_>; 2]) {
    let [left, right] = pictures.map(BlackBorder::of);
    maps.for_each_with([(&left, &right, -1), (&right, &left, 1)], |map, (own, other, sign)| {
        for y in 0..map.size().1 {
            let DisparityMap { values, reasons, confidence } = map;
            drop_of_row((values.row_mut(y), reasons.row_mut(y)), y, [own.as_ref(), other.as_ref()], sign);
            for (confidence, &value) in confidence.iter_mut().flat_map(|all| all.row_mut(y)).zip(values.row(y)) {
                *confidence = if value == INVALID { 0 } else { *confidence };
            }
        }
    });
}

/// Drops black borders in row `y` of a map; the partner of pixel `x` is in column `x + sign * d` of the other image.
pub fn drop_of_row(
    (values, reasons): (&mut [i16], &mut [u8]),
    y: usize,
    [own, other]: [Option<&BlackBorder>; 2],
    sign: i32,
) {
    for x in 0..values.len() {
        if own.is_some_and(|own| own.contains(x, y)) {
            (values[x], reasons[x]) = (INVALID, NO_PICTURE);
        } else if values[x] != INVALID
            && let Some(other) = other
        {
            let partner = x as i32 + sign * rounded_px(i32::from(values[x]));
            if (0..values.len() as i32).contains(&partner) && other.contains(partner as usize, y) {
                values[x] = INVALID;
                reasons[x] |= reason::RANGE;
            }
        }
    }
}

/// Removes disparities that were filled into a black border.
pub fn empty(map: &mut DisparityMap) {
    for (value, reasons) in map.values.pixels_mut().iter_mut().zip(map.reasons.pixels_mut()) {
        if *reasons & NO_PICTURE == NO_PICTURE {
            (*value, *reasons) = (INVALID, NO_PICTURE);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Fill, StereoParams, match_pair};

    /// Returns noise without black pixels, `border` px of black around it, and a single black pixel inside.
    fn bordered(size: usize, border: usize, shift: usize) -> Luma {
        Luma::U8(Image::from_fn(size, size, |x, y| {
            let inside = border..size - border;
            let noise = ((x + shift) * 7919 + y * 104_729) % 251 + 1;
            if inside.contains(&x) && inside.contains(&y) && (x, y) != (border + 3, size / 2) { noise as u8 } else { 0 }
        }))
    }

    fn drawn(is_black: impl Fn(usize, usize) -> bool) -> Luma {
        Luma::U8(Image::from_fn(60, 40, |x, y| if is_black(x, y) { 0 } else { 9 }))
    }

    #[test]
    fn finds_straight_and_bent_borders_but_no_dark_objects() {
        let lens = |x: usize, y: usize| (2 * x as i32 - 59).pow(2) + (2 * y as i32 - 39).pow(2) > 58_i32.pow(2);
        let slanted = |x: usize, y: usize| x < 5 + y / 8 || y + 9 > 40 + x / 10;
        let bent = |x: usize, y: usize| y < 2 + x * (60 - x) / 100 || x + 4 >= 60;
        for is_black in [&lens as &dyn Fn(usize, usize) -> bool, &slanted, &bent] {
            let border = BlackBorder::of(&drawn(is_black)).unwrap();
            for (x, y) in (0..40).flat_map(|y| (0..60).map(move |x| (x, y))) {
                assert_eq!(border.contains(x, y), is_black(x, y), "{x} {y}");
            }
        }
        let leaves = |x: usize, y: usize| x + (y * 7919 % 23) < 30;
        let noise = |x: usize, y: usize| x < 3 && (x + y).is_multiple_of(5);
        for is_black in
            [&leaves as &dyn Fn(usize, usize) -> bool, &noise, &|x, y| (20..30).contains(&x) && y > 9 && y < 30]
        {
            assert_eq!(BlackBorder::of(&drawn(is_black)), None);
        }
        let hole = drawn(|x, y| (20..30).contains(&x) && y > 9 && y < 30);
        let masked = BlackBorder::of(PictureRef { is_masked: true, ..(&hole).into() }).unwrap();
        assert!(masked.contains(20, 10) && !masked.contains(19, 10), "of masked images all black counts");
        let covered = Luma::U16 { image: Image::filled(50, 40, 0), bits: 12 };
        assert_eq!(BlackBorder::of(&covered), None, "a covered lens has no edge");
    }

    #[test]
    fn black_borders_have_no_depth_and_are_no_partners() {
        let (left, right) = (bordered(40, 8, 0), bordered(40, 8, 3));
        for (fill, paths) in [(Fill::None, 0), (Fill::Planes, 8), (Fill::Background, 4)] {
            let params = StereoParams { fill, paths, num_disparities: 16, left_right: None, ..StereoParams::default() };
            let map = match_pair(&left, &right, &params);
            for (x, y) in (0..40).flat_map(|y| (0..40).map(move |x| (x, y))) {
                let is_inside = (8..32).contains(&x) && (8..32).contains(&y);
                let reasons = map.reasons.at(x, y);
                assert_eq!(reasons & NO_PICTURE == NO_PICTURE && map.values.at(x, y) == INVALID, !is_inside, "{x} {y}");
                let partner = x as i32 - map.disparity_px(x, y).unwrap_or(0.0).round() as i32;
                assert!(!is_inside || reasons != 0 || partner >= 8, "{x} {y} is measured beyond the border");
            }
            assert!(fill == Fill::None || (map.valid_share() - 0.36).abs() < 1e-9, "{fill}: all inside is filled");
        }
    }
}
