//! One job step by step, with every intermediate product brought to the host, for tests and tools that examine the algorithm. A trace
//! waits after each step, so no window should share the device meanwhile.

use super::gpu_engine::GpuEngine;
use super::graph::Product;
use super::layout::{Layout, map_pitch};
use super::resource::{MutualInformation, Resource};
use crate::error::GpuError;
use std::sync::mpsc;
use std::time::Duration;
use stereopsis_base::image::Image;
use stereopsis_frame::Side;
use stereopsis_frame::engine::{EngineError, Job};
use stereopsis_stereo::{DisparityMap, Volume};

/// Results of all steps, in order: `cost`, `aggregation`, `left map`, `sums`, `right map`, `median`, …
#[derive(Clone, Debug)]
pub struct Trace {
    /// Name and product of each step.
    pub steps: Vec<(&'static str, TraceData)>,
}

/// Product on the host, in the form of the reference.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TraceData {
    /// Costs, or sums over all paths.
    Volume(Volume<u32>),
    /// Disparity map.
    Map(DisparityMap),
    /// Counts or costs of mutual information for each pair of levels, `[left * 256 + right]`, of each level of the pyramid, the coarsest
    /// first.
    Numbers(Vec<u32>),
}

impl GpuEngine {
    /// Runs a job without any earlier pairs, and brings every intermediate product back. The engine must be idle.
    ///
    /// # Errors
    /// Errors of [`stereopsis_frame::engine::Engine::submit`] and [`stereopsis_frame::engine::Engine::collect`].
    pub fn trace(&mut self, job: &Job) -> Result<Trace, EngineError> {
        self.past.forget(); // a trace has no earlier pairs
        let (slot, upload) = self.start(job, true)?;
        self.gpu.queue.submit([upload]);
        slot.slot.return_staging();
        let program = &slot.program;
        let Some(layout) = self.graph().map(|graph| &graph.layouts[0]) else {
            return Err(GpuError::Missing("no graph").into());
        };
        let mut steps = Vec::new();
        // confidence that was only evidence for the learned choice is not kept
        let mut has_confidence = job.params.winners_have_confidence();
        let mut done = 0;
        for step_end in &program.step_ends {
            let mut encoder = self.gpu.device.create_command_encoder(&wgpu::CommandEncoderDescriptor::default());
            program.record_passes(&mut encoder, None, done..step_end.passes);
            done = step_end.passes;
            let resources: Vec<_> = match step_end.product {
                Product::Costs | Product::Aggregated => {
                    let volume = match (is_exact(step_end.product, layout), step_end.product) {
                        (true, _) => Resource::Exact,
                        (false, Product::Costs) => Resource::Costs,
                        (false, _) => Resource::Aggregated,
                    };
                    (0..layout.slabs()).map(|slab| volume(0, slab)).collect()
                }
                Product::Sums => vec![Resource::Kept],
                Product::Map(side, index) => vec![Resource::Map(side, 0, index)],
                Product::Histogram => vec![Resource::MutualInformation(MutualInformation::Counts)],
                Product::Table => vec![Resource::MutualInformation(MutualInformation::Table)],
                Product::Inner => Vec::new(),
            };
            self.gpu.queue.submit([encoder.finish()]);
            let is_of_each_level = matches!(step_end.product, Product::Histogram | Product::Table);
            if step_end.level > 0 && !is_of_each_level || resources.is_empty() {
                continue;
            }
            let mut words = Vec::new();
            for buffer in resources.into_iter().filter_map(|resource| self.buffers.buffer(resource)) {
                words.push(self.read(buffer)?);
            }
            let data = match step_end.product {
                Product::Costs | Product::Aggregated => {
                    TraceData::Volume(decode_costs(&words, layout, is_exact(step_end.product, layout)))
                }
                Product::Sums => TraceData::Volume(decode_sums(&words[0], layout)),
                Product::Histogram => TraceData::Numbers(words.concat()),
                Product::Table => {
                    let bytes = words.concat().into_iter().flat_map(u32::to_le_bytes);
                    TraceData::Numbers(bytes.map(u32::from).collect())
                }
                _ => TraceData::Map({
                    has_confidence = if step_end.name == "choice" { job.params.confidence } else { has_confidence };
                    let with_confidence = has_confidence && matches!(step_end.product, Product::Map(Side::Left, _));
                    decode_map(&words[0], layout.structure.width, layout.structure.height, with_confidence)
                }),
            };
            steps.push((step_end.name, data));
        }
        drop(slot);
        self.past.forget();
        Ok(Trace { steps })
    }

