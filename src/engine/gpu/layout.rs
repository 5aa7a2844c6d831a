//! How a job lies in the device's memory: which volumes there are, how large, and over how many buffers each is spread.

use super::kernels::{Kernel, Local};
use super::uniforms::map_pitch;
use super::variant::{Abilities, CostsFrom, Demands, Variant};
use crate::engine::EngineError;
use crate::stereo::aggregate::{Axis, Direction, directions};
use crate::stereo::cost::Comparison;
use crate::stereo::local::Unit;
use crate::stereo::{Aggregation, CostKind, Fill, Median, RightMatching, StereoParams, pyramid};

/// The direction straight to the right, which the winner can walk itself.
const ALONG_ROW: Direction = Direction { major: Axis::X, dx: 1, dy: 1, slope: 0 };

/// What of the parameters decides buffers, kernels and dispatches; the rest are numbers in uniforms.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[allow(clippy::struct_excessive_bools, reason = "each is an option of its own")]
pub struct Structure {
    /// Columns.
    pub width: usize,
    /// Rows.
    pub height: usize,
    /// Candidates of a pixel.
    pub candidates: u32,
    /// How pixels are compared.
    pub cost: CostKind,
    /// How costs are aggregated over their surroundings.
    pub aggregation: Aggregation,
    /// In what the aggregated ones are counted.
    pub unit: Unit,
    /// Pixels from the centre of a local aggregation to its farthest neighbour along an axis; 0 without one.
    pub local_reach: u32,
    /// Window of the rank transform, px.
    pub rank_window: u32,
    /// Window of SAD, px.
    pub sad_window: u32,
    /// Directions.
    pub paths: u32,
    /// Angle of the first one; 0 without any.
    pub start_angle_deg: u32,
    /// Largest matching cost.
    pub largest_cost: u32,
    /// Largest P2 that can occur.
    pub largest_p2: u32,
    /// Whether rivals of the winner are looked for: uniqueness, confidence.
    pub rivals: bool,
    /// Whether winners are dropped at the border or by the match threshold.
    pub drops: bool,
    /// Whether there is a left-right check.
    pub checked: bool,
    /// Whether the right picture's map is a result too.
    pub wants_right: bool,
    /// Whether the right picture's map is needed and comes from matching once more with the pictures swapped.
    pub swapped: bool,
    /// Whether this is that match: of the mirrored pictures, each in the other's place.
    pub mirrored: bool,
    /// The median.
    pub median: Median,
    /// Whether speckle is removed.
    pub speckle: bool,
    /// How often surfaces are smoothed.
    pub spatial: u32,
    /// What holes are filled with.
    pub fill: Fill,
    /// Whether a coarser level gates this one.
    pub gated: bool,
    /// Whether mutual information is learned from a coarser level's map.
    pub has_coarse_information: bool,
    /// Whether mutual information starts from the map of the pair before, on the coarsest level.
    pub starts_from_last: bool,
    /// Whether maps are smoothed over the pairs.
    pub temporal: bool,
}

impl Structure {
    /// The pair itself first, then the coarser levels that gate it or tell what costs are, each with its parameters.
    pub fn levels(size: (usize, usize), params: &StereoParams) -> Vec<(Self, StereoParams)> {
        Self::levels_of(size, params, false)
    }

    /// The same, with the right picture's map if `wants_right`. Where it comes from matching with the pictures swapped, that
    /// is the last one.
    pub fn levels_of(size: (usize, usize), params: &StereoParams, wants_right: bool) -> Vec<(Self, StereoParams)> {
        let mut levels = Vec::new();
        let mut next = Some((size, params.clone(), wants_right));
        while let Some((size, params, wants_right)) = next {
            let coarser = pyramid::coarser(size, &params);
            let structure = Self::new(size, &params, wants_right);
            // their gates come from either map
            let wants_both = structure.swapped && structure.gated;
            levels.push((structure, params));
            next = coarser.map(|params| ((size.0.div_ceil(2), size.1.div_ceil(2)), params, wants_both));
        }
        let pair = &levels[0];
        levels.extend(pair.0.swapped.then(|| Self::swapped(size, &pair.1)));
        levels
    }

