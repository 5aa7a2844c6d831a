//! Commands for a pair: submissions, passes, dispatches, barriers.

use super::compiler::{Binding, bindings};
use super::gpu_engine::GpuEngine;
use super::graph::{DispatchGraph, GraphKey};
use super::program::{Division, PassGrouping};
use std::collections::HashMap;

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
}

impl GpuEngine {
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
            let map = run(&mut engine, job.clone()).unwrap().map.unwrap();
            let (slot, _) = engine.start(&job, false).unwrap();
            let plan = engine.plan().unwrap();
            assert_eq!(plan, Plan { submissions: 1, passes: 4, dispatches: 19, barriers: 9 });
            (map, slot.program.submissions())
        });
        let [(together, submissions), (one_by_one, more_submissions)] = results;
        assert_eq!(together, one_by_one);
        assert_eq!(submissions, 1);
        assert!(more_submissions >= 8, "{more_submissions}");
    }
}
