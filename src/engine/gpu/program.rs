//! A graph bound to buffers, cut into passes that are timed and submissions that are short.

use super::buffers::JobBuffers;
use super::compiler::Compiler;
use super::device::Gpu;
use super::graph::{Dispatch, DispatchGraph, Product, Resource};
use super::past::Past;
use super::slot::Slot;
use super::uniforms::{DispatchParams, UNIFORM_ALIGNMENT};
use crate::engine::EngineError;
use std::ops::Range;

/// Spans of passes that are timed at most: two queries each.
pub(super) const MAX_TIMED: usize = 512;

struct Bound {
    pipeline: wgpu::ComputePipeline,
    bindings: wgpu::BindGroup,
    groups: [u32; 3],
}

/// How dispatches are divided into passes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum PassGrouping {
    /// As many of a stage as a submission may have, so that the device runs them together.
    Stages,
    /// Each step in its own, for those who look at each product.
    Steps,
    /// Each direction in its own pass and submission, one after the other, to see what running them together gains.
    Directions,
}

/// Dispatches of one stage, in one compute pass.
struct Pass {
    stage: &'static str,
    dispatches: Vec<Bound>,
    work: u64,
}

/// A step's place among the passes, for those who look at each product.
pub(super) struct StepEnd {
    pub(super) name: &'static str,
    pub(super) product: Product,
    pub(super) level: usize,
    /// Passes up to and with the step.
    pub(super) passes: usize,
}

pub(super) struct Program {
    passes: Vec<Pass>,
    submissions: Vec<Range<usize>>,
    /// Passes that are timed together: each by itself, unless there are too many.
    timed: Vec<Range<usize>>,
    /// Ends of the steps; one pass for each step where they were asked for.
    pub(super) step_ends: Vec<StepEnd>,
    /// The map that is the result.
    pub(super) result: Resource,
    /// The right picture's, where it is a result too.
    pub(super) right_result: Option<Resource>,
}

impl Program {
    /// # Errors
    /// A pipeline cannot be compiled, or the device is lost.
    pub(super) fn new(
        gpu: &Gpu,
        compiler: &Compiler,
        graph: &DispatchGraph,
        (plan, past): (&JobBuffers, &Past),
        slot: &Slot,
        max_work: u64,
        grouping: PassGrouping,
    ) -> Result<Self, EngineError> {
        // asked for all at once, so that the compiler's thread takes its share
        for request in graph.requests() {
            compiler.get(request)?;
        }
        let dispatch_params = upload_dispatch_params(gpu, &graph.dispatch_params);
        let bind = |dispatch: &Dispatch| {
            let pipeline = compiler.wait_for(&dispatch.request)?;
            let entries: Vec<_> = (0..)
                .zip(&dispatch.resources)
                .map(|(binding, &resource)| {
                    let own = if let Resource::DispatchParams(index) = resource {
                        Some(uniform(&dispatch_params, index))
                    } else {
                        None
                    };
                    let found = own.or_else(|| slot.get(resource)).or_else(|| plan.get(resource));
                    let resource = found.or_else(|| past.get(resource)).unwrap_or_else(|| uniform(&dispatch_params, 0));
                    wgpu::BindGroupEntry { binding, resource }
                })
                .collect();
            let bindings = gpu.device.create_bind_group(&wgpu::BindGroupDescriptor {
                label: Some(dispatch.request.source.stem),
                layout: &pipeline.layout,
                entries: &entries,
            });
            Ok::<_, EngineError>(Bound { pipeline: pipeline.pipeline, bindings, groups: dispatch.groups })
        };
        let mut passes: Vec<Pass> = Vec::new();
        let mut step_ends = Vec::new();
        for step in &graph.steps {
            let mut fresh = grouping == PassGrouping::Steps;
            for dispatch in &step.dispatches {
                fresh |= grouping == PassGrouping::Directions && step.stage == "paths";
                let bound = bind(dispatch)?;
                let joins = passes
                    .last()
                    .filter(|last| !fresh && last.stage == step.stage && last.work + dispatch.work <= max_work);
                fresh = false;
                if joins.is_none() {
                    passes.push(Pass { stage: step.stage, dispatches: Vec::new(), work: 0 });
                }
                if let Some(last) = passes.last_mut() {
                    last.dispatches.push(bound);
                    last.work += dispatch.work;
                }
            }
            step_ends.push(StepEnd { name: step.name, product: step.product, level: step.level, passes: passes.len() });
        }
        let works: Vec<_> = passes.iter().map(|pass| pass.work).collect();
        let submissions = cut(&works, if grouping == PassGrouping::Directions { 0 } else { max_work });
        let stages: Vec<_> = passes.iter().map(|pass| pass.stage).collect();
        let timed = spans(&stages, MAX_TIMED);
        let result = graph.steps.iter().rev().find_map(|step| match step.product {
            Product::Left(index) if step.level == 0 => Some(Resource::LeftMap(0, index)),
            _ => None,
        });
        let right_result = graph.steps.iter().rev().find_map(|step| match step.product {
            Product::Right(index) if step.level == 0 => Some(Resource::RightMap(0, index)),
            _ => None,
        });
        let wants_right = graph.layouts.first().is_some_and(|layout| layout.structure.wants_right);
        Ok(Self {
            passes,
            submissions,
            timed,
            step_ends,
            result: result.unwrap_or(Resource::LeftMap(0, 0)),
            right_result: right_result.filter(|_| wants_right),
        })
    }

