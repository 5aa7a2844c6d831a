//! Hints about memory. Volumes are far larger than any cache, and each value is written once and read once.

#![allow(unsafe_code, reason = "prefetches and streaming stores have no safe form; each use says why it is sound")]

use fearless_simd::Simd;
use fearless_simd::prelude::*;

/// Asks for the cache line with element `index`, which may lie outside.
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

/// A time in which stores may go past the caches. At its end they have arrived, so that other threads see them like any
/// other store.
pub(super) struct Streams(());

impl Streams {
    #[inline(always)]
    pub(super) fn begin() -> Self {
        Self(())
    }

    /// Stores a register past the caches, where the processor has such a store and the place is aligned for it.
    #[inline(always)]
    #[allow(clippy::unused_self, reason = "it proves that a fence will follow")]
    pub(super) fn store<S: Simd, V: SimdBase<S>>(&self, values: V, to: &mut [V::Element]) {
        #[cfg(target_arch = "x86_64")]
        {
            use std::arch::x86_64::{__m512i, _mm512_stream_si512};
            if size_of::<V>() == size_of::<__m512i>()
                && to.len() >= V::LEN
                && to.as_ptr().cast::<__m512i>().is_aligned()
            {
                // SAFETY: only AVX-512 has vectors of 64 bytes, `V` is one, of integers; the slice has room for it and is
                // aligned. The fence at the end of `self` orders the store.
                unsafe { _mm512_stream_si512(to.as_mut_ptr().cast(), std::mem::transmute_copy(&values)) };
                return;
            }
        }
        values.store_slice(to);
    }
}

impl Drop for Streams {
    #[inline(always)]
    fn drop(&mut self) {
        #[cfg(target_arch = "x86_64")]
        // SAFETY: every x86-64 processor has this fence.
        unsafe {
            std::arch::x86_64::_mm_sfence();
        }
    }
}
