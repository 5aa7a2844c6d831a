//! Layout of a job in the device's memory: the volumes, their sizes, and the buffers (slabs) over which each is spread.

use super::kernels::{KernelConfig, LocalConfig};
use super::limits::{Limits, STORAGE_BUFFERS};
use super::resource::{MutualInformation, Resource};
use super::variant::{CostSource, Requirements, Variant};
use crate::error::GpuError;
use stereopsis_frame::engine::EngineError;
use stereopsis_stereo::aggregate::{Axis, Direction, directions};
use stereopsis_stereo::cost::Comparison;
use stereopsis_stereo::cost::mutual_information::{LEVELS, LOG_TABLE_BITS};
use stereopsis_stereo::filter::segments::MIN_SEGMENT;
use stereopsis_stereo::filter::{FilterKind, choice};
use stereopsis_stereo::local::Unit;
use stereopsis_stereo::{Aggregation, GateBounds, RightMatching, StereoParams, pyramid};

/// Direction straight to the right, whose path the winner kernel can compute.
const ALONG_ROW: Direction = Direction { major: Axis::X, dx: 1, dy: 1, slope: 0 };

/// Structural parameters of a level: they decide buffers, kernels and dispatches. Other parameters are numbers in uniforms.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[allow(clippy::struct_excessive_bools, reason = "each is an option of its own")]
pub struct Structure {
    /// Number of columns.
    pub width: usize,
    /// Number of rows.
    pub height: usize,
    /// Number of candidates of a pixel.
    pub candidates: u32,
    /// Codes of pixels and their comparison.
    pub comparison: Comparison,
    /// Local aggregation of the costs.
    pub aggregation: Aggregation,
    /// Unit of the aggregated costs.
    pub unit: Unit,
    /// Distance from the centre of a local aggregation to its farthest neighbour along an axis, px; 0 without one.
    pub local_reach: u32,
    /// Window of the rank transform, px.
    pub rank_window: u32,
    /// Window of SAD, px.
    pub sad_window: u32,
    /// Number of directions.
    pub paths: u32,
    /// Angle of the first direction, degrees; 0 without any.
    pub start_angle_deg: u32,
    /// Largest P2 that can occur.
    pub largest_p2: u32,
    /// Whether the best rival of the winner is needed, for uniqueness or confidence.
    pub rivals: bool,
    /// Whether winners are dropped at the border or by the match threshold.
    pub drops: bool,
    /// Whether the right image's map is a result too.
    pub wants_right: bool,
    /// Whether the right image's map is needed and comes from a second matching with the images swapped.
    pub swapped: bool,
    /// Whether this level is that second matching, of mirrored images.
    pub mirrored: bool,
    /// Filters of the maps, in their order, each with its size, see [`FilterKind::active`].
    pub filters: Vec<(FilterKind, u32)>,
    /// Whether both images have colours, which a filter reads.
    pub colored: bool,
    /// Bounds by which a coarser level gates this one, if it does.
    pub gates: Option<GateBounds>,
    /// Whether mutual information is learned from a coarser level's map.
    pub has_coarse_information: bool,
    /// Whether mutual information starts from the map of the previous pair, on the coarsest level.
    pub starts_from_last: bool,
    /// Whether the learned choice reads that map.
    pub chooses_from_last: bool,
}

impl Structure {
    /// Returns the pair itself, then the coarser levels for gates or mutual information, each with its parameters.
    pub fn levels(size: (usize, usize), params: &StereoParams) -> Vec<(Self, StereoParams)> {
        Self::levels_of(size, params, false)
    }

    /// Returns these levels, with the right image's map if `wants_right`. Where the map comes from matching with the images swapped, that
    /// level is the last one.
    pub fn levels_of(size: (usize, usize), params: &StereoParams, wants_right: bool) -> Vec<(Self, StereoParams)> {
        let mut levels = Vec::new();
        let mut next = Some((size, params.clone(), wants_right));
        while let Some((size, params, wants_right)) = next {
            let coarser = pyramid::coarser(&params, size);
            let structure = Self::new(size, &params, wants_right);
            // the gates of both matchings come from the coarser maps
            let wants_both = structure.swapped && structure.gates.is_some();
            levels.push((structure, params));
            next = coarser.map(|params| ((size.0.div_ceil(2), size.1.div_ceil(2)), params, wants_both));
        }
        let pair = &levels[0];
        levels.extend(pair.0.swapped.then(|| Self::swapped(size, &pair.1)));
        levels
    }

