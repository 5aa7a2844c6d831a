//! The CPU engine: a pair of images goes in, disparity maps come out, with the same bits as the reference (`crates/stereo`).
//! The engine runs on all cores and in vector instructions. Each change must keep the bits: `tests/reference` compares them.
//!
//! ```
//! use stereopsis_base::image::{Image, Luma};
//! use stereopsis_cpu::CpuEngine;
//! use stereopsis_stereo::{StereoParams, match_pair};
//!
//! // in the right image everything lies 5 px further left
//! let view = |shift| Luma::U8(Image::from_fn(64, 48, |x, y| ((x + shift) * 7919 + y * 104_729) as u8));
//! let (left, right) = (view(0), view(5));
//! let params = StereoParams { num_disparities: 16, ..StereoParams::default() };
//! let (maps, _) = CpuEngine::new(None).match_next(&left, &right, &params, false)?;
//! assert_eq!(maps.left, match_pair(&left, &right, &params));
//! # Ok::<(), stereopsis_frame::engine::EngineError>(())
//! ```
//!
//! Stages in their order (`level`):
//! 1. `gates` and `mutual_information` compute the prior from coarser levels and earlier pairs.
//! 2. The images become codes (`codes`) or volumes of costs (`stored_costs`), which `local` aggregates.
//! 3. Two sweeps compute costs and path costs and choose the winners (`paths`, `sweep`, `recurrence`, `winner`). Without paths,
//!    exact sums decide (`exact_winner`).
//! 4. `filter` and its helpers filter the maps.
//!
//! The candidates of a pixel are padded to whole registers; the padding has the cost that marks missing candidates.
//!
//! # Design: every sum written once and read once
//!
//! ```text
//!  images ─▶ codes (a byte or more for each pixel) ─▶ two sweeps, down and up, meeting in the middle ─▶ both maps ─▶ filters
//!              or a volume of costs, aggregated          costs ─▶ path costs ─▶ sums ─▶ winners, block by block of a row
//! ```
//!
//! - Each direction belongs to the sweep in which its predecessors lie in the row above or in the same row. A pass along the
//!   row follows up to four directions together (`scan`, `recurrence`). Lines are those of `stereo/aggregate`: drawn once, as
//!   minor-axis steps of each row or column, and shifted.
//! - The volume stores the sum of the aggregation increments `L - C`, at most P2 for each direction, often a byte. The first
//!   sweep over a row stores it. The second adds its own increments and N times the cost, which it computes again, and chooses
//!   the winners of both images while the totals are in the cache.
//! - Path costs have 8 bits where the largest cost and P2 stay below 255, else 16. The largest value marks missing candidates,
//!   both for padding and for gating. Loops are generic over both widths and over the vector instructions (`lane`, `simd`).
//! - The path costs of a pixel replace those of its predecessor in the row above. Where that pixel lies beside it, the ring of
//!   a direction's slots turns by one with each row (`path_state`). Where a row needs several passes, each hands its sums to
//!   the next in the cache.
//! - Small totals become keys, a total and the number of its pixel in 16 bits, so that the winners of both images are plain
//!   minima (`winner`). `vector` has the instructions that the vector library lacks.
//! - Threads take rows. The rows of a sweep form a wavefront, each behind the row before, block by block (`wavefront`: no
//!   locks). The order of the sums never depends on the threads. A thread that waits for a slower one exchanges rows with it
//!   between two blocks (`handover`).
//! - With gating, tiles of 32 x 8 pixels have a disparity window of whole registers around their gates (`disparity_windows`),
//!   and the volume has room for these windows alone.
//! - Local aggregation (`local`) sums all candidates of a pixel at once: a window by running sums, a cross along rows and then
//!   along columns, weights by products of one left weight with those of all partners. Paths read its means from a volume of
//!   bytes; without paths the winners of each row are chosen while its sums are in the cache (`exact_winner`).
//! - The learned choice (`choice`) is the reference's own code. The engine only gathers the surroundings of a pixel faster.
//! - `level` calls itself for the coarser levels of the pyramid. State from pair to pair is the reference's `Past`.
//! - `unsafe` is in `wavefront` (the only shared mutable memory) and `memory` (prefetch, streaming stores), behind safe functions.

#![allow(clippy::inline_always, reason = "what is not inlined into a loop is not compiled for its vector instructions")]
#![allow(clippy::needless_bitwise_bool, reason = "without branches loops become vector instructions")]
#![allow(clippy::needless_range_loop, reason = "plain indexed loops over arrays become vector instructions reliably")]

