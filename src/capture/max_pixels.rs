//! How large a picture of a file may be.

use std::fmt;
use std::str::FromStr;

/// How many pixels a picture may have that comes out of a file: its header is asked before room is made for it. A few bytes can
/// claim billions. Cameras say their sizes themselves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MaxPixels(pub u64);

impl Default for MaxPixels {
    fn default() -> Self {
        Self(1 << 28)
    }
}

impl MaxPixels {
    /// Whether a picture of this size is read.
    ///
    /// # Errors
    /// It has more pixels, in words.
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
