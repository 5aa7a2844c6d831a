//! A job as a list of dispatches, built without a device. The list names its buffers and does not hold them.

mod aggregate;
mod cost;
mod disparity;
mod filter;
mod gating;
mod local;
mod mutual_information;
mod swapped;

pub use local::operations as local_operations;

use super::compiler::{Request, Source};
use super::layout::{Layout, Structure};
use super::limits::Limits;
use super::resource::Resource;
use super::shaders::{Shader, TILE, shaders};
use super::uniforms::DispatchParams;
use super::variant::{Variant, VariantOverrides};
use crate::error::GpuError;
use std::collections::HashMap;
use std::ops::Range;
use std::sync::Arc;
use stereopsis_frame::Side;
use stereopsis_frame::engine::EngineError;
use stereopsis_stereo::cost::Comparison;

/// Product of a step, which traces read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Product {
    /// Intermediate product without a counterpart in the reference.
    Inner,
    /// Cost volume, or exact sums of SAD.
    Costs,
    /// Aggregated costs, or exact sums of them.
    Aggregated,
    /// Sums that the winner compares.
    Sums,
    /// Map of an image in this buffer.
    Map(Side, usize),
    /// Joint histogram of mutual information.
    Histogram,
    /// Costs of mutual information.
    Table,
}

/// Dispatch of a kernel.
#[derive(Clone, Debug)]
pub struct Dispatch {
    /// Request of the kernel.
    pub request: Request,
    /// Targets of the kernel's bindings.
    pub resources: Vec<Resource>,
    /// Number of workgroups in each direction.
    pub groups: [u32; 3],
    /// Estimated work: about pixels times candidates.
    pub work: u64,
    /// Bytes that the kernel reads and writes: of volumes and maps every access, of codes and images the first one, because neighbours
    /// share them in caches.
    pub bytes: u64,
}

/// Dispatches with one product, in order.
#[derive(Clone, Debug)]
pub struct Step {
    /// Stage as it is timed: `gates`, `information`, `cost`, `aggregation`, `paths`, `winner`, `filters`.
    pub stage: &'static str,
    /// Name in a trace.
    pub name: &'static str,
    /// Dispatches in their order.
    pub dispatches: Vec<Dispatch>,
    /// Product of the step.
    pub product: Product,
    /// Level, 0 being the pair itself.
    pub level: usize,
}

/// Inputs of a dispatch graph; equal keys have equal graphs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GraphKey {
    /// Structure of each level, the pair's first.
    pub structures: Vec<Structure>,
    /// Variant of the pair's own level.
    pub variant: Variant,
    /// Work above which a dispatch is split, so that other work gets its turn on the queue.
    pub max_work: u64,
    /// Whether the sums are kept, for traces.
    pub keeps_sums: bool,
}

impl GraphKey {
    /// Creates the key with the measured variant, else the baseline; overrides apply to both.
    ///
    /// # Errors
    /// [`EngineError::Unsupported`] if the overridden variant cannot run this job.
    pub fn new(
        structures: Vec<Structure>,
        limits: &Limits,
        measured: Option<Variant>,
        overrides: &VariantOverrides,
        max_work: u64,
    ) -> Result<Self, EngineError> {
        let requirements = structures[0].requirements();
        let fits = |variant: &Variant| variant.unsupported_reason(limits, &requirements).is_none();
        let base = measured.filter(fits).unwrap_or_else(|| Variant::baseline(limits, &requirements));
        let variant = overrides.apply(base);
        if let Some(why) = variant.unsupported_reason(limits, &requirements) {
            return Err(GpuError::Variant { variant, why }.into());
        }
        Ok(Self { structures, variant, max_work, keeps_sums: false })
    }
}

/// Dispatches of a job, with the layouts of their buffers.
#[derive(Clone, Debug)]
pub struct DispatchGraph {
    /// Layout of each level, from the pair's own size on.
    pub layouts: Vec<Layout>,
    /// Uniforms of dispatches, which [`Resource::DispatchParams`] names.
    pub dispatch_params: Vec<DispatchParams>,
    /// Steps in the order in which they run.
    pub steps: Vec<Step>,
    /// Buffer of the finished left map, and then of the right one if it is requested.
    pub(crate) results: Vec<Resource>,
    /// Dispatches that pack the results for the host, one for each result; recorded only if a map has to come to the host.
    pub(crate) packing: Vec<Dispatch>,
}

shaders! {
    HOST_MAP: "host_map", TILE, ["pack"];
}

