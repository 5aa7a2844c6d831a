//! Scenes with truth in a folder: each is a folder with `meta.json` two levels below it.

use crate::capture::MaxPixels;
use crate::capture::decode::read_picture;
use crate::capture::files::truth::{DisparityFile, TruthFiles};
use crate::console;
use crate::files;
use crate::image::{Luma, Truth};
use anyhow::Context as _;
use std::path::{Path, PathBuf};

/// A pair with its truth and search range.
pub(super) struct Scene {
    /// Name for the table.
    pub(super) name: String,
    /// Scenes of one group show the same things, and are left out together.
    pub(super) group: String,
    pub(super) left: Luma,
    pub(super) right: Luma,
    pub(super) truth: Truth,
    pub(super) num_disparities: u32,
}

/// What a `meta.json` says of a pair.
#[derive(serde::Deserialize)]
struct Meta {
    left: String,
    right: String,
    disp: Option<Disparities>,
}

/// The file of the true disparities.
#[derive(serde::Deserialize)]
struct Disparities {
    file: String,
    scale: Option<u32>,
}

/// Reads all scenes that have truth, in the order of their names.
///
/// # Errors
/// The folder cannot be read or has none; a file of a scene is missing or damaged.
pub(super) fn read(data: &Path) -> anyhow::Result<Vec<Scene>> {
    let mut scenes = Vec::new();
    for set in folders(data)? {
        for folder in folders(&set)? {
            scenes.extend(scene(data, &folder)?);
        }
    }
    anyhow::ensure!(
        !scenes.is_empty(),
        "{} has no scene with truth: no SET/SCENE/meta.json names any",
        console::path(data)
    );
    Ok(scenes)
}

fn folders(above: &Path) -> anyhow::Result<Vec<PathBuf>> {
    let fail = || format!("cannot read the folder {}", console::path(above));
    let mut found = Vec::new();
    for entry in std::fs::read_dir(above).with_context(fail)? {
        found.push(entry.with_context(fail)?.path());
    }
    found.retain(|path| path.is_dir());
    found.sort();
    Ok(found)
}

/// The scene of a folder; `None` where it has no truth.
fn scene(data: &Path, folder: &Path) -> anyhow::Result<Option<Scene>> {
    let meta = folder.join("meta.json");
    if !meta.is_file() {
        return Ok(None);
    }
    let text = files::plain::read_text(&meta).with_context(|| format!("cannot read {}", console::path(&meta)))?;
    // other sets describe their files in other words
    let Ok(Meta { left, right, disp: Some(disp) }) = serde_json::from_str(&text) else { return Ok(None) };
    let max_pixels = MaxPixels::default();
    let [left, right] = [left, right].map(|name| read_picture(&folder.join(name), false, max_pixels));
    let (left, right) = (left?.luma, right?.luma);
    let file = DisparityFile { path: folder.join(disp.file), scale: disp.scale };
    let truth = TruthFiles::of_left(file).read(left.size(), max_pixels)?;
    let largest_px = truth.left_px.pixels().iter().copied().filter(|d| d.is_finite()).fold(0.0, f32::max);
    Ok(Some(Scene {
        name: folder.strip_prefix(data).unwrap_or(folder).display().to_string(),
        group: folder.file_name().unwrap_or_default().to_string_lossy().into_owned(),
        left,
        right,
        truth,
        num_disparities: largest_px.ceil() as u32 + 1,
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scenes_with_truth_are_found_and_others_left_out() {
        let root = tempfile::tempdir().unwrap();
        let grey = |value| image::GrayImage::from_pixel(8, 4, image::Luma([value]));
        let make = |name: &str, meta: &str| {
            let folder = root.path().join(name);
            std::fs::create_dir_all(&folder).unwrap();
            for file in ["left.png", "right.png", "disp.png"] {
                grey(12).save(folder.join(file)).unwrap();
            }
            std::fs::write(folder.join("meta.json"), meta).unwrap();
        };
        let pair = r#""left": "left.png", "right": "right.png""#;
        assert!(read(root.path()).is_err(), "there is none");
        make("set/a", &format!(r#"{{ {pair}, "disp": {{ "file": "disp.png", "scale": 4 }} }}"#));
        make("set/b", &format!("{{ {pair} }}"));
        make("other/c", r#"{ "boards": 3 }"#);
        let scenes = read(root.path()).unwrap();
        assert_eq!(scenes.len(), 1);
        assert_eq!((scenes[0].name.as_str(), scenes[0].group.as_str()), ("set/a", "a"));
        assert_eq!((scenes[0].num_disparities, scenes[0].truth.left_px.at(0, 0)), (4, 3.0));
        make("set/d", &format!(r#"{{ {pair}, "disp": {{ "file": "gone.png", "scale": 4 }} }}"#));
        assert!(read(root.path()).is_err_and(|err| format!("{err:#}").contains("gone.png")));
    }
}
