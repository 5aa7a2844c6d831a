//! Which publishers there are, read from their tokens.

use super::super::replies::tokens;
use super::token::{self, Published};
use std::collections::BTreeSet;
use std::time::Duration;

/// How long tokens are waited for.
const TIMEOUT: Duration = Duration::from_secs(2);
/// Tokens that are read: a hostile network may have any number.
const MAX_TOKENS: usize = 16_384;

/// All publishers of a domain; fewer where the network does not answer in time.
pub(super) fn published(session: &zenoh::Session, domain: u32) -> BTreeSet<Published> {
    let tokens = tokens(session, &token::all(domain), TIMEOUT, MAX_TOKENS).unwrap_or_default();
    tokens.iter().filter_map(|token| Published::of(token)).collect()
}
