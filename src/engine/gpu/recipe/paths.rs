//! Path costs of each direction, and their sums where not all fit into memory at once.

use super::{Cook, Dispatch, Information, MOST_GROUPS, Request, Resource, Source, split};
use crate::engine::gpu::layout::Layout;
use crate::engine::gpu::operations;
use crate::engine::gpu::uniforms::Part;
use crate::engine::gpu::variant::CostsFrom;
use crate::stereo::aggregate::{Axis, Direction};
use crate::stereo::cost::{Channel, Comparison};
use std::ops::Range;
use std::sync::Arc;

impl Cook {
    pub(super) fn path(
        &mut self,
        level: usize,
        layout: &Layout,
        source: &Arc<Source>,
        volume: u32,
        direction: Direction,
        dispatches: &mut Vec<Dispatch>,
    ) {
        let structure = &layout.structure;
        let lines = layout.kernel.variant.lines(structure.candidates);
        let y_is_major = direction.major == Axis::Y;
        let (steps, across) =
            if y_is_major { (structure.height, structure.width) } else { (structure.width, structure.height) };
        let per_pixel = u64::from(layout.words) * 4;
        let line_work = steps as u64 * per_pixel;
        for part in split(0..across as u32, line_work, self.most_work, lines, MOST_GROUPS * lines) {
            let count = part.end - part.start;
            let uniform = Part {
                first: part.start,
                end: part.end,
                y_is_major: u32::from(y_is_major),
                dx: direction.dx as i32,
                dy: direction.dy as i32,
                slope: direction.slope,
                ..Part::default()
            };
            let mut resources = vec![Resource::Params(level), self.part(uniform), Resource::LeftPicture(level)];
            if structure.gated {
                resources.push(Resource::Gates(level));
            }
            resources.extend(Self::costs(level, layout, 0..layout.slabs()));
            resources.extend((0..layout.slabs()).map(|slab| Resource::Path(level, volume, slab)));
            let cost_bytes = Self::cost_bytes_per_pixel(layout);
            dispatches.push(Dispatch {
                request: Request { source: Arc::clone(source), entry: "follow", constants: Vec::new() },
                resources,
                groups: [count.div_ceil(lines), 1, 1],
                work: line_work * u64::from(count),
                bytes: u64::from(count) * steps as u64 * (cost_bytes + per_pixel * layout.path_cost_bytes() + 1),
                operations: u64::from(count) * steps as u64 * operations::step(layout),
            });
        }
    }

    pub(super) fn sum(&mut self, level: usize, layout: &Layout, volumes: u32, is_first: bool) -> Vec<Dispatch> {
        let source = Arc::new(layout.kernel.sum(volumes));
        let lanes = layout.words / layout.kernel.variant.words;
        let row = layout.structure.width as u64 * u64::from(layout.words) * 4;
        let row_work = row * (1 + u64::from(volumes) / 2);
        let mut dispatches = Vec::new();
        for slab in 0..layout.slabs() {
            for rows in split(layout.rows(slab), row_work, self.most_work, 1, MOST_GROUPS) {
                let (first, end) = (rows.start, rows.end);
                let part = Part {
                    first,
                    end,
                    origin: slab * layout.slab_rows,
                    is_first: u32::from(is_first),
                    ..Part::default()
                };
                let mut resources = vec![Resource::Params(level), self.part(part)];
                resources.extend((0..volumes).map(|volume| Resource::Path(level, volume, slab)));
                resources.push(Resource::Sums(level, slab));
                let sums = if is_first { 2 } else { 4 };
                dispatches.push(Dispatch {
                    request: Request { source: Arc::clone(&source), entry: "add", constants: Vec::new() },
                    resources,
                    groups: [(layout.structure.width as u32 * lanes).div_ceil(64), end - first, 1],
                    work: row_work * u64::from(end - first),
                    bytes: u64::from(end - first) * row * (u64::from(volumes) * layout.path_cost_bytes() + sums),
                    operations: u64::from(end - first)
                        * layout.structure.width as u64
                        * operations::sum(layout, volumes),
                });
            }
        }
        dispatches
    }

    /// Costs as a kernel with variants sees them.
    pub(super) fn costs(level: usize, layout: &Layout, slabs: Range<u32>) -> Vec<Resource> {
        match layout.kernel.variant.costs {
            CostsFrom::Codes => Self::codes(level, layout),
            CostsFrom::Volume => {
                let aggregated = layout.structure.local().is_some();
                let volume = if aggregated { Resource::Aggregated } else { Resource::Costs };
                slabs.map(|slab| volume(level, slab)).collect()
            }
        }
    }

    /// Codes, and what compares them.
    pub(super) fn codes(level: usize, layout: &Layout) -> Vec<Resource> {
        let table = match layout.structure.cost.comparison() {
            Comparison::Tables { channel: Channel::Brightness, .. } => Some(Resource::AdCensusTables),
            Comparison::Tables { channel: Channel::Gradients, .. } => Some(Resource::GradientCensusTables),
            Comparison::LearnedTable => Some(Resource::Information(Information::Table)),
            _ => None,
        };
        [Some(Resource::Codes(level)), table].into_iter().flatten().collect()
    }

    /// Bytes that a kernel reads for the costs of a pixel: a volume's, or its codes in both pictures. The codes of a
    /// pixel's candidates are those of its neighbours too, so that caches have them.
    pub(super) fn cost_bytes_per_pixel(layout: &Layout) -> u64 {
        match layout.kernel.variant.costs {
            CostsFrom::Volume => u64::from(layout.words) * 4,
            CostsFrom::Codes => layout.code_bytes() / layout.structure.pixels(),
        }
    }
}
