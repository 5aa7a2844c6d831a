//! A job as a list of dispatches that names its buffers and does not hold them: made without a device, for any job.

use super::compiler::{Request, Source};
use super::kernels::Winner;
use super::layout::{Layout, Limits, Structure};
use super::shaders::{self, Shader};
use super::uniforms::Part;
use super::variant::{CostsFrom, Forced, Variant};
use crate::engine::EngineError;
use crate::stereo::cost::census::Shape;
use crate::stereo::{CostKind, Fill, Median};
use std::ops::Range;
use std::sync::Arc;

/// What a binding is given; the first number is the level, 0 being the pair itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Resource {
    Params(usize),
    /// Number in [`Recipe::parts`].
    Part(usize),
    LeftPicture(usize),
    RightPicture(usize),
    Codes(usize),
    /// A slab of the cost volume.
    Costs(usize, u32),
    /// A slab of a volume of path costs.
    Path(usize, u32, u32),
    /// A slab of the sums of earlier batches.
    Sums(usize, u32),
    /// A slab of the exact sums.
    Exact(usize, u32),
    /// All sums, for tests.
    Kept,
    LeftMap(usize, usize),
    RightMap(usize, usize),
    RightKeys(usize),
    Gates(usize),
    Parents,
    Sizes,
}

/// What a step leaves behind, for tests.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Product {
    /// Nothing that is of interest.
    Inner,
    /// The cost volume, or exact sums.
    Costs,
    /// What the winner compares.
    Sums,
    Left(usize),
    Right(usize),
}

/// One dispatch.
#[derive(Clone, Debug)]
pub struct Dispatch {
    pub request: Request,
    pub resources: Vec<Resource>,
    pub groups: [u32; 3],
    /// About how many pixels times candidates it visits: what its time is estimated from.
    pub work: u64,
    /// Bytes that it reads and writes, each counted as often as a kernel asks for it.
    pub bytes: u64,
}

/// Dispatches with one product that need not wait for each other, or whose order their buffers tell.
#[derive(Clone, Debug)]
pub struct Step {
    /// The stage as it is timed: `gates`, `cost`, `paths`, `winner`, `filters`.
    pub stage: &'static str,
    /// What it is called in a trace.
    pub name: &'static str,
    pub dispatches: Vec<Dispatch>,
    pub product: Product,
    pub level: usize,
}

/// What decides a recipe.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Wanted {
    /// Each level's structure, the pair's first.
    pub structures: Vec<Structure>,
    pub variant: Variant,
    /// Work after which a dispatch is split, so that others on the queue get in between.
    pub most_work: u64,
    /// For tests: the sums are kept.
    pub keeps_sums: bool,
}

/// A job's dispatches and what they need.
#[derive(Clone, Debug)]
pub struct Recipe {
    pub layouts: Vec<Layout>,
    pub parts: Vec<Part>,
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
            return Err(EngineError::Unsupported(format!("the GPU variant {variant} cannot do this: {why}")));
        }
        Ok(Self { structures, variant, most_work, keeps_sums: false })
    }
}

impl Recipe {
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
        let mut cook = Cook { parts: vec![Part::default()], steps: Vec::new(), most_work: wanted.most_work, gate_stage: false };
        for level in 1..layouts.len() {
            cook.halve(level, &layouts[level]);
        }
        for (level, layout) in layouts.iter().enumerate().rev() {
            cook.gate_stage = level > 0;
            cook.cost(level, layout);
            cook.paths_and_winner(level, layout, wanted.keeps_sums && level == 0);
            cook.filters(level, layout);
            if level > 0 {
                cook.bounds(level, layout);
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
        self.layouts.iter().map(Layout::total_bytes).sum()
    }
}

/// A recipe in the making.
pub(super) struct Cook {
    pub(super) parts: Vec<Part>,
    pub(super) steps: Vec<Step>,
    pub(super) most_work: u64,
    /// Whether steps belong to a coarser level, and so to the stage `gates`.
    pub(super) gate_stage: bool,
}

/// Most workgroups in one direction of a dispatch, on every device.
pub(super) const MOST_GROUPS: u32 = 65535;

impl Cook {
    pub(super) fn push(&mut self, stage: &'static str, name: &'static str, dispatches: Vec<Dispatch>, product: Product, level: usize) {
        let stage = if self.gate_stage { "gates" } else { stage };
        self.steps.push(Step { stage, name, dispatches, product, level });
    }

    pub(super) fn part(&mut self, part: Part) -> Resource {
        self.parts.push(part);
        Resource::Part(self.parts.len() - 1)
    }

