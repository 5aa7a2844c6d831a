//! Filters of the finished maps.

use super::{Cook, Dispatch, Product, Resource, map_dispatch};
use crate::engine::gpu::layout::Layout;
use crate::engine::gpu::shaders;
use crate::stereo::{Fill, Median};

impl Cook {
    /// Filters, in the order of [`crate::stereo::filter_maps`].
    pub(super) fn filters(&mut self, level: usize, layout: &Layout) {
        let structure = &layout.structure;
        let radius = [("RADIUS", structure.median.radius() as u32)];
        let smooth = structure.median != Median::Off;
        let mut current = 0;
        let maps = |first, second| vec![Resource::Params(level), first, second];
        let left = |i| Resource::LeftMap(level, i);
        if smooth {
            let dispatch = map_dispatch(&shaders::MEDIAN, "smooth_map", &radius, maps(left(0), left(1)), layout);
            self.push("filters", "median", vec![dispatch], Product::Left(1), level);
            current = 1;
        }
        if structure.checked {
            if smooth {
                let right = maps(Resource::RightMap(level, 0), Resource::RightMap(level, 1));
                let dispatch = map_dispatch(&shaders::MEDIAN, "smooth_map", &radius, right, layout);
                self.push("filters", "right median", vec![dispatch], Product::Right(1), level);
            }
            let both = maps(left(current), Resource::RightMap(level, usize::from(smooth)));
            let dispatch = map_dispatch(&shaders::CONSISTENCY, "check", &[], both, layout);
            self.push("filters", "left-right", vec![dispatch], Product::Left(current), level);
        }
        if structure.speckle {
            let resources = vec![Resource::Params(level), left(current), Resource::Parents, Resource::Sizes];
            let entries = shaders::SPECKLE.entries.iter();
            let dispatches =
                entries.map(|entry| map_dispatch(&shaders::SPECKLE, entry, &[], resources.clone(), layout)).collect();
            self.push("filters", "speckle", dispatches, Product::Left(current), level);
        }
        if structure.spatial > 0 {
            let dispatches = (0..structure.spatial).flat_map(|_| Self::spatial(left(current), level, layout)).collect();
            self.push("filters", "spatial", dispatches, Product::Left(current), level);
        }
        if structure.fill == Fill::Background {
            let (here, other) = (left(current), left(1 - current));
            // The sizes of regions are needed no more: their place has room for a word for each row.
            let entries = shaders::FILL.entries.iter();
            let rows = |entry| Dispatch {
                groups: [structure.height as u32, 1, 1],
                ..map_dispatch(&shaders::FILL, entry, &[], maps(here, Resource::Sizes), layout)
            };
            let dispatches = entries.copied().map(rows).collect();
            self.push("filters", "fill", dispatches, Product::Left(current), level);
            if smooth {
                let dispatch = map_dispatch(&shaders::MEDIAN, "smooth_map", &radius, maps(here, other), layout);
                self.push("filters", "median after fill", vec![dispatch], Product::Left(1 - current), level);
            }
        }
    }

    /// Running means along rows, and then along columns.
    fn spatial(map: Resource, level: usize, layout: &Layout) -> [Dispatch; 2] {
        [(1, layout.structure.height), (0, layout.structure.width)].map(|(along_rows, lines)| Dispatch {
            groups: [(lines as u32).div_ceil(shaders::SPATIAL_LINES), 1, 1],
            bytes: 4 * layout.map_bytes(),
            ..map_dispatch(
                &shaders::SPATIAL,
                "run",
                &[("ALONG_ROWS", along_rows)],
                vec![Resource::Params(level), map],
                layout,
            )
        })
    }
}
