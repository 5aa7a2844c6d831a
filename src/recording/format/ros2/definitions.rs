//! The fields of ROS 2's messages in its own language, each followed by those it is made of, as `ros2 bag` stores them.

/// Each message, the messages that its fields are, and its fields.
const DEFINITIONS: [(&str, &[&str], &str); 13] = [
    ("builtin_interfaces/msg/Time", &[], "int32 sec\nuint32 nanosec\n"),
    ("std_msgs/msg/Header", &["builtin_interfaces/msg/Time"], "builtin_interfaces/Time stamp\nstring frame_id\n"),
    ("std_msgs/msg/String", &[], "string data\n"),
    (
        "sensor_msgs/msg/Image",
        &["std_msgs/msg/Header"],
        "std_msgs/Header header\nuint32 height\nuint32 width\nstring encoding\nuint8 is_bigendian\nuint32 step\nuint8[] data\n",
    ),
    (
        "sensor_msgs/msg/CompressedImage",
        &["std_msgs/msg/Header"],
        "std_msgs/Header header\nstring format\nuint8[] data\n",
    ),
    (
        "sensor_msgs/msg/RegionOfInterest",
        &[],
        "uint32 x_offset\nuint32 y_offset\nuint32 height\nuint32 width\nbool do_rectify\n",
    ),
    (
        "sensor_msgs/msg/CameraInfo",
        &["std_msgs/msg/Header", "sensor_msgs/msg/RegionOfInterest"],
        "std_msgs/Header header\nuint32 height\nuint32 width\nstring distortion_model\nfloat64[] d\nfloat64[9] k\nfloat64[9] r\n\
         float64[12] p\nuint32 binning_x\nuint32 binning_y\nsensor_msgs/RegionOfInterest roi\n",
    ),
    (
        "stereo_msgs/msg/DisparityImage",
        &["std_msgs/msg/Header", "sensor_msgs/msg/Image", "sensor_msgs/msg/RegionOfInterest"],
        "std_msgs/Header header\nsensor_msgs/Image image\nfloat32 f\nfloat32 t\nsensor_msgs/RegionOfInterest valid_window\n\
         float32 min_disparity\nfloat32 max_disparity\nfloat32 delta_d\n",
    ),
    ("geometry_msgs/msg/Vector3", &[], "float64 x\nfloat64 y\nfloat64 z\n"),
    ("geometry_msgs/msg/Quaternion", &[], "float64 x\nfloat64 y\nfloat64 z\nfloat64 w\n"),
    (
        "geometry_msgs/msg/Transform",
        &["geometry_msgs/msg/Vector3", "geometry_msgs/msg/Quaternion"],
        "geometry_msgs/Vector3 translation\ngeometry_msgs/Quaternion rotation\n",
    ),
    (
        "geometry_msgs/msg/TransformStamped",
        &["std_msgs/msg/Header", "geometry_msgs/msg/Transform"],
        "std_msgs/Header header\nstring child_frame_id\ngeometry_msgs/Transform transform\n",
    ),
    (
        "tf2_msgs/msg/TFMessage",
        &["geometry_msgs/msg/TransformStamped"],
        "geometry_msgs/TransformStamped[] transforms\n",
    ),
];

/// The definition of a message and behind it, each once, of all messages that it is made of.
pub(super) fn with_parts(name: &str) -> String {
    let mut names = vec![name];
    let mut text = String::new();
    let mut next = 0;
    while let Some(&name) = names.get(next) {
        next += 1;
        let Some((_, parts, fields)) = DEFINITIONS.iter().find(|(known, ..)| *known == name) else { continue };
        if !text.is_empty() {
            let short = name.replace("/msg/", "/");
            text = format!("{text}{}\nMSG: {short}\n", "=".repeat(80));
        }
        text += fields;
        for part in *parts {
            if !names.contains(part) {
                names.push(part);
            }
        }
    }
    text
}
