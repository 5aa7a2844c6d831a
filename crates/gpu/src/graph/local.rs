//! Dispatches of local aggregation: each cost becomes the mean or the sum of its surroundings.

use super::{Dispatch, GraphBuilder, Product, Request, RowKernel, map_dispatch};
use crate::compiler::Source;
use crate::kernels::LocalConfig;
use crate::layout::Layout;
use crate::resource::Resource;
use crate::shaders::{LOCAL_COLUMNS, LOCAL_RUN, LOCAL_RUNS, SAD_COLUMNS, TILE, shaders};
use std::sync::Arc;
use stereopsis_stereo::Aggregation;

shaders! {
    OFFSETS: "local/offsets", TILE, ["reach"];
}

/// Number of lanes of the kernels that have one for each pixel and word.
const LANES: u32 = 64;

impl GraphBuilder {
    /// Adds the aggregated costs, where local aggregation is on.
    pub(super) fn local_aggregation(&mut self, level: usize, layout: &Layout) {
        let Some(local) = layout.structure.local() else { return };
        let has_arms = local.kind.has_arms();
        let is_cross = local.kind == Aggregation::Cross;
        let mut dispatches = Vec::new();
        if has_arms {
            dispatches.push(arms(level, layout, &local));
        }
        if is_cross {
            let source = Arc::new(layout.kernel.cross_rows(&local, layout.words));
            for slab in 0..layout.slabs() {
                let resources =
                    vec![Resource::Arms(level), Resource::Costs(level, slab), Resource::ArmSums(level, slab)];
                let kernel = row_kernel(layout, &local, "rows", &source, slab, resources);
                dispatches.extend(self.over_rows(level, layout, &kernel, false));
            }
        }
        let entry = if is_cross { "columns" } else { "aggregate" };
        let source = Arc::new(layout.kernel.aggregate(&local, layout.words));
        for slab in 0..layout.slabs() {
            let mut resources = Vec::new();
            if local.kind.has_weights() {
                resources.extend(Resource::pictures(level));
            }
            resources.extend(has_arms.then_some(Resource::Arms(level)));
            let input = if is_cross { Resource::ArmSums } else { Resource::Costs };
            resources.extend((0..layout.slabs()).map(|slab| input(level, slab)));
            resources.push(if local.exact { Resource::Exact(level, slab) } else { Resource::Aggregated(level, slab) });
            let kernel = row_kernel(layout, &local, entry, &source, slab, resources);
            dispatches.extend(self.over_rows(level, layout, &kernel, false));
        }
        self.push("aggregation", "aggregation", dispatches, Product::Aggregated, level);
    }
}

fn row_kernel(
    layout: &Layout,
    local: &LocalConfig,
    entry: &'static str,
    source: &Arc<Source>,
    slab: u32,
    resources: Vec<Resource>,
) -> RowKernel {
    let width = layout.structure.width as u32;
    let words = layout.words;
    let is_flat = entry == "columns" || local.kind == Aggregation::WeightedCross;
    let (strip, columns, depth) = if is_flat {
        (1, (width * words).div_ceil(LANES), 1)
    } else {
        (local.strip(), width.div_ceil(local.own_columns()), words / local.words(words))
    };
    let row = u64::from(width) * u64::from(words) * 4;
    let arms = if local.kind.has_arms() { 2 * 4 * u64::from(width) } else { 0 };
    let pictures = if local.kind.has_weights() { 2 * u64::from(width) } else { 0 };
    RowKernel {
        request: Request { source: Arc::clone(source), entry, constants: Vec::new() },
        resources,
        slab,
        strip,
        columns,
        depth,
        work: row * (1 + operations(layout, local, entry) / (32 * u64::from(words))),
        bytes: bytes_per_candidate_16ths(local, entry) * row / 16 + arms + pictures,
    }
}