    /// How the mirrored pictures that have changed places are matched.
    fn swapped(size: (usize, usize), params: &StereoParams) -> (Self, StereoParams) {
        let params = StereoParams {
            confidence: false,
            left_right: None,
            right_matching: RightMatching::Diagonal,
            ..params.clone()
        };
        (Self { mirrored: true, ..Self::new(size, &params, false) }, params)
    }

    fn new(size: (usize, usize), params: &StereoParams, wants_right: bool) -> Self {
        let (width, height) = size;
        Self {
            width,
            height,
            candidates: params.num_disparities,
            cost: params.cost,
            aggregation: params.aggregation,
            unit: params.unit(),
            local_reach: params.local_reach() as u32,
            rank_window: params.rank_window,
            sad_window: params.sad_window,
            paths: params.paths,
            start_angle_deg: if params.paths == 0 { 0 } else { params.start_angle_deg },
            largest_cost: params.largest_cost(),
            largest_p2: params.largest_p2(),
            rivals: params.uniqueness > 0 || params.confidence,
            drops: params.drop_border || params.match_threshold.is_some(),
            checked: params.left_right.is_some(),
            wants_right,
            swapped: has_swapped(params, wants_right),
            mirrored: false,
            median: params.median,
            speckle: params.speckle_size > 0,
            spatial: params.spatial.unwrap_or(0),
            fill: params.fill,
            gated: pyramid::is_gated(size, params),
            has_coarse_information: pyramid::has_coarse_information(size, params),
            starts_from_last: params.starts_from_last(),
            temporal: params.temporal,
        }
    }

    /// Whether the right picture's map is needed, for the check or as a result.
    pub fn has_right(&self) -> bool {
        self.checked || self.wants_right
    }

    /// Whether the right picture's map comes from the same sums as the left one.
    pub fn is_diagonal(&self) -> bool {
        self.has_right() && !self.swapped
    }

    /// Pixels of a picture.
    pub fn pixels(&self) -> u64 {
        self.width as u64 * self.height as u64
    }

    /// SAD that is neither aggregated nor summed over paths: exact sums instead of a byte for each cost.
    pub fn block_matching(&self) -> bool {
        self.paths == 0
            && self.cost.comparison() == Comparison::WindowedDifference
            && self.aggregation == Aggregation::None
    }

    /// Exact sums of 32 bits decide: those of SAD, or aggregated costs without paths.
    pub fn exact(&self) -> bool {
        self.block_matching() || (self.paths == 0 && self.aggregation != Aggregation::None)
    }

    /// The local aggregation, if there is one.
    pub fn local(&self) -> Option<Local> {
        let Self { aggregation: kind, local_reach: reach, unit, .. } = *self;
        (kind != Aggregation::None).then(|| Local { kind, reach, unit, exact: self.exact() })
    }

    /// All directions.
    pub fn directions(&self) -> Vec<Direction> {
        directions(self.paths, self.start_angle_deg)
    }

    /// What variants have to fit.
    pub fn demands(&self) -> Demands {
        Demands {
            candidates: self.candidates,
            wide: self.paths > 0 && self.largest_p2 > 255,
            has_codes: self.cost.comparison() != Comparison::WindowedDifference
                && self.aggregation == Aggregation::None,
            has_row_path: self.directions().contains(&ALONG_ROW),
            largest: if self.paths == 0 { 255 } else { self.largest_cost + 2 * self.largest_p2 },
        }
    }
}

/// Whether the right picture's map is needed and matched for on its own.
fn has_swapped(params: &StereoParams, wants_right: bool) -> bool {
    params.right_matching == RightMatching::Swapped && (wants_right || params.left_right.is_some())
}

/// What a device allows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// What variants ask for.
    pub abilities: Abilities,
    /// Bytes of one binding.
    pub binding_bytes: u64,
    /// Storage buffers that a kernel sees.
    pub storage_buffers: u32,
    /// Pixels of a texture's side.
    pub side_px: usize,
    /// Bytes that stored path costs may take.
    pub path_bytes: u64,
}

/// Storage buffers of the winner beside those with path costs: map, keys, gates, kept sums, costs or codes, a table that
/// compares codes, earlier sums.
const WINNERS_OTHER_BUFFERS: u32 = 7;

