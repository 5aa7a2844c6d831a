//! Limit on the size of images that are read from files.

use std::fmt;
use std::str::FromStr;

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
    /// The image has more pixels; the text contains the numbers.
    pub fn check(self, width: u64, height: u64) -> Result<(), String> {
        if width.checked_mul(height).is_some_and(|pixels| pixels <= self.0) {
            return Ok(());
        }
        let most = self.0;
        Err(format!(
            "{width}x{height} px are more than the {most} of --max-pixels: give a larger number if that is right"
        ))
    }
}

impl fmt::Display for MaxPixels {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl FromStr for MaxPixels {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let pixels = text.parse().ok().filter(|pixels| (1..=1 << 40).contains(pixels));
        pixels.map(Self).ok_or_else(|| format!("expected a number of pixels from 1 to {}", 1_u64 << 40))
    }
}
