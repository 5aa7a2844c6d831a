//! Costs of a piece of a row, made when they are needed: comparing codes is quicker than fetching a volume.

use super::Range;
use super::codes::Codes;
use super::lane::Lane;
use super::windows::{Window, Windows};
use crate::stereo::gating::Gate;
use fearless_simd::Simd;
use fearless_simd::prelude::*;

/// Where costs come from.
#[derive(Clone, Copy)]
pub(super) enum Costs<'a> {
    /// Hamming distances of bit strings.
    Hamming(&'a Codes),
    /// Differences of ranks or of brightness.
    Differences(&'a Codes),
    /// A volume with [`super::OVERHANG`] at its end: what is looked up, and means over surroundings.
    Volume(&'a [u8]),
}

/// The pixels whose costs are wanted: `pixels` from `x` on in row `y` of a picture `width` px wide.
#[derive(Clone, Copy)]
pub(super) struct Where {
    pub(super) width: usize,
    pub(super) x: usize,
    pub(super) y: usize,
    pub(super) pixels: usize,
}

impl Costs<'_> {
    /// Costs of all candidates of row `y` of a picture so wide, made in `scratch` where they are not stored. What pads a pixel's
    /// candidates means nothing.
    #[inline(always)]
    pub(super) fn row<'s, S: Simd>(
        self,
        simd: S,
        (width, y): (usize, usize),
        range: Range,
        scratch: &'s mut [u8],
    ) -> &'s [u8]
    where
        Self: 's,
    {
        let place = Where { width, x: 0, y, pixels: width };
        let whole = Window { first: 0, len: range.stride };
        match self {
            Self::Volume(costs) => return &costs[y * width * range.stride..][..width * range.stride],
            Self::Hamming(codes) => codes.distances(simd, place, whole, scratch),
            Self::Differences(codes) => codes.differences(simd, place, whole, scratch),
        }
        scratch
    }

    /// Costs of the window's candidates for each pixel; [`Lane::NONE`] where there is no such candidate.
    #[inline(always)]
    pub(super) fn fill<S: Simd, L: Lane>(
        self,
        simd: S,
        place: Where,
        window: Window,
        (range, windows): (Range, Option<&Windows>),
        out: &mut [L],
    ) {
        match self {
            Self::Hamming(codes) => codes.distances(simd, place, window, out),
            Self::Differences(codes) => codes.differences(simd, place, window, out),
            Self::Volume(costs) => {
                for (t, out) in out.chunks_exact_mut(window.len).take(place.pixels).enumerate() {
                    let start = (place.y * place.width + place.x + t) * range.stride + window.first;
                    widen(simd, &costs[start..][..window.len], out);
                }
            }
        }
        if windows.is_none() && range.candidates == range.stride {
            return;
        }
        for (t, out) in out.chunks_exact_mut(window.len).take(place.pixels).enumerate() {
            let gate = windows.map_or(Gate::whole(range.candidates), |windows| windows.gate(place.x + t, place.y));
            none_outside(out, usize::from(gate.first) - window.first, usize::from(gate.last) + 1 - window.first);
        }
    }
}

/// Costs outside `first..end` become those of candidates that there are not.
#[inline(always)]
fn none_outside<L: Lane>(costs: &mut [L], first: usize, end: usize) {
    for i in 0..costs.len() {
        let exists = i.wrapping_sub(first) < end - first;
        costs[i] = if exists { costs[i] } else { L::NONE };
    }
}

/// Costs of a volume as path costs.
#[inline(always)]
fn widen<S: Simd, L: Lane>(simd: S, costs: &[u8], out: &mut [L]) {
    let len = <S::u8s as SimdBase<S>>::LEN;
    let mut b = 0;
    while b < costs.len() {
        L::store_costs::<S>(S::u8s::from_slice(simd, &costs[b..][..len]), &mut out[b..][..len]);
        b += len;
    }
}