/// One level's kernels and buffers.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Layout {
    /// What is to be done.
    pub structure: Structure,
    /// What its kernels' texts follow from.
    pub kernel: Kernel,
    /// Whether the path along the row is walked by the winner.
    pub fused: bool,
    /// Volumes of path costs that are kept at a time.
    pub volumes: u32,
    /// Rows of a volume in each of its buffers.
    pub slab_rows: u32,
    /// Words of costs that a pixel owns.
    pub words: u32,
}

impl Layout {
    /// As the variant and the device's limits ask for it.
    ///
    /// # Errors
    /// [`EngineError::TooLarge`] with the numbers.
    pub fn new(structure: Structure, variant: Variant, limits: &Limits, adapter: &str) -> Result<Self, EngineError> {
        let Structure { width, height, candidates, cost, .. } = structure;
        if width.max(height) > limits.side_px {
            return Err(EngineError::TooLarge(format!(
                "a picture of {width}x{height} is too large for {adapter}, which allows {} px a side; lower --scale",
                limits.side_px
            )));
        }
        let demands = structure.demands();
        let lanes = variant.lanes(candidates);
        let words = lanes * variant.words;
        let stored = structure.directions().len() as u32 - u32::from(variant.fused);
        let path_bytes = if demands.wide { 2 } else { 1 };
        let row = width as u64 * 4 * u64::from(words);
        let volume_bytes = row * height as u64;
        let room = (limits.path_bytes / (volume_bytes * path_bytes)).clamp(1, u64::from(u32::MAX)) as u32;
        let bindings = limits.storage_buffers.saturating_sub(WINNERS_OTHER_BUFFERS).max(1);
        let volumes = stored.min(room).min(bindings);
        // the widest of a row of costs, of path costs, of sums, of exact sums, of sums over arms
        let widest = row
            * if structure.exact() || structure.aggregation == Aggregation::Cross {
                4
            } else if stored > volumes {
                2
            } else {
                path_bytes
            };
        let slab_rows = (limits.binding_bytes / widest).min(height as u64) as u32;
        let slabs = if slab_rows == 0 { u32::MAX } else { (height as u32).div_ceil(slab_rows) };
        // costs and path costs are both bound in all their slabs where a path may go anywhere, beside the gates; or codes and
        // their table
        let most_slabs = if variant.costs == CostsFrom::Codes {
            limits.storage_buffers - 3
        } else {
            (limits.storage_buffers - 1) / 2
        };
        let most_bytes = u64::from(most_slabs) * limits.binding_bytes;
        if slabs > most_slabs || volume_bytes / 4 > u64::from(u32::MAX) {
            return Err(EngineError::TooLarge(format!(
                "{width}x{height} with {candidates} disparities needs volumes of {} MiB, and {adapter} allows {} MiB; \
                 lower --num-disparities or --scale",
                (widest * height as u64).div_ceil(1 << 20),
                most_bytes.min(4 * u64::from(u32::MAX)) >> 20
            )));
        }
        let kernel = Kernel {
            variant,
            candidates,
            cost,
            wide: demands.wide,
            gated: structure.gated,
            mirrored: structure.mirrored,
            has_i16: limits.abilities.i16,
            slabs,
        };
        Ok(Self { fused: variant.fused, volumes, slab_rows, words, kernel, structure })
    }

    /// Buffers over which each volume is spread.
    pub fn slabs(&self) -> u32 {
        self.kernel.slabs
    }

    /// Rows of slab number `slab`.
    pub fn rows(&self, slab: u32) -> std::ops::Range<u32> {
        let first = slab * self.slab_rows;
        first..(first + self.slab_rows).min(self.structure.height as u32)
    }

    /// Bytes of a row with `bytes` for each candidate.
    fn row_bytes(&self, bytes: u64) -> u64 {
        self.structure.width as u64 * 4 * u64::from(self.words) * bytes
    }

    /// Bytes of one slab of costs; none where they come from codes.
    pub fn cost_bytes(&self) -> u64 {
        let is_volume = self.kernel.variant.costs == CostsFrom::Volume && !self.structure.block_matching();
        if is_volume { self.row_bytes(1) * u64::from(self.slab_rows) } else { 0 }
    }

