//! From pictures to matching costs.

use super::{Cook, Dispatch, MOST_GROUPS, Product, Request, Resource, split};
use crate::engine::gpu::layout::Layout;
use crate::engine::gpu::operations;
use crate::engine::gpu::shaders::{self, Shader};
use crate::engine::gpu::uniforms::Part;
use crate::engine::gpu::variant::CostsFrom;
use crate::stereo::cost::census::Shape;
use crate::stereo::cost::{Channel, Comparison, Scalar};
use std::sync::Arc;

impl Cook {
    /// Codes of both pictures, and the cost volume.
    pub(super) fn cost(&mut self, level: usize, layout: &Layout) {
        let structure = &layout.structure;
        let params = Resource::Params(level);
        let (left, right) = (Resource::LeftPicture(level), Resource::RightPicture(level));
        let pixels = structure.pixels();
        let volume = pixels * u64::from(layout.words) * 4;
        let is_volume = layout.kernel.variant.costs == CostsFrom::Volume;
        let comparison = structure.cost.comparison();
        let (shader, constants): (&'static Shader, Vec<(&'static str, u32)>) = match comparison {
            Comparison::Hamming(shape) | Comparison::Tables { census: shape, .. } => {
                let Shape { width, height, symmetric } = shape;
                let radii = [("RADIUS_X", (width / 2) as u32), ("RADIUS_Y", (height / 2) as u32)];
                (&shaders::CENSUS, [&radii[..], &[("SYMMETRIC", u32::from(symmetric))]].concat())
            }
            Comparison::Difference(Scalar::Rank) => {
                let radius = structure.rank_window / 2;
                (&shaders::RANK, vec![("RADIUS_X", radius), ("RADIUS_Y", radius)])
            }
            Comparison::Difference(Scalar::Brightness) | Comparison::LearnedTable => (&shaders::ABSOLUTE, Vec::new()),
            Comparison::WindowedDifference => (&shaders::SAD, vec![("RADIUS", structure.sad_window / 2)]),
        };
        let mut dispatches = Vec::new();
        let is_sad = comparison == Comparison::WindowedDifference;
        if !is_sad {
            let (width, height) = (structure.width as u32, structure.height as u32);
            let over_codes = |shader: &'static Shader, entry, constants, operations| Dispatch {
                request: shader.request(entry, constants),
                resources: vec![params, left, right, Resource::Codes(level)],
                groups: [width.div_ceil(shader.tile.0), height.div_ceil(shader.tile.1), 2],
                work: 40 * pixels,
                bytes: 2 * pixels + layout.code_bytes(),
                operations,
            };
            let operations = operations::transform(structure) * 2 * pixels;
            dispatches.push(over_codes(shader, "transform", constants.clone(), operations));
            let beside_census = match comparison {
                Comparison::Tables { channel: Channel::Brightness, .. } => {
                    Some((&shaders::AD_CENSUS, "add_brightness", operations::BRIGHTNESS))
                }
                Comparison::Tables { channel: Channel::Gradients, .. } => {
                    Some((&shaders::GRADIENT_CENSUS, "add_gradients", operations::GRADIENTS))
                }
                _ => None,
            };
            if let Some((shader, entry, operations)) = beside_census {
                let added = over_codes(shader, entry, Vec::new(), operations * 2 * pixels);
                dispatches.push(Dispatch { bytes: added.bytes + layout.code_bytes(), ..added });
            }
        }
        let (target, request, strip, each): (fn(usize, u32) -> Resource, _, _, _) = match comparison {
            Comparison::WindowedDifference if structure.block_matching() => {
                (Resource::Exact, shader.request("exact", constants), shaders::STRIP, 4)
            }
            Comparison::WindowedDifference => (Resource::Costs, shader.request("mean", constants), shaders::STRIP, 1),
            _ => {
                let source = Arc::new(layout.kernel.compare());
                (Resource::Costs, Request { source, entry: "compare", constants: Vec::new() }, 1, 1)
            }
        };
        let slabs = if is_volume || is_sad { layout.slabs() } else { 0 };
        for slab in 0..slabs {
            let window = if is_sad { 1 + u64::from(structure.sad_window) / 4 } else { 1 };
            let row_work = volume / structure.height as u64 * window;
            for rows in split(layout.rows(slab), row_work, self.most_work, strip, MOST_GROUPS * strip) {
                let count = rows.end - rows.start;
                let (first, end, origin) = (rows.start, rows.end, slab * layout.slab_rows);
                let part = self.part(Part { first, end, origin, ..Part::default() });
                let (inputs, columns, depth) = if is_sad {
                    let own_columns = shaders::SAD_COLUMNS - (structure.sad_window - 1);
                    let columns = (structure.width as u32).div_ceil(own_columns);
                    (vec![left, right], columns, layout.words.div_ceil(shaders::SAD_WORDS))
                } else {
                    let lanes = layout.words / layout.kernel.variant.words;
                    (Self::codes(level, layout), (structure.width as u32 * lanes).div_ceil(64), 1)
                };
                dispatches.push(Dispatch {
                    request: request.clone(),
                    resources: [&[params, part][..], &inputs, &[target(level, slab)]].concat(),
                    groups: [columns, count.div_ceil(strip), depth],
                    work: row_work * u64::from(count),
                    bytes: (layout.code_bytes() + volume * each) * u64::from(count) / structure.height as u64,
                    operations: operations::cost(layout) * structure.width as u64 * u64::from(count),
                });
            }
        }
        let product = if is_volume || is_sad { Product::Costs } else { Product::Inner };
        self.push("cost", "cost", dispatches, product, level);
    }
}
