//! Limit on the size of images that are read from files.

use std::fmt;
use std::str::FromStr;
use stereopsis_base::parameter::ValueError;
use stereopsis_base::remedy::option;

/// Largest number of pixels of an image from a file. A few bytes can declare billions of pixels, so the header is checked before memory is
/// allocated. Images of cameras have no such limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MaxPixels(pub u64);

impl Default for MaxPixels {
    fn default() -> Self {
        Self(1 << 28)
    }
}

impl MaxPixels {
    /// Checks the size of an image.
    ///
    /// # Errors
    /// The image has more pixels.
    pub fn check(self, width: u64, height: u64) -> Result<(), TooManyPixels> {
        let fits = width.checked_mul(height).is_some_and(|pixels| pixels <= self.0);
        if fits { Ok(()) } else { Err(TooManyPixels { width, height, most: self.0 }) }
    }
}

/// Image with more pixels than the limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "{width}x{height} px are more than the {most} of {}: give a larger number if that is right",
    option("max-pixels")
)]
pub struct TooManyPixels {
    /// Width, px.
    pub width: u64,
    /// Height, px.
    pub height: u64,
    /// Limit, px.
    pub most: u64,
}

impl fmt::Display for MaxPixels {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl FromStr for MaxPixels {
    type Err = ValueError;

    fn from_str(text: &str) -> Result<Self, ValueError> {
        let pixels = text.parse().ok().filter(|pixels| (1..=1 << 40).contains(pixels));
        pixels.map(Self).ok_or(ValueError::Expected("a number of pixels from 1 to 1099511627776"))
    }
}
