//! Operations of the innermost loops for which processors have instructions that [`fearless_simd`] lacks.

use fearless_simd::Simd;
use fearless_simd::prelude::*;

/// Level of vector instructions, with the operations of the innermost loops.
pub(super) trait Vector: Simd {
    /// Whether the recurrence is compiled once more for each frequent number of directions and candidates. One loop for all numbers
    /// takes twice the time per pair; x86-64 processors without SSE4.2 have that one alone.
    const HAS_FIXED_LOOPS: bool = true;

    /// Returns the smallest byte, in all lanes.
    #[inline(always)]
    fn least(self, bytes: Self::u8s) -> Self::u8s {
        Self::u8s::splat(self, bytes.reduce_min())
    }

    /// Returns the smallest of numbers below 2^15 and its first lane within its block of eight. Numbers of different blocks differ.
    #[inline(always)]
    fn least_of_blocks(self, numbers: Self::i16s) -> (u16, usize) {
        let least = numbers.reduce_min();
        let lane = numbers.simd_eq(Self::i16s::splat(self, least)).to_bitmask().trailing_zeros() as usize;
        (least as u16, lane % 8)
    }

    /// Computes `factor * (a + b) + 256 * high + low` for each lane; the result is below 2^15.
    #[inline(always)]
    fn combine_bytes(
        self,
        (a, b): (Self::u8s, Self::u8s),
        factor: u8,
        (low, high): (Self::u8s, Self::u8s),
    ) -> (Self::u16s, Self::u16s) {
        let (first, second) = a.widening_add(b);
        let (added_first, added_second) = low.interleave(high);
        let factor = u16::from(factor);
        (first * factor + added_first.bitcast::<Self::u16s>(), second * factor + added_second.bitcast::<Self::u16s>())
    }
}

#[cfg(not(target_arch = "x86_64"))]
impl<S: Simd> Vector for S {}

#[cfg(target_arch = "x86_64")]
mod x86 {
    #![allow(clippy::wildcard_imports, reason = "the instructions of three levels")]

    use super::Vector;
    use fearless_simd::prelude::*;
    use fearless_simd::x86::{Avx2, Avx512, Sse2, Sse4_2};
    use fearless_simd::{i16x8, u8x16};
    use std::arch::x86_64::*;

    impl Vector for Sse2 {
        const HAS_FIXED_LOOPS: bool = false;
    }

    /// Implements [`Vector`] for a level with an instruction for the smallest of eight numbers. `$fold` makes a block of a register `$of`
    /// by minima. Bytes are unpacked within blocks; `$order` restores the order of the halves.
    macro_rules! with_instructions {
        (
            $level:ident, |$of:ident| $fold:expr,
            [$splat:ident, $low_bytes:ident, $high_bytes:ident, $multiply:ident, $add:ident],
            |$low_halves:ident, $high_halves:ident| $order:expr
        ) => {
            impl Vector for $level {
                #[inline(always)]
                fn least(self, $of: Self::u8s) -> Self::u8s {
                    fearless_simd::kernel!(
                        #[inline(always)]
                        fn least(token: $level, bytes: u8x16<$level>) -> u8x16<$level> {
                            let bytes = bytes.into();
                            let least = _mm_minpos_epu16(_mm_min_epu8(bytes, _mm_srli_epi16::<8>(bytes)));
                            _mm_shuffle_epi8(least, _mm_setzero_si128()).simd_into(token)
                        }
                    );
                    Self::u8s::block_splat(least(self, $fold))
                }

                #[inline(always)]
                fn least_of_blocks(self, $of: Self::i16s) -> (u16, usize) {
                    fearless_simd::kernel!(
                        #[inline(always)]
                        fn least(token: $level, numbers: i16x8<$level>) -> u32 {
                            _mm_cvtsi128_si32(_mm_minpos_epu16(numbers.into())).cast_unsigned()
                        }
                    );
                    let found = least(self, $fold);
                    (found as u16, (found >> 16) as usize)
                }

                #[inline(always)]
                fn combine_bytes(
                    self,
                    (a, b): (Self::u8s, Self::u8s),
                    factor: u8,
                    (low, high): (Self::u8s, Self::u8s),
                ) -> (Self::u16s, Self::u16s) {
                    type Bytes = <$level as Simd>::u8s;
                    type Numbers = <$level as Simd>::u16s;
                    fearless_simd::kernel!(
                        #[inline(always)]
                        fn combine(
                            token: $level,
                            a: Bytes,
                            b: Bytes,
                            factor: u8,
                            low: Bytes,
                            high: Bytes,
                        ) -> (Numbers, Numbers) {
                            let (a, b, low, high) = (a.into(), b.into(), low.into(), high.into());
                            let factor = $splat(factor.cast_signed());
                            let $low_halves = $add($multiply($low_bytes(a, b), factor), $low_bytes(low, high));
                            let $high_halves = $add($multiply($high_bytes(a, b), factor), $high_bytes(low, high));
                            let (first, second) = $order;
                            (first.simd_into(token), second.simd_into(token))
                        }
                    );
                    combine(self, a, b, factor, low, high)
                }
            }
        };
    }

