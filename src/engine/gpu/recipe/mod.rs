//! A job as a list of dispatches that names its buffers and does not hold them: made without a device, for any job.

mod cost;
mod filters;
mod gates;
mod information;
mod local;
mod paths;
mod swapped;
mod winner;

use super::compiler::{Request, Source};
use super::layout::{Layout, Limits, Structure};
use super::operations;
use super::shaders::Shader;
use super::tables;
use super::uniforms::Part;
use super::variant::{Forced, VARIABLE, Variant};
use crate::engine::EngineError;
use std::ops::Range;
use std::sync::Arc;

/// What a binding is given; the first number is the level, 0 being the pair itself, then the coarser ones, then the pair with
/// its pictures swapped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Resource {
    /// The uniform with the level's parameters.
    Params(usize),
    /// Number in [`Recipe::parts`].
    Part(usize),
    /// Left brightness.
    LeftPicture(usize),
    /// Right brightness.
    RightPicture(usize),
    /// Census or rank codes of both pictures.
    Codes(usize),
    /// A slab of the cost volume.
    Costs(usize, u32),
    /// A slab of aggregated costs.
    Aggregated(usize, u32),
    /// The arms of the crosses of both pictures.
    Arms(usize),
    /// A slab of sums over horizontal arms.
    ArmSums(usize, u32),
    /// Of a volume of path costs, its number and a slab.
    Path(usize, u32, u32),
    /// A slab of the sums of earlier batches.
    Sums(usize, u32),
    /// A slab of the exact sums.
    Exact(usize, u32),
    /// All sums, for tests.
    Kept,
    /// One of two places for the left map.
    LeftMap(usize, usize),
    /// One of two places for the right map.
    RightMap(usize, usize),
    /// The best of each right pixel so far.
    RightKeys(usize),
    /// First and last candidate of each four pixels.
    Gates(usize),
    /// To what each pixel of a region points.
    Parents,
    /// Pixels of each region.
    Sizes,
    /// The finished left map of the pair before.
    Last,
    /// Running means over the pairs before, and when they were measured.
    Smoothed,
    /// A buffer of mutual information, which all levels use one after the other.
    Information(Information),
    /// Costs of each difference and each Hamming distance of AD-census.
    AdCensusTables,
    /// What differences and Hamming distances cost in gradient-census.
    GradientCensusTables,
    /// Logarithms of mutual information.
    LogTable,
}

/// The buffers of mutual information.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Information {
    /// How often levels of brightness meet.
    Counts,
    /// Logarithms of the smoothed counts.
    Logs,
    /// Sums of rows and columns, and what becomes of them.
    Lines,
    /// The smallest and the largest value before they are scaled.
    Extremes,
    /// The costs.
    Table,
}

/// What a step leaves behind, for tests.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Product {
    /// Nothing that is of interest.
    Inner,
    /// The cost volume, or exact sums of SAD.
    Costs,
    /// Aggregated costs, or exact sums of them.
    Aggregated,
    /// What the winner compares.
    Sums,
    /// The left map in this place.
    Left(usize),
    /// The right map in this place.
    Right(usize),
    /// Counts of mutual information.
    Histogram,
    /// Costs of mutual information.
    Table,
}

/// One dispatch.
#[derive(Clone, Debug)]
pub struct Dispatch {
    /// The kernel.
    pub request: Request,
    /// What its bindings are given.
    pub resources: Vec<Resource>,
    /// Workgroups.
    pub groups: [u32; 3],
    /// About how many pixels times candidates it visits: what its time is estimated from.
    pub work: u64,
    /// Bytes that it reads and writes: of volumes and maps as often as a kernel asks for them, of codes and pictures once,
    /// because neighbours share them.
    pub bytes: u64,
    /// Integer operations that it takes, counted as [`operations`] says.
    pub operations: u64,
}

