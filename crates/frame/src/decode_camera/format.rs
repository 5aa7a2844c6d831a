//! Pixel formats of camera frames.

use stereopsis_base::parameter::choices;

choices! {
    /// Pixel formats that can be decoded. Among equal rates, earlier formats are preferred.
    pub enum PixelFormat {
        /// Y U Y V: two bytes per pixel, two neighbours share chroma; luma is lossless.
        Yuyv = "yuyv",
        /// Plane of Y, then interleaved U and V at half the size; luma is lossless.
        Nv12 = "nv12",
        /// Luma only, eight bits.
        Grey = "grey",
        /// One JPEG per frame: needs less bus bandwidth, slightly lossy.
        Mjpeg = "mjpeg",
        /// Luma only, in 16-bit words of which 10, 12, 14 or 16 bits are used.
        Y16 = "y16",
    }
}

impl PixelFormat {
    /// Returns the name of the format in listings.
    pub fn name(self) -> &'static str {
        match self {
            Self::Yuyv => "YUYV",
            Self::Nv12 => "NV12",
            Self::Grey => "GREY",
            Self::Mjpeg => "MJPEG",
            Self::Y16 => "Y16",
        }
    }

    /// Returns the bytes per pixel in the first plane; `None` for compressed formats.
    pub(super) fn bytes_per_pixel(self) -> Option<usize> {
        match self {
            Self::Yuyv | Self::Y16 => Some(2),
            Self::Nv12 | Self::Grey => Some(1),
            Self::Mjpeg => None,
        }
    }
}
