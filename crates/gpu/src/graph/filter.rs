//! Filters of the finished maps.

use super::{Dispatch, GraphBuilder, Product, map_dispatch};
use crate::layout::{Layout, Structure};
use crate::resource::Resource;
use crate::shaders::{PIXELS, Shader, TILE, shaders};
use crate::stereo::filter::{Fill, FilterKind, choice, planes};
use crate::stereo::map::{ON_PLANE, SUBPIXEL_STEPS, reason};

shaders! {
    BLACK_BORDER: "filter/black_border", (1, 1), ["find"];
    BLACK_BORDER_DROP: "filter/black_border_drop", PIXELS, ["drop", "empty"];
    MEDIAN: "filter/median", TILE, ["smooth_map"];
    CONSISTENCY: "filter/consistency", PIXELS, ["check", "check_right"];
    SPECKLE: "filter/speckle" + "filter/regions", TILE, ["separate", "merge", "measure", "remove"];
    SPATIAL: "filter/spatial", TILE, ["run"];
    TEMPORAL: "filter/temporal", PIXELS, ["smooth_over_time"];
    SEGMENTS: "filter/segments" + "filter/calm" + "filter/regions" + "filter/records", TILE,
        ["separate", "merge", "measure", "number"];
    PLANES: "filter/planes" + "filter/moments" + "filter/regions" + "filter/records", PIXELS, ["vote", "fit", "fill"];
    BAND: "filter/band" + "filter/moments", PIXELS, ["fill_bands"];
    FILL: "filter/fill", PIXELS, ["rows", "empty_rows"];
    CHOICE: "filter/choice", TILE, ["clear", "warp", "slant", "choose"];
    WEIGHTED_MEDIAN: "filter/weighted_median", TILE, ["weigh"];
}

/// Rows or columns that a workgroup of the spatial filter goes along.
const SPATIAL_LINES: u32 = 32;

/// Columns and rows that a workgroup covers where votes for planes are counted.
const VOTES: (u32, u32) = (2 * 16, 32);
/// Segments that a workgroup fits planes to.
const FITS: u64 = 64;

/// The picture that a map belongs to.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Side {
    Left,
    Right,
}

impl Side {
    /// One of the two buffers of the map.
    fn map(self, level: usize, index: usize) -> Resource {
        match self {
            Self::Left => Resource::LeftMap(level, index),
            Self::Right => Resource::RightMap(level, index),
        }
    }

    fn picture(self, level: usize) -> Resource {
        match self {
            Self::Left => Resource::LeftPicture(level),
            Self::Right => Resource::RightPicture(level),
        }
    }

    fn colors(self) -> Resource {
        match self {
            Self::Left => Resource::LeftColors,
            Self::Right => Resource::RightColors,
        }
    }

    /// The constant of shaders that read its picture.
    fn is_right(self) -> (&'static str, u32) {
        ("IS_RIGHT", u32::from(self == Self::Right))
    }

    fn product(self, index: usize) -> Product {
        match self {
            Self::Left => Product::Left(index),
            Self::Right => Product::Right(index),
        }
    }

