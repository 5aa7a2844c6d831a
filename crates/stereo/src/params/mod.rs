//! Parameters of matching: each one declared once, with its default, range, unit, help and properties.

mod error;
mod limits;
mod rules;
pub mod words;

pub use error::ParamsError;
pub(crate) use limits::COARSE_PATHS;

use std::ops::RangeInclusive;
use stereopsis_base::parameter::{Parameter, ParameterType, TimeEffect, Value, only_if, parameters};
use words::{
    AdaptiveP2, Aggregation, CostKind, Fill, GateBounds, MAX_PATHS, Median, MiStart, Persistence, RightMatching,
    Subpixel, Temporal,
};

parameters! {
    /// Parameters of the whole matching pipeline, for all engines.
    pub struct StereoParams {
        /// Smallest disparity searched; negative for converging cameras. Depth beyond it cannot be found.
        min_disparity: i32 = 0, "min-disparity", "First disparity", -1024..=1023, "px", Range, Basic {
            less_more: Some(("farther things are seen", "far things are cut off")),
            slider: Some(|_| -64..=64), time: TimeEffect::None,
        };
        /// Number of disparities searched, from the smallest up. More see nearer and take longer.
        num_disparities: u32 = 64, "num-disparities", "Disparities", 1..=1024, "px", Range, Basic {
            less_more: Some(("near things are cut off", "nearer things are seen")),
            slider: Some(|_| 1..=256),
        };
        /// Matching cost of two pixels.
        cost: CostKind = CostKind::Census5x5, "cost", "Cost", 0..=0, "", Cost, Basic {
            engine_criterion: Some(|p| Value::Switch(p.cost.is_learned())),
        };
        /// Window of the rank transform; odd.
        rank_window: u32 = 9, "rank-window", "Rank window", 3..=9, "px", Cost, Advanced {
            less_more: Some(("sharper edges, more noise", "calmer surfaces, thicker edges")),
            belongs: Some(|p| only_if(p.cost.has_parameter("rank-window"), "Only the cost rank has this window.")),
            is_odd: true,
        };
        /// Window of the sum of absolute differences; odd.
        sad_window: u32 = 5, "sad-window", "SAD window", 1..=21, "px", Cost, Advanced {
            less_more: Some(("sharper edges, more noise", "calmer surfaces, thicker edges")),
            belongs: Some(|p| only_if(p.cost.has_parameter("sad-window"), "Only the cost sad has this window.")),
            is_odd: true,
        };
        /// Number of image sizes at which mutual information is learned. Each is half the next: 5 start at a sixteenth, 1 uses the full
        /// size alone.
        mi_levels: u32 = 5, "mi-levels", "MI levels", 1..=5, "", Cost, Advanced {
            belongs: Some(|p| only_if(p.cost.has_parameter("mi-levels"), "Only the cost mutual-information is learned.")),
        };
        /// Disparities with which mutual information starts at the smallest size.
        mi_start: MiStart = MiStart::Random, "mi-start", "MI start", 0..=0, "", Cost, Advanced {
            belongs: Some(|p| only_if(p.cost.has_parameter("mi-start"), "Only the cost mutual-information is learned.")),
        };
        /// Local aggregation of the costs, before the paths or, with 0 paths, instead of them.
        aggregation: Aggregation = Aggregation::None, "aggregation", "Aggregation", 0..=0, "", Aggregation, Advanced {
            engine_criterion: Some(|p| p.aggregation.to_value()),
        };
        /// Window of the aggregations window and adaptive-weight; odd.
        window: u32 = 9, "window", "Window", 1..=33, "px", Aggregation, Advanced {
            less_more: Some(("sharper edges, more noise", "calmer surfaces, thicker edges")),
            belongs: Some(|p| only_if(p.aggregation.has_window(), "Only the aggregations window and adaptive-weight have a window.")),
            is_odd: true,
        };
        /// Tolerance of a weighted aggregation for brightness differences. The weight of a pixel has the factor exp(-dI^2 / gamma).
        gamma_color: u32 = 400, "gamma-color", "Grey gamma", 1..=65025, "", Aggregation, Advanced {
            less_more: Some(("only pixels of nearly the same brightness count", "others count too")),
            belongs: Some(|p| only_if(p.aggregation.has_weights(), "Only the aggregations adaptive-weight and weighted-cross have weights.")),
            slider: Some(|_| 1..=1000), time: TimeEffect::None,
        };
        /// Reach of a weighted aggregation. The weight of a pixel has the factor exp(-distance^2 / gamma).
        gamma_space: u32 = 300, "gamma-space", "Distance gamma", 1..=65025, "px²", Aggregation, Advanced {
            less_more: Some(("only near pixels count", "farther ones count too")),
            belongs: Some(|p| only_if(p.aggregation.has_weights(), "Only the aggregations adaptive-weight and weighted-cross have weights.")),
            slider: Some(|_| 1..=1000), time: TimeEffect::None,
        };
        /// Brightness difference at which the arms of cross and weighted-cross end.
        tau: u32 = 12, "tau", "Tau", 0..=255, "", Aggregation, Advanced {
            less_more: Some(("shorter arms, sharper edges", "longer arms, calmer surfaces")),
            belongs: Some(|p| only_if(p.aggregation.has_arms(), "Only the aggregations cross and weighted-cross have arms.")),
            time: TimeEffect::None,
        };
        /// Longest arm of the aggregations cross and weighted-cross.
        arms: u32 = 17, "arms", "Arms", 1..=30, "px", Aggregation, Advanced {
            less_more: Some(("sharper edges, more noise", "calmer surfaces")),
            belongs: Some(|p| only_if(p.aggregation.has_arms(), "Only the aggregations cross and weighted-cross have arms.")),
        };
        /// Number of path directions, at equal angles; 0 leaves the paths out. More make the streaks of single directions fade, and take
        /// longer.
        paths: u32 = 8, "paths", "Paths", 0..=i64::from(MAX_PATHS), "", Paths, Basic {
            less_more: Some(("streaks along the directions", "no streaks, smoother")),
            largest: |p| Some(p.paths_limit()), shortcuts: &[4, 8, 16],
        };
        /// Angle of the first path direction, clockwise from the right. An odd one keeps paths from running along the walls and edges
        /// of a scene.
        start_angle_deg: u32 = 0, "start-angle-deg", "Start angle", 0..=359, "deg", Paths, Advanced {
            applies: |p| only_if(p.paths > 0, "Without paths there are no directions."),
        };
        /// Penalty for a disparity step of 1 px between neighbours: slanted surfaces.
        p1: u32 = CostKind::Census5x5.penalties().p1, "p1", "P1", 0..=4096, "", Paths, Basic {
            less_more: Some(("slanted surfaces follow, more noise", "flatter surfaces, with steps")),
            applies: |p| only_if(p.paths > 0, "Without paths there are no penalties."),
            slider: Some(|p| 0..=i64::from(2 * p.largest_cost())), largest: |p| p.penalty_limit(1),
            time: TimeEffect::None,
        };
        /// Penalty for a larger step: edges of objects. Above P1; more is smoother.
        p2: u32 = CostKind::Census5x5.penalties().p2, "p2", "P2", 1..=8191, "", Paths, Basic {
            less_more: Some(("more edges, more noise", "smoother, small things vanish")),
            applies: |p| only_if(p.paths > 0, "Without paths there are no penalties."),
            slider: Some(|p| 1..=i64::from(6 * p.largest_cost())), smallest: Some(StereoParams::smallest_p2),
            largest: |p| p.penalty_limit(0), time: TimeEffect::None,
        };
        /// Dependence of P2 on the brightness step along a path. Edges of objects are often edges of brightness.
        adaptive_p2: AdaptiveP2 = AdaptiveP2::Linear, "adaptive-p2", "Adaptive P2", 0..=0, "", Paths, Basic {
            applies: |p| only_if(p.paths > 0, "Without paths there are no penalties."), time: TimeEffect::None,
        };
        /// Smallest P2 that adaptation leaves; at least P1 + 1, and follows P1 up.
        p2_min: u32 = CostKind::Census5x5.penalties().p2_min, "p2-min", "P2 min", 1..=8191, "", Paths, Advanced {
            less_more: Some(("sharper depth edges at edges of brightness", "smoother there too")),
            applies: |p| only_if(p.paths > 0 && p.adaptive_p2 != AdaptiveP2::Off, "Only an adaptive P2 has a smallest value."),
            slider: Some(|p| 1..=i64::from(6 * p.largest_cost())), smallest: Some(StereoParams::smallest_p2),
            largest: |p| p.penalty_limit(0).filter(|_| p.adaptive_p2 != AdaptiveP2::Off), time: TimeEffect::None,
        };
        /// Slope of a linear P2: sixteenths of P2 units per grey level.
        p2_alpha: u32 = CostKind::Census5x5.penalties().p2_alpha, "p2-alpha", "P2 alpha", 0..=4096, "/16", Paths, Advanced {
            less_more: Some(("P2 stays high at edges of brightness", "P2 falls sooner, sharper edges")),
            applies: |p| only_if(p.paths > 0 && p.adaptive_p2 == AdaptiveP2::Linear, "Only a linear adaptive P2 has this slope."),
            slider: Some(|p| 0..=i64::from(4 * p.largest_cost())), time: TimeEffect::None,
        };
        /// Number of times the pair is halved for a first match, which limits the search range of each pixel. Halves the memory of long
        /// ranges, but can miss small objects far from their surroundings in depth.
        gating: Option<u32> = None, "gating", "Gating", 1..=6, "", Range, Advanced {
            engine_criterion: Some(|p| Value::Switch(p.gating.is_some())),
        };
        /// Search range of a gated pixel around the disparities of the smaller images.
        gate_bounds: GateBounds = GateBounds::Percentiles, "gate-bounds", "Gate bounds", 0..=0, "", Range, Advanced {
            applies: |p| only_if(p.gating.is_some(), "Gating is off."),
        };
        /// Curve through the three sums around the winner; its lowest point is the disparity.
        subpixel: Subpixel = Subpixel::Equiangular, "subpixel", "Sub-pixel", 0..=0, "", Smoothing, Basic {
            former_words: &[("on", "parabola"), ("true", "parabola"), ("false", "off")],
        };
        /// Drop a pixel whose sum exceeds this percentage of the largest possible one.
        match_threshold: Option<u32> = None, "match-threshold", "Match threshold", 1..=99, "%", Rejection, Advanced {
            less_more: Some(("more pixels are dropped", "poor matches stay")),
            time: TimeEffect::OnOff,
        };
        /// Drop a pixel whose window, or that of a candidate, leaves the images. A test of Leu et al. 2010.
        drop_border: bool = false, "drop-border", "Drop the border", 0..=1, "", Rejection, Advanced;
        /// Drop a pixel if another disparity's sum is within this percentage of the winner's; 0 keeps all.
        uniqueness: u32 = 0, "uniqueness", "Uniqueness", 0..=99, "%", Rejection, Advanced {
            less_more: Some(("ambiguous pixels stay", "more of them are dropped")),
            slider: Some(|_| 0..=30), time: TimeEffect::OnOff,
        };
        /// Compute how clearly each disparity won, or with the learned choice its chance of being right. It is a view in the window and a
        /// file of compute --confidence-map; the disparities stay the same.
        confidence: bool = false, "confidence", "Confidence", 0..=1, "", Rejection, Advanced;
        /// Drop a pixel if the right image's disparity differs by more than this.
        left_right: Option<u32> = Some(1), "left-right", "Left-right check", 0..=64, "px", Rejection, Basic {
            less_more: Some(("more pixels are dropped, fewer errors", "more pixels stay, more errors")),
            slider: Some(|_| 0..=8), time: TimeEffect::OnOff,
        };
        /// Source of the right image's disparities.
        right_matching: RightMatching = RightMatching::Diagonal, "right-matching", "Right matching", 0..=0, "", Rejection, Advanced {
            applies: |p| only_if(p.left_right.is_some(), "Only the left-right check looks at the right image's disparities."),
        };
        /// Median filter of the disparities, before the left-right check.
        median: Median = Median::Three, "median", "Median", 0..=0, "px", Smoothing, Basic;
        /// Drop connected regions of at most this many pixels; 0 keeps all.
        speckle_size: u32 = 100, "speckle-size", "Speckle size", 0..=100_000, "px", Rejection, Advanced {
            less_more: Some(("small patches stay", "larger patches are dropped")),
            slider: Some(|_| 0..=1000), time: TimeEffect::OnOff,
        };
        /// Neighbours whose disparities differ by at most this belong to one region.
        speckle_range: u32 = 1, "speckle-range", "Speckle range", 0..=64, "px", Rejection, Advanced {
            less_more: Some(("regions break up, more is dropped", "regions join, more stays")),
            applies: |p| only_if(p.speckle_size > 0, "No speckle is removed: its size is 0."),
            slider: Some(|_| 0..=8), time: TimeEffect::None,
        };
        /// Number of passes of an edge-preserving running mean along rows and columns.
        spatial: Option<u32> = None, "spatial", "Spatial filter", 1..=5, "", Smoothing, Basic;
        /// Weight of the next pixel in the spatial running mean: less is smoother.
        spatial_alpha: u32 = 50, "spatial-alpha", "Spatial alpha", 1..=100, "%", Smoothing, Advanced {
            less_more: Some(("smoother", "closer to what was measured")),
            belongs: Some(|p| only_if(p.spatial.is_some(), "The spatial filter is off.")),
            time: TimeEffect::None,
        };
        /// Disparity step that the spatial filter keeps as an edge: sixteenths of a pixel.
        spatial_delta: u32 = 10, "spatial-delta", "Spatial delta", 1..=255, "/16", Smoothing, Advanced {
            less_more: Some(("more steps count as edges", "only larger steps do")),
            belongs: Some(|p| only_if(p.spatial.is_some(), "The spatial filter is off.")),
            time: TimeEffect::None,
        };
        /// Running mean of each disparity over the pairs, against flicker. Holes keep the last disparity for a moment, and the learned
        /// choice prefers its previous choice.
        temporal: Temporal = Temporal::Auto, "temporal", "Temporal filter", 0..=0, "", Smoothing, Basic {
            former_words: &[("true", "on"), ("false", "off")],
        };
        /// Weight of the newest pair in the temporal running mean: less is calmer and slower to follow.
        temporal_alpha: u32 = 40, "temporal-alpha", "Temporal alpha", 1..=100, "%", Smoothing, Advanced {
            less_more: Some(("calmer, follows slowly", "follows quickly, flickers")),
            belongs: Some(|p| only_if(p.smooths_over_time(), "The temporal filter is not set to on.")),
            time: TimeEffect::None,
        };
        /// Disparity step from pair to pair that counts as a change of the scene: sixteenths of a pixel.
        temporal_delta: u32 = 10, "temporal-delta", "Temporal delta", 1..=255, "/16", Smoothing, Advanced {
            less_more: Some(("more changes count as motion", "only larger ones do")),
            belongs: Some(|p| only_if(p.smooths_over_time(), "The temporal filter is not set to on.")),
            time: TimeEffect::None,
        };
        /// Condition under which a hole keeps its previous disparity.
        persistence: Persistence = Persistence::TwoOfFour, "persistence", "Persistence", 0..=0, "", Smoothing, Advanced {
            belongs: Some(|p| only_if(p.smooths_over_time(), "The temporal filter is not set to on.")),
        };
        /// Choose again at edges of depth and in filled holes with a small network. It judges the disparities around each pixel of the
        /// left map.
        choice: bool = false, "choice", "Learned choice", 0..=1, "", Smoothing, Advanced;
        /// Drop a disparity, measured or filled, whose chance of being right is smaller.
        min_chance: Option<u32> = None, "min-chance", "Least chance", 1..=99, "%", Rejection, Advanced {
            less_more: Some(("unlikely disparities stay", "more of them are dropped")),
            belongs: Some(|p| only_if(p.choice, "Only the learned choice knows how likely a disparity is.")),
            time: TimeEffect::None,
        };
        /// Move edges of depth to edges of colour by a weighted median. Without colours brightness decides.
        weighted_median: bool = true, "weighted-median", "Weighted median", 0..=1, "", Smoothing, Advanced;
        /// Fill pixels without a disparity. Filled depth is invented.
        fill: Fill = Fill::None, "fill", "Fill", 0..=0, "", Fill, Advanced;
    }
}

