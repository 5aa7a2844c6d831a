//! What the winners go into: the left map, and the right picture's disparities where somebody asks for them.

use crate::image::Image;
use crate::stereo::disparity::is_whole;
use crate::stereo::map::{INVALID, reason};
use crate::stereo::{DisparityMap, StereoParams};

/// Maps of both pictures, not yet filtered.
pub(super) struct WinnerMaps {
    pub(super) left: DisparityMap,
    /// Only if somebody needs it; the reason of a pixel without a disparity may be missing, and then is its range.
    pub(super) right: Option<DisparityMap>,
}

/// One row of them.
pub(super) struct MapRow<'a> {
    pub(super) values: &'a mut [i16],
    pub(super) reasons: &'a mut [u8],
    /// Empty if nobody asks for it.
    pub(super) confidence: &'a mut [u8],
    /// Empty if nobody needs it.
    pub(super) right: &'a mut [i16],
}

impl WinnerMaps {
    /// Without any disparity so far.
    pub(super) fn empty(width: usize, height: usize, params: &StereoParams, with_right: bool) -> Self {
        let map = |confidence: bool| DisparityMap {
            values: Image::filled(width, height, INVALID),
            reasons: Image::filled(width, height, 0),
            confidence: confidence.then(|| Image::filled(width, height, 0)),
        };
        Self { left: map(params.confidence), right: with_right.then(|| map(false)) }
    }

    /// Takes what cannot be compared whole out of the left map, after [`is_whole`], if the parameters ask for it.
    pub(super) fn drop_border(&mut self, params: &StereoParams) {
        if !params.drop_border {
            return;
        }
        let (width, height) = self.left.size();
        for y in 0..height {
            let (values, reasons) = (self.left.values.row_mut(y), self.left.reasons.row_mut(y));
            for x in 0..width {
                if !is_whole((x, y), (width, height), params) {
                    (values[x], reasons[x]) = (INVALID, reason::BORDER);
                }
            }
        }
    }

    /// Row after row.
    pub(super) fn rows(&mut self) -> Vec<MapRow<'_>> {
        let DisparityMap { values, reasons, confidence } = &mut self.left;
        let width = values.width();
        let rows = values.pixels_mut().chunks_exact_mut(width).zip(reasons.pixels_mut().chunks_exact_mut(width));
        let mut confidence = confidence.as_mut().map(|image| image.pixels_mut().chunks_exact_mut(width));
        let mut right = self.right.as_mut().map(|map| map.values.pixels_mut().chunks_exact_mut(width));
        rows.map(|(values, reasons)| MapRow {
            values,
            reasons,
            confidence: confidence.as_mut().and_then(Iterator::next).unwrap_or_default(),
            right: right.as_mut().and_then(Iterator::next).unwrap_or_default(),
        })
        .collect()
    }
}

impl MapRow<'_> {
    /// The left map's pixels from column `from`.
    #[inline(always)]
    pub(super) fn piece(&mut self, from: usize, pixels: usize) -> MapRow<'_> {
        let place = from..from + pixels;
        MapRow {
            values: &mut self.values[place.clone()],
            reasons: &mut self.reasons[place.clone()],
            confidence: self.confidence.get_mut(place).unwrap_or_default(),
            right: &mut [],
        }
    }
}
