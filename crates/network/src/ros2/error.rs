//! Faults of ROS 2's graph.

use super::super::error::{command, listed};
use std::path::PathBuf;
use std::time::Duration;
use stereopsis_base::console::{self, counted, foreign};
use stereopsis_frame::{CaptureError, Cause};

pub(super) const DOMAIN: &str = "ROS_DOMAIN_ID";
/// Variable with the path of a Zenoh configuration that replaces the default one of ROS.
pub(super) const CONFIG: &str = "ZENOH_SESSION_CONFIG_URI";
/// Variable with settings: `KEY=VALUE;KEY=VALUE`.
pub(super) const OVERRIDE: &str = "ZENOH_CONFIG_OVERRIDE";
pub(super) const MAX_DOMAIN: u32 = 232;
pub(super) const FIRST_PAIR_TIMEOUT: Duration = Duration::from_secs(30);

/// Fault of a node of ROS 2.
#[derive(Debug, thiserror::Error)]
pub enum RosError {
    /// The variable of the domain is invalid.
    #[error("the variable {} is '{}': expected a number from 0 to {}", DOMAIN, foreign(.0), MAX_DOMAIN)]
    Domain(String),
    /// The variable with settings of Zenoh is invalid.
    #[error(
        "the variable {} is '{}': expected KEY=VALUE;KEY=VALUE, such as connect/endpoints=[\"tcp/robot:7447\"]",
        OVERRIDE, foreign(.0)
    )]
    Override(String),
    /// The configuration file cannot be used.
    #[error("cannot use {} of the variable {} as Zenoh's configuration: {}", console::path(.0), CONFIG, .1)]
    Config(PathBuf, Cause),
    /// Zenoh refuses a key and value of the user.
    #[error("Zenoh refuses {}={} of the variable {}: {}", foreign(.0), foreign(.1), OVERRIDE, .2)]
    RefusedOverride(String, String, Cause),
    /// Zenoh refuses a setting of this program.
    #[error("Zenoh refuses {0}: {1}")]
    Refused(&'static str, Cause),
    /// The graph cannot be joined by these routers.
    #[error("cannot join ROS 2's graph by {}: {}", .0, foreign(&.1.to_string().chars().take(300).collect::<String>()))]
    Join(String, Cause),
    /// A topic cannot be announced.
    #[error("cannot show {0} to ROS 2's nodes: {1}")]
    Show(String, Cause),
    /// A topic cannot be published.
    #[error("cannot publish {0} to ROS 2: {1}")]
    Publish(String, Cause),
    /// A topic cannot be received.
    #[error("cannot receive {0} from ROS 2: {1}")]
    Receive(String, Cause),
    /// No router answers at these addresses.
    #[error(
        "no router answers at {}: start {} or `ros2 run rmw_zenoh_cpp rmw_zenohd`, or name another one with \
         ZENOH_CONFIG_OVERRIDE='connect/endpoints=[\"tcp/HOST:7447\"]'",
        foreign(.0),
        command("router")
    )]
    NoRouter(String),
    /// No pair came in time.
    #[error("{}{}; {}", missing(.silent), refusals(.refused.as_ref()), there(.pictures))]
    NoPair {
        /// Topics without an image.
        silent: Vec<String>,
        /// Number of refused messages, and the last reason.
        refused: Option<(u64, String)>,
        /// Topics of images that exist.
        pictures: Vec<String>,
    },
    /// The topics of a driver cannot be read.
    #[error("cannot read {} and {} from ROS 2: {}", .0[0], .0[1], .1)]
    Driver([String; 2], Box<Self>),
    /// One of two cameras has a description.
    #[error("only one of the two cameras is described, nothing comes from {}", foreign(.0))]
    OneCamera(String),
}

impl From<RosError> for CaptureError {
    fn from(err: RosError) -> Self {
        Self::Camera(err.into())
    }
}

fn missing(silent: &[String]) -> String {
    let seconds = FIRST_PAIR_TIMEOUT.as_secs();
    match silent {
        [] => format!(
            "images of both came within {seconds} s, and none were taken at nearly the same time: are the stamps of both those of one clock?"
        ),
        [one] => format!("no image of {} came within {seconds} s", foreign(one)),
        _ => format!("no image came within {seconds} s"),
    }
}

fn refusals(refused: Option<&(u64, String)>) -> String {
    refused.map_or_else(String::new, |(count, why)| {
        format!("; {} refused, the last one because: {why}", counted(*count, "message"))
    })
}

fn there(pictures: &[String]) -> String {
    if pictures.is_empty() {
        return "no node publishes images in this domain: does the driver run with RMW_IMPLEMENTATION=rmw_zenoh_cpp and the same \
                ROS_DOMAIN_ID?"
            .to_owned();
    }
    format!("topics of images are {}", listed(&pictures.iter().map(|name| foreign(name)).collect::<Vec<_>>()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_image_topics_or_explains_their_absence() {
        assert!(there(&[]).contains("RMW_IMPLEMENTATION=rmw_zenoh_cpp"));
        let words = there(&(0..15).map(|k| format!("/camera{k:02}/image_raw")).collect::<Vec<_>>());
        assert!(words.starts_with("topics of images are /camera00/image_raw, /camera01/"), "{words}");
        assert!(words.ends_with(" and 3 more"), "{words}");
    }
}
