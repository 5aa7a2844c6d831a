//! A dispatch graph bound to buffers, divided into timed passes and short submissions.

use super::buffers::Buffers;
use super::compiler::Compiler;
use super::device::Gpu;
use super::graph::Product;
use super::graph::Step;
use super::graph::{Dispatch, DispatchGraph};
use super::resource::Resource;
use super::slot::{MAX_TIMED, Slot};
use super::uniforms::{DispatchParams, UNIFORM_ALIGNMENT};
use crate::error::GpuError;
use std::ops::Range;
use stereopsis_frame::engine::EngineError;

struct BoundDispatch {
    pipeline: wgpu::ComputePipeline,
    bindings: wgpu::BindGroup,
    groups: [u32; 3],
}

impl BoundDispatch {
    fn record(&self, pass: &mut wgpu::ComputePass<'_>) {
        let [x, y, z] = self.groups;
        pass.set_pipeline(&self.pipeline);
        pass.set_bind_group(0, &self.bindings, &[]);
        pass.dispatch_workgroups(x, y, z);
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum PassGrouping {
    /// Dispatches of a stage that a submission allows and the device can run concurrently.
    Stages,
    /// A pass for each step, for traces.
    Steps,
    /// A pass and a submission for each direction, for comparison with concurrent directions.
    Directions,
}

struct Pass<Dispatch> {
    stage: &'static str,
    dispatches: Vec<Dispatch>,
    work: u64,
}

pub(super) struct Division<'a> {
    passes: Vec<Pass<&'a Dispatch>>,
    submissions: Vec<Range<usize>>,
    step_ends: Vec<usize>,
}

impl<'a> Division<'a> {
    /// Divides a graph into submissions of at most `max_work`, or of one pass.
    pub(super) fn of(graph: &'a DispatchGraph, max_work: u64, grouping: PassGrouping) -> Self {
        let mut passes: Vec<Pass<&Dispatch>> = Vec::new();
        let mut step_ends = Vec::new();
        for step in &graph.steps {
            let mut begins_pass = grouping == PassGrouping::Steps;
            for dispatch in &step.dispatches {
                begins_pass |= grouping == PassGrouping::Directions && step.stage == "paths";
                match passes.last_mut() {
                    Some(last) if !begins_pass && last.stage == step.stage && last.work + dispatch.work <= max_work => {
                        last.dispatches.push(dispatch);
                        last.work += dispatch.work;
                    }
                    _ => passes.push(Pass { stage: step.stage, dispatches: vec![dispatch], work: dispatch.work }),
                }
                begins_pass = false;
            }
            step_ends.push(passes.len());
        }
        let works: Vec<_> = passes.iter().map(|pass| pass.work).collect();
        let submissions = cut(&works, if grouping == PassGrouping::Directions { 0 } else { max_work });
        Self { passes, submissions, step_ends }
    }

