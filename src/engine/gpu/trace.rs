//! One job step by step, with every intermediate product brought to the host: for tests and for tools that look
//! into the algorithm. It waits after each step, so no window should share the device meanwhile.

use super::engine::GpuEngine;
use super::plan::Plan;
use super::slot::decode_map;
use crate::engine::{EngineError, Job};
use crate::stereo::{DisparityMap, Volume};
use std::sync::mpsc;
use std::time::Duration;

/// What each step left behind, in order: `cost`, `path` for each direction, `right map`, `left map`, `median`, …
#[derive(Clone, Debug)]
pub struct Trace {
    /// The step's name and its product.
    pub steps: Vec<(&'static str, TraceData)>,
}

/// A product on the host, as the reference has it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TraceData {
    /// Costs, or sums so far.
    Volume(Volume<u32>),
    /// A disparity map.
    Map(DisparityMap),
}

impl GpuEngine {
    /// Runs a job and brings every intermediate product back. The engine must be idle.
    ///
    /// # Errors
    /// As [`crate::engine::Engine::submit`] and [`crate::engine::Engine::collect`].
    pub fn trace(&mut self, job: &Job) -> Result<Trace, EngineError> {
        let (slot, prepared) = self.prepare(job)?;
        let Some(plan) = &self.plan else { return Err(EngineError::Device("no plan".to_owned())) };
        let mut steps = Vec::new();
        for step in &prepared {
            let mut encoder = self.gpu.device.create_command_encoder(&wgpu::CommandEncoderDescriptor::default());
            let mut pass = encoder.begin_compute_pass(&wgpu::ComputePassDescriptor::default());
            for dispatch in &step.dispatches {
                dispatch.record(&mut pass);
            }
            drop(pass);
            let (buffer, bits) = plan.product(step.product);
            let words = self.read(encoder, buffer)?;
            let data = match bits {
                Some(bits) => TraceData::Volume(decode_volume(&words, plan, bits)),
                None => TraceData::Map(decode_map(&words, plan.needs.width, plan.needs.height)),
            };
            steps.push((step.name, data));
        }
        drop(slot);
        Ok(Trace { steps })
    }

    /// Submits `encoder` with a copy of `buffer` behind, and waits for the copy.
    fn read(&self, mut encoder: wgpu::CommandEncoder, buffer: &wgpu::Buffer) -> Result<Vec<u32>, EngineError> {
        let copy = self.gpu.device.create_buffer(&wgpu::BufferDescriptor {
            label: Some("trace"),
            size: buffer.size(),
            usage: wgpu::BufferUsages::MAP_READ | wgpu::BufferUsages::COPY_DST,
            mapped_at_creation: false,
        });
        encoder.copy_buffer_to_buffer(buffer, 0, &copy, 0, buffer.size());
        self.gpu.queue.submit([encoder.finish()]);
        let (mapped, is_mapped) = mpsc::sync_channel(1);
        copy.map_async(wgpu::MapMode::Read, .., move |result| drop(mapped.send(result)));
        while is_mapped.recv_timeout(Duration::from_micros(100)).is_err() {
            self.gpu.check()?;
            self.gpu.device.poll(wgpu::PollType::Poll).map_err(|err| EngineError::Device(err.to_string()))?;
        }
        let bytes = copy.get_mapped_range(..).map_err(|err| EngineError::Device(err.to_string()))?;
        Ok(bytemuck::pod_collect_to_vec(&bytes))
    }
}

/// Candidates of `bits` each, without the ones that only fill the last word.
fn decode_volume(words: &[u32], plan: &Plan, bits: u32) -> Volume<u32> {
    let per_word = (32 / bits) as usize;
    let (width, height, candidates) = (plan.needs.width, plan.needs.height, plan.needs.candidates);
    Volume::from_fn(width, height, candidates, |x, y, i| {
        let n = (y * width + x) * plan.needs.words() * 4 + i;
        (words[n / per_word] >> (bits as usize * (n % per_word))) & (u32::MAX >> (32 - bits))
    })
}
