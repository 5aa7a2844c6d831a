//! Keys of messages, and liveliness tokens that announce nodes, publishers and subscriptions, in the form of `rmw_zenoh_cpp`.

use super::qos::Qos;
use super::types;
use stereopsis_recording::format::Kind;

const ROOT: &str = "@ros2_lv";

/// Words of the two ends of a topic.
pub(super) const PUBLISHER: &str = "MP";
pub(super) const SUBSCRIPTION: &str = "MS";

/// Token of a node of this program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct NodeToken {
    pub(super) domain: u32,
    pub(super) session: String,
    /// Id of the node in its session.
    pub(super) id: u64,
    pub(super) namespace: String,
    pub(super) name: &'static str,
}

impl NodeToken {
    pub(super) fn node(&self) -> String {
        self.of(self.id, "NN")
    }

    /// Returns the token of an end, [`PUBLISHER`] or [`SUBSCRIPTION`], with this id in the session.
    pub(super) fn end(&self, id: u64, end: &str, topic: &str, kind: Kind, qos: Qos) -> String {
        let types::RosType { name, hash } = types::of(kind);
        format!("{}/{}/{name}/{hash}/{qos}", self.of(id, end), mangled(topic))
    }

    fn of(&self, id: u64, what: &str) -> String {
        let Self { domain, session, id: node, namespace, name } = self;
        // % stands for the root enclave
        format!("{ROOT}/{domain}/{session}/{node}/{id}/{what}/%/{}/{name}", mangled(namespace))
    }
}

/// Returns the key expression of all tokens of a domain.
pub(super) fn all(domain: u32) -> String {
    format!("{ROOT}/{domain}/**")
}

/// Returns the key for sending messages on a topic.
pub(super) fn data(domain: u32, topic: &str, kind: Kind) -> String {
    key(domain, topic, kind, types::of(kind).hash)
}

/// Returns the key expression for receiving messages of a topic from all ROS releases; Humble sends no hash.
pub(super) fn data_of_all(domain: u32, topic: &str, kind: Kind) -> String {
    key(domain, topic, kind, "*")
}

fn key(domain: u32, topic: &str, kind: Kind, hash: &str) -> String {
    format!("{domain}/{}/{}/{hash}", topic.trim_matches('/'), types::of(kind).name)
}

/// Escapes a name for use in a token.
fn mangled(name: &str) -> String {
    name.replace('/', "%")
}

/// Publisher of any node.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct PublisherToken {
    pub(super) topic: String,
    /// Name of the message type on the wire.
    pub(super) type_name: String,
}

impl PublisherToken {
    /// Parses the token of a publisher; `None` for other tokens. Later releases append parts.
    pub(super) fn of(token: &str) -> Option<Self> {
        let parts: Vec<&str> = token.split('/').collect();
        match parts[..] {
            [ROOT, _, _, _, _, PUBLISHER, _, _, _, topic, type_name, _, _, ..] => {
                Some(Self { topic: topic.replace('%', "/"), type_name: type_name.to_owned() })
            }
            _ => None,
        }
    }

    /// Returns whether it publishes messages of this kind on this topic.
    pub(super) fn is(&self, topic: &str, kind: Kind) -> bool {
        self.topic == topic && self.type_name == types::of(kind).name
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use stereopsis_recording::topic;

    fn node() -> NodeToken {
        NodeToken {
            domain: 7,
            session: "aac3178e146ba6f1".to_owned(),
            id: 0,
            namespace: "/stereo".to_owned(),
            name: "stereopsis",
        }
    }

    #[test]
    fn keys_equal_those_of_rmw_zenoh() {
        assert_eq!(
            data(0, topic::DEPTH, Kind::Image),
            "0/stereo/depth/image_raw/sensor_msgs::msg::dds_::Image_/\
             RIHS01_d31d41a9a4c4bc8eae9be757b0beed306564f7526c88ea6a4588fb9582527d47"
        );
        assert_eq!(
            data(232, topic::TRANSFORMS, Kind::Transform),
            "232/tf_static/tf2_msgs::msg::dds_::TFMessage_/\
             RIHS01_e369d0f05a23ae52508854b66f6aa0437f3449d652e8cbf22d5abe85d020f087"
        );
        assert_eq!(data_of_all(0, "/l/image", Kind::Image), "0/l/image/sensor_msgs::msg::dds_::Image_/*");
    }

    #[test]
    fn tokens_equal_those_of_rmw_zenoh() {
        assert_eq!(node().node(), "@ros2_lv/7/aac3178e146ba6f1/0/0/NN/%/%stereo/stereopsis");
        let sent = node().end(3, PUBLISHER, topic::LEFT_RAW, Kind::Image, Qos::SENSOR_DATA);
        assert_eq!(
            sent,
            "@ros2_lv/7/aac3178e146ba6f1/0/3/MP/%/%stereo/stereopsis/%stereo%left%image_raw/\
             sensor_msgs::msg::dds_::Image_/RIHS01_d31d41a9a4c4bc8eae9be757b0beed306564f7526c88ea6a4588fb9582527d47/\
             2::,5:,:,:,,"
        );
        let latched = node().end(4, SUBSCRIPTION, topic::TRANSFORMS, Kind::Transform, Qos::LATCHED);
        assert!(
            latched.contains("/0/4/MS/%/%stereo/stereopsis/%tf_static/tf2_msgs::msg::dds_::TFMessage_/RIHS01_e369")
        );
        assert!(latched.ends_with("/:1:,1:,:,:,,"), "{latched}");
    }

    #[test]
    fn parses_tokens_of_publishers_only() {
        let token = node().end(3, PUBLISHER, "/left/image_raw", Kind::Image, Qos::SENSOR_DATA);
        for token in [token.clone(), format!("{token}/backends:cpu")] {
            let published = PublisherToken::of(&token).unwrap();
            assert!(published.is("/left/image_raw", Kind::Image) && !published.is("/left/image_raw", Kind::Compressed));
        }
        for other in [
            node().node(),
            node().end(3, SUBSCRIPTION, "/left/image_raw", Kind::Image, Qos::SENSOR_DATA),
            token.rsplit_once('/').unwrap().0.to_owned(),
            String::new(),
            "a/b/c/d/e/MP/g/h/i/j/k/l/m".to_owned(),
        ] {
            assert_eq!(PublisherToken::of(&other), None, "{other}");
        }
    }

    #[test]
    fn hashes_equal_those_of_ros() {
        let hash = |kind| types::of(kind).hash;
        assert!(hash(Kind::Compressed).starts_with("RIHS01_15640771") && hash(Kind::Compressed).ends_with("8e371a"));
        assert!(hash(Kind::Camera).starts_with("RIHS01_b3dfd68f") && hash(Kind::Camera).ends_with("e7e275"));
        assert!(hash(Kind::Disparity).starts_with("RIHS01_1ec1ff6b") && hash(Kind::Disparity).ends_with("cf2711"));
        assert!(hash(Kind::Json).starts_with("RIHS01_df668c74") && hash(Kind::Json).ends_with("6b1a18"));
        assert!(hash(Kind::Points).starts_with("RIHS01_9198cabf") && hash(Kind::Points).ends_with("bae2b5"));
    }
}
