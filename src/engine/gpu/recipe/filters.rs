//! Filters of the finished maps.

use super::{Cook, Dispatch, Product, Resource, map_dispatch};
use crate::engine::gpu::layout::Layout;
use crate::engine::gpu::shaders::{self, Shader};
use crate::stereo::{Fill, Median};

/// Whose map it is.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Side {
    Left,
    Right,
}

impl Side {
    /// The map in one of its two places.
    fn map(self, level: usize, place: usize) -> Resource {
        match self {
            Self::Left => Resource::LeftMap(level, place),
            Self::Right => Resource::RightMap(level, place),
        }
    }

    fn product(self, place: usize) -> Product {
        match self {
            Self::Left => Product::Left(place),
            Self::Right => Product::Right(place),
        }
    }

    /// What a step is called.
    fn name(self, left: &'static str, right: &'static str) -> &'static str {
        if self == Self::Left { left } else { right }
    }
}

/// The maps of a level on their way through the filters, and in which place each is.
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

    /// A shader over the pixels of a map and what else it is given.
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

impl Cook {
    /// Filters, in the order of [`crate::stereo::filter_maps`]. Where the left and the right map are then.
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
        let dispatch = maps.dispatch(&shaders::MEDIAN, "smooth_map", &radius, &both);
        self.push("filters", side.name(left, right), vec![dispatch], side.product(1 - here), maps.level);
        match side {
            Side::Left => maps.left = 1 - here,
            Side::Right => maps.right = 1 - here,
        }
    }

    /// Each map against the other as it was: the checked right map goes to its other place, the left one stays where it is.
    fn check(&mut self, maps: &mut Maps<'_>) {
        let (level, left, right) = (maps.level, maps.left, maps.right);
        let all =
            [Resource::LeftMap(level, left), Resource::RightMap(level, right), Resource::RightMap(level, 1 - right)];
        if maps.layout.structure.wants_right {
            let dispatch = maps.dispatch(&shaders::CONSISTENCY, "check_right", &[], &all);
            self.push("filters", "right left-right", vec![dispatch], Product::Right(1 - right), level);
            maps.right = 1 - right;
        }
        let dispatch = maps.dispatch(&shaders::CONSISTENCY, "check", &[], &all);
        let dispatch = Dispatch { bytes: 2 * maps.layout.map_bytes(), ..dispatch }; // it leaves the right map alone
        self.push("filters", "left-right", vec![dispatch], Product::Left(left), level);
    }

    /// What is done to a map by itself.
    fn refine(&mut self, maps: &mut Maps<'_>, side: Side) {
        let structure = &maps.layout.structure;
        let (level, here) = (maps.level, maps.here(side));
        let (map, product) = (side.map(level, here), side.product(here));
        if structure.speckle {
            let entries = shaders::SPECKLE.entries.iter();
            let resources = [map, Resource::Parents, Resource::Sizes];
            let dispatches = entries.map(|entry| maps.dispatch(&shaders::SPECKLE, entry, &[], &resources)).collect();
            self.push("filters", side.name("speckle", "right speckle"), dispatches, product, level);
        }
        if structure.spatial > 0 {
            let dispatches = (0..structure.spatial).flat_map(|_| Self::spatial(map, maps)).collect();
            self.push("filters", side.name("spatial", "right spatial"), dispatches, product, level);
        }
        if structure.temporal && side == Side::Left {
            let dispatch = maps.dispatch(&shaders::TEMPORAL, "smooth_over_time", &[], &[map, Resource::Smoothed]);
            self.push("filters", "temporal", vec![dispatch], product, level);
        }
        if structure.fill != Fill::None {
            let asked = [("ASKED", structure.fill.values_per_side() as u32)];
            // The sizes of regions are needed no more: their place has room for a word for each row.
            let entries = shaders::FILL.entries.iter();
            let rows = |entry: &&'static str| Dispatch {
                groups: [structure.height as u32, 1, 1],
                ..maps.dispatch(&shaders::FILL, entry, &asked, &[map, Resource::Sizes])
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
            groups: [(lines as u32).div_ceil(shaders::SPATIAL_LINES), 1, 1],
            bytes: 4 * layout.map_bytes(),
            ..maps.dispatch(&shaders::SPATIAL, "run", &[("ALONG_ROWS", along_rows)], &[map])
        })
    }
}
