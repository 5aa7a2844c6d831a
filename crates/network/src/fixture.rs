//! Messages for the tests of other crates.

use crate::wire::{self, Content};
use std::sync::Arc;
use std::time::SystemTime;
use stereopsis_recording::message::{Body, Message};
use stereopsis_recording::{Format, Packet, topic};

/// Builds a rig's message with images on these topics that declare 16384x16384 px and contain one byte.
pub fn bomb(pictures: &[&str]) -> zenoh::bytes::ZBytes {
    let body = Body::Compressed { format: "png".into(), data: (*b"P5 16384 16384 255\n7").into() };
    let packet = |name: &&str| Packet {
        channel: Arc::new(Format::Ros2.channel(&format!("{name}{}", topic::COMPRESSED), &body)),
        sequence: 0,
        log_time_ns: 0,
        publish_time_ns: 0,
        data: Format::Ros2.encode(&Message { stamp: SystemTime::UNIX_EPOCH, frame_id: "a".into(), body: body.clone() }),
    };
    wire::payload(pictures.iter().map(packet).collect(), Content::Pair).expect("small")
}
