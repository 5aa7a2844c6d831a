//! Runtime in Rust, `rten`, on the CPU.

use super::Opened;
use super::{Runtime, failed};
use crate::error::ModelError;
use crate::values::{Port, Signature, Values};
use rten::{
    Dimension, LoadErrorKind, Model, ModelOptions, NodeId, RunError, RunErrorKind, RunOptions, ThreadPool, Value,
    ValueOrView,
};
use rten_tensor::Tensor;
use rten_tensor::prelude::*;
use std::path::Path;
use std::sync::Arc;

struct BuiltIn {
    model: Model,
    threads: Option<Arc<ThreadPool>>,
}

pub(crate) fn open(path: &Path, threads: Option<usize>) -> Opened {
    let mut options = ModelOptions::with_all_ops();
    options.prepack_weights(true);
    let model = options.load_file(path).map_err(|err| {
        let is_operator = err.kind() == LoadErrorKind::OperatorInvalid;
        if is_operator { ModelError::Operator(err.into()) } else { ModelError::Unread(err.into()) }
    })?;
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
    let signature = Signature {
        inputs: ports(model.input_ids()),
        outputs: ports(model.output_ids()),
        license: metadata.license().or_else(|| metadata.get("license")).map(str::to_owned),
    };
    let threads = threads.map(|threads| Arc::new(ThreadPool::with_num_threads(threads)));
    Ok((Box::new(BuiltIn { model, threads }), signature))
}

/// Returns the error of a run; an operator may lack only here, such as convolutions in three dimensions.
fn not_run(err: RunError) -> ModelError {
    if err.kind() == RunErrorKind::OperatorError { ModelError::NotBuiltIn(err.into()) } else { failed(err) }
}

impl Runtime for BuiltIn {
    fn run(&mut self, inputs: Vec<(String, Values)>, output: &str) -> Result<Values, ModelError> {
        let mut values: Vec<(NodeId, ValueOrView<'_>)> = Vec::new();
        for (name, Values { extents, values: pixels }) in inputs {
            let tensor: Tensor<f32> = Tensor::from_data(extents.as_slice(), pixels);
            values.push((self.model.node_id(&name).map_err(failed)?, Value::from(tensor).into()));
        }
        let options = RunOptions::default().with_thread_pool(self.threads.clone());
        let output = self.model.node_id(output).map_err(failed)?;
        let outputs = self.model.run(values, &[output], Some(options)).map_err(not_run);
        let tensor: Tensor<f32> = match outputs?.pop() {
            Some(Value::FloatTensor(tensor)) => tensor,
            Some(Value::Int32Tensor(tensor)) => tensor.map(|&value| value as f32),
            _ => return Err(ModelError::OtherNumbers),
        };
        Ok(Values { extents: tensor.shape().to_vec(), values: tensor.into_data() })
    }
}
