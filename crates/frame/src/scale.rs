//! Reduction to a working size: each pixel is the mean of a box, and ground truth and geometry are scaled too.

#![allow(
    clippy::inline_always,
    reason = "what is not inlined is not compiled for the vector instructions that are there"
)]

use fearless_simd::{Level, dispatch};
use stereopsis_base::image::{Image, Luma, Picture, Truth};
use stereopsis_base::parameter::choices;

choices! {
    /// Working size as a fraction of the source's size.
    pub enum Scale, default One {
        /// The source's size.
        One = "1",
        /// Half the width and height: about eight times as fast.
        Half = "1/2",
        /// A quarter of the width and height: for previews and slow machines.
        Quarter = "1/4",
    }
}

impl Scale {
    /// Returns the number of source pixels along one side of a box.
    pub fn divisor(self) -> usize {
        match self {
            Self::One => 1,
            Self::Half => 2,
            Self::Quarter => 4,
        }
    }

    /// Returns the ratio of working size to source size.
    pub fn factor(self) -> f64 {
        1.0 / self.divisor() as f64
    }

    /// Returns the working size of an image of this size; never below 1x1.
    pub fn size(self, (width, height): (usize, usize)) -> (usize, usize) {
        ((width / self.divisor()).max(1), (height / self.divisor()).max(1))
    }

    /// Reduces an image to working size: rounded means of boxes; columns and rows that do not fill a box are omitted.
    #[must_use]
    pub fn picture(self, picture: &Picture) -> Picture {
        let n = self.divisor();
        if n == 1 {
            return picture.clone();
        }
        let luma = match &picture.luma {
            Luma::U8(image) => Luma::U8(mean_of_boxes(image, n, |&v| [u32::from(v)], |[v]| v as u8)),
            Luma::U16 { image, bits } => {
                Luma::U16 { image: mean_of_boxes(image, n, |&v| [u32::from(v)], |[v]| v as u16), bits: *bits }
            }
        };
        let rgb = picture.rgb.as_ref();
        let rgb = rgb.map(|image| mean_of_boxes(image, n, |v| v.map(u32::from), |v| v.map(|c| c as u8)));
        Picture { luma, rgb }
    }

    /// Reduces ground truth to working size: the value of the pixel nearest to each box's centre, in pixels of the working size.
    #[must_use]
    pub fn truth(self, truth: &Truth) -> Truth {
        let factor = self.factor() as f32;
        Truth {
            left_px: self.nearest(&truth.left_px).map(|d| d * factor),
            right_px: truth.right_px.as_ref().map(|right_px| self.nearest(right_px).map(|d| d * factor)),
            occluded: truth.occluded.as_ref().map(|occluded| self.nearest(occluded)),
            scale: truth.scale,
        }
    }

    fn nearest<T: Copy>(self, image: &Image<T>) -> Image<T> {
        let n = self.divisor();
        let (width, height) = self.size(image.size());
        let pick = |at: usize, len: usize| (at * n + n / 2).min(len - 1);
        Image::from_fn(width, height, |x, y| image.at(pick(x, image.width()), pick(y, image.height())))
    }
}

fn mean_of_boxes<P, Q, const N: usize>(
    image: &Image<P>,
    side: usize,
    read: impl Fn(&P) -> [u32; N],
    write: impl Fn([u32; N]) -> Q,
) -> Image<Q> {
    let boxes = (side.min(image.width()), side.min(image.height()));
    // loops of a known length become vector instructions
    dispatch!(Level::new(), _ => match boxes {
        (2, 2) => mean_of(image, side, (2, 2), &read, &write),
        (4, 4) => mean_of(image, side, (4, 4), &read, &write),
        _ => mean_of(image, side, boxes, &read, &write),
    })
}

#[inline(always)]
fn mean_of<P, Q, const N: usize>(
    image: &Image<P>,
    side: usize,
    (across, down): (usize, usize),
    read: impl Fn(&P) -> [u32; N],
    write: impl Fn([u32; N]) -> Q,
) -> Image<Q> {
    let (width, height) = ((image.width() / side).max(1), (image.height() / side).max(1));
    let count = (across * down) as u32;
    let mut pixels = Vec::with_capacity(width * height);
    let mut sums = vec![[0_u32; N]; width];
    for y in 0..height {
        sums.fill([0; N]);
        for row in 0..down {
            let row = image.row(y * side + row);
            for (sum, part) in sums.iter_mut().zip(row.chunks_exact(across)) {
                for pixel in part {
                    let value = read(pixel);
                    for (s, v) in sum.iter_mut().zip(value) {
                        *s += v;
                    }
                }
            }
        }
        pixels.extend(sums.iter().map(|sum| write(sum.map(|s| (s + count / 2) / count))));
    }
    Image::new(width, height, pixels)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn luma_and_colour_are_rounded_means_and_the_rest_is_cut_off() {
        let luma = Image::new(5, 3, vec![1, 2, 10, 20, 99, 3, 5, 30, 41, 99, 7, 7, 7, 7, 7]);
        let rgb = luma.map(|&v: &u8| [v, 0, 255]);
        let small = Scale::Half.picture(&Picture { luma: Luma::U8(luma), rgb: Some(rgb) });
        assert_eq!(small.luma, Luma::U8(Image::new(2, 1, vec![3, 25])));
        assert_eq!(small.rgb.unwrap().pixels(), [[3, 0, 255], [25, 0, 255]]);
    }

    #[test]
    fn sixteen_bits_stay_sixteen_bits() {
        let luma = Luma::U16 { image: Image::filled(8, 8, 60_001), bits: 16 };
        let small = Scale::Quarter.picture(&Picture { luma, rgb: None });
        assert_eq!(small.luma, Luma::U16 { image: Image::filled(2, 2, 60_001), bits: 16 });
    }

    #[test]
    fn an_image_smaller_than_a_box_becomes_one_pixel() {
        let picture = Picture { luma: Luma::U8(Image::new(1, 3, vec![10, 20, 30])), rgb: None };
        assert_eq!(Scale::Quarter.picture(&picture).luma, Luma::U8(Image::new(1, 1, vec![20])));
        assert_eq!(Scale::Quarter.size((1, 3)), (1, 1));
    }

    #[test]
    fn truth_is_counted_in_working_pixels() {
        let left_px = Image::from_fn(8, 8, |x, _| if x < 4 { 12.0 } else { f32::NAN });
        let occluded = Some(left_px.map(|d| d.is_nan()));
        let truth = Truth { right_px: Some(left_px.clone()), occluded, left_px, scale: None };
        let small = Scale::Quarter.truth(&truth);
        assert!((small.left_px.at(0, 1) - 3.0).abs() < 1e-6);
        assert!(small.left_px.at(1, 1).is_nan() && small.is_occluded(1, 1) && !small.is_occluded(0, 0));
    }
}