    fn name(self, [left, right]: [&'static str; 2]) -> &'static str {
        if self == Self::Left { left } else { right }
    }
}

/// The maps of a level between filters, with the index of the buffer that holds each.
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

    fn map(&self, side: Side) -> Resource {
        side.map(self.level, self.here(side))
    }

    /// The buffer that holds a map, and the other one.
    fn both(&self, side: Side) -> [Resource; 2] {
        let here = self.here(side);
        [side.map(self.level, here), side.map(self.level, 1 - here)]
    }

    /// A shader over the pixels of a map.
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

impl GraphBuilder {
    /// Filters, in the order of [`crate::stereo::filter_maps`]. Returns the buffers of the left and the right map.
    pub(super) fn filters(&mut self, level: usize, layout: &Layout) -> [Resource; 2] {
        let structure = &layout.structure;
        let mut maps = Maps { level, layout, left: 0, right: 0 };
        for &(kind, size) in &structure.filters {
            let each_side = match kind {
                FilterKind::BlackBorder | FilterKind::Median => structure.has_right(), // the check needs the right map
                FilterKind::LeftRight => false,                                        // changes both at once
                FilterKind::Temporal => false, // keeps a state of the left map alone
                FilterKind::Choice => false,   // takes the confidence of the left map's winners as evidence
                FilterKind::Speckle
                | FilterKind::Spatial
                | FilterKind::Fill
                | FilterKind::WeightedMedian
                | FilterKind::LastMedian => structure.wants_right,
            };
            for &side in if each_side { &[Side::Left, Side::Right][..] } else { &[Side::Left] } {
                match kind {
                    FilterKind::BlackBorder => self.black_border(&maps, side),
                    FilterKind::Median => self.median(&mut maps, side, size, ["median", "right median"]),
                    FilterKind::LeftRight => self.check(&mut maps),
                    FilterKind::Speckle => self.speckle(&maps, side),
                    FilterKind::Spatial => self.spatial(&maps, side, size),
                    FilterKind::Temporal => self.over_time(&maps),
                    FilterKind::Fill => self.fill(&mut maps, side, size),
                    FilterKind::Choice => self.choice(&mut maps),
                    FilterKind::WeightedMedian => self.weighted_median(&mut maps, side),
                    FilterKind::LastMedian => self.median(&mut maps, side, size, ["last median", "right last median"]),
                }
            }
        }
        [Side::Left.map(level, maps.left), Side::Right.map(level, maps.right)]
    }

    /// Finds the borders of both pictures, a workgroup for rows and one for columns of each: while others match, and behind no barrier.
    pub(super) fn black_borders(&mut self, level: usize, layout: &Layout) {
        let structure = &layout.structure;
        // the filters of mirrored pictures are those of the pair
        if structure.mirrored || structure.filter(FilterKind::BlackBorder).is_none() {
            return;
        }
        let lines = structure.width + structure.height;
        let dispatch = Dispatch {
            request: BLACK_BORDER.request("find", Vec::new()),
            resources: vec![
                Resource::Params(level),
                Resource::LeftPicture(level),
                Resource::RightPicture(level),
                Resource::BlackBorders,
            ],
            groups: [2, 2, 1],
            work: lines as u64,
            bytes: 2 * 2 * 4 * lines as u64,
            operations: 0,
        };
        self.push("cost", "black borders", vec![dispatch], Product::Inner, level);
    }

    /// Removes what lies in the borders.
    fn black_border(&mut self, maps: &Maps<'_>, side: Side) {
        let dispatch = drop_borders(maps, side, "drop", &[side.is_right()]);
        self.push_in_place(maps, side, ["black border", "right black border"], vec![dispatch]);
    }

    fn median(&mut self, maps: &mut Maps<'_>, side: Side, radius: u32, names: [&'static str; 2]) {
        let dispatch = maps.dispatch(&MEDIAN, "smooth_map", &[("RADIUS", radius)], &maps.both(side));
        self.push_into_other(maps, side, names, dispatch);
    }

    /// Checks each map against the unchecked other: the right one into its other buffer, the left one in place.
    fn check(&mut self, maps: &mut Maps<'_>) {
        let (level, left, right) = (maps.level, maps.left, maps.right);
        let all =
            [Resource::LeftMap(level, left), Resource::RightMap(level, right), Resource::RightMap(level, 1 - right)];
        if maps.layout.structure.wants_right {
            let dispatch = maps.dispatch(&CONSISTENCY, "check_right", &[], &all);
            self.push("filters", "right left-right", vec![dispatch], Product::Right(1 - right), level);
            maps.right = 1 - right;
        }
        let dispatch = maps.dispatch(&CONSISTENCY, "check", &[], &all);
        let dispatch = Dispatch { bytes: 2 * maps.layout.map_bytes(), ..dispatch }; // it does not write the right map
        self.push("filters", "left-right", vec![dispatch], Product::Left(left), level);
    }

    fn speckle(&mut self, maps: &Maps<'_>, side: Side) {
        let resources = [maps.map(side), Resource::Parents, Resource::Sizes];
        let dispatches = SPECKLE.entries.iter().map(|entry| maps.dispatch(&SPECKLE, entry, &[], &resources)).collect();
        self.push_in_place(maps, side, ["speckle", "right speckle"], dispatches);
    }

    /// Running means along rows, and then along columns.
    fn spatial(&mut self, maps: &Maps<'_>, side: Side, iterations: u32) {
        let layout = maps.layout;
        let lines = [(1, layout.structure.height), (0, layout.structure.width)];
        let both = || {
            lines.map(|(along_rows, lines)| Dispatch {
                groups: [(lines as u32).div_ceil(SPATIAL_LINES), 1, 1],
                bytes: 4 * layout.map_bytes(),
                ..maps.dispatch(&SPATIAL, "run", &[("ALONG_ROWS", along_rows)], &[maps.map(side)])
            })
        };
        let dispatches = (0..iterations).flat_map(|_| both()).collect();
        self.push_in_place(maps, side, ["spatial", "right spatial"], dispatches);
    }

    fn over_time(&mut self, maps: &Maps<'_>) {
        let resources = [maps.map(Side::Left), Resource::Smoothed];
        let dispatch = maps.dispatch(&TEMPORAL, "smooth_over_time", &[], &resources);
        self.push_in_place(maps, Side::Left, ["temporal", ""], vec![dispatch]);
    }

    fn fill(&mut self, maps: &mut Maps<'_>, side: Side, fill: u32) {
        let is_planes = fill == Fill::Planes as u32;
        if is_planes {
            // the right map has no choice
            let is_chosen = maps.layout.structure.filters.iter().any(|&(kind, _)| kind == FilterKind::Choice);
            let mark = u32::from(if is_chosen && side == Side::Left { ON_PLANE } else { reason::FILLED });
            self.planes(maps, side, mark);
            let bands = Dispatch {
                groups: [maps.layout.structure.height as u32, 1, 1],
                ..maps.dispatch(&BAND, "fill_bands", &[("MARK", mark)], &maps.both(side))
            };
            self.push_into_other(maps, side, ["bands", "right bands"], bands);
        }
        let values_per_side = if fill == Fill::Background as u32 { 1 } else { 3 };
        // the buffer of region sizes is free by now: a word for each row fits
        let resources = [maps.map(side), Resource::Sizes];
        let rows = |entry: &&'static str| Dispatch {
            groups: [maps.layout.structure.height as u32, 1, 1],
            ..maps.dispatch(&FILL, entry, &[("ASKED", values_per_side)], &resources)
        };
        let empty = drop_borders(maps, side, "empty", &[]);
        let dispatches = FILL.entries.iter().map(rows).chain([empty]).collect();
        self.push_in_place(maps, side, ["fill", "right fill"], dispatches);
    }