    /// Returns the level of the mirrored and swapped images.
    fn swapped(size: (usize, usize), params: &StereoParams) -> (Self, StereoParams) {
        let params = StereoParams {
            confidence: false,
            choice: false,
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
            comparison: params.cost.comparison(),
            aggregation: params.aggregation,
            unit: params.unit(),
            local_reach: params.local_reach() as u32,
            rank_window: params.rank_window,
            sad_window: params.sad_window,
            paths: params.paths,
            start_angle_deg: if params.paths == 0 { 0 } else { params.start_angle_deg },
            largest_p2: params.largest_p2(),
            rivals: params.uniqueness > 0 || params.winners_have_confidence(),
            drops: params.drop_border || params.match_threshold.is_some(),
            wants_right,
            swapped: has_swapped(params, wants_right),
            mirrored: false,
            filters: FilterKind::active(params).collect(),
            colored: false,
            gates: pyramid::is_gated(params, size).then_some(params.gate_bounds),
            has_coarse_information: pyramid::has_coarse_information(params, size),
            starts_from_last: params.starts_from_last(),
            chooses_from_last: params.chooses_from_last(),
        }
    }

    /// Returns the size of a filter; `None` if it is off.
    pub fn filter(&self, kind: FilterKind) -> Option<u32> {
        self.filters.iter().find(|(active, _)| *active == kind).map(|&(_, size)| size)
    }

    /// Whether the right image's map is needed, for the check or as a result.
    pub fn has_right(&self) -> bool {
        self.wants_right || self.filter(FilterKind::LeftRight).is_some()
    }

    /// Whether the right image's map comes from the same sums as the left one.
    pub fn is_diagonal(&self) -> bool {
        self.has_right() && !self.swapped
    }

    /// Returns columns and rows.
    pub fn size(&self) -> (usize, usize) {
        (self.width, self.height)
    }

    /// Returns the number of pixels of an image.
    pub fn pixels(&self) -> u64 {
        self.width as u64 * self.height as u64
    }

    /// Whether costs are those of windows, which are computed without codes.
    pub fn is_windowed(&self) -> bool {
        self.comparison == Comparison::WindowedDifference
    }

    /// Whether SAD is neither aggregated nor summed over paths: it has exact sums instead of a byte for each cost.
    pub fn block_matching(&self) -> bool {
        self.paths == 0 && self.is_windowed() && self.aggregation == Aggregation::None
    }

    /// Whether exact sums of 32 bits decide: those of SAD, or aggregated costs without paths.
    pub fn exact(&self) -> bool {
        self.block_matching() || (self.paths == 0 && self.aggregation != Aggregation::None)
    }

    /// Returns the local aggregation, if there is one.
    pub fn local(&self) -> Option<LocalConfig> {
        let Self { aggregation: kind, local_reach: reach, unit, .. } = *self;
        (kind != Aggregation::None).then(|| LocalConfig { kind, reach, unit, exact: self.exact() })
    }

    /// Returns all directions.
    pub fn directions(&self) -> Vec<Direction> {
        directions(self.paths, self.start_angle_deg)
    }

    /// Returns the requirements on the variant.
    pub fn requirements(&self) -> Requirements {
        Requirements {
            candidates: self.candidates,
            wide: self.paths > 0 && self.largest_p2 > 255,
            has_codes: !self.is_windowed() && self.aggregation == Aggregation::None,
            has_row_path: self.directions().contains(&ALONG_ROW),
        }
    }
}

/// Whether the right image's map is needed and comes from a matching of its own.
fn has_swapped(params: &StereoParams, wants_right: bool) -> bool {
    params.right_matching == RightMatching::Swapped && (wants_right || params.left_right.is_some())
}

