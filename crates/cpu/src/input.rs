//! Input of one pyramid level: the pair, the search range, and the units into which volumes are divided.

use super::simd::SimdLevel;
use stereopsis_base::image::Luma;
use stereopsis_stereo::StereoParams;

/// Pixels of a block: the part of a row that all directions of a pass process before the next part begins.
pub(super) const BLOCK: usize = 32;
/// Largest number of directions that a pass follows together: the instructions of one fill the latencies of another.
pub(super) const MAX_DIRECTIONS: usize = 4;
/// Number of values by which a register may reach beyond the end of a pixel's candidates.
pub(super) const OVERHANG: usize = 64;

#[derive(Clone, Copy)]
pub(super) struct LevelInput<'a> {
    pub(super) level: SimdLevel,
    pub(super) left: &'a Luma,
    pub(super) right: &'a Luma,
    pub(super) params: &'a StereoParams,
}

/// Search range: candidates of each pixel, and the distance of pixels in a volume.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Range {
    /// Disparity of candidate 0, px.
    pub(super) min: i32,
    pub(super) candidates: usize,
    /// Number of candidates, rounded up to whole registers.
    pub(super) stride: usize,
}

impl Range {
    pub(super) fn of(params: &StereoParams, level: SimdLevel) -> Self {
        let candidates = params.num_disparities as usize;
        Self { min: params.min_disparity, candidates, stride: candidates.next_multiple_of(level.bytes()) }
    }
}

/// Span of `pixels` pixels from column `x` of row `y` of an image `width` px wide.
#[derive(Clone, Copy)]
pub(super) struct PixelSpan {
    pub(super) width: usize,
    pub(super) x: usize,
    pub(super) y: usize,
    pub(super) pixels: usize,
}
