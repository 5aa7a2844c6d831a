//! The stages of the GPU engine one by one, as Banz, Blume & Pirsch 2011 time them in Table 1: costs, paths one after another and
//! together, sums and winners.

use super::device::{Gauge, StageFigures};
use crate::bench::{one_by_one, warm_up};
use crate::engine::gpu::variant::{Variant, VariantOverrides};
use crate::engine::gpu::{Gpu, GpuOptions};
use crate::engine::{GpuEngine, Job};
use anyhow::Context as _;

/// The stages with their times.
#[derive(Debug)]
pub(super) struct Stages {
    /// Matching costs alone.
    pub(super) costs: Option<StageFigures>,
    /// All directions, one after another.
    pub(super) one_by_one: Option<StageFigures>,
    /// All directions at the same time.
    pub(super) together: Option<StageFigures>,
    /// Sums and winners.
    pub(super) winners: Option<StageFigures>,
}

/// The variant that is known to be quickest, but with every direction in the stage of the paths; what the user forces stays.
fn variant(gpu: &Gpu, job: &Job) -> anyhow::Result<Variant> {
    let overrides = VariantOverrides::from_env()?;
    let mut engine =
        GpuEngine::with_options(gpu.clone(), GpuOptions { overrides: overrides.clone(), ..GpuOptions::default() })?;
    one_by_one::run_job(&mut engine, job.clone())?;
    let variant = engine.variant().context("the engine does not tell its variant")?;
    Ok(overrides.apply(Variant { fused: false, ..variant }))
}

/// Times the stages; software has the work of each stage and no times, which would look like a comparison beside a GPU's.
///
/// # Errors
/// There is no job, or the engine fails.
pub(super) fn measure(gpu: &Gpu, gauge: &mut Gauge, jobs: &[Job], frames: usize) -> anyhow::Result<Stages> {
    let variant = variant(gpu, jobs.first().context("no pair to time")?)?;
    let rates = gauge.rates(gpu)?;
    let figures = |sequential| {
        let options = GpuOptions { overrides: VariantOverrides::all(variant), sequential, ..GpuOptions::default() };
        let mut engine = GpuEngine::with_options(gpu.clone(), options)?;
        warm_up(&mut engine, jobs)?;
        let times = one_by_one::measure(&mut engine, jobs, frames)?;
        let of = |name| {
            let work = engine.work().into_iter().find(|work| work.name == name)?;
            let ms = times.stage_ms(name).filter(|_| !gpu.info.software);
            Some(StageFigures::new(work, ms, rates.as_ref()))
        };
        Ok::<_, anyhow::Error>(["cost", "paths", "winner"].map(of))
    };
    let [costs, together, winners] = figures(false)?;
    let [_, one_by_one, _] = figures(true)?;
    Ok(Stages { costs, one_by_one, together, winners })
}
