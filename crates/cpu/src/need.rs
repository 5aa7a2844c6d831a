//! Memory that the engine needs for a pair, computed from its size and parameters alone: the sum of the arrays that exist at the same
//! time. A change of buffers anywhere in the crate has to be repeated here; `tests/reference/memory.rs` compares the two.
//!
//! Two parts depend on the content of the images. The volume of a gated level is counted with the narrowest gates possible; its true
//! size is compared with the free memory before it is allocated. Runs and regions of filters are counted as in images with much
//! texture.

use super::input::{BLOCK, MAX_DIRECTIONS, OVERHANG};
use super::path_state::SLOTS;
use super::scan;
use super::simd::SimdLevel;
use stereopsis_frame::engine::demand::Demand;
use stereopsis_stereo::cost::{Channel, Comparison, Scalar};
use stereopsis_stereo::filter::FilterKind;
use stereopsis_stereo::{Aggregation, Fill, RightMatching, StereoParams, pyramid};

/// Memory beside the arrays of images, bytes: stacks, tables, the allocator's reserve.
const FIXED: u64 = 8 << 20;

/// Properties of the machine that decide sizes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Machine {
    pub(super) register: usize,
    pub(super) threads: usize,
}

impl From<SimdLevel> for Machine {
    fn from(level: SimdLevel) -> Self {
        Self { register: level.bytes(), threads: rayon::current_num_threads() }
    }
}

/// Bytes that a level needs, with its coarser ones.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct MemoryNeed {
    /// Bytes that are kept from pair to pair.
    pub(super) kept: u64,
    /// Bytes that are taken in addition while a pair is matched.
    pub(super) passing: u64,
}

/// Returns the largest number of bytes needed while a pair is matched.
pub(super) fn bytes(demand: &Demand, machine: Machine) -> u64 {
    let level = LevelDemand::of(demand, machine);
    let need = level.need();
    // after matching a map may become numbers of four bytes, and these a file
    let written = level.map(demand.params.confidence) + 8 * level.pixels;
    need.kept + need.passing.max(written) + FIXED
}

pub(super) fn kept(demand: &Demand, machine: Machine) -> u64 {
    LevelDemand::of(demand, machine).need().kept
}

/// Returns the bytes that the filters of a pair need, behind its winners.
pub(super) fn filter_bytes(demand: &Demand, machine: Machine) -> u64 {
    LevelDemand::of(demand, machine).filters()
}

struct LevelDemand<'a> {
    width: u64,
    height: u64,
    pixels: u64,
    stride: u64,
    params: &'a StereoParams,
    wants_right: bool,
    gated: bool,
    luma: u64,
    colored: bool,
    register: u64,
    threads: u64,
    coarser: Option<Demand>,
    machine: Machine,
}

impl<'a> LevelDemand<'a> {
    fn of(demand: &'a Demand, machine: Machine) -> Self {
        let Demand { size, params, wants_right, deep, colored } = demand;
        let (width, height) = (size.0 as u64, size.1 as u64);
        let stride = (params.num_disparities as usize).next_multiple_of(machine.register) as u64;
        let coarser = pyramid::coarser(params, *size).map(|coarse| Demand {
            size: (size.0.div_ceil(2), size.1.div_ceil(2)),
            wants_right: params.right_matching == RightMatching::Swapped,
            params: coarse.into(),
            deep: *deep,
            colored: false,
        });
        Self {
            width,
            height,
            pixels: width * height,
            stride,
            params,
            wants_right: *wants_right,
            gated: pyramid::is_gated(params, *size),
            luma: if *deep { 2 } else { 1 },
            colored: *colored,
            register: machine.register as u64,
            threads: machine.threads as u64,
            coarser,
            machine,
        }
    }

    fn need(&self) -> MemoryNeed {
        let coarser = self.coarser.as_ref().map(|demand| LevelDemand::of(demand, self.machine));
        let of_coarser = coarser.as_ref().map_or(MemoryNeed::default(), LevelDemand::need);
        // the halved images, and later the remains of the coarser map
        let halves = coarser.as_ref().map_or(0, |coarser| 2 * self.luma * coarser.pixels);
        let passing = self.winners().max(self.filters()).max(halves + of_coarser.passing);
        MemoryNeed { kept: self.kept() + of_coarser.kept, passing }
    }

