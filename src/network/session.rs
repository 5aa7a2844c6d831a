//! An open session, and what every part of the program needs of it: no code outside this room waits for Zenoh's futures.

use super::access::{Access, cause};
use std::sync::Arc;
use std::time::Duration;
use zenoh::Wait as _;
use zenoh::qos::Priority;

/// How long a question waits for its answers.
pub const ANSWER_TIMEOUT: Duration = Duration::from_secs(2);
/// Answers to one question that are read, and their bytes: a hostile network may send any number.
const MAX_ANSWERS: usize = 4096;
pub(super) const MAX_ANSWER_BYTES: usize = 4 << 20;

/// Key and content of an answer; a refusal in words.
pub type Answered = Result<(String, Vec<u8>), String>;

/// Error of the network: what was tried, and what to do next.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{text}")]
pub struct NetworkError {
    text: String,
    is_silence: bool,
}

impl NetworkError {
    /// An error that lasts.
    pub fn new(text: impl Into<String>) -> Self {
        Self { text: text.into(), is_silence: false }
    }

    /// Whether no router answered, which may change.
    pub fn is_silence(&self) -> bool {
        self.is_silence
    }
}

/// A session with the network. Its clones are the same one, which ends with the last of them.
#[derive(Clone)]
pub struct Network {
    session: Arc<zenoh::Session>,
    who: Option<String>,
    access: Access,
}

impl Network {
    /// Opens a session; waits for some seconds at most.
    ///
    /// # Errors
    /// An address is taken, no router answers, or the rules of [`Access`] are broken.
    pub fn open(access: &Access) -> Result<Self, NetworkError> {
        let admission = access.admission().map_err(NetworkError::new)?;
        let session = zenoh::open(admission.config).wait().map_err(|err| failed(access, &*err))?;
        Ok(Self { session: Arc::new(session), who: admission.who, access: access.clone() })
    }

    /// Who can connect, in words; `None` where only programs of this machine can.
    pub fn who(&self) -> Option<&str> {
        self.who.as_deref()
    }

    /// Its number on the network.
    pub fn id(&self) -> String {
        self.session.zid().to_string()
    }

    /// How it was opened.
    pub fn access(&self) -> &Access {
        &self.access
    }

    /// Zenoh's session.
    pub fn session(&self) -> &zenoh::Session {
        &self.session
    }

    /// Whether it is connected to a router, or is one.
    pub fn is_connected(&self) -> bool {
        !self.access.listen.is_empty() || self.session.info().routers_zid().wait().next().is_some()
    }

    /// All answers to a question, with the keys of those who answer; refusals as errors.
    ///
    /// # Errors
    /// The session has ended.
    pub fn ask(&self, key: &str, sent: Option<Vec<u8>>, timeout: Duration) -> Result<Vec<Answered>, NetworkError> {
        let failed = |err: &dyn std::fmt::Display| NetworkError::new(format!("cannot ask {key}: {err}"));
        // pictures have other priorities: where one of theirs fills the link, questions still pass
        let question = self
            .session
            .get(key)
            .timeout(timeout)
            .priority(Priority::InteractiveHigh)
            .with(zenoh::handlers::FifoChannel::new(64));
        let replies = match sent {
            Some(sent) => question.payload(sent).wait(),
            None => question.wait(),
        };
        let replies = replies.map_err(|err| failed(&err))?;
        let mut answers = Vec::new();
        while let Ok(reply) = replies.recv() {
            if answers.len() == MAX_ANSWERS {
                break;
            }
            match reply.into_result() {
                Ok(sample) if sample.payload().len() <= MAX_ANSWER_BYTES => {
                    answers.push(Ok((sample.key_expr().to_string(), sample.payload().to_bytes().into_owned())));
                }
                Ok(sample) => answers.push(Err(format!("an answer of {} bytes is not read", sample.payload().len()))),
                Err(refusal) => {
                    let text = refusal.payload().to_bytes();
                    let text = String::from_utf8_lossy(&text[..text.len().min(1000)]).into_owned();
                    answers.push(Err(crate::console::foreign(&text)));
                }
            }
        }
        Ok(answers)
    }
}

/// Error of opening a session, with its cure.
fn failed(access: &Access, err: &dyn std::fmt::Display) -> NetworkError {
    let text = err.to_string();
    let named = |endpoints: &[super::access::Endpoint]| {
        endpoints.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ")
    };
    let lower = text.to_lowercase();
    if lower.contains("address already in use") || lower.contains("os error 98") || lower.contains("os error 48") {
        let listen = named(&access.listen);
        return NetworkError::new(format!(
            "cannot listen on {listen}: the port is taken, perhaps by another router or head; end that, connect to it with --connect \
             instead, or listen on another port"
        ));
    }
    if access.listen.is_empty() {
        let routers = named(&access.connect);
        let text = format!(
            "no router answers at {routers}: start `stereopsis router` or a head with --listen there, and check address, password \
             and certificates ({})",
            crate::console::foreign(cause(&text))
        );
        return NetworkError { text, is_silence: true };
    }
    NetworkError::new(format!("cannot open a session: {}", crate::console::foreign(cause(&text))))
}
