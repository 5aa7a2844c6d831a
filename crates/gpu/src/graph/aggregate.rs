//! Dispatches of the path costs of each direction, and of their sums where memory does not hold all directions at once.

use super::{Dispatch, GraphBuilder, MAX_GROUPS, Product, Request, RowKernel, split};
use crate::compiler::Source;
use crate::layout::Layout;
use crate::resource::{MutualInformation, Resource};
use crate::uniforms::DispatchParams;
use crate::variant::CostSource;
use std::ops::Range;
use std::sync::Arc;
use stereopsis_frame::Side;
use stereopsis_stereo::aggregate::{Axis, Direction};
use stereopsis_stereo::cost::Comparison;

/// Last batch of directions, which the winner kernel sums.
#[derive(Clone, Copy)]
pub(super) struct LastBatch {
    pub(super) volumes: u32,
    pub(super) earlier: bool,
}

impl GraphBuilder {
    /// Adds the path costs in batches that fit into memory, and the sums of all batches but the last.
    pub(super) fn paths(&mut self, level: usize, layout: &Layout) -> LastBatch {
        let stored = layout.stored();
        let batches: Vec<_> = stored.chunks(layout.volumes.max(1) as usize).collect();
        let source = Arc::new(layout.kernel.paths());
        for (number, batch) in batches.iter().enumerate() {
            let mut dispatches = Vec::new();
            for (volume, direction) in (0..).zip(batch.iter()) {
                dispatches.extend(self.path(level, layout, &source, volume, *direction));
            }
            self.push("paths", "paths", dispatches, Product::Inner, level);
            if number + 1 < batches.len() {
                let sum = self.sum(level, layout, batch.len() as u32, number == 0);
                self.push("paths", "sum", sum, Product::Inner, level);
            }
        }
        LastBatch { volumes: batches.last().map_or(0, |batch| batch.len() as u32), earlier: batches.len() > 1 }
    }

    fn path(
        &mut self,
        level: usize,
        layout: &Layout,
        source: &Arc<Source>,
        volume: u32,
        direction: Direction,
    ) -> Vec<Dispatch> {
        let structure = &layout.structure;
        let lines = layout.kernel.variant.lines(structure.candidates);
        let y_is_major = direction.major == Axis::Y;
        let (width, height) = structure.size();
        let (steps, across) = if y_is_major { (height, width) } else { (width, height) };
        let per_pixel = u64::from(layout.words) * 4;
        let pixel_bytes = cost_bytes_per_pixel(layout) + per_pixel * layout.path_cost_bytes() + 1;
        let line_work = steps as u64 * per_pixel;
        let mut resources = vec![Resource::Picture(Side::Left, level)];
        if structure.gates.is_some() {
            resources.push(Resource::Gates(level));
        }
        resources.extend(costs(level, layout, 0..layout.slabs()));
        resources.extend((0..layout.slabs()).map(|slab| Resource::Path(level, volume, slab)));
        let max_work = self.max_work;
        let dispatch = |Range { start: first, end }| {
            let params = self.dispatch_params(DispatchParams {
                first,
                end,
                y_is_major: u32::from(y_is_major),
                dx: direction.dx as i32,
                dy: direction.dy as i32,
                slope: direction.slope,
                ..DispatchParams::default()
            });
            let pixels = u64::from(end - first) * steps as u64;
            Dispatch {
                request: Request { source: Arc::clone(source), entry: "follow", constants: Vec::new() },
                resources: [&[Resource::Params(level), params], &resources[..]].concat(),
                groups: [(end - first).div_ceil(lines), 1, 1],
                work: line_work * u64::from(end - first),
                bytes: pixels * pixel_bytes,
            }
        };
        split(0..across as u32, line_work, max_work, lines, MAX_GROUPS * lines).map(dispatch).collect()
    }

    /// Adds the volumes of a batch to the sums; the first batch sets them.
    fn sum(&mut self, level: usize, layout: &Layout, volumes: u32, is_first: bool) -> Vec<Dispatch> {
        let source = Arc::new(layout.kernel.sum(volumes));
        let lanes = layout.words / layout.kernel.variant.words;
        let width = layout.structure.width as u64;
        let row = width * u64::from(layout.words) * 4;
        let mut dispatches = Vec::new();
        for slab in 0..layout.slabs() {
            let paths = (0..volumes).map(|volume| Resource::Path(level, volume, slab));
            let kernel = RowKernel {
                request: Request { source: Arc::clone(&source), entry: "add", constants: Vec::new() },
                resources: paths.chain([Resource::Sums(level, slab)]).collect(),
                slab,
                strip: 1,
                columns: (layout.structure.width as u32 * lanes).div_ceil(64),
                depth: 1,
                work: row * (1 + u64::from(volumes) / 2),
                bytes: row * (u64::from(volumes) * layout.path_cost_bytes() + if is_first { 2 } else { 4 }),
            };
            dispatches.extend(self.over_rows(level, layout, &kernel, is_first));
        }
        dispatches
    }
}

pub(super) fn costs(level: usize, layout: &Layout, slabs: Range<u32>) -> Vec<Resource> {
    match layout.kernel.variant.costs {
        CostSource::Codes => codes(level, layout),
        CostSource::Volume => {
            let aggregated = layout.structure.local().is_some();
            let volume = if aggregated { Resource::Aggregated } else { Resource::Costs };
            slabs.map(|slab| volume(level, slab)).collect()
        }
    }
}

/// Returns the codes, and the table that compares them.
pub(super) fn codes(level: usize, layout: &Layout) -> Vec<Resource> {
    let table = match layout.structure.comparison {
        Comparison::Tables { scale, .. } => Some(Resource::CostTable(scale)),
        Comparison::LearnedTable => Some(Resource::MutualInformation(MutualInformation::Table)),
        Comparison::Hamming(_) | Comparison::Difference(_) | Comparison::WindowedDifference => None,
    };
    [Some(Resource::Codes(level)), table].into_iter().flatten().collect()
}

/// Returns the bytes that a kernel reads for the costs of a pixel: those of a volume, or the codes in both images, which caches hold for
/// the neighbours.
pub(super) fn cost_bytes_per_pixel(layout: &Layout) -> u64 {
    match layout.kernel.variant.costs {
        CostSource::Volume => u64::from(layout.words) * 4,
        CostSource::Codes => layout.code_bytes() / layout.structure.pixels(),
    }
}
