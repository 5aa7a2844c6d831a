//! The CPU engine: the stages of [`crate::stereo`] on all cores, in vector instructions, to the same bits.
//!
//! Rectified pairs go in, disparity maps come out, in three stages: the pictures become codes (`codes`, or `sad` makes a
//! volume of costs); two sweeps follow all paths, make the costs as they go and choose the winners (`paths`, `sweep`,
//! `walk`, `winner`); the maps are filtered (`filter`, `median`).
//!
//! Candidates of a pixel are padded to whole registers, and what is padded stands for "there is no such candidate".

#![allow(clippy::inline_always, reason = "what is not inlined into a loop is not compiled for its vector instructions")]
#![allow(clippy::needless_bitwise_bool, reason = "without branches loops become vector instructions")]
#![allow(clippy::needless_range_loop, reason = "plain indexed loops over arrays become vector instructions reliably")]

mod adapter;
mod aligned;
mod cells;
mod codes;
mod costs;
mod courses;
mod exact;
mod filter;
mod gates;
mod lane;
mod maps;
mod median;
mod memory;
mod paths;
mod sad;
pub mod simd;
mod sweep;
mod turns;
mod walk;
mod windows;
mod winner;
#[cfg(test)]
mod tests;

use super::{Engine, EngineError, EngineInfo, EngineKind, Job, Output, StageTime};
use crate::frame::Luma;
use crate::image::Image;
use crate::stereo::aggregate::penalty_table;
use crate::stereo::gating::Gates;
use crate::stereo::{CostKind, DisparityMap, StereoParams, pyramid};
use aligned::Aligned;
use codes::Codes;
use costs::Costs;
use lane::{Excess, Lane};
use maps::WinnerMaps;
use paths::Workspace;
use rayon::{ThreadPool, ThreadPoolBuilder};
use simd::SimdLevel;
use std::sync::Arc;
use std::time::Instant;
use windows::Windows;

/// Numbers by which a register may hang over the end of what a pixel owns.
const OVERHANG: usize = 64;

/// Candidates of each pixel, and how far apart pixels lie in a volume.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Range {
    /// Disparity of candidate 0.
    min: i32,
    /// How many there are.
    candidates: usize,
    /// The same, rounded up to whole registers.
    stride: usize,
}

impl Range {
    fn of(params: &StereoParams, level: SimdLevel) -> Self {
        let candidates = params.num_disparities as usize;
        Self { min: params.min_disparity, candidates, stride: candidates.next_multiple_of(level.bytes()) }
    }
}

/// Matches on all cores. One job at a time; it is computed in [`Engine::collect`].
///
/// It keeps, for `N` paths over `W x H` pixels and `D` candidates, rounded up to whole registers:
/// - a volume of `W H D` bytes; twice that where the largest P2 times the directions that are stored at a time (`N / 2` up to
///   eight paths, `N - 4` beyond) exceeds 255;
/// - `1.2 N W D` bytes of path costs, and the volume twice as large too, where the largest cost and the largest P2 exceed 254;
/// - `P (2 W + D + 64) H` bytes of codes, `P` being 3, 4, 6 or 8 for census and 1 for rank, or `W H D` costs for SAD.
///
/// Gating leaves of `W H D` what the gates need, and adds 4 bytes for each pixel and a quarter of everything for the coarser
/// level.
pub struct CpuEngine {
    info: Arc<EngineInfo>,
    level: SimdLevel,
    pool: Option<ThreadPool>,
    buffers: Buffers,
    waiting: Option<(Job, Instant)>,
}

impl CpuEngine {
    /// An engine with this many threads, or one for each core, and the vector instructions that [`simd::VARIABLE`] asks for,
    /// or the best ones.
    pub fn new(threads: Option<usize>) -> Self {
        let level = SimdLevel::chosen().unwrap_or_else(|err| {
            log::warn!("{err}"); // the command line has refused it before it came to this
            SimdLevel::best()
        });
        Self::with_level(threads, level)
    }

    /// An engine with these vector instructions.
    pub fn with_level(threads: Option<usize>, level: SimdLevel) -> Self {
        let cores = || std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
        let threads = threads.unwrap_or_else(cores).max(1);
        let builder = ThreadPoolBuilder::new().num_threads(threads).thread_name(|i| format!("match {i}"));
        let pool = builder.build();
        if let Err(err) = &pool {
            log::warn!("no {threads} threads for matching ({err}); the shared ones do it");
        }
        let adapter = adapter::describe(level, threads);
        let info = EngineInfo { kind: EngineKind::Cpu, adapter, software: false };
        Self { info: Arc::new(info), level, pool: pool.ok(), buffers: Buffers::default(), waiting: None }
    }

