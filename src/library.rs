//! The public surface: what a program that uses this crate as a library may call, by task.

/// Calibration files of other tools, and pictures rectified by them.
pub mod rectification {
    pub use crate::calibration::{
        BrownConrady, CalibrationError, Camera, Distortion, Fisheye, FocalLength, LengthUnit, LoadOptions, Output,
        Rectifier, StereoRig, load, write,
    };
}

/// Pixels, the parameters, the reference, and the engines, which all give the same bits.
pub mod matching {
    pub use crate::capture::{CaptureError, Frame, RawPair};
    use crate::capture::{MaxPixels, decode};
    pub use crate::engine::{
        CpuEngine, Engine, EngineChoice, EngineError, EngineInfo, EngineKind, Job, OpenOptions, Opened, Output, open,
        run,
    };
    pub use crate::image::{Image, Luma, Picture};
    pub use crate::stereo::{
        AdaptiveP2, Aggregation, CostKind, DisparityMap, INVALID, ParamsError, Preset, StereoParams, match_pair, reason,
    };
    use std::path::Path;
    use std::sync::Arc;
    use std::time::{Duration, Instant, SystemTime};

    /// The brightness of a picture file: PNG, JPEG, TIFF, PGM, PPM and others; 16 bits stay 16 bits.
    ///
    /// # Errors
    /// It cannot be read, or is no picture; the text names the file.
    pub fn read_luma(path: &Path) -> Result<Luma, CaptureError> {
        Ok(decode::read_picture(path, false, MaxPixels::default())?.luma)
    }

    /// A job for an engine, of images that are rectified; its map comes to the host.
    pub fn job(left: Luma, right: Luma, params: StereoParams) -> Job {
        let picture = |luma| Picture { luma, rgb: None };
        let (left, right) = (picture(left), picture(right));
        let raw = RawPair::new("pair", 0, SystemTime::now(), left.clone(), right.clone());
        let frame = Frame {
            left: left.into(),
            right: right.into(),
            raw: Arc::new(raw),
            truth: None,
            geometry: None,
            arrived: Instant::now(),
            rectify_time: Duration::ZERO,
        };
        Job { frame: Arc::new(frame), params: Arc::new(params), read_back: true, wants_right: false }
    }
}

/// Filters of a disparity map, one by one; the parameters name those that run after matching.
pub mod filters {
    pub use crate::stereo::filter::{check_left_right, fill, fill_rows, median, remove_speckle, smooth_along_surfaces};
    pub use crate::stereo::{Fill, Median};
}

/// Depth in metres of disparities, and files of both.
pub mod depth {
    pub use crate::export::{ExportError, write_cloud, write_depth_mm, write_disparity};
    pub use crate::geometry::Geometry;
    pub use crate::stereo::depth::{depth_m, depth_map};
}

/// Settings files and flags resolved to parameters.
pub mod parameters {
    pub use crate::parameter::{Domain, Parameter, Value};
    pub use crate::settings::{Origin, Settings, SettingsError, Word, read_file};
    pub use crate::stereo::{Preset, StereoParams};
}

/// Recordings: MCAP files of ROS 2's or Foxglove's messages, read with whatever damage they have, and written.
#[cfg(feature = "recording")]
pub mod recordings {
    pub use crate::capture::{FrameTap, Recorded, SourceInfo};
    pub use crate::engine::worker::ResultTap;
    pub use crate::recording::format::{Format, decode};
    pub use crate::recording::message::{Body, Encoding, ImageBody, Message};
    pub use crate::recording::read::{PacketStream, ReadError, Recording};
    pub use crate::recording::write::{RecordError, RecordOptions, RecordStatus, Recorder, Target};
    pub use crate::recording::{About, Channel, Packet, PairNote, RecordedPairs, ResultNote, Streams, topic};
}
