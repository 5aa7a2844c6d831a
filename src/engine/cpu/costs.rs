//! Costs of a piece of a row, made when they are needed: comparing codes is quicker than fetching a volume.

use super::Range;
use super::codes::Codes;
use super::lane::Lane;
use fearless_simd::Simd;
use fearless_simd::prelude::*;

/// Where costs come from.
#[derive(Clone, Copy)]
pub(super) enum Costs<'a> {
    /// Hamming distances of bit strings.
    Hamming(&'a Codes),
    /// Differences of ranks.
    Differences(&'a Codes),
    /// A volume: means over a window, made from running sums.
    Volume(&'a [u8]),
}

impl Costs<'_> {
    /// Costs of the pixels `from..to` of row `y`; [`Lane::NONE`] where there is no such candidate.
    #[inline(always)]
    pub(super) fn fill<S: Simd, L: Lane>(
        self,
        simd: S,
        (y, width): (usize, usize),
        (from, to): (usize, usize),
        range: Range,
        out: &mut [L],
    ) {
        match self {
            Self::Hamming(codes) => codes.hamming(simd, y, (from, to), range.stride, out),
            Self::Differences(codes) => codes.differences(simd, y, (from, to), range.stride, out),
            Self::Volume(costs) => {
                let costs = &costs[(y * width + from) * range.stride..(y * width + to) * range.stride];
                let len = <S::u8s as SimdBase<S>>::LEN;
                let mut b = 0;
                while b < costs.len() {
                    L::store_costs::<S>(S::u8s::from_slice(simd, &costs[b..][..len]), &mut out[b..][..len]);
                    b += len;
                }
            }
        }
        if range.candidates < range.stride {
            for pixel in out[..(to - from) * range.stride].chunks_exact_mut(range.stride) {
                pixel[range.candidates..].fill(L::NONE);
            }
        }
    }
}
