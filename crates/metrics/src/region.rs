//! Rectangle of an image, and its text `X,Y,WIDTH,HEIGHT`.

use std::fmt;
use std::str::FromStr;

/// Rectangle in px: its upper left pixel, width and height.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
pub struct Region {
    /// Column of the leftmost pixels.
    pub x: usize,
    /// Row of the uppermost pixels.
    pub y: usize,
    /// Width, px.
    pub width: usize,
    /// Height, px.
    pub height: usize,
}

/// Error of a rectangle.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RegionError {
    /// Text that is no rectangle.
    #[error("expected X,Y,WIDTH,HEIGHT in px, such as 220,140,200,200, with a width and height above 0")]
    Grammar,
    /// Rectangle that leaves the image.
    #[error("the region {region} does not lie inside the image, which has {}x{} px", .size.0, .size.1)]
    Outside {
        /// Rectangle that leaves the image.
        region: Region,
        /// Width and height of the image, px.
        size: (usize, usize),
    },
}

impl Region {
    /// Returns the rectangle in the middle of an image of this size whose sides are this share of the image's, above 0 and at most 1.
    pub fn centred((width, height): (usize, usize), share: f64) -> Self {
        let side = |whole: usize| ((whole as f64 * share).round() as usize).clamp(1.min(whole), whole);
        let (w, h) = (side(width), side(height));
        Self { x: (width - w) / 2, y: (height - h) / 2, width: w, height: h }
    }

    /// Returns the part inside an image of this size; it may be empty.
    #[must_use]
    pub fn clipped(self, (width, height): (usize, usize)) -> Self {
        let (x, y) = (self.x.min(width), self.y.min(height));
        Self { x, y, width: self.width.min(width - x), height: self.height.min(height - y) }
    }

    /// Checks that the rectangle lies inside an image of this size.
    ///
    /// # Errors
    /// [`RegionError::Outside`]
    pub fn check_inside(self, size: (usize, usize)) -> Result<(), RegionError> {
        if self.clipped(size) == self { Ok(()) } else { Err(RegionError::Outside { region: self, size }) }
    }

    /// Returns the number of pixels.
    pub fn area(self) -> usize {
        self.width * self.height
    }

    /// Iterates over the pixels, row by row.
    pub fn pixels(self) -> impl Iterator<Item = (usize, usize)> {
        (self.y..self.y + self.height).flat_map(move |y| (self.x..self.x + self.width).map(move |x| (x, y)))
    }
}

impl fmt::Display for Region {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{},{},{},{}", self.x, self.y, self.width, self.height)
    }
}

/// Largest side, px: above any image, and far from an overflow of the sum of two sides.
const MAX_SIDE: usize = 1 << 20;

impl FromStr for Region {
    type Err = RegionError;

    fn from_str(text: &str) -> Result<Self, RegionError> {
        let numbers: Result<Vec<usize>, _> = text.split(',').map(|part| part.trim().parse()).collect();
        match numbers.as_deref() {
            Ok(&[x, y, width, height])
                if width > 0 && height > 0 && [x, y, width, height].iter().all(|&v| v <= MAX_SIDE) =>
            {
                Ok(Self { x, y, width, height })
            }
            _ => Err(RegionError::Grammar),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn four_numbers_are_a_region_and_nothing_else_is() {
        let region: Region = "220,140,200,100".parse().unwrap();
        assert_eq!((region.x, region.y, region.width, region.height), (220, 140, 200, 100));
        assert_eq!(region.to_string(), "220,140,200,100");
        for wrong in
            ["", "1,2,3", "1,2,3,4,5", "1,2,0,4", "1,2,4,0", "-1,2,3,4", "a,2,3,4", "1,2,99999999,4", "1,2,3,4.5"]
        {
            assert_eq!(wrong.parse::<Region>(), Err(RegionError::Grammar), "{wrong}");
        }
    }

    #[test]
    fn a_region_lies_inside_or_is_cut() {
        let region = Region { x: 600, y: 10, width: 100, height: 20 };
        let text = region.check_inside((640, 480)).unwrap_err().to_string();
        assert!(text.contains("600,10,100,20") && text.contains("640x480"), "{text}");
        assert_eq!(region.clipped((640, 480)).area(), 40 * 20);
        assert_eq!(region.clipped((500, 480)).pixels().count(), 0);
        assert!(region.check_inside((700, 30)).is_ok());
    }

    #[test]
    fn the_middle_has_the_share_of_each_side() {
        assert_eq!(Region::centred((640, 480), 0.4), Region { x: 192, y: 144, width: 256, height: 192 });
        assert_eq!(Region::centred((1, 1), 0.4).area(), 1);
        assert_eq!(Region::centred((0, 0), 0.4).area(), 0);
    }
}
