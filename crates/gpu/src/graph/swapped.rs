//! Dispatches of the right image's map by matching with the images swapped ([`stereopsis_stereo::swapped_map`]).

use super::{Dispatch, GraphBuilder, Product, map_dispatch};
use crate::layout::Layout;
use crate::resource::Resource;
use crate::shaders::{TILE, shaders};
use stereopsis_frame::Side;

shaders! {
    SWAPPED: "disparity/swapped", TILE, ["mirror_pictures", "mirror_map"];
}

impl GraphBuilder {
    /// Matches the mirrored, swapped images as level `mirrored`, and mirrors the result into the pair's right map. The volumes are those of
    /// the pair, whose left map is complete.
    pub(super) fn match_mirrored(&mut self, mirrored: usize, layout: &Layout) {
        let pictures = [Resource::pictures(0), Resource::pictures(mirrored)].concat();
        let maps = [Resource::Map(Side::Left, mirrored, 0), Resource::Map(Side::Right, 0, 0)];
        let resources = [&[Resource::Params(0)], &pictures[..], &maps].concat();
        let mut pictures = map_dispatch(&SWAPPED, "mirror_pictures", &[], resources.clone(), layout);
        pictures.groups[2] = 2;
        let pictures = Dispatch { bytes: 2 * layout.structure.pixels() * (1 + 4), ..pictures };
        self.push("cost", "mirror", vec![pictures], Product::Inner, mirrored);
        self.match_level(mirrored, layout, false);
        let map = map_dispatch(&SWAPPED, "mirror_map", &[], resources, layout);
        let map = Dispatch { bytes: 2 * layout.map_bytes(), ..map };
        self.push("winner", "right map", vec![map], Product::Map(Side::Right, 0), 0);
    }
}
