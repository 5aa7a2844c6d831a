//! ROS 2 message types by kind of message: names on the wire and hashes of their definitions.

use stereopsis_recording::format::Kind;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct RosType {
    /// Name on the wire.
    pub(super) name: &'static str,
    /// Hash of the definition and its parts (REP 2011), equal in all releases.
    pub(super) hash: &'static str,
}

pub(super) fn of(kind: Kind) -> RosType {
    let (name, hash) = match kind {
        Kind::Image => (
            "sensor_msgs::msg::dds_::Image_",
            "RIHS01_d31d41a9a4c4bc8eae9be757b0beed306564f7526c88ea6a4588fb9582527d47",
        ),
        Kind::Compressed => (
            "sensor_msgs::msg::dds_::CompressedImage_",
            "RIHS01_15640771531571185e2efc8a100baf923961a4d15d5569652e6cb6691e8e371a",
        ),
        Kind::Camera => (
            "sensor_msgs::msg::dds_::CameraInfo_",
            "RIHS01_b3dfd68ff46c9d56c80fd3bd4ed22c7a4ddce8c8348f2f59c299e73118e7e275",
        ),
        Kind::Disparity => (
            "stereo_msgs::msg::dds_::DisparityImage_",
            "RIHS01_1ec1ff6b5bace919e4544a37f2d96ead9f81783701b7b7a4d97a09325ecf2711",
        ),
        Kind::Points => (
            "sensor_msgs::msg::dds_::PointCloud2_",
            "RIHS01_9198cabf7da3796ae6fe19c4cb3bdd3525492988c70522628af5daa124bae2b5",
        ),
        Kind::Transform => (
            "tf2_msgs::msg::dds_::TFMessage_",
            "RIHS01_e369d0f05a23ae52508854b66f6aa0437f3449d652e8cbf22d5abe85d020f087",
        ),
        Kind::Json => {
            ("std_msgs::msg::dds_::String_", "RIHS01_df668c740482bbd48fb39d76a70dfd4bd59db1288021743503259e948f6b1a18")
        }
    };
    RosType { name, hash }
}
