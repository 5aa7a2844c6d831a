//! ROS 2's messages as structs. CDR has no names, so the order of the fields is the encoding.

use serde::{Deserialize, Serialize, Serializer};
use std::borrow::Cow;

/// Serializes `sequence<uint8>` as a whole; serde would do it byte by byte.
fn octets<S: Serializer>(data: &&[u8], serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_bytes(data)
}

/// `builtin_interfaces/msg/Time`.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Time {
    pub sec: i32,
    pub nanosec: u32,
}

/// `std_msgs/msg/Header`.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Header<'a> {
    pub stamp: Time,
    pub frame_id: Cow<'a, str>,
}

/// `std_msgs/msg/String`.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Text<'a> {
    pub data: Cow<'a, str>,
}

/// `sensor_msgs/msg/Image`.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Image<'a> {
    #[serde(borrow)]
    pub header: Header<'a>,
    pub height: u32,
    pub width: u32,
    pub encoding: Cow<'a, str>,
    pub is_bigendian: u8,
    pub step: u32,
    #[serde(borrow, serialize_with = "octets")]
    pub data: &'a [u8],
}

/// `sensor_msgs/msg/CompressedImage`.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct CompressedImage<'a> {
    #[serde(borrow)]
    pub header: Header<'a>,
    pub format: Cow<'a, str>,
    #[serde(borrow, serialize_with = "octets")]
    pub data: &'a [u8],
}

/// `sensor_msgs/msg/RegionOfInterest`.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(super) struct RegionOfInterest {
    pub x_offset: u32,
    pub y_offset: u32,
    pub height: u32,
    pub width: u32,
    pub do_rectify: bool,
}

/// `sensor_msgs/msg/CameraInfo`.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct CameraInfo<'a> {
    #[serde(borrow)]
    pub header: Header<'a>,
    pub height: u32,
    pub width: u32,
    pub distortion_model: Cow<'a, str>,
    pub d: Cow<'a, [f64]>,
    pub k: [f64; 9],
    pub r: [f64; 9],
    pub p: [f64; 12],
    pub binning_x: u32,
    pub binning_y: u32,
    pub roi: RegionOfInterest,
}

/// `stereo_msgs/msg/DisparityImage`.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct DisparityImage<'a> {
    #[serde(borrow)]
    pub header: Header<'a>,
    #[serde(borrow)]
    pub image: Image<'a>,
    pub f: f32,
    pub t: f32,
    pub valid_window: RegionOfInterest,
    pub min_disparity: f32,
    pub max_disparity: f32,
    pub delta_d: f32,
}

/// `sensor_msgs/msg/PointField`.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct PointField<'a> {
    pub name: Cow<'a, str>,
    pub offset: u32,
    pub datatype: u8,
    pub count: u32,
}

/// `sensor_msgs/msg/PointCloud2`.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct PointCloud2<'a> {
    #[serde(borrow)]
    pub header: Header<'a>,
    pub height: u32,
    pub width: u32,
    #[serde(borrow)]
    pub fields: Vec<PointField<'a>>,
    pub is_bigendian: bool,
    pub point_step: u32,
    pub row_step: u32,
    #[serde(borrow, serialize_with = "octets")]
    pub data: &'a [u8],
    pub is_dense: bool,
}

/// `geometry_msgs/msg/TransformStamped`, with the fields of `geometry_msgs/msg/Transform` in order.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct TransformStamped<'a> {
    #[serde(borrow)]
    pub header: Header<'a>,
    pub child_frame_id: Cow<'a, str>,
    pub translation: [f64; 3],
    pub rotation: [f64; 4],
}

/// `tf2_msgs/msg/TFMessage`.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct TfMessage<'a> {
    #[serde(borrow)]
    pub transforms: Vec<TransformStamped<'a>>,
}
