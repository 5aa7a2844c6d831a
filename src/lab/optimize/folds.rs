//! One scene left out: a search on the others, judged on it.

use super::Options;
use crate::capture::{Frame, RawPair};
use crate::image::Picture;
use crate::lab::scenes::Scene;
use crate::search::{Budget, Judge, Limits, Sample, Search, try_settings};
use crate::settings::differences;
use crate::stereo::StereoParams;
use anyhow::{Context as _, anyhow};
use std::sync::Arc;
use std::time::UNIX_EPOCH;

/// A scene that is left out, and those on which is searched.
pub(super) struct Fold {
    scene: String,
    judged_on: Sample,
    searched_on: Vec<Sample>,
}

/// What came of a fold; all errors are bad-1.0 over all pixels with truth, %.
#[derive(Clone, Debug, serde::Serialize)]
pub(super) struct Searched {
    pub(super) scene: String,
    /// Error of the default setting on the scene.
    pub(super) default_percent: f64,
    /// Error of the setting that was found on the others.
    pub(super) found_percent: f64,
    /// Pixels of the scene with a wrong disparity: of the default setting, and of the one that was found.
    pub(super) wrong_percent: [f64; 2],
    /// Loss on the scenes of the search: of the default setting, and of the one that was found.
    pub(super) losses: [f64; 2],
    /// Time of a pair on the scene, ms: of the default setting, and of the one that was found.
    pub(super) time_ms: [f64; 2],
    /// What was changed, in words.
    pub(super) changed: Vec<String>,
}

/// A fold for each scene. Scenes of its group are in no search for it; without truth it is searched by itself.
///
/// # Errors
/// There are too few scenes.
pub(super) fn folds(scenes: Vec<Scene>, judge: Judge) -> anyhow::Result<Vec<Fold>> {
    let all: Vec<_> =
        scenes.into_iter().map(|scene| (scene.name.clone(), scene.group.clone(), sample(scene))).collect();
    let others = |group: &str| {
        let others = all.iter().filter(|(_, other, _)| other != group);
        others.map(|(.., sample)| sample.clone()).collect::<Vec<_>>()
    };
    let fold = |(scene, group, sample): &(String, String, Sample)| {
        let searched_on = if judge == Judge::Truth { others(group) } else { vec![sample.clone()] };
        anyhow::ensure!(!searched_on.is_empty(), "{scene} is the only scene: there is none to search on");
        Ok(Fold { scene: scene.clone(), judged_on: sample.clone(), searched_on })
    };
    all.iter().map(fold).collect()
}

fn sample(scene: Scene) -> Sample {
    let Scene { name, left, right, truth, num_disparities, .. } = scene;
    let [left, right] = [left, right].map(|luma| Picture { luma, rgb: None });
    let frame = Frame::of_raw(Arc::new(RawPair::new(name, 0, UNIX_EPOCH, left, right)));
    let frame = Frame { truth: Some(Arc::new(truth)), ..frame };
    Sample { num_disparities: Some(num_disparities), ..Sample::of(Arc::new(frame)) }
}

impl Fold {
    /// Searches, and judges what was found.
    pub(super) fn search(self, options: &Options) -> anyhow::Result<Searched> {
        let limits = Limits { max_ms: None, budget: Budget::Trials(options.trials) };
        let (default, engine) = (StereoParams::default(), options.engine.clone());
        let wake = Arc::new(|| {});
        let search =
            Search::start(self.searched_on, options.judge, default.clone(), limits, engine, options.seed, wake)?;
        let progress = search.wait();
        if let Some(error) = &progress.error {
            return Err(anyhow!("{error}"));
        }
        let (start, best) = progress.start.as_ref().zip(progress.best.as_ref()).context("nothing was tried")?;
        let settings = [default.clone(), (*best.params).clone()];
        let on_scene = try_settings(vec![self.judged_on], Judge::Truth, &settings, &options.engine);
        let on_scene = on_scene.map_err(|error| anyhow!("{error}"))?;
        let number = |value: Option<f64>| value.unwrap_or(f64::NAN);
        Ok(Searched {
            scene: self.scene,
            default_percent: number(on_scene[0].loss),
            found_percent: number(on_scene[1].loss),
            wrong_percent: [0, 1].map(|k| number(on_scene[k].wrong_percent())),
            losses: [number(start.loss), number(best.loss)],
            time_ms: [0, 1].map(|k| on_scene[k].time_ms),
            changed: differences(&best.params, &default),
        })
    }
}
