//! Study of a pair: the times of every variant.

use crate::GpuEngine;
use crate::layout::Structure;
use crate::tuning::clock::{Clock, LOADED, burst};
use crate::variant::{AHEADS, CostSource, PIECES, PathBits, Variant, VariantOverrides, WORKGROUPS};
use stereopsis_frame::engine::{Engine as _, EngineError, Job, Output, run};

/// Minimum pairs between two checks of the clock.
const BURST: usize = 6;

/// Times of one variant.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize)]
pub struct Trial {
    /// Variant that was timed.
    #[serde(flatten)]
    pub variant: Variant,
    /// Time of the path costs alone, ms; `None` without timestamps.
    pub paths_ms: Option<f64>,
    /// Time of sums and winners alone, ms; `None` without timestamps.
    pub winner_ms: Option<f64>,
    /// Time of the whole pair, ms: on the device where it has timestamps, else from submission to result.
    pub pair_ms: f64,
}

/// All trials.
#[derive(Clone, Debug, Default, serde::Serialize)]
pub struct Study {
    /// Trials in the order in which they were made.
    pub trials: Vec<Trial>,
    /// Variants for which the device has no room, each with the error text.
    pub left_out: Vec<(Variant, String)>,
}

impl Study {
    /// Returns the quickest trial.
    pub fn best(&self) -> Option<&Trial> {
        self.trials.iter().min_by(|a, b| a.pair_ms.total_cmp(&b.pair_ms))
    }
}

/// Times every variant that can run `job`: first exchange, words, workgroups and cost sources with paths in 32 bits; then, for the
/// quickest of them, pieces, fusing, and paths in 16-bit integers, in 16-bit floats and in 32 bits that load 1 to 4 steps ahead. The
/// minimum counts, once `rounds` pairs in a row were no quicker. `on_trial` receives each trial, the number of trials so far and in
/// all; the study ends when it returns false.
///
/// # Errors
/// Errors of [`stereopsis_frame::engine::Engine::submit`] and [`stereopsis_frame::engine::Engine::collect`]; a variant without room is left out.
pub fn study(
    engine: &mut GpuEngine,
    job: &Job,
    rounds: usize,
    on_trial: &mut dyn FnMut(&Trial, usize, usize) -> bool,
) -> Result<Study, EngineError> {
    let limits = *engine.limits();
    let requirements = Structure::levels(job.frame.size(), &job.params)[0].0.requirements();
    let baseline = Variant::baseline(&limits, &requirements);
    let mut variants = Variant::all(&limits, &requirements, &WORKGROUPS, &[baseline.piece]);
    variants.retain(|variant| {
        variant.fused == baseline.fused && variant.path_bits == PathBits::I32 && variant.ahead == baseline.ahead
    });
    let more = PIECES.len() + 2 + 2 * AHEADS.len();
    let mut study = Study::default();
    let mut total = variants.len() + more;
    for stage in 0..2 {
        for variant in std::mem::take(&mut variants) {
            if let Some(last) = study.trials.last().filter(|_| !engine.gpu().info.software) {
                compile_under_load(engine, job, [last.variant, variant])?;
            }
            engine.override_variant(VariantOverrides::all(variant));
            match time(engine, job, variant, rounds) {
                Ok(trial) => {
                    study.trials.push(trial);
                    if !on_trial(&trial, study.trials.len(), total) {
                        return Ok(study);
                    }
                }
                Err(EngineError::TooLarge(why)) => study.left_out.push((variant, why.to_string())),
                Err(err) => return Err(err),
            }
        }
        let Some(best) = study.best().map(|trial| trial.variant).filter(|_| stage == 0) else { break };
        let pieces = PIECES.map(|piece| Variant { piece, fused: false, ..best });
        let others = [
            Variant { fused: true, ..best },
            Variant { words: 4, costs: CostSource::Volume, path_bits: PathBits::I16, ..best },
        ];
        let further = [PathBits::F16, PathBits::I32]
            .into_iter()
            .flat_map(|path_bits| AHEADS.map(|ahead| Variant { path_bits, ahead, ..best }));
        variants = pieces.into_iter().chain(others).chain(further).collect();
        variants.retain(|v| *v != best && v.unsupported_reason(&limits, &requirements).is_none());
        total = study.trials.len() + variants.len();
    }
    Ok(study)
}

fn time(engine: &mut GpuEngine, job: &Job, variant: Variant, rounds: usize) -> Result<Trial, EngineError> {
    let jobs = std::slice::from_ref(job);
    let first = run(engine, job.clone())?; // compiles missing pipelines
    let mut clock = Clock::start(LOADED);
    let mut best = Trial { variant, paths_ms: None, winner_ms: None, pair_ms: f64::INFINITY };
    // the time of a pair whose stages are not timed contains waits
    let is_timed = !first.stages.is_empty() && !first.engine.software;
    loop {
        let mut is_steady = !is_timed;
        let outputs = if is_timed {
            burst(engine, jobs, rounds.max(BURST))?
        } else {
            (0..rounds.max(1)).map(|_| run(engine, job.clone())).collect::<Result<_, _>>()?
        };
        for output in outputs {
            let pair_ms = device_ms(&output);
            if pair_ms < best.pair_ms {
                let stage = |name| output.stages.iter().find(|stage| stage.name == name).map(|stage| stage.ms);
                best = Trial { paths_ms: stage("paths"), winner_ms: stage("winner"), pair_ms, ..best };
            }
            is_steady |= clock.is_steady(pair_ms, rounds);
        }
        if is_steady {
            return Ok(best);
        }
    }
}

/// Keeps the device under load with the compiled variant while another one is compiled.
fn compile_under_load(engine: &mut GpuEngine, job: &Job, [compiled, next]: [Variant; 2]) -> Result<(), EngineError> {
    loop {
        engine.override_variant(VariantOverrides::all(next));
        if engine.prepare(job) {
            return Ok(());
        }
        engine.override_variant(VariantOverrides::all(compiled));
        burst(engine, std::slice::from_ref(job), BURST)?;
    }
}

/// Returns the sum of a pair's stages where the device times them, which excludes the work of other programs, ms.
pub fn device_ms(output: &Output) -> f64 {
    let timed: f64 = output.stages.iter().map(|stage| stage.ms).sum();
    if timed > 0.0 && !output.engine.software { timed } else { output.compute_time.as_secs_f64() * 1e3 }
}
