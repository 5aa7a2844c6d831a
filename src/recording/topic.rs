//! The names of topics and frames of reference, the same in every format.

/// The left eye's picture, split, turned and not rectified; with `/compressed` behind it a JPEG or PNG.
pub const LEFT_RAW: &str = "/stereo/left/image_raw";
/// The right eye's picture.
pub const RIGHT_RAW: &str = "/stereo/right/image_raw";
/// The left camera's picture as it came, where it has to be turned.
pub const LEFT_UNTURNED: &str = "/stereo/left/image_unturned";
/// The right camera's picture as it came, where it has to be turned.
pub const RIGHT_UNTURNED: &str = "/stereo/right/image_unturned";
/// Both eyes in one picture, as it came.
pub const BOTH_UNSPLIT: &str = "/stereo/both/image_unsplit";
/// Behind the name of a topic whose pictures are JPEG or PNG, as ROS's image transport has it.
pub const COMPRESSED: &str = "/compressed";
/// The left eye's picture in colour, where its brightness is not what follows from the colours and has a topic of its own.
pub const LEFT_COLOR: &str = "/stereo/left/image_color";
/// The right eye's picture in colour.
pub const RIGHT_COLOR: &str = "/stereo/right/image_color";
/// The physical left camera.
pub const LEFT_CAMERA: &str = "/stereo/left/camera_info";
/// The physical right camera.
pub const RIGHT_CAMERA: &str = "/stereo/right/camera_info";
/// The left picture, rectified, at working size.
pub const LEFT_RECTIFIED: &str = "/stereo/rectified/left/image";
/// The right picture, rectified, at working size.
pub const RIGHT_RECTIFIED: &str = "/stereo/rectified/right/image";
/// The left picture in colour, rectified, see [`LEFT_COLOR`].
pub const LEFT_RECTIFIED_COLOR: &str = "/stereo/rectified/left/image_color";
/// The right picture in colour, rectified.
pub const RIGHT_RECTIFIED_COLOR: &str = "/stereo/rectified/right/image_color";
/// The left camera of rectified pictures.
pub const LEFT_RECTIFIED_CAMERA: &str = "/stereo/rectified/left/camera_info";
/// The right camera of rectified pictures.
pub const RIGHT_RECTIFIED_CAMERA: &str = "/stereo/rectified/right/camera_info";
/// Disparity of the left picture.
pub const DISPARITY: &str = "/stereo/disparity";
/// Depth of the left picture.
pub const DEPTH: &str = "/stereo/depth/image_raw";
/// The camera of the depth pictures: the left one, rectified.
pub const DEPTH_CAMERA: &str = "/stereo/depth/camera_info";
/// Where the right camera is; ROS's name for what does not move.
pub const TRANSFORMS: &str = "/tf_static";
/// What the recording is of, [`super::About`]: first of all.
pub const ABOUT: &str = "/stereopsis/about";
/// One for each pair, [`super::PairNote`].
pub const PAIRS: &str = "/stereopsis/pairs";
/// One for each result, [`super::ResultNote`].
pub const RESULTS: &str = "/stereopsis/results";
/// All parameters, whenever they change.
pub const PARAMETERS: &str = "/stereopsis/parameters";
/// Pairs and results so far, and what was dropped where; once a second.
pub const COUNTERS: &str = "/stereopsis/counters";
/// What went wrong, when it did: drops, lost cameras, a disk that fills.
pub const EVENTS: &str = "/stereopsis/events";

/// The name of a topic without what says that its pictures are JPEG or PNG, see [`COMPRESSED`].
pub fn plain(name: &str) -> &str {
    name.strip_suffix(COMPRESSED).unwrap_or(name)
}

/// Frames of reference: x to the right, y down, z forward.
pub mod frame {
    /// The left camera, rectified; what is seen from here is depth.
    pub const LEFT: &str = "stereo_left_optical_frame";
    /// The right camera, rectified.
    pub const RIGHT: &str = "stereo_right_optical_frame";
}
