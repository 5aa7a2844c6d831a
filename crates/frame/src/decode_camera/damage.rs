//! Damaged camera frames: their causes and counts.

use super::format::PixelFormat;
use crate::jpeg::JpegError;
use std::fmt;
use std::ops::Sub;

/// Cause of a frame's damage.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Damage {
    /// Bytes are missing: the frame is shorter than the image.
    Short,
    /// Bytes were lost on the bus: the driver flags the frame.
    Flagged,
    /// The JPEG is truncated or invalid.
    Jpeg,
    /// The image size differs from the granted one, or is impossible for the format.
    Size,
}

/// Error of a frame that cannot be decoded; the frame is dropped and counted.
#[derive(Debug, thiserror::Error)]
pub enum DecodeError {
    /// Too few bytes for the image.
    #[error("{} frame of {bytes} bytes, {expected} expected for {}x{}", .format.name(), .size.0, .size.1)]
    Short {
        /// Format of the frame.
        format: PixelFormat,
        /// Number of its bytes.
        bytes: usize,
        /// Number of bytes that the image needs.
        expected: usize,
        /// Width and height, px.
        size: (usize, usize),
    },
    /// The driver flags the frame.
    #[error("the driver says that its {0} bytes are damaged")]
    Flagged(usize),
    /// The frame does not begin as a JPEG; the number is that of its bytes.
    #[error("MJPEG frame of {0} bytes that does not start as a JPEG")]
    NoJpeg(usize),
    /// The JPEG has no end marker.
    #[error("MJPEG frame without its end")]
    NoEnd,
    /// The JPEG has several scans, as no camera sends it.
    #[error("MJPEG frame in several scans")]
    Scans,
    /// A colour of the JPEG has more samples than its brightness, as no camera sends it.
    #[error("MJPEG frame with finer colours than brightness")]
    CoarseLuma,
    /// The JPEG is damaged.
    #[error("damaged MJPEG frame: {0}")]
    Jpeg(#[from] JpegError),
    /// The JPEG has another size.
    #[error("MJPEG frame of {}x{}, {}x{} expected", .got.0, .got.1, .expected.0, .expected.1)]
    OtherSize {
        /// Width and height of the frame, px.
        got: (usize, usize),
        /// Granted width and height, px.
        expected: (usize, usize),
    },
    /// The format has no image of this size, which has colours for two columns, or two columns and rows.
    #[error(
        "{} frame of odd {}",
        .format.name(),
        if *.format == PixelFormat::Yuyv { format!("width {}", .size.0) } else { format!("size {}x{}", .size.0, .size.1) }
    )]
    OddSize {
        /// Format of the frame.
        format: PixelFormat,
        /// Width and height, px.
        size: (usize, usize),
    },
    /// An image without pixels.
    #[error("an image of {0}x{1}")]
    Empty(usize, usize),
    /// A pair of other than one or two images; the number is theirs.
    #[error("a pair of {0} images")]
    Images(usize),
}

impl DecodeError {
    /// Returns the cause by which the frame is counted.
    pub fn damage(&self) -> Damage {
        match self {
            Self::Short { .. } | Self::NoJpeg(0) => Damage::Short,
            Self::Flagged(_) => Damage::Flagged,
            Self::NoJpeg(_) | Self::NoEnd | Self::Scans | Self::CoarseLuma | Self::Jpeg(_) => Damage::Jpeg,
            Self::OtherSize { .. } | Self::OddSize { .. } | Self::Empty(..) | Self::Images(_) => Damage::Size,
        }
    }
}

/// Numbers of damaged and therefore dropped frames, by cause.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(default)]
pub struct Damaged {
    /// Number of [`Damage::Short`].
    pub short: u64,
    /// Number of [`Damage::Flagged`].
    pub flagged: u64,
    /// Number of [`Damage::Jpeg`].
    pub jpeg: u64,
    /// Number of [`Damage::Size`].
    pub size: u64,
}

impl Damaged {
    /// Adds one frame.
    pub fn count(&mut self, damage: Damage) {
        *match damage {
            Damage::Short => &mut self.short,
            Damage::Flagged => &mut self.flagged,
            Damage::Jpeg => &mut self.jpeg,
            Damage::Size => &mut self.size,
        } += 1;
    }

    /// Returns the sum over all causes.
    pub fn total(&self) -> u64 {
        self.short + self.flagged + self.jpeg + self.size
    }

    /// Lists the causes whose count is not 0: `2 too short, 1 flagged by the driver`.
    pub fn causes(&self) -> String {
        let causes = [
            (self.short, "too short"),
            (self.flagged, "flagged by the driver"),
            (self.jpeg, "broken JPEG"),
            (self.size, "of another size"),
        ];
        let nonzero: Vec<_> = causes.iter().filter(|(n, _)| *n > 0).map(|(n, cause)| format!("{n} {cause}")).collect();
        nonzero.join(", ")
    }

    fn each(self, other: Self, function: fn(u64, u64) -> u64) -> Self {
        Self {
            short: function(self.short, other.short),
            flagged: function(self.flagged, other.flagged),
            jpeg: function(self.jpeg, other.jpeg),
            size: function(self.size, other.size),
        }
    }
}

// `3 damaged (2 too short, 1 flagged by the driver)`
impl fmt::Display for Damaged {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} damaged", self.total())?;
        if self.total() == 0 { Ok(()) } else { write!(f, " ({})", self.causes()) }
    }
}

impl std::iter::Sum for Damaged {
    fn sum<I: Iterator<Item = Self>>(all: I) -> Self {
        all.fold(Self::default(), |sum, other| sum.each(other, u64::saturating_add))
    }
}

// subtracts earlier counts
impl Sub for Damaged {
    type Output = Self;

    fn sub(self, before: Self) -> Self {
        self.each(before, u64::saturating_sub)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn causes_are_named_only_where_they_are() {
        let some = Damaged { short: 2, flagged: 1, ..Damaged::default() };
        assert_eq!(some.to_string(), "3 damaged (2 too short, 1 flagged by the driver)");
        assert_eq!(Damaged::default().to_string(), "0 damaged");
        let more = [some, Damaged { jpeg: 4, size: 5, ..some }].into_iter().sum::<Damaged>();
        assert_eq!((more.total(), (more - some).total()), (15, 12));
    }
}
