//! Reads the environment variables of ROS 2, and builds the Zenoh configuration of a node from them.

use super::super::access::MAX_MESSAGE_BYTES;
use super::error::{CONFIG, DOMAIN, MAX_DOMAIN, OVERRIDE, RosError};
use std::path::PathBuf;

/// Settings from the environment variables.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RosEnvironment {
    /// Domain number; nodes of other domains are invisible.
    pub domain: u32,
    /// Path of a Zenoh configuration that replaces the default one of ROS.
    pub config: Option<PathBuf>,
    /// Keys and JSON5 values that override the configuration.
    pub overrides: Vec<(String, String)>,
}

impl RosEnvironment {
    /// Reads the variables of this process.
    ///
    /// # Errors
    /// A variable is invalid.
    pub fn of_environment() -> Result<Self, RosError> {
        Self::of(|name| std::env::var(name).ok().filter(|words| !words.trim().is_empty()))
    }

    fn of(variable: impl Fn(&str) -> Option<String>) -> Result<Self, RosError> {
        let domain = variable(DOMAIN).map_or(Ok(0), |words| {
            let number = words.trim().parse().ok().filter(|number| *number <= MAX_DOMAIN);
            number.ok_or(RosError::Domain(words))
        })?;
        let mut overrides = Vec::new();
        if let Some(words) = variable(OVERRIDE) {
            for pair in words.split(';').map(str::trim).filter(|pair| !pair.is_empty()) {
                let (key, value) = pair.split_once('=').ok_or_else(|| RosError::Override(words.clone()))?;
                overrides.push((key.trim().to_owned(), value.trim().to_owned()));
            }
        }
        Ok(Self { domain, config: variable(CONFIG).map(PathBuf::from), overrides })
    }

    /// Builds Zenoh's configuration: like `rmw_zenoh_cpp`, a peer that listens only on this machine and finds others through their router.
    pub(super) fn zenoh(&self) -> Result<zenoh::Config, RosError> {
        let mut config = match &self.config {
            Some(path) => zenoh::Config::from_file(path).map_err(|cause| RosError::Config(path.clone(), cause))?,
            None => of_ros()?,
        };
        for (key, value) in &self.overrides {
            config
                .insert_json5(key, value)
                .map_err(|cause| RosError::RefusedOverride(key.clone(), value.clone(), cause))?;
        }
        // messages for late subscribers need time stamps
        set(&mut config, "timestamping/enabled", "true")?;
        Ok(config)
    }

    /// Returns the addresses of the routers, for messages.
    pub(super) fn routers(config: &zenoh::Config) -> String {
        let endpoints = config.get_json("connect/endpoints").unwrap_or_default();
        let words = serde_json::from_str::<Vec<String>>(&endpoints).unwrap_or_default();
        if words.is_empty() { "any address of Zenoh's configuration".to_owned() } else { words.join(", ") }
    }
}

fn set(config: &mut zenoh::Config, key: &'static str, value: &str) -> Result<(), RosError> {
    config.insert_json5(key, value).map_err(|cause| RosError::Refused(key, cause))
}

fn of_ros() -> Result<zenoh::Config, RosError> {
    let mut config = zenoh::Config::default();
    let limit = MAX_MESSAGE_BYTES.to_string();
    for (key, value) in [
        ("mode", "\"peer\""),
        ("connect/endpoints", "[\"tcp/localhost:7447\"]"),
        ("connect/timeout_ms", "-1"),
        ("connect/exit_on_failure", "false"),
        ("connect/retry", r#"{"period_init_ms":200,"period_max_ms":1000,"period_increase_factor":2}"#),
        ("listen/endpoints", "[\"tcp/localhost:0\"]"),
        ("scouting/multicast/enabled", "false"),
        ("scouting/gossip/enabled", "true"),
        ("scouting/gossip/target", r#"{"router":["router","peer"],"peer":["router"]}"#),
        ("queries_default_timeout", "600000"),
        ("transport/link/rx/max_message_size", &limit),
    ] {
        set(&mut config, key, value)?;
    }
    Ok(config)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(set: &[(&str, &str)]) -> Result<RosEnvironment, RosError> {
        RosEnvironment::of(|name| set.iter().find(|(known, _)| *known == name).map(|(_, words)| (*words).to_owned()))
    }

    #[test]
    fn applies_variables_and_names_invalid_ones() {
        let config = of(&[]).unwrap().zenoh().unwrap();
        assert_eq!(RosEnvironment::routers(&config), "tcp/localhost:7447");
        assert_eq!(config.get_json("mode").unwrap(), "\"peer\"");
        let words = "connect/endpoints=[\"tcp/robot:7450\"]; mode=\"client\";";
        let there = of(&[(DOMAIN, " 42 "), (OVERRIDE, words)]).unwrap();
        assert_eq!(there.domain, 42);
        let config = there.zenoh().unwrap();
        assert_eq!(RosEnvironment::routers(&config), "tcp/robot:7450");
        assert_eq!(config.get_json("mode").unwrap(), "\"client\"");
        for (set, why) in [
            ((DOMAIN, "x"), "expected a number from 0 to 232"),
            ((DOMAIN, "233"), "expected a number from 0 to 232"),
            ((OVERRIDE, "mode"), "expected KEY=VALUE"),
        ] {
            let text = of(&[set]).unwrap_err().to_string();
            assert!(text.contains(why) && text.contains(set.0), "{text}");
        }
        for (set, why) in [
            ((OVERRIDE, "no/such=1"), "Zenoh refuses no/such=1"),
            ((CONFIG, "/no/such.json5"), "cannot use /no/such.json5"),
        ] {
            let text = of(&[set]).unwrap().zenoh().unwrap_err().to_string();
            assert!(text.contains(why), "{text}");
        }
    }

    #[test]
    fn a_configuration_file_replaces_the_default() {
        let mut file = tempfile::NamedTempFile::with_suffix(".json5").unwrap();
        std::io::Write::write_all(&mut file, b"{mode: 'client', connect: {endpoints: ['tcp/robot:1']}}").unwrap();
        let config = of(&[(CONFIG, file.path().to_str().unwrap())]).unwrap().zenoh().unwrap();
        assert_eq!(RosEnvironment::routers(&config), "tcp/robot:1");
        assert_eq!(config.get_json("timestamping/enabled").unwrap(), "true");
    }
}
