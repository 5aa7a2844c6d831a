//! Images: row-major pixels of any type, and the types for brightness, colour and ground truth.

mod picture;

pub use picture::{Guide, Luma, Picture, PictureRef, Truth, luma_of};

use std::fmt;

/// Row-major image; pixel `(x, y)` is `pixels()[y * width + x]`.
#[derive(Clone, PartialEq, Eq)]
pub struct Image<T> {
    width: usize,
    height: usize,
    pixels: Vec<T>,
}

/// Turn of an image by 90 degrees.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum QuarterTurn {
    /// Counterclockwise: the top row becomes the left column.
    Left,
    /// Clockwise: the left column becomes the top row.
    Right,
}

impl<T> Image<T> {
    /// Wraps `pixels`, row after row from the top.
    ///
    /// # Panics
    /// If `pixels.len()` is not `width * height`; callers check sizes from outside first.
    pub fn new(width: usize, height: usize, pixels: Vec<T>) -> Self {
        assert_eq!(pixels.len(), width * height, "{width}x{height} pixels expected");
        Self { width, height, pixels }
    }

    /// Fills an image with `pixel(x, y)`, row by row.
    pub fn from_fn(width: usize, height: usize, mut pixel: impl FnMut(usize, usize) -> T) -> Self {
        let mut pixels = Vec::with_capacity(width * height);
        for y in 0..height {
            for x in 0..width {
                pixels.push(pixel(x, y));
            }
        }
        Self { width, height, pixels }
    }

    /// Returns the width, px.
    pub fn width(&self) -> usize {
        self.width
    }

    /// Returns the height, px.
    pub fn height(&self) -> usize {
        self.height
    }

    /// Returns `(width, height)`.
    pub fn size(&self) -> (usize, usize) {
        (self.width, self.height)
    }

    /// Returns all pixels, row after row.
    pub fn pixels(&self) -> &[T] {
        &self.pixels
    }

    /// Returns all pixels for change, row after row.
    pub fn pixels_mut(&mut self) -> &mut [T] {
        &mut self.pixels
    }

    /// Returns all pixels by value.
    pub fn into_pixels(self) -> Vec<T> {
        self.pixels
    }

    /// Returns row `y`, from left to right.
    pub fn row(&self, y: usize) -> &[T] {
        &self.pixels[y * self.width..][..self.width]
    }

    /// Returns row `y` for change, from left to right.
    pub fn row_mut(&mut self, y: usize) -> &mut [T] {
        &mut self.pixels[y * self.width..][..self.width]
    }

    /// Returns the mirrored image: left and right swapped.
    #[must_use]
    pub fn mirrored(&self) -> Self
    where
        T: Clone,
    {
        let rows = (0..self.height).map(|y| self.row(y).iter().rev().cloned());
        Self { pixels: rows.flatten().collect(), ..*self }
    }

    /// Converts each pixel.
    pub fn map<U>(&self, convert: impl FnMut(&T) -> U) -> Image<U> {
        Image { width: self.width, height: self.height, pixels: self.pixels.iter().map(convert).collect() }
    }
}

impl<T: Copy> Image<T> {
    /// Returns an image of equal pixels.
    pub fn filled(width: usize, height: usize, value: T) -> Self {
        Self { width, height, pixels: vec![value; width * height] }
    }

    /// Returns the image after a quarter turn.
    #[must_use]
    pub fn turned(&self, turn: QuarterTurn) -> Self {
        let (last_x, last_y) = (self.width.wrapping_sub(1), self.height.wrapping_sub(1));
        Self::from_fn(self.height, self.width, |x, y| match turn {
            QuarterTurn::Left => self.at(last_x - y, x),
            QuarterTurn::Right => self.at(y, last_y - x),
        })
    }

    /// Returns pixel `(x, y)`, which must lie inside.
    pub fn at(&self, x: usize, y: usize) -> T {
        self.pixels[y * self.width + x]
    }

    /// Sets pixel `(x, y)`, which must lie inside.
    pub fn set(&mut self, x: usize, y: usize, value: T) {
        self.pixels[y * self.width + x] = value;
    }

    /// Returns pixel `(x, y)` with each coordinate clamped into the image, the border rule of every window here.
    pub fn at_clamped(&self, x: isize, y: isize) -> T {
        let x = x.clamp(0, self.width as isize - 1) as usize;
        let y = y.clamp(0, self.height as isize - 1) as usize;
        self.at(x, y)
    }

    /// Returns pixel `(x, y)`, or `None` outside.
    pub fn get(&self, x: isize, y: isize) -> Option<T> {
        let inside = x >= 0 && y >= 0 && (x as usize) < self.width && (y as usize) < self.height;
        inside.then(|| self.at(x as usize, y as usize))
    }
}

impl<T> fmt::Debug for Image<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Image {}x{}", self.width, self.height)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn left_turn_moves_the_top_row_to_the_left_column() {
        let image = Image::new(3, 2, vec![1, 2, 3, 4, 5, 6]);
        assert_eq!(image.turned(QuarterTurn::Left), Image::new(2, 3, vec![3, 6, 2, 5, 1, 4]));
        for image in [image, Image::new(1, 3, vec![1, 2, 3]), Image::new(0, 0, vec![])] {
            assert_eq!(image.turned(QuarterTurn::Left).turned(QuarterTurn::Right), image);
        }
    }
}