    /// Returns the number of passes and of submissions.
    pub(super) fn counts(&self) -> (usize, usize) {
        (self.passes.len(), self.submissions.len())
    }
}

/// Whether every pipeline of a graph is compiled; the others are requested.
pub(super) fn all_compiled(compiler: &Compiler, graph: &DispatchGraph) -> Result<bool, EngineError> {
    let found: Result<Vec<_>, _> = graph.requests().map(|request| compiler.get(request)).collect();
    Ok(found?.iter().all(Option::is_some))
}

/// End of a step among the passes, for traces.
pub(super) struct StepEnd {
    pub(super) name: &'static str,
    pub(super) product: Product,
    pub(super) level: usize,
    /// Number of passes up to and including the step.
    pub(super) passes: usize,
}

pub(super) struct Program {
    passes: Vec<Pass<BoundDispatch>>,
    submissions: Vec<Range<usize>>,
    /// Passes that are timed together: single ones, unless there are more than [`MAX_TIMED`].
    timed: Vec<Range<usize>>,
    pub(super) step_ends: Vec<StepEnd>,
    /// Dispatches that pack the results for the host, one for each.
    packing: Vec<BoundDispatch>,
}

impl Program {
    /// # Errors
    /// A pipeline cannot be compiled, or the device is lost.
    pub(super) fn new(
        gpu: &Gpu,
        compiler: &Compiler,
        graph: &DispatchGraph,
        buffers: &Buffers,
        slot: &Slot,
        max_work: u64,
        grouping: PassGrouping,
    ) -> Result<Self, EngineError> {
        // all requests at once, so that the compiler's thread takes a share
        for request in graph.requests() {
            compiler.get(request)?;
        }
        let uniforms = upload_dispatch_params(gpu, &graph.dispatch_params);
        let bind = |dispatch: &Dispatch| {
            let pipeline = compiler.wait_for(&dispatch.request)?;
            let entry = |(binding, &resource)| {
                let resource = match resource {
                    Resource::DispatchParams(index) => Some(uniform(&uniforms, index)),
                    resource => slot.get(resource).or_else(|| buffers.get(resource)),
                };
                Some(wgpu::BindGroupEntry { binding, resource: resource? })
            };
            let entries: Option<Vec<_>> = (0..).zip(&dispatch.resources).map(entry).collect();
            let bindings = gpu.device.create_bind_group(&wgpu::BindGroupDescriptor {
                label: Some(dispatch.request.source.stem),
                layout: &pipeline.layout,
                entries: &entries.ok_or_else(|| GpuError::Missing("a dispatch without its buffer"))?,
            });
            Ok::<_, EngineError>(BoundDispatch { pipeline: pipeline.pipeline, bindings, groups: dispatch.groups })
        };
        let division = Division::of(graph, max_work, grouping);
        let step_ends = graph.steps.iter().zip(division.step_ends).map(|(step, passes)| {
            let Step { name, product, level, .. } = *step;
            StepEnd { name, product, level, passes }
        });
        let bound = |Pass { stage, dispatches, work }: Pass<&Dispatch>| {
            let dispatches = dispatches.into_iter().map(bind).collect::<Result<_, _>>()?;
            Ok::<_, EngineError>(Pass { stage, dispatches, work })
        };
        let (passes, submissions) = (division.passes, division.submissions);
        let passes: Vec<_> = passes.into_iter().map(bound).collect::<Result<_, _>>()?;
        let stages: Vec<_> = passes.iter().map(|pass| pass.stage).collect();
        let timed = spans(&stages, MAX_TIMED);
        let packing = graph.packing.iter().map(bind).collect::<Result<_, _>>()?;
        Ok(Self { passes, submissions, timed, step_ends: step_ends.collect(), packing })
    }

    /// Returns the stage of each timed span.
    pub(super) fn timed_stages(&self) -> Vec<&'static str> {
        self.timed.iter().map(|span| self.passes[span.start].stage).collect()
    }

    fn times_of(&self, pass: usize) -> (Option<usize>, Option<usize>) {
        let span = self.timed.partition_point(|span| span.end <= pass);
        let is_at =
            |is_at: fn(&Range<usize>, usize) -> bool| self.timed.get(span).filter(|r| is_at(r, pass)).map(|_| span);
        (is_at(|r, pass| r.start == pass), is_at(|r, pass| r.end == pass + 1))
    }

    pub(super) fn submissions(&self) -> usize {
        self.submissions.len()
    }

    /// Returns the work of one submission, or of all.
    pub(super) fn work(&self, submission: usize) -> u64 {
        self.passes[self.submissions[submission].clone()].iter().map(|pass| pass.work).sum()
    }

    pub(super) fn total_work(&self) -> u64 {
        self.passes.iter().map(|pass| pass.work).sum()
    }

    /// Records one submission with its timestamps.
    pub(super) fn record(&self, gpu: &Gpu, slot: &Slot, submission: usize) -> wgpu::CommandEncoder {
        let mut encoder = gpu.device.create_command_encoder(&wgpu::CommandEncoderDescriptor { label: Some("job") });
        self.record_passes(&mut encoder, Some(slot), self.submissions[submission].clone());
        encoder
    }

