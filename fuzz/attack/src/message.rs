//! Attack on a single message of a recording without the file around it.

use stereopsis_base::image::Image;
use stereopsis_frame::{MaxPixels, Pixels};
use stereopsis_recording::message::{Body, DisparityBody, Encoding, ImageBody};
use stereopsis_recording::unpack::{UnpackedResult, Unpacker};
use stereopsis_recording::{Channel, Format, Packet, Schema, format, topic};

/// Returns the topics of all message kinds in both formats, of ROS 1 and of DepthAI, one of which the first byte of an input selects.
pub fn channels() -> Vec<Channel> {
    let image = ImageBody { width: 0, height: 0, encoding: Encoding::Mono8, step: 0, data: [].into() };
    let disparity = DisparityBody {
        disparity_px: Image::new(0, 0, Vec::new()),
        focal_px: 0.0,
        baseline_m: 0.0,
        min_disparity: 0.0,
        max_disparity: 0.0,
        delta_d: 0.0,
    };
    let transform = Body::Transform { child_frame_id: String::new(), translation_m: [0.0; 3], rotation: [0.0; 4] };
    let compressed = Body::Compressed { format: String::new(), data: [].into() };
    let bodies = [
        (topic::LEFT_RAW, Body::Image(image.clone())),
        (topic::LEFT_RAW, compressed),
        (topic::DEPTH, Body::Image(image)),
        (topic::DISPARITY, Body::Disparity(disparity)),
        ("/tf", transform),
        (topic::PAIRS, Body::Json(serde_json::Value::Null)),
        (topic::RESULTS, Body::Json(serde_json::Value::Null)),
        (topic::ABOUT, Body::Json(serde_json::Value::Null)),
    ];
    let both = Format::ALL.iter().flat_map(|format| bodies.iter().map(|(topic, body)| format.channel(topic, body)));
    let of_ros_1 = ["sensor_msgs/Image", "sensor_msgs/CompressedImage", "sensor_msgs/CameraInfo"].map(|name| Channel {
        topic: topic::LEFT_RAW.to_owned(),
        message_encoding: "ros1".to_owned(),
        schema: Some(Schema { name: name.to_owned(), encoding: "ros1msg".to_owned(), data: Vec::new() }.into()),
        metadata: [].into(),
    });
    let further = [
        (topic::DISPARITY, "stereo_msgs/DisparityImage", "ros1"),
        ("/tf", "tf2_msgs/TFMessage", "ros1"),
        (topic::PAIRS, "std_msgs/String", "ros1"),
        (topic::LEFT_RAW, "dai.proto.img_frame.ImgFrame", "protobuf"),
    ]
    .map(|(topic, name, encoding)| Channel {
        topic: topic.to_owned(),
        message_encoding: encoding.to_owned(),
        schema: Some(Schema { name: name.to_owned(), encoding: String::new(), data: Vec::new() }.into()),
        metadata: [].into(),
    });
    both.chain(of_ros_1).chain(further).collect()
}

/// Attacks a message alone and as both images of a pair.
pub(crate) fn message(input: &[u8]) {
    let &[which, ref data @ ..] = input else { return };
    let channels = channels();
    let channel = &channels[usize::from(which) % channels.len()];
    let packet = |channel: &Channel| Packet {
        channel: channel.clone().into(),
        sequence: 1,
        log_time_ns: 2,
        publish_time_ns: 3,
        data: data.to_vec(),
    };
    let first = packet(channel);
    let _ = UnpackedResult::of(std::slice::from_ref(&first));
    for pixels in [Pixels::Luma, Pixels::Color] {
        let unpacker = Unpacker::of(None, pixels, MaxPixels::default());
        let _ = unpacker.pair(std::slice::from_ref(&first));
        let _ = unpacker.pair(&[first.clone(), first.clone()]);
    }
    let Ok(message) = format::decode(channel, data) else { return };
    // decoded messages can be encoded in both formats and decoded again
    for &format in Format::ALL {
        let channel = format.channel(&channel.topic, &message.body);
        let bytes = format.encode(&message);
        let back = format::decode(&channel, &bytes);
        assert!(back.is_ok(), "{:?} as {format}: {back:?}", message.body.kind());
    }
}