    fn needs_right(&self) -> bool {
        self.wants_right || self.params.left_right.is_some()
    }

    fn is_swapped(&self) -> bool {
        self.needs_right() && self.params.right_matching == RightMatching::Swapped
    }

    /// Whether exact sums decide, without a volume.
    fn is_exact(&self) -> bool {
        (self.params.paths == 0 && self.params.aggregation != Aggregation::None) || self.params.is_block_matching()
    }

    fn volume(&self) -> u64 {
        self.pixels * self.stride + OVERHANG as u64
    }

    /// Returns the bytes of codes with `planes` bytes for each pixel.
    fn codes(&self, planes: u64) -> u64 {
        planes * (self.pixels + (self.width + self.stride + OVERHANG as u64) * self.height)
    }

    fn kept(&self) -> u64 {
        let Self { params, pixels, .. } = *self;
        let census = |bits: usize| self.codes(bits.div_ceil(8) as u64);
        let codes = match params.cost.comparison() {
            Comparison::Hamming(shape) => census(shape.bits()),
            Comparison::Difference(_) | Comparison::WindowedDifference | Comparison::LearnedTable => self.codes(1),
            Comparison::Tables { census: shape, channel, .. } => {
                census(shape.bits()) + channel.bytes() as u64 * self.codes(1)
            }
        };
        let is_computed_in_place =
            matches!(params.cost.comparison(), Comparison::Hamming(_) | Comparison::Difference(_));
        let has_costs = !params.is_block_matching() && (!is_computed_in_place || params.aggregation.has_weights());
        let has_means = params.aggregation != Aggregation::None && params.paths > 0;
        let volumes = (u64::from(has_costs) + u64::from(has_means)) * self.volume();
        let sums = if self.is_exact() { 0 } else { self.sums() };
        let past = if params.smooths_over_time() { 3 * pixels } else { 0 }
            + if params.starts_from_last() || params.chooses_from_last() { self.map(params.confidence) } else { 0 };
        codes + volumes + sums + past
    }

    /// Returns the bytes of the volume of sums, and of the path costs beside it.
    fn sums(&self) -> u64 {
        let Self { params, width, .. } = *self;
        let largest_p2 = if params.paths > 0 { params.largest_p2() } else { 0 };
        let wide = params.largest_cost() + largest_p2 >= u32::from(u8::MAX);
        let sweeps = scan::sweeps(params, width as usize);
        let wide_sums = wide || scan::stored_directions(&sweeps) as u32 * largest_p2 > u32::from(u8::MAX);
        let (lane, sum) = (1 + u64::from(wide), 1 + u64::from(wide_sums));
        let once = sweeps.len() == 1;
        let narrowest = (params.gate_bounds.narrowest() as u64).next_multiple_of(self.register).min(self.stride);
        let volume = match (once, self.gated) {
            (true, _) => 0,
            (false, false) => sum * self.pixels * self.stride,
            (false, true) => sum * self.pixels * narrowest,
        };
        let room = self.stride + if self.gated { 2 * self.register / lane } else { 0 };
        let passes = sweeps.iter().flat_map(|sweep| &sweep.passes);
        let directions: u64 = passes.map(|pass| pass.directions.len() as u64).sum();
        let states = width.div_ceil(BLOCK as u64) * SLOTS as u64 * directions * lane * room;
        // between passes over a row its costs and sums are kept
        let passes = sweeps.iter().map(|sweep| sweep.passes.len() as u64).max().unwrap_or(0);
        let blocks = if passes > 1 { width } else { BLOCK as u64 };
        let rows = sum * width * self.stride * passes.saturating_sub(1).min(2);
        let edge = lane * room * (3 * MAX_DIRECTIONS as u64 + 1);
        let scratch = lane * self.stride * blocks + rows + edge + 2 * BLOCK as u64 * (self.stride + 64) + 10 * width;
        let windows = if self.gated { 4 * self.pixels + 24 * self.pixels / (8 * BLOCK as u64) } else { 0 };
        volume + states + self.threads * scratch + windows
    }

    fn map(&self, confidence: bool) -> u64 {
        (3 + u64::from(confidence)) * self.pixels
    }

