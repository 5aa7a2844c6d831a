//! Where data sets put the truth of a pair, and the scales of their files.

use super::{DisparityFile, Mask};
use crate::console;
use std::path::{Path, PathBuf};

/// The files that hold the truth of a pair.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TruthFiles {
    /// Disparities of the left view.
    pub left: DisparityFile,
    /// Disparities of the right view.
    pub right: Option<DisparityFile>,
    /// Which left pixels the right view sees too.
    pub mask: Option<Mask>,
}

impl TruthFiles {
    /// Disparities of the left view alone.
    pub fn of_left(left: DisparityFile) -> Self {
        Self { left, right: None, mask: None }
    }

    /// All of them.
    pub fn paths(&self) -> impl Iterator<Item = &PathBuf> {
        let mask = self.mask.as_ref().map(|mask| match mask {
            Mask::Visible(path) | Mask::Disparities(DisparityFile { path, .. }) => path,
        });
        [Some(&self.left.path), self.right.as_ref().map(|right| &right.path), mask].into_iter().flatten()
    }
}

/// Sets of scenes whose truth is `dispL.png` beside `imL`: names of the left picture, of the left and the right truth.
const SCALED: &[(&str, &str, &str)] = &[("im2", "disp2", "disp6"), ("view1", "disp1", "disp5")];
const SCALED_ENDINGS: &[&str] = &["png", "pgm"];
/// Names of the truth of `im0`: Middlebury 2014 and 2021; the third evaluation of Middlebury and ETH3D.
const FLOAT_NAMES: &[(&str, &str)] = &[("disp0.pfm", "disp1.pfm"), ("disp0GT.pfm", "disp1GT.pfm")];
/// Folders of left pictures, of the truth and of its visible part: KITTI 2015 and 2012.
const KITTI: &[(&str, &str, &str)] = &[
    ("image_2", "disp_occ_0", "disp_noc_0"),
    ("image_0", "disp_occ", "disp_noc"),
    ("colored_0", "disp_occ", "disp_noc"),
];

/// The files of the truth that lies beside a left picture in the layout of a data set; without the scales that follow from the
/// picture's size. `None` without truth.
pub fn files_beside(left: &Path) -> Option<TruthFiles> {
    let (stem, folder) = (stem(left), left.parent().unwrap_or(Path::new("")));
    if stem == "im0" {
        return float_truth(folder);
    }
    match scaled_names(&stem) {
        Some((left, right)) => scaled_truth(folder, left, right),
        None => kitti_truth(folder, left),
    }
}

/// The truth that lies beside a left picture in the layout of a data set; `size` is the picture's, px. `None` without truth.
///
/// # Errors
/// There is truth of unknown scale; the text says how to name it.
pub fn truth_beside(left: &Path, size: (usize, usize)) -> Result<Option<TruthFiles>, String> {
    let Some(mut files) = files_beside(left) else { return Ok(None) };
    if let Some((name, _)) = scaled_names(&stem(left)) {
        let scale = scale_of(name, size).ok_or_else(|| {
            let (path, (width, height)) = (console::path(&files.left.path), size);
            format!(
                "{path} is not used as truth: nothing says how many grey levels are 1 px in a pair of {width}x{height} px: open the \
                 pair alone, with --truth {path} --truth-scale LEVELS"
            )
        })?;
        for file in [Some(&mut files.left), files.right.as_mut()].into_iter().flatten() {
            file.scale = Some(scale);
        }
    }
    Ok(Some(files))
}

fn stem(left: &Path) -> String {
    left.file_stem().unwrap_or_default().to_string_lossy().to_lowercase()
}

/// Names of the left and the right truth of a left picture in sets with scales.
fn scaled_names(stem: &str) -> Option<(&'static str, &'static str)> {
    SCALED.iter().find(|(picture, ..)| *picture == stem).map(|&(_, left, right)| (left, right))
}

/// Whether data sets call a left picture so whose pairs are rectified and calibrated by a `calib.txt` beside it.
pub(in crate::capture) fn has_calib_txt(left: &Path) -> bool {
    left.file_stem().is_some_and(|stem| stem.eq_ignore_ascii_case("im0"))
}

fn existing(path: PathBuf) -> Option<PathBuf> {
    path.is_file().then_some(path)
}

fn float_truth(folder: &Path) -> Option<TruthFiles> {
    let found = |(left, right): &(&str, &str)| Some((existing(folder.join(left))?, existing(folder.join(right))));
    let (left, right) = FLOAT_NAMES.iter().find_map(found)?;
    let mask = existing(folder.join("mask0nocc.png")).map(Mask::Visible);
    Some(TruthFiles { left: DisparityFile::new(left), right: right.map(DisparityFile::new), mask })
}

fn scaled_truth(folder: &Path, left: &str, right: &str) -> Option<TruthFiles> {
    let file = |name: &str| SCALED_ENDINGS.iter().find_map(|ending| existing(folder.join(format!("{name}.{ending}"))));
    let left = DisparityFile::new(file(left)?);
    Some(TruthFiles { left, right: file(right).map(DisparityFile::new), mask: None })
}

/// Grey levels of 1 px by the size of the pair, as the pages of the sets give them: 2001 has 8; 2003 has 4, 2 and 1 at quarter, half and
/// full size; 2005 and 2006 have 3, 2 and 1 at a third, half and full size.
fn scale_of(left: &str, size: (usize, usize)) -> Option<u32> {
    match (left, size) {
        ("disp2", (450, 375)) => Some(4),
        ("disp2", (900, 750)) => Some(2),
        ("disp2", (1800, 1500)) => Some(1),
        ("disp2", (430..=435, 380..=383)) => Some(8),
        ("disp1", (413..=466, 370)) => Some(3),
        ("disp1", (620..=698, 555)) => Some(2),
        ("disp1", (1240..=1396, 1110)) => Some(1),
        _ => None,
    }
}

fn kitti_truth(folder: &Path, left: &Path) -> Option<TruthFiles> {
    let (above, name) = (folder.parent()?, left.file_name()?);
    let of_folder = |pictures: &str| folder.file_name().is_some_and(|name| name == pictures);
    let (_, all, visible) = KITTI.iter().find(|(pictures, ..)| of_folder(pictures))?;
    let file = |folder: &str| existing(above.join(folder).join(name).with_extension("png")).map(DisparityFile::new);
    Some(TruthFiles { mask: file(visible).map(Mask::Disparities), ..TruthFiles::of_left(file(all)?) })
}
