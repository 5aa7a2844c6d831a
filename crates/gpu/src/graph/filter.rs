//! Dispatches of the filters of the finished maps.

use super::{Dispatch, GraphBuilder, Product, map_dispatch};
use crate::layout::{Layout, Structure};
use crate::resource::Resource;
use crate::shaders::{PIXELS, Shader, TILE, shaders};
use stereopsis_frame::Side;
use stereopsis_stereo::Fill;
use stereopsis_stereo::filter::{FilterKind, choice, planes};
use stereopsis_stereo::map::{ON_PLANE, SUBPIXEL_STEPS, reason};

shaders! {
    BLACK_BORDER: "filter/black_border", (1, 1), ["find"];
    FIRST_MEDIAN: "filter/median" MAPS = "winners", TILE, ["smooth_map"];
    LAST_MEDIAN: "filter/median" MAPS = "one_map", TILE, ["smooth_map"];
    SPECKLE: "filter/speckle", TILE, ["reset", "label", "measure", "remove"];
    SPATIAL: "filter/spatial", TILE, ["run"];
    TEMPORAL: "filter/temporal", PIXELS, ["smooth_over_time"];
    SEGMENTS: "filter/segments", TILE,
        ["separate", "merge", "measure", "number"];
    PLANES: "filter/planes", PIXELS, ["vote", "fit", "fill"];
    BAND: "filter/band", PIXELS, ["fill_bands"];
    FILL: "filter/fill", PIXELS, ["rows", "empty_rows", "empty_borders"];
    CHOICE: "filter/choice", TILE, ["clear", "warp", "slant", "choose"];
    WEIGHTED_MEDIAN: "filter/weighted_median", TILE, ["weigh"];
}

/// Rows or columns that a workgroup of the spatial filter processes.
const SPATIAL_LINES: u32 = 32;

/// Columns and rows that a workgroup covers when it counts votes for planes.
const VOTES: (u32, u32) = (2 * 16, 32);
const FITS: u64 = 64;

/// Returns the constant of shaders that read the image of a side.
fn is_right(side: Side) -> (&'static str, u32) {
    ("IS_RIGHT", side as u32)
}

/// Maps of a level between filters, with the index of the buffer that holds each.
struct MapBuffers<'a> {
    level: usize,
    layout: &'a Layout,
    here: [usize; 2],
}

