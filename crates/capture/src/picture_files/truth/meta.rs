//! A `meta.json` beside a pair: it names the images, the truth with its scale, and the masks of a benchmark's regions.

use super::{DisparityFile, Mask, TruthFiles};
use crate::files::plain;
use std::collections::HashMap;
use std::path::{Path, PathBuf};

/// The layout's name.
pub(super) const LAYOUT: &str = "meta.json";

/// Contents of the file that are read.
#[derive(serde::Deserialize)]
struct Meta {
    left: String,
    disp: Option<Disparities>,
    masks: Option<HashMap<String, Masked>>,
}

/// File of the true disparities.
#[derive(serde::Deserialize)]
struct Disparities {
    file: String,
    scale: Option<i32>,
}

/// File of a mask.
#[derive(serde::Deserialize)]
struct Masked {
    file: String,
}

/// Returns the truth of a left image by the `meta.json` beside it; `None` without. Other data sets describe their files in
/// other words, in a file of this name.
pub(super) fn truth_beside(left: &Path) -> Option<TruthFiles> {
    let path = left.with_file_name("meta.json");
    if !path.is_file() {
        return None;
    }
    let meta: Meta = serde_json::from_str(&plain::read_text(&path).ok()?).ok()?;
    if left.file_name()? != meta.left.as_str() {
        return None;
    }
    let Disparities { file, scale } = meta.disp?;
    let mask = |name: &str| -> Option<PathBuf> { Some(left.with_file_name(&meta.masks.as_ref()?.get(name)?.file)) };
    let truth = DisparityFile { path: left.with_file_name(file), scale: scale.filter(|&scale| scale != 0) };
    Some(TruthFiles {
        layout: LAYOUT,
        mask: mask("nonocc").or_else(|| mask("nonocc_derived")).map(Mask::Visible),
        all: mask("all"),
        disc: mask("disc"),
        ..TruthFiles::of_left(truth)
    })
}