    /// The whole algorithm, as [`crate::stereo::match_pair`] has it, with the time of each stage.
    ///
    /// # Errors
    /// The volumes do not fit into memory.
    pub fn match_pair(
        &mut self,
        left: &Luma,
        right: &Luma,
        params: &StereoParams,
    ) -> Result<(DisparityMap, Vec<StageTime>), EngineError> {
        let Self { level, pool, buffers, .. } = self;
        let mut matched = || buffers.match_pair(*level, left, right, params);
        match pool {
            Some(pool) => pool.install(matched),
            None => matched(),
        }
    }
}

/// What is kept from pair to pair: allocated when a size or a kind of path cost comes up first.
#[derive(Default)]
struct Buffers {
    codes: Codes,
    costs: Aligned<u8>,
    /// Exact sums over a window, where no paths are summed.
    sums: Aligned<u32>,
    bytes: Workspace<u8, u8>,
    bytes_in_words: Workspace<u8, u16>,
    words: Workspace<u16, u16>,
    windows: Windows,
    /// Of the coarser levels that gates come from.
    coarser: Option<Box<Buffers>>,
}

impl Buffers {
    fn bytes(&mut self) -> usize {
        let volumes = self.costs.bytes() + self.sums.bytes();
        let workspaces = self.bytes.bytes() + self.bytes_in_words.bytes() + self.words.bytes();
        let coarser = self.coarser.as_mut().map_or(0, |coarser| coarser.bytes());
        self.codes.bytes() + volumes + workspaces + self.windows.bytes() + coarser
    }

    /// All stages in order, on the threads of the current pool.
    fn match_pair(
        &mut self,
        level: SimdLevel,
        left: &Luma,
        right: &Luma,
        params: &StereoParams,
    ) -> Result<(DisparityMap, Vec<StageTime>), EngineError> {
        let mut stages = Stages::start();
        let (width, height) = left.size();
        let range = Range::of(params, level);
        let volume_len = width * height * range.stride;
        let luma = left.to_u8();
        let gates = self.gates(level, left, right, params)?;
        if gates.is_some() {
            stages.done("gates");
        }
        if (params.cost, params.paths) == (CostKind::Sad, 0) {
            fit(&mut self.sums, volume_len, left.size(), range)?;
            sad::sum_volume(level, &luma, &right.to_u8(), params, range, &mut self.sums);
            stages.done("cost");
            if let Some(gates) = &gates {
                exact::gate(&mut self.sums, gates, range);
            }
            let maps = exact::winners(level, &self.sums, (width, height), range, gates.as_ref(), params);
            stages.done("paths + winner");
            let map = filter::filter_maps(level, maps, params);
            stages.done("filters");
            return Ok((map, stages.times));
        }
        let costs = match params.cost {
            CostKind::Sad => {
                fit(&mut self.costs, volume_len + OVERHANG, left.size(), range)?;
                sad::mean_volume(level, &luma, &right.to_u8(), params, range, &mut self.costs[..volume_len]);
                Costs::Volume(&self.costs)
            }
            cost => {
                self.codes.set(level, left, right, params, range);
                if cost == CostKind::Rank { Costs::Differences(&self.codes) } else { Costs::Hamming(&self.codes) }
            }
        };
        stages.done("cost");
        let largest_p2 = if params.paths > 0 { params.largest_p2() } else { 0 };
        // the largest number of each kind says that there is no such candidate
        let in_bytes = params.largest_cost() + largest_p2 < u8::MAX.into();
        let windows = gates.map(|gates| {
            self.windows.set(gates, level.bytes());
            &self.windows
        });
        let sweeps = courses::sweeps(params, width);
        let stored = courses::stored_directions(&sweeps) as u32;
        let pair = Pair { level, params, range, luma: &luma, costs, windows, sweeps: &sweeps };
        // a volume that another P2 or cost needed is given back
        let maps = if !in_bytes {
            (self.bytes, self.bytes_in_words) = Default::default();
            pair.sweep(&mut self.words)
        } else if stored * largest_p2 > u8::MAX.into() {
            (self.bytes, self.words) = Default::default();
            pair.sweep(&mut self.bytes_in_words)
        } else {
            (self.bytes_in_words, self.words) = Default::default();
            pair.sweep(&mut self.bytes)
        };
        let maps = maps?;
        stages.done("paths + winner");
        let map = filter::filter_maps(level, maps, params);
        stages.done("filters");
        Ok((map, stages.times))
    }

