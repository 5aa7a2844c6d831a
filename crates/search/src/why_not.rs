//! Reasons why a tried setting is not the proposal of a search.

use super::compare::MIN_GAIN;

/// Reason why a setting is not the proposal; its text is a sentence without a full stop.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize, thiserror::Error)]
#[serde(tag = "reason", rename_all = "kebab-case")]
pub enum RejectionReason {
    /// Time of a pair above the limit.
    #[error("it takes {time_ms:.1} ms a pair, and the limit is {max_ms:.1} ms")]
    OverLimit {
        /// Time of a pair, ms.
        time_ms: f64,
        /// Largest allowed time, ms.
        max_ms: f64,
    },
    /// Setting that the engine cannot compute.
    #[error("this engine cannot compute it")]
    Refused,
    /// Trial on some of the pairs only.
    #[error("it was tried on {tried} of {pairs} pairs only, so its loss is not comparable")]
    NotOnAllPairs {
        /// Number of tried pairs.
        tried: usize,
        /// Number of all pairs.
        pairs: usize,
    },
    /// Map that is too empty to be judged.
    #[error("one of its maps is too empty to be judged")]
    Unjudged,
    /// Lower score without truth, which cannot decide between two good settings.
    #[error("its score is lower, but without truth the score does not tell which of two good settings is better")]
    ScoreDecidesNothing,
    /// Lower mean loss, but a higher loss on one pair.
    #[error("it is better in the mean, but worse on pair {pair}: {loss:.3} instead of {proposed:.3}")]
    LosesOnPair {
        /// Number of the pair with the largest increase, from 1.
        pair: usize,
        /// Loss of the setting on this pair.
        loss: f64,
        /// Loss of the proposal on this pair.
        proposed: f64,
    },
    /// Lower mean loss with a gain that is too small to hold on other pairs.
    #[error(
        "it is better by {percent:.1} % only: below {least:.0} % a gain is within the noise of the pairs",
        least = 100.0 * MIN_GAIN
    )]
    SmallGain {
        /// Decrease of the loss, % of the proposal's.
        percent: f64,
    },
}

impl RejectionReason {
    /// Returns a few words for a table.
    pub fn short(&self) -> String {
        match self {
            Self::OverLimit { .. } => "over the limit".to_owned(),
            Self::Refused => "not on this engine".to_owned(),
            Self::NotOnAllPairs { tried, pairs } => format!("tried on {tried} of {pairs} pairs"),
            Self::Unjudged => "too empty".to_owned(),
            Self::ScoreDecidesNothing => "the score is no proof".to_owned(),
            Self::LosesOnPair { pair, .. } => format!("worse on pair {pair}"),
            Self::SmallGain { .. } => "gains too little".to_owned(),
        }
    }
}
