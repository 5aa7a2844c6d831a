//! Open model: its file, its inputs and outputs, and the runtime that runs it.

use crate::error::ModelError;
use crate::runtime::{Runtime, built_in, onnx_runtime};
use std::fmt;
use stereopsis_base::process::memory;
use stereopsis_base::{console, files};
use stereopsis_frame::engine::{ModelDevice, ModelFile};

/// Input or output of a model.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Port {
    /// Name in the file.
    pub name: String,
    /// Size of each dimension; `None` for any.
    pub extents: Vec<Option<usize>>,
}

// `left (1, 3, any, any)`
impl fmt::Display for Port {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let extent = |extent: &Option<usize>| extent.map_or_else(|| "any".to_owned(), |extent| extent.to_string());
        let extents: Vec<_> = self.extents.iter().map(extent).collect();
        write!(f, "{} ({})", console::foreign(&self.name), extents.join(", "))
    }
}

/// Inputs, outputs and properties of a model.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Signature {
    /// Inputs in the order of the file.
    pub inputs: Vec<Port>,
    /// Outputs in the order of the file.
    pub outputs: Vec<Port>,
    /// Licence that the file names.
    pub license: Option<String>,
}

/// Values of all dimensions; those of the last one are neighbours.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Values {
    pub(crate) extents: Vec<usize>,
    pub(crate) values: Vec<f32>,
}

/// Open model.
pub struct LoadedModel {
    runtime: Box<dyn Runtime>,
    signature: Signature,
}

impl LoadedModel {
    /// Opens a file, to be run on `threads` threads of the CPU, or on one for each core.
    ///
    /// # Errors
    /// The file cannot be read, is no model, or needs an operator that the runtime lacks, which is named; or there is no such runtime
    /// or device.
    pub fn open(ModelFile { path, device }: &ModelFile, threads: Option<usize>) -> Result<Self, ModelError> {
        let wrong = |why: String| ModelError::new(format!("model {}: {why}", console::path(path)));
        let size = std::fs::metadata(path).map_err(|err| wrong(files::read_cause(path, &err)))?.len();
        // the weights are copied once from the bytes of the file
        memory::check(2 * size)
            .map_err(|free| wrong(format!("it takes {} of memory to open it, and {free}", console::bytes(2 * size))))?;
        let (runtime, signature) = match device {
            ModelDevice::BuiltIn => built_in::open(path, threads),
            device => onnx_runtime::open(path, *device, threads),
        }
        .map_err(|err| err.of_file(path))?;
        if signature.inputs.is_empty() || signature.outputs.is_empty() {
            return Err(wrong("it has no inputs or no outputs: is it whole, and in the format ONNX?".to_owned()));
        }
        Ok(Self { runtime, signature })
    }

    /// Returns inputs, outputs and properties.
    pub fn signature(&self) -> &Signature {
        &self.signature
    }

    /// Runs the model on inputs by name, and returns one output.
    pub(crate) fn run(&mut self, inputs: Vec<(&str, Values)>, output: &str) -> Result<Values, ModelError> {
        let ports = || self.signature.inputs.iter().chain(&self.signature.outputs);
        let named = inputs.iter().map(|(name, _)| *name).chain([output]);
        if let Some(missing) = named.into_iter().find(|name| ports().all(|port| port.name != *name)) {
            let (missing, ports) = (console::foreign(missing), ports().map(ToString::to_string).collect::<Vec<_>>());
            let ports = ports.join(", ");
            return Err(ModelError::new(format!("the description names '{missing}', and the model has {ports}")));
        }
        self.runtime.run(inputs, output)
    }
}