    fn read(&self, buffer: &wgpu::Buffer) -> Result<Vec<u32>, EngineError> {
        let mut encoder = self.gpu.device.create_command_encoder(&wgpu::CommandEncoderDescriptor::default());
        let usage = wgpu::BufferUsages::MAP_READ | wgpu::BufferUsages::COPY_DST;
        let copy = self.gpu.buffer("trace", buffer.size(), usage);
        encoder.copy_buffer_to_buffer(buffer, 0, &copy, 0, buffer.size());
        self.gpu.queue.submit([encoder.finish()]);
        let (mapped, is_mapped) = mpsc::sync_channel(1);
        copy.map_async(wgpu::MapMode::Read, .., move |result| drop(mapped.send(result)));
        while is_mapped.recv_timeout(Duration::from_micros(100)).is_err() {
            self.gpu.check()?;
            self.gpu.device.poll(wgpu::PollType::Poll).map_err(|err| EngineError::Device(err.into()))?;
        }
        let bytes = copy.get_mapped_range(..).map_err(|err| EngineError::Device(err.into()))?;
        Ok(bytemuck::pod_collect_to_vec(&bytes))
    }
}

fn is_exact(product: Product, layout: &Layout) -> bool {
    layout.structure.exact() && (product == Product::Aggregated || layout.structure.block_matching())
}

/// Decodes costs of a byte, or exact sums of 32 bits, from all slabs.
fn decode_costs(slabs: &[Vec<u32>], layout: &Layout, is_exact: bool) -> Volume<u32> {
    let (width, height) = (layout.structure.width, layout.structure.height);
    let bits = if is_exact { 32 } else { 8 };
    let per_word = 32 / bits;
    Volume::from_fn(width, height, layout.structure.candidates as usize, |x, y, i| {
        let slab_rows = layout.slab_rows as usize;
        let n = ((y % slab_rows) * width + x) * layout.words as usize * 4 + i;
        (slabs[y / slab_rows][n / per_word] >> (bits * (n % per_word))) & (u32::MAX >> (32 - bits))
    })
}

/// Decodes kept sums: every lane has its candidates 0, 4, 8 …, then 1, 5, 9 … and so on.
fn decode_sums(words: &[u32], layout: &Layout) -> Volume<u32> {
    let (width, height) = (layout.structure.width, layout.structure.height);
    let of_lane = layout.kernel.variant.words as usize;
    Volume::from_fn(width, height, layout.structure.candidates as usize, |x, y, i| {
        let (lane, own) = (i / (4 * of_lane), i % (4 * of_lane));
        words[((y * width + x) * layout.words as usize + lane * of_lane) * 4 + (own % 4) * of_lane + own / 4]
    })
}

/// Decodes a map from its words on the device, `map_pitch` to a row.
pub(super) fn decode_map(words: &[u32], width: usize, height: usize, with_confidence: bool) -> DisparityMap {
    let word = |x, y| words[y * map_pitch(width) + x];
    DisparityMap {
        values: Image::from_fn(width, height, |x, y| word(x, y) as u16 as i16),
        reasons: Image::from_fn(width, height, |x, y| (word(x, y) >> 16) as u8),
        confidence: with_confidence.then(|| Image::from_fn(width, height, |x, y| (word(x, y) >> 24) as u8)),
    }
}
