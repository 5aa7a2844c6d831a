//! How far a setting that was searched for on some scenes suits others: each scene is left out once, and the setting found on the rest is
//! judged on it beside the default setting.

mod folds;
mod memory;
mod table;

use crate::capture::MaxPixels;
use crate::capture::picture_files::truth::find_truth_pairs;
use crate::engine::OpenOptions;
use crate::search::Judge;
use crate::stereo::StereoParams;
use folds::Study;
use std::io::Write;
use std::path::Path;

/// How the study is made.
#[derive(Clone)]
pub struct Options {
    /// Settings that each search tries.
    pub trials: usize,
    /// Larger scenes are left out, px.
    pub max_pixels: usize,
    /// What the searches go by. Without truth each scene is searched by itself.
    pub judge: Judge,
    /// The setting that each search starts from.
    pub start: StereoParams,
    /// The engine.
    pub engine: OpenOptions,
    /// JSON instead of a table.
    pub json: bool,
}

/// Searches with each scene below a folder left out, and prints.
///
/// # Errors
/// The folder has too few scenes with truth, a file is damaged, an engine cannot be opened, `out` cannot be written.
pub fn run(data: &Path, options: &Options, out: &mut dyn Write) -> anyhow::Result<()> {
    let mut scenes = Vec::new();
    for pair in find_truth_pairs(data)? {
        let scene = pair.read(MaxPixels::default())?;
        let (width, height) = scene.raw.left.size();
        scenes.extend((width * height <= options.max_pixels).then_some(scene));
    }
    let mut study = Study::of(scenes, options)?;
    let mut found = Vec::new();
    if !options.json {
        table::heading(out)?;
    }
    for scene in 0..study.len() {
        let searched = study.leave_out(scene, options)?;
        if !options.json {
            table::row(&searched, out)?;
        }
        found.push(searched);
    }
    if options.json {
        writeln!(out, "{}", crate::console::json(&serde_json::json!({ "judge": options.judge, "scenes": found }))?)?;
        return Ok(());
    }
    Ok(table::summary(&found, out)?)
}
