//! Operations for which processors have instructions that [`fearless_simd`] has no name for.

use fearless_simd::Simd;
use fearless_simd::prelude::*;

/// A level of vector instructions, with the operations of the innermost loops.
pub(super) trait Vector: Simd {
    /// The smallest byte, in all lanes.
    #[inline(always)]
    fn least(self, bytes: Self::u8s) -> Self::u8s {
        Self::u8s::splat(self, bytes.reduce_min())
    }

    /// The smallest of numbers below 2^15 and its first lane, counted within its block of eight; those of other blocks are larger.
    #[inline(always)]
    fn least_of_blocks(self, numbers: Self::i16s) -> (u16, usize) {
        let least = numbers.reduce_min();
        let lane = numbers.simd_eq(Self::i16s::splat(self, least)).to_bitmask().trailing_zeros() as usize;
        (least as u16, lane % 8)
    }

    /// `factor * (a + b) + 256 * high + low` for each lane; the result is below 2^15.
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
    use super::Vector;
    use fearless_simd::prelude::*;
    use fearless_simd::x86::{Avx2, Avx512, Sse2, Sse4_2};
    use fearless_simd::{i16x8, i16x16, i16x32, u8x16, u8x32, u8x64, u16x8, u16x16, u16x32};
    use std::arch::x86_64::*;

    /// Smallest of sixteen bytes, in byte 0 of the result.
    macro_rules! least_of_sixteen {
        ($bytes:expr) => {{
            let bytes = $bytes;
            _mm_minpos_epu16(_mm_min_epu8(bytes, _mm_srli_epi16::<8>(bytes)))
        }};
    }

    fearless_simd::kernel!(
        #[inline(always)]
        fn least_16(token: Sse4_2, bytes: u8x16<Sse4_2>) -> u8x16<Sse4_2> {
            _mm_shuffle_epi8(least_of_sixteen!(bytes.into()), _mm_setzero_si128()).simd_into(token)
        }
    );

    fearless_simd::kernel!(
        #[inline(always)]
        fn least_32(token: Avx2, bytes: u8x32<Avx2>) -> u8x32<Avx2> {
            let bytes = bytes.into();
            let folded = _mm_min_epu8(_mm256_castsi256_si128(bytes), _mm256_extracti128_si256::<1>(bytes));
            _mm256_broadcastb_epi8(least_of_sixteen!(folded)).simd_into(token)
        }
    );

    fearless_simd::kernel!(
        #[inline(always)]
        fn least_64(token: Avx512, bytes: u8x64<Avx512>) -> u8x64<Avx512> {
            let bytes = bytes.into();
            let folded = _mm256_min_epu8(_mm512_castsi512_si256(bytes), _mm512_extracti64x4_epi64::<1>(bytes));
            let folded = _mm_min_epu8(_mm256_castsi256_si128(folded), _mm256_extracti128_si256::<1>(folded));
            _mm512_broadcastb_epi8(least_of_sixteen!(folded)).simd_into(token)
        }
    );

    /// What the instruction for the smallest of eight numbers and its place gives.
    macro_rules! number_and_lane {
        ($numbers:expr) => {{
            let found = _mm_cvtsi128_si32(_mm_minpos_epu16($numbers)).cast_unsigned();
            (found as u16, (found >> 16) as usize)
        }};
    }

    fearless_simd::kernel!(
        #[inline(always)]
        fn least_of_8(token: Sse4_2, numbers: i16x8<Sse4_2>) -> (u16, usize) {
            number_and_lane!(numbers.into())
        }
    );

    fearless_simd::kernel!(
        #[inline(always)]
        fn least_of_16(token: Avx2, numbers: i16x16<Avx2>) -> (u16, usize) {
            let numbers = numbers.into();
            number_and_lane!(_mm_min_epi16(_mm256_castsi256_si128(numbers), _mm256_extracti128_si256::<1>(numbers)))
        }
    );

    fearless_simd::kernel!(
        #[inline(always)]
        fn least_of_32(token: Avx512, numbers: i16x32<Avx512>) -> (u16, usize) {
            let numbers = numbers.into();
            let folded = _mm256_min_epi16(_mm512_castsi512_si256(numbers), _mm512_extracti64x4_epi64::<1>(numbers));
            number_and_lane!(_mm_min_epi16(_mm256_castsi256_si128(folded), _mm256_extracti128_si256::<1>(folded)))
        }
    );

