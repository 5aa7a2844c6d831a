//! An open session, and what every part of the program needs of it: no code outside this room waits for Zenoh's futures.

use super::access::{Access, cause};
use super::error::NetworkError;
use super::presence::Presence;
use super::replies::collect;
use parking_lot::Mutex;
use std::sync::Arc;
use std::time::Duration;
use zenoh::Wait as _;
use zenoh::qos::Priority;
use zenoh::query::{ConsolidationMode, Reply};

/// Answers to one question that are read, the bytes of one and of all: a hostile network may send any number.
const MAX_ANSWERS: usize = 4096;
pub(super) const MAX_ANSWER_BYTES: usize = 4 << 20;
const MAX_BYTES_OF_ANSWERS: usize = 64 << 20;

/// Key and content of an answer; a refusal in words.
pub type Answered = Result<(String, Vec<u8>), String>;

/// A session with the network. Its clones are the same one, which ends with the last of them.
#[derive(Clone)]
pub struct Network(Arc<Opened>);

struct Opened {
    session: zenoh::Session,
    who: Option<String>,
    access: Access,
    /// Members that are there; `None` before the first question. Followed to the end of the session: a second subscriber of Zenoh's
    /// session gets the tokens that the session remembers, late, and also those that were withdrawn meanwhile.
    presence: Mutex<Option<Arc<Presence>>>,
}

impl Network {
    /// Opens a session; waits for some seconds at most.
    ///
    /// # Errors
    /// An address is taken, no router answers, or the rules of [`Access`] are broken.
    pub fn open(access: &Access) -> Result<Self, NetworkError> {
        let admission = access.admission().map_err(NetworkError::new)?;
        let session = zenoh::open(admission.config).wait().map_err(|err| failed(access, &*err))?;
        let (who, access, presence) = (admission.who, access.clone(), Mutex::default());
        Ok(Self(Arc::new(Opened { session, who, access, presence })))
    }

    /// Who can connect, in words; `None` where only programs of this machine can.
    pub fn who(&self) -> Option<&str> {
        self.0.who.as_deref()
    }

    /// Its number on the network.
    pub fn id(&self) -> String {
        self.0.session.zid().to_string()
    }

    /// How it was opened.
    pub fn access(&self) -> &Access {
        &self.0.access
    }

    /// Zenoh's session.
    pub fn session(&self) -> &zenoh::Session {
        &self.0.session
    }

    /// Whether it is connected to a router, or is one.
    pub fn is_connected(&self) -> bool {
        !self.0.access.listen.is_empty() || self.0.session.info().routers_zid().wait().next().is_some()
    }

    /// Members that are there, followed from the first call on, which waits for some seconds at most.
    ///
    /// # Errors
    /// The session has ended.
    pub fn presence(&self) -> Result<Arc<Presence>, NetworkError> {
        let mut followed = self.0.presence.lock();
        if let Some(presence) = &*followed {
            return Ok(Arc::clone(presence));
        }
        let presence = Arc::new(Presence::follow(&self.0.session)?);
        Ok(Arc::clone(followed.insert(presence)))
    }

    /// All answers to a question, with the keys of those who answer; refusals as errors.
    ///
    /// # Errors
    /// The session has ended.
    pub fn ask(&self, key: &str, sent: Option<Vec<u8>>, timeout: Duration) -> Result<Vec<Answered>, NetworkError> {
        let (take, answers) = collect(Answers::take);
        // of several members that answer to one key, each counts
        let question = self.session().get(key).callback(take).consolidation(ConsolidationMode::None).timeout(timeout);
        // pictures have other priorities: where one of theirs fills the link, questions still pass
        let question = question.priority(Priority::InteractiveHigh);
        let asked = match sent {
            Some(sent) => question.payload(sent).wait(),
            None => question.wait(),
        };
        asked.map_err(|err| NetworkError::new(format!("cannot ask {key}: {err}")))?;
        Ok(answers.wait(timeout).answers)
    }
}

/// Answers so far.
#[derive(Default)]
struct Answers {
    answers: Vec<Answered>,
    bytes: usize,
}

impl Answers {
    fn take(&mut self, reply: Reply) {
        if self.answers.len() == MAX_ANSWERS || self.bytes > MAX_BYTES_OF_ANSWERS {
            return;
        }
        let answer = match reply.into_result() {
            Ok(sample) if sample.payload().len() <= MAX_ANSWER_BYTES => {
                self.bytes += sample.payload().len();
                Ok((sample.key_expr().to_string(), sample.payload().to_bytes().into_owned()))
            }
            Ok(sample) => Err(format!("an answer of {} bytes is not read", sample.payload().len())),
            Err(refusal) => {
                let text = refusal.payload().to_bytes();
                let text = String::from_utf8_lossy(&text[..text.len().min(1000)]).into_owned();
                Err(crate::console::foreign(&text))
            }
        };
        self.answers.push(answer);
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
        return NetworkError::silence(text);
    }
    NetworkError::new(format!("cannot open a session: {}", crate::console::foreign(cause(&text))))
}
