//! One level of the pyramid, after [`stereopsis_stereo::match_next`]: the prior from coarser levels, costs, their aggregation, paths and
//! winners, filters. A pair goes in, finished maps come out; buffers are kept for the next pair.

use super::aligned::AlignedArray;
use super::codes::{Codes, Transform};
use super::costs::Costs;
use super::disparity_windows::DisparityWindows;
use super::error::CpuError;
use super::input::{LevelInput, OVERHANG, Range};
use super::local::LocalAggregation;
use super::maps::WinnerMaps;
use super::paths::Workspace;
use super::scan::Sweep;
use super::simd::SimdLevel;
use super::sweep::SweepInput;
use super::{exact_winner, filter, gates, mutual_information, need, scan, stored_costs};
use std::sync::Arc;
use std::time::Instant;
use stereopsis_base::image::{Image, PictureRef};
use stereopsis_base::process::memory::{FreeMemory, Places};
use stereopsis_frame::engine::demand::Demand;
use stereopsis_frame::engine::{EngineError, StageTime};
use stereopsis_stereo::cost::{Channel, Comparison, Scalar, gradient_census};
use stereopsis_stereo::{Aggregation, DisparityMap, Maps, Past, Prior, RightMatching, StereoParams, pyramid};

/// Buffers, kept from pair to pair and allocated when a size or a width of path costs first occurs.
#[derive(Default)]
pub(super) struct Buffers {
    codes: Codes,
    /// Bytes of a [`Channel`], beside the codes of the census.
    channels: [Codes; 2],
    costs: AlignedArray<u8>,
    aggregated: AlignedArray<u8>,
    workspaces: Workspaces,
    windows: DisparityWindows,
    coarser: Option<Box<Buffers>>,
    /// Free memory that a test sets; without it the system reports it.
    pub(super) free: Option<FreeMemory>,
    /// Bytes that the filters of this pair take, where gates decide the size of its volume.
    behind: u64,
}

#[derive(Clone, Copy)]
struct Widths {
    /// Whether path costs have 8 bits, else 16.
    in_bytes: bool,
    /// Whether sums have 16 bits, else 8.
    wide_sums: bool,
}

/// Workspace for each pair of widths, of which one is in use.
#[derive(Default)]
struct Workspaces {
    bytes: Workspace<u8, u8>,
    bytes_in_words: Workspace<u8, u16>,
    words: Workspace<u16, u16>,
}

impl Workspaces {
    fn bytes(&mut self) -> usize {
        self.bytes.bytes() + self.bytes_in_words.bytes() + self.words.bytes()
    }

    /// Frees the workspaces of other widths. Returns the bytes of the volume that is left.
    fn keep(&mut self, Widths { in_bytes, wide_sums }: Widths) -> usize {
        if !in_bytes {
            (self.bytes, self.bytes_in_words) = Default::default();
            self.words.volume_bytes()
        } else if wide_sums {
            (self.bytes, self.words) = Default::default();
            self.bytes_in_words.volume_bytes()
        } else {
            (self.bytes_in_words, self.words) = Default::default();
            self.bytes.volume_bytes()
        }
    }

    fn run(
        &mut self,
        Widths { in_bytes, wide_sums }: Widths,
        level: SimdLevel,
        input: &SweepInput<'_>,
        sweeps: &[Sweep],
        with_right: bool,
    ) -> Result<WinnerMaps, EngineError> {
        match (in_bytes, wide_sums) {
            (false, _) => self.words.run(level, input, sweeps, with_right),
            (true, true) => self.bytes_in_words.run(level, input, sweeps, with_right),
            (true, false) => self.bytes.run(level, input, sweeps, with_right),
        }
    }
}

impl Buffers {
    pub(super) fn bytes(&mut self) -> usize {
        let volumes = self.costs.bytes() + self.aggregated.bytes();
        let workspaces = self.workspaces.bytes();
        let coarser = self.coarser.as_mut().map_or(0, |coarser| coarser.bytes());
        let channels: usize = self.channels.iter().map(Codes::bytes).sum();
        self.codes.bytes() + channels + volumes + workspaces + self.windows.bytes() + coarser
    }

