//! Growable arrays that start at a cache line, so that no register of values straddles two lines.

use super::error::CpuError;
use super::input::Range;
use bytemuck::{Pod, Zeroable};
use std::marker::PhantomData;
use std::ops::{Deref, DerefMut};
use stereopsis_frame::engine::EngineError;

#[derive(Clone, Copy, Pod, Zeroable)]
#[repr(C, align(64))]
struct Line([u8; 64]);

/// Array of numbers, aligned to cache lines.
pub(super) struct AlignedArray<T> {
    lines: Vec<Line>,
    len: usize,
    of: PhantomData<T>,
}

impl<T> Default for AlignedArray<T> {
    fn default() -> Self {
        Self { lines: Vec::new(), len: 0, of: PhantomData }
    }
}

impl<T: Pod> AlignedArray<T> {
    /// Sets the length. Values are zero or left over from earlier use.
    pub(super) fn resize(&mut self, len: usize) {
        let lines = (len * size_of::<T>()).div_ceil(size_of::<Line>());
        if self.lines.len() / 4 > lines {
            self.lines = Vec::new(); // frees what a much larger size needed
        }
        if self.lines.len() < lines {
            self.lines.resize(lines, Line([0; 64]));
        }
        self.len = len;
    }

    /// Sets the length of a volume for images of this size. An `exact` volume keeps no room for larger ones.
    ///
    /// # Errors
    /// The volume does not fit into memory.
    pub(super) fn resize_volume(
        &mut self,
        len: usize,
        size: (usize, usize),
        range: Range,
        exact: bool,
    ) -> Result<(), EngineError> {
        let bytes = len * size_of::<T>();
        let lines = bytes.div_ceil(size_of::<Line>());
        if self.lines.len() < lines || (exact && self.lines.len() > lines) {
            // frees first, so that two volumes never exist at a time: the old values are not needed
            self.lines = Vec::new();
        }
        self.lines.try_reserve_exact(lines.saturating_sub(self.lines.len())).map_err(|_| {
            let num_disparities = range.candidates;
            EngineError::TooLarge(CpuError::Volume { size, num_disparities, bytes: bytes as u64 }.into())
        })?;
        self.resize(len);
        Ok(())
    }

    pub(super) fn bytes(&self) -> usize {
        self.lines.capacity() * size_of::<Line>()
    }
}

impl<T: Pod> Deref for AlignedArray<T> {
    type Target = [T];
    #[inline(always)]
    fn deref(&self) -> &[T] {
        &bytemuck::cast_slice(&self.lines)[..self.len]
    }
}

impl<T: Pod> DerefMut for AlignedArray<T> {
    #[inline(always)]
    fn deref_mut(&mut self) -> &mut [T] {
        &mut bytemuck::cast_slice_mut(&mut self.lines)[..self.len]
    }
}
