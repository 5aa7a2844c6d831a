//! What is recorded, before it becomes the bytes of one format or another.

pub use crate::calibration::CameraInfo as CameraBody;

use crate::image::Image;
use std::sync::Arc;
use std::time::SystemTime;

/// Pixels that are shared with whoever made them, or read from a file.
pub type Bytes = Arc<[u8]>;

/// One message of one topic.
#[derive(Clone, Debug, PartialEq)]
pub struct Message {
    /// When what it shows was taken, by the wall clock.
    pub stamp: SystemTime,
    /// In which frame of reference, see [`super::topic::frame`].
    pub frame_id: String,
    /// What it holds.
    pub body: Body,
}

/// What a message holds.
#[derive(Clone, Debug, PartialEq)]
pub enum Body {
    /// Pixels as they lie in memory.
    Image(ImageBody),
    /// A picture in a file format of its own.
    Compressed {
        /// `jpeg` or `png`.
        format: String,
        /// The file's bytes.
        data: Bytes,
    },
    /// One camera of a rig.
    Camera(Box<CameraBody>),
    /// Disparity together with the numbers that make depth of it.
    Disparity(DisparityBody),
    /// Where one frame of reference is in another.
    Transform {
        /// The frame that is described; [`Message::frame_id`] is the one in which it is.
        child_frame_id: String,
        /// x to the right, y down, z forward, m.
        translation_m: [f64; 3],
        /// x, y, z, w.
        rotation: [f64; 4],
    },
    /// Words for programs: JSON.
    Json(serde_json::Value),
}

/// Pixels as they lie in memory.
#[derive(Clone, Debug, PartialEq)]
pub struct ImageBody {
    /// Columns.
    pub width: u32,
    /// Rows.
    pub height: u32,
    /// How pixels are packed.
    pub encoding: Encoding,
    /// Bytes from one row to the next.
    pub step: u32,
    /// `height * step` bytes, and for NV12 half as many again; words of 16 and 32 bits little-endian.
    pub data: Bytes,
}

impl ImageBody {
    /// The picture's pixels of `N` bytes, without the gaps behind rows; `None` if there are too few bytes.
    pub fn pixels<const N: usize>(&self) -> Option<Image<[u8; N]>> {
        let (width, height, step) = (self.width as usize, self.height as usize, self.step as usize);
        let mut pixels = Vec::with_capacity((self.data.len() / N).min(width.checked_mul(height)?));
        for y in 0..height {
            let row = self.data.get(y.checked_mul(step)?..)?.get(..width.checked_mul(N)?)?;
            pixels.extend_from_slice(row.as_chunks::<N>().0);
        }
        Some(Image::new(width, height, pixels))
    }

    /// The pixels of a picture of floats.
    pub fn floats(&self) -> Option<Image<f32>> {
        let pixels = (self.encoding == Encoding::Float32).then(|| self.pixels())??;
        Some(pixels.map(|&bytes| f32::from_le_bytes(bytes)))
    }
}

/// How pixels are packed; each format has its own words for them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Encoding {
    /// Brightness, 8 bits.
    Mono8,
    /// Brightness, 16 bits.
    Mono16,
    /// Red, green, blue, 8 bits each.
    Rgb8,
    /// Blue, green, red, 8 bits each; only read.
    Bgr8,
    /// Y U Y V.
    Yuyv,
    /// U Y V Y; only read.
    Uyvy,
    /// All of Y, then U and V in turn at half the size.
    Nv12,
    /// Depth in mm, 16 bits, 0 where there is none.
    DepthMm,
    /// A 32-bit float for each pixel; only read as depth, m.
    Float32,
}

/// Disparity together with the numbers that make depth of it: `z = f T / (d + doffs)`.
#[derive(Clone, Debug, PartialEq)]
pub struct DisparityBody {
    /// Disparity of each left pixel, px; NaN where there is none. ROS has a number below `min_disparity` there.
    pub disparity_px: Image<f32>,
    /// Focal length of the rectified pictures, px; 0 where it is not known.
    pub focal_px: f32,
    /// Distance between the cameras, m; 0 where it is not known.
    pub baseline_m: f32,
    /// Smallest disparity searched, px.
    pub min_disparity: f32,
    /// Largest disparity searched, px.
    pub max_disparity: f32,
    /// Steps of the disparity, px.
    pub delta_d: f32,
}
