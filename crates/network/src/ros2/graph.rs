//! Queries the publishers of the ROS 2 graph by their tokens.

use super::super::replies::tokens;
use super::token::{self, PublisherToken};
use std::collections::BTreeSet;
use std::time::Duration;

const TIMEOUT: Duration = Duration::from_secs(2);
/// Maximum number of tokens; a hostile network may have any number.
const MAX_TOKENS: usize = 16_384;

/// Returns all publishers of a domain; fewer if the network does not answer in time.
pub(super) fn published(session: &zenoh::Session, domain: u32) -> BTreeSet<PublisherToken> {
    let tokens = tokens(session, &token::all(domain), TIMEOUT, MAX_TOKENS).unwrap_or_default();
    tokens.iter().filter_map(|token| PublisherToken::of(token)).collect()
}
