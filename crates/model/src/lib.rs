//! Learned matchers: a model of the user, a file in the format ONNX, as an engine.
//!
//! A [`LoadedModel`] is opened and run by a runtime, one in Rust or the user's ONNX Runtime. Its [`Description`] has the conventions of its inputs and output; it lies beside the
//! file, or is guessed from names and shapes, and [`inspect`](inspect::inspect) tests it on a pair with truth. [`ModelEngine`] matches
//! pairs: it fits them into the input, checks left and right by a second run on the mirrored pair, and filters as the other engines do.
//! Its disparities are the model's and not those of the reference.
//!
//! A file comes from anywhere: [`Trial`] opens it in a child process first, so that a crash or endless work ends no window and no
//! recording. Each model has a thread with a stack of a stated size; that of a trial is half as large, so that a model that passes has
//! room. The child ends with its parent, and after a time by itself.

mod brightness;
mod description;
mod engine;
mod error;
mod fit;
pub mod inspect;
mod loaded;
mod runtime;
mod trial;
mod values;
mod weights;
pub mod testing;

#[cfg(test)]
mod tests;

pub use brightness::Brightness;
pub use description::{Colors, Description, path_beside};
pub use engine::ModelEngine;
pub use error::ModelError;
pub use loaded::LoadedModel;
pub use trial::{Trial, TrialResult, run_trial};
pub use values::{Port, Signature};
