//! Answers queries on a separate thread: a Zenoh thread that waits for room on a link would read nothing meanwhile.

use super::error::NetworkError;
use super::session::{MAX_ANSWER_BYTES, Network};
use crossbeam_channel::{Sender, bounded};
use std::thread::JoinHandle;
use stereopsis_base::threads::join_or_detach;
use stereopsis_frame::Cause;
use zenoh::Wait as _;
use zenoh::query::{Query, Queryable};

/// Maximum number of queued queries; further ones get no answer.
const MAX_WAITING: usize = 64;

/// Handler of a query: computes the answer from the payload; an error is sent as a refusal.
pub type Answer = Box<dyn Fn(Option<Vec<u8>>) -> Result<Vec<u8>, Cause> + Send>;

/// Server of queries, running until it is dropped.
pub struct Answers {
    queryables: Vec<Queryable<()>>,
    to_thread: Option<Sender<(usize, Query)>>,
    thread: Option<JoinHandle<()>>,
}

impl Answers {
    /// Starts to answer queries for these keys.
    ///
    /// # Errors
    /// The session has ended, or the system provides no thread.
    pub fn start(network: &Network, answers: Vec<(String, Answer)>) -> Result<Self, NetworkError> {
        let (to_thread, questions) = bounded::<(usize, Query)>(MAX_WAITING);
        let mut queryables = Vec::new();
        for (number, (key, _)) in answers.iter().enumerate() {
            let to_thread = to_thread.clone();
            let take = move |query: Query| {
                if to_thread.try_send((number, query)).is_err() {
                    log::warn!("a question gets no answer: too many wait");
                }
            };
            let queryable = network.session().declare_queryable(key.clone()).callback(take).wait();
            let refused = |cause| NetworkError::Zenoh("answer to", key.clone(), cause);
            queryables.push(queryable.map_err(refused)?);
        }
        let work = move || {
            while let Ok((number, query)) = questions.recv() {
                let Some((key, answer)) = answers.get(number) else { continue };
                let sent = query.payload().filter(|sent| sent.len() <= MAX_ANSWER_BYTES);
                let replied = match answer(sent.map(|sent| sent.to_bytes().into_owned())) {
                    Ok(bytes) => query.reply(key.clone(), bytes).wait(),
                    Err(why) => query.reply_err(why.to_string()).wait(),
                };
                if let Err(err) = replied {
                    log::warn!("an answer to {key} was not sent: {err}");
                }
            }
        };
        let thread = std::thread::Builder::new().name("answers".into()).spawn(work);
        let thread = thread.map_err(|err| NetworkError::Thread("answer questions", err))?;
        Ok(Self { queryables, to_thread: Some(to_thread), thread: Some(thread) })
    }
}

impl Drop for Answers {
    fn drop(&mut self) {
        // the thread ends when all senders are gone: the queryables own the others
        self.queryables.clear();
        self.to_thread = None;
        if let Some(thread) = self.thread.take() {
            join_or_detach(thread, "the thread that answers questions");
        }
    }
}

/// Encodes an answer as JSON.
pub(super) fn json(value: &impl serde::Serialize) -> Result<Vec<u8>, Cause> {
    Ok(serde_json::to_vec(value)?)
}
