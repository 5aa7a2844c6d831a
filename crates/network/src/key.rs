//! Names of everything on the network, as key expressions of Zenoh.
//!
//! The number is the protocol's version; peers of another version are listed, and cannot be used.

use crate::console;
use crate::recording::time;
use std::collections::BTreeSet;
use std::fmt;
use std::hash::{BuildHasher as _, RandomState};
use std::time::SystemTime;

/// Version of keys, headers and notes.
pub(crate) const VERSION: u8 = 1;
/// First part of every key.
const ROOT: &str = "stereopsis";

/// A valid name of a rig: letters, digits, `-`, `_`, at most 64 of them.
///
/// # Errors
/// It is none; the text says why.
pub fn check_rig(name: &str) -> Result<(), String> {
    let fits = |c: char| c.is_ascii_alphanumeric() || "-_".contains(c);
    if (1..=64).contains(&name.len()) && name.chars().all(fits) {
        return Ok(());
    }
    Err(format!("'{}': a rig's name has 1 to 64 letters, digits, - and _", console::foreign(name)))
}

/// What belongs to a rig.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Of {
    /// Raw pairs.
    Pair,
    /// Results of its engine.
    Result,
    /// Description, answered by the head.
    About,
    /// Parameters, read and set; answered by the head.
    Parameters,
    /// Controls of cameras, set; answered by the head.
    Controls,
    /// Clock of the head, answered by it.
    Clock,
    /// The newest picture, small; answered by the head.
    Picture,
}

impl Of {
    fn word(self) -> &'static str {
        match self {
            Self::Pair => "pair",
            Self::Result => "result",
            Self::About => "about",
            Self::Parameters => "parameters",
            Self::Controls => "controls",
            Self::Clock => "clock",
            Self::Picture => "picture",
        }
    }

    /// The key of this rig.
    pub fn rig(self, name: &str) -> String {
        format!("{ROOT}/{VERSION}/rig/{name}/{}", self.word())
    }
}

/// What a participant is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Role {
    /// Has cameras and publishes their pairs.
    Head,
    /// A head of one camera, whose partner another machine has.
    Camera,
    /// Matches pairs of rigs.
    Engine,
    /// Passes messages on.
    Router,
}

impl Role {
    const ALL: [Self; 4] = [Self::Head, Self::Camera, Self::Engine, Self::Router];

    /// Its word in keys.
    pub fn word(self) -> &'static str {
        match self {
            Self::Head => "head",
            Self::Camera => "camera",
            Self::Engine => "engine",
            Self::Router => "router",
        }
    }
}

impl fmt::Display for Role {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.word())
    }
}

/// A participant, as its liveliness token names it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Member {
    /// What it is.
    pub role: Role,
    /// The rig's name of a head; else a name that is chosen at random.
    pub name: String,
    /// Number of the run, by which a program that starts again is another one.
    pub boot: u64,
    /// Weight of an engine among engines, see [`super::rendezvous`]; else 0.
    pub weight: u32,
    /// Rigs that an engine matches alone; empty where it matches all.
    pub only: BTreeSet<String>,
}

/// Rigs that an engine can name.
pub const MAX_ONLY: usize = 64;

/// Tokens of members of all versions.
pub(crate) const ALL_MEMBERS: &str = "stereopsis/*/alive/**";
/// The key of the state of a head of whatever kind, in this run.
pub(crate) fn status_of_head(rig: &str, boot: u64) -> String {
    format!("{ROOT}/{VERSION}/status/*/{rig}/{boot:x}")
}

/// The key of the state of all members.
pub fn all_status() -> String {
    format!("{ROOT}/{VERSION}/status/**")
}

impl Member {
    /// A member that begins to run now.
    pub fn new(role: Role, name: impl Into<String>, weight: u32) -> Self {
        // machines of one image may begin in the same instant of their clocks: the last 16 bits are chosen at random
        let boot = time::to_ns(SystemTime::now()) & !0xffff | RandomState::new().hash_one(0) & 0xffff;
        Self { role, name: name.into(), boot, weight, only: BTreeSet::new() }
    }

    /// Whether it is an engine that matches this rig.
    pub fn matches(&self, rig: &str) -> bool {
        self.role == Role::Engine && (self.only.is_empty() || self.only.contains(rig))
    }

    /// Its liveliness token.
    pub fn token(&self) -> String {
        let Self { role, name, boot, weight, only } = self;
        let only: Vec<_> = only.iter().map(String::as_str).collect();
        let only = if only.is_empty() { String::new() } else { format!("/{}", only.join(",")) };
        format!("{ROOT}/{VERSION}/alive/{role}/{name}/{boot:x}/{weight}{only}")
    }

    /// The key under which it tells its state.
    pub fn status(&self) -> String {
        format!("{ROOT}/{VERSION}/status/{}/{}/{:x}", self.role, self.name, self.boot)
    }

    /// The member of a token.
    ///
    /// # Errors
    /// The token is of another version, whose number is the error, or nonsense.
    pub fn of_token(key: &str) -> Result<Self, Option<u8>> {
        let parts: Vec<_> = key.split('/').collect();
        let (&[root, version, "alive", role, name, boot, weight], only) = parts.split_at(parts.len().min(7)) else {
            return Err(parts.get(1).and_then(|version| version.parse().ok()).filter(|&version| version != VERSION));
        };
        let version: u8 = version.parse().map_err(|_| None)?;
        if root != ROOT || version != VERSION {
            return Err(Some(version));
        }
        let role = Role::ALL.into_iter().find(|known| known.word() == role).ok_or(None)?;
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
    fn tokens_come_back_and_others_are_told_apart() {
        for role in Role::ALL {
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