    fn cost(&mut self, level: usize, layout: &Layout) {
        let structure = &layout.structure;
        let inputs = [Resource::Params(level), Resource::LeftPicture(level), Resource::RightPicture(level)];
        let pixels = structure.pixels();
        let volume = pixels * u64::from(layout.words) * 4;
        let is_volume = layout.kernel.variant.costs == CostsFrom::Volume;
        let (shader, constants): (&'static Shader, Vec<(&'static str, u32)>) = match structure.cost {
            CostKind::Census5x5 | CostKind::Census7x7 | CostKind::Census9x7 | CostKind::Census9x7Symmetric => {
                let Shape { width, height, symmetric } = Shape::of(structure.cost);
                let radii = [("RADIUS_X", (width / 2) as u32), ("RADIUS_Y", (height / 2) as u32)];
                (&shaders::CENSUS, [&radii[..], &[("SYMMETRIC", u32::from(symmetric))]].concat())
            }
            CostKind::Rank => (&shaders::RANK, vec![("RADIUS", structure.rank_window / 2)]),
            CostKind::Sad => (&shaders::SAD, vec![("RADIUS", structure.sad_window / 2)]),
        };
        let mut dispatches = Vec::new();
        let [params, left, right] = inputs;
        let is_sad = structure.cost == CostKind::Sad;
        if !is_sad {
            let (width, height) = (structure.width as u32, structure.height as u32);
            dispatches.push(Dispatch {
                request: shader.request("transform", constants.clone()),
                resources: vec![params, left, right, Resource::Codes(level)],
                groups: [width.div_ceil(shaders::TILE.0), height.div_ceil(shaders::TILE.1), 2],
                work: 40 * pixels,
                bytes: 2 * pixels + layout.code_bytes(),
            });
        }
        let compare = Arc::new(layout.kernel.compare());
        let (target, request, strip, each): (fn(usize, u32) -> Resource, _, _, _) = match structure.cost {
            CostKind::Sad if structure.exact() => (Resource::Exact, shader.request("exact", constants), shaders::STRIP, 4),
            CostKind::Sad => (Resource::Costs, shader.request("mean", constants), shaders::STRIP, 1),
            _ => (Resource::Costs, Request { source: compare, entry: "compare", constants: Vec::new() }, 1, 1),
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
                    (vec![Resource::Codes(level)], (structure.width as u32 * lanes).div_ceil(64), 1)
                };
                dispatches.push(Dispatch {
                    request: request.clone(),
                    resources: [&[params, part][..], &inputs, &[target(level, slab)]].concat(),
                    groups: [columns, count.div_ceil(strip), depth],
                    work: row_work * u64::from(count),
                    bytes: (layout.code_bytes() + volume * each) * u64::from(count) / structure.height as u64,
                });
            }
        }
        let product = if is_volume || structure.exact() { Product::Costs } else { Product::Inner };
        self.push("cost", "cost", dispatches, product, level);
    }

    fn paths_and_winner(&mut self, level: usize, layout: &Layout, keeps_sums: bool) {
        let stored = layout.stored();
        let batches: Vec<_> = stored.chunks(layout.volumes.max(1) as usize).collect();
        let last = batches.len().saturating_sub(1);
        for (number, batch) in batches.iter().enumerate() {
            let mut dispatches = Vec::new();
            for (volume, direction) in (0..).zip(batch.iter()) {
                self.path(level, layout, volume, *direction, &mut dispatches);
            }
            self.push("paths", "paths", dispatches, Product::Inner, level);
            if number < last {
                let sum = self.sum(level, layout, batch.len() as u32, number == 0);
                self.push("paths", "sum", sum, Product::Inner, level);
            }
        }
        let winner = Winner {
            volumes: batches.last().map_or(0, |batch| batch.len() as u32),
            earlier: batches.len() > 1,
            fused: layout.fused,
            exact: layout.structure.exact(),
            rivals: layout.structure.rivals,
            checked: layout.structure.checked,
            keeps_sums,
        };
        if layout.structure.checked {
            let keys = vec![Resource::Params(level), Resource::RightKeys(level), Resource::RightMap(level, 0)];
            let forget = self.map_dispatch(&shaders::RIGHT, "forget", &[], keys, layout);
            self.push("winner", "forget", vec![forget], Product::Inner, level);
        }
        let choose = self.winner(level, layout, winner);
        self.push("winner", "left map", choose, Product::Left(0), level);
        if keeps_sums {
            self.push("winner", "sums", Vec::new(), Product::Sums, level);
        }
        if layout.structure.checked {
            let maps = vec![Resource::Params(level), Resource::RightKeys(level), Resource::RightMap(level, 0)];
            let decode = self.map_dispatch(&shaders::RIGHT, "choose", &[], maps, layout);
            self.push("winner", "right map", vec![decode], Product::Right(0), level);
        }
    }

    /// Costs as a kernel with variants sees them.
    fn costs(level: usize, layout: &Layout, slabs: Range<u32>) -> Vec<Resource> {
        match layout.kernel.variant.costs {
            CostsFrom::Codes => vec![Resource::Codes(level)],
            CostsFrom::Volume => slabs.map(|slab| Resource::Costs(level, slab)).collect(),
        }
    }

    fn path(
        &mut self,
        level: usize,
        layout: &Layout,
        volume: u32,
        direction: crate::stereo::aggregate::Direction,
        dispatches: &mut Vec<Dispatch>,
    ) {
        let structure = &layout.structure;
        let lines = layout.kernel.variant.lines(structure.candidates);
        let source = Arc::new(layout.kernel.paths());
        let y_is_major = direction.major == crate::stereo::aggregate::Axis::Y;
        let (steps, across) =
            if y_is_major { (structure.height, structure.width) } else { (structure.width, structure.height) };
        let per_pixel = u64::from(layout.words) * 4;
        let line_work = steps as u64 * per_pixel;
        for part in split(0..across as u32, line_work, self.most_work, lines, MOST_GROUPS * lines) {
            let count = part.end - part.start;
            let uniform = Part {
                first: part.start,
                end: part.end,
                y_is_major: u32::from(y_is_major),
                dx: direction.dx as i32,
                dy: direction.dy as i32,
                slope: direction.slope,
                ..Part::default()
            };
            let mut resources = vec![Resource::Params(level), self.part(uniform), Resource::LeftPicture(level)];
            if structure.gated {
                resources.push(Resource::Gates(level));
            }
            resources.extend(Self::costs(level, layout, 0..layout.slabs()));
            resources.extend((0..layout.slabs()).map(|slab| Resource::Path(level, volume, slab)));
            let cost_bytes = Self::cost_bytes_per_pixel(layout);
            dispatches.push(Dispatch {
                request: Request { source: Arc::clone(&source), entry: "follow", constants: Vec::new() },
                resources,
                groups: [count.div_ceil(lines), 1, 1],
                work: line_work * u64::from(count),
                bytes: u64::from(count) * steps as u64 * (cost_bytes + per_pixel * layout.path_cost_bytes() + 1),
            });
        }
    }

    /// Bytes that a kernel reads for the costs of a pixel: a volume's, or the codes of the candidates.
    fn cost_bytes_per_pixel(layout: &Layout) -> u64 {
        let per_pixel = u64::from(layout.words) * 4;
        match layout.kernel.variant.costs {
            CostsFrom::Volume => per_pixel,
            CostsFrom::Codes => (per_pixel + 1) * layout.code_bytes() / (2 * layout.structure.pixels()),
        }
    }

    fn sum(&mut self, level: usize, layout: &Layout, volumes: u32, is_first: bool) -> Vec<Dispatch> {
        let source = Arc::new(layout.kernel.sum(volumes));
        let lanes = layout.words / layout.kernel.variant.words;
        let row = layout.structure.width as u64 * u64::from(layout.words) * 4;
        let row_work = row * (1 + u64::from(volumes) / 2);
        let mut dispatches = Vec::new();
        for slab in 0..layout.slabs() {
            for rows in split(layout.rows(slab), row_work, self.most_work, 1, MOST_GROUPS) {
                let (first, end) = (rows.start, rows.end);
                let part = Part { first, end, origin: slab * layout.slab_rows, is_first: u32::from(is_first), ..Part::default() };
                let mut resources = vec![Resource::Params(level), self.part(part)];
                resources.extend((0..volumes).map(|volume| Resource::Path(level, volume, slab)));
                resources.push(Resource::Sums(level, slab));
                let sums = if is_first { 2 } else { 4 };
                dispatches.push(Dispatch {
                    request: Request { source: Arc::clone(&source), entry: "add", constants: Vec::new() },
                    resources,
                    groups: [(layout.structure.width as u32 * lanes).div_ceil(64), end - first, 1],
                    work: row_work * u64::from(end - first),
                    bytes: u64::from(end - first) * row * (u64::from(volumes) * layout.path_cost_bytes() + sums),
                });
            }
        }
        dispatches
    }

    fn winner(&mut self, level: usize, layout: &Layout, winner: Winner) -> Vec<Dispatch> {
        let structure = &layout.structure;
        let variant = layout.kernel.variant;
        let source = Arc::new(layout.kernel.winner(winner));
        let lines = variant.lines(structure.candidates);
        let length = if winner.fused { structure.width as u32 } else { variant.piece.min(structure.width as u32) };
        let pieces = (structure.width as u32).div_ceil(length);
        let per_pixel = u64::from(layout.words) * 4;
        let row_work = structure.width as u64 * per_pixel * (2 + u64::from(winner.volumes) / 2);
        let path_bytes = u64::from(winner.volumes) * layout.path_cost_bytes();
        let sum_bytes = if winner.exact { 4 } else { path_bytes + if winner.earlier { 2 } else { 0 } };
        let cost_bytes = if winner.exact { 0 } else { Self::cost_bytes_per_pixel(layout) };
        let pixel_bytes = per_pixel * sum_bytes + cost_bytes + 4;
        let mut dispatches = Vec::new();
        for slab in 0..layout.slabs() {
            let most_rows = (MOST_GROUPS * lines / pieces).max(1);
            for rows in split(layout.rows(slab), row_work, self.most_work, 1, most_rows) {
                let count = rows.end - rows.start;
                let part = Part {
                    first: rows.start * pieces,
                    end: rows.end * pieces,
                    origin: slab * layout.slab_rows,
                    pieces,
                    length,
                    ..Part::default()
                };
                let mut resources = vec![
                    Resource::Params(level),
                    self.part(part),
                    Resource::LeftPicture(level),
                    Resource::LeftMap(level, 0),
                    Resource::RightKeys(level),
                ];
                if structure.gated {
                    resources.push(Resource::Gates(level));
                }
                if winner.keeps_sums {
                    resources.push(Resource::Kept);
                }
                if winner.exact {
                    resources.push(Resource::Exact(level, slab));
                } else {
                    resources.extend(Self::costs(level, layout, slab..slab + 1));
                    resources.extend((0..winner.volumes).map(|volume| Resource::Path(level, volume, slab)));
                    if winner.earlier {
                        resources.push(Resource::Sums(level, slab));
                    }
                }
                dispatches.push(Dispatch {
                    request: Request { source: Arc::clone(&source), entry: "choose", constants: Vec::new() },
                    resources,
                    groups: [(count * pieces).div_ceil(lines), 1, 1],
                    work: row_work * u64::from(count),
                    bytes: u64::from(count) * structure.width as u64 * pixel_bytes,
                });
            }
        }
        dispatches
    }

    /// A dispatch over the pixels of a map.
    fn map_dispatch(
        &self,
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

    fn filters(&mut self, level: usize, layout: &Layout) {
        let structure = &layout.structure;
        let radius = [("RADIUS", structure.median.radius() as u32)];
        let smooth = structure.median != Median::Off;
        let mut current = 0;
        let maps = |first, second| vec![Resource::Params(level), first, second];
        let left = |i| Resource::LeftMap(level, i);
        if smooth {
            let dispatch = self.map_dispatch(&shaders::MEDIAN, "smooth_map", &radius, maps(left(0), left(1)), layout);
            self.push("filters", "median", vec![dispatch], Product::Left(1), level);
            current = 1;
        }
        if structure.checked {
            if smooth {
                let right = maps(Resource::RightMap(level, 0), Resource::RightMap(level, 1));
                let dispatch = self.map_dispatch(&shaders::MEDIAN, "smooth_map", &radius, right, layout);
                self.push("filters", "right median", vec![dispatch], Product::Right(1), level);
            }
            let both = maps(left(current), Resource::RightMap(level, usize::from(smooth)));
            let dispatch = self.map_dispatch(&shaders::CONSISTENCY, "check", &[], both, layout);
            self.push("filters", "left-right", vec![dispatch], Product::Left(current), level);
        }
        if structure.speckle {
            let resources = vec![Resource::Params(level), left(current), Resource::Parents, Resource::Sizes];
            let entries = shaders::SPECKLE.entries.iter();
            let dispatches =
                entries.map(|entry| self.map_dispatch(&shaders::SPECKLE, entry, &[], resources.clone(), layout)).collect();
            self.push("filters", "speckle", dispatches, Product::Left(current), level);
        }
        if structure.fill == Fill::Background {
            let (here, other) = (left(current), left(1 - current));
            // The sizes of regions are needed no more: their place has room for a word for each row.
            let entries = shaders::FILL.entries.iter();
            let rows = |entry| Dispatch {
                groups: [structure.height as u32, 1, 1],
                ..self.map_dispatch(&shaders::FILL, entry, &[], maps(here, Resource::Sizes), layout)
            };
            let dispatches = entries.copied().map(rows).collect();
            self.push("filters", "fill", dispatches, Product::Left(current), level);
            if smooth {
                let dispatch = self.map_dispatch(&shaders::MEDIAN, "smooth_map", &radius, maps(here, other), layout);
                self.push("filters", "median after fill", vec![dispatch], Product::Left(1 - current), level);
            }
        }
    }

}

/// Ranges of whole `multiple`s with about `most_work` at most, none longer than `most`.
pub(super) fn split(range: Range<u32>, unit_work: u64, most_work: u64, multiple: u32, most: u32) -> impl Iterator<Item = Range<u32>> {
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
