//! Parts of an export, and the selection of pairs.

use stereopsis_base::parameter::choices;
use stereopsis_images::StereoView;

/// Name of the file that exists until the export is finished, and describes it.
pub const UNFINISHED: &str = "unfinished-export.json";

choices! {
    /// One kind of file that an export has.
    pub enum Part {
        /// `_left.png`: the left side's image, split and turned, in colour where there is any.
        Left = "left",
        /// `_right.png`: the right side's image.
        Right = "right",
        /// `_left_rectified.png`, `_right_rectified.png`: the pair that was matched, where it is another one; depth and disparity belong to its left image.
        Rectified = "rectified",
        /// `_depth_mm.png`: depth, 16 bits, mm, 0 = invalid.
        DepthMm = "depth-mm",
        /// `_depth_m.tiff`: depth, float, m, NaN = invalid; also beyond 65.535 m.
        DepthM = "depth-m",
        /// `_disp_x256.png`: disparity, 16 bits, px * 256, 0 = invalid.
        DispX256 = "disp-x256",
        /// `_disp.pfm`: disparity, float, px, +infinity = invalid.
        Pfm = "pfm",
        /// `_disp.tiff`: disparity, float, px, NaN = invalid.
        Tiff = "tiff",
        /// `_cloud.ply`: points in space, m, with the left image's colours.
        Ply = "ply",
        /// `_sbs.png`: both rectified images, left beside right, to be looked at in a headset or on a 3-D screen.
        SideBySide = "side-by-side",
        /// `_tb.png`: both rectified images, left above right.
        TopBottom = "top-bottom",
        /// `_anaglyph.png`: both rectified images for glasses that are red on the left and cyan on the right.
        Anaglyph = "anaglyph",
        /// `_pair.mpo`: both rectified images as 3-D cameras write them, two JPEG images in one file.
        Mpo = "mpo",
        /// `frames.csv`: number, time, skew, engine and more of each pair.
        Csv = "csv",
        /// `calibration/`: in OpenCV's, ROS's and our own form.
        Calibration = "calibration",
        /// `recording.json`: every file, every unit, geometry, parameters.
        Json = "json",
    }
}

impl Part {
    /// Whether it is written on request only: what another part holds too, in a form for some.
    pub fn is_on_request(self) -> bool {
        self == Self::DepthM || self.view().is_some()
    }

    /// Returns the arrangement of both views; `None` for other parts.
    pub(super) fn view(self) -> Option<StereoView> {
        match self {
            Self::SideBySide => Some(StereoView::SideBySide),
            Self::TopBottom => Some(StereoView::TopBottom),
            Self::Anaglyph => Some(StereoView::Anaglyph),
            Self::Mpo => Some(StereoView::Mpo),
            _ => None,
        }
    }

    /// Returns the maximum bytes of a pair's files of this part, for images of a number of pixels; 0 for files of the whole recording.
    pub fn max_bytes(self, pixels: u64, has_color: bool) -> u64 {
        const POINT_BYTES: u64 = 15;
        let picture = if has_color { 3 } else { 1 };
        pixels
            * match self {
                Self::Left | Self::Right => picture,
                Self::Rectified => 2 * picture,
                Self::DepthMm | Self::DispX256 => 2,
                Self::DepthM | Self::Pfm | Self::Tiff => 4,
                Self::Anaglyph => 3,
                Self::SideBySide | Self::TopBottom | Self::Mpo => 6,
                Self::Ply => POINT_BYTES,
                Self::Csv | Self::Calibration | Self::Json => 0,
            }
    }

