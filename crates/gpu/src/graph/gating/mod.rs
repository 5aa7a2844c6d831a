//! Disparity gating ([`crate::stereo::gating`]): the pictures of a level from those of the finer one, and the gates of the finer
//! level from a level's map.

use super::{Dispatch, GraphBuilder, MAX_GROUPS, Product, split};
use crate::layout::Layout;
use crate::resource::Resource;
use crate::shaders::{TILE, shaders};
use crate::uniforms::DispatchParams;

shaders! {
    HALVE: "pyramid/halve", TILE, ["halve"];
    BOUNDS: "gating/bounds", (1, BOUNDS_ROWS), ["bounds"];
}

/// Rows that a workgroup of gates walks down.
const BOUNDS_ROWS: u32 = 64;

#[cfg(test)]
mod tests;

/// Work of `gating/bounds.wgsl` for each pixel of the coarser level: 64 lanes with their bins and the steps of a scan.
const BOUNDS_WORK: u64 = 1000;
/// Bytes of a map that it reads for each pixel: two rows of the window, and a share of the first window.
const BOUNDS_BYTES: u64 = 4 * 143;

impl GraphBuilder {
    /// Makes the pictures of `level` from those of the finer one.
    pub(super) fn halve(&mut self, level: usize, layout: &Layout) {
        let finer = level - 1;
        let (width, height) = (layout.structure.width as u32, layout.structure.height as u32);
        let pixels = layout.structure.pixels();
        let dispatch = Dispatch {
            request: HALVE.request("halve", Vec::new()),
            resources: vec![
                Resource::Params(finer),
                Resource::LeftPicture(finer),
                Resource::RightPicture(finer),
                Resource::LeftPicture(level),
                Resource::RightPicture(level),
            ],
            groups: [width.div_ceil(TILE.0), height.div_ceil(TILE.1), 2],
            work: 20 * pixels,
            bytes: 2 * pixels * (4 + 4),
            operations: 0,
        };
        self.push("gates", "halve", vec![dispatch], Product::Inner, level);
    }

    /// Makes the gates of `finer`, a level of twice the size, from a map of `level`.
    pub(super) fn bounds(&mut self, level: usize, layout: &Layout, map: Resource, finer: usize) {
        let (width, height) = (layout.structure.width as u32, layout.structure.height as u32);
        let column_work = BOUNDS_WORK * u64::from(height);
        let mut dispatches = Vec::new();
        for columns in split(0..width, column_work, self.max_work, 1, MAX_GROUPS) {
            let count = columns.end - columns.start;
            let dispatch = self.dispatch_params(DispatchParams {
                first: columns.start,
                end: columns.end,
                ..DispatchParams::default()
            });
            dispatches.push(Dispatch {
                request: BOUNDS.request("bounds", Vec::new()),
                resources: vec![
                    Resource::Params(finer),
                    Resource::Params(level),
                    dispatch,
                    map,
                    Resource::Gates(finer),
                ],
                groups: [count, height.div_ceil(BOUNDS_ROWS), 1],
                work: column_work * u64::from(count),
                bytes: u64::from(count * height) * (BOUNDS_BYTES + 4),
                operations: 0,
            });
        }
        self.push("gates", "bounds", dispatches, Product::Inner, level);
    }
}
