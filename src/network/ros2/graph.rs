//! Which publishers there are, read from their tokens.

use super::token::{self, Published};
use std::collections::BTreeSet;
use std::time::Duration;
use zenoh::Wait as _;

/// How long tokens are waited for.
const TIMEOUT: Duration = Duration::from_secs(2);
/// Tokens that are read: a hostile network may have any number.
const MAX_TOKENS: usize = 16_384;

/// All publishers of a domain; fewer where the network does not answer in time.
pub(super) fn published(session: &zenoh::Session, domain: u32) -> BTreeSet<Published> {
    let asked = session.liveliness().get(token::all(domain)).timeout(TIMEOUT).wait();
    let Ok(replies) = asked else { return BTreeSet::new() };
    let mut found = BTreeSet::new();
    for _ in 0..MAX_TOKENS {
        let Ok(reply) = replies.recv() else { break };
        let published = reply.into_result().ok().and_then(|sample| Published::of(sample.key_expr().as_str()));
        found.extend(published);
    }
    found
}
