//! Quality of service of publishers and subscriptions, and its encoding in tokens.

use std::fmt;

/// Quality of service of a publisher or a subscription. Deadline, lifespan and liveliness are always the defaults.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Qos {
    /// Whether lost messages are not resent.
    pub is_best_effort: bool,
    /// Whether late subscribers get the last messages too.
    pub is_latched: bool,
    /// Number of kept messages.
    pub depth: usize,
}

const DEFAULT_DEPTH: usize = 42;

impl Qos {
    /// Profile of images and results: only the newest matters.
    pub const SENSOR_DATA: Self = Self { is_best_effort: true, is_latched: false, depth: 5 };
    /// Profile of small messages.
    pub const DEFAULT: Self = Self { is_best_effort: false, is_latched: false, depth: 10 };
    /// Profile of messages that are sent once.
    pub const LATCHED: Self = Self { is_best_effort: false, is_latched: true, depth: 1 };
}

/// Encodes the profile for a token. Defaults must be empty: receivers rebuild a token before they hash it.
impl fmt::Display for Qos {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (reliability, durability) =
            (if self.is_best_effort { "2" } else { "" }, if self.is_latched { "1" } else { "" });
        let depth = Some(self.depth).filter(|depth| *depth != DEFAULT_DEPTH).map(|depth| depth.to_string());
        write!(f, "{reliability}:{durability}:,{}:,:,:,,", depth.unwrap_or_default())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn encodes_profiles_like_rmw_zenoh() {
        assert_eq!(Qos::SENSOR_DATA.to_string(), "2::,5:,:,:,,");
        assert_eq!(Qos::DEFAULT.to_string(), "::,10:,:,:,,");
        assert_eq!(Qos::LATCHED.to_string(), ":1:,1:,:,:,,");
        assert_eq!(Qos { depth: 42, ..Qos::DEFAULT }.to_string(), "::,:,:,:,,");
    }
}
