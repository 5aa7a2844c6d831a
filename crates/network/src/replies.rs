//! Collects the replies to a query by a callback. Zenoh delivers known replies on the querying thread, before the query returns: with a
//! bounded queue that this thread empties afterwards, it would deadlock while it holds a session lock.

use crossbeam_channel::{Receiver, bounded};
use parking_lot::Mutex;
use std::collections::BTreeSet;
use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;
use zenoh::Wait as _;
use zenoh::query::Reply;

/// Default time limit of a query.
pub const ANSWER_TIMEOUT: Duration = Duration::from_secs(2);
/// Extra wait beyond a query's own limit, at which Zenoh ends it.
const REPLY_GRACE: Duration = Duration::from_millis(500);

pub(super) struct Replies<T> {
    taken: Arc<Mutex<T>>,
    /// Channel that disconnects when the query ends.
    ended: Receiver<Infallible>,
}

/// Returns a non-blocking callback for a query, and the value that it fills.
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
    /// Waits for the end of a query with this limit; returns the collected replies.
    pub(super) fn wait(self, timeout: Duration) -> T {
        let _ = self.ended.recv_timeout(timeout + REPLY_GRACE);
        std::mem::take(&mut self.taken.lock())
    }
}

/// Returns at most `limit` liveliness tokens that match a key, and whether the network has answered in time with all.
///
/// # Errors
/// The session has ended.
pub(super) fn tokens(
    session: &zenoh::Session,
    key: &str,
    timeout: Duration,
    limit: usize,
) -> zenoh::Result<(BTreeSet<String>, bool)> {
    let (take, replies) =
        collect(move |(tokens, is_late): &mut (BTreeSet<String>, bool), reply| match reply.result() {
            Ok(sample) if tokens.len() < limit => drop(tokens.insert(sample.key_expr().to_string())),
            Ok(_) => {}
            Err(_) => *is_late = true, // the only error of such a query
        });
    session.liveliness().get(key).timeout(timeout).callback(take).wait()?;
    let (tokens, is_late) = replies.wait(timeout);
    Ok((tokens, !is_late))
}