    /// Gates from the coarser levels, as [`gating::gates`] has them.
    fn gates(
        &mut self,
        level: SimdLevel,
        left: &Luma,
        right: &Luma,
        params: &StereoParams,
    ) -> Result<Option<Gates>, EngineError> {
        let Some(coarse_params) = pyramid::coarser(left.size(), params) else {
            self.coarser = None;
            return Ok(None);
        };
        let (coarse_left, coarse_right) = (gates::halve(level, left), gates::halve(level, right));
        let coarser = self.coarser.get_or_insert_default();
        let (map, _) = coarser.match_pair(level, &coarse_left, &coarse_right, &coarse_params)?;
        Ok(Some(gates::bounds_from(level, &map.values, left.size(), params)))
    }
}

/// Makes an array long enough for a pair of this size.
fn fit<T: bytemuck::Pod>(
    array: &mut Aligned<T>,
    len: usize,
    (width, height): (usize, usize),
    range: Range,
) -> Result<(), EngineError> {
    array.try_resize(len).map_err(|bytes| {
        EngineError::TooLarge(format!(
            "{width}x{height} with {} disparities needs {} MB for one volume, and there is no such memory: lower \
             --num-disparities or --scale",
            range.candidates,
            bytes >> 20
        ))
    })
}

/// What the sweeps go over.
struct Pair<'a> {
    level: SimdLevel,
    params: &'a StereoParams,
    range: Range,
    luma: &'a Image<u8>,
    costs: Costs<'a>,
    windows: Option<&'a Windows>,
    sweeps: &'a [courses::Sweep],
}

impl Pair<'_> {
    fn sweep<L: Lane, E: Excess<L>>(&self, workspace: &mut Workspace<L, E>) -> Result<WinnerMaps, EngineError> {
        let job = sweep::Job {
            params: self.params,
            range: self.range,
            luma: self.luma,
            costs: self.costs,
            windows: self.windows,
            p1: L::from_u32(self.params.p1),
            p2_of_step: penalty_table(self.params).map(L::from_u32),
        };
        workspace.run(self.level, &job, self.sweeps)
    }
}

impl Engine for CpuEngine {
    fn info(&self) -> Arc<EngineInfo> {
        Arc::clone(&self.info)
    }

    fn slots(&self) -> usize {
        1
    }

    fn memory_bytes(&mut self) -> Option<usize> {
        Some(self.buffers.bytes())
    }

    fn forget(&mut self) {}

    fn submit(&mut self, job: Job) -> Result<(), EngineError> {
        if let Some(what) = super::lacks(EngineKind::Cpu, &job.params) {
            return Err(EngineError::Unsupported(format!("the CPU engine does not do {what} yet")));
        }
        if self.waiting.is_some() {
            return Err(EngineError::Device("the CPU takes one pair at a time: collect the last one first".into()));
        }
        self.waiting = Some((job, Instant::now()));
        Ok(())
    }

    fn collect(&mut self) -> Result<Option<Output>, EngineError> {
        let Some((job, submitted)) = self.waiting.take() else { return Ok(None) };
        let (map, stages) = self.match_pair(&job.frame.left.luma, &job.frame.right.luma, &job.params)?;
        Ok(Some(Output {
            job,
            engine: self.info(),
            map: Some(Arc::new(map)),
            right_map: None,
            texture: None,
            stages,
            compute_time: submitted.elapsed(),
        }))
    }
}

/// A clock that is read after each stage.
struct Stages {
    last: Instant,
    times: Vec<StageTime>,
}

impl Stages {
    fn start() -> Self {
        Self { last: Instant::now(), times: Vec::with_capacity(4) }
    }

    fn done(&mut self, name: &'static str) {
        let now = Instant::now();
        self.times.push(StageTime { name, ms: (now - self.last).as_secs_f64() * 1e3 });
        self.last = now;
    }
}
