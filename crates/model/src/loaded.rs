//! Model in a runtime: a file in the format ONNX, opened by `rten` and run on the threads of this machine.

use crate::error::ModelError;
use rten::{Dimension, Model, ModelOptions, NodeId, RunOptions, ThreadPool, Value, ValueOrView};
use rten_tensor::Tensor;
use rten_tensor::prelude::*;
use std::fmt;
use std::path::Path;
use std::sync::Arc;
use stereopsis_base::process::memory;
use stereopsis_base::{console, files};

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
    /// Number of weights.
    pub weights: usize,
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
    model: Model,
    signature: Signature,
    threads: Option<Arc<ThreadPool>>,
}

impl LoadedModel {
    /// Opens a file, to be run on `threads` threads, or on one for each core.
    ///
    /// # Errors
    /// The file cannot be read, is no model, or needs an operator that the runtime lacks, which is named.
    pub fn open(path: &Path, threads: Option<usize>) -> Result<Self, ModelError> {
        let wrong = |why: String| ModelError::new(format!("model {}: {why}", console::path(path)));
        let size = std::fs::metadata(path).map_err(|err| wrong(files::read_cause(path, &err)))?.len();
        // the weights are copied once from the bytes of the file
        memory::check(2 * size)
            .map_err(|free| wrong(format!("it takes {} of memory to open it, and {free}", console::bytes(2 * size))))?;
        let mut options = ModelOptions::with_all_ops();
        options.prepack_weights(true);
        let model = options.load_file(path).map_err(|err| wrong(cause(&err.to_string())))?;
        let ports = |ids: &[NodeId]| -> Vec<Port> {
            let port = |&id: &NodeId| {
                let info = model.node_info(id)?;
                let extent = |dimension: Dimension| match dimension {
                    Dimension::Fixed(extent) => Some(extent),
                    Dimension::Symbolic(_) => None,
                };
                let extents = info.shape().unwrap_or_default().into_iter().map(extent).collect();
                Some(Port { name: info.name()?.to_owned(), extents })
            };
            ids.iter().filter_map(port).collect()
        };
        let metadata = model.metadata();
        let license = metadata.license().or_else(|| metadata.get("license")).or_else(|| metadata.get("License"));
        let signature = Signature {
            inputs: ports(model.input_ids()),
            outputs: ports(model.output_ids()),
            weights: model.total_params(),
            license: license.map(str::to_owned),
        };
        if signature.inputs.is_empty() || signature.outputs.is_empty() {
            return Err(wrong("it has no inputs or no outputs: is it whole, and in the format ONNX?".to_owned()));
        }
        let threads = threads.map(|threads| Arc::new(ThreadPool::with_num_threads(threads)));
        Ok(Self { model, signature, threads })
    }

    /// Returns inputs, outputs and properties.
    pub fn signature(&self) -> &Signature {
        &self.signature
    }

    /// Runs the model on inputs by name, and returns one output.
    pub(crate) fn run(&self, inputs: Vec<(&str, Values)>, output: &str) -> Result<Values, ModelError> {
        let node = |name: &str| {
            self.model.find_node(name).ok_or_else(|| {
                let name = console::foreign(name);
                ModelError::new(format!("the description names '{name}', and the model has no such input or output"))
            })
        };
        let mut values: Vec<(NodeId, ValueOrView<'_>)> = Vec::new();
        for (name, Values { extents, values: pixels }) in inputs {
            let tensor: Tensor<f32> = Tensor::from_data(extents.as_slice(), pixels);
            values.push((node(name)?, Value::from(tensor).into()));
        }
        let options = RunOptions::default().with_thread_pool(self.threads.clone());
        let outputs = self.model.run(values, &[node(output)?], Some(options));
        let mut outputs =
            outputs.map_err(|err| ModelError::new(format!("the model fails: {}", cause(&err.to_string()))))?;
        let floats: Option<Tensor<f32>> = match outputs.pop() {
            Some(Value::FloatTensor(tensor)) => Some(tensor),
            Some(Value::Int32Tensor(tensor)) => Some(tensor.map(|&value| value as f32)),
            _ => None,
        };
        let tensor = floats.ok_or_else(|| ModelError::new("the output of the model has no numbers of 32 bits"))?;
        Ok(Values { extents: tensor.shape().to_vec(), values: tensor.into_data() })
    }
}

/// Returns the words of a runtime as the end of a sentence; they may hold names from the file.
fn cause(text: &str) -> String {
    const MAX_LEN: usize = 300;
    console::shown(text.trim()).replace('\n', " ").chars().take(MAX_LEN).collect()
}