mod adapter;
mod aligned;
mod choice;
mod codes;
mod costs;
mod disparity_windows;
mod error;
mod exact_winner;
mod filter;
mod gates;
mod handover;
mod input;
mod lane;
mod level;
mod local;
mod maps;
mod median;
mod memory;
mod mutual_information;
mod need;
mod path_state;
mod paths;
mod planes;
mod recurrence;
mod regions;
mod running_mean;
mod scan;
pub mod simd;
mod stored_costs;
mod sweep;
mod vector;
mod wavefront;
mod weighted_median;
mod winner;
mod testing;

pub use adapter::brand_in;
use input::LevelInput;
use level::{Buffers, Stages};
use need::Machine;
use rayon::{ThreadPool, ThreadPoolBuilder};
use simd::SimdLevel;
use std::sync::Arc;
use std::time::Instant;
use stereopsis_base::image::PictureRef;
use stereopsis_base::process::ProcessLocal;
use stereopsis_frame::engine::demand::{Demand, Promise};
use stereopsis_frame::engine::{Engine, EngineError, EngineInfo, EngineKind, Job, Output, StageTime, demand};
use stereopsis_stereo::filter::Smoothed;
use stereopsis_stereo::{DisparityMap, Maps, Past, StereoParams};

/// Engine that matches on all cores. It takes one job at a time and computes it in [`Engine::collect`].
///
/// Memory for `N` paths over `W x H` pixels and `D` candidates, rounded up to whole registers:
/// - a volume of `W H D` bytes; twice that where the largest P2 times the directions that are stored at a time (`N / 2` up to
///   eight paths, `N - 4` beyond) exceeds 255;
/// - `1.1 N W D` bytes of path costs, and the volume twice as large too, where the largest cost and the largest P2 exceed 254;
/// - `P (2 W + D + 64) H` bytes of codes, `P` being 3, 4, 6 or 8 for census and 1 for rank or brightness, 7 for both together;
/// - `W H D` bytes of costs for SAD, AD-census, mutual information and weighted aggregations, and as many for the means of any
///   aggregation before paths.
///
/// Gating leaves of the first volume what the gates need, and adds 4 bytes for each pixel. The coarser levels of gating and of
/// mutual information add at most a third of everything, and filters over time 3 bytes for each pixel. Block matching and aggregation
/// without paths need no volume of sums: winners are chosen row by row.
pub struct CpuEngine {
    info: Arc<EngineInfo>,
    level: SimdLevel,
    threads: usize,
    /// Threads of the process that matched last; none before the first pair.
    pool: Option<ProcessLocal<ThreadPool>>,
    buffers: Buffers,
    past: Past,
    waiting: Option<(Job, Instant)>,
    /// Whether the waiting pair is the last one of its sequence.
    forgets_after: bool,
    /// Last demand for which there was memory.
    fitting: Option<Demand>,
    /// Memory that the first pair of that demand is about to take.
    promise: Option<Promise>,
}

impl CpuEngine {
    /// Creates an engine with `threads` threads, or one for each core, and the vector instructions set by [`simd::VARIABLE`],
    /// or the best ones.
    pub fn new(threads: Option<usize>) -> Self {
        let level = SimdLevel::chosen().unwrap_or_else(|err| {
            log::warn!("{err}"); // the command line refuses it earlier
            SimdLevel::best()
        });
        Self::with_level(threads, level)
    }

    /// Creates an engine with these vector instructions.
    pub fn with_level(threads: Option<usize>, level: SimdLevel) -> Self {
        let cores = || std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
        let threads = threads.unwrap_or_else(cores).max(1);
        let adapter = adapter::describe(level, threads);
        let info = EngineInfo { kind: EngineKind::Cpu, adapter, software: false };
        Self {
            info: Arc::new(info),
            level,
            threads,
            pool: None,
            buffers: Buffers::default(),
            past: Past::default(),
            waiting: None,
            forgets_after: false,
            fitting: None,
            promise: None,
        }
    }

    fn machine(&self) -> Machine {
        Machine { register: self.level.bytes(), threads: self.threads }
    }

    fn check_memory(&mut self, demand: Demand) -> Result<(), EngineError> {
        if self.fitting.as_ref() == Some(&demand) {
            return Ok(());
        }
        self.promise = None;
        let (machine, held) = (self.machine(), self.memory_bytes().unwrap_or(0) as u64);
        let need = |demand: &Demand| Some(need::bytes(demand, machine));
        demand::check(&demand, demand::free(self.buffers.free), held, need)?;
        self.promise = Some(Promise::of(need::bytes(&demand, machine).saturating_sub(held)));
        self.fitting = Some(demand);
        Ok(())
    }

