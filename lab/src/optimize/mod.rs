//! Generalisation of searched settings: each scene is excluded once, and the setting found on the others is compared with the default.

mod folds;
mod memory;
mod options;
mod table;

pub use options::Options;

use folds::CrossValidation;
use std::io::Write;
use std::path::Path;
use stereopsis_frame::MaxPixels;
use stereopsis_images::picture_files::truth::find_truth_pairs;

/// Searches with each scene below a folder excluded, and prints the results.
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
    let mut study = CrossValidation::of(scenes, options)?;
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
        writeln!(
            out,
            "{}",
            stereopsis_base::console::json(&serde_json::json!({ "judge": options.judge, "scenes": found }))?
        )?;
        return Ok(());
    }
    Ok(table::summary(&found, out)?)
}