/// Dispatches with one product that need not wait for each other, or whose order their buffers tell.
#[derive(Clone, Debug)]
pub struct Step {
    /// The stage as it is timed: `gates`, `information`, `cost`, `aggregation`, `paths`, `winner`, `filters`.
    pub stage: &'static str,
    /// What it is called in a trace.
    pub name: &'static str,
    /// In order.
    pub dispatches: Vec<Dispatch>,
    /// What is there afterwards.
    pub product: Product,
    /// The level, 0 being the pair itself.
    pub level: usize,
}

/// What decides a recipe.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Wanted {
    /// Each level's structure, the pair's first.
    pub structures: Vec<Structure>,
    /// The variant of the pair's own level.
    pub variant: Variant,
    /// Work after which a dispatch is split, so that others on the queue get in between.
    pub most_work: u64,
    /// For tests: the sums are kept.
    pub keeps_sums: bool,
}

/// A job's dispatches and what they need.
#[derive(Clone, Debug)]
pub struct Recipe {
    /// Of each level, the pair first.
    pub layouts: Vec<Layout>,
    /// What the dispatches do of their stages.
    pub parts: Vec<Part>,
    /// In the order in which they run.
    pub steps: Vec<Step>,
}

impl Wanted {
    /// With the variant that was measured, else a sound one; what is forced wins over both.
    ///
    /// # Errors
    /// [`EngineError::Unsupported`] if a forced variant cannot do this job.
    pub fn new(
        structures: Vec<Structure>,
        limits: &Limits,
        (measured, forced): (Option<Variant>, Forced),
        most_work: u64,
    ) -> Result<Self, EngineError> {
        let demands = structures[0].demands();
        let fits = |variant: &Variant| variant.refusal(&limits.abilities, &demands).is_none();
        let base = measured.filter(fits).unwrap_or_else(|| Variant::sound(&limits.abilities, &demands));
        let variant = forced.apply(base);
        if let Some(why) = variant.refusal(&limits.abilities, &demands) {
            let text = format!(
                "the GPU variant {variant} cannot do this: {why}; force other parts, or leave {VARIABLE} unset"
            );
            return Err(EngineError::Unsupported(text));
        }
        Ok(Self { structures, variant, most_work, keeps_sums: false })
    }
}

impl Recipe {
    /// The dispatches of a job.
    ///
    /// # Errors
    /// [`EngineError::TooLarge`] with the numbers.
    pub fn new(wanted: &Wanted, limits: &Limits, adapter: &str) -> Result<Self, EngineError> {
        let mut layouts = Vec::new();
        for structure in &wanted.structures {
            let demands = structure.demands();
            let fits = wanted.variant.refusal(&limits.abilities, &demands).is_none();
            let variant = if fits { wanted.variant } else { Variant::sound(&limits.abilities, &demands) };
            layouts.push(Layout::new(structure.clone(), variant, limits, adapter)?);
        }
        let mut cook =
            Cook { parts: vec![Part::default()], steps: Vec::new(), most_work: wanted.most_work, coarse_stage: None };
        // coarser levels are there for gates, or else to learn what costs are
        let coarse_stage = if wanted.structures[0].gated { "gates" } else { "information" };
        cook.coarse_stage = Some(coarse_stage);
        let swapped = layouts.iter().position(|layout| layout.structure.mirrored);
        let levels = &layouts[..swapped.unwrap_or(layouts.len())];
        for (level, layout) in levels.iter().enumerate().skip(1) {
            cook.halve(level, layout);
        }
        for (level, layout) in levels.iter().enumerate().rev() {
            cook.coarse_stage = Some(coarse_stage).filter(|_| level > 0);
            if layout.structure.cost.is_learned() {
                cook.information(level, layout, levels.get(level + 1));
            }
            cook.cost(level, layout);
            cook.aggregate(level, layout);
            cook.paths_and_winner(level, layout, wanted.keeps_sums && level == 0);
            if let (0, Some(number)) = (level, swapped) {
                cook.swapped(number, &layouts[number]);
            }
            let [left, right] = cook.filters(level, layout);
            if level > 0 && levels[level - 1].structure.gated {
                cook.bounds(level, layout, left, level - 1);
            }
            if let (1, Some(number), true) = (level, swapped, levels[0].structure.gated) {
                cook.bounds(level, layout, right, number);
            }
        }
        let Cook { parts, steps, .. } = cook;
        Ok(Self { layouts, parts, steps })
    }

