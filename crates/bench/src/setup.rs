//! Setup of a measurement: the pairs that are timed, and the engines.

use crate::pairs;
use stereopsis_engine::OpenOptions;
use stereopsis_frame::engine::{AdapterChoice, EngineChoice, EngineInfo, EngineSettings, Job, ModelFile};
use stereopsis_frame::{CaptureError, PairSource, SourceOptions, SourceSpec};
use stereopsis_gpu::Gpu;
use stereopsis_stereo::StereoParams;

/// Function that opens a source; only the caller knows all kinds of them.
pub type OpenSource = fn(&SourceSpec, &SourceOptions) -> Result<Box<dyn PairSource>, CaptureError>;

/// Pairs, parameters and engines of a measurement.
#[derive(Clone, Debug)]
pub struct Setup {
    /// Engine, or `auto` for all available ones.
    pub engine: EngineChoice,
    /// The scene at each size, or images.
    pub sources: Vec<(SourceSpec, SourceOptions)>,
    /// Opens them.
    pub open_source: OpenSource,
    /// Valid parameters.
    pub params: StereoParams,
    /// Number of timed pairs per row.
    pub frames: usize,
    /// Whether JSON is printed instead of a table.
    pub json: bool,
    /// Number of threads of the CPU engine; `None` for one per core.
    pub threads: Option<usize>,
    /// Choice of the GPU.
    pub adapter: AdapterChoice,
    /// File and device of the engine `model`.
    pub model: Option<ModelFile>,
}

/// Returns the note printed for software adapters instead of times.
pub fn not_measurable(info: &EngineInfo) -> Option<String> {
    let adapter = &info.adapter;
    info.software.then(|| {
        format!("not measurable here: this GPU is software ({adapter}), and its times say nothing about a real one")
    })
}

impl Setup {
    /// Returns the first pairs of a source as jobs.
    ///
    /// # Errors
    /// Errors of [`pairs::jobs`].
    pub fn jobs(&self, spec: &SourceSpec, options: &SourceOptions) -> anyhow::Result<Vec<Job>> {
        pairs::jobs(self.open_source, spec, options, &self.params)
    }

    /// Returns the options with which an engine is opened.
    pub fn open_options(&self, choice: EngineChoice) -> OpenOptions {
        let Self { threads, adapter, model, .. } = self.clone();
        OpenOptions::from(EngineSettings { choice, threads, adapter, model, ..EngineSettings::default() })
    }

    /// Returns the chosen engine, or for `auto` every engine of this machine.
    pub fn engines(&self) -> Vec<EngineChoice> {
        match self.engine {
            EngineChoice::Auto if Gpu::list().is_empty() => vec![EngineChoice::Cpu],
            EngineChoice::Auto => vec![EngineChoice::Cpu, EngineChoice::Gpu],
            choice => vec![choice],
        }
    }
}
