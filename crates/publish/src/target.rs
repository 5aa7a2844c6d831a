//! Value of `--publish`: the receivers of a run.

use super::address::Address;
use std::fmt;
use std::str::FromStr;

/// Receivers of a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PublishTarget {
    /// Clients of a WebSocket: `foxglove[=ADDRESS]`.
    Foxglove(Address),
    /// Nodes of ROS 2, through Zenoh: `ros2`.
    #[cfg(feature = "zenoh")]
    Ros2,
}

impl FromStr for PublishTarget {
    type Err = String;

    fn from_str(words: &str) -> Result<Self, String> {
        match words.split('=').next().unwrap_or_default() {
            "foxglove" => words.parse().map(Self::Foxglove),
            #[cfg(feature = "zenoh")]
            "ros2" if words == "ros2" => Ok(Self::Ros2),
            #[cfg(not(feature = "zenoh"))]
            "ros2" if words == "ros2" => Err(format!("ros2 {}", stereopsis_base::console::NO_NETWORK)),
            "ros2" => Err(format!(
                "'{words}': ros2 takes no address; the variables ROS_DOMAIN_ID and ZENOH_CONFIG_OVERRIDE say where its nodes are"
            )),
            other => Err(format!("'{other}': expected foxglove, foxglove=ADDRESS:PORT or ros2")),
        }
    }
}

impl fmt::Display for PublishTarget {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Foxglove(address) => address.fmt(f),
            #[cfg(feature = "zenoh")]
            Self::Ros2 => f.write_str("ros2"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parses_and_prints_targets_and_rejects_others() {
        for words in ["foxglove=127.0.0.1:8765", "foxglove=[::1]:9"] {
            assert_eq!(words.parse::<PublishTarget>().unwrap().to_string(), words);
        }
        assert_eq!("ros2".parse::<PublishTarget>().is_ok(), cfg!(feature = "zenoh"));
        for (words, why) in [
            ("ros", "'ros': expected foxglove, foxglove=ADDRESS:PORT or ros2"),
            ("ros2=robot", "ros2 takes no address"),
            ("foxglove=9000", "that is no address"),
            ("", "expected foxglove"),
        ] {
            let text = words.parse::<PublishTarget>().unwrap_err();
            assert!(text.contains(why), "{words}: {text}");
        }
    }
}
