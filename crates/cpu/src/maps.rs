//! Maps of the winners before filtering: the left map, and the right one where the check or the caller needs it.

use stereopsis_base::image::Image;
use stereopsis_stereo::disparity::whole;
use stereopsis_stereo::map::{INVALID, reason};
use stereopsis_stereo::{DisparityMap, StereoParams};

/// Disparity maps of both images, not yet filtered.
pub(super) struct WinnerMaps {
    pub(super) left: DisparityMap,
    /// Right map where it is needed. A pixel without a disparity may lack its reason, which then is the range.
    pub(super) right: Option<DisparityMap>,
}

pub(super) struct MapRow<'a> {
    pub(super) values: &'a mut [i16],
    pub(super) reasons: &'a mut [u8],
    /// Confidence, empty where it is not requested.
    pub(super) confidence: &'a mut [u8],
    /// Right disparities, empty where they are not needed.
    pub(super) right: &'a mut [i16],
}

impl WinnerMaps {
    pub(super) fn empty(width: usize, height: usize, params: &StereoParams, with_right: bool) -> Self {
        let map = |confidence: bool| DisparityMap {
            values: Image::filled(width, height, INVALID),
            reasons: Image::filled(width, height, 0),
            confidence: confidence.then(|| Image::filled(width, height, 0)),
        };
        Self { left: map(params.winners_have_confidence()), right: with_right.then(|| map(false)) }
    }

    /// Drops the border of the left map, after [`whole`], if the parameters require it.
    pub(super) fn drop_border(&mut self, params: &StereoParams) {
        if !params.drop_border {
            return;
        }
        let (width, height) = self.left.size();
        let (columns, in_rows) = whole((width, height), params.window_reach(), &params.disparities());
        for y in 0..height {
            let (values, reasons) = (self.left.values.row_mut(y), self.left.reasons.row_mut(y));
            for x in 0..width {
                if !(columns.contains(&x) && in_rows.contains(&y)) {
                    (values[x], reasons[x]) = (INVALID, reason::BORDER);
                }
            }
        }
    }

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
    #[inline(always)]
    pub(super) fn block(&mut self, from: usize, pixels: usize) -> MapRow<'_> {
        let place = from..from + pixels;
        MapRow {
            values: &mut self.values[place.clone()],
            reasons: &mut self.reasons[place.clone()],
            confidence: self.confidence.get_mut(place).unwrap_or_default(),
            right: &mut [],
        }
    }
}