    with_instructions!(
        Sse4_2,
        |of| of,
        [_mm_set1_epi8, _mm_unpacklo_epi8, _mm_unpackhi_epi8, _mm_maddubs_epi16, _mm_add_epi16],
        |low, high| (low, high)
    );
    with_instructions!(
        Avx2,
        |of| {
            let (a, b) = of.split();
            a.min(b)
        },
        [_mm256_set1_epi8, _mm256_unpacklo_epi8, _mm256_unpackhi_epi8, _mm256_maddubs_epi16, _mm256_add_epi16],
        |low, high| (_mm256_permute2x128_si256::<0x20>(low, high), _mm256_permute2x128_si256::<0x31>(low, high))
    );
    with_instructions!(
        Avx512,
        |of| {
            let (a, b) = of.split();
            let (a, b) = a.min(b).split();
            a.min(b)
        },
        [_mm512_set1_epi8, _mm512_unpacklo_epi8, _mm512_unpackhi_epi8, _mm512_maddubs_epi16, _mm512_add_epi16],
        |low, high| {
            let (first, second) =
                (_mm512_setr_epi64(0, 1, 8, 9, 2, 3, 10, 11), _mm512_setr_epi64(4, 5, 12, 13, 6, 7, 14, 15));
            (_mm512_permutex2var_epi64(low, first, high), _mm512_permutex2var_epi64(low, second, high))
        }
    );
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::simd::{SimdLevel, on_level};
    use fastrand::Rng;

    fn check<S: Vector>(simd: S, rng: &mut Rng) {
        let len = <S::u8s as SimdBase<S>>::LEN;
        let bytes = |rng: &mut Rng, largest: u8| -> Vec<u8> { (0..len).map(|_| rng.u8(..=largest)).collect() };
        let register = |bytes: &[u8]| S::u8s::from_slice(simd, bytes);
        let offset = rng.u8(..=200);
        let some: Vec<u8> = bytes(rng, 55).into_iter().map(|byte| byte + offset).collect();
        let least = simd.least(register(&some));
        assert_eq!(least.as_slice(), vec![*some.iter().min().unwrap(); len]);
        let numbers: Vec<i16> = (0..len / 2).map(|i| 64 * rng.i16(0..4) + (i / 8) as i16).collect();
        let found = simd.least_of_blocks(S::i16s::from_slice(simd, &numbers));
        let at = (0..len / 2).min_by_key(|&i| numbers[i]).unwrap();
        assert_eq!(found, (numbers[at] as u16, at % 8), "{numbers:?}");
        let (a, b, low, high) = (bytes(rng, 255), bytes(rng, 255), bytes(rng, 31), bytes(rng, 60));
        let factor = *rng.choice(&[1, 16, 32]).unwrap();
        let combined = simd.combine_bytes((register(&a), register(&b)), factor, (register(&low), register(&high)));
        let all = [combined.0.as_slice(), combined.1.as_slice()].concat();
        for i in 0..len {
            let sum = u16::from(factor) * (u16::from(a[i]) + u16::from(b[i]));
            assert_eq!(all[i], sum + 256 * u16::from(high[i]) + u16::from(low[i]), "lane {i}, factor {factor}");
        }
    }

    #[test]
    fn every_level_matches_plain_loops() {
        let rng = &mut Rng::with_seed(4);
        for level in SimdLevel::all() {
            for _ in 0..50 {
                on_level!(level, simd => check(simd, rng));
            }
        }
    }
}