    fn gates(&self) -> u64 {
        let both = self.params.right_matching == RightMatching::Swapped;
        if self.gated { 4 * self.pixels * (1 + u64::from(both)) } else { 0 }
    }

    fn winners(&self) -> u64 {
        let Self { params, width, height, pixels, stride, threads, .. } = *self;
        let row = width * stride;
        let radii = |rx: u64, ry: u64| self.luma * (width + 2 * rx) * (height + 2 * ry);
        let padded = match params.cost.comparison() {
            Comparison::Hamming(shape) | Comparison::Tables { census: shape, .. } => {
                radii(shape.width as u64 / 2, shape.height as u64 / 2)
            }
            Comparison::Difference(Scalar::Rank) => {
                radii(u64::from(params.rank_window) / 2, u64::from(params.rank_window) / 2)
            }
            _ => 0,
        };
        let gradients = match params.cost.comparison() {
            Comparison::Tables { channel: Channel::Gradients, .. } => 6 * pixels,
            _ => 0,
        };
        let costs = match params.cost.comparison() {
            Comparison::Tables { .. } => 2 * threads * row,
            Comparison::WindowedDifference => 4 * threads * row,
            _ => 0,
        };
        let arms = 4 * (pixels + (width + stride) * height);
        let reach = params.local_reach() as u64;
        let aggregation = match params.aggregation {
            Aggregation::None => 0,
            Aggregation::Window => 4 * threads * row,
            Aggregation::Cross => arms + threads * row * (1 + 3 * (2 * u64::from(params.arms) + 1).min(height)),
            Aggregation::AdaptiveWeight | Aggregation::WeightedCross => {
                let arms = if params.aggregation.has_arms() { arms } else { 0 };
                arms + threads * (2 * reach + 1).pow(2) * (width + stride)
            }
        };
        let maps = self.map(params.winners_have_confidence())
            + if self.needs_right() && !self.is_swapped() { self.map(false) } else { 0 };
        let chosen = if self.is_exact() {
            maps + if params.is_block_matching() { costs } else { aggregation }
                + threads * (4 * row + 8 * (width + stride))
        } else {
            maps
        };
        let most = padded.max(gradients).max(costs).max(aggregation).max(chosen);
        // the images of eight bits
        let once = 2 * pixels + most;
        let again = if self.is_swapped() {
            // the left map, the mirrored images and gates, and the right map a second time
            let mirrored = self.map(params.winners_have_confidence()) + 2 * self.luma * pixels + self.gates();
            mirrored + (2 * pixels + most - maps.min(most) + self.map(false)).max(2 * self.map(false))
        } else {
            0
        };
        self.gates() + once.max(again)
    }

    fn filters(&self) -> u64 {
        let Self { params, width, height, pixels, threads, .. } = *self;
        let right = if self.needs_right() { self.map(false) } else { 0 };
        let finished_right = if self.wants_right { self.map(false) } else { 0 };
        let left = self.map(params.winners_have_confidence());
        // both maps before and after
        let smoothing = left + right + 2 * pixels * (1 + u64::from(self.wants_right));
        let run = 36; // bytes of a run in speckles: in its strip, with all others, and the pixels of its set
        let of = |kind| match kind {
            FilterKind::BlackBorder | FilterKind::Median | FilterKind::LeftRight | FilterKind::Temporal => 0,
            FilterKind::Speckle => run * pixels / 4,
            FilterKind::Spatial => 2 * pixels + 64 * threads * width.max(height),
            FilterKind::Fill if params.fill == Fill::Planes => {
                let deep = if self.luma > 1 { pixels } else { 0 };
                (deep + 56 * pixels / 8).max(2 * pixels)
            }
            FilterKind::Fill => 0,
            FilterKind::Choice => {
                // copies of the map and the images, rows of windows, and smallest and largest disparities
                let colors = if self.colored { 0 } else { 6 };
                let windows = 10 * (width + 64) + 10 * (width + 128) + 4 * (width + 64);
                (11 + colors) * pixels + windows * height + 20 * (width + 32) * (height + 32)
            }
            FilterKind::WeightedMedian | FilterKind::LastMedian => 2 * pixels,
        };
        let filtering = FilterKind::active(params).map(|(kind, _)| of(kind)).max().unwrap_or(0);
        self.gates() + smoothing.max(left + finished_right + filtering)
    }
}
