//! Pyramid of smoothed images at full, half, quarter, ... size.

use stereopsis_base::image::{Image, Luma};

/// Pixels in 1/16 grey level of 8 bits, so that smoothing loses nothing.
pub(super) type SmoothedImage = Image<i16>;

#[derive(Debug)]
pub(super) struct Pyramid {
    levels: Vec<SmoothedImage>,
}

/// Smallest width and height of a level that is halved, px.
const MIN_SIDE: usize = 24;

impl Pyramid {
    pub(super) fn new(luma: &Luma) -> Self {
        let mut levels = vec![match luma {
            Luma::U8(image) => smooth(image),
            Luma::U16 { .. } => smooth(&luma.to_u8()),
        }];
        while let Some(last) = levels.last().filter(|l| l.width() >= 2 * MIN_SIDE && l.height() >= 2 * MIN_SIDE) {
            let half = half(last);
            levels.push(half);
        }
        Self { levels }
    }

    /// Returns level `k`, `2^k` times smaller than the image, or the smallest existing one.
    pub(super) fn level(&self, k: usize) -> &SmoothedImage {
        &self.levels[k.min(self.levels.len() - 1)]
    }

    /// Returns the index of the largest level that is at most `width` wide.
    pub(super) fn level_at_most(&self, width: usize) -> usize {
        self.levels.iter().position(|level| level.width() <= width).unwrap_or(self.levels.len() - 1)
    }

    /// Returns the index of the level two halvings below `k`, or of the smallest one.
    pub(super) fn context_of(&self, k: usize) -> usize {
        (k + 2).min(self.levels.len() - 1)
    }
}

/// Smooths by the binomial filter 1 2 1 along x and y, not divided by its sum of 16.
fn smooth(image: &Image<u8>) -> SmoothedImage {
    let (width, height) = image.size();
    let mut columns = vec![0i16; width];
    let mut out = Vec::with_capacity(width * height);
    for y in 0..height {
        let (above, below) = (image.row(y.saturating_sub(1)), image.row((y + 1).min(height - 1)));
        for (((sum, &a), &b), &c) in columns.iter_mut().zip(above).zip(image.row(y)).zip(below) {
            *sum = i16::from(a) + 2 * i16::from(b) + i16::from(c);
        }
        out.push(3 * columns[0] + columns[1]);
        out.extend(columns.windows(3).map(|w| w[0] + 2 * w[1] + w[2]));
        out.push(3 * columns[width - 1] + columns[width - 2]);
    }
    Image::new(width, height, out)
}

fn half(image: &SmoothedImage) -> SmoothedImage {
    let (width, height) = (image.width() / 2, image.height() / 2);
    let mut out = Vec::with_capacity(width * height);
    for y in 0..height {
        let (upper, lower) = (image.row(2 * y).chunks_exact(2), image.row(2 * y + 1).chunks_exact(2));
        out.extend(upper.zip(lower).map(|(u, l)| (u[0] + u[1] + l[0] + l[1] + 2) >> 2));
    }
    Image::new(width, height, out)
}
