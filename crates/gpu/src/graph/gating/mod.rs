//! Dispatches of disparity gating ([`stereopsis_stereo::gating`]): the images of a level from those of the finer one, and the gates of the
//! finer level from a level's map.

use super::{Dispatch, GraphBuilder, MAX_GROUPS, Product, map_dispatch, split};
use crate::layout::Layout;
use crate::resource::Resource;
use crate::shaders::{TILE, shaders};
use crate::uniforms::DispatchParams;
use stereopsis_stereo::GateBounds;

shaders! {
    HALVE: "pyramid", TILE, ["halve"];
    PERCENTILES: "gating/percentiles", (1, PERCENTILE_ROWS), ["percentiles"];
    EXTREMES: "gating/extremes", EXTREMES_TILE, ["extremes"];
}

const PERCENTILE_ROWS: u32 = 64;
const EXTREMES_TILE: (u32, u32) = (16, 16);

#[cfg(test)]
mod tests;

/// Work of `gating/percentiles.wgsl` for each pixel of the coarser level: 64 lanes with their bins and the steps of a scan.
const PERCENTILES_WORK: u64 = 1000;
/// Bytes of a map that the percentiles read for each pixel: two rows of the window, and a share of the first window.
const PERCENTILES_BYTES: u64 = 4 * 143;
/// Work of `gating/extremes.wgsl` for each pixel of the coarser level: a row for two of its pixels, and a column.
const EXTREMES_WORK: u64 = 60;
/// Bytes of a map that the extremes read for each pixel: those of a tile with its surroundings.
const EXTREMES_BYTES: u64 = 4 * 4;

impl GraphBuilder {
    /// Adds the images of `level`, made from those of the finer one.
    pub(super) fn halve(&mut self, level: usize, layout: &Layout) {
        let finer = level - 1;
        let pictures = [Resource::pictures(finer), Resource::pictures(level)].concat();
        let resources = [&[Resource::Params(finer)], &pictures[..]].concat();
        let mut dispatch = map_dispatch(&HALVE, "halve", &[], resources, layout);
        dispatch.groups[2] = 2;
        let dispatch = Dispatch { bytes: 2 * layout.structure.pixels() * (4 + 4), ..dispatch };
        self.push("gates", "halve", vec![dispatch], Product::Inner, level);
    }

    /// Adds the gates of `finer`, a level of twice the size, from a map of `level`.
    pub(super) fn bounds(
        &mut self,
        level: usize,
        layout: &Layout,
        map: Resource,
        (finer, bounds): (usize, GateBounds),
    ) {
        let dispatches = match bounds {
            GateBounds::Percentiles => self.percentiles(level, layout, map, finer),
            GateBounds::Extremes => vec![extremes(level, layout, map, finer)],
        };
        self.push("gates", "bounds", dispatches, Product::Inner, level);
    }

    fn percentiles(&mut self, level: usize, layout: &Layout, map: Resource, finer: usize) -> Vec<Dispatch> {
        let (width, height) = (layout.structure.width as u32, layout.structure.height as u32);
        let column_work = PERCENTILES_WORK * u64::from(height);
        let mut dispatches = Vec::new();
        for columns in split(0..width, column_work, self.max_work, 1, MAX_GROUPS) {
            let count = columns.end - columns.start;
            let dispatch = self.dispatch_params(DispatchParams {
                first: columns.start,
                end: columns.end,
                ..DispatchParams::default()
            });
            dispatches.push(Dispatch {
                request: PERCENTILES.request("percentiles", Vec::new()),
                resources: vec![
                    Resource::Params(finer),
                    Resource::Params(level),
                    dispatch,
                    map,
                    Resource::Gates(finer),
                ],
                groups: [count, height.div_ceil(PERCENTILE_ROWS), 1],
                work: column_work * u64::from(count),
                bytes: u64::from(count * height) * (PERCENTILES_BYTES + 4),
            });
        }
        dispatches
    }
}

fn extremes(level: usize, layout: &Layout, map: Resource, finer: usize) -> Dispatch {
    let (width, height) = (layout.structure.width as u32, layout.structure.height as u32);
    Dispatch {
        request: EXTREMES.request("extremes", Vec::new()),
        resources: vec![Resource::Params(finer), Resource::Params(level), map, Resource::Gates(finer)],
        groups: [width.div_ceil(EXTREMES_TILE.0), height.div_ceil(EXTREMES_TILE.1), 1],
        work: EXTREMES_WORK * layout.structure.pixels(),
        bytes: layout.structure.pixels() * (EXTREMES_BYTES + 4),
    }
}
