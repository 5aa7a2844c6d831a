//! A value for every pixel and candidate disparity.

/// Pixel `(x, y)`, candidate `i` is `data[(y * width + x) * candidates + i]`; candidate `i` is `min_disparity + i` px.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Volume<T> {
    /// Columns of the left picture.
    pub width: usize,
    /// Rows of the left picture.
    pub height: usize,
    /// Candidates per pixel.
    pub candidates: usize,
    /// All values.
    pub data: Vec<T>,
}

impl<T: Copy + Default> Volume<T> {
    /// All zero.
    pub fn zero(width: usize, height: usize, candidates: usize) -> Self {
        Self { width, height, candidates, data: vec![T::default(); width * height * candidates] }
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

    /// Every value converted.
    pub fn map<U>(&self, convert: impl FnMut(&T) -> U) -> Volume<U> {
        let data = self.data.iter().map(convert).collect();
        Volume { width: self.width, height: self.height, candidates: self.candidates, data }
    }
}
