//! Dispatches of mutual information ([`stereopsis_stereo::cost::mutual_information`]): from an initial map to the joint histogram, and from
//! the histogram to a table of costs, on the device alone.

use super::{Dispatch, GraphBuilder, Product, map_dispatch};
use crate::layout::{LEVEL_PAIRS, Layout};
use crate::resource::{MutualInformation, Resource};
use crate::shaders::{PIXELS, shaders};
use stereopsis_frame::Side;
use stereopsis_stereo::cost::mutual_information::LEVELS;

shaders! {
    HISTOGRAM: "cost/mutual_information/histogram", PIXELS,
        ["clear", "from_coarser", "from_last", "by_chance"];
    TABLE: "cost/mutual_information/table", (16, 16), ["lines", "terms", "joint_logs", "negatives", "scale"];
}

/// Numbers that are smoothed at once in both directions of the table.
const NEIGHBOURS: u64 = 25;

impl GraphBuilder {
    /// Adds counts and table of a level; `coarser_map` is the left map of the next level, where there is one.
    pub(super) fn mutual_information(&mut self, level: usize, layout: &Layout, coarser_map: Option<Resource>) {
        let own_map = (level, Resource::Map(Side::Left, level, 0)); // bound and not read
        let coarser_map = coarser_map.filter(|_| layout.structure.has_coarse_information);
        let (entry, (map_level, guess)) = match coarser_map {
            Some(map) => ("from_coarser", (level + 1, map)),
            None if layout.structure.starts_from_last => ("from_last", (0, Resource::Last)),
            None => ("by_chance", own_map),
        };
        let maps = [Resource::Params(level), Resource::Params(map_level), guess];
        let counts = [Resource::MutualInformation(MutualInformation::Counts)];
        let resources = [&maps[..], &Resource::pictures(level), &counts].concat();
        let constants = [("LAST_STEP", level as u32)];
        let pixels = layout.structure.pixels();
        let over = |entry| map_dispatch(&HISTOGRAM, entry, &constants, resources.clone(), layout);
        let clear = Dispatch {
            groups: [LEVEL_PAIRS as u32 / 64, 1, 1],
            work: LEVEL_PAIRS,
            bytes: 4 * LEVEL_PAIRS,
            ..over("clear")
        };
        // bytes of the initial disparity, of two levels of brightness, and of a count that is read and written
        let count = Dispatch { bytes: (4 + 2 + 8) * pixels, ..over(entry) };
        self.push("information", "histogram", vec![clear, count], Product::Histogram, level);
        let dispatches = TABLE.entries.iter().map(|entry| Self::table(level, entry)).collect();
        self.push("information", "table", dispatches, Product::Table, level);
    }

    fn table(level: usize, entry: &'static str) -> Dispatch {
        let levels = LEVELS as u32;
        // workgroups, numbers computed, and bytes read and written for each
        let (groups, numbers, bytes) = match entry {
            "lines" => ([2 * levels, 1, 1], 2 * LEVEL_PAIRS, 4),
            "terms" => ([2, 1, 1], u64::from(2 * levels), 8),
            "joint_logs" => ([levels / 16, levels / 16, 1], LEVEL_PAIRS, 4 * NEIGHBOURS + 4),
            "negatives" => ([levels / 16, levels / 16, 1], LEVEL_PAIRS, 4 * NEIGHBOURS + 8 + 4),
            _ => ([LEVEL_PAIRS as u32 / 4 / 64, 1, 1], LEVEL_PAIRS, 4 + 1),
        };
        let information = Resource::MutualInformation;
        Dispatch {
            request: TABLE.request(entry, Vec::new()),
            resources: vec![
                Resource::Params(level),
                Resource::LogTable,
                information(MutualInformation::Counts),
                information(MutualInformation::Logs),
                information(MutualInformation::Lines),
                information(MutualInformation::Extremes),
                information(MutualInformation::Table),
            ],
            groups,
            work: numbers,
            bytes: bytes * numbers,
        }
    }
}
