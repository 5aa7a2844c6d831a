//! One scene left out: a search on the others, judged on it.

use super::Options;
use super::memory::Memory;
use crate::capture::Frame;
use crate::capture::picture_files::truth::PairWithTruth;
use crate::search::{
    Budget, EarlierTrials, EngineMeter, Judge, Limits, Meter as _, Plan, Run, Sample, SearchProgress, Trial, Watcher,
    find,
};
use crate::settings::differences;
use anyhow::Context as _;
use std::sync::Arc;

/// What came of a scene that was left out.
#[derive(Clone, Debug, serde::Serialize)]
pub(super) struct Searched {
    pub(super) scene: String,
    /// The default setting.
    pub(super) default: Errors,
    /// The preset that is best where it was searched.
    pub(super) best_preset: (String, Errors),
    /// The setting that was found.
    pub(super) found: Errors,
    /// What of the default setting was changed, in words.
    pub(super) changed: Vec<String>,
}

/// How well a setting does.
#[derive(Clone, Copy, Debug, serde::Serialize)]
pub(super) struct Errors {
    /// Loss on the scenes of the search.
    searched_on: Option<f64>,
    /// Pixels of the scene that was left out, off by more than 1 px, % of all with truth; holes are filled.
    pub(super) bad_1_percent: f64,
    /// Time of a pair of that scene, ms.
    pub(super) time_ms: f64,
}

/// All scenes with what is known of them.
pub(super) struct Study {
    /// Name and group of each.
    scenes: Vec<(String, String)>,
    searching: Memory,
    judging: Memory,
}

impl Study {
    /// Opens the engine for these scenes.
    ///
    /// # Errors
    /// There is no scene, or no engine.
    pub(super) fn of(scenes: Vec<PairWithTruth>, options: &Options) -> anyhow::Result<Self> {
        let names = scenes.iter().map(|scene| (scene.name.clone(), scene.group().to_owned())).collect();
        let samples: Arc<[Sample]> = scenes.into_iter().map(sample).collect();
        let open = |judge| {
            let samples = Arc::clone(&samples);
            EngineMeter::open(&options.engine, samples, judge, &options.start).map(Memory::of)
        };
        Ok(Self { scenes: names, searching: open(options.judge)?, judging: open(Judge::Truth)? })
    }

    /// Number of scenes.
    pub(super) fn len(&self) -> usize {
        self.scenes.len()
    }

    /// Leaves one scene out, with others of its group, searches, and judges on it. Without truth it is searched itself.
    ///
    /// # Errors
    /// There is no other scene, or the engine fails.
    pub(super) fn leave_out(&mut self, scene: usize, options: &Options) -> anyhow::Result<Searched> {
        let (name, group) = self.scenes[scene].clone();
        let searched_on: Vec<usize> = match options.judge {
            Judge::Truth => (0..self.len()).filter(|&other| self.scenes[other].1 != group).collect(),
            Judge::WithoutTruth => vec![scene],
        };
        anyhow::ensure!(!searched_on.is_empty(), "{name} is the only scene: there is none to search on");
        let limits = Limits { max_ms: None, budget: Budget::Trials(options.trials) };
        let plan = Plan { judge: options.judge, start: options.start.clone(), limits };
        let samples = searched_on.len();
        let mut meter = self.searching.on(searched_on);
        let SearchProgress { start, presets, best, .. } =
            find(&plan, samples, EarlierTrials::default(), &mut meter, &mut Unwatched)?;
        let (start, best) = start.zip(best).context("nothing was tried")?;
        let whole = presets.into_iter().filter(|(_, trial)| trial.samples == samples);
        let by_loss = |(_, trial): &(_, Arc<Trial>)| trial.loss.unwrap_or(f64::INFINITY);
        let (preset, of_preset) =
            whole.min_by(|a, b| by_loss(a).total_cmp(&by_loss(b))).context("no preset was tried on all scenes")?;
        Ok(Searched {
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

/// Nothing of the searches is shown.
struct Unwatched;

impl Watcher for Unwatched {}

fn sample(scene: PairWithTruth) -> Sample {
    let frame = Frame { truth: Some(scene.truth), ..Frame::of_raw(scene.raw) };
    Sample { num_disparities: Some(scene.num_disparities), ..Sample::of(Arc::new(frame)) }
}
