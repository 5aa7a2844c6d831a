//! Compute pipelines, compiled on a thread of their own: drivers take 1 to 500 ms for each, and neither pairs nor the window may wait
//! for them. A cache keeps compiled pipelines and evicts the least recently used ones.

mod cache;
mod compile;
mod queue;
mod request;
#[cfg(test)]
mod tests;

use super::device::Gpu;
use crate::error::GpuError;
use cache::Cache;
pub use compile::{Binding, bindings};
use compile::{CompileError, Module};
use parking_lot::{Condvar, Mutex};
use queue::{Outcome, QueueState};
pub use request::{Pipeline, Request, Source};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};
use stereopsis_frame::engine::EngineError;

const SAVE_DELAY: Duration = Duration::from_secs(1);

/// All pipelines of a device. Dropping the compiler ends its thread, which may have to finish the current pipeline.
pub struct Compiler {
    inner: Arc<CompilerState>,
}

struct CompilerState {
    gpu: Gpu,
    checks: bool,
    cache: Cache,
    state: Mutex<QueueState>,
    /// Notified of new requests and of finished ones.
    changed: Condvar,
}

impl Compiler {
    /// Creates a compiler without run-time checks in shaders; the driver's pipelines are stored in the program's cache folder.
    pub fn new(gpu: Gpu) -> Self {
        let file = Cache::file(&gpu);
        Self::with(gpu, false, file)
    }

    /// Creates a compiler for tests, with slow run-time checks of every index, divisor and loop; nothing is stored.
    pub fn with_checks(gpu: Gpu) -> Self {
        Self::with(gpu, true, None)
    }

    fn with(gpu: Gpu, checks: bool, file: Option<PathBuf>) -> Self {
        let cache = Cache::new(gpu.clone(), file);
        let inner = CompilerState { gpu, checks, cache, state: Mutex::default(), changed: Condvar::new() };
        Self { inner: Arc::new(inner) }
    }

    /// Returns the pipeline if it is compiled; else the thread compiles it, the latest request first. Never waits.
    ///
    /// # Errors
    /// The pipeline cannot be compiled, which is tried once; or the device is lost.
    pub fn get(&self, request: &Request) -> Result<Option<Pipeline>, EngineError> {
        self.inner.check()?;
        let mut state = self.inner.state.lock();
        if let Some(outcome) = state.outcome(request) {
            return outcome.map(Some).map_err(|err| EngineError::Device(err.into()));
        }
        if state.enqueue(request) {
            self.start_thread(&mut state)?;
            self.inner.changed.notify_all();
        }
        Ok(None)
    }

    /// Returns the pipeline, compiled on this thread unless the other one does it. Call [`Compiler::get`] for all pipelines of a job
    /// first, so that both threads compile.
    ///
    /// # Errors
    /// Errors of [`Compiler::get`].
    pub fn wait_for(&self, request: &Request) -> Result<Pipeline, EngineError> {
        let mut state = self.inner.state.lock();
        loop {
            self.inner.check()?;
            if let Some(outcome) = state.outcome(request) {
                return outcome.map_err(|err| EngineError::Device(err.into()));
            }
            if state.begin(request) {
                self.start_thread(&mut state)?; // the thread saves new pipelines
                drop(state);
                self.inner.compile(request);
                state = self.inner.state.lock();
            } else {
                self.inner.changed.wait(&mut state);
            }
        }
    }

    #[cfg(test)]
    pub(crate) fn is_idle(&self) -> bool {
        self.inner.state.lock().is_idle()
    }

    fn start_thread(&self, state: &mut QueueState) -> Result<(), EngineError> {
        if state.thread.is_none() {
            let inner = Arc::clone(&self.inner);
            let thread = std::thread::Builder::new().name("shaders".into()).spawn(move || inner.run());
            state.thread = Some(thread.map_err(GpuError::NoThread)?);
        }
        Ok(())
    }
}

impl Drop for Compiler {
    fn drop(&mut self) {
        let thread = {
            let mut state = self.inner.state.lock();
            state.stop = true;
            state.thread.take()
        };
        self.inner.changed.notify_all();
        if thread.is_some_and(|thread| thread.join().is_err()) {
            log::error!("the thread that compiles shaders panicked");
        }
        if self.inner.state.lock().has_unsaved {
            self.inner.cache.save();
        }
    }
}

impl CompilerState {
    fn run(&self) {
        let mut state = self.state.lock();
        while !state.stop {
            if let Some(request) = state.begin_next() {
                drop(state);
                self.compile(&request);
                state = self.state.lock();
            } else if state.has_unsaved {
                if self.changed.wait_for(&mut state, SAVE_DELAY).timed_out() && state.is_idle() {
                    state.has_unsaved = false;
                    drop(state);
                    self.cache.save();
                    state = self.state.lock();
                }
            } else {
                self.changed.wait(&mut state);
            }
        }
    }

    /// Compiles a request that this thread has begun, and notifies all waiting threads.
    fn compile(&self, request: &Request) {
        /// Guard that finishes the request even if a driver or a library panics, so that no thread waits for ever.
        struct FinishGuard<'a>(&'a CompilerState, &'a Request, Outcome);
        impl Drop for FinishGuard<'_> {
            fn drop(&mut self) {
                let Self(inner, request, outcome) = self;
                inner.state.lock().finish(request, outcome.clone());
                inner.changed.notify_all();
            }
        }
        let mut guard = FinishGuard(self, request, Err(CompileError::Panicked { shader: request.source.stem }));
        let start = Instant::now();
        guard.2 = self.pipeline(request);
        log::debug!(
            "{} ({}) compiled in {:.1} ms",
            request.source.stem,
            request.entry,
            1e3 * start.elapsed().as_secs_f64()
        );
    }

    fn pipeline(&self, request: &Request) -> Outcome {
        let module = self.state.lock().module(&request.source);
        let module = module.get_or_init(|| Module::new(&self.gpu, &request.source, self.checks));
        module.as_ref().map_err(Clone::clone)?.pipeline(&self.gpu, request, self.cache.get())
    }

    fn check(&self) -> Result<(), EngineError> {
        self.gpu.lost().map_or(Ok(()), |why| Err(EngineError::DeviceLost(why.to_owned())))
    }
}
