//! All that decides a disparity map: each parameter once, with its default, range, unit and help.

use super::aggregate::MAX_PATHS;
use super::cost::CostKind;
use super::cost::{Comparison, mutual_information};
use super::disparity::RightMatching;
use super::filter::Persistence;
use super::local::Aggregation;
use super::pyramid::COARSE_PATHS;
use crate::parameter::Value;
use crate::{choices, parameters};

choices! {
    /// How P2 follows the brightness step along a path.
    pub enum AdaptiveP2 {
        /// P2 is the same everywhere.
        Off = "off",
        /// P2 falls with the step: P2 - alpha |dI| / 16 (Hirschmüller's advice in its simplest form).
        Linear = "linear",
        /// P2 is divided by the step, as in Ernst & Hirschmüller 2008.
        Inverse = "inverse",
    }
}

choices! {
    /// Size of the median filter.
    pub enum Median {
        /// No median.
        Off = "0",
        /// 3 x 3 pixels.
        Three = "3",
        /// 5 x 5 pixels.
        Five = "5",
    }
}

impl Fill {
    /// How many of the nearest disparities each side of a hole is asked for.
    pub const fn asked(self) -> usize {
        match self {
            Self::None => 0,
            Self::Background => 1,
            Self::Interpolate => 3,
        }
    }
}

impl Median {
    /// Pixels from the centre to the window's edge; 0 for no median.
    pub const fn radius(self) -> usize {
        match self {
            Self::Off => 0,
            Self::Three => 1,
            Self::Five => 2,
        }
    }
}

choices! {
    /// What is put into pixels without a disparity.
    pub enum Fill {
        /// They stay invalid.
        None = "none",
        /// The farther one of the nearest valid neighbours in the row.
        Background = "background",
        /// The farther side of the row, each side being the median of its three nearest valid pixels.
        Interpolate = "interpolate",
    }
}

