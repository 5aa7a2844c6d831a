//! Times of the GPU engine's stages as in Table 1 of Banz, Blume & Pirsch 2011: costs, paths one by one and together, sums and winners.

use super::device::{RatesCache, StageFigures};
use super::operations::work;
use anyhow::Context as _;
use stereopsis_bench::{one_by_one, warm_up};
use stereopsis_frame::engine::Job;
use stereopsis_gpu::variant::{Variant, VariantOverrides};
use stereopsis_gpu::{Gpu, GpuEngine, GpuOptions};

#[derive(Debug)]
pub(super) struct Stages {
    pub(super) costs: Option<StageFigures>,
    /// Path directions one by one.
    pub(super) one_by_one: Option<StageFigures>,
    /// Path directions together.
    pub(super) together: Option<StageFigures>,
    pub(super) winners: Option<StageFigures>,
}

/// Returns the quickest known variant with all directions in the path stage and the options forced by the user.
fn variant(gpu: &Gpu, job: &Job) -> anyhow::Result<Variant> {
    let overrides = VariantOverrides::from_env()?;
    let mut engine =
        GpuEngine::with_options(gpu.clone(), GpuOptions { overrides: overrides.clone(), ..GpuOptions::default() })?;
    one_by_one::run_job(&mut engine, job.clone())?;
    let variant = engine.variant().context("the engine does not tell its variant")?;
    Ok(overrides.apply(Variant { fused: false, ..variant }))
}

/// Times the stages; for software adapters only the work is reported, since their times would look like a GPU's.
///
/// # Errors
/// There is no job, or the engine fails.
pub(super) fn measure(gpu: &Gpu, gauge: &mut RatesCache, jobs: &[Job], frames: usize) -> anyhow::Result<Stages> {
    let variant = variant(gpu, jobs.first().context("no pair to time")?)?;
    let rates = gauge.rates(gpu)?;
    let figures = |sequential| {
        let options = GpuOptions { overrides: VariantOverrides::all(variant), sequential, ..GpuOptions::default() };
        let mut engine = GpuEngine::with_options(gpu.clone(), options)?;
        warm_up(&mut engine, jobs)?;
        let times = one_by_one::measure(&mut engine, jobs, frames)?;
        let of = |name| {
            let work = work(engine.graph()?, engine.limits().packs_i16).into_iter().find(|work| work.name == name)?;
            let ms = times.stage_ms(name).filter(|_| !gpu.info.software);
            Some(StageFigures::new(work, ms, rates.as_ref()))
        };
        Ok::<_, anyhow::Error>(["cost", "paths", "winner"].map(of))
    };
    let [costs, together, winners] = figures(false)?;
    let [_, one_by_one, _] = figures(true)?;
    Ok(Stages { costs, one_by_one, together, winners })
}