    /// Returns the endings of file names behind the number of a pair, and the unit of the numbers; none for files of the whole recording.
    pub(super) fn files(self) -> (&'static [&'static str], &'static str) {
        const VIEWS: &str = "both rectified views to be looked at, moved so that the disparity screen_px lies in the plane of the screen";
        const RECORDED: &str = "brightness or RGB as recorded, not rectified unless the recording says so";
        match self {
            Self::Left => (&["_left.png"], RECORDED),
            Self::Right => (&["_right.png"], RECORDED),
            Self::Rectified => (
                &["_left_rectified.png", "_right_rectified.png"],
                "brightness or RGB; the pixels to which depth and disparity belong",
            ),
            Self::DepthMm => {
                (&["_depth_mm.png"], "16-bit, millimetres along the optical axis, 0 = invalid or beyond 65.535 m")
            }
            Self::DepthM => (&["_depth_m.tiff"], "float, metres along the optical axis, NaN = invalid"),
            Self::DispX256 => (&["_disp_x256.png"], "16-bit, disparity px * 256, left minus right, 0 = invalid"),
            Self::Pfm => (&["_disp.pfm"], "float, disparity px, left minus right, +inf = invalid, rows bottom to top"),
            Self::Tiff => (&["_disp.tiff"], "float, disparity px, left minus right, NaN = invalid"),
            Self::Ply => (
                &["_cloud.ply"],
                "float, metres, from the left camera, on the axes that its header names; valid pixels only",
            ),
            Self::SideBySide => (&["_sbs.png"], VIEWS),
            Self::TopBottom => (&["_tb.png"], VIEWS),
            Self::Anaglyph => (&["_anaglyph.png"], VIEWS),
            Self::Mpo => (&["_pair.mpo"], VIEWS),
            Self::Csv | Self::Calibration | Self::Json => (&[], ""),
        }
    }
}

/// Selection of pairs.
#[derive(Clone, Debug, PartialEq)]
pub struct Selection {
    /// Number of the first pair.
    pub from: u64,
    /// Maximum number of pairs.
    pub count: Option<u64>,
    /// Earliest log time, s after the first pair of the recording.
    pub from_s: Option<f64>,
    /// Latest log time, s after the first pair of the recording.
    pub to_s: Option<f64>,
    /// Step between selected pairs: each n-th one; at least 1.
    pub every: u64,
}

impl Default for Selection {
    fn default() -> Self {
        Self { from: 0, count: None, from_s: None, to_s: None, every: 1 }
    }
}

impl Selection {
    /// Returns the numbers of the selected pairs, from the log times of all.
    pub(super) fn of(&self, log_times_ns: &[u64]) -> Vec<u64> {
        let first = log_times_ns.first().copied().unwrap_or(0);
        let (from_s, to_s) = (self.from_s.unwrap_or(f64::NEG_INFINITY), self.to_s.unwrap_or(f64::INFINITY));
        // a clock that was set back gives times before the first one
        let since_first_s = |ns: u64| (i128::from(ns) - i128::from(first)) as f64 / 1e9;
        let in_time = |ns: u64| (from_s..=to_s).contains(&since_first_s(ns));
        let places = (0u64..).zip(log_times_ns).skip(usize::try_from(self.from).unwrap_or(usize::MAX));
        let places = places.filter(|&(_, &ns)| in_time(ns)).map(|(place, _)| place);
        let count = self.count.and_then(|count| usize::try_from(count).ok()).unwrap_or(usize::MAX);
        places.step_by(usize::try_from(self.every.max(1)).unwrap_or(usize::MAX)).take(count).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pairs_are_chosen_by_place_and_by_time() {
        let times: Vec<u64> = (0..10).map(|k| 1_000_000_000_000 + k * 500_000_000).collect();
        let of = |selection: Selection| selection.of(&times);
        assert_eq!(of(Selection::default()), (0..10).collect::<Vec<_>>());
        assert_eq!(of(Selection { from: 3, count: Some(2), ..Selection::default() }), [3, 4]);
        assert_eq!(of(Selection { from_s: Some(1.0), to_s: Some(2.0), ..Selection::default() }), [2, 3, 4]);
        assert_eq!(of(Selection { from: 1, every: 4, ..Selection::default() }), [1, 5, 9]);
        assert_eq!(of(Selection { from: 1, every: 4, count: Some(2), ..Selection::default() }), [1, 5]);
        assert_eq!(of(Selection { from: 99, ..Selection::default() }), [0; 0]);
        assert_eq!(Selection::default().of(&[]), [0; 0]);
    }

    #[test]
    fn keeps_pairs_before_the_first_log_time() {
        assert_eq!(Selection::default().of(&[5_000_000_000, 1_000_000_000]), [0, 1]);
        let later = Selection { from_s: Some(0.0), ..Selection::default() };
        assert_eq!(later.of(&[5_000_000_000, 1_000_000_000]), [0]);
    }
}