    /// Every pipeline that it needs.
    pub fn requests(&self) -> impl Iterator<Item = &Request> {
        self.steps.iter().flat_map(|step| step.dispatches.iter().map(|dispatch| &dispatch.request))
    }

    /// Bytes of the stored path costs of the level that has most of them.
    pub fn path_bytes(&self) -> u64 {
        self.layouts.iter().map(|layout| u64::from(layout.volumes) * layout.volume_path_bytes()).max().unwrap_or(0)
    }

    /// The same if directions took turns one by one.
    pub fn least_path_bytes(&self) -> u64 {
        self.layouts.iter().map(Layout::volume_path_bytes).max().unwrap_or(0)
    }

    /// Bytes on the device.
    pub fn bytes(&self) -> u64 {
        let past: u64 = self.layouts.first().map_or(0, |layout| layout.past_bytes().iter().sum());
        self.layouts.iter().map(Layout::total_bytes).sum::<u64>() + past + tables::bytes(self.needs_information())
    }

    /// Whether there is a table of mutual information.
    pub(super) fn needs_information(&self) -> bool {
        self.layouts.iter().any(|layout| layout.structure.cost.is_learned())
    }
}

/// A recipe in the making.
pub(super) struct Cook {
    pub(super) parts: Vec<Part>,
    pub(super) steps: Vec<Step>,
    pub(super) most_work: u64,
    /// The stage to which all steps of a coarser level belong.
    pub(super) coarse_stage: Option<&'static str>,
}

/// Most workgroups in one direction of a dispatch, on every device.
pub(super) const MOST_GROUPS: u32 = 65535;

impl Cook {
    pub(super) fn push(
        &mut self,
        stage: &'static str,
        name: &'static str,
        dispatches: Vec<Dispatch>,
        product: Product,
        level: usize,
    ) {
        let stage = self.coarse_stage.unwrap_or(stage);
        self.steps.push(Step { stage, name, dispatches, product, level });
    }

    pub(super) fn part(&mut self, part: Part) -> Resource {
        self.parts.push(part);
        Resource::Part(self.parts.len() - 1)
    }
}

/// A dispatch over the pixels of a map.
fn map_dispatch(
    shader: &'static Shader,
    entry: &'static str,
    constants: &[(&'static str, u32)],
    resources: Vec<Resource>,
    layout: &Layout,
) -> Dispatch {
    let Structure { width, height, .. } = layout.structure;
    let maps = resources.len() as u64 - 1;
    let tile = shader.tile;
    Dispatch {
        request: shader.request(entry, constants.to_vec()),
        resources,
        groups: [width.div_ceil(tile.0 as usize) as u32, height.div_ceil(tile.1 as usize) as u32, 1],
        work: 20 * layout.structure.pixels(),
        bytes: maps * layout.map_bytes(),
        operations: operations::of_map(shader.stem, &layout.structure) * layout.structure.pixels(),
    }
}

/// Ranges of whole `multiple`s with about `most_work` at most, none longer than `most`.
pub(super) fn split(
    range: Range<u32>,
    unit_work: u64,
    most_work: u64,
    multiple: u32,
    most: u32,
) -> impl Iterator<Item = Range<u32>> {
    let fitting = (most_work / unit_work.max(1)).clamp(1, u64::from(most)) as u32;
    let step = (fitting / multiple * multiple).clamp(multiple, most.max(multiple));
    let end = range.end;
    range.step_by(step as usize).map(move |first| first..(first + step).min(end))
}

impl Shader {
    /// A pipeline of this shader.
    pub fn request(&self, entry: &'static str, constants: Vec<(&'static str, u32)>) -> Request {
        let bindings = self.bindings.iter().map(|&(name, binding)| (name.to_owned(), binding)).collect();
        let source = Source { stem: self.stem, text: self.source.to_owned(), bindings };
        Request { source: Arc::new(source), entry, constants }
    }
}
