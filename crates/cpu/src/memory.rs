//! Prefetches and streaming stores: volumes are far larger than any cache, and each value is written once and read once.

#![allow(unsafe_code, reason = "prefetches and streaming stores have no safe form; each use says why it is sound")]

use fearless_simd::Simd;
use fearless_simd::prelude::*;

/// Prefetches the cache line of element `index`, which may lie outside.
#[inline(always)]
pub(super) fn prefetch<T>(values: &[T], index: usize) {
    #[cfg(target_arch = "x86_64")]
    {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        // SAFETY: a prefetch of any address, valid or not, has no effect but on the cache.
        unsafe { _mm_prefetch::<_MM_HINT_T0>(values.as_ptr().wrapping_add(index).cast()) };
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = (values, index);
}

/// Scope of streaming stores, which go past the caches. A fence at its end makes them visible to other threads like any other
/// store.
pub(super) struct Streams(());

impl Streams {
    #[inline(always)]
    pub(super) fn begin() -> Self {
        Self(())
    }

    /// Stores a register past the caches, if the processor has such a store and the destination is aligned for it. The
    /// destination has the register's size.
    #[inline(always)]
    #[allow(clippy::unused_self, reason = "it proves that a fence follows")]
    pub(super) fn store<S: Simd, V: SimdBase<S>>(&self, values: V, to: &mut [V::Element]) {
        #[cfg(target_arch = "x86_64")]
        {
            use std::arch::x86_64::{__m512i, _mm512_stream_si512};
            if has_wide_stores(values)
                && size_of_val(to) == size_of::<__m512i>()
                && to.as_ptr().cast::<__m512i>().is_aligned()
            {
                // SAFETY: `values` comes with a token of AVX-512, which exists only where the processor has it. It is 64
                // bytes of numbers without gaps (a vector is laid out as the array of its elements), which are an
                // `__m512i` whatever they hold. The destination is borrowed exclusively, has 64 bytes and is aligned. The fence
                // at the end of `self` comes before another thread can read the destination: `sweep::run_pass` borrows the
                // row and drops its `Streams` before its caller releases the row.
                unsafe { _mm512_stream_si512(to.as_mut_ptr().cast(), std::mem::transmute_copy(&values)) };
                return;
            }
        }
        values.store_slice(to);
    }
}

/// Whether these are a register of AVX-512. Levels without it have vectors of 64 bytes too, made of smaller registers, so the
/// size says nothing of the processor.
#[cfg(target_arch = "x86_64")]
#[inline(always)]
fn has_wide_stores<S: Simd, V: SimdBase<S>>(values: V) -> bool {
    size_of::<V>() == 64 && matches!(values.token().level(), fearless_simd::Level::Avx512(_))
}

impl Drop for Streams {
    #[inline(always)]
    fn drop(&mut self) {
        // Miri has neither the wide stores nor the fence
        #[cfg(all(target_arch = "x86_64", not(miri)))]
        // SAFETY: every x86-64 processor has this fence.
        unsafe {
            std::arch::x86_64::_mm_sfence();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fearless_simd::{Level, dispatch, u8x64};

    /// A place with room around it, at any distance from a cache line.
    #[repr(align(64))]
    struct Room([u8; 256]);

    fn stores_at_any_place<S: Simd>(simd: S) {
        let numbers: [u8; 64] = std::array::from_fn(|i| i as u8 + 1);
        for at in [0, 1, 32, 63, 64] {
            let mut room = Room([0; 256]);
            let streams = Streams::begin();
            streams.store(u8x64::from_slice(simd, &numbers), &mut room.0[at..][..64]);
            drop(streams);
            let expected: Vec<u8> =
                (0..256).map(|i| if (at..at + 64).contains(&i) { (i - at) as u8 + 1 } else { 0 }).collect();
            assert_eq!(room.0[..], expected, "at {at}");
        }
    }

    #[test]
    fn a_register_arrives_wherever_it_goes_at_every_level() {
        dispatch!(Level::new(), simd => stores_at_any_place(simd));
        dispatch!(Level::baseline(), simd => stores_at_any_place(simd));
    }

    #[cfg(target_arch = "x86_64")]
    #[test]
    fn only_the_level_says_whether_the_processor_has_wide_stores() {
        let level = Level::new();
        let small = level.as_sse2().unwrap();
        assert_eq!(size_of_val(&u8x64::splat(small, 1)), 64, "it is made of four registers");
        assert!(!has_wide_stores(u8x64::splat(small, 1)));
        if let Some(avx2) = level.as_avx2() {
            assert!(!has_wide_stores(u8x64::splat(avx2, 1)));
        }
        if let Some(avx512) = level.as_avx512() {
            assert!(has_wide_stores(u8x64::splat(avx512, 1)));
            assert!(!has_wide_stores(fearless_simd::u8x16::splat(avx512, 1)));
        }
    }

    #[test]
    fn elements_outside_may_be_prefetched() {
        for index in [0, 3, 4, usize::MAX / 2, usize::MAX] {
            prefetch(&[1_u32, 2, 3, 4], index);
        }
    }
}
