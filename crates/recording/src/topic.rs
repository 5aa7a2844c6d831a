//! Names of topics and frames of reference, equal in all formats. Recordings contain them: never change one.

/// Raw left image: split, upright, not rectified. The topic of a JPEG or PNG has the suffix [`COMPRESSED`].
pub const LEFT_RAW: &str = "/stereo/left/image_raw";
/// Raw right image.
pub const RIGHT_RAW: &str = "/stereo/right/image_raw";
/// Image of the left camera before its orientation is applied.
pub const LEFT_UNTURNED: &str = "/stereo/left/image_unturned";
/// Image of the right camera before its orientation is applied.
pub const RIGHT_UNTURNED: &str = "/stereo/right/image_unturned";
/// Side-by-side image of both sides before it is split.
pub const BOTH_UNSPLIT: &str = "/stereo/both/image_unsplit";
/// Suffix of topics whose images are JPEG or PNG, as in ROS's image transport.
pub const COMPRESSED: &str = "/compressed";
/// Colours of the left image, recorded where its luma cannot be computed from them.
pub(crate) const LEFT_COLOR: &str = "/stereo/left/image_color";
/// Colours of the right image.
pub const RIGHT_COLOR: &str = "/stereo/right/image_color";
/// Camera of [`LEFT_RAW`].
pub const LEFT_CAMERA: &str = "/stereo/left/camera_info";
/// Camera of [`RIGHT_RAW`].
pub(crate) const RIGHT_CAMERA: &str = "/stereo/right/camera_info";
/// The left image, rectified, at working size.
pub const LEFT_RECTIFIED: &str = "/stereo/rectified/left/image";
/// The right image, rectified, at working size.
pub const RIGHT_RECTIFIED: &str = "/stereo/rectified/right/image";
/// Colours of the rectified left image, see [`LEFT_COLOR`].
pub(crate) const LEFT_RECTIFIED_COLOR: &str = "/stereo/rectified/left/image_color";
pub(crate) const RIGHT_RECTIFIED_COLOR: &str = "/stereo/rectified/right/image_color";
/// Camera of [`LEFT_RECTIFIED`].
pub const LEFT_RECTIFIED_CAMERA: &str = "/stereo/rectified/left/camera_info";
/// Camera of [`RIGHT_RECTIFIED`].
pub const RIGHT_RECTIFIED_CAMERA: &str = "/stereo/rectified/right/camera_info";
/// Disparity of the left image.
pub const DISPARITY: &str = "/stereo/disparity";
/// Depth of the left image.
pub const DEPTH: &str = "/stereo/depth/image_raw";
/// Depth of the left image, compressed for a link, as ROS's image transport has it.
pub const COMPRESSED_DEPTH: &str = "/stereo/depth/image_raw/compressedDepth";
/// Camera of [`DEPTH`]: the rectified left camera.
pub const DEPTH_CAMERA: &str = "/stereo/depth/camera_info";
/// Measured points in space, seen from the rectified left camera; live only, never recorded.
pub const POINTS: &str = "/stereo/points";
/// Pose of the right camera; ROS's topic of constant transforms.
pub const TRANSFORMS: &str = "/tf_static";
/// Description of the recording, [`super::About`]; the first message.
pub const ABOUT: &str = "/stereopsis/about";
/// Note of each pair, [`super::PairNote`].
pub const PAIRS: &str = "/stereopsis/pairs";
/// Note of each result, [`super::ResultNote`].
pub const RESULTS: &str = "/stereopsis/results";
/// Parameters, at the start and at each change.
pub const PARAMETERS: &str = "/stereopsis/parameters";
/// [`super::Counters`], once a second.
pub const COUNTERS: &str = "/stereopsis/counters";
/// [`super::Event`]: drops, lost cameras, a full disk.
pub const EVENTS: &str = "/stereopsis/events";

/// Returns the name of a topic without [`COMPRESSED`].
pub fn plain(name: &str) -> &str {
    name.strip_suffix(COMPRESSED).unwrap_or(name)
}

/// Frames of reference: x to the right, y down, z forward.
pub mod frame {
    /// The rectified left camera, to which depth belongs.
    pub const LEFT: &str = "stereo_left_optical_frame";
    /// The rectified right camera.
    pub const RIGHT: &str = "stereo_right_optical_frame";

    /// Replaces the prefix `stereo` of a frame's name, for several rigs.
    pub fn rename(frame: &mut String, name: &str) {
        if let Some(rest) = frame.strip_prefix("stereo_") {
            *frame = format!("{name}_{rest}");
        }
    }
}