parameters! {
    /// Parameters of the whole matching pipeline, for every engine.
    pub struct StereoParams {
        /// Smallest disparity searched; negative for rigs that converge. Depth beyond it cannot be found.
        min_disparity: i32 = 0, "min-disparity", "Smallest disparity", -1024..=1023, "px", Matching, Basic;
        /// How many disparities are searched, from the smallest up. More sees nearer and takes longer.
        num_disparities: u32 = 64, "num-disparities", "Disparities", 1..=1024, "px", Matching, Basic;
        /// How two pixels are compared.
        cost: CostKind = CostKind::Census5x5, "cost", "Cost", 0..=0, "", Matching, Basic;
        /// Window of the rank transform; odd.
        rank_window: u32 = 9, "rank-window", "Rank window", 3..=9, "px", Matching, Advanced;
        /// Window of the sum of absolute differences; odd.
        sad_window: u32 = 5, "sad-window", "SAD window", 1..=21, "px", Matching, Advanced;
        /// How many sizes mutual information is learned at, each half the next: 5 starts at a sixteenth, 1 at once at full size.
        mi_levels: u32 = 5, "mi-levels", "Levels of information", 1..=5, "", Matching, Advanced;
        /// What mutual information starts from at the smallest size.
        mi_start: mutual_information::Start = mutual_information::Start::Random, "mi-start", "Start of information", 0..=0, "", Matching, Advanced;
        /// How costs are aggregated over their surroundings, before the paths or, with 0 paths, in their stead.
        aggregation: Aggregation = Aggregation::None, "aggregation", "Aggregation", 0..=0, "", Matching, Advanced;
        /// Window of the aggregations window and adaptive-weight; odd.
        window: u32 = 9, "window", "Window", 1..=33, "px", Matching, Advanced;
        /// How alike in brightness a pixel of a weighted aggregation has to be: its weight is exp(-dI^2 / gamma) of its own, so
        /// it falls to a third where dI^2 is gamma.
        gamma_color: u32 = 400, "gamma-color", "Gamma of brightness", 1..=65025, "", Matching, Advanced;
        /// How near a pixel of a weighted aggregation has to be: its weight is exp(-distance^2 / gamma).
        gamma_space: u32 = 300, "gamma-space", "Gamma of distance", 1..=65025, "px²", Matching, Advanced;
        /// The arms of the aggregations cross and weighted-cross end where brightness differs by more than this.
        tau: u32 = 12, "tau", "Tau", 0..=255, "", Matching, Advanced;
        /// The arms of the aggregations cross and weighted-cross are at most this long.
        arms: u32 = 17, "arms", "Arms", 1..=30, "px", Matching, Advanced;
        /// Directions from which path costs are summed, at equal angles; 0 leaves the paths out.
        /// More make the streaks of single directions fade, and take longer.
        paths: u32 = 8, "paths", "Paths", 0..=i64::from(MAX_PATHS), "", Matching, Basic;
        /// Angle of the first direction, clockwise from the right.
        /// An odd one keeps paths from running along the walls and edges of a scene.
        start_angle_deg: u32 = 0, "start-angle-deg", "Start angle", 0..=359, "deg", Matching, Advanced;
        /// Penalty for a disparity step of 1 px between neighbours: slanted surfaces.
        p1: u32 = CostKind::Census5x5.penalties().p1, "p1", "P1", 0..=4096, "", Matching, Basic;
        /// Penalty for a larger step: edges of objects. Above P1; more is smoother.
        p2: u32 = CostKind::Census5x5.penalties().p2, "p2", "P2", 1..=8191, "", Matching, Basic;
        /// How P2 follows the brightness step along a path: edges of objects are often edges of brightness.
        adaptive_p2: AdaptiveP2 = AdaptiveP2::Linear, "adaptive-p2", "Adaptive P2", 0..=0, "", Matching, Basic;
        /// Smallest P2 that adaptation leaves; at least P1 + 1, and follows P1 up.
        p2_min: u32 = CostKind::Census5x5.penalties().p2_min, "p2-min", "P2 min", 1..=8191, "", Matching, Advanced;
        /// How fast a linear P2 falls: sixteenths of P2 units per grey level.
        p2_alpha: u32 = CostKind::Census5x5.penalties().p2_alpha, "p2-alpha", "P2 alpha", 0..=4096, "/16", Matching, Advanced;
        /// Search each pixel only around what was found near it in smaller pictures, for which the pair is halved this many
        /// times. Halves the memory of long ranges, but can miss what is small and far from its surroundings in depth.
        gating: Option<u32> = None, "gating", "Gating", 1..=6, "", Matching, Advanced;
        /// Fit a parabola through the three sums around the winner.
        subpixel: bool = true, "subpixel", "Sub-pixel", 0..=1, "", Filters, Basic;
        /// Drop a pixel that matches badly: its sum exceeds this percentage of the largest one there can be.
        match_threshold: Option<u32> = None, "match-threshold", "Match threshold", 1..=99, "%", Filters, Advanced;
        /// Drop a pixel if its window, or that of any of its candidates, leaves the pictures (Leu et al. 2010).
        drop_border: bool = false, "drop-border", "Drop the border", 0..=1, "", Filters, Advanced;
        /// Drop a pixel if another disparity is within this percentage of the winner's sum; 0 keeps all.
        uniqueness: u32 = 0, "uniqueness", "Uniqueness", 0..=99, "%", Filters, Advanced;
        /// Tell of each disparity how clearly it won over the best other one: a view of its own in the window, a file from
        /// compute --confidence-map. The disparities stay the same.
        confidence: bool = false, "confidence", "Confidence", 0..=1, "", Filters, Advanced;
        /// Drop a pixel if the right picture's disparity differs by more than this.
        left_right: Option<u32> = Some(1), "left-right", "Left-right check", 0..=64, "px", Filters, Basic;
        /// Where the right picture's disparities come from.
        right_matching: RightMatching = RightMatching::Diagonal, "right-matching", "Right matching", 0..=0, "", Filters, Advanced;
        /// Median filter of the disparities, before the left-right check.
        median: Median = Median::Three, "median", "Median", 0..=0, "px", Filters, Basic;
        /// Drop connected regions of at most this many pixels; 0 keeps all.
        speckle_size: u32 = 100, "speckle-size", "Speckle size", 0..=100_000, "px", Filters, Advanced;
        /// Neighbours whose disparities differ by at most this belong to one region.
        speckle_range: u32 = 1, "speckle-range", "Speckle range", 0..=64, "px", Filters, Advanced;
        /// Smooth surfaces and leave edges, so many times: running means along rows and columns that end at steps.
        spatial: Option<u32> = None, "spatial", "Spatial filter", 1..=5, "", Filters, Basic;
        /// How much of a running mean is the next pixel: less is smoother.
        spatial_alpha: u32 = 50, "spatial-alpha", "Spatial alpha", 1..=100, "%", Filters, Advanced;
        /// A larger step between pixels is an edge for the spatial filter: sixteenths of a pixel.
        spatial_delta: u32 = 10, "spatial-delta", "Spatial delta", 1..=255, "/16", Filters, Advanced;
        /// Calm flicker: each disparity becomes a running mean over the pairs, and holes keep for a moment what was there.
        temporal: bool = false, "temporal", "Temporal filter", 0..=1, "", Filters, Basic;
        /// How much of a running mean is the newest pair: less is calmer and slower to follow.
        temporal_alpha: u32 = 40, "temporal-alpha", "Temporal alpha", 1..=100, "%", Filters, Advanced;
        /// A larger step from pair to pair is a change of the scene for the temporal filter: sixteenths of a pixel.
        temporal_delta: u32 = 10, "temporal-delta", "Temporal delta", 1..=255, "/16", Filters, Advanced;
        /// When a hole keeps the disparity that it had before.
        persistence: Persistence = Persistence::TwoOfFour, "persistence", "Persistence", 0..=0, "", Filters, Advanced;
        /// What is put into pixels without a disparity. Filled depth is invented.
        fill: Fill = Fill::None, "fill", "Fill", 0..=0, "", Filters, Advanced;
    }
}

