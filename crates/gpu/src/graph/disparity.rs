//! Dispatches of the sums over all directions, and of the winners of both images.

use super::aggregate::{LastBatch, cost_bytes_per_pixel, costs};
use super::{Dispatch, GraphBuilder, MAX_GROUPS, Product, Request, map_dispatch, split};
use crate::kernels::WinnerConfig;
use crate::layout::Layout;
use crate::resource::Resource;
use crate::shaders::{PIXELS, shaders};
use crate::uniforms::DispatchParams;
use std::sync::Arc;
use stereopsis_frame::Side;

shaders! {
    RIGHT: "disparity/right", PIXELS, ["clear"];
}

impl GraphBuilder {
    /// Adds the winners of the left image, and the keys of the right one's winners where it needs no matching of its own.
    pub(super) fn winner(&mut self, level: usize, layout: &Layout, batch: LastBatch, keeps_sums: bool) {
        let structure = &layout.structure;
        let winner = WinnerConfig {
            volumes: batch.volumes,
            earlier: batch.earlier,
            fused: layout.kernel.variant.fused,
            exact: structure.exact(),
            rivals: structure.rivals,
            drops: structure.drops,
            checked: structure.is_diagonal(),
            keeps_sums,
        };
        if winner.checked {
            let keys = vec![Resource::Params(level), Resource::RightKeys(level)];
            let clear = map_dispatch(&RIGHT, "clear", &[], keys, layout);
            self.push("winner", "clear", vec![clear], Product::Inner, level);
        }
        let choose = self.choose(level, layout, winner);
        self.push("winner", "left map", choose, Product::Map(Side::Left, 0), level);
        if keeps_sums {
            self.push("winner", "sums", Vec::new(), Product::Sums, level);
        }
    }

    fn choose(&mut self, level: usize, layout: &Layout, winner: WinnerConfig) -> Vec<Dispatch> {
        let structure = &layout.structure;
        let variant = layout.kernel.variant;
        let width = structure.width as u32;
        let source = Arc::new(layout.kernel.winner(winner));
        let lines = variant.lines(structure.candidates);
        let length = if winner.fused { width } else { variant.piece.min(width) };
        let pieces = width.div_ceil(length);
        let per_pixel = u64::from(layout.words) * 4;
        let row_work = u64::from(width) * per_pixel * (2 + u64::from(winner.volumes) / 2);
        let path_bytes = u64::from(winner.volumes) * layout.path_cost_bytes();
        let pixel_bytes = 4 + if winner.exact {
            per_pixel * 4
        } else {
            per_pixel * (path_bytes + if winner.earlier { 2 } else { 0 }) + cost_bytes_per_pixel(layout)
        };
        let mut dispatches = Vec::new();
        for slab in 0..layout.slabs() {
            let mut resources = vec![
                Resource::Picture(Side::Left, level),
                Resource::Map(Side::Left, level, 0),
                Resource::RightKeys(level),
            ];
            if structure.gates.is_some() {
                resources.push(Resource::Gates(level));
            }
            if winner.keeps_sums {
                resources.push(Resource::Kept);
            }
            if winner.exact {
                resources.push(Resource::Exact(level, slab));
            } else {
                resources.extend(costs(level, layout, slab..slab + 1));
                resources.extend((0..winner.volumes).map(|volume| Resource::Path(level, volume, slab)));
                if winner.earlier {
                    resources.push(Resource::Sums(level, slab));
                }
            }
            let max_rows = (MAX_GROUPS * lines / pieces).max(1);
            for rows in split(layout.rows(slab), row_work, self.max_work, 1, max_rows) {
                let params = self.dispatch_params(DispatchParams {
                    first: rows.start * pieces,
                    end: rows.end * pieces,
                    origin: slab * layout.slab_rows,
                    pieces,
                    length,
                    ..DispatchParams::default()
                });
                let count = rows.end - rows.start;
                let pixels = u64::from(count) * u64::from(width);
                dispatches.push(Dispatch {
                    request: Request { source: Arc::clone(&source), entry: "choose", constants: Vec::new() },
                    resources: [&[Resource::Params(level), params], &resources[..]].concat(),
                    groups: [(count * pieces).div_ceil(lines), 1, 1],
                    work: row_work * u64::from(count),
                    bytes: pixels * pixel_bytes,
                });
            }
        }
        dispatches
    }
}