    fearless_simd::kernel!(
        #[inline(always)]
        fn combine_16(
            token: Sse4_2,
            a: u8x16<Sse4_2>,
            b: u8x16<Sse4_2>,
            factor: u8,
            low: u8x16<Sse4_2>,
            high: u8x16<Sse4_2>,
        ) -> (u16x8<Sse4_2>, u16x8<Sse4_2>) {
            let (a, b, low, high) = (a.into(), b.into(), low.into(), high.into());
            let factor = _mm_set1_epi8(factor.cast_signed());
            let first = _mm_maddubs_epi16(_mm_unpacklo_epi8(a, b), factor);
            let second = _mm_maddubs_epi16(_mm_unpackhi_epi8(a, b), factor);
            (
                _mm_add_epi16(first, _mm_unpacklo_epi8(low, high)).simd_into(token),
                _mm_add_epi16(second, _mm_unpackhi_epi8(low, high)).simd_into(token),
            )
        }
    );

    fearless_simd::kernel!(
        #[inline(always)]
        fn combine_32(
            token: Avx2,
            a: u8x32<Avx2>,
            b: u8x32<Avx2>,
            factor: u8,
            low: u8x32<Avx2>,
            high: u8x32<Avx2>,
        ) -> (u16x16<Avx2>, u16x16<Avx2>) {
            let (a, b, low, high) = (a.into(), b.into(), low.into(), high.into());
            let factor = _mm256_set1_epi8(factor.cast_signed());
            let even = _mm256_maddubs_epi16(_mm256_unpacklo_epi8(a, b), factor);
            let odd = _mm256_maddubs_epi16(_mm256_unpackhi_epi8(a, b), factor);
            let even = _mm256_add_epi16(even, _mm256_unpacklo_epi8(low, high));
            let odd = _mm256_add_epi16(odd, _mm256_unpackhi_epi8(low, high));
            // blocks of 16 bytes were unpacked on their own
            (
                _mm256_permute2x128_si256::<0x20>(even, odd).simd_into(token),
                _mm256_permute2x128_si256::<0x31>(even, odd).simd_into(token),
            )
        }
    );

    fearless_simd::kernel!(
        #[inline(always)]
        fn combine_64(
            token: Avx512,
            a: u8x64<Avx512>,
            b: u8x64<Avx512>,
            factor: u8,
            low: u8x64<Avx512>,
            high: u8x64<Avx512>,
        ) -> (u16x32<Avx512>, u16x32<Avx512>) {
            let (a, b, low, high) = (a.into(), b.into(), low.into(), high.into());
            let factor = _mm512_set1_epi8(factor.cast_signed());
            let even = _mm512_maddubs_epi16(_mm512_unpacklo_epi8(a, b), factor);
            let odd = _mm512_maddubs_epi16(_mm512_unpackhi_epi8(a, b), factor);
            let even = _mm512_add_epi16(even, _mm512_unpacklo_epi8(low, high));
            let odd = _mm512_add_epi16(odd, _mm512_unpackhi_epi8(low, high));
            let first = _mm512_setr_epi64(0, 1, 8, 9, 2, 3, 10, 11);
            let second = _mm512_setr_epi64(4, 5, 12, 13, 6, 7, 14, 15);
            (
                _mm512_permutex2var_epi64(even, first, odd).simd_into(token),
                _mm512_permutex2var_epi64(even, second, odd).simd_into(token),
            )
        }
    );

    impl Vector for Sse2 {}

    macro_rules! with_instructions {
        ($level:ident, $least:ident, $least_of_blocks:ident, $combine:ident) => {
            impl Vector for $level {
                #[inline(always)]
                fn least(self, bytes: Self::u8s) -> Self::u8s {
                    $least(self, bytes)
                }

                #[inline(always)]
                fn least_of_blocks(self, numbers: Self::i16s) -> (u16, usize) {
                    $least_of_blocks(self, numbers)
                }

                #[inline(always)]
                fn combine_bytes(
                    self,
                    (a, b): (Self::u8s, Self::u8s),
                    factor: u8,
                    (low, high): (Self::u8s, Self::u8s),
                ) -> (Self::u16s, Self::u16s) {
                    $combine(self, a, b, factor, low, high)
                }
            }
        };
    }
    with_instructions!(Sse4_2, least_16, least_of_8, combine_16);
    with_instructions!(Avx2, least_32, least_of_16, combine_32);
    with_instructions!(Avx512, least_64, least_of_32, combine_64);
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
        let combined =
            simd.combine_bytes((register(&a), register(&b)), factor, (register(&low), register(&high)));
        let all = [combined.0.as_slice(), combined.1.as_slice()].concat();
        for i in 0..len {
            let sum = u16::from(factor) * (u16::from(a[i]) + u16::from(b[i]));
            assert_eq!(all[i], sum + 256 * u16::from(high[i]) + u16::from(low[i]), "lane {i}, factor {factor}");
        }
    }

    #[test]
    fn every_level_computes_the_same() {
        let rng = &mut Rng::with_seed(4);
        for level in SimdLevel::all() {
            for _ in 0..50 {
                on_level!(level, simd => check(simd, rng));
            }
        }
    }
}
