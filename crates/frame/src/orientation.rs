//! Turn of images in place, according to the mounting of the camera.

use super::Orientation;
use stereopsis_base::image::{Image, Luma, Picture};

impl Orientation {
    /// Turns the whole image, including both views of a side-by-side image.
    pub fn turn(self, picture: &mut Picture) {
        match &mut picture.luma {
            Luma::U8(image) => self.turn_image(image),
            Luma::U16 { image, .. } => self.turn_image(image),
        }
        if let Some(rgb) = &mut picture.rgb {
            self.turn_image(rgb);
        }
    }

    fn turn_image<T>(self, image: &mut Image<T>) {
        let (width, height) = image.size();
        match self {
            Self::Upright => {}
            Self::HalfTurn => image.pixels_mut().reverse(),
            Self::FlipX => (0..height).for_each(|y| image.row_mut(y).reverse()),
            Self::FlipY => {
                let (above, below) = image.pixels_mut().split_at_mut(height / 2 * width);
                let rows = below.rchunks_exact_mut(width.max(1));
                above.chunks_exact_mut(width.max(1)).zip(rows).for_each(|(a, b)| a.swap_with_slice(b));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_way_to_turn_moves_the_corners() {
        for (width, height) in [(3, 2), (2, 3), (3, 3), (1, 1), (4, 1)] {
            let image = Image::from_fn(width, height, |x, y| (10 * y + x) as u8);
            let at = |x, y| image.at(x, y);
            for &orientation in Orientation::ALL {
                let rgb = Some(image.map(|&v| [v; 3]));
                let mut picture = Picture { luma: Luma::U8(image.clone()), rgb };
                orientation.turn(&mut picture);
                let expected = Image::from_fn(width, height, |x, y| match orientation {
                    Orientation::Upright => at(x, y),
                    Orientation::HalfTurn => at(width - 1 - x, height - 1 - y),
                    Orientation::FlipX => at(width - 1 - x, y),
                    Orientation::FlipY => at(x, height - 1 - y),
                });
                assert_eq!(picture.rgb.as_ref(), Some(&expected.map(|&v| [v; 3])), "{orientation} {width}x{height}");
                assert_eq!(picture.luma, Luma::U8(expected), "{orientation} {width}x{height}");
            }
        }
    }
}
