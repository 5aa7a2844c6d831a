//! ONNX Runtime, a library that the user has, on its devices.

use super::Opened;
use super::{Runtime, failed};
use crate::error::{ModelError, VARIABLE};
use crate::values::{Port, Signature, Values};
use ort::environment::Environment;
use ort::ep;
use ort::error::ErrorCode;
use ort::session::Session;
use ort::value::{Outlet, Tensor};
use std::path::Path;
use std::sync::OnceLock;
use stereopsis_frame::Cause;
use stereopsis_frame::engine::ModelDevice;

/// Names of the library that the system looks for.
const LIBRARIES: &[&str] = if cfg!(windows) {
    &["onnxruntime.dll"]
} else if cfg!(target_os = "macos") {
    &["libonnxruntime.dylib"]
} else {
    &["libonnxruntime.so", "libonnxruntime.so.1"]
};

/// Returns the library, which is loaded once for a process.
fn environment() -> Result<&'static Environment, ModelError> {
    static ENVIRONMENT: OnceLock<Result<Environment, Vec<Cause>>> = OnceLock::new();
    let load = || {
        let named = std::env::var_os(VARIABLE).filter(|path| !path.is_empty());
        let names = named.map_or_else(|| LIBRARIES.iter().map(Into::into).collect(), |path| vec![path]);
        let mut faults = Vec::new();
        for name in names {
            match ort::init_from(&name) {
                Ok(builder) => return builder.with_telemetry(false).build().map_err(|err| vec![err.into()]),
                Err(err) => faults.push(err.into()),
            }
        }
        Err(faults)
    };
    ENVIRONMENT.get_or_init(load).as_ref().map_err(|faults| ModelError::NoLibrary(faults))
}

pub(crate) fn open(path: &Path, device: ModelDevice, threads: Option<usize>) -> Opened {
    let provider = match device {
        ModelDevice::BuiltIn | ModelDevice::Cpu => None,
        ModelDevice::Cuda => Some(ep::CUDA::default().build()),
        ModelDevice::TensorRt => Some(ep::TensorRT::default().build()),
        ModelDevice::WebGpu => Some(ep::WebGPU::default().build()),
        ModelDevice::DirectMl => Some(ep::DirectML::default().build()),
        ModelDevice::CoreMl => Some(ep::CoreML::default().build()),
        ModelDevice::OpenVino => Some(ep::OpenVINO::default().build()),
    };
    let mut builder = Session::builder(environment()?).map_err(failed)?;
    if let Some(provider) = provider {
        // it would go on with the CPU otherwise
        let no_device = |err| ModelError::NoDevice(device, ort::Error::<()>::from(err).into());
        builder = builder.with_execution_providers([provider.error_on_failure()]).map_err(no_device)?;
    }
    if let Some(threads) = threads {
        builder = builder.with_intra_threads(threads).map_err(|err| failed(ort::Error::<()>::from(err)))?;
    }
    let session = builder.commit_from_file(path).map_err(|err| {
        let is_operator = matches!(err.code(), ErrorCode::InvalidGraph | ErrorCode::NotImplemented);
        if is_operator { ModelError::Operator(err.into()) } else { ModelError::Unread(err.into()) }
    })?;
    let signature = Signature {
        inputs: ports(session.inputs()),
        outputs: ports(session.outputs()),
        license: session.metadata().ok().and_then(|metadata| metadata.custom("license")),
    };
    Ok((Box::new(session), signature))
}

fn ports(outlets: &[Outlet]) -> Vec<Port> {
    let port = |outlet: &Outlet| {
        let shape = outlet.dtype().tensor_shape();
        let extents = shape.map_or_else(Vec::new, |shape| shape.iter().map(|&extent| extent.try_into().ok()).collect());
        Port { name: outlet.name().to_owned(), extents }
    };
    outlets.iter().map(port).collect()
}

impl Runtime for Session {
    fn run(&mut self, inputs: Vec<(String, Values)>, output: &str) -> Result<Values, ModelError> {
        let mut values = Vec::new();
        for (name, Values { extents, values: pixels }) in inputs {
            values.push((name, Tensor::from_array((extents, pixels)).map_err(failed)?));
        }
        let outputs = Session::run(self, values).map_err(failed)?;
        let value = outputs.get(output).ok_or(ModelError::OtherNumbers)?;
        let (shape, values) = if let Ok((shape, values)) = value.try_extract_tensor::<f32>() {
            (shape, values.to_vec())
        } else {
            let (shape, values) = value.try_extract_tensor::<i64>().map_err(|_| ModelError::OtherNumbers)?;
            (shape, values.iter().map(|&value| value as f32).collect())
        };
        Ok(Values { extents: shape.iter().map(|&extent| extent.try_into().unwrap_or(0)).collect(), values })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use stereopsis_base::console;

    #[test]
    fn a_missing_library_or_device_is_told_with_its_remedy() {
        let told = match open(Path::new("no/such.onnx"), ModelDevice::Cuda, None) {
            Ok(_) => panic!("there is no such file"),
            Err(err) => err.to_string(),
        };
        // with the library, as ORT_DYLIB_PATH names it, CUDA is missing; without it, the library is
        assert!(told.contains("does not run on cuda") || told.contains(VARIABLE), "{told}");
        assert!(console::shown(&told) == told);
    }
}
