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
    /// Differences of ranks.
    Differences(&'a Codes),
    /// A volume with [`super::OVERHANG`] at its end: means over a window, made from running sums.
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
            Self::Hamming(codes) => match codes.planes() {
                3 => codes.hamming::<S, L, 3>(simd, place, window, out),
                4 => codes.hamming::<S, L, 4>(simd, place, window, out),
                6 => codes.hamming::<S, L, 6>(simd, place, window, out),
                _ => codes.hamming::<S, L, 8>(simd, place, window, out),
            },
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
