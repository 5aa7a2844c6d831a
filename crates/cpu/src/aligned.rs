//! Arrays that start at a cache line, so that a register's worth of values never straddles two.

use super::input::Range;
use crate::console;
use crate::engine::EngineError;
use bytemuck::{Pod, Zeroable};
use std::marker::PhantomData;
use std::ops::{Deref, DerefMut};

/// One cache line.
#[derive(Clone, Copy, Pod, Zeroable)]
#[repr(C, align(64))]
struct Line([u8; 64]);

/// An array of numbers.
pub(super) struct Aligned<T> {
    lines: Vec<Line>,
    len: usize,
    of: PhantomData<T>,
}

impl<T> Default for Aligned<T> {
    fn default() -> Self {
        Self { lines: Vec::new(), len: 0, of: PhantomData }
    }
}

impl<T: Pod> Aligned<T> {
    /// Sets the length. The values are zero or left over from before.
    pub(super) fn resize(&mut self, len: usize) {
        let lines = (len * size_of::<T>()).div_ceil(size_of::<Line>());
        if self.lines.len() / 4 > lines {
            self.lines = Vec::new(); // something much larger was long ago
        }
        if self.lines.len() < lines {
            self.lines.resize(lines, Line([0; 64]));
        }
        self.len = len;
    }

    /// Resizes a volume of images of this size, for which there may be no memory. A volume that is `exact` keeps no room
    /// for larger ones.
    ///
    /// # Errors
    /// The volume does not fit into memory.
    pub(super) fn resize_volume(
        &mut self,
        len: usize,
        (width, height): (usize, usize),
        range: Range,
        exact: bool,
    ) -> Result<(), EngineError> {
        let bytes = len * size_of::<T>();
        let lines = bytes.div_ceil(size_of::<Line>());
        if self.lines.len() < lines || (exact && self.lines.len() > lines) {
            // never two of them: the old values are not needed
            self.lines = Vec::new();
        }
        self.lines.try_reserve_exact(lines.saturating_sub(self.lines.len())).map_err(|_| {
            EngineError::TooLarge(format!(
                "{width}x{height} with {} disparities needs {} for one volume, and there is no such memory: lower \
                 --num-disparities or --scale",
                range.candidates,
                console::bytes(bytes as u64)
            ))
        })?;
        self.resize(len);
        Ok(())
    }

    /// Allocated bytes.
    pub(super) fn bytes(&self) -> usize {
        self.lines.capacity() * size_of::<Line>()
    }
}

impl<T: Pod> Deref for Aligned<T> {
    type Target = [T];
    #[inline(always)]
    fn deref(&self) -> &[T] {
        &bytemuck::cast_slice(&self.lines)[..self.len]
    }
}

impl<T: Pod> DerefMut for Aligned<T> {
    #[inline(always)]
    fn deref_mut(&mut self) -> &mut [T] {
        &mut bytemuck::cast_slice_mut(&mut self.lines)[..self.len]
    }
}
