//! Prefetches and streaming stores: volumes are far larger than any cache, and each value is written once and read once. This
//! module keeps `unsafe` behind safe functions; each use states why it is sound.

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

/// Elements of a row that are prefetched ahead: a few blocks.
const AHEAD: usize = 128;

/// Prefetches the elements that a sweep in either direction reads after element `index`: further on in the row, and in the next
/// row at the distance `pitch`.
#[inline(always)]
pub(super) fn prefetch_around<T>(values: &[T], index: usize, pitch: usize) {
    for ahead in [AHEAD, pitch] {
        prefetch(values, index.wrapping_add(ahead));
        prefetch(values, index.wrapping_sub(ahead));
    }
}

/// Scope of streaming stores, which bypass the caches. A fence at its end makes them visible to other threads like any other store.
pub(super) struct Streams(());

impl Streams {
    #[inline(always)]
    pub(super) fn begin() -> Self {
        Self(())
    }

    /// Stores a register past the caches, if the processor has such a store and the destination is aligned for it. The destination
    /// has the register's size.
    #[inline(always)]
    #[allow(clippy::unused_self, reason = "it proves that a fence follows")]
    pub(super) fn store<S: Simd, V: SimdBase<S>>(&self, values: V, to: &mut [V::Element]) {
        // Miri has none of these stores
        #[cfg(all(target_arch = "x86_64", not(miri)))]
        if size_of_val(to) == size_of::<V>() && to.as_ptr().addr().is_multiple_of(size_of::<V>()) {
            use fearless_simd::Level;
            use std::arch::x86_64::{_mm_stream_si128, _mm256_stream_si256, _mm512_stream_si512};
            use std::mem::transmute_copy;
            let place = to.as_mut_ptr();
            // SAFETY: `values` comes with a token of its level, which exists only where the processor has the level's
            // instructions. It is as many bytes of numbers without gaps (a vector is laid out as the array of its elements),
            // which are a register whatever they hold. The destination is borrowed exclusively, has the register's size and is
            // aligned. The fence at the end of `self` comes before another thread can read the destination:
            // `RowTask::run_pass` borrows the row and drops its `Streams` before its caller releases the row or hands it to another
            // thread.
            unsafe {
                match (values.token().level(), size_of::<V>()) {
                    (Level::Avx512(_), 64) => return _mm512_stream_si512(place.cast(), transmute_copy(&values)),
                    (Level::Avx2(_), 32) => return _mm256_stream_si256(place.cast(), transmute_copy(&values)),
                    // smaller registers fill a line one after the other
                    (Level::Sse4_2(_) | Level::Sse2(_), 16) => {
                        return _mm_stream_si128(place.cast(), transmute_copy(&values));
                    }
                    // levels have vectors made of several registers too
                    _ => {}
                }
            }
        }
        values.store_slice(to);
    }
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
    use fearless_simd::{Level, dispatch, u8x16, u8x32, u8x64};

    /// Buffer with room around any destination, aligned to a cache line.
    #[repr(align(64))]
    struct Room([u8; 256]);

    fn stores_at_any_place<S: Simd, V: SimdBase<S, Element = u8>>(simd: S) {
        let numbers: [u8; 64] = std::array::from_fn(|i| i as u8 + 1);
        for at in [0, 1, 16, 32, 63, 64] {
            let mut room = Room([0; 256]);
            let streams = Streams::begin();
            streams.store(V::from_slice(simd, &numbers[..V::LEN]), &mut room.0[at..][..V::LEN]);
            drop(streams);
            let expected: Vec<u8> =
                (0..256).map(|i| if (at..at + V::LEN).contains(&i) { (i - at) as u8 + 1 } else { 0 }).collect();
            assert_eq!(room.0[..], expected, "{} bytes at {at}", V::LEN);
        }
    }

    #[test]
    fn streaming_stores_write_all_bytes_at_any_alignment() {
        let best = Level::new();
        #[cfg(target_arch = "x86_64")]
        let lower = [best.as_avx2().map(Level::Avx2), best.as_sse4_2().map(Level::Sse4_2)];
        #[cfg(not(target_arch = "x86_64"))]
        let lower = [None];
        for level in lower.into_iter().flatten().chain([best, Level::baseline()]) {
            dispatch!(level, simd => {
                stores_at_any_place::<_, u8x16<_>>(simd);
                stores_at_any_place::<_, u8x32<_>>(simd);
                stores_at_any_place::<_, u8x64<_>>(simd);
            });
        }
    }

    #[test]
    fn elements_outside_may_be_prefetched() {
        for index in [0, 3, 4, usize::MAX / 2, usize::MAX] {
            prefetch(&[1_u32, 2, 3, 4], index);
        }
    }
}
