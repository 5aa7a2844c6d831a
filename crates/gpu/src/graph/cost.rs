//! Dispatches from images to matching costs.

use super::aggregate::codes;
use super::{Dispatch, GraphBuilder, Product, Request, RowKernel, map_dispatch};
use crate::layout::{Layout, code_words};
use crate::resource::Resource;
use crate::shaders::{PIXELS, SAD_COLUMNS, SAD_WORDS, STRIP, Shader, TILE, shaders};
use crate::variant::CostSource;
use std::sync::Arc;
use stereopsis_stereo::cost::{Channel, Comparison, Scalar, Shape};

shaders! {
    CENSUS: "cost/census" CODE_WORDS = "1", TILE, ["transform"];
    LONG_CENSUS: "cost/census" CODE_WORDS = "2", TILE, ["transform"];
    RANK: "cost/rank", TILE, ["transform"];
    SAD: "cost/sad", TILE, ["mean", "exact"];
    ABSOLUTE: "cost/absolute", PIXELS, ["transform"];
    AD_CENSUS: "cost/ad_census", PIXELS, ["add_brightness"];
    GRADIENT_CENSUS: "cost/gradient_census", PIXELS, ["add_gradients"];
}

impl GraphBuilder {
    /// Adds the codes of both images and the cost volume; for SAD the volume alone.
    pub(super) fn cost(&mut self, level: usize, layout: &Layout) {
        if layout.structure.is_windowed() {
            return self.sad(level, layout);
        }
        let mut dispatches = transforms(level, layout);
        let is_volume = layout.kernel.variant.costs == CostSource::Volume;
        if is_volume {
            let structure = &layout.structure;
            let request =
                Request { source: Arc::new(layout.kernel.compare()), entry: "compare", constants: Vec::new() };
            let lanes = layout.words / layout.kernel.variant.words;
            let row = structure.width as u64 * u64::from(layout.words) * 4;
            for slab in 0..layout.slabs() {
                let kernel = RowKernel {
                    request: request.clone(),
                    resources: [&codes(level, layout)[..], &[Resource::Costs(level, slab)]].concat(),
                    slab,
                    strip: 1,
                    columns: (structure.width as u32 * lanes).div_ceil(64),
                    depth: 1,
                    work: row,
                    bytes: layout.code_bytes() / structure.height as u64 + row,
                };
                dispatches.extend(self.over_rows(level, layout, &kernel, false));
            }
        }
        self.push("cost", "cost", dispatches, if is_volume { Product::Costs } else { Product::Inner }, level);
    }

    fn sad(&mut self, level: usize, layout: &Layout) {
        let structure = &layout.structure;
        let is_exact = structure.block_matching();
        let (entry, target): (_, fn(usize, u32) -> Resource) =
            if is_exact { ("exact", Resource::Exact) } else { ("mean", Resource::Costs) };
        let row = structure.width as u64 * u64::from(layout.words) * 4;
        let own_columns = SAD_COLUMNS - (structure.sad_window - 1);
        let mut dispatches = Vec::new();
        for slab in 0..layout.slabs() {
            let kernel = RowKernel {
                request: SAD.request(entry, vec![("RADIUS", structure.sad_window / 2)]),
                resources: [&Resource::pictures(level)[..], &[target(level, slab)]].concat(),
                slab,
                strip: STRIP,
                columns: (structure.width as u32).div_ceil(own_columns),
                depth: layout.words.div_ceil(SAD_WORDS),
                work: row * (1 + u64::from(structure.sad_window) / 4),
                bytes: row * if is_exact { 4 } else { 1 },
            };
            dispatches.extend(self.over_rows(level, layout, &kernel, false));
        }
        self.push("cost", "cost", dispatches, Product::Costs, level);
    }
}

fn transforms(level: usize, layout: &Layout) -> Vec<Dispatch> {
    let structure = &layout.structure;
    let over_codes = |shader: &'static Shader, constants: &[_], bytes| {
        let resources =
            [&[Resource::Params(level)], &Resource::pictures(level)[..], &[Resource::Codes(level)]].concat();
        let one = map_dispatch(shader, shader.entries[0], constants, resources, layout);
        let [x, y, _] = one.groups;
        Dispatch { groups: [x, y, 2], work: 2 * one.work, bytes: 2 * structure.pixels() + bytes, ..one }
    };
    let census = |Shape { width, height, symmetric }| {
        let constants =
            [("RADIUS_X", (width / 2) as u32), ("RADIUS_Y", (height / 2) as u32), ("SYMMETRIC", u32::from(symmetric))];
        let shader = if code_words(structure.comparison) == 1 { &CENSUS } else { &LONG_CENSUS };
        over_codes(shader, &constants, layout.code_bytes())
    };
    match structure.comparison {
        Comparison::Hamming(shape) => vec![census(shape)],
        Comparison::Tables { census: shape, channel, .. } => {
            let shader = match channel {
                Channel::Brightness => &AD_CENSUS,
                Channel::Gradients => &GRADIENT_CENSUS,
            };
            vec![census(shape), over_codes(shader, &[], 2 * layout.code_bytes())]
        }
        Comparison::Difference(Scalar::Rank) => {
            let radius = structure.rank_window / 2;
            vec![over_codes(&RANK, &[("RADIUS_X", radius), ("RADIUS_Y", radius)], layout.code_bytes())]
        }
        Comparison::Difference(Scalar::Brightness) | Comparison::LearnedTable => {
            vec![over_codes(&ABSOLUTE, &[], layout.code_bytes())]
        }
        Comparison::WindowedDifference => Vec::new(),
    }
}
