//! Engines of the algorithm of [`stereopsis_stereo`]: rectified pairs in, disparity maps out, bit for bit equal.

mod adapter_choice;
pub mod cached;
pub mod demand;
pub mod recovery;
mod error;
mod settings;

pub use adapter_choice::{AdapterChoice, Autotune};
pub use error::{EngineError, MemoryError};
pub use settings::EngineSettings;

use crate::Frame;
use error::CountError;
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;
use stereopsis_base::parameter::choices;
use stereopsis_stereo::cost::mutual_information::MAX_PIXELS;
use stereopsis_stereo::{DisparityMap, StereoParams};

choices! {
    /// Kind of an engine.
    pub enum EngineKind {
        /// SIMD on all cores.
        Cpu = "cpu",
        /// Compute shaders on any GPU.
        Gpu = "gpu",
        /// An engine on the network.
        Network = "network",
        /// A neural network of the user, a learned matcher.
        Model = "model",
    }
}

choices! {
    /// The user's choice of an engine.
    pub enum EngineChoice {
        /// Time both at this size and take the faster one.
        Auto = "auto",
        /// Compute shaders on the GPU.
        Gpu = "gpu",
        /// SIMD on all cores.
        Cpu = "cpu",
        /// The results of the engine that has the rig on the network; nothing is matched here.
        Network = "network",
        /// Your own neural network (--model); the range, the left-right check and the filters apply, and nothing else of matching.
        Model = "model",
    }
}

choices! {
    /// Runtime and device of a model.
    pub enum ModelDevice {
        /// The runtime of this program, on the CPU.
        BuiltIn = "built-in",
        /// ONNX Runtime on the CPU.
        Cpu = "cpu",
        /// ONNX Runtime on GPUs of NVIDIA.
        Cuda = "cuda",
        /// ONNX Runtime on GPUs of NVIDIA, compiled for the model.
        TensorRt = "tensorrt",
        /// ONNX Runtime on any GPU.
        WebGpu = "webgpu",
        /// ONNX Runtime on GPUs of Windows.
        DirectMl = "directml",
        /// ONNX Runtime on devices of Apple.
        CoreMl = "coreml",
        /// ONNX Runtime on devices of Intel.
        OpenVino = "openvino",
    }
}

/// Model of the user, with its runtime and device.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ModelFile {
    /// File in the format ONNX.
    pub path: PathBuf,
    /// Runtime and device.
    pub device: ModelDevice,
}

/// Description of an engine, part of every result.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
pub struct EngineInfo {
    /// Kind of the engine.
    pub kind: EngineKind,
    /// Name of the device: `AMD EPYC, AVX-512, 2 threads`, `NVIDIA H200 (Vulkan)`.
    pub adapter: String,
    /// Whether it is a software adapter: a GPU driver that computes on the CPU.
    pub software: bool,
}

/// Pair to match.
#[derive(Clone, Debug)]
pub struct Job {
    /// Pair to match.
    pub frame: Arc<Frame>,
    /// Valid parameters.
    pub params: Arc<StereoParams>,
    /// Whether the disparity map is copied to the host; a window needs only the texture.
    pub read_back: bool,
    /// Whether the right image's map is computed too, and copied to the host.
    pub wants_right: bool,
}

impl Job {
    /// Whether a map has to be copied to the host.
    pub fn comes_back(&self) -> bool {
        self.read_back || self.wants_right
    }
}

/// Time of one stage.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize)]
pub struct StageTime {
    /// Name of the stage: `gates`, `information`, `cost`, `aggregation`, `paths`, `winner`, `model`, `mirrored model`, `filters`.
    pub name: &'static str,
    /// Time of the stage, ms.
    pub ms: f64,
}

/// Result of one pair.
#[derive(Clone, Debug)]
pub struct Output {
    /// Job of the result.
    pub job: Job,
    /// Engine that computed it.
    pub engine: Arc<EngineInfo>,
    /// Disparity map on the host; always from the CPU, on request from the GPU.
    pub map: Option<Arc<DisparityMap>>,
    /// Disparity map of the right image, if the job requests it.
    pub right_map: Option<Arc<DisparityMap>>,
    /// Disparity map on the GPU; only from the GPU.
    pub texture: Option<ResultTexture>,
    /// Time of each stage, in the order in which they ran.
    pub stages: Vec<StageTime>,
    /// Time from submission to the finished result.
    pub compute_time: Duration,
}

impl Output {
    /// Returns the time of each stage by its name, ms, summed over the runs of a stage.
    pub fn stages_ms(&self) -> BTreeMap<&'static str, f64> {
        let mut sums = BTreeMap::new();
        for StageTime { name, ms } in &self.stages {
            *sums.entry(*name).or_default() += ms;
        }
        sums
    }
}