/// Storage buffers of the winner kernel beside those with path costs: map, keys, gates, kept sums, costs or codes, a table that compares
/// codes, earlier sums.
const WINNERS_OTHER_BUFFERS: u32 = STORAGE_BUFFERS - 1;

/// Kernels and buffers of one level.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Layout {
    /// Structural parameters.
    pub structure: Structure,
    /// Inputs of the level's kernels.
    pub kernel: KernelConfig,
    /// Number of volumes of path costs that are kept at a time.
    pub volumes: u32,
    /// Rows of a volume in each of its buffers.
    pub slab_rows: u32,
    /// Words of costs that a pixel owns.
    pub words: u32,
}

impl Layout {
    /// Computes the layout for a variant within the device's limits.
    ///
    /// # Errors
    /// [`EngineError::TooLarge`] with the numbers.
    pub fn new(structure: Structure, variant: Variant, limits: &Limits, adapter: &str) -> Result<Self, EngineError> {
        let Structure { width, height, candidates, comparison, .. } = structure;
        if width.max(height) > limits.side_px {
            let (adapter, side_px) = (adapter.to_owned(), limits.side_px);
            return Err(GpuError::Side { size: (width, height), adapter, side_px }.into());
        }
        let requirements = structure.requirements();
        let lanes = variant.lanes(candidates);
        let words = lanes * variant.words;
        let stored = structure.directions().len() as u32 - u32::from(variant.fused);
        let path_bytes = if requirements.wide { 2 } else { 1 };
        let row = width as u64 * 4 * u64::from(words);
        let volume_bytes = row * height as u64;
        let room = (limits.path_bytes / (volume_bytes * path_bytes)).clamp(1, u64::from(u32::MAX)) as u32;
        let bindings = limits.storage_buffers - WINNERS_OTHER_BUFFERS;
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
        // costs and path costs are both bound in all their slabs where a path may go anywhere, beside the gates; or codes and their table
        let max_slabs = if variant.costs == CostSource::Codes {
            limits.storage_buffers - 3
        } else {
            (limits.storage_buffers - 1) / 2
        };
        let max_bytes = u64::from(max_slabs) * limits.binding_bytes;
        if slabs > max_slabs || volume_bytes / 4 > u64::from(u32::MAX) {
            return Err(GpuError::Volume {
                size: (width, height),
                candidates,
                needed_mib: (widest * height as u64).div_ceil(1 << 20),
                adapter: adapter.to_owned(),
                most_mib: max_bytes.min(4 * u64::from(u32::MAX)) >> 20,
            }
            .into());
        }
        let kernel = KernelConfig {
            variant,
            candidates,
            comparison,
            wide: requirements.wide,
            gated: structure.gates.is_some(),
            mirrored: structure.mirrored,
            slabs,
        };
        Ok(Self { structure, kernel, volumes, slab_rows, words })
    }

    /// Returns the number of buffers over which each volume is spread.
    pub fn slabs(&self) -> u32 {
        self.kernel.slabs
    }

    /// Returns the rows of slab number `slab`.
    pub fn rows(&self, slab: u32) -> std::ops::Range<u32> {
        let first = slab * self.slab_rows;
        first..(first + self.slab_rows).min(self.structure.height as u32)
    }

    /// Returns the directions whose path costs are stored.
    pub fn stored(&self) -> Vec<Direction> {
        let mut directions = self.structure.directions();
        if self.kernel.variant.fused {
            directions.retain(|direction| *direction != ALONG_ROW);
        }
        directions
    }

    pub(crate) fn path_cost_bytes(&self) -> u64 {
        if self.kernel.wide { 2 } else { 1 }
    }

    pub(crate) fn volume_path_bytes(&self) -> u64 {
        self.slab_bytes(self.path_cost_bytes()) * u64::from(self.slabs())
    }

    pub(crate) fn code_bytes(&self) -> u64 {
        2 * 4 * code_words(self.structure.comparison) * self.structure.pixels()
    }

