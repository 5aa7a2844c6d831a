//! Runtimes that open and run models.

pub(crate) mod built_in;
pub(crate) mod onnx_runtime;

use crate::error::ModelError;
use crate::values::Values;
use stereopsis_base::console;

/// Open model in a runtime.
pub(crate) trait Runtime: Send {
    /// Runs the model on inputs by name, and returns one output.
    fn run(&mut self, inputs: Vec<(String, Values)>, output: &str) -> Result<Values, ModelError>;
}

/// Returns the words of a runtime as the end of a sentence; they may hold names from the file.
fn cause(text: &str) -> String {
    const MAX_LEN: usize = 300;
    console::shown(text.trim()).replace('\n', " ").chars().take(MAX_LEN).collect()
}

/// Returns the error of a run.
fn failed(err: impl std::fmt::Display) -> ModelError {
    ModelError::new(format!("the model fails: {}", cause(&err.to_string())))
}

/// Returns the error of a file that a runtime does not read.
pub(crate) fn unread(err: impl std::fmt::Display) -> ModelError {
    ModelError::new(cause(&err.to_string()) + IS_IT_WHOLE)
}

/// End of a sentence about a file that a runtime does not read.
const IS_IT_WHOLE: &str = "; is it whole, and in the format ONNX?";
/// End of a sentence about an operator that a runtime lacks.
const STANDARD_OPERATORS: &str = ": export it with the standard operators of ONNX, opset 17 or so";

fn no_numbers() -> ModelError {
    ModelError::new("the output of the model has no numbers of 32 bits")
}
