//! Topics that look like images and are not read.

use super::index::FileIndex;
use crate::{Channel, format};
use stereopsis_base::console::foreign;

/// Maximum topics listed in a message.
const MAX_LISTED: usize = 8;
/// Parts of the names of types that contain images or video.
const IMAGE_TYPES: [&str; 7] = ["image", "img", "picture", "jpeg", "video", "theora", "ffmpeg"];
/// Parts of the names of types that describe images.
const OTHER_TYPES: [&str; 3] = ["annotation", "marker", "disparity"];

/// Returns the channels with messages that look like images and are not read.
pub(super) fn channels(index: &FileIndex) -> impl Iterator<Item = &Channel> {
    let is_unread = |channel: &&Channel| {
        let name = type_of(channel).to_lowercase();
        format::kind(channel).is_none()
            && IMAGE_TYPES.iter().any(|part| name.contains(part))
            && !OTHER_TYPES.iter().any(|part| name.contains(part))
            && !index.positions(&channel.topic).is_empty()
    };
    index.channels.iter().map(|channel| &**channel).filter(is_unread)
}

/// Returns a sentence on all topics, for a file in which none looks like images.
pub(super) fn all(index: &FileIndex) -> Option<String> {
    let has_messages = |channel: &&std::sync::Arc<Channel>| !index.positions(&channel.topic).is_empty();
    let mut topics = index.channels.iter().filter(has_messages);
    let named = |channel: &std::sync::Arc<Channel>| {
        let [name, schema] = [&channel.topic, type_of(channel)].map(foreign);
        format!("{name} ({schema})")
    };
    let listed: Vec<_> = topics.by_ref().take(MAX_LISTED).map(named).collect();
    let more = topics.count();
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    (!listed.is_empty()).then(|| format!("its topics are {}{more}", listed.join(", ")))
}

/// Lists channels with their types and encodings, and why each is not read; `coding` returns the coding of a video.
pub(super) fn list<'a>(
    channels: impl Iterator<Item = &'a Channel>,
    mut coding: impl FnMut(&Channel) -> Option<String>,
) -> Vec<String> {
    let mut listed = Vec::new();
    let mut more = 0;
    for channel in channels {
        if listed.len() == MAX_LISTED {
            more += 1;
            continue;
        }
        let coding = coding(channel).unwrap_or_else(|| channel.message_encoding.clone());
        let [name, schema, coding] = [&channel.topic, type_of(channel), &coding].map(foreign);
        listed.push(format!("{name} ({schema}, {coding}): {}", why(channel)));
    }
    listed.extend((more > 0).then(|| format!("and {more} more")));
    listed
}

fn why(channel: &Channel) -> &'static str {
    let name = type_of(channel).to_lowercase();
    match channel.message_encoding.as_str() {
        _ if ["video", "theora", "ffmpeg"].iter().any(|part| name.contains(part)) => {
            "video is not read, decode it into a topic of images first"
        }
        "json" => "images in JSON are not read, record them as ROS 2's or Foxglove's (protobuf) messages",
        "cdr" | "ros1" | "protobuf" => {
            "this type is not read, record sensor_msgs/Image, CompressedImage or Foxglove's RawImage, CompressedImage"
        }
        _ => "this encoding is not read, record ROS 2's (cdr) or Foxglove's (protobuf) messages",
    }
}

fn type_of(channel: &Channel) -> &str {
    channel.schema.as_ref().map_or("", |schema| &schema.name)
}
