//! The error of the network.

use crate::capture::CaptureError;

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

    /// No router answers, which may change.
    pub(super) fn silence(text: String) -> Self {
        Self { text, is_silence: true }
    }

    /// Whether no router answered, which may change.
    pub fn is_silence(&self) -> bool {
        self.is_silence
    }
}

impl From<NetworkError> for CaptureError {
    fn from(err: NetworkError) -> Self {
        Self::Camera(err.to_string())
    }
}
