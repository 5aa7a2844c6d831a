//! The algorithm as a list of dispatches, in the order of [`crate::stereo::match_pair`].

use super::pipelines::{Dispatch, Pipelines};
use super::plan::{Needs, Plan};
use super::shaders;
use super::slot::Slot;
use crate::engine::EngineError;
use crate::stereo::aggregate::{Direction, directions};
use crate::stereo::cost::census::Shape;
use crate::stereo::{CostKind, Fill, Median, StereoParams};

/// What a step leaves behind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Product {
    /// The cost volume.
    Costs,
    /// What the winner compares.
    Sums,
    /// `Plan::left` of this index.
    Left(usize),
    /// `Plan::right` of this index.
    Right(usize),
}

/// Dispatches with one product.
pub(super) struct Step {
    /// The stage as it is timed: `cost`, `paths`, `winner`, `filters`.
    pub(super) stage: &'static str,
    /// What it is called in a trace.
    pub(super) name: &'static str,
    pub(super) dispatches: Vec<Dispatch>,
    pub(super) product: Product,
}

/// Makes the steps of one job.
pub(super) struct Stages<'a> {
    pub(super) pipelines: &'a mut Pipelines,
    pub(super) plan: &'a Plan,
    pub(super) slot: &'a Slot,
    pub(super) params: &'a StereoParams,
}

