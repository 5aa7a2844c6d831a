//! Inputs of `eval`: folders of pairs with truth, the built-in scene, and recordings of it.

use super::recorded;
use crate::cli::error::refuse;
use crate::cli::source_args::SceneArgs;
use anyhow::Context as _;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use stereopsis_frame::{CaptureError, MaxPixels, RawPair, SceneOptions, SourceSpec};
use stereopsis_images::picture_files::truth::{PairWithTruth, TruthPair, find_truth_pairs};
use stereopsis_scene::SceneRenderer;

pub(super) const SCENE: &str = "scene";
/// Number of pairs of the scene by default, and distance of their numbers: the scene moves slowly.
const SCENE_FRAMES: u64 = 4;
const SCENE_STEP: u64 = 15;

/// Scene given by the flags.
#[derive(Clone, Copy, Debug)]
pub(super) struct SceneChoice {
    pub(super) args: SceneArgs,
    pub(super) size: Option<(usize, usize)>,
    /// Number of pairs of the scene and of each recording.
    pub(super) frames: Option<u64>,
}

/// Input of an evaluation.
#[derive(Clone, Debug)]
pub(super) enum Input {
    Files(Vec<TruthPair>),
    Scene { options: SceneOptions, frames: u64 },
    Recording { path: PathBuf, files: Vec<PathBuf>, scene: SceneArgs, frames: u64 },
}

impl Input {
    /// Finds the pairs of an input; they are read later.
    ///
    /// # Errors
    /// A folder without truth, a recording that is not of the scene, a path that is neither.
    pub(super) fn open(path: &Path, scene: &SceneChoice) -> anyhow::Result<Self> {
        if path.as_os_str() == SCENE && !path.exists() {
            let whole = SceneOptions::default();
            let (width, height) = scene.size.unwrap_or((whole.width, whole.height));
            let options = scene.args.over(SceneOptions { width, height, ..whole });
            return Ok(Self::Scene { options, frames: scene.frames.unwrap_or(SCENE_FRAMES) });
        }
        match SourceSpec::from_paths(&[path.to_owned()]) {
            Ok(SourceSpec::Folder(folder)) => Ok(Self::Files(find_truth_pairs(&folder)?)),
            Ok(SourceSpec::Recording(path)) => {
                let (pairs, files) = recorded::check(&path)?;
                let frames = scene.frames.map_or(pairs, |frames| frames.min(pairs));
                Ok(Self::Recording { path, files, scene: scene.args, frames })
            }
            Ok(other) => refuse(format!("{other} has no truth: {WANTED}")),
            Err(CaptureError::Grammar(why)) if !path.exists() => refuse(why.to_string()),
            Err(_) => refuse(format!("{} has no truth by itself: {WANTED}", path.display())),
        }
    }

    pub(super) fn pairs(&self) -> u64 {
        match self {
            Self::Files(pairs) => pairs.len() as u64,
            Self::Scene { frames, .. } | Self::Recording { frames, .. } => *frames,
        }
    }

    pub(super) fn files(&self) -> Vec<PathBuf> {
        match self {
            Self::Files(pairs) => pairs.iter().flat_map(TruthPair::paths).collect(),
            Self::Scene { .. } => Vec::new(),
            Self::Recording { files, .. } => files.clone(),
        }
    }

    /// Reads or renders pair after pair. Adds what is left out to the remarks.
    ///
    /// # Errors
    /// A pair cannot be read, or `see` fails.
    pub(super) fn each(
        &self,
        max_pixels: MaxPixels,
        remarks: &mut Vec<String>,
        see: &mut PairSink<'_>,
    ) -> anyhow::Result<ControlFlow<()>> {
        match self {
            Self::Files(pairs) => {
                for pair in pairs {
                    if see(pair.read(max_pixels)?)?.is_break() {
                        return Ok(ControlFlow::Break(()));
                    }
                }
            }
            Self::Scene { options, frames } => {
                let renderer = SceneRenderer::new(options)?;
                for k in 0..*frames {
                    let pair = renderer.pair(k * SCENE_STEP);
                    let name = pair.name.clone();
                    if see(of_scene(pair, name, SCENE)?)?.is_break() {
                        return Ok(ControlFlow::Break(()));
                    }
                }
            }
            Self::Recording { path, scene, frames, .. } => {
                return recorded::each(path, scene, *frames, max_pixels, remarks, see);
            }
        }
        Ok(ControlFlow::Continue(()))
    }
}

const WANTED: &str = "give a folder of pairs with truth, a recording of the built-in scene, or scene";

/// Consumer of pairs, which returns whether to continue.
pub(super) type PairSink<'a> = dyn FnMut(PairWithTruth) -> anyhow::Result<ControlFlow<()>> + 'a;

/// Names a pair of the scene for the results.
///
/// # Errors
/// The pair has no truth.
pub(super) fn of_scene(raw: RawPair, name: String, layout: &'static str) -> anyhow::Result<PairWithTruth> {
    PairWithTruth::of_raw(raw, name, layout).context("the scene has no truth")
}
