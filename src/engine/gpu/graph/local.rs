//! LocalConfig aggregation: each cost becomes that of its surroundings.

use super::{Dispatch, GraphBuilder, MAX_GROUPS, Product, Request, Resource, split};
use crate::engine::gpu::compiler::Source;
use crate::engine::gpu::kernels::LocalConfig;
use crate::engine::gpu::layout::Layout;
use crate::engine::gpu::operations;
use crate::engine::gpu::shaders;
use crate::engine::gpu::uniforms::DispatchParams;
use crate::stereo::Aggregation;
use std::ops::Range;
use std::sync::Arc;

/// Lanes of those kernels that have one for each pixel and word.
const LANES: u32 = 64;

impl GraphBuilder {
    /// Aggregated costs, if anybody asks for them.
    pub(super) fn aggregate(&mut self, level: usize, layout: &Layout) {
        let Some(local) = layout.structure.local() else { return };
        let mut dispatches = Vec::new();
        if local.kind.has_arms() {
            dispatches.push(arms(level, layout, &local));
        }
        let words = layout.words;
        let arms = local.kind.has_arms().then_some(Resource::Arms(level));
        if local.kind == Aggregation::Cross {
            let source = Arc::new(layout.kernel.cross_rows(&local, words));
            for slab in 0..layout.slabs() {
                let resources = [Resource::Arms(level), Resource::Costs(level, slab), Resource::ArmSums(level, slab)];
                self.local(level, layout, &local, ("rows", &source), (slab, &resources), &mut dispatches);
            }
        }
        let (entry, source) = if local.kind == Aggregation::Cross {
            ("columns", layout.kernel.cross_columns(&local, words))
        } else {
            ("aggregate", layout.kernel.aggregate(&local, words))
        };
        let source = Arc::new(source);
        for slab in 0..layout.slabs() {
            let mut resources = Vec::new();
            if local.kind.has_weights() {
                resources.extend([Resource::LeftPicture(level), Resource::RightPicture(level)]);
            }
            resources.extend(arms);
            let sums = local.kind == Aggregation::Cross;
            let input = if sums { Resource::ArmSums } else { Resource::Costs };
            resources.extend((0..layout.slabs()).map(|slab| input(level, slab)));
            resources.push(if local.exact { Resource::Exact(level, slab) } else { Resource::Aggregated(level, slab) });
            self.local(level, layout, &local, (entry, &source), (slab, &resources), &mut dispatches);
        }
        self.push("aggregation", "aggregation", dispatches, Product::Aggregated, level);
    }

    /// One kernel over a slab, in pieces.
    fn local(
        &mut self,
        level: usize,
        layout: &Layout,
        local: &LocalConfig,
        (entry, source): (&'static str, &Arc<Source>),
        (slab, resources): (u32, &[Resource]),
        dispatches: &mut Vec<Dispatch>,
    ) {
        let width = layout.structure.width as u32;
        let words = layout.words;
        let is_flat = entry == "columns" || local.kind == Aggregation::WeightedCross;
        let strip = if is_flat { 1 } else { local.strip() };
        let (columns, depth) = if is_flat {
            ((width * words).div_ceil(LANES), 1)
        } else {
            (width.div_ceil(local.own_columns()), words / local.words(words))
        };
        let operations = operations::aggregate(layout, local, entry);
        let row_candidates = u64::from(width) * u64::from(words) * 4;
        let row_work = row_candidates * (1 + operations / (32 * u64::from(words)));
        // arms, and both pictures where there are weights
        let pictures = if local.kind.has_weights() { 2 * u64::from(width) } else { 0 };
        let row_bytes = layout.arm_bytes() / layout.structure.height as u64 + pictures;
        for rows in split(layout.rows(slab), row_work, self.max_work, strip, MAX_GROUPS * strip) {
            let Range { start: first, end } = rows;
            let count = u64::from(end - first);
            let dispatch = self.dispatch_params(DispatchParams {
                first,
                end,
                origin: slab * layout.slab_rows,
                ..DispatchParams::default()
            });
            dispatches.push(Dispatch {
                request: Request { source: Arc::clone(source), entry, constants: Vec::new() },
                resources: [&[Resource::Params(level), dispatch], resources].concat(),
                groups: [columns, (end - first).div_ceil(strip), depth],
                work: row_work * count,
                bytes: bytes_per_candidate_16ths(local, entry) * row_candidates * count / 16 + row_bytes * count,
                operations: operations * u64::from(width) * count,
            });
        }
    }
}

/// Arms of both pictures.
fn arms(level: usize, layout: &Layout, local: &LocalConfig) -> Dispatch {
    let structure = &layout.structure;
    let (width, height) = (structure.width as u32, structure.height as u32);
    let pixels = 2 * structure.pixels();
    Dispatch {
        request: shaders::OFFSETS.request("reach", vec![("LONGEST", local.reach)]),
        resources: vec![
            Resource::Params(level),
            Resource::LeftPicture(level),
            Resource::RightPicture(level),
            Resource::Arms(level),
        ],
        groups: [width.div_ceil(shaders::TILE.0), height.div_ceil(shaders::TILE.1), 2],
        work: pixels * u64::from(4 * local.reach),
        bytes: pixels + layout.arm_bytes(),
        operations: pixels * operations::arms(local),
    }
}

/// Sixteenths of a byte that a kernel reads and writes of volumes for each pixel and candidate.
fn bytes_per_candidate_16ths(local: &LocalConfig, entry: &str) -> u64 {
    let result = if local.exact { 4 * 16 } else { 16 };
    let reach = u64::from(local.reach);
    let halo = |columns: u64, own: u64| 16 * columns / own;
    match (local.kind, entry) {
        // every column of a workgroup's rows once as it enters and once as it leaves
        (Aggregation::Window, _) => {
            let (columns, strip) = (u64::from(shaders::SAD_COLUMNS), u64::from(local.strip()));
            halo(columns * (2 * strip + 2 * reach), u64::from(local.own_columns()) * strip) + result
        }
        (Aggregation::Cross, "rows") => {
            halo(u64::from(shaders::LOCAL_RUNS * shaders::LOCAL_RUN), u64::from(local.own_columns())) + 4 * 16
        }
        (Aggregation::Cross, _) => 2 * 4 * 16 + result,
        (Aggregation::AdaptiveWeight, _) => {
            let columns = u64::from(shaders::LOCAL_COLUMNS);
            (2 * reach + 1) * halo(columns + 2 * reach, columns) + result
        }
        // arms of all lengths are as frequent, in a picture without surprises
        _ => (reach + 1) * (reach + 1) * 16 + result,
    }
}
