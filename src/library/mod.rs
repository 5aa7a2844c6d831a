//! The public surface by task: all that a program with this crate as a library may call. tools/surface.txt lists it.

/// Rust of the documentation, compiled as a test.
#[cfg(doctest)]
#[doc = include_str!("../../docs/library.md")]
struct Documentation;

#[cfg(feature = "cameras")]
mod camera_pairs;
mod matcher;

/// Calibration files of other tools, and images rectified by them.
pub mod rectification {
    pub use stereopsis_calibration::{CalibrationError, Crop, LengthUnit, LoadOptions, Rectifier, StereoRig, load};
}

/// Images, parameters and the matcher, whose engines all give the bits of the reference.
pub mod matching {
    pub use super::matcher::{MatchResult, Matcher};
    use std::path::Path;
    pub use stereopsis_base::image::{Image, Luma, Picture, PictureRef};
    use stereopsis_frame::MaxPixels;
    pub use stereopsis_frame::engine::{EngineChoice, EngineError};
    pub use stereopsis_frame::{CaptureError, Cause};
    use stereopsis_images::decode;
    pub use stereopsis_stereo::{
        AdaptiveP2, Aggregation, CostKind, DisparityMap, INVALID, MiStart, ParamsError, Persistence, Preset,
        RightMatching, StereoParams, Subpixel, Temporal, match_pair, reason,
    };

    /// Reads an image file: PNG, JPEG, TIFF, PGM, PPM and others; 16 bits stay 16 bits, and colours are kept.
    ///
    /// # Errors
    /// The file cannot be read, or is no image; the text names it.
    pub fn read_picture(path: &Path) -> Result<Picture, CaptureError> {
        decode::read_picture(path, true, MaxPixels::default())
    }
}

/// Filters of a disparity map, one by one; the parameters name those that run after matching.
pub mod filters {
    use stereopsis_base::image::PictureRef;
    use stereopsis_stereo::filter::RunningMean;
    use stereopsis_stereo::filter::planes::Fillable;
    pub use stereopsis_stereo::filter::{check_left_right, fill_rows, median, remove_speckle};
    use stereopsis_stereo::{DisparityMap, StereoParams, filter, reason};
    pub use stereopsis_stereo::{Fill, Median};

    /// Fills the holes of the map of one image.
    pub fn fill(map: &mut DisparityMap, picture: PictureRef<'_>, params: &StereoParams) {
        // the mark of planes is for the learned choice, which does not follow
        filter::fill(map, picture, params.fill, &Fillable { mark: reason::FILLED, ..Fillable::of(params) });
    }

    /// Smooths the disparities in place.
    pub fn smooth_along_surfaces(map: &mut DisparityMap, params: &StereoParams) {
        filter::smooth_along_surfaces(map, params.spatial.unwrap_or(0), RunningMean::along_surfaces(params));
    }
}

/// Depth in metres of disparities, points in space, and files of them.
pub mod depth {
    pub use stereopsis_base::files::WriteError;
    pub use stereopsis_base::geometry::{Axis, DepthSpread, Geometry};
    use stereopsis_base::image::Image;
    pub use stereopsis_images::{Axes, ExportError, write_cloud, write_depth, write_disparity};
    pub use stereopsis_stereo::depth::depth_map;

    /// Computes the point of each pixel of a depth map in metres, as seen from the left camera: x to the right, y down, z forward. NaN
    /// where the depth is NaN.
    pub fn points_m(depth_m: &Image<f32>, geometry: &Geometry) -> Image<[f32; 3]> {
        Image::from_fn(depth_m.width(), depth_m.height(), |x, y| {
            geometry.point_m(x as f64, y as f64, f64::from(depth_m.at(x, y))).map(|metres| metres as f32)
        })
    }
}

/// Settings by the words of flags and settings files.
pub mod parameters {
    pub use stereopsis_base::parameter::Value;
    pub use stereopsis_settings::settings::{Settings, SettingsError};
}

/// Recordings: MCAP files with messages of ROS 2 or of Foxglove, read pair by pair with whatever damage they have.
#[cfg(feature = "recording")]
pub mod recordings {
    pub use stereopsis_frame::{RawPair, Recorded};
    pub use stereopsis_recording::{ReadError, RecordedPairs};
}

/// Two cameras, or one that gives both images side by side.
#[cfg(feature = "cameras")]
pub mod cameras {
    pub use super::camera_pairs::CameraPairs;
    pub use stereopsis_frame::{CaptureError, RawPair};
}

/// Items for this project's own tests of the program. They change without notice.
#[cfg(feature = "recording")]
#[doc(hidden)]
pub mod inside {
    pub use stereopsis_base::remedy::{Vocabulary, speak};
    pub use stereopsis_recording::format::decode;
    pub use stereopsis_recording::message::{Body, Encoding, ImageBody};
    pub use stereopsis_recording::read::{PacketStream, Recording};
    pub use stereopsis_recording::{Packet, PairNote, ResultNote, topic};
}
