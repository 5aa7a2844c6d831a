//! Black borders: a rectified picture is black where its camera saw nothing. Nothing has a depth there, and nothing is matched with it.

use super::description::{Filter, Function};
use crate::image::{Image, Luma, PictureRef};
use crate::map::{DisparityMap, INVALID, Maps, NO_PICTURE, SUBPIXEL_STEPS, reason};
use std::ops::Range;

/// What lies in the black border of either picture.
pub(super) const BLACK_BORDER: Filter =
    Filter { size: |_| Some(0), function: Function::Maps(|maps, pictures| drop_black_borders(maps, pictures)) };

/// Shortest run of black pixels that is a border, px: single ones are noise of a dark picture.
pub const MIN_RUN: usize = 4;

/// The black border of a picture: pixels of brightness 0, as all between them and an end of their row or of their column.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BlackBorder {
    /// The columns of each row that do not lie in its runs.
    rows: Vec<Range<usize>>,
    /// The rows of each column.
    columns: Vec<Range<usize>>,
}

impl BlackBorder {
    /// Finds the border of a picture; `None` where it has none.
    pub fn of(luma: &Luma) -> Option<Self> {
        match luma {
            Luma::U8(image) => Self::where_zero(image),
            Luma::U16 { image, .. } => Self::where_zero(image),
        }
    }

    fn where_zero<T: Copy + Default + PartialEq>(image: &Image<T>) -> Option<Self> {
        let (width, height) = image.size();
        let is_black = |x: usize, y: usize| image.at(x, y) == T::default();
        let rows: Vec<_> = (0..height).map(|y| within_runs(width, |x| is_black(x, y))).collect();
        let columns: Vec<_> = (0..width).map(|x| within_runs(height, |y| is_black(x, y))).collect();
        let has_border =
            rows.iter().any(|row| *row != (0..width)) || columns.iter().any(|column| *column != (0..height));
        has_border.then_some(Self { rows, columns })
    }

    /// Whether pixel `(x, y)` lies in the border.
    pub fn contains(&self, x: usize, y: usize) -> bool {
        !self.rows[y].contains(&x) || !self.columns[x].contains(&y)
    }
}

/// The places of a line of so many between the runs of black ones at its ends.
fn within_runs(length: usize, is_black: impl Fn(usize) -> bool) -> Range<usize> {
    let first = (0..length).find(|&at| !is_black(at)).unwrap_or(length);
    let end = (first..length).rev().find(|&at| !is_black(at)).map_or(first, |last| last + 1);
    let first_kept = if first < MIN_RUN { 0 } else { first };
    first_kept..if length - end < MIN_RUN { length } else { end }
}

/// Invalidates the pixels of both maps in the black border of their own picture ([`NO_PICTURE`]), and those whose partner lies in that of
/// the other one ([`reason::RANGE`]).
pub fn drop_black_borders(maps: &mut Maps, pictures: [PictureRef<'_>; 2]) {
    let [left, right] = pictures.map(|picture| BlackBorder::of(picture.luma));
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

/// The same for row `y` of a map, whose pixel `x` has its partner in column `x + sign * d` of the other picture.
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
            let partner = x as i32 + sign * ((i32::from(values[x]) + SUBPIXEL_STEPS / 2) >> 4);
            if (0..values.len() as i32).contains(&partner) && other.contains(partner as usize, y) {
                values[x] = INVALID;
                reasons[x] |= reason::RANGE;
            }
        }
    }
}

/// Removes what was filled in where there is no picture.
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

    /// A picture of noise without black, `border` px of black around it, and a lone black pixel.
    fn bordered(size: usize, border: usize, shift: usize) -> Luma {
        Luma::U8(Image::from_fn(size, size, |x, y| {
            let inside = border..size - border;
            let noise = ((x + shift) * 7919 + y * 104_729) % 251 + 1;
            if inside.contains(&x) && inside.contains(&y) && (x, y) != (border + 3, size / 2) { noise as u8 } else { 0 }
        }))
    }

    #[test]
    fn a_border_is_found_by_rows_and_columns_and_black_inside_is_none() {
        let rows = ["000000000", "000120000", "000030000", "011110000", "911119999", "110111111"];
        let digit = |x: usize, y: usize| rows[y].as_bytes()[x] - b'0';
        let border = BlackBorder::of(&Luma::U8(Image::from_fn(9, 6, digit))).unwrap();
        let found: Vec<String> =
            (0..6).map(|y| (0..9).map(|x| if border.contains(x, y) { '#' } else { '.' }).collect()).collect();
        // the first column has a run of four, row 1 one of three, and the black pixel of the last row lies alone
        assert_eq!(found, ["#########", "#....####", "####.####", "#....####", ".........", "........."]);
        assert_eq!(BlackBorder::of(&Luma::U8(Image::filled(3, 3, 0))), None, "too small for a run");
        let all = BlackBorder::of(&Luma::U16 { image: Image::filled(5, 4, 0), bits: 12 }).unwrap();
        assert!((0..5).all(|x| (0..4).all(|y| all.contains(x, y))));
        assert_eq!(BlackBorder::of(&Luma::U8(Image::filled(5, 5, 1))), None);
    }

    #[test]
    fn a_black_border_has_no_depth_and_is_no_partner_filled_or_not() {
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
            assert!(fill == Fill::None || map.valid_share() == 24.0 * 24.0 / 1600.0, "{fill}: all inside is filled");
        }
    }
}