/// Disparity map on the device: `R32Uint`, low 16 bits the disparity in 1/16 px as in [`stereopsis_stereo::DisparityMap::values`], next 8 bits
/// the reasons, upper 8 bits the confidence if the parameters enable it.
#[cfg(feature = "gpu")]
pub type ResultTexture = wgpu::Texture;
/// Type without values: no engine of this build leaves its map on a device.
#[cfg(not(feature = "gpu"))]
pub type ResultTexture = std::convert::Infallible;

/// Engine that comes with a source: another machine matches the source's pairs, and has the parameters.
pub trait SourceEngine: Send + Sync {
    /// Opens the engine, which takes only pairs of the source and ignores the parameters of jobs.
    ///
    /// # Errors
    /// The other machine cannot be reached.
    fn open(&self) -> Result<Box<dyn Engine>, EngineError>;

    /// Sends the other machine parameters that were changed here, and returns its own ones if others have changed them, once. Does nothing
    /// before the engine's first result.
    fn exchange(&self, in_force: &StereoParams) -> Option<StereoParams>;
}

/// Engine that runs jobs in order. Up to [`Engine::slots`] are in flight, so that the upload of a pair overlaps the computation of the
/// previous one.
pub trait Engine: Send {
    /// Returns the description of this engine.
    fn info(&self) -> Arc<EngineInfo>;

    /// Returns the largest number of jobs in flight: submitted and not yet collected.
    fn slots(&self) -> usize;

    /// Returns the bytes of memory kept for pairs like the last one; `None` if unknown.
    fn memory_bytes(&mut self) -> Option<usize> {
        None
    }

    /// Whether a job like this could start at once. If not, the engine prepares in the background; repeated calls are cheap. An impossible
    /// job counts as prepared: [`Engine::submit`] returns the error.
    fn prepare(&mut self, _job: &Job) -> bool {
        true
    }

    /// Begins a new sequence: the next pair is matched without state of earlier pairs, as after a change of size or parameters; see
    /// [`stereopsis_stereo::Past`].
    fn forget(&mut self);

    /// Starts a job without waiting for the device. An unprepared engine prepares first, which may take a while.
    ///
    /// # Errors
    /// The job is rejected; the engine stays usable unless the device is lost.
    fn submit(&mut self, job: Job) -> Result<(), EngineError>;

    /// Returns the oldest job's result if it is finished. It never waits for a device, but the CPU engine computes here.
    ///
    /// # Errors
    /// The oldest job failed, and is no longer in flight.
    fn collect(&mut self) -> Result<Option<Output>, EngineError>;

    /// Waits briefly for the oldest job, which [`Engine::collect`] returns if it is finished.
    fn wait(&mut self) {
        std::thread::sleep(POLL_INTERVAL);
    }
}

/// Refuses images with too many pixels for the counters of mutual information.
///
/// # Errors
/// The image has too many pixels.
pub fn check_counts((width, height): (usize, usize), params: &StereoParams) -> Result<(), EngineError> {
    if params.cost.is_learned() && width * height > MAX_PIXELS {
        return Err(EngineError::TooLarge(CountError { width, height }.into()));
    }
    Ok(())
}

/// Interval of polling an engine that cannot wait for its device.
pub const POLL_INTERVAL: Duration = Duration::from_micros(100);

/// Runs one job and waits for it; the engine must be idle.
///
/// # Errors
/// Errors of [`Engine::submit`] and [`Engine::collect`].
pub fn run(engine: &mut dyn Engine, job: Job) -> Result<Output, EngineError> {
    engine.submit(job)?;
    next_output(engine)
}

/// Waits for the result of the oldest job; there must be one.
///
/// # Errors
/// Errors of [`Engine::collect`].
pub fn next_output(engine: &mut dyn Engine) -> Result<Output, EngineError> {
    loop {
        if let Some(output) = engine.collect()? {
            return Ok(output);
        }
        engine.wait();
    }
}

/// Polls for the result of the oldest job, as [`next_output`] but without its pauses, which are long compared to a pair on a fast
/// GPU. A software adapter is waited for: it needs the processor for itself.
///
/// # Errors
/// Errors of [`Engine::collect`].
pub fn poll_output(engine: &mut dyn Engine) -> Result<Output, EngineError> {
    if engine.info().software {
        return next_output(engine);
    }
    loop {
        if let Some(output) = engine.collect()? {
            return Ok(output);
        }
        std::thread::yield_now();
    }
}
