//! Open model: its file, its inputs and outputs, and the runtime that runs it.

use crate::error::ModelError;
use crate::runtime::{Opened, built_in, onnx_runtime};
use crate::values::{Signature, Values};
use crate::weights;
use crossbeam_channel::{Receiver, Sender, bounded};
use std::thread::{Builder, JoinHandle};
use stereopsis_base::process::memory;
use stereopsis_frame::engine::{ModelDevice, ModelFile};

/// Stack of the thread of a model, bytes. A runtime follows the graphs within a graph by recursion, as deep as the file has them, and an
/// overflow ends the process.
pub(crate) const STACK_BYTES: usize = 64 << 20;

/// Inputs by name, and the name of the output.
type Run = (Vec<(String, Values)>, String);

/// Open model. It is opened, run and freed on a thread of its own, whose stack does not depend on the caller.
pub struct LoadedModel {
    signature: Signature,
    /// Queue of the thread, which ends without it.
    runs: Option<Sender<Run>>,
    outputs: Receiver<Result<Values, ModelError>>,
    thread: Option<JoinHandle<()>>,
}

impl LoadedModel {
    /// Opens a file, to be run on `threads` threads of the CPU, or on one for each core.
    ///
    /// # Errors
    /// The file cannot be read, is no model, or needs an operator that the runtime lacks, which is named; or there is no such runtime
    /// or device.
    pub fn open(file: &ModelFile, threads: Option<usize>) -> Result<Self, ModelError> {
        Self::with_stack(STACK_BYTES, file, threads)
    }

    /// Opens a file on a thread with a stack of this size.
    pub(crate) fn with_stack(stack_bytes: usize, file: &ModelFile, threads: Option<usize>) -> Result<Self, ModelError> {
        let of_thread = file.clone();
        let opened = Self::on_thread(stack_bytes, move || open_runtime(&of_thread, threads));
        opened.map_err(|err| err.of_file(&file.path))
    }

    /// Starts the thread of a model, which is opened there.
    pub(crate) fn on_thread(
        stack_bytes: usize,
        open: impl FnOnce() -> Opened + Send + 'static,
    ) -> Result<Self, ModelError> {
        let (signatures, signature) = bounded(1);
        let (runs, queue) = bounded::<Run>(1);
        let (outputs, output) = bounded(1);
        let work = move || {
            let (mut runtime, signature) = match open() {
                Ok(opened) => opened,
                Err(err) => return drop(signatures.send(Err(err))),
            };
            let _ = signatures.send(Ok(signature)); // the one who opens it waits for this
            for (inputs, output) in queue {
                if outputs.send(runtime.run(inputs, &output)).is_err() {
                    return;
                }
            }
        };
        let thread = Builder::new().name("model runtime".into()).stack_size(stack_bytes);
        let thread = thread.spawn(work).map_err(|err| ModelError::NoThread("model", err))?;
        let signature = signature.recv().unwrap_or(Err(ModelError::Panic))?;
        Ok(Self { signature, runs: Some(runs), outputs: output, thread: Some(thread) })
    }

    /// Returns inputs, outputs and properties.
    pub fn signature(&self) -> &Signature {
        &self.signature
    }

    /// Whether the runtime has panicked, and the model has to be opened again.
    pub(crate) fn has_ended(&self) -> bool {
        self.thread.as_ref().is_none_or(JoinHandle::is_finished)
    }

    /// Runs the model on inputs by name, and returns one output.
    pub(crate) fn run(&mut self, inputs: Vec<(&str, Values)>, output: &str) -> Result<Values, ModelError> {
        let ports = || self.signature.inputs.iter().chain(&self.signature.outputs);
        let named = inputs.iter().map(|(name, _)| *name).chain([output]);
        if let Some(missing) = named.into_iter().find(|name| ports().all(|port| port.name != *name)) {
            return Err(ModelError::NoPort(missing.to_owned(), ports().cloned().collect()));
        }
        let inputs = inputs.into_iter().map(|(name, values)| (name.to_owned(), values)).collect();
        let is_asked = self.runs.as_ref().is_some_and(|runs| runs.send((inputs, output.to_owned())).is_ok());
        let output = if is_asked { self.outputs.recv().ok() } else { None };
        output.unwrap_or(Err(ModelError::Panic))
    }
}