    /// The stage of each span that is timed.
    pub(super) fn timed_stages(&self) -> Vec<&'static str> {
        self.timed.iter().map(|span| self.passes[span.start].stage).collect()
    }

    /// Where a pass writes the times of its begin and its end: the numbers of the span that begins or ends with it.
    fn times_of(&self, pass: usize) -> (Option<usize>, Option<usize>) {
        let span = self.timed.partition_point(|span| span.end <= pass);
        let is_at =
            |is_at: fn(&Range<usize>, usize) -> bool| self.timed.get(span).filter(|r| is_at(r, pass)).map(|_| span);
        (is_at(|r, pass| r.start == pass), is_at(|r, pass| r.end == pass + 1))
    }

    /// How many submissions there are.
    pub(super) fn submissions(&self) -> usize {
        self.submissions.len()
    }

    /// Work of one of them, or of all.
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
            for Bound { pipeline, bindings, groups: [x, y, z] } in &pass.dispatches {
                recorded.set_pipeline(pipeline);
                recorded.set_bind_group(0, bindings, &[]);
                recorded.dispatch_workgroups(*x, *y, *z);
            }
        }
    }
}

/// Runs of passes whose work stays below `max_work`, as far as single passes do.
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

/// Runs of passes of the same stage, as short as they can be without being more than `most`. The device may do something else
/// between two passes, so that a long run tells less exactly how long its stage takes.
fn spans(stages: &[&str], most: usize) -> Vec<Range<usize>> {
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
    if first.len() <= most { first } else { spans.find(|spans| spans.len() <= most).unwrap_or_default() }
}

fn upload_dispatch_params(gpu: &Gpu, params: &[DispatchParams]) -> wgpu::Buffer {
    let buffer = gpu.device.create_buffer(&wgpu::BufferDescriptor {
        label: Some("dispatch params"),
        size: (params.len() * UNIFORM_ALIGNMENT) as u64,
        usage: wgpu::BufferUsages::UNIFORM | wgpu::BufferUsages::COPY_DST,
        mapped_at_creation: true,
    });
    if let Ok(mut mapped) = buffer.get_mapped_range_mut(..) {
        for (i, params) in params.iter().enumerate() {
            let at = i * UNIFORM_ALIGNMENT;
            mapped.slice(at..at + size_of::<DispatchParams>()).copy_from_slice(bytemuck::bytes_of(params));
        }
    }
    buffer.unmap();
    buffer
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
    fn every_pass_is_timed_however_many_there_are() {
        let stages: Vec<_> = [("cost", 3), ("paths", 5), ("winner", 1)].map(|(stage, n)| vec![stage; n]).concat();
        assert_eq!(
            spans(&stages, 9),
            (0..9).map(|i| i..i + 1).collect::<Vec<_>>(),
            "each by itself where there is room"
        );
        assert_eq!(spans(&stages, 8), [0..2, 2..3, 3..5, 5..7, 7..8, 8..9]);
        assert_eq!(spans(&stages, 4), [0..3, 3..7, 7..8, 8..9]);
        assert_eq!(spans(&stages, 3), [0..3, 3..8, 8..9]);
        assert_eq!(spans(&[], 3), []);
    }

    #[test]
    fn submissions_are_short_and_leave_nothing_out() {
        assert_eq!(cut(&[1, 2, 3, 9, 1, 1], 4), [0..2, 2..3, 3..4, 4..6]);
        assert_eq!(cut(&[], 4), []);
    }
}
