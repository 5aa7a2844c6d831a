//! Engines run the algorithm of [`crate::stereo`]: rectified pairs go in, disparity maps come out, all with the same bits.

pub mod cpu;
pub mod gpu;
mod auto;
mod cached;
mod open;
pub mod worker;

pub use cpu::CpuEngine;
pub use gpu::GpuEngine;
pub use open::{OpenOptions, Opened, open};

use crate::capture::Frame;
use crate::choices;
use crate::stereo::cost::mutual_information::MOST_PIXELS;
use crate::stereo::{DisparityMap, StereoParams};
use std::sync::Arc;
use std::time::Duration;

choices! {
    /// What computed a result.
    pub enum EngineKind {
        /// SIMD on all cores.
        Cpu = "cpu",
        /// Compute shaders on any GPU.
        Gpu = "gpu",
    }
}

choices! {
    /// What a user asks for.
    pub enum EngineChoice {
        /// Time both at this size and take the faster one.
        Auto = "auto",
        /// Compute shaders on the GPU.
        Gpu = "gpu",
        /// SIMD on all cores.
        Cpu = "cpu",
    }
}

/// What every result says of the engine that made it.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
pub struct EngineInfo {
    /// CPU or GPU.
    pub kind: EngineKind,
    /// The device in words: `AMD EPYC, AVX-512, 2 threads`, `NVIDIA H200 (Vulkan)`.
    pub adapter: String,
    /// True for a GPU that is the CPU in disguise.
    pub software: bool,
}

/// One pair to match.
#[derive(Clone, Debug)]
pub struct Job {
    /// The pair.
    pub frame: Arc<Frame>,
    /// How; valid parameters.
    pub params: Arc<StereoParams>,
    /// Whether somebody needs the numbers on the host; a texture alone is enough to show.
    pub read_back: bool,
    /// Whether somebody needs the right picture's map too; it comes to the host.
    pub wants_right: bool,
}

impl Job {
    /// Whether a map has to come to the host.
    fn comes_back(&self) -> bool {
        self.read_back || self.wants_right
    }
}

/// Time of one stage.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize)]
pub struct StageTime {
    /// The stage's word: `gates`, `information`, `cost`, `aggregation`, `paths`, `winner`, `filters`.
    pub name: &'static str,
    /// How long it took, ms.
    pub ms: f64,
}

/// One finished pair.
#[derive(Clone, Debug)]
pub struct Output {
    /// What was asked.
    pub job: Job,
    /// Who answered.
    pub engine: Arc<EngineInfo>,
    /// The disparity map on the host; always there from the CPU, on request from the GPU.
    pub map: Option<Arc<DisparityMap>>,
    /// The right picture's disparity map, if it was asked for.
    pub right_map: Option<Arc<DisparityMap>>,
    /// The disparity map on the GPU; only from the GPU.
    pub texture: Option<ResultTexture>,
    /// Time of each stage, in the order in which they ran.
    pub stages: Vec<StageTime>,
    /// From submission to the finished result.
    pub compute_time: Duration,
}

/// A disparity map on the device: `R32Uint`, low 16 bits the disparity in 1/16 px as in
/// [`crate::stereo::DisparityMap::values`], next 8 bits the reasons, upper 8 bits the confidence if it was asked for.
pub type ResultTexture = wgpu::Texture;

/// Why an engine cannot do a job.
#[derive(Debug, thiserror::Error)]
pub enum EngineError {
    /// No adapter, or none that can compute.
    #[error("{0}")]
    NoAdapter(String),
    /// The job exceeds a limit of the device; the text has the numbers.
    #[error("{0}")]
    TooLarge(String),
    /// This engine does not do what the parameters ask for; the text says what does.
    #[error("{0}")]
    Unsupported(String),
    /// The device is gone: driver reset, unplugged, asleep too long.
    #[error("the GPU was lost ({0})")]
    DeviceLost(String),
    /// Anything else that the device reports.
    #[error("{0}")]
    Device(String),
}

/// Runs jobs in order. Up to [`Engine::slots`] are in flight, so that the upload of a pair overlaps the computation
/// of the one before.
pub trait Engine: Send {
    /// What results will say of this engine.
    fn info(&self) -> Arc<EngineInfo>;

    /// How many jobs may be in flight: submitted and not yet collected.
    fn slots(&self) -> usize;

    /// Bytes that it keeps from pair to pair for pairs as the last one; `None` where it does not know.
    fn memory_bytes(&mut self) -> Option<usize> {
        None
    }

    /// Whether a job like this could start at once. Where not, what it lacks is being made meanwhile, and asking again
    /// is cheap. A job that cannot be done at all is prepared: [`Engine::submit`] says why.
    fn prepare(&mut self, _job: &Job) -> bool {
        true
    }

    /// Forgets the pairs before: the next one begins a sequence of its own. (What is remembered of a pair is forgotten anyway
    /// where the next one differs in size or parameters, see [`crate::stereo::Past`].)
    fn forget(&mut self);

    /// Starts a job. The pair is on its way when this returns; nobody waits for the device. What was not prepared is
    /// made here first, which may take a while.
    ///
    /// # Errors
    /// The job is not taken; the engine stays usable unless the device is lost.
    fn submit(&mut self, job: Job) -> Result<(), EngineError>;

    /// The oldest job's result if it is finished. Never waits for a device; an engine on the CPU computes here.
    ///
    /// # Errors
    /// The oldest job failed and is gone.
    fn collect(&mut self) -> Result<Option<Output>, EngineError>;
}

/// Refuses pictures that are too large for a cost to be counted.
fn check_counts((width, height): (usize, usize), params: &StereoParams) -> Result<(), EngineError> {
    if params.cost.is_learned() && width * height > MOST_PIXELS {
        return Err(EngineError::TooLarge(format!(
            "{width}x{height} px are too many for mutual information, which counts up to {MOST_PIXELS}; lower --scale, or use \
             another --cost"
        )));
    }
    Ok(())
}

/// Runs one job and waits for it; the engine must be idle.
///
/// # Errors
/// As [`Engine::submit`] and [`Engine::collect`].
pub fn run(engine: &mut dyn Engine, job: Job) -> Result<Output, EngineError> {
    engine.submit(job)?;
    loop {
        if let Some(output) = engine.collect()? {
            return Ok(output);
        }
        std::thread::sleep(Duration::from_micros(100));
    }
}
