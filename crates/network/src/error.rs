//! Error of the network, permanent or temporary.

use stereopsis_frame::CaptureError;

/// Error of the network: text with the failed action and its remedy.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{text}")]
pub struct NetworkError {
    text: String,
    is_silence: bool,
}

impl NetworkError {
    /// Creates a permanent error.
    pub fn new(text: impl Into<String>) -> Self {
        Self { text: text.into(), is_silence: false }
    }

    /// Creates the temporary error of a router that does not answer.
    pub(super) fn silence(text: String) -> Self {
        Self { text, is_silence: true }
    }

    /// Returns whether no router answered, which may be temporary.
    pub fn is_silence(&self) -> bool {
        self.is_silence
    }
}

impl From<NetworkError> for CaptureError {
    fn from(err: NetworkError) -> Self {
        Self::Camera(err.into())
    }
}
