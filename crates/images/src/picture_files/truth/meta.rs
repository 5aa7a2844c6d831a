//! Layout of pairs with a `meta.json` beside them, which names the images, the truth with its scale, and the masks of a benchmark's
//! regions. Another data set may have a file of this name with other contents, so everything unexpected means "no truth".

use super::files::{Mask, TruthFiles};
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use stereopsis_base::files::plain;
use stereopsis_frame::source::DisparityFile;

pub(super) const LAYOUT: &str = "meta.json";

#[derive(serde::Deserialize)]
struct Meta {
    left: String,
    disp: Option<DisparityEntry>,
    masks: Option<HashMap<String, MaskEntry>>,
}

#[derive(serde::Deserialize)]
struct DisparityEntry {
    file: String,
    scale: Option<i32>,
}

#[derive(serde::Deserialize)]
struct MaskEntry {
    file: String,
}

/// Returns the truth of a left image by the `meta.json` beside it; `None` without.
pub(super) fn truth_beside(left: &Path) -> Option<TruthFiles> {
    let path = left.with_file_name("meta.json");
    if !path.is_file() {
        return None;
    }
    let meta: Meta = serde_json::from_str(&plain::read_text(&path).ok()?).ok()?;
    if left.file_name()? != meta.left.as_str() {
        return None;
    }
    let DisparityEntry { file, scale } = meta.disp?;
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
