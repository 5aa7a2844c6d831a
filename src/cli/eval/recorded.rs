//! Recordings of the built-in scene. They contain no truth: the scene is rendered again, and its truth holds where the images agree.

use super::inputs::{PairSink, of_scene};
use crate::cli::source_args::SceneArgs;
use anyhow::Context as _;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::time::Duration;
use stereopsis_base::console;
use stereopsis_base::image::Luma;
use stereopsis_frame::{MaxPixels, Next, RawPair, SceneOptions, SourceOptions, SourceSpec, Speed};
use stereopsis_recording::{About, Recording};
use stereopsis_scene::SceneRenderer;

/// Share of pixels that are equal in the recorded and in the rendered image. Another seed, noise or time leaves far fewer.
const MIN_EQUAL: f64 = 0.99;
const TIMEOUT: Duration = Duration::from_millis(100);

/// Opens a recording of the scene, and returns its description too.
fn open(path: &Path) -> anyhow::Result<(Recording, About)> {
    let recording = Recording::open(path)?;
    let about = recording.about().filter(|about| about.source == SourceSpec::Scene.to_string()).with_context(|| {
        format!(
            "{} has no truth: recordings keep none, and it is made anew for those of the built-in scene alone; \
             give a folder of pairs with truth",
            console::path(path)
        )
    })?;
    let about = about.clone();
    Ok((recording, about))
}

/// Checks that a recording shows the scene; returns the number of its pairs, and its files.
///
/// # Errors
/// The recording cannot be read, or shows another source.
pub(super) fn check(path: &Path) -> anyhow::Result<(u64, Vec<PathBuf>)> {
    let (recording, _) = open(path)?;
    Ok((recording.pairs().len() as u64, recording.files()))
}

/// Reads the first pairs of a recording, each with its truth. Adds what is left out of it to the remarks.
///
/// # Errors
/// The recording cannot be read, a pair is not the scene's, or `see` fails.
pub(super) fn each(
    path: &Path,
    scene: &SceneArgs,
    frames: u64,
    max_pixels: MaxPixels,
    remarks: &mut Vec<String>,
    see: &mut PairSink<'_>,
) -> anyhow::Result<ControlFlow<()>> {
    let (_, about) = open(path)?;
    let options = SourceOptions { speed: Speed::Max, max_pixels, ..SourceOptions::default() };
    let mut source = stereopsis_sources::open(&SourceSpec::Recording(path.to_owned()), &options)?;
    let mut renderer = None;
    let mut seen = 0;
    while seen < frames {
        let pair = match source.next(TIMEOUT)? {
            Next::Pair(pair) => *pair,
            Next::Waiting => continue,
            Next::End => break,
        };
        let renderer = match &renderer {
            Some(renderer) => renderer,
            None => &*renderer.insert(SceneRenderer::new(&scene_of(&about, scene, pair.left.size()))?),
        };
        let rendered = rendered(renderer, &pair).with_context(|| {
            format!(
                "{}: {} is not what the built-in scene shows: give the --scene-seed, --scene-noise and --scene-vertical-px with which \
                 it was recorded",
                console::path(path),
                console::foreign(&pair.name)
            )
        })?;
        let name = format!("{}/{}", path.file_stem().unwrap_or_default().to_string_lossy(), pair.name);
        let pair = RawPair { truth: rendered.truth, ..pair };
        if see(of_scene(pair, name, "recording of the scene")?)?.is_break() {
            return Ok(ControlFlow::Break(()));
        }
        seen += 1;
    }
    remarks.extend(source.state().remarks.iter().map(|remark| format!("{}: {remark}", console::path(path))));
    Ok(ControlFlow::Continue(()))
}

/// Returns the scene as recorded; flags replace what the recording does not contain.
fn scene_of(about: &About, scene: &SceneArgs, (width, height): (usize, usize)) -> SceneOptions {
    let whole = SceneOptions { width, height, ..SceneOptions::default() };
    let baseline_m = about.calibration.geometry.map_or(whole.baseline_m, |geometry| geometry.baseline_m);
    scene.over(SceneOptions { baseline_m, ..whole })
}

/// Renders the pair of a recorded one; `None` where their left images differ.
fn rendered(renderer: &SceneRenderer, pair: &RawPair) -> Option<RawPair> {
    let number = pair.name.rsplit_once('-')?.1.parse().ok()?;
    let rendered = renderer.pair(number);
    (equal_share(&rendered.left.luma, &pair.left.luma) >= MIN_EQUAL).then_some(rendered)
}

/// Returns the share of equal pixels of two images, 0 to 1; 0 for different sizes.
fn equal_share(a: &Luma, b: &Luma) -> f64 {
    let (a, b) = (a.to_u8(), b.to_u8());
    if a.size() != b.size() {
        return 0.0;
    }
    let equal = a.pixels().iter().zip(b.pixels()).filter(|(a, b)| a == b).count();
    equal as f64 / a.pixels().len().max(1) as f64
}
