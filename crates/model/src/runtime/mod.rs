//! Runtimes that open and run models.

pub(crate) mod built_in;
pub(crate) mod onnx_runtime;

use crate::error::ModelError;
use crate::values::{Signature, Values};
use stereopsis_frame::Cause;

/// Open model in a runtime.
pub(crate) trait Runtime: Send {
    /// Runs the model on inputs by name, and returns one output.
    fn run(&mut self, inputs: Vec<(String, Values)>, output: &str) -> Result<Values, ModelError>;
}

/// Runtime with an open model, and what the model says of itself.
pub(crate) type Opened = Result<(Box<dyn Runtime>, Signature), ModelError>;

/// Returns the error of a run.
fn failed(err: impl Into<Cause>) -> ModelError {
    ModelError::Run(err.into())
}
