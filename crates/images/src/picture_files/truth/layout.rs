//! Layouts of data sets: finds the files with the truth of a pair by the name of its left image, and their scales. Tests only whether
//! files exist; reads none except `meta.json`.

use super::files::{Mask, TruthFiles};
use super::{SINTEL_SCALE, meta};
use crate::error::FileError;
use std::path::{Path, PathBuf};
use stereopsis_frame::source::DisparityFile;

impl TruthFiles {
    /// Creates truth of the left view only.
    pub fn of_left(left: DisparityFile) -> Self {
        Self { layout: "named by the user", left, right: None, mask: None, all: None, disc: None }
    }

    /// Iterates over all files.
    pub fn paths(&self) -> impl Iterator<Item = &PathBuf> {
        let mask = self.mask.as_ref().map(|mask| match mask {
            Mask::Visible(path) | Mask::Disparities(DisparityFile { path, .. }) => path,
        });
        let right = self.right.as_ref().map(|right| &right.path);
        [Some(&self.left.path), right, mask, self.all.as_ref(), self.disc.as_ref()].into_iter().flatten()
    }
}

/// Layouts, each with the names of the left image and of the truth, for messages.
pub(super) const LAYOUTS: &[(&str, &str)] = &[
    (TSUKUBA, "scene1.row3.col3 and truedisp.row3.col3"),
    (MIDDLEBURY_2001, "im2 and disp2"),
    (MIDDLEBURY_2005, "view1 and disp1"),
    (MIDDLEBURY_2014, "im0 and disp0.pfm"),
    (EVALUATION_3, "im0 and disp0GT.pfm"),
    (KITTI_2015, "image_2/NAME and disp_occ_0/NAME"),
    (KITTI_2012, "image_0/NAME or colored_0/NAME and disp_occ/NAME"),
    (SCENE_FLOW, "frames_cleanpass/…/left/NAME.png and disparity/…/left/NAME.pfm"),
    (SINTEL, "clean_left/…/NAME.png or final_left/…/NAME.png and disparities/…/NAME.png"),
    (meta::LAYOUT, "left and a meta.json that names the truth"),
];

const TSUKUBA: &str = "Middlebury 2001, Tsukuba";
const MIDDLEBURY_2001: &str = "Middlebury 2001, 2003";
const MIDDLEBURY_2005: &str = "Middlebury 2005, 2006";
const MIDDLEBURY_2014: &str = "Middlebury 2014, 2021";
const EVALUATION_3: &str = "Middlebury evaluation 3, ETH3D";
const KITTI_2015: &str = "KITTI 2015";
const KITTI_2012: &str = "KITTI 2012";
const SCENE_FLOW: &str = "Scene Flow";
const SINTEL: &str = "MPI Sintel";

/// Layouts whose truth is a grey image: name, left image, left truth, right truth.
const SCALED: &[(&str, &str, &str, Option<&str>)] = &[
    (MIDDLEBURY_2001, "im2", "disp2", Some("disp6")),
    (MIDDLEBURY_2005, "view1", "disp1", Some("disp5")),
    (TSUKUBA, "scene1.row3.col3", "truedisp.row3.col3", None),
];
const SCALED_ENDINGS: &[&str] = &["png", "pgm"];
/// Layouts whose left image is `im0` and whose truth is floats: name, left truth, right truth.
const FLOAT_NAMES: &[(&str, &str, &str)] =
    &[(MIDDLEBURY_2014, "disp0.pfm", "disp1.pfm"), (EVALUATION_3, "disp0GT.pfm", "disp1GT.pfm")];
/// Layouts of KITTI: name, folder of left images, of the truth, of the truth that both views see.
const KITTI: &[(&str, &str, &str, &str)] = &[
    (KITTI_2015, "image_2", "disp_occ_0", "disp_noc_0"),
    (KITTI_2012, "image_0", "disp_occ", "disp_noc"),
    (KITTI_2012, "colored_0", "disp_occ", "disp_noc"),
];
/// Layouts whose truth is in the same subfolders of another folder: name, folder of images, folder and ending of the truth, and its scale.
const SIBLINGS: &[(&str, &str, &str, &str, Option<i32>)] = &[
    (SCENE_FLOW, "frames_cleanpass", "disparity", "pfm", None),
    (SCENE_FLOW, "frames_finalpass", "disparity", "pfm", None),
    (SINTEL, "clean_left", "disparities", "png", Some(SINTEL_SCALE)),
    (SINTEL, "final_left", "disparities", "png", Some(SINTEL_SCALE)),
];

/// Returns the files with the truth of a left image in the layout of a data set, without scales that depend on the image's size;
/// `None` without truth.
pub fn files_beside(left: &Path) -> Option<TruthFiles> {
    let (stem, folder) = (stem(left), left.parent().unwrap_or(Path::new("")));
    if stem == "im0" {
        return float_truth(folder);
    }
    match SCALED.iter().find(|(_, picture, ..)| *picture == stem) {
        Some(&(layout, _, left, right)) => scaled_truth(layout, folder, left, right),
        None => kitti_truth(folder, left).or_else(|| sibling_truth(left)).or_else(|| meta::truth_beside(left)),
    }
}

