//! Work of each stage: bytes, operations, dispatches.

use super::compiler::{Binding, bindings};
use super::gpu_engine::GpuEngine;
use super::graph::{DispatchGraph, GraphKey};
use super::program::{Division, PassGrouping};
use std::collections::HashMap;

/// Work of one stage.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
pub struct StageWork {
    /// Stage as it is timed: `gates`, `information`, `cost`, `aggregation`, `paths`, `winner`, `filters`.
    pub name: &'static str,
    /// Bytes that its kernels read and write: of volumes and maps every access, of codes and images the first one.
    pub bytes: u64,
    /// Integer operations, counted as [`super::operations`] documents.
    pub operations: u64,
    /// Number of dispatches.
    pub dispatches: usize,
}

/// Maximum work of a submission that is larger than any pair's.
const UNDIVIDED: u64 = 1 << 40;

/// Number of commands for a pair that is not divided, on any device.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
pub struct Plan {
    /// Number of submissions.
    pub submissions: usize,
    /// Number of compute passes.
    pub passes: usize,
    /// Number of dispatches.
    pub dispatches: usize,
    /// Number of dispatches that wait for all before them, because they use a buffer or image in another way than before, or write it
    /// again: wgpu puts a barrier before each.
    pub barriers: usize,
}

impl DispatchGraph {
    fn barriers(&self) -> usize {
        let mut is_written = HashMap::new();
        let dispatches = self.steps.iter().flat_map(|step| &step.dispatches);
        let waits = dispatches.filter(|dispatch| {
            let mut waits = false;
            for (number, kind) in bindings(&dispatch.request.source.text) {
                let writes = matches!(kind, Binding::Write | Binding::WriteTexture);
                if kind == Binding::Uniform {
                    continue;
                }
                let before = is_written.insert(dispatch.resources[number as usize], writes);
                waits |= before.is_some_and(|written| written || writes);
            }
            waits
        });
        waits.count()
    }

    /// Returns the work of each stage, in the order in which they first run.
    pub fn work(&self) -> Vec<StageWork> {
        let mut stages: Vec<StageWork> = Vec::new();
        for step in self.steps.iter().filter(|step| !step.dispatches.is_empty()) {
            let at = stages.iter().position(|stage| stage.name == step.stage).unwrap_or_else(|| {
                stages.push(StageWork { name: step.stage, bytes: 0, operations: 0, dispatches: 0 });
                stages.len() - 1
            });
            for dispatch in &step.dispatches {
                stages[at].bytes += dispatch.bytes;
                stages[at].operations += dispatch.operations;
                stages[at].dispatches += 1;
            }
        }
        stages
    }
}

impl GpuEngine {
    /// Returns the work of each stage of the last job; empty before the first one.
    pub fn work(&self) -> Vec<StageWork> {
        self.graph().map(DispatchGraph::work).unwrap_or_default()
    }

    /// Returns the plan of pairs like the last one; `None` before the first one.
    pub fn plan(&self) -> Option<Plan> {
        let key = GraphKey { max_work: UNDIVIDED, ..self.key()?.clone() };
        let graph = DispatchGraph::new(&key, self.limits(), &self.gpu.info.adapter).ok()?;
        let (passes, submissions) = Division::of(&graph, key.max_work, PassGrouping::Stages).counts();
        let dispatches = graph.steps.iter().map(|step| step.dispatches.len()).sum();
        Some(Plan { submissions, passes, dispatches, barriers: graph.barriers() })
    }
}

#[cfg(test)]
mod tests {
    use super::Plan;
    use crate::GpuEngine;
    use crate::{Gpu, GpuOptions};
    use std::sync::Arc;
    use stereopsis_frame::engine::{AdapterChoice, Job, run};
    use stereopsis_frame::{Frame, SceneOptions};
    use stereopsis_scene::render;
    use stereopsis_stereo::StereoParams;

    fn job(params: StereoParams) -> Job {
        let raw = Arc::new(render(&SceneOptions { width: 48, height: 32, ..SceneOptions::default() }, 0, false));
        Job { frame: Arc::new(Frame::of_raw(raw)), params: Arc::new(params), read_back: true, wants_right: false }
    }

    #[test]
    fn sequential_directions_take_more_submissions_for_equal_bits() {
        let Ok(gpu) = Gpu::open(&AdapterChoice::Best) else {
            assert!(std::env::var_os("REQUIRE_GPU").is_none(), "REQUIRE_GPU is set, and there is no GPU");
            return;
        };
        let job = job(StereoParams { num_disparities: 16, ..StereoParams::default() });
        let results = [false, true].map(|sequential| {
            let options = GpuOptions { sequential, max_work: Some(1 << 40), ..GpuOptions::default() };
            let mut engine = GpuEngine::with_options(gpu.clone(), options).unwrap();
            assert_eq!(engine.work(), []);
            let map = run(&mut engine, job.clone()).unwrap().map.unwrap();
            let (slot, _) = engine.start(&job, false).unwrap();
            let plan = engine.plan().unwrap();
            assert_eq!(plan, Plan { submissions: 1, passes: 4, dispatches: 19, barriers: 9 });
            (map, engine.work(), slot.program.submissions())
        });
        let [(together, work, submissions), (one_by_one, same_work, more_submissions)] = results;
        assert_eq!((together, &work), (one_by_one, &same_work));
        assert_eq!(submissions, 1);
        assert!(more_submissions >= 8, "{more_submissions}");
        let names: Vec<_> = work.iter().map(|stage| stage.name).collect();
        assert_eq!(names, ["cost", "paths", "winner", "filters"]);
        assert!(work.iter().all(|stage| stage.bytes > 0 && stage.dispatches > 0), "{work:?}");
        // each of the stored directions reads the costs and writes as much
        let volume = 48 * 32 * 16;
        assert!((7 * 2 * volume..=8 * 3 * volume).contains(&work[1].bytes), "{work:?}");
    }
}
