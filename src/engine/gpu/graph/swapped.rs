//! The right picture's map from matching once more, as [`crate::stereo::swapped_map`] says it.

use super::{Dispatch, GraphBuilder, Product, Resource, map_dispatch};
use crate::engine::gpu::layout::Layout;
use crate::engine::gpu::shaders;

impl GraphBuilder {
    /// Matches the mirrored pictures, each in the other's place, as level `number`, and makes the right map of the pair from
    /// what was found. The volumes are those of the pair, whose left map has been found already.
    pub(super) fn swapped(&mut self, number: usize, layout: &Layout) {
        let resources = vec![
            Resource::Params(0),
            Resource::LeftPicture(0),
            Resource::RightPicture(0),
            Resource::LeftPicture(number),
            Resource::RightPicture(number),
            Resource::LeftMap(number, 0),
            Resource::RightMap(0, 0),
        ];
        let pixels = layout.structure.pixels();
        let mut pictures = map_dispatch(&shaders::SWAPPED, "mirror_pictures", &[], resources.clone(), layout);
        pictures.groups[2] = 2;
        let pictures = Dispatch { bytes: 2 * pixels * (1 + 4), operations: 2 * pictures.operations, ..pictures };
        self.push("cost", "mirror", vec![pictures], Product::Inner, number);
        self.cost(number, layout);
        self.aggregate(number, layout);
        self.paths_and_winner(number, layout, false);
        let map = map_dispatch(&shaders::SWAPPED, "mirror_map", &[], resources, layout);
        let map = Dispatch { bytes: 2 * layout.map_bytes(), ..map };
        self.push("winner", "right map", vec![map], Product::Right(0), 0);
    }
}
