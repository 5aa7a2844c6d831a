//! The engine: jobs become pieces of work, finished pieces become results. Nothing here waits for the device.
//!
//! The queue is first come, first served: so that a window on it is not kept waiting for a whole job, only a few ms
//! of work lie there, and the rest follows from [`Engine::collect`].

use super::device::Gpu;
use super::pipelines::Pipelines;
use super::plan::{Needs, Plan, extent};
use super::slot::{MAX_PIECES, Pictures, Slot};
use super::stages::{Product, Stages, Step};
use super::uniforms::map_pitch;
use crate::engine::{Engine, EngineError, EngineInfo, Job, Output, StageTime};
use crate::stereo::StereoParams;
use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, AtomicUsize, Ordering};
use std::time::Instant;

/// Jobs in flight: one computes while the next is on its way.
const SLOTS: usize = 2;

/// Work that waits on the device, so that a window on the same queue gets in between, ms.
const BACKLOG_MS: f64 = 4.0;
/// Pieces that wait on the device at least, so that it has work while the host looks elsewhere.
const MIN_BACKLOG: usize = 2;
/// All pieces of all jobs in flight.
const MAX_BACKLOG: usize = SLOTS * MAX_PIECES;

const RUNNING: u8 = 0;
const FINISHED: u8 = 1;
const FAILED: u8 = 2;

/// Matches pairs on a GPU.
pub struct GpuEngine {
    pub(super) gpu: Gpu,
    pipelines: Pipelines,
    pub(super) plan: Option<Plan>,
    in_flight: VecDeque<InFlight>,
    free: Vec<Slot>,
    /// Pieces on the device, not yet done.
    queued: Arc<AtomicUsize>,
    /// How many there may be.
    backlog: usize,
}

struct InFlight {
    job: Job,
    slot: Slot,
    texture: wgpu::Texture,
    /// What the device has not got yet.
    pieces: VecDeque<wgpu::CommandBuffer>,
    /// The stage of each timed piece.
    stages: Vec<&'static str>,
    submitted: Instant,
    state: Arc<AtomicU8>,
}

impl GpuEngine {
    /// On this device, which a window may share. Shaders are compiled when a job first needs them.
    ///
    /// # Errors
    /// The device is lost already.
    pub fn new(gpu: Gpu) -> Result<Self, EngineError> {
        gpu.check()?;
        let pipelines = Pipelines::new(gpu.clone());
        Ok(Self {
            gpu,
            pipelines,
            plan: None,
            in_flight: VecDeque::new(),
            free: Vec::new(),
            queued: Arc::new(AtomicUsize::new(0)),
            backlog: MIN_BACKLOG,
        })
    }

    /// What this engine has no shaders for and `params` ask for.
    pub fn lacks(params: &StereoParams) -> Option<&'static str> {
        let wanted = [(params.gating.is_some(), "gating"), (params.confidence, "confidence")];
        wanted.into_iter().find_map(|(wanted, name)| wanted.then_some(name))
    }

    /// Uploads a job and lists its steps, which the caller submits.
    pub(super) fn prepare(&mut self, job: &Job) -> Result<(Slot, Vec<Step>), EngineError> {
        self.gpu.check()?;
        if let Some(lacking) = Self::lacks(&job.params) {
            let text = format!("the GPU engine has no {lacking}: use --engine cpu, or --{lacking} off");
            return Err(EngineError::Unsupported(text));
        }
        let (left, right) = (&job.frame.left.luma, &job.frame.right.luma);
        let size = left.size();
        if size != right.size() || size.0 == 0 || size.1 == 0 {
            let (l, r) = (left.size(), right.size());
            return Err(EngineError::Device(format!(
                "a left picture of {}x{} and a right one of {}x{} cannot be matched",
                l.0, l.1, r.0, r.1
            )));
        }
        let needs = Needs::new(size, &job.params);
        if self.plan.as_ref().is_none_or(|plan| plan.needs != needs) {
            self.plan = None; // its memory first
            self.plan = Some(Plan::new(&self.gpu, needs)?);
        }
        let Some(plan) = &self.plan else { return Err(EngineError::Device("no plan".to_owned())) };
        let pictures = Pictures::of(left, right);
        self.free.retain(|slot| slot.pictures == pictures && slot.is_writable());
        let mut slot = self.free.pop().unwrap_or_else(|| Slot::new(&self.gpu, pictures));
        slot.upload(&self.gpu, left, right, &job.params)?;
        let stages = Stages { pipelines: &mut self.pipelines, plan, slot: &slot, params: &job.params };
        let steps = stages.all()?;
        Ok((slot, steps))
    }
}

impl GpuEngine {
    /// Hands pieces to the device, the oldest job's first, as long as little is waiting there.
    fn feed(&mut self) {
        for flight in &mut self.in_flight {
            while !flight.pieces.is_empty() && self.queued.load(Ordering::Acquire) < self.backlog {
                let Some(piece) = flight.pieces.pop_front() else { break };
                self.gpu.queue.submit([piece]);
                let queued = Arc::clone(&self.queued);
                queued.fetch_add(1, Ordering::AcqRel);
                self.gpu.queue.on_submitted_work_done(move || {
                    queued.fetch_sub(1, Ordering::AcqRel);
                });
                if flight.pieces.is_empty() {
                    flight.request_result(&self.gpu);
                }
            }
        }
    }

