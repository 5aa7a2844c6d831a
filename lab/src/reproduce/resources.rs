//! Resources of the exhibits: pairs with truth, images of the built-in scene, engines, timers.

use super::exhibit::{Exhibit, Verdict};
use anyhow::Context as _;
use std::collections::HashMap;
use std::path::Path;
use std::sync::Arc;
use std::time::Instant;
use stereopsis_base::console;
use stereopsis_base::image::PictureRef;
use stereopsis_bench::one_by_one::Times;
use stereopsis_bench::{one_by_one, pairs, warm_up};
use stereopsis_cpu::CpuEngine;
use stereopsis_cpu::simd::SimdLevel;
use stereopsis_frame::engine::{AdapterChoice, Engine as _, EngineInfo, Job};
use stereopsis_frame::{MaxPixels, SceneOptions, SceneWorld, SourceOptions, SourceSpec};
use stereopsis_gpu::{Gpu, GpuEngine, GpuOptions};
use stereopsis_images::picture_files::truth::{PairWithTruth, find_truth_pairs};
use stereopsis_metrics::{Figures, figures};
use stereopsis_scene::SceneRenderer;
use stereopsis_stereo::{DisparityMap, StereoParams, match_pair};

/// Name of an exhibit in the paper, and the function that makes it.
pub(super) type Plan = (&'static str, fn(&mut ExhibitResources) -> anyhow::Result<Exhibit>);

/// Pairs of Middlebury v2, the open data of the papers.
pub(super) const MIDDLEBURY: [&str; 4] = ["tsukuba", "venus", "teddy", "cones"];
pub(super) const NEEDS_MIDDLEBURY: &str = "the Middlebury v2 pairs (--data)";

/// Rendered scene of the data (Scene Flow).
const RENDERED: &str = "scene0";
/// Number of random worlds added to the scene.
const RANDOM_WORLDS: u32 = 3;

/// Total time of the pairs of a median, ms.
const TIMING_MS: f64 = 1500.0;
const QUICK_TIMING_MS: f64 = 150.0;
const MAX_FRAMES: usize = 21;

/// Resources of the exhibits.
pub(super) struct ExhibitResources {
    pub(super) quick: bool,
    /// Divisor of the scene's sizes, above 1 only in tests.
    pub(super) shrink: usize,
    /// Number of threads for memory measurements, each with memory; all cores except in tests.
    pub(super) threads: Option<usize>,
    /// Hardware GPU, or the reason for its absence.
    pub(super) gpu: Result<Gpu, String>,
    pub(super) cpu: Arc<EngineInfo>,
    pub(super) known: HashMap<String, Vec<Option<Figures>>>,
    pairs: Vec<PairWithTruth>,
    scene: PairWithTruth,
}

impl ExhibitResources {
    /// Reads the pairs with truth below a folder, and searches for a GPU.
    ///
    /// # Errors
    /// The folder has no pair with truth; a file is damaged.
    pub(super) fn open(quick: bool, data: Option<&Path>) -> anyhow::Result<Self> {
        let pairs = match data {
            Some(folder) => find_truth_pairs(folder)?,
            None => Vec::new(),
        };
        let pairs: Result<Vec<_>, _> = pairs.iter().map(|pair| pair.read(MaxPixels::default())).collect();
        let gpu = match Gpu::open(&AdapterChoice::Best) {
            Ok(gpu) if gpu.info.software => Err("a GPU that is hardware".to_owned()),
            Ok(gpu) => Ok(gpu),
            Err(_) => Err("a GPU".to_owned()),
        };
        Ok(Self {
            quick,
            shrink: 1,
            threads: None,
            gpu,
            cpu: CpuEngine::new(None).info(),
            known: HashMap::new(),
            pairs: pairs?,
            scene: scene(if quick { (320, 240) } else { (640, 480) }, SceneWorld::Room, 1)?,
        })
    }

    /// Creates small resources for tests, with the built-in scene only and without GPU.
    #[cfg(test)]
    pub(super) fn small() -> anyhow::Result<Self> {
        Ok(Self {
            quick: true,
            shrink: 8,
            threads: Some(2),
            gpu: Err("a GPU".to_owned()),
            cpu: CpuEngine::new(None).info(),
            known: HashMap::new(),
            pairs: Vec::new(),
            scene: scene((160, 120), SceneWorld::Room, 1)?,
        })
    }

    /// Returns the pair of a scene such as `teddy`, the smallest of several.
    pub(super) fn pair(&self, group: &str) -> Option<PairWithTruth> {
        let pixels = |pair: &&PairWithTruth| pair.truth.left_px.pixels().len();
        self.pairs.iter().filter(|pair| pair.group() == group).min_by_key(pixels).cloned()
    }

    /// Returns the available pairs of these scenes (in a quick run the first), or the built-in scene.
    pub(super) fn pairs(&self, groups: &[&str]) -> Vec<PairWithTruth> {
        let mut found: Vec<_> = groups.iter().filter_map(|group| self.pair(group)).collect();
        if found.is_empty() {
            found.push(self.scene.clone());
        }
        found.truncate(if self.quick { 1 } else { usize::MAX });
        found
    }

    /// Returns rendered pairs with sub-pixel truth: built-in scene, random worlds in its size, and the data's scene unless in a quick run.
    ///
    /// # Errors
    /// A world cannot be rendered.
    pub(super) fn rendered(&self) -> anyhow::Result<Vec<PairWithTruth>> {
        let size = self.scene.raw.left.size();
        let worlds = 1..=if self.quick { 1 } else { RANDOM_WORLDS };
        let worlds: anyhow::Result<Vec<_>> = worlds.map(|seed| scene(size, SceneWorld::Random, seed)).collect();
        let others = self.pair(RENDERED).filter(|_| !self.quick);
        Ok([self.scene.clone()].into_iter().chain(worlds?).chain(others).collect())
    }

    /// Creates jobs of the built-in scene in this size (divided in tests).
    ///
    /// # Errors
    /// The scene cannot be rendered.
    pub(super) fn jobs(&self, (width, height): (usize, usize), params: &StereoParams) -> anyhow::Result<Vec<Job>> {
        let size = Some((width / self.shrink, height / self.shrink));
        let options = SourceOptions { size, ..SourceOptions::default() };
        pairs::jobs(stereopsis_sources::open, &SourceSpec::Scene, &options, params)
    }

    /// Times the warm CPU engine.
    ///
    /// # Errors
    /// The engine fails.
    pub(super) fn times(&self, jobs: &[Job], threads: Option<usize>) -> anyhow::Result<Times> {
        self.times_of(&mut CpuEngine::new(threads), jobs)
    }

    /// Times the warm CPU engine with these vector instructions.
    ///
    /// # Errors
    /// The engine fails.
    pub(super) fn times_with(&self, jobs: &[Job], level: SimdLevel) -> anyhow::Result<Times> {
        self.times_of(&mut CpuEngine::with_level(None, level), jobs)
    }

    /// Times this CPU engine, warm.
    ///
    /// # Errors
    /// The engine fails.
    pub(super) fn times_of(&self, engine: &mut CpuEngine, jobs: &[Job]) -> anyhow::Result<Times> {
        let first = one_by_one::measure(engine, jobs, 1)?;
        if !self.quick && first.frame_ms.best < TIMING_MS / 10.0 {
            warm_up(engine, jobs)?;
        }
        let patience_ms = if self.quick { QUICK_TIMING_MS } else { TIMING_MS };
        let frames = ((patience_ms / first.frame_ms.best) as usize).clamp(1, MAX_FRAMES);
        one_by_one::measure(engine, jobs, frames)
    }

    /// Times the plain loops of [`stereopsis_stereo`] on one thread in ms, the "straightforward implementation" of papers.
    ///
    /// # Errors
    /// There is no job.
    pub(super) fn plain_ms(&self, jobs: &[Job]) -> anyhow::Result<f64> {
        let job = jobs.first().context("no pair to time")?;
        let start = Instant::now();
        std::hint::black_box(match_pair(&*job.frame.left, &*job.frame.right, &job.params));
        Ok(start.elapsed().as_secs_f64() * 1e3)
    }

    /// Times a pair without transfers in ms, if there is a hardware GPU.
    ///
    /// # Errors
    /// The engine fails.
    pub(super) fn gpu_ms(&self, jobs: &[Job]) -> anyhow::Result<Option<f64>> {
        let Ok(gpu) = &self.gpu else { return Ok(None) };
        let mut engine = GpuEngine::with_options(gpu.clone(), GpuOptions::default())?;
        warm_up(&mut engine, jobs)?;
        let times = one_by_one::measure(&mut engine, jobs, MAX_FRAMES)?;
        Ok(Some(times.device_ms.unwrap_or(times.frame_ms).median))
    }

    pub(super) fn needs_gpu(&self) -> Verdict {
        Verdict::NotMeasurable(self.gpu.as_ref().err().cloned().unwrap_or_else(|| "another GPU".to_owned()))
    }

    pub(super) fn machine(&self) -> String {
        match &self.gpu {
            Ok(gpu) => format!("{}; {}", self.cpu.adapter, gpu.info.adapter),
            Err(_) => format!("{}; no GPU that is hardware", self.cpu.adapter),
        }
    }

    pub(super) fn data(&self) -> String {
        if self.pairs.is_empty() {
            "none, but those of the program's own renderer".to_owned()
        } else {
            names(&self.pairs)
        }
    }

    /// Computes the left map of the first job.
    ///
    /// # Errors
    /// There is no job, or the engine fails.
    pub(super) fn map_of(&self, jobs: &[Job]) -> anyhow::Result<DisparityMap> {
        let job = jobs.first().context("no pair to match")?;
        let (maps, _) = CpuEngine::new(None).match_next(&*job.frame.left, &*job.frame.right, &job.params, false)?;
        Ok(maps.left)
    }

    /// Computes the left map of a pair over its search range.
    ///
    /// # Errors
    /// The engine fails.
    pub(super) fn map(&self, pair: &PairWithTruth, params: &StereoParams) -> anyhow::Result<DisparityMap> {
        let params = StereoParams { num_disparities: pair.num_disparities, ..params.clone() };
        let pictures = PictureRef::pair(&pair.raw.left, &pair.raw.right);
        let (maps, _) = CpuEngine::new(None).match_next(pictures[0], pictures[1], &params, false)?;
        Ok(maps.left)
    }

    /// Computes figures of the left map over the pixels visible in both views, or over all with truth if visibility is unknown.
    ///
    /// # Errors
    /// The engine fails, or the pair has no truth.
    pub(super) fn figures(&self, pair: &PairWithTruth, params: &StereoParams) -> anyhow::Result<Figures> {
        let map = self.map(pair, params)?;
        figures(&map, &pair.truth.left_px, pair.regions.nonocc.as_ref())
            .with_context(|| format!("{} has no truth", pair.name))
    }
}

/// Renders a world as a pair with truth.
fn scene((width, height): (usize, usize), world: SceneWorld, seed: u32) -> anyhow::Result<PairWithTruth> {
    let options = SceneOptions { width, height, world, seed, ..SceneOptions::default() };
    let raw = SceneRenderer::new(&options)?.pair(0);
    let name = match world {
        SceneWorld::Room => format!("the built-in scene at {width}x{height}"),
        SceneWorld::Random => format!("random world {seed}"),
    };
    PairWithTruth::of_raw(raw, name, "scene").context("the scene has no truth")
}

pub(super) fn names(pairs: &[PairWithTruth]) -> String {
    pairs.iter().map(|pair| console::foreign(pair.group())).collect::<Vec<_>>().join(", ")
}
