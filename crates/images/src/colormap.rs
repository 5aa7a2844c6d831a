//! Colours for disparity and depth, from far (0) to near (1) along inverse depth, so that one range in px serves both.

use stereopsis_base::geometry::Geometry;
use stereopsis_base::image::Image;
use stereopsis_base::parameter::choices;
use stereopsis_stereo::map::SUBPIXEL_STEPS;
use stereopsis_stereo::{DisparityMap, INVALID, reason};

choices! {
    /// A colour map, from far to near.
    pub enum Colormap, default Turbo {
        /// Blue to red with many steps in between; near is red.
        Turbo = "turbo",
        /// Dark blue to yellow, even to the eye, safe for colour blindness; near is yellow.
        Viridis = "viridis",
        /// Black over red to pale yellow, even to the eye; near is pale.
        Inferno = "inferno",
        /// Blue to yellow, made for colour blindness; near is yellow.
        Cividis = "cividis",
        /// Dark to light; near is white.
        Grey = "grey",
    }
}

pub(crate) const INVALID_COLOR: [u8; 3] = [0, 0, 0];

/// Error of a disparity in the last colour, px.
pub const MAX_ERROR_PX: f32 = 4.0;
/// Colour of a pixel with truth and without a disparity in an image of errors.
pub(crate) const MISSING_COLOR: [u8; 3] = [255, 255, 255];

impl Colormap {
    /// Returns the table that host and shader both read: entry 0 is far, 255 near.
    pub fn lookup(self) -> [[u8; 3]; 256] {
        std::array::from_fn(|i| self.entry(i as u8))
    }

    /// Returns the colour at `t` from 0, far, to 1, near; outside it is clamped, and NaN is [`INVALID_COLOR`].
    pub fn color(self, t: f32) -> [u8; 3] {
        if t.is_nan() { INVALID_COLOR } else { self.entry(table_index(t)) }
    }

    fn entry(self, index: u8) -> [u8; 3] {
        // omits the darkest end of a map, which resembles the black of invalid pixels
        let (gradient, first, last) = match self {
            Self::Turbo => (colorous::TURBO, 0.04, 0.96),
            Self::Viridis => (colorous::VIRIDIS, 0.0, 1.0),
            Self::Inferno => (colorous::INFERNO, 0.14, 1.0),
            Self::Cividis => (colorous::CIVIDIS, 0.0, 1.0),
            Self::Grey => return [31 + (u16::from(index) * 224 / 255) as u8; 3],
        };
        gradient.eval_continuous(first + (last - first) * f64::from(index) / 255.0).into_array()
    }
}

fn table_index(t: f32) -> u8 {
    (t.clamp(0.0, 1.0) * 255.0 + 0.5) as u8
}

/// Range of disparities that a colour map spans, px.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize)]
pub struct DisplayRange {
    /// Disparity in the first colour.
    pub far_px: f32,
    /// Disparity in the last colour; above `far_px`.
    pub near_px: f32,
}

impl DisplayRange {
    /// Returns the range from the 2nd to the 98th per cent of the valid disparities, at least 1 px wide; with a geometry only of
    /// disparities with a depth. `None` if there is none.
    pub fn fit(map: &DisparityMap, geometry: Option<&Geometry>) -> Option<Self> {
        let at_infinity = geometry.map_or(f64::NEG_INFINITY, |g| -g.doffs_px);
        let has_depth = |&v: &i16| v != INVALID && f64::from(v) > at_infinity * f64::from(SUBPIXEL_STEPS);
        let mut values: Vec<i16> = map.values.pixels().iter().copied().filter(has_depth).collect();
        let last = values.len().checked_sub(1)?;
        let mut share = |percent: usize| {
            let value = *values.select_nth_unstable((last * percent + 50) / 100).1;
            f32::from(value) / SUBPIXEL_STEPS as f32
        };
        let (far, near) = (share(2), share(98));
        let widen = ((1.0 - (near - far)) / 2.0).max(0.0);
        Some(Self { far_px: far - widen, near_px: near + widen })
    }

    /// Returns the position of a disparity: 0 far, 1 near; not clamped.
    pub fn position(&self, disparity_px: f32) -> f32 {
        (disparity_px - self.far_px) / (self.near_px - self.far_px)
    }
}

/// Returns the colour of an invalid pixel by its bits of [`reason`]; muted, unlike the colours of disparities.
pub fn reason_color(bits: u8) -> [u8; 3] {
    let bits = bits & !reason::WITH_DISPARITY;
    match bits & bits.wrapping_neg() {
        reason::RANGE => [50, 50, 54],
        reason::UNIQUENESS => [141, 122, 163],
        reason::LEFT_RIGHT => [205, 203, 198],
        reason::SPECKLE => [128, 104, 82],
        reason::MATCH => [92, 122, 112],
        reason::BORDER => [66, 104, 150],
        _ => INVALID_COLOR,
    }
}

/// Returns a coloured map. Pixels without a disparity, and with a geometry pixels without a depth, are black, or with `show_reasons`
/// have the colour of their reason.
pub fn color_map(
    map: &DisparityMap,
    geometry: Option<&Geometry>,
    range: DisplayRange,
    colormap: Colormap,
    show_reasons: bool,
) -> Image<[u8; 3]> {
    let table = colormap.lookup();
    let behind = geometry.map_or(f32::NEG_INFINITY, |g| -g.doffs_px as f32);
    let (width, height) = map.size();
    Image::from_fn(width, height, |x, y| match map.disparity_px(x, y) {
        Some(d) if d > behind => table[usize::from(table_index(range.position(d)))],
        Some(_) if show_reasons => reason_color(reason::RANGE),
        None if show_reasons => reason_color(map.reasons.at(x, y)),
        _ => INVALID_COLOR,
    })
}