    /// A finished job becomes a result, and its slot is free again.
    fn finish(&mut self, flight: InFlight) -> Result<Output, EngineError> {
        let InFlight { job, slot, texture, stages, submitted, .. } = flight;
        let (mut map, mut times) = (None, Vec::<StageTime>::new());
        if job.read_back || slot.has_timestamps() {
            let (ticks, read) = slot.take_read_back(&self.gpu, job.read_back)?;
            map = read.map(Arc::new);
            let tick_ms = f64::from(self.gpu.queue.get_timestamp_period()) * 1e-6;
            for (&name, ticks) in stages.iter().zip(ticks.chunks_exact(2)).filter(|_| slot.has_timestamps()) {
                let ms = ticks[1].saturating_sub(ticks[0]) as f64 * tick_ms;
                match times.last_mut().filter(|last| last.name == name) {
                    Some(last) => last.ms += ms,
                    None => times.push(StageTime { name, ms }),
                }
            }
        }
        self.free.push(slot);
        let compute_time = submitted.elapsed();
        let timed_ms: f64 = times.iter().map(|stage| stage.ms).sum();
        let job_ms = if times.is_empty() { compute_time.as_secs_f64() * 1e3 } else { timed_ms };
        self.backlog = ((BACKLOG_MS * stages.len() as f64 / job_ms) as usize).clamp(MIN_BACKLOG, MAX_BACKLOG);
        Ok(Output { job, engine: self.info(), map, texture: Some(texture), stages: times, compute_time })
    }
}

impl InFlight {
    /// Has `state` say when the last piece, just submitted, is done.
    fn request_result(&self, gpu: &Gpu) {
        let state = Arc::clone(&self.state);
        if self.job.read_back || self.slot.has_timestamps() {
            let note = move |ok| state.store(if ok { FINISHED } else { FAILED }, Ordering::Release);
            self.slot.request_read_back(note);
        } else {
            gpu.queue.on_submitted_work_done(move || state.store(FINISHED, Ordering::Release));
        }
    }
}

impl Engine for GpuEngine {
    fn info(&self) -> Arc<EngineInfo> {
        Arc::clone(&self.gpu.info)
    }

    fn slots(&self) -> usize {
        SLOTS
    }

    fn submit(&mut self, job: Job) -> Result<(), EngineError> {
        if self.in_flight.len() >= SLOTS {
            return Err(EngineError::Device(format!("{SLOTS} jobs are in flight already")));
        }
        let submitted = Instant::now();
        let (slot, steps) = self.prepare(&job)?;
        let Some(plan) = &mut self.plan else { return Err(EngineError::Device("no plan".to_owned())) };
        let (mut pieces, stages) = record_pieces(&self.gpu, &slot, &steps);
        let texture = plan.next_result();
        let (result, _) = plan.product(steps.last().map_or(Product::Left(0), |step| step.product));
        let mut encoder = self.gpu.device.create_command_encoder(&wgpu::CommandEncoderDescriptor::default());
        copy_to_texture(&mut encoder, result, &texture);
        slot.record_read_back(&mut encoder, stages.len(), job.read_back.then_some(result));
        pieces.push_back(encoder.finish());

        let state = Arc::new(AtomicU8::new(RUNNING));
        self.in_flight.push_back(InFlight { job, slot, texture, pieces, stages, submitted, state });
        self.feed();
        Ok(())
    }

    fn collect(&mut self) -> Result<Option<Output>, EngineError> {
        let polled = self.gpu.device.poll(wgpu::PollType::Poll);
        let polled = polled.map_err(|err| EngineError::Device(format!("the GPU does not answer: {err}")));
        let checked = self.gpu.check().and(polled.map(drop));
        if checked.is_ok() {
            self.feed();
        }
        let state = self.in_flight.front().map(|flight| flight.state.load(Ordering::Acquire));
        if checked.is_ok() && matches!(state, None | Some(RUNNING)) {
            return Ok(None);
        }
        let oldest = self.in_flight.pop_front();
        checked?;
        let Some(oldest) = oldest else { return Ok(None) };
        if state == Some(FAILED) {
            // Only a device that is gone fails so, and its own callback may come later.
            return Err(self.gpu.lose("a result could not be read back"));
        }
        self.finish(oldest).map(Some)
    }
}

/// Records the steps in pieces: one path direction each, or all other steps of a stage. Also gives each one's stage.
fn record_pieces(gpu: &Gpu, slot: &Slot, steps: &[Step]) -> (VecDeque<wgpu::CommandBuffer>, Vec<&'static str>) {
    let pieces = steps.chunk_by(|a, b| a.stage == b.stage && a.stage != "paths");
    let record = |(i, piece): (usize, &[Step])| {
        let stage = piece[0].stage;
        let mut encoder = gpu.device.create_command_encoder(&wgpu::CommandEncoderDescriptor { label: Some(stage) });
        let mut pass = encoder.begin_compute_pass(&wgpu::ComputePassDescriptor {
            label: Some(stage),
            timestamp_writes: slot.timestamp_writes(i),
        });
        for dispatch in piece.iter().flat_map(|step| &step.dispatches) {
            dispatch.record(&mut pass);
        }
        drop(pass);
        (encoder.finish(), stage)
    };
    pieces.enumerate().map(record).unzip()
}

fn copy_to_texture(encoder: &mut wgpu::CommandEncoder, map: &wgpu::Buffer, texture: &wgpu::Texture) {
    let (width, height) = (texture.width() as usize, texture.height() as usize);
    let layout = wgpu::TexelCopyBufferLayout {
        offset: 0,
        bytes_per_row: Some(4 * map_pitch(width) as u32),
        rows_per_image: None,
    };
    let source = wgpu::TexelCopyBufferInfo { buffer: map, layout };
    encoder.copy_buffer_to_texture(source, texture.as_image_copy(), extent(width, height));
}
