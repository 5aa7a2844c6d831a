//! Leave-one-out validation: a search on the other scenes, tested on the excluded one.

use super::memory::MeterCache;
use super::options::Options;
use anyhow::Context as _;
use std::sync::Arc;
use stereopsis_frame::Frame;
use stereopsis_images::picture_files::truth::PairWithTruth;
use stereopsis_search::{
    Budget, EarlierTrials, EngineMeter, Judge, Meter as _, Plan, Run, Sample, SearchLimits, SearchProgress, Trial,
    Watcher, find,
};
use stereopsis_settings::settings::differences;

#[derive(Clone, Debug, serde::Serialize)]
pub(super) struct FoldResult {
    pub(super) scene: String,
    pub(super) default: Errors,
    /// Name and errors of the preset that is best on the search scenes.
    pub(super) best_preset: (String, Errors),
    /// Errors of the found setting.
    pub(super) found: Errors,
    /// Differences of the found setting from the default.
    pub(super) changed: Vec<String>,
}

#[derive(Clone, Copy, Debug, serde::Serialize)]
pub(super) struct Errors {
    searched_on: Option<f64>,
    /// Share of pixels with truth in the excluded scene off by more than 1 px, holes filled, %.
    pub(super) bad_1_percent: f64,
    /// Time of a pair of the excluded scene, ms.
    pub(super) time_ms: f64,
}

pub(super) struct CrossValidation {
    /// Name and group of each scene.
    scenes: Vec<(String, String)>,
    searching: MeterCache,
    judging: MeterCache,
}

impl CrossValidation {
    /// Opens the engine for these scenes.
    ///
    /// # Errors
    /// There is no scene, or no engine.
    pub(super) fn of(scenes: Vec<PairWithTruth>, options: &Options) -> anyhow::Result<Self> {
        let names = scenes.iter().map(|scene| (scene.name.clone(), scene.group().to_owned())).collect();
        let samples: Arc<[Sample]> = scenes.into_iter().map(sample).collect();
        let open = |judge| {
            let samples = Arc::clone(&samples);
            EngineMeter::open(&options.engine, samples, judge, &options.start).map(MeterCache::of)
        };
        Ok(Self { scenes: names, searching: open(options.judge)?, judging: open(Judge::Truth)? })
    }

    pub(super) fn len(&self) -> usize {
        self.scenes.len()
    }

    /// Excludes a scene and others of its group, searches, and tests on the scene; without truth the scene itself is searched.
    ///
    /// # Errors
    /// There is no other scene, or the engine fails.
    pub(super) fn leave_out(&mut self, scene: usize, options: &Options) -> anyhow::Result<FoldResult> {
        let (name, group) = self.scenes[scene].clone();
        let searched_on: Vec<usize> = match options.judge {
            Judge::Truth => (0..self.len()).filter(|&other| self.scenes[other].1 != group).collect(),
            Judge::WithoutTruth => vec![scene],
        };
        anyhow::ensure!(!searched_on.is_empty(), "{name} is the only scene: there is none to search on");
        let limits = SearchLimits { max_ms: None, budget: Budget::Trials(options.trials) };
        let plan = Plan { judge: options.judge, start: options.start.clone(), limits };
        let samples = searched_on.len();
        let mut meter = self.searching.on(searched_on);
        let SearchProgress { start, presets, best, .. } =
            find(&plan, samples, EarlierTrials::default(), &mut meter, &mut NoObserver)?;
        let (start, best) = start.zip(best).context("nothing was tried")?;
        let whole = presets.into_iter().filter(|(_, trial)| trial.samples == samples);
        let by_loss = |(_, trial): &(_, Arc<Trial>)| trial.loss.unwrap_or(f64::INFINITY);
        let (preset, of_preset) =
            whole.min_by(|a, b| by_loss(a).total_cmp(&by_loss(b))).context("no preset was tried on all scenes")?;
        Ok(FoldResult {
            scene: name,
            default: self.judge(&start, scene)?,
            best_preset: (preset.to_string(), self.judge(&of_preset, scene)?),
            found: self.judge(&best, scene)?,
            changed: differences(&best.params, &start.params),
        })
    }

    fn judge(&mut self, trial: &Trial, scene: usize) -> anyhow::Result<Errors> {
        let Run { loss, time_ms, .. } = self.judging.on(vec![scene]).measure(&trial.params, 0, &|| false)?.run;
        Ok(Errors { searched_on: trial.loss, bad_1_percent: loss.unwrap_or(f64::NAN), time_ms })
    }
}

struct NoObserver;

impl Watcher for NoObserver {}

fn sample(scene: PairWithTruth) -> Sample {
    let frame = Frame { truth: Some(scene.truth), ..Frame::of_raw(scene.raw) };
    Sample { num_disparities: Some(scene.num_disparities), ..Sample::of(Arc::new(frame)) }
}
