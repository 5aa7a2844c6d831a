//! Sums over all directions, and the winners of both pictures.

use super::{Dispatch, GraphBuilder, MAX_GROUPS, Product, Request, Resource, map_dispatch, split};
use crate::engine::gpu::kernels::WinnerConfig;
use crate::engine::gpu::layout::Layout;
use crate::engine::gpu::operations;
use crate::engine::gpu::shaders;
use crate::engine::gpu::uniforms::DispatchParams;
use std::sync::Arc;

impl GraphBuilder {
    /// Path costs in batches that fit, then the winners.
    pub(super) fn paths_and_winner(&mut self, level: usize, layout: &Layout, keeps_sums: bool) {
        let stored = layout.stored();
        let batches: Vec<_> = stored.chunks(layout.volumes.max(1) as usize).collect();
        let last = batches.len().saturating_sub(1);
        let source = Arc::new(layout.kernel.paths());
        for (number, batch) in batches.iter().enumerate() {
            let mut dispatches = Vec::new();
            for (volume, direction) in (0..).zip(batch.iter()) {
                self.path(level, layout, &source, volume, *direction, &mut dispatches);
            }
            self.push("paths", "paths", dispatches, Product::Inner, level);
            if number < last {
                let sum = self.sum(level, layout, batch.len() as u32, number == 0);
                self.push("paths", "sum", sum, Product::Inner, level);
            }
        }
        let winner = WinnerConfig {
            volumes: batches.last().map_or(0, |batch| batch.len() as u32),
            earlier: batches.len() > 1,
            fused: layout.fused,
            exact: layout.structure.exact(),
            rivals: layout.structure.rivals,
            drops: layout.structure.drops,
            checked: layout.structure.is_diagonal(),
            keeps_sums,
        };
        if layout.structure.is_diagonal() {
            let keys = vec![Resource::Params(level), Resource::RightKeys(level), Resource::RightMap(level, 0)];
            let forget = map_dispatch(&shaders::RIGHT, "forget", &[], keys, layout);
            self.push("winner", "forget", vec![forget], Product::Inner, level);
        }
        let choose = self.winner(level, layout, winner);
        self.push("winner", "left map", choose, Product::Left(0), level);
        if keeps_sums {
            self.push("winner", "sums", Vec::new(), Product::Sums, level);
        }
        if layout.structure.is_diagonal() {
            let maps = vec![Resource::Params(level), Resource::RightKeys(level), Resource::RightMap(level, 0)];
            let decode = map_dispatch(&shaders::RIGHT, "choose", &[], maps, layout);
            self.push("winner", "right map", vec![decode], Product::Right(0), level);
        }
    }

    fn winner(&mut self, level: usize, layout: &Layout, winner: WinnerConfig) -> Vec<Dispatch> {
        let structure = &layout.structure;
        let variant = layout.kernel.variant;
        let source = Arc::new(layout.kernel.winner(winner));
        let lines = variant.lines(structure.candidates);
        let length = if winner.fused { structure.width as u32 } else { variant.piece.min(structure.width as u32) };
        let pieces = (structure.width as u32).div_ceil(length);
        let per_pixel = u64::from(layout.words) * 4;
        let row_work = structure.width as u64 * per_pixel * (2 + u64::from(winner.volumes) / 2);
        let path_bytes = u64::from(winner.volumes) * layout.path_cost_bytes();
        let sum_bytes = if winner.exact { 4 } else { path_bytes + if winner.earlier { 2 } else { 0 } };
        let cost_bytes = if winner.exact { 0 } else { Self::cost_bytes_per_pixel(layout) };
        let pixel_bytes = per_pixel * sum_bytes + cost_bytes + 4;
        let mut dispatches = Vec::new();
        for slab in 0..layout.slabs() {
            let max_rows = (MAX_GROUPS * lines / pieces).max(1);
            for rows in split(layout.rows(slab), row_work, self.max_work, 1, max_rows) {
                let count = rows.end - rows.start;
                let dispatch = DispatchParams {
                    first: rows.start * pieces,
                    end: rows.end * pieces,
                    origin: slab * layout.slab_rows,
                    pieces,
                    length,
                    ..DispatchParams::default()
                };
                let mut resources = vec![
                    Resource::Params(level),
                    self.dispatch_params(dispatch),
                    Resource::LeftPicture(level),
                    Resource::LeftMap(level, 0),
                    Resource::RightKeys(level),
                ];
                if structure.gated {
                    resources.push(Resource::Gates(level));
                }
                if winner.keeps_sums {
                    resources.push(Resource::Kept);
                }
                if winner.exact {
                    resources.push(Resource::Exact(level, slab));
                } else {
                    resources.extend(Self::costs(level, layout, slab..slab + 1));
                    resources.extend((0..winner.volumes).map(|volume| Resource::Path(level, volume, slab)));
                    if winner.earlier {
                        resources.push(Resource::Sums(level, slab));
                    }
                }
                dispatches.push(Dispatch {
                    request: Request { source: Arc::clone(&source), entry: "choose", constants: Vec::new() },
                    resources,
                    groups: [(count * pieces).div_ceil(lines), 1, 1],
                    work: row_work * u64::from(count),
                    bytes: u64::from(count) * structure.width as u64 * pixel_bytes,
                    operations: u64::from(count) * structure.width as u64 * operations::winner(layout, winner),
                });
            }
        }
        dispatches
    }
}
