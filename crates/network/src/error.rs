//! Faults of the network.

use super::replies::ANSWER_TIMEOUT;
use std::io;
use std::path::PathBuf;
use stereopsis_base::console::{self, foreign};
use stereopsis_base::files;
use stereopsis_base::remedy::{Part, Remedy, option};
use stereopsis_frame::{CaptureError, Cause};
use stereopsis_settings::settings::SettingsError;

/// Default port of a router, the same as Zenoh's.
pub const DEFAULT_PORT: u16 = 7447;
/// Environment variable with the password of all sessions; process lists would show a flag.
pub(super) const PASSWORD_VARIABLE: &str = "STEREOPSIS_NETWORK_PASSWORD";

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
    #[error("cannot use {} as Zenoh's configuration: {}", console::path(.0), unplaced(.1))]
    Config(PathBuf, Cause),
    /// Zenoh refuses the value of a key.
    #[error("Zenoh refuses {0}: {1}")]
    Refused(&'static str, Cause),
    /// The password has too few or other characters.
    #[error("{}: expected 8 to 256 visible ASCII characters without ':'", PASSWORD_VARIABLE)]
    Password,
    /// The file of the password cannot be written.
    #[error("cannot write the password's file: {}", files::cause(.0))]
    PasswordFile(io::Error),
    /// Addresses that other machines can reach, without a password, certificates or permission for everyone; true if all are encrypted.
    #[error(
        "{} can be reached from other machines, and nothing says who may connect: set the variable {} on all machines, or {} and \
         certificates in {}, or say {} if everyone who reaches it may watch, control cameras, change parameters, and send images and \
         depth in a rig's place",
        .0,
        PASSWORD_VARIABLE,
        if *.1 { "set enable_mtls" } else { "listen on tls/ with enable_mtls" },
        Remedy::set("zenoh-config", "FILE"),
        option("open")
    )]
    Unguarded(String, bool),
    /// The port of one of these addresses is in use.
    #[error(
        "cannot listen on {}: the port is taken, perhaps by another router or head; end that, connect to it with {} instead, or listen on \
         another port",
        .0,
        option("connect")
    )]
    PortTaken(String),
    /// No router answers at these addresses, which may be temporary.
    #[error(
        "no router answers at {}: start {} or a head with {} there, and check address, password and certificates ({})",
        .0,
        command("router"),
        option("listen"),
        foreign(&unplaced(.1))
    )]
    NoRouter(String, Cause),
    /// No session can be opened.
    #[error("cannot open a session: {}", foreign(&unplaced(.0)))]
    Session(Cause),
    /// The session does not do this with a key or a member, usually because it has ended.
    #[error("cannot {0} {1}: {2}")]
    Zenoh(&'static str, String, Cause),
    /// The system provides no thread for a purpose.
    #[error("no thread to {0}: {1}")]
    Thread(&'static str, io::Error),
    /// Another member has the name.
    #[error(
        "there is {member} of the name '{name}' already{}: choose another with {}",
        .host.as_ref().map_or_else(String::new, |host| format!(" on {}", foreign(host))),
        option("name")
    )]
    Taken {
        /// Kind of both members, with its article: `a head`.
        member: &'static str,
        /// Their name.
        name: String,
        /// Machine of the other one; `None` if it does not answer.
        host: Option<String>,
    },
    /// The router does not say in time who is there.
    #[error(
        "nothing tells within {} s who is there: try again, and look at the connection to the router",
        ANSWER_TIMEOUT.as_secs()
    )]
    Unanswered,
    /// The connection to a router is lost.
    #[error("the connection to the router at {0} is lost")]
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
        matches!(self, Self::NoRouter(..))
    }
}

impl From<NetworkError> for CaptureError {
    fn from(err: NetworkError) -> Self {
        match err {
            NetworkError::Endpoint(_) | NetworkError::Name(_) => Self::Grammar(err.into()),
            _ => Self::Camera(err.into()),
        }
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
