//! Value of `--publish`: the receivers of a run.

use super::address::Address;
use super::error::AddressError;
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
    type Err = AddressError;

    fn from_str(words: &str) -> Result<Self, AddressError> {
        match words.split('=').next().unwrap_or_default() {
            "foxglove" => words.parse().map(Self::Foxglove),
            #[cfg(feature = "zenoh")]
            "ros2" if words == "ros2" => Ok(Self::Ros2),
            #[cfg(not(feature = "zenoh"))]
            "ros2" if words == "ros2" => Err(AddressError::NoNetwork),
            "ros2" => Err(AddressError::Ros2(words.to_owned())),
            other => Err(AddressError::Target(other.to_owned())),
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
            let text = words.parse::<PublishTarget>().unwrap_err().to_string();
            assert!(text.contains(why), "{words}: {text}");
        }
    }
}