    /// Bytes of one slab of aggregated costs for the paths.
    pub fn aggregated_bytes(&self) -> u64 {
        let is_volume = self.structure.aggregation != Aggregation::None && !self.structure.exact();
        if is_volume { self.row_bytes(1) * u64::from(self.slab_rows) } else { 0 }
    }

    /// Bytes of the arms of both pictures.
    pub fn arm_bytes(&self) -> u64 {
        if self.structure.aggregation.has_arms() { 2 * 4 * self.structure.pixels() } else { 0 }
    }

    /// Bytes of one slab of sums over horizontal arms.
    pub fn arm_sum_bytes(&self) -> u64 {
        let is_cross = self.structure.aggregation == Aggregation::Cross;
        if is_cross { self.row_bytes(4) * u64::from(self.slab_rows) } else { 0 }
    }

    /// Bytes of each candidate's path cost.
    pub fn path_cost_bytes(&self) -> u64 {
        if self.kernel.wide { 2 } else { 1 }
    }

    /// Bytes of one slab of path costs.
    pub fn path_bytes(&self) -> u64 {
        self.row_bytes(self.path_cost_bytes()) * u64::from(self.slab_rows)
    }

    /// Bytes of the path costs of one direction.
    pub fn volume_path_bytes(&self) -> u64 {
        self.path_bytes() * u64::from(self.slabs())
    }

    /// Directions whose path costs are stored.
    pub fn stored(&self) -> Vec<Direction> {
        let mut directions = self.structure.directions();
        if self.fused {
            directions.retain(|direction| *direction != ALONG_ROW);
        }
        directions
    }

    /// Whether stored directions take turns in memory, so that sums are kept between.
    pub fn has_batches(&self) -> bool {
        self.stored().len() as u32 > self.volumes
    }

    /// Bytes of one slab of sums of earlier batches.
    pub fn sum_bytes(&self) -> u64 {
        if self.has_batches() { self.row_bytes(2) * u64::from(self.slab_rows) } else { 0 }
    }

    /// Bytes of one slab of exact sums.
    pub fn exact_bytes(&self) -> u64 {
        if self.structure.exact() { self.row_bytes(4) * u64::from(self.slab_rows) } else { 0 }
    }

    /// Bytes of the codes of both pictures.
    pub fn code_bytes(&self) -> u64 {
        let each = match self.structure.cost.comparison() {
            Comparison::Hamming(_) | Comparison::Tables { .. } => 8,
            Comparison::Difference(_) | Comparison::LearnedTable => 4,
            Comparison::WindowedDifference => 0,
        };
        2 * each * self.structure.pixels()
    }

    /// Bytes of a map.
    pub fn map_bytes(&self) -> u64 {
        map_pitch(self.structure.width) as u64 * self.structure.height as u64 * 4
    }

    /// Bytes of a level's gates, for pixels of half the size.
    pub fn gate_bytes(&self) -> u64 {
        let Structure { width, height, gated, .. } = self.structure;
        if gated { 4 * (width.div_ceil(2) * height.div_ceil(2)) as u64 } else { 0 }
    }

    /// Bytes of what is remembered from pair to pair: the last map, and running means.
    pub fn past_bytes(&self) -> [u64; 2] {
        let Structure { starts_from_last, temporal, .. } = self.structure;
        [starts_from_last, temporal].map(|is_kept| if is_kept { self.map_bytes() } else { 0 })
    }

    /// Bytes of everything together.
    pub fn total_bytes(&self) -> u64 {
        if self.structure.mirrored {
            return 2 * 4 * self.structure.pixels() + self.gate_bytes(); // the rest is the pair's own
        }
        let slabs = u64::from(self.slabs());
        let local = self.aggregated_bytes() + self.arm_sum_bytes();
        let volumes = self.cost_bytes()
            + local
            + self.sum_bytes()
            + self.exact_bytes()
            + u64::from(self.volumes) * self.path_bytes();
        self.code_bytes() + self.arm_bytes() + slabs * volumes + 7 * self.map_bytes() + self.gate_bytes()
    }
}