/// Returns the files with the truth of a left image of this size, px, with their scales; `None` without truth.
///
/// # Errors
/// The scale of the truth is unknown; the text explains how to give it.
pub(crate) fn truth_beside(left: &Path, size: (usize, usize)) -> Result<Option<TruthFiles>, FileError> {
    let Some(mut files) = files_beside(left) else { return Ok(None) };
    let stem = stem(left);
    if let Some((_, _, name, _)) = SCALED.iter().find(|(_, picture, ..)| *picture == stem) {
        let unknown = || FileError::TruthLevels { path: files.left.path.clone(), size };
        let scale = scale_of(name, size).ok_or_else(unknown)?;
        for file in [Some(&mut files.left), files.right.as_mut()].into_iter().flatten() {
            file.scale = Some(scale);
        }
    }
    Ok(Some(files))
}

fn stem(left: &Path) -> String {
    left.file_stem().unwrap_or_default().to_string_lossy().to_lowercase()
}

/// Returns the `calib.txt` that a data set puts beside a left image of this name.
pub fn calib_txt(left: &Path) -> Option<PathBuf> {
    (stem(left) == "im0").then(|| left.with_file_name("calib.txt")).and_then(existing)
}

fn existing(path: PathBuf) -> Option<PathBuf> {
    path.is_file().then_some(path)
}

fn float_truth(folder: &Path) -> Option<TruthFiles> {
    let found = |&(layout, left, right): &(&'static str, &str, &str)| {
        let left = existing(folder.join(left))?;
        Some((layout, left, existing(folder.join(right))))
    };
    let (layout, left, right) = FLOAT_NAMES.iter().find_map(found)?;
    let mask = existing(folder.join("mask0nocc.png")).map(Mask::Visible);
    let right = right.map(DisparityFile::new);
    Some(TruthFiles { layout, right, mask, ..TruthFiles::of_left(DisparityFile::new(left)) })
}

fn scaled_truth(layout: &'static str, folder: &Path, left: &str, right: Option<&str>) -> Option<TruthFiles> {
    let file = |name: &str| SCALED_ENDINGS.iter().find_map(|ending| existing(folder.join(format!("{name}.{ending}"))));
    let left = DisparityFile::new(file(left)?);
    let right = right.and_then(file).map(DisparityFile::new);
    Some(TruthFiles { layout, right, ..TruthFiles::of_left(left) })
}

/// Returns the grey levels of 1 px by the name of the truth and the size of the pair, from the pages of the data sets: Middlebury 2001
/// has 8, Tsukuba 16; 2003 has 4, 2 and 1 at quarter, half and full size; 2005 and 2006 have 3, 2 and 1 at a third, half and full size.
fn scale_of(left: &str, size: (usize, usize)) -> Option<i32> {
    match (left, size) {
        ("disp2", (450, 375)) => Some(4),
        ("disp2", (900, 750)) => Some(2),
        ("disp2", (1800, 1500)) => Some(1),
        ("disp2", (430..=435, 380..=383)) => Some(8),
        ("truedisp.row3.col3", (384, 288)) => Some(16),
        ("disp1", (413..=466, 370)) => Some(3),
        ("disp1", (620..=698, 555)) => Some(2),
        ("disp1", (1240..=1396, 1110)) => Some(1),
        _ => None,
    }
}

fn kitti_truth(folder: &Path, left: &Path) -> Option<TruthFiles> {
    let (above, name) = (folder.parent()?, left.file_name()?);
    let of_folder = |pictures: &str| folder.file_name().is_some_and(|name| name == pictures);
    let &(layout, _, all, visible) = KITTI.iter().find(|(_, pictures, ..)| of_folder(pictures))?;
    let file = |folder: &str| existing(above.join(folder).join(name).with_extension("png")).map(DisparityFile::new);
    Some(TruthFiles { layout, mask: file(visible).map(Mask::Disparities), ..TruthFiles::of_left(file(all)?) })
}

/// Finds `ROOT/disparity/…/left/NAME.pfm` of `ROOT/frames_cleanpass/…/left/NAME.png`, and so on.
fn sibling_truth(left: &Path) -> Option<TruthFiles> {
    let parts: Vec<_> = left.iter().collect();
    let row_of = |part: &std::ffi::OsStr| SIBLINGS.iter().find(|(_, pictures, ..)| part == *pictures);
    let (at, &(layout, _, folder, ending, scale)) =
        parts.iter().enumerate().rev().find_map(|(at, part)| Some((at, row_of(part)?)))?;
    let (above, below) = (&parts[..at], &parts[at + 1..]);
    let path: PathBuf = above.iter().copied().chain([folder.as_ref()]).chain(below.iter().copied()).collect();
    let left = DisparityFile { path: existing(path.with_extension(ending))?, scale };
    Some(TruthFiles { layout, ..TruthFiles::of_left(left) })
}
