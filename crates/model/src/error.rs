//! Error of a model.

use std::path::Path;
use stereopsis_base::console;
use stereopsis_frame::engine::EngineError;

/// Error of a model: its file, its description or its results; the text has cause and remedy.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ModelError(String);

impl ModelError {
    pub(crate) fn new(text: impl Into<String>) -> Self {
        Self(text.into())
    }
}

impl ModelError {
    /// Returns the error with the path of the model, if it does not have it.
    pub(crate) fn of_file(self, file: &Path) -> Self {
        let path = console::path(file);
        if self.0.contains(&path) { self } else { Self(format!("model {path}: {}", self.0)) }
    }
}

impl std::fmt::Display for ModelError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for ModelError {}

impl From<ModelError> for EngineError {
    fn from(error: ModelError) -> Self {
        Self::Unsupported(error.into())
    }
}