impl StereoParams {
    /// Returns the parameter named `name`.
    pub fn parameter(name: &str) -> Option<&'static Parameter<Self>> {
        Self::table().iter().find(|p| p.name == name)
    }

    /// Returns the name and value of every parameter, in the words of the command line.
    pub fn words(&self) -> impl Iterator<Item = (&'static str, Value)> + '_ {
        Self::table().iter().map(|p| (p.name, (p.get)(self)))
    }

    /// Returns the values that `--engine auto` depends on: the engines are timed again where they change.
    pub fn engine_criteria(&self) -> Vec<Value> {
        Self::table().iter().filter_map(|p| p.properties.engine_criterion.map(|criterion| criterion(self))).collect()
    }

    /// Whether a filter reads colours.
    pub fn reads_colors(&self) -> bool {
        self.weighted_median || self.choice
    }

    /// Returns the disparity of candidate `index`, px.
    pub fn disparity(&self, index: usize) -> i32 {
        self.min_disparity + index as i32
    }

    /// Returns the searched disparities, px.
    pub fn disparities(&self) -> RangeInclusive<i32> {
        self.min_disparity..=self.last_disparity()
    }

    /// Whether a parameter acts on the maps of any matcher, and not on costs and sums of semi-global matching: the range, the
    /// left-right check and the filters, by the name of the parameter.
    pub fn acts_on_any_matcher(name: &str) -> bool {
        const OF_ANY: [&str; 15] = [
            "min-disparity",
            "num-disparities",
            "left-right",
            "speckle-size",
            "speckle-range",
            "median",
            "spatial",
            "spatial-alpha",
            "spatial-delta",
            "temporal",
            "temporal-alpha",
            "temporal-delta",
            "persistence",
            "weighted-median",
            "fill",
        ];
        OF_ANY.contains(&name)
    }

    /// Returns the largest searched disparity, px.
    pub fn last_disparity(&self) -> i32 {
        self.disparity(self.num_disparities as usize - 1)
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
