//! The engine: jobs become submissions, finished submissions become results. Nothing here waits for the device.

use super::device::Gpu;
use super::pipelines::Pipelines;
use super::plan::{Needs, Plan, extent};
use super::slot::{Pictures, Slot};
use super::stages::{Product, Stages, Step};
use super::uniforms::map_pitch;
use crate::engine::{Engine, EngineError, EngineInfo, Job, Output, StageTime};
use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};
use std::time::Instant;

/// Jobs in flight: one computes while the next is on its way.
const SLOTS: usize = 2;

const RUNNING: u8 = 0;
const FINISHED: u8 = 1;
const FAILED: u8 = 2;

/// Matches pairs on a GPU.
pub struct GpuEngine {
    pub(super) gpu: Gpu,
    pub(super) pipelines: Pipelines,
    pub(super) plan: Option<Plan>,
    pub(super) in_flight: VecDeque<InFlight>,
    free: Vec<Slot>,
}

pub(super) struct InFlight {
    job: Job,
    slot: Slot,
    texture: wgpu::Texture,
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
        Ok(Self { gpu, pipelines, plan: None, in_flight: VecDeque::new(), free: Vec::new() })
    }

    /// Uploads a job and lists its steps, which the caller submits.
    pub(super) fn prepare(&mut self, job: &Job) -> Result<(Slot, Vec<Step>), EngineError> {
        self.gpu.check()?;
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
        let result = match steps.last() {
            Some(Step { product: Product::Left(index), .. }) => &plan.left[*index],
            _ => &plan.left[0],
        }
        .clone();
        let texture = plan.next_result();

        let stages = submit_steps(&self.gpu, &slot, &steps);
        let mut encoder = self.gpu.device.create_command_encoder(&wgpu::CommandEncoderDescriptor::default());
        copy_to_texture(&mut encoder, &result, &texture);
        slot.record_read_back(&mut encoder, stages.len(), job.read_back.then_some(&result));
        self.gpu.queue.submit([encoder.finish()]);

        let state = Arc::new(AtomicU8::new(RUNNING));
        let noted = Arc::clone(&state);
        if job.read_back || slot.timestamps.is_some() {
            slot.request_read_back(move |ok| noted.store(if ok { FINISHED } else { FAILED }, Ordering::Release));
        } else {
            self.gpu.queue.on_submitted_work_done(move || noted.store(FINISHED, Ordering::Release));
        }
        self.gpu.check()?;
        self.in_flight.push_back(InFlight { job, slot, texture, stages, submitted, state });
        Ok(())
    }

    fn collect(&mut self) -> Result<Option<Output>, EngineError> {
        let polled = self.gpu.device.poll(wgpu::PollType::Poll);
        let checked = self.gpu.check();
        let Some(oldest) = self.in_flight.front() else { return checked.map(|()| None) };
        let state = oldest.state.load(Ordering::Acquire);
        if checked.is_ok() && polled.is_ok() && state == RUNNING {
            return Ok(None);
        }
        let Some(InFlight { job, slot, texture, stages, submitted, .. }) = self.in_flight.pop_front() else {
            return Ok(None);
        };
        checked?;
        polled.map_err(|err| EngineError::Device(format!("the GPU does not answer: {err}")))?;
        if state == FAILED {
            return Err(EngineError::Device("the result could not be read back from the GPU".to_owned()));
        }
        let (mut map, mut times) = (None, Vec::new());
        if job.read_back || slot.timestamps.is_some() {
            let (ticks, read) = slot.take_read_back(&self.gpu, job.read_back)?;
            map = read.map(Arc::new);
            if slot.timestamps.is_some() {
                let tick_ms = f64::from(self.gpu.queue.get_timestamp_period()) * 1e-6;
                let ms = |i: usize| ticks[2 * i + 1].saturating_sub(ticks[2 * i]) as f64 * tick_ms;
                times = stages.iter().enumerate().map(|(i, name)| StageTime { name, ms: ms(i) }).collect();
            }
        }
        self.free.push(slot);
        Ok(Some(Output {
            job,
            engine: self.info(),
            map,
            texture: Some(texture),
            stages: times,
            compute_time: submitted.elapsed(),
        }))
    }
}

/// Submits the steps in pieces, so that a window on the same queue gets in between: a piece is one path direction, or
/// all other steps of a stage. Gives the stages that ran.
fn submit_steps(gpu: &Gpu, slot: &Slot, steps: &[Step]) -> Vec<&'static str> {
    let mut stages: Vec<&'static str> = Vec::new();
    let pieces: Vec<&[Step]> = steps.chunk_by(|a, b| a.stage == b.stage && a.stage != "paths").collect();
    for (i, piece) in pieces.iter().enumerate() {
        let stage = piece[0].stage;
        let starts = stages.last() != Some(&stage);
        if starts {
            stages.push(stage);
        }
        let ends = pieces.get(i + 1).is_none_or(|next| next[0].stage != stage);
        let query = 2 * (stages.len() - 1) as u32;
        let timestamp_writes =
            slot.timestamps.as_ref().filter(|_| starts || ends).map(|timestamps| wgpu::ComputePassTimestampWrites {
                query_set: &timestamps.queries,
                beginning_of_pass_write_index: starts.then_some(query),
                end_of_pass_write_index: ends.then_some(query + 1),
            });
        let mut encoder = gpu.device.create_command_encoder(&wgpu::CommandEncoderDescriptor { label: Some(stage) });
        let descriptor = wgpu::ComputePassDescriptor { label: Some(stage), timestamp_writes };
        let mut pass = encoder.begin_compute_pass(&descriptor);
        for dispatch in piece.iter().flat_map(|step| &step.dispatches) {
            dispatch.record(&mut pass);
        }
        drop(pass);
        gpu.queue.submit([encoder.finish()]);
    }
    stages
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