impl Drop for LoadedModel {
    fn drop(&mut self) {
        self.runs = None;
        // a library must not be freed by the end of the program while its model is
        let _ = self.thread.take().map(JoinHandle::join);
    }
}

fn open_runtime(file: &ModelFile, threads: Option<usize>) -> Opened {
    let ModelFile { path, device } = file;
    let size = std::fs::metadata(path).map_err(ModelError::read(path))?.len();
    let fits = |bytes: u64| {
        // the weights are copied once from the bytes of the files
        let needed = bytes.saturating_mul(2);
        memory::check(needed).map_err(|free| ModelError::Memory(needed, free))
    };
    fits(size)?;
    fits(size.saturating_add(weights::bytes_beside(file)?))?;
    let (runtime, signature) = match device {
        ModelDevice::BuiltIn => built_in::open(path, threads),
        device => onnx_runtime::open(path, *device, threads),
    }?;
    if signature.inputs.is_empty() || signature.outputs.is_empty() {
        return Err(ModelError::NoPorts);
    }
    Ok((runtime, signature))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::runtime::Runtime;
    use crate::values::Port;

    /// Runtime that gives the stack that is left on its thread, or panics.
    struct Room {
        panics: bool,
    }

    impl Runtime for Room {
        fn run(&mut self, _: Vec<(String, Values)>, _: &str) -> Result<Values, ModelError> {
            assert!(!self.panics, "as it was asked");
            Ok(Values { extents: vec![1], values: vec![room_bytes() as f32] })
        }
    }

    fn open(panics: bool, stack_bytes: usize) -> LoadedModel {
        let port = |name: &str| Port { name: name.to_owned(), extents: vec![None] };
        let signature = Signature { inputs: vec![port("in")], outputs: vec![port("out")], license: None };
        let runtime: Box<dyn Runtime> = Box::new(Room { panics });
        LoadedModel::on_thread(stack_bytes, move || Ok((runtime, signature))).unwrap()
    }

    /// Returns the bytes from here to the end of the stack of this thread: its pages are those of one mapping.
    fn room_bytes() -> usize {
        let here = 0_u8;
        let here = std::ptr::from_ref(&here).addr();
        let maps = std::fs::read_to_string("/proc/self/maps").unwrap();
        let number = |hex: &str| usize::from_str_radix(hex, 16).unwrap();
        let ranges = maps.lines().map(|line| line.split_once(' ').unwrap().0.split_once('-').unwrap());
        let (start, _) = ranges.map(|(start, end)| (number(start), number(end))).find(|range| range.1 > here).unwrap();
        here - start
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn a_model_runs_on_a_stack_of_the_stated_size() {
        for bytes in [STACK_BYTES, STACK_BYTES / 2] {
            let room = open(false, bytes).run(Vec::new(), "out").unwrap().values[0] as usize;
            assert!(room > bytes * 9 / 10 && room <= bytes, "{room} of {bytes}");
        }
    }

    #[test]
    fn a_panic_of_the_runtime_is_an_error() {
        let mut model = open(true, STACK_BYTES);
        let text = model.run(Vec::new(), "out").unwrap_err().to_string();
        assert!(text.contains("panics in the runtime; try another export"), "{text}");
        assert_eq!(model.run(Vec::new(), "out").unwrap_err().to_string(), text);
        while !model.has_ended() {
            std::thread::yield_now();
        }
        let opened = LoadedModel::on_thread(STACK_BYTES, || panic!("as it was asked"));
        assert_eq!(opened.err().unwrap().to_string(), text);
    }
}