    pub(super) fn record_passes(&self, encoder: &mut wgpu::CommandEncoder, timed: Option<&Slot>, passes: Range<usize>) {
        for index in passes {
            let pass = &self.passes[index];
            let mut recorded = encoder.begin_compute_pass(&wgpu::ComputePassDescriptor {
                label: Some(pass.stage),
                timestamp_writes: timed.and_then(|slot| slot.timestamp_writes(self.times_of(index))),
            });
            pass.dispatches.iter().for_each(|bound| bound.record(&mut recorded));
        }
    }

    pub(super) fn record_packing(&self, encoder: &mut wgpu::CommandEncoder, number: usize) {
        if let Some(bound) = self.packing.get(number) {
            let label = Some("packing");
            bound.record(
                &mut encoder.begin_compute_pass(&wgpu::ComputePassDescriptor { label, timestamp_writes: None }),
            );
        }
    }
}

/// Groups passes into submissions of at most `max_work`, or of one pass.
fn cut(works: &[u64], max_work: u64) -> Vec<Range<usize>> {
    let mut submissions: Vec<Range<usize>> = Vec::new();
    let mut sum = 0;
    for (i, &work) in works.iter().enumerate() {
        match submissions.last_mut() {
            Some(last) if sum + work <= max_work => last.end = i + 1,
            _ => {
                submissions.push(i..i + 1);
                sum = 0;
            }
        }
        sum += work;
    }
    submissions
}

/// Groups passes of the same stage into at most `max_spans` spans, as short as possible: the time of a span includes other work that the
/// device does between its passes.
fn spans(stages: &[&str], max_spans: usize) -> Vec<Range<usize>> {
    let of_length = |length: usize| {
        let mut spans: Vec<Range<usize>> = Vec::new();
        for (i, stage) in stages.iter().enumerate() {
            match spans.last_mut() {
                Some(last) if last.len() < length && stages[last.start] == *stage => last.end = i + 1,
                _ => spans.push(i..i + 1),
            }
        }
        spans
    };
    let lengths = (0..).map(|doublings| 1 << doublings);
    let mut spans = lengths.take_while(|length| *length < 2 * stages.len()).map(of_length);
    let first = spans.next().unwrap_or_default();
    if first.len() <= max_spans { first } else { spans.find(|spans| spans.len() <= max_spans).unwrap_or_default() }
}

fn upload_dispatch_params(gpu: &Gpu, params: &[DispatchParams]) -> wgpu::Buffer {
    let mut contents = vec![0; params.len() * UNIFORM_ALIGNMENT];
    for (params, target) in params.iter().zip(contents.chunks_exact_mut(UNIFORM_ALIGNMENT)) {
        target[..size_of::<DispatchParams>()].copy_from_slice(bytemuck::bytes_of(params));
    }
    gpu.buffer_of("dispatch params", &contents, wgpu::BufferUsages::UNIFORM)
}

fn uniform(params: &wgpu::Buffer, index: usize) -> wgpu::BindingResource<'_> {
    wgpu::BindingResource::Buffer(wgpu::BufferBinding {
        buffer: params,
        offset: (index * UNIFORM_ALIGNMENT) as u64,
        size: std::num::NonZeroU64::new(size_of::<DispatchParams>() as u64),
    })
}

#[cfg(test)]
mod tests {
    use super::{cut, spans};

    #[test]
    fn every_pass_is_timed_whatever_their_number() {
        let stages: Vec<_> = [("cost", 3), ("paths", 5), ("winner", 1)].map(|(stage, n)| vec![stage; n]).concat();
        assert_eq!(
            spans(&stages, 9),
            (0..9).map(|i| i..i + 1).collect::<Vec<_>>(),
            "each by itself where there is room"
        );
        assert_eq!(spans(&stages, 8), [0..2, 2..3, 3..5, 5..7, 7..8, 8..9]);
        assert_eq!(spans(&stages, 4), [0..3, 3..7, 7..8, 8..9]);
        assert_eq!(spans(&stages, 3), [0..3, 3..8, 8..9]);
        assert!(spans(&[], 3).is_empty());
    }

    #[test]
    fn submissions_are_short_and_complete() {
        assert_eq!(cut(&[1, 2, 3, 9, 1, 1], 4), [0..2, 2..3, 3..4, 4..6]);
        assert!(cut(&[], 4).is_empty());
    }
}
