//! Faults of heads as sources.

use super::access::Endpoint;
use super::error::{NetworkError, command, listed};
use super::inlet::InletCounts;
use super::key::VERSION;
use std::time::Duration;
use stereopsis_base::console::foreign;
use stereopsis_base::remedy::{Part, Remedy, option};
use stereopsis_frame::{CaptureError, Cause, Side};

pub(super) const FIRST_PAIR_TIMEOUT: Duration = Duration::from_secs(10);

/// Reason why a head is no source.
#[derive(Debug, thiserror::Error)]
pub(super) enum HeadError {
    #[error(transparent)]
    Network(#[from] NetworkError),
    #[error("head '{head}' has the {} camera alone: open both as zenoh:LEFT,RIGHT, by the names of their heads", .side.word())]
    Alone { head: String, side: Side },
    #[error("head '{head}' has the {} camera: name the head of the left camera first", .side.word())]
    OtherSide { head: String, side: Side },
    #[error("head '{head}' has both cameras: open it alone, as zenoh:{head}, or start it with {}", Remedy::set("eye", .side.word()))]
    BothCameras { head: String, side: Side },
    #[error("rig '{rig}': {cause}")]
    TooLarge { rig: String, cause: Cause },
    #[error(
        "{count} heads of the name '{rig}' are there: end all but one of them, or start it with another {}",
        option("name")
    )]
    Several { rig: String, count: usize },
    #[error("rig '{rig}'{} answers what makes no sense: {cause}", at(.router.as_ref()))]
    Senseless { rig: String, router: Option<Endpoint>, cause: Cause },
    #[error("rig '{rig}'{} is announced, and its head does not answer", at(.router.as_ref()))]
    Unanswered { rig: String, router: Option<Endpoint> },
    #[error("there is no rig '{rig}'{}: {}", at(.router.as_ref()), others(.heads, *.other_version))]
    Missing { rig: String, router: Option<Endpoint>, heads: Vec<String>, other_version: Option<u8> },
    #[error("no pair of rig '{rig}' came within {} s: {}", FIRST_PAIR_TIMEOUT.as_secs(), no_pair(.counts, .error.as_deref()))]
    NoPair { rig: String, counts: InletCounts, error: Option<String> },
    #[error("no pair of heads '{}' and '{}' came within {} s: {left}; {right}", .left.head, .right.head, FIRST_PAIR_TIMEOUT.as_secs())]
    NoPairOfTwo { left: HeadCounts, right: HeadCounts },
}

impl From<HeadError> for CaptureError {
    fn from(err: HeadError) -> Self {
        Self::Camera(err.into())
    }
}

/// Messages that a head has sent while no pair came.
#[derive(Debug, thiserror::Error)]
#[error(
    "'{head}' sent {}{}{}",
    .counts.received,
    .counts.refusal.as_ref().map_or_else(String::new, |why| format!(", {} of them useless: {why}", .counts.refused)),
    if *.has_clock { "" } else { ", and its clock does not answer" }
)]
pub(super) struct HeadCounts {
    pub(super) head: String,
    pub(super) counts: InletCounts,
    pub(super) has_clock: bool,
}

fn at(router: Option<&Endpoint>) -> String {
    router.map_or_else(String::new, |router| format!(" at {router}"))
}

fn others(heads: &[String], other_version: Option<u8>) -> String {
    match (heads, other_version) {
        ([], None) => {
            let words = |word: &str| Part::Word(word.to_owned());
            let start = [words("head"), Part::Option("name"), words("NAME"), Part::Option("connect"), words("ROUTER")];
            format!("no head is there: start one with {}", Remedy::Run(start.into()))
        }
        ([], Some(version)) => format!(
            "the members that are there speak version {version} of the protocol, and this program speaks {VERSION}: use the same \
             version of stereopsis on all machines"
        ),
        (heads, _) => format!("the rigs there are {}", listed(heads)),
    }
}

fn no_pair(counts: &InletCounts, error: Option<&str>) -> String {
    match (&counts.refusal, error) {
        (Some(refusal), _) => format!("{} messages came, and none can be used: {refusal}", counts.refused),
        (None, Some(error)) => format!("its head says: {}", foreign(error)),
        (None, None) => format!("its head is there and sends none: see {}", command("net")),
    }
}