impl DispatchGraph {
    /// Builds all stages of a job.
    ///
    /// # Errors
    /// [`EngineError::TooLarge`] with the numbers.
    pub fn new(key: &GraphKey, limits: &Limits, adapter: &str) -> Result<Self, EngineError> {
        let layout = |structure: &Structure| {
            let requirements = structure.requirements();
            let fits = key.variant.unsupported_reason(limits, &requirements).is_none();
            let variant = if fits { key.variant } else { Variant::baseline(limits, &requirements) };
            Layout::new(structure.clone(), variant, limits, adapter)
        };
        let layouts: Vec<_> = key.structures.iter().map(layout).collect::<Result<_, _>>()?;
        let mirrored = layouts.iter().position(|layout| layout.structure.mirrored);
        let levels = &layouts[..mirrored.unwrap_or(layouts.len())];
        let gates = levels[0].structure.gates;
        let mut builder = GraphBuilder { mirrored, ..GraphBuilder::new(key.max_work) };
        // the stage of all coarser levels: they are matched either for gates or for mutual information
        let coarse_stage = Some(if gates.is_some() { "gates" } else { "information" });
        builder.coarse_stage = coarse_stage;
        for (level, layout) in levels.iter().enumerate().skip(1) {
            builder.halve(level, layout);
        }
        let mut coarser_map = None;
        let mut results = Vec::new();
        for (level, layout) in levels.iter().enumerate().rev() {
            builder.coarse_stage = coarse_stage.filter(|_| level > 0);
            if layout.structure.comparison == Comparison::LearnedTable {
                builder.mutual_information(level, layout, coarser_map);
            }
            builder.match_level(level, layout, key.keeps_sums && level == 0);
            if let (0, Some(mirrored)) = (level, mirrored) {
                builder.match_mirrored(mirrored, &layouts[mirrored]);
            }
            let [left, right] = builder.filters(level, layout);
            coarser_map = Some(left);
            results = if layout.structure.wants_right { vec![left, right] } else { vec![left] };
            if let Some(bounds) = level.checked_sub(1).and_then(|finer| levels[finer].structure.gates) {
                builder.bounds(level, layout, left, (level - 1, bounds));
            }
            if let (1, Some(mirrored), Some(bounds)) = (level, mirrored, gates) {
                builder.bounds(level, layout, right, (mirrored, bounds));
            }
        }
        let pack = |(number, &map)| {
            let resources = vec![Resource::Params(0), map, Resource::HostMap(number)];
            map_dispatch(&HOST_MAP, "pack", &[], resources, &layouts[0])
        };
        let packing = results.iter().enumerate().map(pack).collect();
        let GraphBuilder { dispatch_params, steps, .. } = builder;
        Ok(Self { layouts, dispatch_params, steps, results, packing })
    }

    /// Returns every pipeline that the graph needs.
    pub fn requests(&self) -> impl Iterator<Item = &Request> {
        self.dispatches().map(|dispatch| &dispatch.request)
    }

    /// Returns the bytes of the stored path costs of the level with most of them.
    pub fn path_bytes(&self) -> u64 {
        self.layouts.iter().map(|layout| u64::from(layout.volumes) * layout.volume_path_bytes()).max().unwrap_or(0)
    }

    /// Returns these bytes with one direction in memory at a time.
    pub(crate) fn min_path_bytes(&self) -> u64 {
        self.layouts.iter().map(Layout::volume_path_bytes).max().unwrap_or(0)
    }

    /// Returns columns and rows of the pair.
    pub fn size(&self) -> (usize, usize) {
        self.layouts[0].structure.size()
    }

    /// Returns every buffer to which dispatches are bound, with its bytes.
    pub(crate) fn buffer_sizes(&self) -> HashMap<Resource, u64> {
        let sized = self.resources().map(|resource| (resource, self.layouts[resource.level()].bytes(resource)));
        sized.filter(|(_, bytes)| *bytes > 0).map(|(r, bytes)| (r, bytes.max(16).next_multiple_of(16))).collect()
    }

    /// Returns the images that are halved or mirrored from the pair, with their sizes.
    pub(crate) fn made_pictures(&self) -> HashMap<Resource, (usize, usize)> {
        let made = self.resources().filter(|resource| matches!(resource, Resource::Picture(_, 1..)));
        made.map(|picture| (picture, self.layouts[picture.level()].structure.size())).collect()
    }

    fn dispatches(&self) -> impl Iterator<Item = &Dispatch> {
        self.steps.iter().flat_map(|step| &step.dispatches).chain(&self.packing)
    }

    fn resources(&self) -> impl Iterator<Item = Resource> {
        self.dispatches().flat_map(|dispatch| dispatch.resources.iter().copied())
    }

