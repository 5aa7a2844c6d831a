//! Messages, independent of their encoding in a file. [`super::format`] encodes and decodes them.

pub use stereopsis_calibration::CameraInfo as CameraBody;

use std::sync::Arc;
use std::time::SystemTime;
use stereopsis_base::image::Image;

/// Shared bytes.
pub type Bytes = Arc<[u8]>;

/// One message of one topic.
#[derive(Clone, Debug, PartialEq)]
pub struct Message {
    /// Capture time by the wall clock.
    pub stamp: SystemTime,
    /// Name of the frame of reference, see [`super::topic::frame`].
    pub frame_id: String,
    /// Content.
    pub body: Body,
}

/// Content of a message.
#[derive(Clone, Debug, PartialEq)]
pub enum Body {
    /// Uncompressed image.
    Image(ImageBody),
    /// Compressed image.
    Compressed {
        /// `jpeg`, `png`, `tiff` or `pnm`.
        format: String,
        /// Bytes of the image file.
        data: Bytes,
    },
    /// One camera of a rig.
    Camera(Box<CameraBody>),
    /// Disparity with the parameters for depth.
    Disparity(DisparityBody),
    /// Points in space.
    Points(Vec<Point>),
    /// Pose of a frame of reference in another.
    Transform {
        /// Name of the frame whose pose in [`Message::frame_id`] this is.
        child_frame_id: String,
        /// Position: x to the right, y down, z forward, m.
        translation_m: [f64; 3],
        /// Unit quaternion: x, y, z, w.
        rotation: [f64; 4],
    },
    /// JSON.
    Json(serde_json::Value),
}

/// Uncompressed image.
#[derive(Clone, Debug, PartialEq)]
pub struct ImageBody {
    /// Number of columns.
    pub width: u32,
    /// Number of rows.
    pub height: u32,
    /// Encoding of the pixels.
    pub encoding: Encoding,
    /// Bytes from one row to the next (stride).
    pub step: u32,
    /// Rows of `step` bytes, and for NV12 half as many again; words of 16 and 32 bits are little-endian.
    pub data: Bytes,
}

impl ImageBody {
    /// Returns the pixels, of `N` bytes each, without the gaps behind rows; `None` if there are too few bytes.
    pub fn pixels<const N: usize>(&self) -> Option<Image<[u8; N]>> {
        let (width, height, step) = (self.width as usize, self.height as usize, self.step as usize);
        let mut pixels = Vec::with_capacity((self.data.len() / N).min(width.checked_mul(height)?));
        for y in 0..height {
            let row = self.data.get(y.checked_mul(step)?..)?.get(..width.checked_mul(N)?)?;
            pixels.extend_from_slice(row.as_chunks::<N>().0);
        }
        Some(Image::new(width, height, pixels))
    }

    /// Returns the pixels of an image of floats; `None` for other encodings or too few bytes.
    pub fn floats(&self) -> Option<Image<f32>> {
        let pixels = (self.encoding == Encoding::Float32).then(|| self.pixels())??;
        Some(pixels.map(|&bytes| f32::from_le_bytes(bytes)))
    }
}

/// Encoding of pixels.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Encoding {
    /// Luma, 8 bits.
    Mono8,
    /// Luma, 16 bits.
    Mono16,
    /// Red, green, blue, 8 bits each.
    Rgb8,
    /// Blue, green, red, 8 bits each; only read.
    Bgr8,
    /// Red, green, blue, alpha, 8 bits each; only read, without alpha.
    Rgba8,
    /// Blue, green, red, alpha, 8 bits each; only read, without alpha.
    Bgra8,
    /// A Bayer mosaic of 8 bits; only read.
    Bayer8(Mosaic),
    /// A Bayer mosaic of 16 bits; only read.
    Bayer16(Mosaic),
    /// Y U Y V.
    Yuyv,
    /// U Y V Y; only read.
    Uyvy,
    /// All Y, then U and V in turn at half the size.
    Nv12,
    /// Depth in mm, 16 bits, 0 where there is none.
    DepthMm,
    /// 32-bit float; only read as depth, m.
    Float32,
}

/// Order of the colours in a Bayer mosaic: first row, then second row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mosaic {
    /// Red green, green blue.
    Rggb,
    /// Blue green, green red.
    Bggr,
    /// Green blue, red green.
    Gbrg,
    /// Green red, blue green.
    Grbg,
}

impl Mosaic {
    /// All orders.
    pub const ALL: [Self; 4] = [Self::Rggb, Self::Bggr, Self::Gbrg, Self::Grbg];

    /// Returns the colour of a pixel: 0 red, 1 green, 2 blue.
    pub fn color(self, x: usize, y: usize) -> usize {
        let red = match self {
            Self::Rggb => (0, 0),
            Self::Bggr => (1, 1),
            Self::Gbrg => (0, 1),
            Self::Grbg => (1, 0),
        };
        usize::from(x % 2 != red.0) + usize::from(y % 2 != red.1)
    }
}

/// Point in space.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Point {
    /// Position: x to the right, y down, z forward, m.
    pub xyz_m: [f32; 3],
    /// Colour: red, green, blue.
    pub rgb: [u8; 3],
}

/// Disparity with the parameters for depth: `z = f T / (d + doffs)`.
#[derive(Clone, Debug, PartialEq)]
pub struct DisparityBody {
    /// Disparity of each left pixel, px; NaN for none. In ROS, a value below `min_disparity` means none.
    pub disparity_px: Image<f32>,
    /// Focal length of the rectified images, px; 0 if unknown.
    pub focal_px: f32,
    /// Baseline, m; 0 if unknown.
    pub baseline_m: f32,
    /// Smallest searched disparity, px.
    pub min_disparity: f32,
    /// Largest searched disparity, px.
    pub max_disparity: f32,
    /// Step of the disparity, px.
    pub delta_d: f32,
}