    /// Segments of the picture, and planes through their disparities; what they fill is marked.
    fn planes(&mut self, maps: &Maps<'_>, side: Side, mark: u32) {
        let layout = maps.layout;
        let Structure { width, height, .. } = layout.structure;
        let resources = [side.picture(maps.level), Resource::Parents, Resource::Sizes, Resource::Segments];
        let segment = |entry: &&'static str| maps.dispatch(&SEGMENTS, entry, &[side.is_right()], &resources);
        let mut dispatches: Vec<_> = SEGMENTS.entries.iter().map(segment).collect();
        let resources = [maps.map(side), Resource::Parents, Resource::Sizes, Resource::Segments];
        let constants = |limit: i32, round: u32, mark: u32| [("LIMIT", limit as u32), ("ROUND", round), ("MARK", mark)];
        let rounds = [(0, 0)].into_iter().chain(planes::LIMITS.map(|limit| (limit, 1))).chain([(SUBPIXEL_STEPS, 2)]);
        for (limit, round) in rounds {
            let groups = [width.div_ceil(VOTES.0 as usize) as u32, height.div_ceil(VOTES.1 as usize) as u32, 1];
            // each entry has only the constants that it reads, so that pipelines are shared
            dispatches.push(Dispatch { groups, ..maps.dispatch(&PLANES, "vote", &constants(limit, 0, 0), &resources) });
            let groups = [layout.max_segments().div_ceil(FITS) as u32, 1, 1];
            dispatches.push(Dispatch { groups, ..maps.dispatch(&PLANES, "fit", &constants(0, round, 0), &resources) });
        }
        dispatches.push(maps.dispatch(&PLANES, "fill", &constants(0, 0, mark), &resources));
        self.push_in_place(maps, side, ["planes", "right planes"], dispatches);
    }

