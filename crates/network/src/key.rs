//! Zenoh keys of the protocol: topics of rigs, and liveliness tokens and states of members. Each key contains the protocol version;
//! members of other versions are only listed.

use super::error::NetworkError;
use std::collections::BTreeSet;
use std::hash::{BuildHasher as _, RandomState};
use std::time::SystemTime;
use stereopsis_base::parameter::choices;
use stereopsis_recording::time;

/// Version of keys, headers and notes.
pub(crate) const VERSION: u8 = 1;
const ROOT: &str = "stereopsis";

/// Checks the name of a rig: 1 to 64 letters, digits, `-` and `_`.
///
/// # Errors
/// The name is invalid.
pub fn check_rig(name: &str) -> Result<(), NetworkError> {
    let fits = |c: char| c.is_ascii_alphanumeric() || "-_".contains(c);
    if (1..=64).contains(&name.len()) && name.chars().all(fits) {
        return Ok(());
    }
    Err(NetworkError::Name(name.to_owned()))
}

choices! {
    /// Topics of a rig.
    pub enum RigTopic {
        /// Raw pairs.
        Pair = "pair",
        /// Results of its engine.
        Result = "result",
        /// Description, answered by the head.
        About = "about",
        /// Parameters, read and set at the head.
        Parameters = "parameters",
        /// Camera controls, set at the head.
        Controls = "controls",
        /// Clock of the head.
        Clock = "clock",
        /// Thumbnail of the newest image, answered by the head.
        Picture = "picture",
    }
}

impl RigTopic {
    /// Returns the key of the topic for this rig.
    pub fn rig(self, name: &str) -> String {
        format!("{ROOT}/{VERSION}/rig/{name}/{}", self.word())
    }
}

choices! {
    /// Role of a member.
    pub enum Role {
        /// Head: publishes pairs of its cameras.
        Head = "head",
        /// Head of one camera, whose partner is on another machine.
        Camera = "camera",
        /// Engine: matches pairs of rigs.
        Engine = "engine",
        /// Router: forwards messages.
        Router = "router",
    }
}

/// Member of the network, as in its liveliness token.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, serde::Serialize)]
pub struct Member {
    /// Role of the member.
    pub role: Role,
    /// Rig name of a head; otherwise a random name.
    pub name: String,
    /// Run id, new at each start.
    pub boot: u64,
    /// Weight of an engine, see [`super::rendezvous`]; otherwise 0.
    pub weight: u32,
    /// Rigs that an engine is restricted to; empty for all.
    #[serde(skip)]
    pub only: BTreeSet<String>,
}

/// Maximum number of rigs in an engine's list.
pub const MAX_ONLY: usize = 64;

pub(crate) const ALL_MEMBERS: &str = "stereopsis/*/alive/**";
/// Returns the state key of a run of a head of either kind.
pub(crate) fn status_of_head(rig: &str, boot: u64) -> String {
    format!("{ROOT}/{VERSION}/status/*/{rig}/{boot:x}")
}

/// Returns the key expression of all states.
pub fn all_status() -> String {
    format!("{ROOT}/{VERSION}/status/**")
}

impl Member {
    /// Creates a member with a new run id.
    pub fn new(role: Role, name: impl Into<String>, weight: u32) -> Self {
        // machines of one disk image may start at the same clock time: the last 16 bits are random
        let boot = time::to_ns(SystemTime::now()) & !0xffff | RandomState::new().hash_one(0) & 0xffff;
        Self { role, name: name.into(), boot, weight, only: BTreeSet::new() }
    }

    /// Returns whether it is an engine that matches this rig.
    pub fn matches(&self, rig: &str) -> bool {
        self.role == Role::Engine && (self.only.is_empty() || self.only.contains(rig))
    }

    /// Returns the liveliness token.
    pub fn token(&self) -> String {
        let Self { role, name, boot, weight, only } = self;
        let only: Vec<_> = only.iter().map(String::as_str).collect();
        let only = if only.is_empty() { String::new() } else { format!("/{}", only.join(",")) };
        format!("{ROOT}/{VERSION}/alive/{role}/{name}/{boot:x}/{weight}{only}")
    }

    /// Returns the key of the member's state.
    pub fn status(&self) -> String {
        format!("{ROOT}/{VERSION}/status/{}/{}/{:x}", self.role, self.name, self.boot)
    }

    /// Parses a token.
    ///
    /// # Errors
    /// The number of another protocol version, or `None` for an invalid token.
    pub fn of_token(key: &str) -> Result<Self, Option<u8>> {
        let parts: Vec<_> = key.split('/').collect();
        let (&[root, version, "alive", role, name, boot, weight], only) = parts.split_at(parts.len().min(7)) else {
            return Err(parts.get(1).and_then(|version| version.parse().ok()).filter(|&version| version != VERSION));
        };
        let version: u8 = version.parse().map_err(|_| None)?;
        if root != ROOT || version != VERSION {
            return Err(Some(version));
        }
        let role = Role::from_word(role).ok_or(None)?;
        check_rig(name).map_err(|_| None)?;
        let boot = u64::from_str_radix(boot, 16).map_err(|_| None)?;
        let weight = weight.parse().map_err(|_| None)?;
        let only = match only {
            [] => BTreeSet::new(),
            [only] => only.split(',').map(str::to_owned).collect(),
            _ => return Err(None),
        };
        if only.len() > MAX_ONLY || only.iter().any(|rig| check_rig(rig).is_err()) {
            return Err(None);
        }
        Ok(Self { role, name: name.to_owned(), boot, weight, only })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parses_tokens_and_rejects_others() {
        for &role in Role::ALL {
            for only in [BTreeSet::new(), ["a".to_owned(), "b-1".to_owned()].into()] {
                let member = Member { role, name: "pi-4_b".into(), boot: 0xfeed, weight: 64, only };
                assert_eq!(Member::of_token(&member.token()), Ok(member));
            }
        }
        assert_eq!(Member::of_token("stereopsis/2/alive/head/pi/1/0"), Err(Some(2)));
        assert_eq!(Member::of_token("stereopsis/7/other"), Err(Some(7)));
        for nonsense in [
            "",
            "a",
            "stereopsis/1/alive/head/pi/x/0",
            "stereopsis/1/alive/cat/pi/1/0",
            "stereopsis/1/alive/head/p$/1/0",
            "stereopsis/1/alive/engine/e/1/0/",
            "stereopsis/1/alive/engine/e/1/0/a,b c",
            "stereopsis/1/alive/engine/e/1/0/a/b",
        ] {
            assert_eq!(Member::of_token(nonsense), Err(None), "{nonsense}");
        }
        for name in ["", "a/b", "a b", "*", &"x".repeat(65)] {
            assert!(check_rig(name).is_err(), "{name}");
        }
    }
}
