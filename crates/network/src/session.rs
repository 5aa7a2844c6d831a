//! Zenoh session behind blocking calls: opening, queries, present members. No code outside this crate waits for Zenoh's futures.

use super::access::{Access, names};
use super::error::NetworkError;
use super::presence::Presence;
use super::replies::collect;
use parking_lot::Mutex;
use serde::de::DeserializeOwned;
use std::sync::Arc;
use std::time::Duration;
use zenoh::Wait as _;
use zenoh::qos::Priority;
use zenoh::query::{ConsolidationMode, Reply};

/// Limits of the answers to one query, since a hostile network may send any number: count, bytes of one, bytes of all.
const MAX_ANSWERS: usize = 4096;
pub(super) const MAX_ANSWER_BYTES: usize = 4 << 20;
const MAX_BYTES_OF_ANSWERS: usize = 64 << 20;

/// Key and content of an answer.
pub type AnswerResult = Result<(String, Vec<u8>), AnswerError>;

/// Answer that is none.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum AnswerError {
    /// No answer came in time.
    #[error("its head does not answer")]
    Silent,
    /// The answer has this number of bytes.
    #[error("an answer of {0} bytes is not read")]
    TooLong(usize),
    /// The other program refuses, in these words.
    #[error("{0}")]
    Refused(String),
}

/// Session with the network. Clones share it; it ends with the last clone.
#[derive(Clone)]
pub struct Network(Arc<SessionState>);

struct SessionState {
    session: zenoh::Session,
    who: Option<String>,
    access: Access,
    /// Observer of present members; `None` before the first call of [`Network::presence`]. There must be only one per session: a second
    /// Zenoh subscriber would receive tokens late, including withdrawn ones.
    presence: Mutex<Option<Arc<Presence>>>,
}

impl Network {
    /// Opens a session; blocks for at most some seconds.
    ///
    /// # Errors
    /// An address is in use, no router answers, or the rules of [`Access`] are broken.
    pub fn open(access: &Access) -> Result<Self, NetworkError> {
        let admission = access.admission()?;
        let session = zenoh::open(admission.config).wait().map_err(|err| failed(access, err))?;
        let (who, access, presence) = (admission.who, access.clone(), Mutex::default());
        Ok(Self(Arc::new(SessionState { session, who, access, presence })))
    }

    /// Returns a sentence about who can connect from other machines; `None` if only programs on this machine can connect.
    pub fn who(&self) -> Option<&str> {
        self.0.who.as_deref()
    }

    /// Returns its id on the network.
    pub fn id(&self) -> String {
        self.0.session.zid().to_string()
    }

    /// Returns its addresses and access rules.
    pub fn access(&self) -> &Access {
        &self.0.access
    }

    /// Returns the Zenoh session.
    pub fn session(&self) -> &zenoh::Session {
        &self.0.session
    }

    /// Returns whether it is a router or connected to one.
    pub fn is_connected(&self) -> bool {
        !self.0.access.listen.is_empty() || self.0.session.info().routers_zid().wait().next().is_some()
    }

    /// Returns the observer of present members; the first call blocks for at most some seconds.
    ///
    /// # Errors
    /// The session has ended, or the network does not answer in time.
    pub fn presence(&self) -> Result<Arc<Presence>, NetworkError> {
        let mut followed = self.0.presence.lock();
        if let Some(presence) = &*followed {
            return Ok(Arc::clone(presence));
        }
        let presence = Arc::new(Presence::follow(&self.0.session)?);
        Ok(Arc::clone(followed.insert(presence)))
    }

    /// Queries a key; returns all answers with their keys, refusals as errors.
    ///
    /// # Errors
    /// The session has ended.
    pub fn ask(&self, key: &str, sent: Option<Vec<u8>>, timeout: Duration) -> Result<Vec<AnswerResult>, NetworkError> {
        let (take, answers) = collect(CollectedAnswers::take);
        // several members may answer a key: keep all answers
        let question = self.session().get(key).callback(take).consolidation(ConsolidationMode::None).timeout(timeout);
        // with a higher priority than images, queries pass links that are full of images
        let question = question.priority(Priority::InteractiveHigh);
        let asked = match sent {
            Some(sent) => question.payload(sent).wait(),
            None => question.wait(),
        };
        asked.map_err(|cause| NetworkError::Zenoh("ask", key.to_owned(), cause))?;
        Ok(answers.wait(timeout).answers)
    }

    /// Queries a key; returns the answers that can be read as JSON of this type, with their keys.
    ///
    /// # Errors
    /// The session has ended.
    pub fn ask_json<T: DeserializeOwned>(
        &self,
        key: &str,
        timeout: Duration,
    ) -> Result<Vec<(String, T)>, NetworkError> {
        let answers = self.ask(key, None, timeout)?.into_iter().flatten();
        Ok(answers.filter_map(|(key, bytes)| Some((key, serde_json::from_slice(&bytes).ok()?))).collect())
    }
}

#[derive(Default)]
struct CollectedAnswers {
    answers: Vec<AnswerResult>,
    bytes: usize,
}

impl CollectedAnswers {
    fn take(&mut self, reply: Reply) {
        if self.answers.len() == MAX_ANSWERS || self.bytes > MAX_BYTES_OF_ANSWERS {
            return;
        }
        let answer = match reply.into_result() {
            Ok(sample) if sample.payload().len() <= MAX_ANSWER_BYTES => {
                self.bytes += sample.payload().len();
                Ok((sample.key_expr().to_string(), sample.payload().to_bytes().into_owned()))
            }
            Ok(sample) => Err(AnswerError::TooLong(sample.payload().len())),
            Err(refusal) => {
                let text = refusal.payload().to_bytes();
                let text = String::from_utf8_lossy(&text[..text.len().min(1000)]).into_owned();
                Err(AnswerError::Refused(stereopsis_base::console::foreign(&text)))
            }
        };
        self.answers.push(answer);
    }
}

/// Returns the error of opening a session. Zenoh says only in words that a port is in use.
fn failed(access: &Access, cause: zenoh::Error) -> NetworkError {
    let text = cause.to_string().to_lowercase();
    if ["address already in use", "os error 98", "os error 48"].iter().any(|words| text.contains(words)) {
        return NetworkError::PortTaken(names(&access.listen));
    }
    if access.listen.is_empty() {
        return NetworkError::NoRouter(names(&access.connect), cause);
    }
    NetworkError::Session(cause)
}