impl Stages<'_> {
    /// Every step; the last one's product is the result.
    pub(super) fn all(mut self) -> Result<Vec<Step>, EngineError> {
        let mut steps = vec![self.cost()?];
        for (index, direction) in directions(self.params.paths, self.params.start_angle_deg).into_iter().enumerate() {
            steps.push(self.path(index, direction)?);
        }
        self.winner(&mut steps)?;
        self.filters(&mut steps)?;
        Ok(steps)
    }

    fn cost(&mut self) -> Result<Step, EngineError> {
        let (tiles, volume) = (self.tile_groups(), self.volume_groups());
        let Self { pipelines, plan, slot, params } = self;
        let (codes, costs) = (plan.codes.as_entire_binding(), plan.costs.as_entire_binding());
        let inputs = [slot.params.as_entire_binding(), texture(&slot.left), texture(&slot.right)];
        let both_eyes = [tiles[0], tiles[1], 2];
        let mut transform_and_compare = |shader: &'static shaders::Shader, constants: &[(&'static str, u32)]| {
            let resources = [&inputs[..], &[codes.clone(), costs.clone()]].concat();
            Ok(vec![
                pipelines.dispatch(shader, "transform", constants, &resources, both_eyes)?,
                pipelines.dispatch(shader, "compare", constants, &resources, volume)?,
            ])
        };
        let dispatches = match params.cost {
            CostKind::Census5x5 | CostKind::Census7x7 | CostKind::Census9x7 | CostKind::Census9x7Symmetric => {
                let Shape { width, height, symmetric } = Shape::of(params.cost);
                transform_and_compare(
                    &shaders::CENSUS,
                    &[
                        ("RADIUS_X", (width / 2) as u32),
                        ("RADIUS_Y", (height / 2) as u32),
                        ("SYMMETRIC", u32::from(symmetric)),
                    ],
                )?
            }
            CostKind::Rank => transform_and_compare(&shaders::RANK, &[("RADIUS", params.rank_window / 2)])?,
            CostKind::Sad => {
                let exact = plan.needs.exact_sums();
                let target = if exact { plan.sums().as_entire_binding() } else { costs };
                let resources = [&inputs[..], &[target]].concat();
                let entry = if exact { "exact" } else { "mean" };
                let radius = params.sad_window / 2;
                let strips = sad_groups(&plan.needs, radius);
                vec![pipelines.dispatch(&shaders::SAD, entry, &[("RADIUS", radius)], &resources, strips)?]
            }
        };
        let product = if params.paths == 0 { Product::Sums } else { Product::Costs };
        Ok(Step { stage: "cost", name: "cost", dispatches, product })
    }

    fn path(&mut self, index: usize, direction: Direction) -> Result<Step, EngineError> {
        let Self { pipelines, plan, slot, .. } = self;
        let lines = direction.line_count(plan.needs.width, plan.needs.height) as u32;
        // One lane owns four candidates, and there are at most 1024.
        let lanes = plan.needs.words().next_power_of_two() as u32;
        let resources = [
            slot.params.as_entire_binding(),
            texture(&slot.left),
            slot.direction(index),
            plan.costs.as_entire_binding(),
            plan.sums().as_entire_binding(),
        ];
        let dispatch = pipelines.dispatch(&shaders::PATHS, "follow", &[("LANES", lanes)], &resources, [lines, 1, 1])?;
        Ok(Step { stage: "paths", name: "path", dispatches: vec![dispatch], product: Product::Sums })
    }

    fn winner(&mut self, steps: &mut Vec<Step>) -> Result<(), EngineError> {
        let groups = self.pixel_groups();
        let Self { pipelines, plan, slot, params } = self;
        let constants = [("SUM_BITS", plan.needs.sum_bits())];
        let mut choose = |shader, name, map: &wgpu::Buffer, product| {
            let resources = [slot.params.as_entire_binding(), plan.sums().as_entire_binding(), map.as_entire_binding()];
            let dispatches = vec![pipelines.dispatch(shader, "choose", &constants, &resources, groups)?];
            steps.push(Step { stage: "winner", name, dispatches, product });
            Ok(())
        };
        if params.left_right.is_some() {
            choose(&shaders::RIGHT, "right map", &plan.right[0], Product::Right(0))?;
        }
        choose(&shaders::WINNER, "left map", &plan.left[0], Product::Left(0))
    }

    fn filters(&mut self, steps: &mut Vec<Step>) -> Result<(), EngineError> {
        let (pixels, tiles) = (self.pixel_groups(), self.tile_groups());
        let (plan, slot, params) = (self.plan, self.slot, self.params);
        let rows = [plan.needs.height as u32, 1, 1];
        let mut filter = |shader: &'static shaders::Shader, entry, constants: &[_], maps: &[&wgpu::Buffer], groups| {
            let mut resources = vec![slot.params.as_entire_binding()];
            resources.extend(maps.iter().map(|map| map.as_entire_binding()));
            self.pipelines.dispatch(shader, entry, constants, &resources, groups)
        };
        let mut step = |name, dispatches, product| steps.push(Step { stage: "filters", name, dispatches, product });
        let radius = [("RADIUS", params.median.radius() as u32)];
        let mut current = 0;
        let smooth = params.median != Median::Off;
        if smooth {
            let dispatch = filter(&shaders::MEDIAN, "smooth_map", &radius, &[&plan.left[0], &plan.left[1]], tiles)?;
            step("median", vec![dispatch], Product::Left(1));
            current = 1;
        }
        if params.left_right.is_some() {
            if smooth {
                let maps = [&plan.right[0], &plan.right[1]];
                let dispatch = filter(&shaders::MEDIAN, "smooth_map", &radius, &maps, tiles)?;
                step("right median", vec![dispatch], Product::Right(1));
            }
            let maps = [&plan.left[current], &plan.right[usize::from(smooth)]];
            let dispatch = filter(&shaders::CONSISTENCY, "check", &[], &maps, pixels)?;
            step("left-right", vec![dispatch], Product::Left(current));
        }
        if params.speckle_size > 0 {
            let maps = [&plan.left[current], &plan.parents, &plan.sizes];
            let dispatch = |entry: &&'static str| filter(&shaders::SPECKLE, entry, &[], &maps, tiles);
            let dispatches: Result<_, _> = shaders::SPECKLE.entries.iter().map(dispatch).collect();
            step("speckle", dispatches?, Product::Left(current));
        }
        if params.fill == Fill::Background {
            let here = &plan.left[current];
            // The sizes of regions are needed no more: their place has room for a word for each row.
            let maps = [here, &plan.sizes];
            let dispatch = |entry: &&'static str| filter(&shaders::FILL, entry, &[], &maps, rows);
            let dispatches: Result<_, _> = shaders::FILL.entries.iter().map(dispatch).collect();
            step("fill", dispatches?, Product::Left(current));
            if smooth {
                let maps = [here, &plan.left[1 - current]];
                let dispatch = filter(&shaders::MEDIAN, "smooth_map", &radius, &maps, tiles)?;
                step("median after fill", vec![dispatch], Product::Left(1 - current));
            }
        }
        Ok(())
    }

    /// Groups of 8x8 that cover the picture.
    fn pixel_groups(&self) -> [u32; 3] {
        let needs = &self.plan.needs;
        [needs.width.div_ceil(8) as u32, needs.height.div_ceil(8) as u32, 1]
    }

    /// Groups of 32x8 that cover the picture.
    fn tile_groups(&self) -> [u32; 3] {
        let needs = &self.plan.needs;
        [needs.width.div_ceil(32) as u32, needs.height.div_ceil(8) as u32, 1]
    }

    /// Groups of 256 words that cover each row of the cost volume.
    fn volume_groups(&self) -> [u32; 3] {
        let needs = &self.plan.needs;
        [(needs.width * needs.words()).div_ceil(256) as u32, needs.height as u32, 1]
    }
}

/// Groups of 64 columns, less those that only lend their sums to windows, 32 rows and 16 candidates: see `cost/sad.wgsl`.
fn sad_groups(needs: &Needs, radius: u32) -> [u32; 3] {
    let columns = 64 - 2 * radius as usize;
    [needs.width.div_ceil(columns), needs.height.div_ceil(32), needs.words().div_ceil(4)].map(|n| n as u32)
}

fn texture(view: &wgpu::TextureView) -> wgpu::BindingResource<'_> {
    wgpu::BindingResource::TextureView(view)
}