    /// Runs the whole algorithm for the next pair, as [`stereopsis_stereo::match_next`] specifies, and times each stage.
    ///
    /// # Errors
    /// The volumes do not fit into memory, or the system gives no threads.
    pub fn match_next<'a>(
        &mut self,
        left: impl Into<PictureRef<'a>>,
        right: impl Into<PictureRef<'a>>,
        params: &StereoParams,
        wants_right: bool,
    ) -> Result<(Maps, Vec<StageTime>), EngineError> {
        let pair = PictureRef::pair(left, right);
        self.check_memory(Demand::of_pair(pair, Arc::new(params.clone()), wants_right))?;
        let Self { level, threads, pool, buffers, past, promise, .. } = self;
        let pool = ProcessLocal::kept(pool, || new_pool(*threads))?;
        past.follow(pair[0].luma.size(), params);
        let mut stages = Stages::start();
        let maps = pool.install(|| {
            let input = LevelInput { level: *level, left: pair[0].luma, right: pair[1].luma, params };
            buffers.match_level(input, pair, past, wants_right, &mut stages)
        });
        *promise = None;
        let maps = maps?;
        past.remember(&maps.left, params);
        Ok((maps, stages.times))
    }

    /// Filters the maps of another matcher for the next pair, as [`stereopsis_stereo::filter_maps`] specifies.
    ///
    /// # Errors
    /// The system gives no threads.
    pub fn filter(
        &mut self,
        winners: Maps,
        pictures: [PictureRef<'_>; 2],
        params: &StereoParams,
        wants_right: bool,
    ) -> Result<Maps, EngineError> {
        let Self { level, threads, pool, past, .. } = self;
        let pool = ProcessLocal::kept(pool, || new_pool(*threads))?;
        past.follow(pictures[0].luma.size(), params);
        let winners = maps::WinnerMaps { left: winners.left, right: winners.right };
        let maps = pool.install(|| filter::filter_maps(*level, winners, pictures, params, past, wants_right));
        past.remember(&maps.left, params);
        Ok(maps)
    }
}

fn new_pool(threads: usize) -> Result<ThreadPool, EngineError> {
    let builder = ThreadPoolBuilder::new().num_threads(threads).thread_name(|i| format!("match {i}"));
    builder.build().map_err(|err| {
        EngineError::Device(
            format!("no {threads} threads for matching: {err}; end other programs, or take fewer threads").into(),
        )
    })
}

impl Engine for CpuEngine {
    fn info(&self) -> Arc<EngineInfo> {
        Arc::clone(&self.info)
    }

    fn slots(&self) -> usize {
        1
    }

    fn memory_bytes(&mut self) -> Option<usize> {
        let pixels = |map: &DisparityMap| size_of_val(map.values.pixels()) + size_of_val(map.reasons.pixels());
        let last = self.past.last.as_ref().map_or(0, pixels);
        let smoothed = |past: &Smoothed| size_of_val(past.values.pixels()) + size_of_val(past.seen.pixels());
        Some(self.buffers.bytes() + last + self.past.smoothed.as_ref().map_or(0, smoothed))
    }

    fn forget(&mut self) {
        // the waiting pair was submitted before: it still uses the past
        self.forgets_after = self.waiting.is_some();
        if !self.forgets_after {
            self.past = Past::default();
        }
    }

    fn submit(&mut self, job: Job) -> Result<(), EngineError> {
        stereopsis_frame::engine::check_counts(job.frame.size(), &job.params)?;
        self.check_memory(Demand::of(&job))?;
        if self.waiting.is_some() {
            return Err(EngineError::Device(error::CpuError::Busy.into()));
        }
        self.waiting = Some((job, Instant::now()));
        Ok(())
    }

    fn collect(&mut self) -> Result<Option<Output>, EngineError> {
        let Some((job, submitted)) = self.waiting.take() else { return Ok(None) };
        let [left, right] = job.frame.pictures();
        let matched = self.match_next(left, right, &job.params, job.wants_right);
        if std::mem::take(&mut self.forgets_after) {
            self.past = Past::default();
        }
        let (maps, stages) = matched?;
        Ok(Some(Output {
            job,
            engine: self.info(),
            map: Some(Arc::new(maps.left)),
            right_map: maps.right.map(Arc::new),
            texture: None,
            stages,
            compute_time: submitted.elapsed(),
        }))
    }
}
