//! A value for every pixel and candidate disparity.

use super::gating::{Gate, Gates};

/// Pixel `(x, y)`, candidate `i` is `data[(y * width + x) * candidates + i]`; candidate `i` is `min_disparity + i` px.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Volume<T> {
    /// Columns of the left image.
    pub width: usize,
    /// Rows of the left image.
    pub height: usize,
    /// Candidates per pixel.
    pub candidates: usize,
    /// All values; those of missing candidates are undefined.
    pub data: Vec<T>,
    /// Candidates of each pixel that exist; without gates all of them.
    pub gates: Option<Gates>,
}

impl<T: Copy + Default> Volume<T> {
    /// All zero.
    pub fn zero(width: usize, height: usize, candidates: usize) -> Self {
        Self { width, height, candidates, data: vec![T::default(); width * height * candidates], gates: None }
    }

    /// All zero, with the size and the gates of `other`.
    pub fn like<U>(other: &Volume<U>) -> Self {
        let zero = Self::zero(other.width, other.height, other.candidates);
        Self { gates: other.gates.clone(), ..zero }
    }

    /// Calls `value(x, y, i)` for every pixel and candidate.
    pub fn from_fn(
        width: usize,
        height: usize,
        candidates: usize,
        mut value: impl FnMut(usize, usize, usize) -> T,
    ) -> Self {
        let mut volume = Self::zero(width, height, candidates);
        for y in 0..height {
            for x in 0..width {
                for (i, slot) in volume.at_mut(x, y).iter_mut().enumerate() {
                    *slot = value(x, y, i);
                }
            }
        }
        volume
    }

    /// The candidates of pixel `(x, y)`.
    pub fn at(&self, x: usize, y: usize) -> &[T] {
        &self.data[(y * self.width + x) * self.candidates..][..self.candidates]
    }

    /// The candidates of pixel `(x, y)`.
    pub fn at_mut(&mut self, x: usize, y: usize) -> &mut [T] {
        &mut self.data[(y * self.width + x) * self.candidates..][..self.candidates]
    }

    /// Which candidates of pixel `(x, y)` exist.
    pub fn gate(&self, x: usize, y: usize) -> Gate {
        self.gates.as_ref().map_or_else(|| Gate::whole(self.candidates), |gates| gates.at(x, y))
    }

    /// The candidates of pixel `(x, y)` that exist; the first of them is number `gate(x, y).first`.
    pub fn existing(&self, x: usize, y: usize) -> &[T] {
        &self.at(x, y)[self.gate(x, y).range()]
    }

    /// Every value converted.
    pub fn map<U>(&self, convert: impl FnMut(&T) -> U) -> Volume<U> {
        let data = self.data.iter().map(convert).collect();
        let Self { width, height, candidates, ref gates, .. } = *self;
        Volume { width, height, candidates, data, gates: gates.clone() }
    }
}
