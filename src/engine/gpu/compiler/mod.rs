//! Compute pipelines, compiled by a thread of their own: drivers take some ms to some hundred for each, which neither
//! pairs nor the window wait for. What is compiled stays, the least recently used goes first where it becomes too much.

mod cache;
mod compile;
mod queue;
#[cfg(test)]
mod tests;

use super::device::Gpu;
use super::shaders::Binding;
use crate::engine::EngineError;
use cache::Cache;
use compile::Module;
use queue::{Outcome, State};
use std::hash::{Hash, Hasher};
use std::path::PathBuf;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// How long nothing is compiled before what is new is kept in a file.
const SAVE_DELAY: Duration = Duration::from_secs(1);

/// One shader module's text with what it declares. Variants are made by text, so the text is what tells two apart.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Source {
    /// Folder and file name below `shaders/`, without the extension.
    pub stem: &'static str,
    /// The WGSL.
    pub text: String,
    /// Name and kind of each binding; the place in the list is the binding's number, all in group 0.
    pub bindings: Vec<(String, Binding)>,
}

impl Hash for Source {
    /// Without the text itself: it is long, and asked for with every pair.
    fn hash<H: Hasher>(&self, state: &mut H) {
        (self.stem, self.text.len()).hash(state);
    }
}

/// A pipeline to be compiled: cheap to clone and to hash.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Request {
    /// The module.
    pub source: Arc<Source>,
    /// Its entry.
    pub entry: &'static str,
    /// Values of its `override` constants, by name.
    pub constants: Vec<(&'static str, u32)>,
}

/// A compiled entry. A clone is the same one.
#[derive(Clone, Debug)]
pub struct Pipeline {
    /// To be set before a dispatch.
    pub pipeline: wgpu::ComputePipeline,
    /// What its bind group is made with.
    pub layout: wgpu::BindGroupLayout,
}

/// All pipelines of a device. Dropping it ends its thread, which may have to finish the pipeline in work.
pub struct Compiler {
    inner: Arc<Inner>,
}

struct Inner {
    gpu: Gpu,
    checks: bool,
    cache: Cache,
    state: Mutex<State>,
    /// Something was asked for or is compiled.
    changed: Condvar,
}

impl Compiler {
    /// Its shaders run without checks, and what the driver compiles is kept in the program's cache folder.
    pub fn new(gpu: Gpu) -> Self {
        let file = Cache::file(&gpu);
        Self::with(gpu, false, file)
    }

    /// Its shaders check every index, divisor and loop while they run, which costs time; nothing is kept. For tests.
    pub fn with_checks(gpu: Gpu) -> Self {
        Self::with(gpu, true, None)
    }

    fn with(gpu: Gpu, checks: bool, file: Option<PathBuf>) -> Self {
        let cache = Cache::new(gpu.clone(), file);
        let inner = Inner { gpu, checks, cache, state: Mutex::default(), changed: Condvar::new() };
        Self { inner: Arc::new(inner) }
    }

    /// The pipeline, if it is compiled; else the thread compiles it, what was asked for last first. Never waits.
    ///
    /// # Errors
    /// It cannot be compiled, which is found out once; or the device is lost.
    pub fn get(&self, request: &Request) -> Result<Option<Pipeline>, EngineError> {
        self.inner.check()?;
        let mut state = self.inner.lock();
        if let Some(outcome) = state.outcome(request) {
            return outcome.map(Some).map_err(EngineError::Device);
        }
        if state.ask(request) {
            self.start_thread(&mut state)?;
            self.inner.changed.notify_all();
        }
        Ok(None)
    }

    /// The pipeline, compiled here unless that has begun elsewhere. Who needs many asks for all of them with
    /// [`Compiler::get`] before, and two threads compile.
    ///
    /// # Errors
    /// As [`Compiler::get`].
    pub fn wait_for(&self, request: &Request) -> Result<Pipeline, EngineError> {
        let mut state = self.inner.lock();
        loop {
            self.inner.check()?;
            if let Some(outcome) = state.outcome(request) {
                return outcome.map_err(EngineError::Device);
            }
            if state.begin(request) {
                self.start_thread(&mut state)?; // it keeps what is new in a file
                drop(state);
                self.inner.compile(request);
                state = self.inner.lock();
            } else {
                state = self.inner.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
            }
        }
    }

    /// Whether everything that was asked for is compiled or has failed.
    pub fn is_idle(&self) -> bool {
        self.inner.lock().is_idle()
    }

    fn start_thread(&self, state: &mut State) -> Result<(), EngineError> {
        if state.thread.is_none() {
            let inner = Arc::clone(&self.inner);
            let thread = std::thread::Builder::new().name("shaders".into()).spawn(move || inner.run());
            let thread = thread.map_err(|err| {
                EngineError::Device(format!("no thread to compile shaders: {err}; end other programs and start anew"))
            })?;
            state.thread = Some(thread);
        }
        Ok(())
    }
}

impl Drop for Compiler {
    fn drop(&mut self) {
        let thread = {
            let mut state = self.inner.lock();
            state.stop = true;
            state.thread.take()
        };
        self.inner.changed.notify_all();
        if thread.is_some_and(|thread| thread.join().is_err()) {
            log::error!("the thread that compiles shaders panicked");
        }
        if self.inner.lock().is_new {
            self.inner.cache.save();
        }
    }
}

impl Inner {
    /// The loop of the thread.
    fn run(&self) {
        let mut state = self.lock();
        while !state.stop {
            if let Some(request) = state.begin_next() {
                drop(state);
                self.compile(&request);
                state = self.lock();
            } else if state.is_new {
                let (woken, timeout) =
                    self.changed.wait_timeout(state, SAVE_DELAY).unwrap_or_else(PoisonError::into_inner);
                state = woken;
                if timeout.timed_out() && state.is_idle() {
                    state.is_new = false;
                    drop(state);
                    self.cache.save();
                    state = self.lock();
                }
            } else {
                state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
            }
        }
    }

    /// Compiles what this thread has begun, and says so to all.
    fn compile(&self, request: &Request) {
        /// Whoever waits is told, also where a driver or a library panics.
        struct Begun<'a>(&'a Inner, &'a Request, Outcome);
        impl Drop for Begun<'_> {
            fn drop(&mut self) {
                let Self(inner, request, outcome) = self;
                let outcome = std::mem::replace(outcome, Err(String::new()));
                inner.lock().finish(request, outcome);
                inner.changed.notify_all();
            }
        }
        let panicked = format!("compiling the shader {} panicked; choose --engine cpu", request.source.stem);
        let mut begun = Begun(self, request, Err(panicked));
        let start = Instant::now();
        begun.2 = self.pipeline(request);
        log::debug!(
            "{} ({}) compiled in {:.1} ms",
            request.source.stem,
            request.entry,
            1e3 * start.elapsed().as_secs_f64()
        );
    }

    fn pipeline(&self, request: &Request) -> Outcome {
        let module = self.lock().module(&request.source);
        let module = module.get_or_init(|| Module::new(&self.gpu, &request.source, self.checks));
        module.as_ref().map_err(Clone::clone)?.pipeline(&self.gpu, request, self.cache.get())
    }

    fn check(&self) -> Result<(), EngineError> {
        self.gpu.lost().map_or(Ok(()), |why| Err(EngineError::DeviceLost(why.to_owned())))
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
