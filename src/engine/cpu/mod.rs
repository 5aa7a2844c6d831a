//! The CPU engine: the stages of [`crate::stereo`] on all cores, with loops that become SIMD, to the same bits.
//!
//! Rectified pairs go in, disparity maps come out. Volumes keep `BLOCK` candidates together: the candidates of a pixel
//! are padded to whole blocks, and what is padded can never win.

#![allow(clippy::inline_always, reason = "what is not inlined into a multiversioned loop is not compiled for its SIMD")]

mod adapter;
mod buffers;
mod cost;
mod feature;
mod filter;
#[cfg_attr(not(test), expect(dead_code, reason = "paths and winners here read no gates"))]
mod gates;
mod lane;
mod median;
mod paths;
mod sad;
mod winner;
#[cfg(test)]
mod tests;

use super::{Engine, EngineError, EngineInfo, EngineKind, Job, Output, StageTime};
use crate::frame::Luma;
use crate::image::Image;
use crate::stereo::{CostKind, DisparityMap, StereoParams};
use buffers::Buffers;
use rayon::{ThreadPool, ThreadPoolBuilder};
use std::sync::Arc;
use std::time::Instant;

/// Candidates that are computed together: 32 bytes of path costs, one AVX2 register.
const BLOCK: usize = 32;

/// Candidates of each pixel, and how far apart pixels lie in a volume.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Range {
    /// Disparity of candidate 0.
    min: i32,
    /// How many there are.
    candidates: usize,
    /// The same, rounded up to whole blocks.
    stride: usize,
}

impl Range {
    fn of(params: &StereoParams) -> Self {
        let candidates = params.num_disparities as usize;
        Self { min: params.min_disparity, candidates, stride: candidates.next_multiple_of(BLOCK) }
    }
}

/// Matches on all cores. One job at a time; it is computed in [`Engine::collect`].
pub struct CpuEngine {
    info: Arc<EngineInfo>,
    pool: Option<ThreadPool>,
    buffers: Buffers,
    waiting: Option<(Job, Instant)>,
}

impl CpuEngine {
    /// An engine with this many threads, or one for each core.
    pub fn new(threads: Option<usize>) -> Self {
        let cores = || std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
        let threads = threads.unwrap_or_else(cores).max(1);
        let builder = ThreadPoolBuilder::new().num_threads(threads).thread_name(|i| format!("match {i}"));
        let pool = builder.build();
        if let Err(err) = &pool {
            log::warn!("no {threads} threads for matching ({err}); the shared ones do it");
        }
        let adapter = adapter::describe(threads);
        let info = EngineInfo { kind: EngineKind::Cpu, adapter, software: false };
        Self { info: Arc::new(info), pool: pool.ok(), buffers: Buffers::default(), waiting: None }
    }

    /// The whole algorithm, as [`crate::stereo::match_pair`] has it, with the time of each stage.
    ///
    /// # Errors
    /// The volumes do not fit into memory, the paths have other directions than those of 4 or 8 from 0 degrees, or gating
    /// is asked for.
    pub fn match_pair(
        &mut self,
        left: &Luma,
        right: &Luma,
        params: &StereoParams,
    ) -> Result<(DisparityMap, Vec<StageTime>), EngineError> {
        let buffers = &mut self.buffers;
        match &self.pool {
            Some(pool) => pool.install(|| match_pair(buffers, left, right, params)),
            None => match_pair(buffers, left, right, params),
        }
    }
}

/// All stages in order, on the threads of the current pool.
fn match_pair(
    buffers: &mut Buffers,
    left: &Luma,
    right: &Luma,
    params: &StereoParams,
) -> Result<(DisparityMap, Vec<StageTime>), EngineError> {
    if !matches!((params.paths, params.start_angle_deg), (0, _) | (4 | 8, 0)) {
        return Err(EngineError::Unsupported(format!(
            "the CPU sums 4 or 8 paths from 0 degrees, not {} from {}: use --engine gpu, or --paths 8 --start-angle-deg 0",
            params.paths, params.start_angle_deg
        )));
    }
    // The one place that knows of it: paths and winners here read no gates.
    if params.gating.is_some() {
        return Err(EngineError::Unsupported("the CPU engine has no gating: use --gating off".into()));
    }
    let mut stages = Stages::start();
    let (width, height) = left.size();
    let range = Range::of(params);
    let volume = buffers::Size { width, height, range };
    let maps = match (params.paths, params.cost) {
        (0, CostKind::Sad) => {
            let sums = buffers::fit(&mut buffers.sums32, volume)?;
            sad::sum_volume(&left.to_u8(), &right.to_u8(), params, range, sums);
            stages.done("cost");
            winner::winners(sums, (width, height), range, params)
        }
        (0, _) => {
            let costs = buffers::fit(&mut buffers.costs, volume)?;
            cost::volume(left, right, params, range, costs);
            stages.done("cost");
            winner::winners(costs, (width, height), range, params)
        }
        _ => {
            let costs = buffers::fit(&mut buffers.costs, volume)?;
            let sums = buffers::fit(&mut buffers.sums16, volume)?;
            cost::volume(left, right, params, range, costs);
            stages.done("cost");
            paths::sum_paths(costs, &left.to_u8(), params, range, sums);
            stages.done("paths");
            winner::winners(sums, (width, height), range, params)
        }
    };
    stages.done("winner");
    let map = filter::filter_maps(maps, params);
    stages.done("filters");
    Ok((map, stages.times))
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

    fn submit(&mut self, job: Job) -> Result<(), EngineError> {
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

/// Left map with reasons, and the right picture's disparities where somebody asks for them.
struct WinnerMaps {
    left: DisparityMap,
    right: Option<Image<i16>>,
}
