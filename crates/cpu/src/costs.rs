//! Costs of a span of pixels. They are computed when they are needed: comparing codes is faster than reading a volume.

use super::codes::Codes;
use super::disparity_windows::{DisparityWindow, DisparityWindows};
use super::input::{PixelSpan, Range};
use super::lane::Lane;
use fearless_simd::Simd;
use fearless_simd::prelude::*;
use stereopsis_stereo::gating::Gate;

#[derive(Clone, Copy)]
pub(super) enum Costs<'a> {
    Hamming(&'a Codes),
    /// Codes whose absolute differences are the costs: ranks or brightness.
    Differences(&'a Codes),
    /// Volume of costs with [`super::input::OVERHANG`] at its end: from tables, or means of a local aggregation.
    Volume(&'a [u8]),
}

impl Costs<'_> {
    /// Returns the costs of all candidates of row `y` of an image `width` px wide, computed in `scratch` where they are not stored.
    /// Values that pad a pixel's candidates are undefined.
    #[inline(always)]
    pub(super) fn row<'s, S: Simd>(
        self,
        simd: S,
        width: usize,
        y: usize,
        range: Range,
        scratch: &'s mut [u8],
    ) -> &'s [u8]
    where
        Self: 's,
    {
        let span = PixelSpan { width, x: 0, y, pixels: width };
        let whole = DisparityWindow { first: 0, len: range.stride };
        match self {
            Self::Volume(costs) => return &costs[y * width * range.stride..][..width * range.stride],
            Self::Hamming(codes) => codes.distances(simd, span, whole, scratch),
            Self::Differences(codes) => codes.differences(simd, span, whole, scratch),
        }
        scratch
    }

    /// Writes the costs of the window's candidates for each pixel; [`Lane::NONE`] for missing candidates.
    #[inline(always)]
    pub(super) fn fill<S: Simd, L: Lane>(
        self,
        simd: S,
        span: PixelSpan,
        window: DisparityWindow,
        range: Range,
        windows: Option<&DisparityWindows>,
        out: &mut [L],
    ) {
        match self {
            Self::Hamming(codes) => codes.distances(simd, span, window, out),
            Self::Differences(codes) => codes.differences(simd, span, window, out),
            Self::Volume(costs) => {
                for (t, out) in out.chunks_exact_mut(window.len).take(span.pixels).enumerate() {
                    let start = (span.y * span.width + span.x + t) * range.stride + window.first;
                    widen(simd, &costs[start..][..window.len], out);
                }
            }
        }
        if windows.is_none() && range.candidates == range.stride {
            return;
        }
        let register = <L::V<S> as SimdBase<S>>::LEN;
        let whole = if windows.is_some() { 0 } else { range.candidates / register * register };
        let gates = windows.map(|windows| windows.gates(span));
        let marks = marks();
        for (t, out) in out.chunks_exact_mut(window.len).take(span.pixels).enumerate() {
            let gate = gates.map_or(Gate::whole(range.candidates), |gates| gates[t]);
            let [first, end] =
                [gate.first, gate.last + 1].map(|end| usize::from(end).saturating_sub(window.first + whole));
            none_outside(simd, &marks, &mut out[whole..], first, end);
        }
    }
}

const MAX_LEN: usize = 64;

/// Returns a register of marks of missing candidates, one of zeros, and one of marks: any boundary of marks is one load.
fn marks<L: Lane>() -> [L; 3 * MAX_LEN] {
    let mut marks = [L::NONE; 3 * MAX_LEN];
    marks[MAX_LEN..2 * MAX_LEN].fill(L::default());
    marks
}

/// Marks the candidates before `first` and from `end` on as missing.
#[inline(always)]
fn none_outside<S: Simd, L: Lane>(
    simd: S,
    marks: &[L; 3 * MAX_LEN],
    costs: &mut [L],
    mut first: usize,
    mut end: usize,
) {
    let len = <L::V<S> as SimdBase<S>>::LEN;
    for costs in costs.chunks_exact_mut(len) {
        let before = L::V::<S>::from_slice(simd, &marks[MAX_LEN - first.min(len)..][..len]);
        let behind = L::V::<S>::from_slice(simd, &marks[2 * MAX_LEN - end.min(len)..][..len]);
        L::V::<S>::from_slice(simd, costs).max(before).max(behind).store_slice(costs);
        (first, end) = (first.saturating_sub(len), end.saturating_sub(len));
    }
}

#[inline(always)]
fn widen<S: Simd, L: Lane>(simd: S, costs: &[u8], out: &mut [L]) {
    let len = <S::u8s as SimdBase<S>>::LEN;
    let mut b = 0;
    while b < costs.len() {
        L::store_costs::<S>(S::u8s::from_slice(simd, &costs[b..][..len]), &mut out[b..][..len]);
        b += len;
    }
}
