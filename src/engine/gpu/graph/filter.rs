//! Filters of the finished maps.

use super::{Dispatch, GraphBuilder, Product, map_dispatch};
use crate::engine::gpu::layout::Layout;
use crate::engine::gpu::resource::Resource;
use crate::engine::gpu::shaders::{PIXELS, Shader, TILE, shaders};
use crate::stereo::{Fill, Median};

shaders! {
    MEDIAN: "filter/median", TILE, ["smooth_map"];
    CONSISTENCY: "filter/consistency", PIXELS, ["check", "check_right"];
    SPECKLE: "filter/speckle", TILE, ["separate", "merge", "measure", "remove"];
    SPATIAL: "filter/spatial", TILE, ["run"];
    TEMPORAL: "filter/temporal", PIXELS, ["smooth_over_time"];
    FILL: "filter/fill", PIXELS, ["rows", "empty_rows"];
}

/// Rows or columns that a workgroup of the spatial filter goes along.
const SPATIAL_LINES: u32 = 32;

/// The picture that a map belongs to.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Side {
    Left,
    Right,
}

impl Side {
    /// One of the two buffers of the map.
    fn map(self, level: usize, index: usize) -> Resource {
        match self {
            Self::Left => Resource::LeftMap(level, index),
            Self::Right => Resource::RightMap(level, index),
        }
    }

    fn product(self, index: usize) -> Product {
        match self {
            Self::Left => Product::Left(index),
            Self::Right => Product::Right(index),
        }
    }

    fn name(self, left: &'static str, right: &'static str) -> &'static str {
        if self == Self::Left { left } else { right }
    }
}

/// The maps of a level between filters, with the index of the buffer that holds each.
struct Maps<'a> {
    level: usize,
    layout: &'a Layout,
    left: usize,
    right: usize,
}

impl Maps<'_> {
    fn here(&self, side: Side) -> usize {
        if side == Side::Left { self.left } else { self.right }
    }

    /// A shader over the pixels of a map.
    fn dispatch(
        &self,
        shader: &'static Shader,
        entry: &'static str,
        constants: &[(&'static str, u32)],
        resources: &[Resource],
    ) -> Dispatch {
        let resources = [&[Resource::Params(self.level)], resources].concat();
        map_dispatch(shader, entry, constants, resources, self.layout)
    }
}

impl GraphBuilder {
    /// Filters, in the order of [`crate::stereo::filter_maps`]. Returns the buffers of the left and the right map.
    pub(super) fn filters(&mut self, level: usize, layout: &Layout) -> [Resource; 2] {
        let structure = &layout.structure;
        let mut maps = Maps { level, layout, left: 0, right: 0 };
        self.median(&mut maps, Side::Left, ("median", "right median"));
        if structure.has_right() {
            self.median(&mut maps, Side::Right, ("median", "right median"));
        }
        if structure.checked {
            self.check(&mut maps);
        }
        self.refine(&mut maps, Side::Left);
        if structure.wants_right {
            self.refine(&mut maps, Side::Right);
        }
        [Side::Left.map(level, maps.left), Side::Right.map(level, maps.right)]
    }

    fn median(&mut self, maps: &mut Maps<'_>, side: Side, (left, right): (&'static str, &'static str)) {
        let median = maps.layout.structure.median;
        if median == Median::Off {
            return;
        }
        let here = maps.here(side);
        let both = [side.map(maps.level, here), side.map(maps.level, 1 - here)];
        let radius = [("RADIUS", median.radius() as u32)];
        let dispatch = maps.dispatch(&MEDIAN, "smooth_map", &radius, &both);
        self.push("filters", side.name(left, right), vec![dispatch], side.product(1 - here), maps.level);
        match side {
            Side::Left => maps.left = 1 - here,
            Side::Right => maps.right = 1 - here,
        }
    }

    /// Checks each map against the unchecked other: the right one into its other buffer, the left one in place.
    fn check(&mut self, maps: &mut Maps<'_>) {
        let (level, left, right) = (maps.level, maps.left, maps.right);
        let all =
            [Resource::LeftMap(level, left), Resource::RightMap(level, right), Resource::RightMap(level, 1 - right)];
        if maps.layout.structure.wants_right {
            let dispatch = maps.dispatch(&CONSISTENCY, "check_right", &[], &all);
            self.push("filters", "right left-right", vec![dispatch], Product::Right(1 - right), level);
            maps.right = 1 - right;
        }
        let dispatch = maps.dispatch(&CONSISTENCY, "check", &[], &all);
        let dispatch = Dispatch { bytes: 2 * maps.layout.map_bytes(), ..dispatch }; // it does not write the right map
        self.push("filters", "left-right", vec![dispatch], Product::Left(left), level);
    }

    /// The filters of a single map.
    fn refine(&mut self, maps: &mut Maps<'_>, side: Side) {
        let structure = &maps.layout.structure;
        let (level, here) = (maps.level, maps.here(side));
        let (map, product) = (side.map(level, here), side.product(here));
        if structure.speckle {
            let entries = SPECKLE.entries.iter();
            let resources = [map, Resource::Parents, Resource::Sizes];
            let dispatches = entries.map(|entry| maps.dispatch(&SPECKLE, entry, &[], &resources)).collect();
            self.push("filters", side.name("speckle", "right speckle"), dispatches, product, level);
        }
        if structure.spatial > 0 {
            let dispatches = (0..structure.spatial).flat_map(|_| Self::spatial(map, maps)).collect();
            self.push("filters", side.name("spatial", "right spatial"), dispatches, product, level);
        }
        if structure.temporal && side == Side::Left {
            let dispatch = maps.dispatch(&TEMPORAL, "smooth_over_time", &[], &[map, Resource::Smoothed]);
            self.push("filters", "temporal", vec![dispatch], product, level);
        }
        if structure.fill != Fill::None {
            let asked = [("ASKED", structure.fill.values_per_side() as u32)];
            // the buffer of region sizes is free by now: a word for each row fits
            let entries = FILL.entries.iter();
            let rows = |entry: &&'static str| Dispatch {
                groups: [structure.height as u32, 1, 1],
                ..maps.dispatch(&FILL, entry, &asked, &[map, Resource::Sizes])
            };
            let dispatches = entries.map(rows).collect();
            self.push("filters", side.name("fill", "right fill"), dispatches, product, level);
            self.median(maps, side, ("median after fill", "right median after fill"));
        }
    }

    /// Running means along rows, and then along columns.
    fn spatial(map: Resource, maps: &Maps<'_>) -> [Dispatch; 2] {
        let layout = maps.layout;
        [(1, layout.structure.height), (0, layout.structure.width)].map(|(along_rows, lines)| Dispatch {
            groups: [(lines as u32).div_ceil(SPATIAL_LINES), 1, 1],
            bytes: 4 * layout.map_bytes(),
            ..maps.dispatch(&SPATIAL, "run", &[("ALONG_ROWS", along_rows)], &[map])
        })
    }
}