impl MapBuffers<'_> {
    fn map(&self, side: Side) -> Resource {
        Resource::Map(side, self.level, self.here[side as usize])
    }

    /// Returns the buffer that holds a map, and the other one.
    fn both(&self, side: Side) -> [Resource; 2] {
        let here = self.here[side as usize];
        [here, 1 - here].map(|index| Resource::Map(side, self.level, index))
    }

    /// Returns a dispatch of the speckle's shader, from the map in its buffer and the other image's map into the other buffer.
    fn speckle(
        &self,
        entry: &'static str,
        constants: &[(&'static str, u32)],
        side: Side,
        opposite: Resource,
    ) -> Dispatch {
        let [from, into] = self.both(side);
        let resources = [into, Resource::Parents, Resource::Sizes, from, opposite];
        let maps = match entry {
            "reset" => 1,
            "label" => 5,
            "measure" => 2,
            _ => 4,
        };
        let bytes = maps * self.layout.map_bytes();
        Dispatch { bytes, ..self.dispatch(&SPECKLE, entry, constants, &resources) }
    }

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
    /// Adds the filters in the order of [`stereopsis_stereo::filter_maps`]. Returns the buffers of the left and the right map.
    pub(super) fn filters(&mut self, level: usize, layout: &Layout) -> [Resource; 2] {
        let structure = &layout.structure;
        let sides = &Side::ALL[..if structure.wants_right { 2 } else { 1 }];
        let mut maps = MapBuffers { level, layout, here: [0, 0] };
        for &(kind, size) in &structure.filters {
            match kind {
                FilterKind::BlackBorder => self.first_median(&mut maps),
                FilterKind::Median => {} // beside the black borders
                FilterKind::LeftRight if structure.filter(FilterKind::Speckle).is_some() => {} // beside the speckle
                FilterKind::LeftRight | FilterKind::Speckle => self.check_and_label(&mut maps, sides),
                FilterKind::Spatial => sides.iter().for_each(|&side| self.spatial(&maps, side, size)),
                FilterKind::Temporal => self.over_time(&maps), // only the left map has a state
                FilterKind::Fill => sides.iter().for_each(|&side| self.fill(&mut maps, side, size)),
                FilterKind::Choice => self.choice(&mut maps), // takes the confidence of the left map's winners as evidence
                FilterKind::WeightedMedian => sides.iter().for_each(|&side| self.weighted_median(&mut maps, side)),
                FilterKind::LastMedian => sides.iter().for_each(|&side| self.last_median(&mut maps, side, size)),
            }
        }
        Side::ALL.map(|side| maps.map(side))
    }

    /// Adds the search for the borders of both images, one workgroup for rows and one for columns of each: during matching, without a
    /// barrier.
    pub(super) fn black_borders(&mut self, level: usize, layout: &Layout) {
        let structure = &layout.structure;
        // the filters of mirrored images are those of the pair
        if structure.mirrored || structure.filter(FilterKind::BlackBorder).is_none() {
            return;
        }
        let lines = structure.width + structure.height;
        let [left, right] = Resource::pictures(level);
        let dispatch = Dispatch {
            request: BLACK_BORDER.request("find", Vec::new()),
            resources: vec![Resource::Params(level), left, right, Resource::BlackBorders],
            groups: [2, 2, 1],
            work: lines as u64,
            bytes: 2 * 2 * 4 * lines as u64,
        };
        self.push("cost", "black borders", vec![dispatch], Product::Inner, level);
    }

    /// Adds the reset of the left map's speckle regions to single pixels: during matching, without a barrier.
    pub(super) fn reset_regions(&mut self, level: usize, layout: &Layout) {
        if !layout.structure.mirrored && layout.structure.filter(FilterKind::Speckle).is_some() {
            let maps = MapBuffers { level, layout, here: [0, 0] };
            let reset = maps.speckle("reset", &[], Side::Left, maps.map(Side::Left)); // the shader reads no map
            self.push("cost", "regions", vec![reset], Product::Inner, level);
        }
    }

    /// Adds the maps of both images' winners without black borders, and their medians. The left-right check needs the right one.
    fn first_median(&mut self, maps: &mut MapBuffers<'_>) {
        let MapBuffers { level, layout, .. } = *maps;
        let structure = &layout.structure;
        let radius = structure.filter(FilterKind::Median);
        let right_winners =
            if structure.is_diagonal() { Resource::RightKeys(level) } else { Resource::Map(Side::Right, level, 0) };
        let [left, right] = Resource::pictures(level);
        let resources = [
            Resource::BlackBorders,
            Resource::Map(Side::Left, level, 0),
            right_winners,
            Resource::Map(Side::Left, level, 1),
            Resource::Map(Side::Right, level, 1),
            left,
            right,
        ];
        let constants = [("RADIUS", radius.unwrap_or(0)), ("KEYED", u32::from(structure.is_diagonal()))];
        let sides = 1 + u32::from(structure.has_right()); // with one side, the right map is bound and not used
        let one = maps.dispatch(&FIRST_MEDIAN, "smooth_map", &constants, &resources);
        let dispatch = Dispatch {
            groups: [one.groups[0], one.groups[1], sides],
            work: u64::from(sides) * one.work,
            bytes: u64::from(sides) * 2 * layout.map_bytes(),
            ..one
        };
        maps.here = [1, 1];
        let names = if radius.is_some() { ["median", "right median"] } else { ["black border", "right black border"] };
        self.push("filters", names[0], vec![dispatch], Product::Map(Side::Left, 1), level);
        if structure.has_right() {
            self.push("filters", names[1], Vec::new(), Product::Map(Side::Right, 1), level);
        }
    }

    fn last_median(&mut self, maps: &mut MapBuffers<'_>, side: Side, radius: u32) {
        let dispatch = maps.dispatch(&LAST_MEDIAN, "smooth_map", &[("RADIUS", radius)], &maps.both(side));
        self.push_into_other(maps, side, ["last median", "right last median"], dispatch);
    }

    /// Adds the check of each map against the other unchecked one, and the removal of its small regions, as the parameters require.
    fn check_and_label(&mut self, maps: &mut MapBuffers<'_>, sides: &[Side]) {
        let structure = &maps.layout.structure;
        let checks = structure.filter(FilterKind::LeftRight).is_some();
        let labels = structure.filter(FilterKind::Speckle).is_some();
        let unchecked = [maps.map(Side::Left), maps.map(Side::Right)];
        for &side in sides {
            // without a check the other image may have no map
            let opposite = if checks { unchecked[usize::from(side == Side::Left)] } else { maps.map(side) };
            let constants = [is_right(side), ("CHECKS", u32::from(checks)), ("LABELS", u32::from(labels))];
            let into_other = |entry, constants| maps.speckle(entry, constants, side, opposite);
            if labels && side == Side::Right {
                self.push("filters", "right regions", vec![into_other("reset", &[])], Product::Inner, maps.level);
            }
            let other = 1 - maps.here[side as usize];
            let product = if checks { Product::Map(side, other) } else { Product::Inner };
            let label = into_other("label", &constants);
            self.push("filters", ["left-right", "right left-right"][side as usize], vec![label], product, maps.level);
            if labels {
                let dispatches = ["measure", "remove"].map(|entry| into_other(entry, &[])).into();
                self.push(
                    "filters",
                    ["speckle", "right speckle"][side as usize],
                    dispatches,
                    Product::Map(side, other),
                    maps.level,
                );
            }
            maps.here[side as usize] = other;
        }
    }

    fn spatial(&mut self, maps: &MapBuffers<'_>, side: Side, iterations: u32) {
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

    fn over_time(&mut self, maps: &MapBuffers<'_>) {
        let resources = [maps.map(Side::Left), Resource::Smoothed];
        let dispatch = maps.dispatch(&TEMPORAL, "smooth_over_time", &[], &resources);
        self.push_in_place(maps, Side::Left, ["temporal", ""], vec![dispatch]);
    }

    fn fill(&mut self, maps: &mut MapBuffers<'_>, side: Side, fill: u32) {
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
        // the buffer of region sizes is free by now, and has room for a word for each row
        let resources = [maps.map(side), Resource::Sizes];
        let rows = |entry: &&'static str| Dispatch {
            groups: [maps.layout.structure.height as u32, 1, 1],
            ..maps.dispatch(&FILL, entry, &[("ASKED", values_per_side)], &resources)
        };
        let dispatches = FILL.entries.iter().map(rows).collect();
        self.push_in_place(maps, side, ["fill", "right fill"], dispatches);
    }

    /// Adds the segments of the image, and planes through their disparities; filled pixels are marked.
    fn planes(&mut self, maps: &MapBuffers<'_>, side: Side, mark: u32) {
        let layout = maps.layout;
        let Structure { width, height, .. } = layout.structure;
        let resources = [Resource::Picture(side, maps.level), Resource::Parents, Resource::Sizes, Resource::Segments];
        let segment = |entry: &&'static str| maps.dispatch(&SEGMENTS, entry, &[is_right(side)], &resources);
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

    /// Adds the left map as the right camera sees it, and then the choice.
    fn choice(&mut self, maps: &mut MapBuffers<'_>) {
        let is_colored = maps.layout.structure.colored;
        let guides =
            Side::ALL.map(|side| if is_colored { Resource::Colors(side) } else { Resource::Picture(side, maps.level) });
        let pictures = Resource::pictures(maps.level);
        // the buffers of regions are free by now, and have room for a word for each pixel of the right image, and for its slopes
        let remembers = maps.layout.structure.chooses_from_last;
        let last = if remembers { Resource::Last } else { maps.map(Side::Left) }; // else bound and not read
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

    fn weighted_median(&mut self, maps: &mut MapBuffers<'_>, side: Side) {
        let guide =
            if maps.layout.structure.colored { Resource::Colors(side) } else { Resource::Picture(side, maps.level) };
        let constants = [is_right(side), ("COLORED", u32::from(maps.layout.structure.colored))];
        let resources = [&[guide], &maps.both(side)[..]].concat();
        let dispatch = maps.dispatch(&WEIGHTED_MEDIAN, "weigh", &constants, &resources);
        self.push_into_other(maps, side, ["weighted median", "right weighted median"], dispatch);
    }

    /// Adds a filter that reads a map from its buffer and writes it into the other one.
    fn push_into_other(&mut self, maps: &mut MapBuffers<'_>, side: Side, names: [&'static str; 2], dispatch: Dispatch) {
        self.push_all_into_other(maps, side, names, vec![dispatch]);
    }

    fn push_all_into_other(
        &mut self,
        maps: &mut MapBuffers<'_>,
        side: Side,
        names: [&'static str; 2],
        dispatches: Vec<Dispatch>,
    ) {
        let other = 1 - maps.here[side as usize];
        self.push("filters", names[side as usize], dispatches, Product::Map(side, other), maps.level);
        maps.here[side as usize] = other;
    }

    /// Adds a filter that changes a map in its buffer.
    fn push_in_place(
        &mut self,
        maps: &MapBuffers<'_>,
        side: Side,
        names: [&'static str; 2],
        dispatches: Vec<Dispatch>,
    ) {
        self.push(
            "filters",
            names[side as usize],
            dispatches,
            Product::Map(side, maps.here[side as usize]),
            maps.level,
        );
    }
}
