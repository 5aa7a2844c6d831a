//! A value for every pixel and candidate disparity.

use super::gating::{Gate, Gates};

/// Value for every pixel and candidate: that of pixel `(x, y)` at `min_disparity + i` px is
/// `data[(y * width + x) * candidates + i]`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Volume<T> {
    /// Number of columns of the left image.
    pub width: usize,
    /// Number of rows of the left image.
    pub height: usize,
    /// Number of candidates per pixel.
    pub candidates: usize,
    /// Values of all candidates; undefined for missing ones.
    pub data: Vec<T>,
    /// Existing candidates of each pixel; `None` if all exist.
    pub gates: Option<Gates>,
}

impl<T: Copy + Default> Volume<T> {
    /// Returns a volume of zeros.
    pub fn zero(width: usize, height: usize, candidates: usize) -> Self {
        Self { width, height, candidates, data: vec![T::default(); width * height * candidates], gates: None }
    }

    /// Returns a volume of zeros with the size and the gates of `other`.
    pub fn like<U>(other: &Volume<U>) -> Self {
        let zero = Self::zero(other.width, other.height, other.candidates);
        Self { gates: other.gates.clone(), ..zero }
    }

    /// Fills a volume with `value(x, y, i)` for every pixel and candidate.
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

    /// Returns the values of pixel `(x, y)`.
    pub fn at(&self, x: usize, y: usize) -> &[T] {
        &self.data[(y * self.width + x) * self.candidates..][..self.candidates]
    }

    /// Returns the values of pixel `(x, y)` for change.
    pub fn at_mut(&mut self, x: usize, y: usize) -> &mut [T] {
        &mut self.data[(y * self.width + x) * self.candidates..][..self.candidates]
    }

    /// Returns the gate of pixel `(x, y)`.
    pub fn gate(&self, x: usize, y: usize) -> Gate {
        self.gates.as_ref().map_or_else(|| Gate::whole(self.candidates), |gates| gates.at(x, y))
    }

    /// Returns the values of the existing candidates of pixel `(x, y)`; the first of them is number `gate(x, y).first`.
    pub fn existing(&self, x: usize, y: usize) -> &[T] {
        &self.at(x, y)[self.gate(x, y).range()]
    }

    /// Converts every value.
    pub fn map<U>(&self, convert: impl FnMut(&T) -> U) -> Volume<U> {
        let data = self.data.iter().map(convert).collect();
        let Self { width, height, candidates, ref gates, .. } = *self;
        Volume { width, height, candidates, data, gates: gates.clone() }
    }
}