/// Counts the integer operations of a pixel and of all its candidates in an entry of local aggregation, which decide how dispatches are
/// split. Counted from the WGSL for one lane: additions, minima, comparisons, selections and shuffles; not loads, stores and loop
/// invariants. Arms are assumed to have half their maximum length.
pub fn operations(layout: &Layout, local: &LocalConfig, entry: &str) -> u64 {
    let (words, reach) = (u64::from(layout.words), u64::from(local.reach));
    let side = 2 * reach + 1;
    let result = if local.exact { 4 } else { 4 * 2 + 6 };
    // costs in pairs, added; the same for two of them in a window
    let (pairs, halved) = (3 + 2, 16);
    let shared = |columns: u32| (u64::from(columns), u64::from(local.own_columns()));
    words
        * match (local.kind, entry) {
            (Aggregation::Window, _) => {
                let (columns, own) = shared(SAD_COLUMNS);
                let strip = u64::from(local.strip());
                // two places and their pairs, for each column that a workgroup has; then the window's sums
                let column_sums = (2 * (pairs + 12) * strip + (pairs + 12) * 2 * reach) * columns / (own * strip);
                column_sums + 7 * side + 4 + result
            }
            (Aggregation::Cross, "rows") => {
                let (columns, own) = shared(LOCAL_RUNS * LOCAL_RUN);
                // a sum from the left with its share of the totals; for each candidate arms 7, two places 7, halves 6
                (pairs + 10 + 2 + u64::from(LOCAL_RUNS) / 8) * columns / own + 4 * 21 + 6
            }
            // for each candidate the partner 4, arms 8, rows and strips 30, the mean 8
            (Aggregation::Cross, _) => 4 * 50 + 10 + result,
            (Aggregation::AdaptiveWeight, _) => {
                let columns = u64::from(LOCAL_COLUMNS);
                let candidates = 4 * u64::from(local.words(layout.words));
                // a weight takes 24, and a workgroup has as many of the left and the right image as meet in it
                let weights = 24 * (2 * columns + candidates - 1) * side * side * 4 / (columns * candidates);
                // for each place of the window four products, weighted costs and sums, and their places
                side * side * (4 * 5 + 7 + 6) + weights + 4 * 2 + result
            }
            // assumes that arms of all lengths are equally frequent
            _ => (reach + 1) * (reach + 1) * (5 * 28 + 4 * 5 + 7 + halved) + result,
        }
}

fn arms(level: usize, layout: &Layout, local: &LocalConfig) -> Dispatch {
    let pixels = 2 * layout.structure.pixels();
    let resources = [&[Resource::Params(level)], &Resource::pictures(level)[..], &[Resource::Arms(level)]].concat();
    let one = map_dispatch(&OFFSETS, "reach", &[("LONGEST", local.reach)], resources, layout);
    let [x, y, _] = one.groups;
    Dispatch { groups: [x, y, 2], work: pixels * u64::from(4 * local.reach), bytes: pixels + 4 * pixels, ..one }
}

/// Returns the sixteenths of a byte that a kernel reads and writes of volumes for each pixel and candidate.
fn bytes_per_candidate_16ths(local: &LocalConfig, entry: &str) -> u64 {
    let result = if local.exact { 4 * 16 } else { 16 };
    let reach = u64::from(local.reach);
    let halo = |columns: u64, own: u64| 16 * columns / own;
    match (local.kind, entry) {
        // every column of a workgroup's rows is read once as it enters and once as it leaves
        (Aggregation::Window, _) => {
            let (columns, strip) = (u64::from(SAD_COLUMNS), u64::from(local.strip()));
            halo(columns * (2 * strip + 2 * reach), u64::from(local.own_columns()) * strip) + result
        }
        (Aggregation::Cross, "rows") => {
            halo(u64::from(LOCAL_RUNS * LOCAL_RUN), u64::from(local.own_columns())) + 4 * 16
        }
        (Aggregation::Cross, _) => 2 * 4 * 16 + result,
        (Aggregation::AdaptiveWeight, _) => {
            let columns = u64::from(LOCAL_COLUMNS);
            (2 * reach + 1) * halo(columns + 2 * reach, columns) + result
        }
        // assumes that arms of all lengths are equally frequent
        _ => (reach + 1) * (reach + 1) * 16 + result,
    }
}
