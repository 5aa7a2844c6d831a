//! Faults of the network, and of heads as sources.

use super::access::{DEFAULT_PORT, Endpoint, PASSWORD_VARIABLE, names};
use super::inlet::InletCounts;
use super::key::{Role, VERSION};
use super::rig::FIRST_PAIR_TIMEOUT;
use std::io;
use std::path::PathBuf;
use stereopsis_base::console::{self, foreign};
use stereopsis_base::files;
use stereopsis_base::remedy::{Part, Remedy, option};
use stereopsis_frame::{CaptureError, Cause, Side};
use stereopsis_settings::settings::SettingsError;

/// Fault of the network.
#[derive(Debug, thiserror::Error)]
pub enum NetworkError {
    /// The words are no address.
    #[error("'{}': expected tcp/HOST:PORT or tls/HOST:PORT, such as tcp/192.168.1.5:{}", foreign(.0), DEFAULT_PORT)]
    Endpoint(String),
    /// The words are no name of a rig.
    #[error("'{}': a rig's name has 1 to 64 letters, digits, - and _", foreign(.0))]
    Name(String),
    /// Zenoh's configuration file cannot be used.
    #[error("cannot use {} as Zenoh's configuration: {}", console::path(.path), unplaced(.cause))]
    Config {
        /// File.
        path: PathBuf,
        /// Error of Zenoh.
        cause: Cause,
    },
    /// Zenoh refuses a value.
    #[error("Zenoh refuses {key}: {cause}")]
    Refused {
        /// Key of its configuration.
        key: &'static str,
        /// Error of Zenoh.
        cause: Cause,
    },
    /// The password has too few or other characters.
    #[error("{}: expected 8 to 256 visible ASCII characters without ':'", PASSWORD_VARIABLE)]
    Password,
    /// The file of the password cannot be written.
    #[error("cannot write the password's file: {}", files::cause(.0))]
    PasswordFile(io::Error),
    /// Anyone could connect, and nobody has said so.
    #[error(
        "{address} can be reached from other machines, and nothing says who may connect: set the variable {} on all machines, or {} and \
         certificates in {}, or say {} if everyone who reaches it may watch, control cameras, change parameters, and send images and \
         depth in a rig's place",
        PASSWORD_VARIABLE,
        if *.is_tls { "set enable_mtls" } else { "listen on tls/ with enable_mtls" },
        Remedy::set("zenoh-config", "FILE"),
        option("open")
    )]
    Unguarded {
        /// Address that other machines reach.
        address: Endpoint,
        /// Whether all such addresses are encrypted.
        is_tls: bool,
    },
    /// A port to listen on is in use.
    #[error(
        "cannot listen on {}: the port is taken, perhaps by another router or head; end that, connect to it with {} instead, or listen on \
         another port",
        names(.0),
        option("connect")
    )]
    PortTaken(Vec<Endpoint>),
    /// No router answers, which may be temporary.
    #[error(
        "no router answers at {}: start {} or a head with {} there, and check address, password and certificates ({})",
        names(.routers),
        command("router"),
        option("listen"),
        foreign(&unplaced(.cause))
    )]
    NoRouter {
        /// Routers to connect to.
        routers: Vec<Endpoint>,
        /// Error of Zenoh.
        cause: Cause,
    },
    /// No session can be opened.
    #[error("cannot open a session: {}", foreign(&unplaced(.0)))]
    Session(Cause),
    /// The session does not do what it was asked, usually because it has ended.
    #[error("cannot {action} {key}: {cause}")]
    Zenoh {
        /// What it was to do.
        action: &'static str,
        /// Key, or member.
        key: String,
        /// Error of Zenoh or of the system.
        cause: Cause,
    },
    /// The system provides no thread.
    #[error("no thread to {purpose}: {cause}")]
    Thread {
        /// What the thread is for.
        purpose: &'static str,
        /// Error of the system.
        cause: io::Error,
    },
    /// Another member has the name.
    #[error(
        "there is {} of the name '{name}' already{}: choose another with {}",
        match .role { Role::Head | Role::Camera => "a head", Role::Engine => "an engine", Role::Router => "a router" },
        .host.as_ref().map_or_else(String::new, |host| format!(" on {}", foreign(host))),
        option("name")
    )]
    Taken {
        /// Role of both.
        role: Role,
        /// Their name.
        name: String,
        /// Machine of the other one; `None` if it does not answer.
        host: Option<String>,
    },
    /// The connection to a router is lost.
    #[error("the router at {0} is gone; looking for it")]
    RouterGone(String),
    /// Parameters from another machine are invalid.
    #[error("its parameters cannot be used: {0}")]
    Parameters(SettingsError),
    /// A result cannot be compressed.
    #[error("a result cannot be compressed: {0}")]
    Compression(io::Error),
}

impl NetworkError {
    /// Returns whether no router answered, which may be temporary.
    pub fn is_silence(&self) -> bool {
        matches!(self, Self::NoRouter { .. })
    }
}

impl From<NetworkError> for CaptureError {
    fn from(err: NetworkError) -> Self {
        Self::Camera(err.into())
    }
}

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

/// What came of a head while no pair did.
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

/// Returns a command of this program as a remedy.
pub(super) fn command(name: &str) -> Remedy {
    Remedy::Run(vec![Part::Word(name.to_owned())])
}

/// Lists at most a dozen names.
pub(super) fn listed(names: &[String]) -> String {
    const MAX_NAMES: usize = 12;
    let more = names.len().saturating_sub(MAX_NAMES);
    let listed = names[..names.len() - more].join(", ");
    if more > 0 { format!("{listed} and {more} more") } else { listed }
}

/// Returns an error of Zenoh without its place in Zenoh's source.
fn unplaced(cause: &Cause) -> String {
    cause.to_string().split(" at /").next().unwrap_or_default().trim().to_owned()
}
