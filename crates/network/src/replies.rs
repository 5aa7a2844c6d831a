//! Replies to a question, taken as they come.
//!
//! Zenoh hands over all replies that its session knows already before asking returns, on the thread that asks. A bounded queue that
//! this thread empties afterwards would hold it, and with it a lock of the session, for ever.

use crossbeam_channel::{Receiver, bounded};
use parking_lot::Mutex;
use std::collections::BTreeSet;
use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;
use zenoh::Wait as _;
use zenoh::query::Reply;

/// How long a question waits for its answers.
pub const ANSWER_TIMEOUT: Duration = Duration::from_secs(2);
/// Longest wait behind a question's own limit, at which Zenoh ends it.
const GRACE: Duration = Duration::from_millis(500);

/// What is made of the replies to one question.
pub(super) struct Replies<T> {
    taken: Arc<Mutex<T>>,
    /// Disconnected when the question has ended.
    ended: Receiver<Infallible>,
}

/// A callback for a question, which never waits, and what it makes of the replies.
pub(super) fn collect<T: Default + Send + 'static>(
    take: impl Fn(&mut T, Reply) + Send + Sync + 'static,
) -> (impl Fn(Reply) + Send + Sync + 'static, Replies<T>) {
    let (is_asked, ended) = bounded::<Infallible>(0);
    let taken = Arc::<Mutex<T>>::default();
    let shared = Arc::clone(&taken);
    let callback = move |reply| {
        let _until_the_end = &is_asked;
        take(&mut shared.lock(), reply);
    };
    (callback, Replies { taken, ended })
}

impl<T: Default> Replies<T> {
    /// Waits for the end of a question with this limit; returns what came until then.
    pub(super) fn wait(self, timeout: Duration) -> T {
        let _ = self.ended.recv_timeout(timeout + GRACE);
        std::mem::take(&mut self.taken.lock())
    }
}

/// Liveliness tokens that match a key, at most `limit` of them; fewer where the network does not answer in time.
///
/// # Errors
/// The session has ended.
pub(super) fn tokens(
    session: &zenoh::Session,
    key: &str,
    timeout: Duration,
    limit: usize,
) -> zenoh::Result<BTreeSet<String>> {
    let (take, tokens) = collect(move |tokens: &mut BTreeSet<String>, reply| {
        if let (Ok(sample), true) = (reply.result(), tokens.len() < limit) {
            tokens.insert(sample.key_expr().to_string());
        }
    });
    session.liveliness().get(key).timeout(timeout).callback(take).wait()?;
    Ok(tokens.wait(timeout))
}
