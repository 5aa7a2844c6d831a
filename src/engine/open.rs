//! Opens the engine that the user has chosen.

use super::gpu::tuning::Autotune;
use super::gpu::variant::VariantOverrides;
use super::gpu::{AdapterChoice, Gpu, GpuOptions};
use super::{CpuEngine, Engine, EngineChoice, EngineError, GpuEngine, Job, auto};

/// Options by which an engine is opened.
#[derive(Clone)]
pub struct OpenOptions {
    /// The user's choice.
    pub choice: EngineChoice,
    /// Threads of the CPU engine; one for each core by default.
    pub threads: Option<usize>,
    /// The GPU to open, where none is open already.
    pub adapter: AdapterChoice,
    /// The GPU that a window draws with.
    pub gpu: Option<Gpu>,
    /// Whether the GPU engine tries variants on the pairs that come along.
    pub autotune: Autotune,
}

impl Default for OpenOptions {
    /// The quicker engine of the best GPU and all cores.
    fn default() -> Self {
        Self {
            choice: EngineChoice::Auto,
            threads: None,
            adapter: AdapterChoice::Best,
            gpu: None,
            autotune: Autotune::Never,
        }
    }
}

/// An open engine.
pub struct Opened {
    /// The engine.
    pub engine: Box<dyn Engine>,
    /// Why `auto` chose it: the times that it measured, or why it measured none.
    pub why: Option<String>,
}

/// Opens an engine. `auto` times both on `sample`, or remembers; it gives an engine in any case.
///
/// # Errors
/// The GPU was asked for by name and cannot be opened; the text says what to do.
pub fn open(options: &OpenOptions, sample: Option<&Job>) -> Result<Opened, EngineError> {
    match options.choice {
        EngineChoice::Auto => Ok(auto::choose(options, sample)),
        EngineChoice::Gpu => Ok(Opened { engine: Box::new(options.gpu_engine()?), why: None }),
        EngineChoice::Cpu => Ok(Opened { engine: Box::new(CpuEngine::new(options.threads)), why: None }),
        #[cfg(feature = "zenoh")]
        EngineChoice::Network => Ok(Opened { engine: Box::<super::elsewhere::ElsewhereEngine>::default(), why: None }),
    }
}

impl OpenOptions {
    /// The GPU that is open, or the one that was chosen.
    pub(super) fn open_gpu(&self) -> Result<Gpu, EngineError> {
        self.gpu.clone().map_or_else(|| Gpu::open(&self.adapter), Ok)
    }

    /// The GPU engine, with its own methods.
    ///
    /// # Errors
    /// There is no such GPU, or it cannot be opened; the text says what to do.
    pub fn gpu_engine(&self) -> Result<GpuEngine, EngineError> {
        self.engine_on(self.open_gpu()?)
    }

    /// The engine on this GPU.
    pub(super) fn engine_on(&self, gpu: Gpu) -> Result<GpuEngine, EngineError> {
        let options =
            GpuOptions { overrides: VariantOverrides::from_env()?, autotune: self.autotune, ..GpuOptions::default() };
        GpuEngine::with_options(gpu, options)
    }
}