/// Returns the absolute errors in colours: blue is exact, red [`MAX_ERROR_PX`] or more, [`MISSING_COLOR`] has no disparity,
/// [`INVALID_COLOR`] no truth. `truth_px` has the map's size, px, NaN where unknown.
pub(crate) fn error_map(map: &DisparityMap, truth_px: &Image<f32>) -> Image<[u8; 3]> {
    let table = Colormap::Turbo.lookup();
    let (width, height) = map.size();
    Image::from_fn(width, height, |x, y| match (map.disparity_px(x, y), truth_px.at(x, y)) {
        (_, truth) if !truth.is_finite() => INVALID_COLOR,
        // 0 px or less counts as missing, as in the figures
        (Some(d), truth) if d > 0.0 => table[usize::from(table_index((d - truth).abs() / MAX_ERROR_PX))],
        _ => MISSING_COLOR,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn map_of(values: Vec<i16>) -> DisparityMap {
        let n = values.len();
        DisparityMap { values: Image::new(n, 1, values), reasons: Image::filled(n, 1, 0), confidence: None }
    }

    #[test]
    fn turbo_is_red_near_and_blue_far() {
        let [r, _, b] = Colormap::Turbo.color(0.9);
        assert!(r > 180 && b < 60, "near is {r} red, {b} blue");
        let [r, _, b] = Colormap::Turbo.color(0.1);
        assert!(b > 150 && r < 100, "far is {r} red, {b} blue");
    }

    #[test]
    fn every_map_agrees_with_its_table_and_clamps() {
        for &colormap in Colormap::ALL {
            let table = colormap.lookup();
            assert_eq!(colormap.color(-3.0), table[0]);
            assert_eq!(colormap.color(7.0), table[255]);
            assert_eq!(colormap.color(100.0 / 255.0), table[100]);
            assert_eq!(colormap.color(f32::NAN), [0, 0, 0]);
            assert_ne!(table[0], table[255]);
        }
    }

    #[test]
    fn far_differs_from_invalid_black_and_grey_grows() {
        for &colormap in Colormap::ALL {
            let far = colormap.lookup()[0];
            assert!(far.iter().map(|&c| u32::from(c)).sum::<u32>() > 80, "{colormap}: {far:?} is nearly black");
        }
        let table = Colormap::Grey.lookup();
        assert!(table.windows(2).all(|pair| (0..=1).contains(&(pair[1][0] - pair[0][0]))));
        assert_eq!(table[255], [255; 3]);
    }

    #[test]
    fn range_leaves_out_two_per_cent_at_each_end() {
        let range = DisplayRange::fit(&map_of((0..=100).map(|v| v * 16).collect()), None).unwrap();
        assert_eq!(range, DisplayRange { far_px: 2.0, near_px: 98.0 });
        assert!((range.position(50.0) - 0.5).abs() < 1e-6);
    }

    #[test]
    fn flat_map_gets_a_range_and_an_empty_one_none() {
        let range = DisplayRange::fit(&map_of(vec![160; 9]), None).unwrap();
        assert_eq!(range, DisplayRange { far_px: 9.5, near_px: 10.5 });
        assert_eq!(DisplayRange::fit(&map_of(vec![INVALID; 9]), None), None);
    }

    #[test]
    fn disparities_behind_infinity_are_invalid_with_a_geometry() {
        let geometry = Geometry::new(500.0, 0.1, -5.0, [0.0, 0.0]);
        let map = map_of(vec![4 * 16, 5 * 16, 6 * 16]);
        let range = DisplayRange { far_px: 0.0, near_px: 10.0 };
        let colors = color_map(&map, Some(&geometry), range, Colormap::Turbo, false);
        assert_eq!(colors.pixels()[..2], [[0, 0, 0]; 2]);
        assert_eq!(colors.at(2, 0), Colormap::Turbo.color(0.6));
        assert_ne!(color_map(&map, None, range, Colormap::Turbo, false).at(0, 0), [0, 0, 0]);
    }

    #[test]
    fn errors_run_from_blue_to_red_and_missing_is_white() {
        let map = map_of(vec![160, 160, 160, INVALID, 0, INVALID]);
        let truth = Image::new(6, 1, vec![10.0, 12.0, 99.0, 10.0, 1.0, f32::NAN]);
        let colors = error_map(&map, &truth).into_pixels();
        let of = |t| Colormap::Turbo.color(t);
        assert_eq!(colors, [of(0.0), of(0.5), of(1.0), MISSING_COLOR, MISSING_COLOR, INVALID_COLOR]);
    }

    #[test]
    fn reasons_have_colours_of_their_own() {
        let reasons: Vec<_> = reason::of_holes().map(|(bit, ..)| bit).collect();
        assert_eq!(reasons.len() + 2, reason::ALL.len(), "all but held and filled");
        let mut map = map_of(vec![INVALID; reasons.len()]);
        for (i, &bit) in reasons.iter().enumerate() {
            map.reasons.set(i, 0, bit);
        }
        let range = DisplayRange { far_px: 0.0, near_px: 1.0 };
        let colors = color_map(&map, None, range, Colormap::Turbo, true).into_pixels();
        for i in 0..reasons.len() {
            assert_ne!(colors[i], [0, 0, 0]);
            assert!(!colors[..i].contains(&colors[i]));
        }
        for beside in [reason::FILLED, reason::HELD] {
            assert_eq!(reason_color(reason::LEFT_RIGHT | beside), reason_color(reason::LEFT_RIGHT));
        }
        assert!(color_map(&map, None, range, Colormap::Turbo, false).pixels().iter().all(|&c| c == [0, 0, 0]));
    }
}