/// Why a set of parameters cannot be used; the text names the flags.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct ParamsError(pub String);

/// Sums stay below the largest 16-bit value, with which engines mark what does not exist.
const LARGEST_SUM: u32 = u16::MAX as u32 - 1;

impl StereoParams {
    /// Defaults with this cost and the penalties that suit it.
    pub fn for_cost(cost: CostKind) -> Self {
        let penalties = cost.penalties();
        Self {
            cost,
            p1: penalties.p1,
            p2: penalties.p2,
            p2_min: penalties.p2_min,
            p2_alpha: penalties.p2_alpha,
            ..Self::default()
        }
    }

    /// The parameter named `name`.
    pub fn parameter(name: &str) -> Option<&'static crate::parameter::Parameter<Self>> {
        Self::table().iter().find(|p| p.name == name)
    }

    /// Changes the cost and keeps the penalties relative to its largest value, or at its defaults where they stood
    /// at the old cost's defaults.
    pub fn set_cost(&mut self, cost: CostKind) {
        let (old, old_largest) = (self.cost.penalties(), self.largest_cost());
        let at_defaults = (self.p1, self.p2, self.p2_min, self.p2_alpha) == (old.p1, old.p2, old.p2_min, old.p2_alpha);
        self.cost = cost;
        let new = cost.penalties();
        if at_defaults {
            (self.p1, self.p2, self.p2_min, self.p2_alpha) = (new.p1, new.p2, new.p2_min, new.p2_alpha);
            return;
        }
        let largest = self.largest_cost();
        let scale = |v: u32| (v * largest + old_largest / 2) / old_largest;
        self.p1 = scale(self.p1).min(4096);
        self.p2 = scale(self.p2).clamp(self.p1 + 1, 8191);
        self.p2_min = scale(self.p2_min).clamp(self.p1 + 1, self.p2);
        self.p2_alpha = scale(self.p2_alpha).min(4096);
    }

    /// Largest value of the cost that enters the paths.
    pub fn largest_cost(&self) -> u32 {
        self.cost.comparison().largest(self.rank_window)
    }

    /// Largest P2 that can occur on a path.
    pub fn largest_p2(&self) -> u32 {
        super::aggregate::penalty_table(self).into_iter().max().unwrap_or(self.p2)
    }

    /// Whether the exact sums of SAD decide: neither aggregated nor summed over paths.
    pub fn is_block_matching(&self) -> bool {
        self.cost.comparison() == Comparison::WindowedDifference
            && self.aggregation == Aggregation::None
            && self.paths == 0
    }

    /// Largest sum that a winner can have.
    pub fn largest_sum(&self) -> u32 {
        if self.paths > 0 {
            self.paths * (self.largest_cost() + self.largest_p2())
        } else if self.is_block_matching() {
            self.largest_cost() * self.sad_window * self.sad_window
        } else if self.aggregation == Aggregation::None {
            self.largest_cost()
        } else {
            self.largest_cost() * self.unit().per_cost()
        }
    }

    /// Largest sum with which a winner passes the match threshold.
    pub fn largest_accepted_sum(&self) -> Option<u32> {
        let percent = u64::from(self.match_threshold?);
        Some((u64::from(self.largest_sum()) * percent / 100) as u32)
    }

    /// Pixels from the centre to the edge of all that decides a pixel's cost, along rows and columns.
    pub fn window_reach(&self) -> (usize, usize) {
        let (width, height) = self.cost.comparison().window(self.rank_window, self.sad_window);
        (width / 2 + self.local_reach(), height / 2 + self.local_reach())
    }

    /// Disparity in px of candidate `index`.
    pub fn disparity(&self, index: usize) -> i32 {
        self.min_disparity + index as i32
    }

    /// Checks ranges and how the parameters fit each other.
    ///
    /// # Errors
    /// The first rule that is broken, in words that name the flags.
    pub fn validate(&self) -> Result<(), ParamsError> {
        let fail = |text: String| Err(ParamsError(text));
        for parameter in Self::table() {
            let value = (parameter.get)(self);
            if !parameter.accepts(value) {
                let text = parameter.parse(&value.to_string()).err().unwrap_or_default();
                return fail(format!("--{} {text}", parameter.name));
            }
        }
        let windows = [("rank-window", self.rank_window), ("sad-window", self.sad_window), ("window", self.window)];
        for (name, window) in windows {
            if window % 2 == 0 {
                return fail(format!("--{name} {window}: a window has a centre, so its size is odd"));
            }
        }
        if self.paths == 0 {
            return Ok(());
        }
        if self.p2 <= self.p1 {
            return fail(format!(
                "--p1 {} is not below --p2 {}: P1 punishes a step of 1 px and P2 a larger one, so P2 has to be larger",
                self.p1, self.p2
            ));
        }
        if self.adaptive_p2 != AdaptiveP2::Off && self.p2_min <= self.p1 {
            return fail(format!(
                "--p2-min {} is not above --p1 {}: use at least {}",
                self.p2_min,
                self.p1,
                self.p1 + 1
            ));
        }
        self.validate_sum()
    }

    /// How many paths the 16-bit sum takes with these penalties.
    pub fn most_paths(&self) -> u32 {
        (LARGEST_SUM / (self.largest_cost() + self.largest_p2())).min(MAX_PATHS)
    }

    /// The largest P2 that the 16-bit sum takes with so many paths, at least one; 0 if there is none.
    pub fn most_p2(&self) -> u32 {
        (LARGEST_SUM / self.summed_paths().max(1)).saturating_sub(self.largest_cost())
    }

    /// Paths that are summed, here or in the smaller pictures of gating, which have a number of their own.
    fn summed_paths(&self) -> u32 {
        self.paths.max(if self.gating.is_some() && self.paths > 0 { COARSE_PATHS } else { 0 })
    }

    fn validate_sum(&self) -> Result<(), ParamsError> {
        let (cost, p2) = (self.largest_cost(), self.largest_p2());
        let paths = self.summed_paths();
        if paths * (cost + p2) <= LARGEST_SUM {
            return Ok(());
        }
        let flag = if p2 > self.p2 { "p2-min" } else { "p2" };
        let fewer = if self.paths <= self.most_paths() {
            "the smaller pictures of --gating need as many; use --gating off".to_owned()
        } else {
            format!("use at most {} paths", self.most_paths())
        };
        let fits = Some(self.most_p2()).filter(|&most| most > self.p1);
        let or_p2 = fits.map_or(String::new(), |most| format!(", or --{flag} up to {most}"));
        Err(ParamsError(format!(
            "--{flag} {p2}: {paths} paths of cost {cost} and penalty {p2} exceed the 16-bit sum; {fewer}{or_p2}"
        )))
    }

    /// Checks that the search range can match somewhere in a picture `width` px wide; the command line asks for
    /// this, the algorithm itself takes any range.
    ///
    /// # Errors
    /// Says why nothing can match.
    pub fn validate_range(&self, width: usize) -> Result<(), ParamsError> {
        let (first, last) =
            (i64::from(self.min_disparity), i64::from(self.min_disparity) + i64::from(self.num_disparities) - 1);
        let width = width as i64;
        if first >= width || last <= -width {
            return Err(ParamsError(format!(
                "disparities {first} to {last} px can match nowhere in a picture {width} px wide: choose --min-disparity between {} and {}",
                -width + 1,
                width - 1
            )));
        }
        Ok(())
    }

    /// `name = value` for every parameter, in the words of the command line.
    pub fn words(&self) -> impl Iterator<Item = (&'static str, Value)> + '_ {
        Self::table().iter().map(|p| (p.name, (p.get)(self)))
    }
}

impl serde::Serialize for StereoParams {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        use serde::ser::SerializeMap;
        let mut map = serializer.serialize_map(None)?;
        for (name, value) in self.words() {
            match value {
                Value::Integer(v) => map.serialize_entry(name, &v)?,
                Value::Switch(on) => map.serialize_entry(name, &on)?,
                Value::Choice(word) => map.serialize_entry(name, word)?,
                Value::Off => map.serialize_entry(name, "off")?,
            }
        }
        map.end()
    }
}