    /// Returns the largest possible number of segments of calm pixels.
    pub(crate) fn max_segments(&self) -> u64 {
        self.structure.pixels() / u64::from(MIN_SEGMENT) + 1
    }

    /// Returns the bytes of a map.
    pub fn map_bytes(&self) -> u64 {
        map_pitch(self.structure.width) as u64 * self.structure.height as u64 * 4
    }

    fn slab_bytes(&self, bytes: u64) -> u64 {
        self.structure.width as u64 * 4 * u64::from(self.words) * bytes * u64::from(self.slab_rows)
    }

    /// Returns the bytes of one of the level's buffers; 0 if the resource is no buffer.
    pub fn bytes(&self, resource: Resource) -> u64 {
        let Structure { width, height, .. } = self.structure;
        match resource {
            Resource::Params(_) | Resource::DispatchParams(_) | Resource::Picture(..) | Resource::Colors(_) => 0,
            Resource::Segments => 4 * (SEGMENT_WORDS.0 + SEGMENT_WORDS.1 * self.max_segments()),
            Resource::Codes(_) => self.code_bytes(),
            Resource::Costs(..) | Resource::Aggregated(..) => self.slab_bytes(1),
            Resource::Path(..) => self.slab_bytes(self.path_cost_bytes()),
            Resource::Sums(..) => self.slab_bytes(2),
            Resource::Exact(..) | Resource::ArmSums(..) => self.slab_bytes(4),
            Resource::HostMap(_) => host_map_bytes((width, height)) as u64,
            Resource::BlackBorders => 2 * 4 * (width + height) as u64,
            Resource::Kept => self.structure.pixels() * u64::from(self.words) * 16,
            Resource::Arms(_) => 2 * 4 * self.structure.pixels(),
            Resource::Gates(_) => 4 * (width.div_ceil(2) * height.div_ceil(2)) as u64,
            Resource::Map(..)
            | Resource::RightKeys(_)
            | Resource::Parents
            | Resource::Sizes
            | Resource::Last
            | Resource::Smoothed => self.map_bytes(),
            Resource::MutualInformation(MutualInformation::Counts | MutualInformation::Logs) => 4 * LEVEL_PAIRS,
            Resource::MutualInformation(MutualInformation::Lines) => 2 * 4 * LEVELS as u64,
            Resource::MutualInformation(MutualInformation::Extremes) => 16,
            Resource::MutualInformation(MutualInformation::Table) => LEVEL_PAIRS,
            Resource::CostTable(_) => 4 * (256 + 64),
            Resource::LogTable => 4 << LOG_TABLE_BITS,
            Resource::ChoiceNet => 4 * choice::numbers().count() as u64,
        }
    }
}

pub(crate) fn code_words(comparison: Comparison) -> u64 {
    match comparison {
        Comparison::Hamming(shape) => shape.bits().div_ceil(32) as u64,
        Comparison::Tables { .. } => 2,
        Comparison::Difference(_) | Comparison::LearnedTable => 1,
        Comparison::WindowedDifference => 0,
    }
}

/// Words before the records of segments, and of each record: `RECORDS` and `RECORD_WORDS` of `records.wgsl`.
const SEGMENT_WORDS: (u64, u64) = (8, 28);

pub(crate) const LEVEL_PAIRS: u64 = (LEVELS * LEVELS) as u64;

/// Returns the columns of a map in the host's form: whole groups of four.
pub(crate) fn host_map_columns(width: usize) -> usize {
    width.next_multiple_of(4)
}

/// Returns the bytes of a map in the host's form: two for each disparity, one for its reasons, and one for its confidence.
pub(crate) fn host_map_bytes((width, height): (usize, usize)) -> usize {
    4 * host_map_columns(width) * height
}

/// Returns the words from one row of a map to the next: rows of 256 bytes can be copied into a texture.
pub fn map_pitch(width: usize) -> usize {
    width.next_multiple_of(wgpu::COPY_BYTES_PER_ROW_ALIGNMENT as usize / size_of::<u32>())
}