    /// Runs all stages in order on the threads of the current pool. `pictures` are those of `input`, `past` is at their size.
    pub(super) fn match_level(
        &mut self,
        input: LevelInput<'_>,
        pictures: [PictureRef<'_>; 2],
        past: &mut Past,
        wants_right: bool,
        stages: &mut Stages,
    ) -> Result<Maps, EngineError> {
        let LevelInput { level, left, right, params } = input;
        let prior = self.prior(input, past.start(params), stages)?;
        self.behind = if prior.gates.is_some() {
            need::filter_bytes(&Demand::of_pair(pictures, Arc::new(params.clone()), wants_right), level.into())
        } else {
            0
        };
        let needs_right = wants_right || params.left_right.is_some();
        let is_swapped = params.right_matching == RightMatching::Swapped;
        let mut maps = self.winners(input, &prior, needs_right && !is_swapped, stages)?;
        if needs_right && is_swapped {
            let params = StereoParams { confidence: false, choice: false, ..params.clone() };
            let swapped = LevelInput { level, left: &right.mirrored(), right: &left.mirrored(), params: &params };
            let right_maps = self.winners(swapped, &prior.swapped(), false, stages)?;
            maps.right = Some(right_maps.left.mirrored());
        }
        let maps = filter::filter_maps(level, maps, pictures, params, past, wants_right);
        stages.done("filters");
        Ok(maps)
    }

    /// Computes the prior as [`Prior::of`] specifies.
    fn prior(
        &mut self,
        input: LevelInput<'_>,
        last: Option<&DisparityMap>,
        stages: &mut Stages,
    ) -> Result<Prior, EngineError> {
        let LevelInput { level, left, right, params } = input;
        let size = left.size();
        let stage = if pyramid::is_gated(params, size) { "gates" } else { "information" };
        let coarse = match pyramid::coarser(params, size) {
            None => {
                self.coarser = None;
                None
            }
            Some(coarse_params) => {
                let (left, right) = (&gates::halve(level, left), &gates::halve(level, right));
                let coarser = self.coarser.get_or_insert_default();
                coarser.free = self.free;
                let wants_right = params.right_matching == RightMatching::Swapped;
                let input = LevelInput { level, left, right, params: &coarse_params };
                let pair = PictureRef::pair(left, right);
                let mut past = Past::coarser(last);
                let maps = coarser.match_level(input, pair, &mut past, wants_right, &mut Stages::start())?;
                stages.done(stage);
                Some(maps)
            }
        };
        let mut prior = Prior::default();
        if pyramid::is_gated(params, size)
            && let Some(maps) = &coarse
        {
            let bounds = |map: &DisparityMap| {
                gates::bounds_from(level, &map.values, size, params.gate_bounds, &params.disparities())
            };
            prior.gates = Some(bounds(&maps.left));
            prior.right_gates = maps.right.as_ref().map(bounds);
            stages.done(stage);
        }
        if params.cost.is_learned() {
            let coarse = coarse.as_ref().filter(|_| pyramid::has_coarse_information(params, size));
            let start = mutual_information::InitialMaps { coarser: coarse.map(|maps| &maps.left), last };
            prior.information = Some(mutual_information::table(level, &left.to_u8(), &right.to_u8(), start, params));
            stages.done("information");
        }
        Ok(prior)
    }

    /// Computes costs, aggregation, paths and winners; the right map only `with_right`.
    fn winners(
        &mut self,
        input: LevelInput<'_>,
        prior: &Prior,
        with_right: bool,
        stages: &mut Stages,
    ) -> Result<WinnerMaps, EngineError> {
        let LevelInput { level, left, right, params } = input;
        let size = left.size();
        let range = Range::of(params, level);
        let volume_len = size.0 * size.1 * range.stride + OVERHANG;
        let (luma, right_luma) = (left.to_u8(), right.to_u8());
        let local = |costs| LocalAggregation { level, range, costs, left: &luma, right: &right_luma, params };
        self.set_codes(input, (&luma, &right_luma), range);
        let comparison = params.cost.comparison();
        let compared = match comparison {
            Comparison::Hamming(_) | Comparison::Tables { .. } => Costs::Hamming(&self.codes),
            Comparison::Difference(_) | Comparison::WindowedDifference | Comparison::LearnedTable => {
                Costs::Differences(&self.codes)
            }
        };
        if params.is_block_matching() {
            (self.costs, self.aggregated) = Default::default();
            (self.windows, self.workspaces) = Default::default();
            let maps = exact_winner::winners(input, range, prior, with_right, |winners, rows| {
                local(compared).window(params.sad_window, winners, rows);
            });
            stages.done("paths + winner");
            return Ok(maps);
        }
        let is_computed_in_place = matches!(comparison, Comparison::Hamming(_) | Comparison::Difference(_));
        let costs = if !is_computed_in_place || params.aggregation.has_weights() {
            self.costs.resize_volume(volume_len, size, range, true)?;
            let volume = &mut self.costs[..volume_len - OVERHANG];
            match comparison {
                Comparison::Hamming(_) | Comparison::Difference(_) => {
                    stored_costs::copy(level, compared, size.0, range, volume);
                }
                Comparison::WindowedDifference => local(compared).means_over_window(params.sad_window, volume),
                Comparison::Tables { channel, scale, .. } => {
                    let channels = &self.channels[..channel.bytes()];
                    stored_costs::tables(level, compared, channels, scale, size.0, range, volume);
                }
                Comparison::LearnedTable => match &prior.information {
                    Some(table) => stored_costs::learned(level, &self.codes, table, size.0, range, volume),
                    None => volume.fill(0),
                },
            }
            Costs::Volume(&self.costs)
        } else {
            self.costs = AlignedArray::default();
            compared
        };
        stages.done("cost");
        if params.aggregation != Aggregation::None && params.paths == 0 {
            (self.aggregated, self.windows, self.workspaces) = Default::default();
            let maps = exact_winner::winners(input, range, prior, with_right, |winners, rows| {
                local(costs).sums(winners, rows);
            });
            stages.done("aggregation + winner");
            return Ok(maps);
        }
        let costs = if params.aggregation == Aggregation::None {
            self.aggregated = AlignedArray::default();
            costs
        } else {
            self.aggregated.resize_volume(volume_len, size, range, true)?;
            local(costs).means(&mut self.aggregated[..volume_len - OVERHANG]);
            stages.done("aggregation");
            Costs::Volume(&self.aggregated)
        };
        let largest_p2 = if params.paths > 0 { params.largest_p2() } else { 0 };
        // the largest value of each width marks missing candidates
        let in_bytes = params.largest_cost() + largest_p2 < u32::from(u8::MAX);
        let windows = if let Some(gates) = &prior.gates {
            self.windows.set(gates.clone(), level.bytes());
            Some(&self.windows)
        } else {
            self.windows = DisparityWindows::default();
            None
        };
        let sweeps = scan::sweeps(params, size.0);
        let stored = scan::stored_directions(&sweeps) as u32;
        let widths = Widths { in_bytes, wide_sums: !in_bytes || stored * largest_p2 > u32::from(u8::MAX) };
        let held = self.workspaces.keep(widths);
        if let Some(windows) = windows {
            let bytes = windows.values(size.1) * if widths.wide_sums { 2 } else { 1 };
            check_gated((size, params), bytes, held, self.behind, self.free)?;
        }
        let sweep_input = SweepInput { params, range, luma: &luma, costs, windows };
        let mut maps = self.workspaces.run(widths, level, &sweep_input, &sweeps, with_right)?;
        maps.drop_border(params);
        stages.done("paths + winner");
        Ok(maps)
    }

    /// Computes the codes of both images, and the channels that a cost compares beside them.
    fn set_codes(&mut self, input: LevelInput<'_>, (luma, right_luma): (&Image<u8>, &Image<u8>), range: Range) {
        let LevelInput { level, left, right, params } = input;
        let channels = match params.cost.comparison() {
            Comparison::Tables { channel, .. } => channel.bytes(),
            _ => 0,
        };
        self.channels[channels..].fill_with(Codes::default);
        match params.cost.comparison() {
            Comparison::Hamming(shape) => self.codes.set(level, left, right, Transform::Census(shape), range),
            Comparison::Difference(Scalar::Rank) => {
                let radius = params.rank_window as usize / 2;
                self.codes.set(level, left, right, Transform::Rank { radius }, range);
            }
            Comparison::Difference(Scalar::Brightness) | Comparison::WindowedDifference | Comparison::LearnedTable => {
                self.codes.set_bytes(luma, right_luma, range);
            }
            Comparison::Tables { census, channel, .. } => {
                self.codes.set(level, left, right, Transform::Census(census), range);
                match channel {
                    Channel::Brightness => self.channels[0].set_bytes(luma, right_luma, range),
                    Channel::Gradients => {
                        let [of_left, of_right] = [luma, right_luma].map(gradient_census::gradients);
                        for (axis, codes) in self.channels.iter_mut().enumerate() {
                            let along = |gradients: &Image<[u8; 2]>| gradients.map(|gradient| gradient[axis]);
                            codes.set_bytes(&along(&of_left), &along(&of_right), range);
                        }
                    }
                }
            }
        }
    }
}

/// Refuses a gated volume of `bytes`, of which `held` exist, if it is not free together with the `behind` bytes of the filters.
fn check_gated(
    (size, params): ((usize, usize), &StereoParams),
    bytes: usize,
    held: usize,
    behind: u64,
    free: Option<FreeMemory>,
) -> Result<(), EngineError> {
    if bytes <= held {
        return Ok(());
    }
    // the held volume is freed before the new one is allocated
    let needed = bytes as u64 + behind;
    match free.or_else(|| Places::usual().free()) {
        Some(free) if needed > free.bytes + held as u64 => {
            let num_disparities = params.num_disparities;
            Err(EngineError::TooLarge(CpuError::GatedMemory { size, num_disparities, needed, free }.into()))
        }
        _ => Ok(()),
    }
}

pub(super) struct Stages {
    last: Instant,
    pub(super) times: Vec<StageTime>,
}

impl Stages {
    pub(super) fn start() -> Self {
        Self { last: Instant::now(), times: Vec::with_capacity(4) }
    }

    fn done(&mut self, name: &'static str) {
        let now = Instant::now();
        let ms = (now - self.last).as_secs_f64() * 1e3;
        self.last = now;
        match self.times.iter_mut().find(|stage| stage.name == name) {
            Some(stage) => stage.ms += ms,
            None => self.times.push(StageTime { name, ms }),
        }
    }
}
