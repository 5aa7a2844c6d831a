//! Metadata for `ros2 bag`, version 8: quality of service of each topic, and a summary of the file.
//!
//! Policies are numbers, which every ROS 2 since Humble reads.

use crate::{Channel, topic};
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::sync::Arc;

/// Key of [`offered_qos`] in a channel's metadata.
pub(super) const QOS: &str = "offered_qos_profiles";

/// Name of the MCAP metadata record with [`bag_metadata`].
pub const METADATA_NAME: &str = "rosbag2";

/// Returns the quality of service of a topic for playback, as YAML.
pub(super) fn offered_qos(topic: &str) -> String {
    // late subscribers still get a message that is sent only once
    let (depth, durability) = if is_latched(topic) { (1, 1) } else { (10, 2) };
    let forever = "\n    sec: 9223372036\n    nsec: 854775807";
    // reliable publishers serve reliable and best-effort subscribers
    format!(
        "- history: 1\n  depth: {depth}\n  reliability: 1\n  durability: {durability}\n  deadline:{forever}\n  lifespan:{forever}\n  \
         liveliness: 1\n  liveliness_lease_duration:{forever}\n  avoid_ros_namespace_conventions: false\n"
    )
}

fn is_latched(topic: &str) -> bool {
    topic == topic::TRANSFORMS || topic == topic::ABOUT
}

/// Returns the contents of the MCAP metadata record [`METADATA_NAME`].
///
/// Newer players take counts from MCAP's own statistics, but without this record they expect names of policies where
/// [`Channel::metadata`] has numbers. So it is also at the start of a file, without messages, in case the file is never finished.
///
/// `file_name` is without a folder, `counts` has the number of messages of each channel, and the times are the smallest and the
/// largest log time, ns since 1970.
pub fn bag_metadata(
    file_name: &str,
    counts: &[(Arc<Channel>, u64)],
    (start_ns, end_ns): (u64, u64),
) -> BTreeMap<String, String> {
    let messages: u64 = counts.iter().map(|(_, count)| count).sum();
    let times = |indent: &str| {
        let duration_ns = end_ns.saturating_sub(start_ns);
        format!(
            "{indent}duration:\n{indent}  nanoseconds: {duration_ns}\n{indent}starting_time:\n\
             {indent}  nanoseconds_since_epoch: {start_ns}\n{indent}message_count: {messages}\n"
        )
    };
    let mut yaml = format!("version: 8\nstorage_identifier: mcap\n{}", times(""));
    yaml += if counts.is_empty() { "topics_with_message_count: []\n" } else { "topics_with_message_count:\n" };
    for (channel, count) in counts {
        let kind = channel.schema.as_ref().map_or("", |schema| &schema.name);
        let qos = channel.metadata.get(QOS).map_or("", String::as_str);
        // a write to a string does not fail
        let _ = write!(
            yaml,
            "  - topic_metadata:\n      name: {}\n      type: {}\n      serialization_format: {}\n      \
             offered_qos_profiles: {}\n      type_description_hash: \"\"\n    message_count: {count}\n",
            quoted(&channel.topic),
            quoted(kind),
            quoted(&channel.message_encoding),
            quoted(qos),
        );
    }
    let file_name = quoted(file_name);
    let file_times = times("    ");
    let _ = write!(
        yaml,
        "compression_format: \"\"\ncompression_mode: \"\"\nrelative_file_paths:\n  - {file_name}\nfiles:\n  - path: {file_name}\n\
         {file_times}custom_data: {{}}\nros_distro: \"\"\n"
    );
    [("serialized_metadata".to_owned(), yaml)].into()
}

/// Quotes words as a YAML scalar: each JSON string is one.
fn quoted(words: &str) -> String {
    serde_json::Value::from(words).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::format::{Format, Kind};
    use yaml_rust2::YamlLoader;

    #[test]
    fn summary_and_quality_of_service_are_yaml() {
        let still = Arc::new(super::super::channel(topic::TRANSFORMS, Kind::Transform));
        let depth = Arc::new(super::super::channel(topic::DEPTH, Kind::Image));
        let metadata = bag_metadata("a \"b\": 'c'.mcap", &[(still, 1), (depth, 20)], (1_000, 5_000));
        let yaml = &YamlLoader::load_from_str(&metadata["serialized_metadata"]).unwrap()[0];
        assert_eq!(yaml["message_count"].as_i64(), Some(21));
        assert_eq!(yaml["duration"]["nanoseconds"].as_i64(), Some(4_000));
        assert_eq!(yaml["files"][0]["path"].as_str(), Some("a \"b\": 'c'.mcap"));
        assert_eq!(yaml["files"][0]["message_count"].as_i64(), Some(21));
        let topics = &yaml["topics_with_message_count"];
        assert_eq!(topics[1]["topic_metadata"]["type"].as_str(), Some("sensor_msgs/msg/Image"));
        for (k, durability) in [(0, 1), (1, 2)] {
            let qos = topics[k]["topic_metadata"]["offered_qos_profiles"].as_str().unwrap();
            let qos = &YamlLoader::load_from_str(qos).unwrap()[0][0];
            assert_eq!(qos["durability"].as_i64(), Some(durability), "1 is transient local, 2 volatile");
            assert_eq!(qos["reliability"].as_i64(), Some(1), "reliable");
            assert_eq!(qos["lifespan"]["sec"].as_i64(), Some(9_223_372_036));
        }
        let nothing = bag_metadata("a.mcap", &[], (0, 0));
        let yaml = &YamlLoader::load_from_str(&nothing["serialized_metadata"]).unwrap()[0];
        assert_eq!(yaml["topics_with_message_count"].as_vec().map(Vec::len), Some(0));
        assert_eq!(Format::Ros2.profile(), "ros2");
    }
}