    /// The left map as the right camera sees it, and then the choice.
    fn choice(&mut self, maps: &mut Maps<'_>) {
        let sides = [Side::Left, Side::Right];
        let is_colored = maps.layout.structure.colored;
        let guides = sides.map(|side| if is_colored { side.colors() } else { side.picture(maps.level) });
        let pictures = sides.map(|side| side.picture(maps.level));
        // the union-find parents and sizes are free by now: a word for each pixel of the right picture fits, and its slopes
        let remembers = maps.layout.structure.chooses_from_last;
        let last = if remembers { Resource::Last } else { maps.map(Side::Left) }; // bound and not read
        let others = [Resource::Parents, Resource::ChoiceNet, last, Resource::Sizes];
        let maps_and_net = [&maps.both(Side::Left)[..], &others].concat();
        let resources = [&guides[..], &pictures[..], &maps_and_net[..]].concat();
        let shifts = choice::net().layers.iter().map(|layer| layer.shift);
        let names = ["FIRST_SHIFT", "SECOND_SHIFT", "LAST_SHIFT"];
        let constants: Vec<_> = [("COLORED", u32::from(is_colored)), ("REMEMBERS", u32::from(remembers))]
            .into_iter()
            .chain(names.into_iter().zip(shifts))
            .collect();
        let dispatch = |entry: &&'static str| maps.dispatch(&CHOICE, entry, &constants, &resources);
        let dispatches = CHOICE.entries.iter().map(dispatch).collect();
        self.push_all_into_other(maps, Side::Left, ["choice", ""], dispatches);
    }

    fn weighted_median(&mut self, maps: &mut Maps<'_>, side: Side) {
        let guide = if maps.layout.structure.colored { side.colors() } else { side.picture(maps.level) };
        let constants = [side.is_right(), ("COLORED", u32::from(maps.layout.structure.colored))];
        let resources = [&[guide], &maps.both(side)[..]].concat();
        let dispatch = maps.dispatch(&WEIGHTED_MEDIAN, "weigh", &constants, &resources);
        self.push_into_other(maps, side, ["weighted median", "right weighted median"], dispatch);
    }

    /// A filter that reads a map from its buffer, and writes it into the other one.
    fn push_into_other(&mut self, maps: &mut Maps<'_>, side: Side, names: [&'static str; 2], dispatch: Dispatch) {
        self.push_all_into_other(maps, side, names, vec![dispatch]);
    }

    /// The same in several dispatches.
    fn push_all_into_other(
        &mut self,
        maps: &mut Maps<'_>,
        side: Side,
        names: [&'static str; 2],
        dispatches: Vec<Dispatch>,
    ) {
        let other = 1 - maps.here(side);
        self.push("filters", side.name(names), dispatches, side.product(other), maps.level);
        match side {
            Side::Left => maps.left = other,
            Side::Right => maps.right = other,
        }
    }

    /// A filter that changes a map in its buffer.
    fn push_in_place(&mut self, maps: &Maps<'_>, side: Side, names: [&'static str; 2], dispatches: Vec<Dispatch>) {
        self.push("filters", side.name(names), dispatches, side.product(maps.here(side)), maps.level);
    }
}

/// A shader over a map that writes what lies in a border alone.
fn drop_borders(maps: &Maps<'_>, side: Side, entry: &'static str, constants: &[(&'static str, u32)]) -> Dispatch {
    let dispatch = maps.dispatch(&BLACK_BORDER_DROP, entry, constants, &[Resource::BlackBorders, maps.map(side)]);
    Dispatch { bytes: maps.layout.map_bytes(), ..dispatch }
}
