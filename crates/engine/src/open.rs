//! Opens the engine that the user has chosen, and opens it again after the loss of its device.

use super::front::AxisAdapter;
use std::sync::Arc;
use stereopsis_base::remedy::Remedy;
#[cfg(not(feature = "model"))]
use stereopsis_base::remedy::option;
use stereopsis_cpu::CpuEngine;
use stereopsis_frame::engine::{Engine, EngineChoice, EngineError, EngineSettings, Job, SourceEngine};
#[cfg(feature = "gpu")]
use stereopsis_gpu::variant::VariantOverrides;
#[cfg(feature = "gpu")]
use stereopsis_gpu::{Gpu, GpuEngine, GpuOptions};

/// Reason why an engine that was chosen by name cannot be opened.
#[derive(Debug, thiserror::Error)]
pub(super) enum OpenError {
    #[cfg(not(feature = "gpu"))]
    #[error("this build has no GPU engine: build it with the feature `gpu`, or choose the engine cpu")]
    WithoutGpu,
    #[cfg(not(feature = "model"))]
    #[error(
        "this build runs no models: build it with the feature `model` (`make run MODELS=1`), or choose another {}",
        option("engine")
    )]
    WithoutModels,
    #[cfg(feature = "model")]
    #[error("the engine model needs a file: name it with {}", Remedy::set("model", "FILE.onnx"))]
    NoFile,
    #[error(
        "{} shows the results of a rig's engine, and this source is no rig on the network: open zenoh:NAME, or choose another engine",
        Remedy::set("engine", "network")
    )]
    NoRig,
}

impl From<OpenError> for EngineError {
    fn from(err: OpenError) -> Self {
        Self::Unsupported(err.into())
    }
}

/// Options for opening an engine: its settings, and what is there already.
#[derive(Clone, Default)]
pub struct OpenOptions {
    /// Settings.
    pub settings: EngineSettings,
    /// GPU that a window draws with.
    #[cfg(feature = "gpu")]
    pub gpu: Option<Gpu>,
    /// Engine that the source of the pairs brings.
    pub source_engine: Option<Arc<dyn SourceEngine>>,
}

impl From<EngineSettings> for OpenOptions {
    fn from(settings: EngineSettings) -> Self {
        Self { settings, ..Self::default() }
    }
}

/// Engine that was opened, with the reason for its choice.
pub struct Opened {
    /// Open engine.
    pub engine: Box<dyn Engine>,
    /// Reason for the choice of `auto`: the measured times, or why there are none.
    pub why: Option<String>,
}

/// Opens an engine for pairs of either axis. `auto` times both engines on `sample`, or uses cached times, and never fails.
///
/// # Errors
/// The GPU, the model or the source's engine was chosen by name and cannot be opened; the text contains the remedy.
pub fn open(options: &OpenOptions, sample: Option<&Job>) -> Result<Opened, EngineError> {
    match options.settings.choice {
        #[cfg(feature = "gpu")]
        EngineChoice::Auto => Ok(super::auto::choose(options, sample)),
        #[cfg(not(feature = "gpu"))]
        EngineChoice::Auto => {
            let _ = sample; // there is only one engine
            Ok(Opened {
                engine: Box::new(AxisAdapter::new(CpuEngine::new(options.settings.threads))),
                why: Some(OpenError::WithoutGpu.to_string()),
            })
        }
        #[cfg(feature = "gpu")]
        EngineChoice::Gpu => Ok(Opened { engine: Box::new(AxisAdapter::new(options.gpu_engine()?)), why: None }),
        #[cfg(not(feature = "gpu"))]
        EngineChoice::Gpu => Err(OpenError::WithoutGpu.into()),
        EngineChoice::Cpu => {
            Ok(Opened { engine: Box::new(AxisAdapter::new(CpuEngine::new(options.settings.threads))), why: None })
        }
        EngineChoice::Model => Ok(Opened { engine: options.model_engine()?, why: None }),
        EngineChoice::Network => match &options.source_engine {
            Some(engine) => Ok(Opened { engine: engine.open()?, why: None }),
            None => Err(OpenError::NoRig.into()),
        },
    }
}

impl OpenOptions {
    /// Whether the engine shares a device that is open already.
    pub(super) fn shares_gpu(&self) -> bool {
        #[cfg(feature = "gpu")]
        return self.gpu.is_some();
        #[cfg(not(feature = "gpu"))]
        return false;
    }

    #[cfg(feature = "model")]
    fn model_engine(&self) -> Result<Box<dyn Engine>, EngineError> {
        let file = self.settings.model.clone().ok_or(OpenError::NoFile)?;
        Ok(Box::new(AxisAdapter::new(stereopsis_model::ModelEngine::open(file, self.settings.threads)?)))
    }

    #[cfg(not(feature = "model"))]
    fn model_engine(&self) -> Result<Box<dyn Engine>, EngineError> {
        Err(OpenError::WithoutModels.into())
    }

    /// Opens the engine again after the loss of its device.
    ///
    /// # Errors
    /// There is still no GPU. `auto` does not choose the CPU here.
    pub(super) fn open_again(&self, sample: Option<&Job>) -> Result<Opened, EngineError> {
        #[cfg(feature = "gpu")]
        return open(&Self { gpu: Some(self.open_gpu()?), ..self.clone() }, sample);
        #[cfg(not(feature = "gpu"))]
        return open(self, sample);
    }
}

#[cfg(feature = "gpu")]
impl OpenOptions {
    pub(super) fn open_gpu(&self) -> Result<Gpu, EngineError> {
        self.gpu.clone().map_or_else(|| Gpu::open(&self.settings.adapter), Ok)
    }

    /// Opens the GPU engine as its own type, with its own methods.
    ///
    /// # Errors
    /// There is no such GPU, or it cannot be opened; the text contains the remedy.
    pub fn gpu_engine(&self) -> Result<GpuEngine, EngineError> {
        self.engine_on(self.open_gpu()?)
    }

    pub(super) fn engine_on(&self, gpu: Gpu) -> Result<GpuEngine, EngineError> {
        let options = GpuOptions {
            overrides: VariantOverrides::from_env()?,
            autotune: self.settings.autotune,
            ..GpuOptions::default()
        };
        GpuEngine::with_options(gpu, options)
    }
}