    /// Returns the bytes on the device.
    pub fn bytes(&self) -> u64 {
        let pictures: u64 = self.made_pictures().values().map(|(width, height)| 4 * (width * height) as u64).sum();
        self.buffer_sizes().values().sum::<u64>() + pictures
    }
}

/// Builder of a graph's steps; each stage has a file with its methods.
pub(super) struct GraphBuilder {
    pub(super) dispatch_params: Vec<DispatchParams>,
    pub(super) steps: Vec<Step>,
    pub(super) max_work: u64,
    /// Stage to which all steps of a coarser level belong.
    pub(super) coarse_stage: Option<&'static str>,
    /// Level of mirrored images, which shares the pair's buffers.
    mirrored: Option<usize>,
}

/// Maximum workgroups in one direction of a dispatch, on every device.
pub(super) const MAX_GROUPS: u32 = 65535;

impl GraphBuilder {
    pub(super) fn new(max_work: u64) -> Self {
        let dispatch_params = vec![DispatchParams::default()];
        Self { dispatch_params, steps: Vec::new(), max_work, coarse_stage: None, mirrored: None }
    }

    /// Adds costs, aggregation, paths and winners of a level.
    fn match_level(&mut self, level: usize, layout: &Layout, keeps_sums: bool) {
        self.black_borders(level, layout);
        self.reset_regions(level, layout);
        self.cost(level, layout);
        self.local_aggregation(level, layout);
        let batches = self.paths(level, layout);
        self.winner(level, layout, batches, keeps_sums);
    }

    pub(super) fn push(
        &mut self,
        stage: &'static str,
        name: &'static str,
        mut dispatches: Vec<Dispatch>,
        product: Product,
        level: usize,
    ) {
        for resource in dispatches.iter_mut().flat_map(|dispatch| &mut dispatch.resources) {
            if self.mirrored == Some(resource.level()) {
                *resource = resource.shared_with_pair();
            }
        }
        let stage = self.coarse_stage.unwrap_or(stage);
        self.steps.push(Step { stage, name, dispatches, product, level });
    }

    pub(super) fn dispatch_params(&mut self, dispatch: DispatchParams) -> Resource {
        self.dispatch_params.push(dispatch);
        Resource::DispatchParams(self.dispatch_params.len() - 1)
    }
}

/// Kernel over rows of a slab.
struct RowKernel {
    request: Request,
    resources: Vec<Resource>,
    slab: u32,
    strip: u32,
    columns: u32,
    depth: u32,
    work: u64,
    bytes: u64,
}

impl GraphBuilder {
    fn over_rows(&mut self, level: usize, layout: &Layout, kernel: &RowKernel, is_first: bool) -> Vec<Dispatch> {
        let RowKernel { request, resources, slab, strip, columns, depth, work, bytes } = kernel;
        let origin = slab * layout.slab_rows;
        let ranges = split(layout.rows(*slab), *work, self.max_work, *strip, MAX_GROUPS * strip);
        let dispatch = |Range { start: first, end }| {
            let is_first = u32::from(is_first);
            let params = self.dispatch_params(DispatchParams { first, end, origin, is_first, ..Default::default() });
            let count = u64::from(end - first);
            Dispatch {
                request: request.clone(),
                resources: [&[Resource::Params(level), params], &resources[..]].concat(),
                groups: [*columns, (end - first).div_ceil(*strip), *depth],
                work: work * count,
                bytes: bytes * count,
            }
        };
        ranges.map(dispatch).collect()
    }
}

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
    }
}

/// Splits a range into ranges of whole `multiple`s with about `max_work` each, none longer than `longest`.
pub(super) fn split(
    range: Range<u32>,
    unit_work: u64,
    max_work: u64,
    multiple: u32,
    longest: u32,
) -> impl Iterator<Item = Range<u32>> {
    let fitting = (max_work / unit_work.max(1)).clamp(1, u64::from(longest)) as u32;
    let step = (fitting / multiple * multiple).clamp(multiple, longest.max(multiple));
    let end = range.end;
    range.step_by(step as usize).map(move |first| first..(first + step).min(end))
}

impl Shader {
    /// Returns the request of a pipeline of this shader.
    pub fn request(&self, entry: &'static str, constants: Vec<(&'static str, u32)>) -> Request {
        let source = Arc::new(Source { stem: self.stem, text: self.source() });
        Request { source, entry, constants }
    }
}

/// Returns the shaders of all stages that exist in one form.
pub fn shaders() -> Vec<&'static Shader> {
    let stages =
        [SHADERS, cost::SHADERS, mutual_information::SHADERS, local::SHADERS, disparity::SHADERS, swapped::SHADERS];
    [&stages.concat()[..], filter::SHADERS, gating::SHADERS].concat()
}
