//! Finds the pairs with truth below a folder, in the layouts of the data sets, and reads them with their regions and search range.

use super::files::TruthFiles;
use super::layout::{LAYOUTS, calib_txt, files_beside, truth_beside};
use super::{check_size, read_mask};
use crate::error::FileError;
use crate::picture_files::FilePair;
use crate::picture_files::folder::{entries, pairs_in};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use stereopsis_base::files::plain;
use stereopsis_base::image::{Image, Truth};
use stereopsis_frame::{CaptureError, MaxPixels, RawPair};
use stereopsis_metrics::Regions;

/// Pair of files with truth, not read yet.
#[derive(Clone, Debug)]
pub struct TruthPair {
    /// Path below the searched folder: `middlebury2003/teddy`, `training/000000_10`.
    pub name: String,
    /// Files of the images.
    pub pictures: FilePair,
    /// Files of the truth, without scales that depend on the images' size.
    pub truth: TruthFiles,
}

/// Pair of images with truth.
#[derive(Clone, Debug)]
pub struct PairWithTruth {
    /// Name for results.
    pub name: String,
    /// Origin of the truth: the name of a layout or of a source.
    pub layout: &'static str,
    /// Left and right image.
    pub raw: Arc<RawPair>,
    /// Ground truth, in the size of the images.
    pub truth: Arc<Truth>,
    /// Regions of the benchmark.
    pub regions: Regions,
    /// Number of disparities from 0 for the search: that of the data set, or one more than the maximum true disparity.
    pub num_disparities: u32,
}

impl PairWithTruth {
    /// Creates it from a pair that contains its truth, for example of the scene; `None` without truth.
    pub fn of_raw(raw: RawPair, name: String, layout: &'static str) -> Option<Self> {
        let truth = raw.truth.clone()?;
        let regions = Regions::of_truth(&truth);
        let num_disparities = num_disparities_of(&truth);
        Some(Self { name, layout, raw: Arc::new(raw), truth, regions, num_disparities })
    }

    /// Returns the name without the data set; pairs of one group show one scene.
    pub fn group(&self) -> &str {
        self.name.rsplit('/').next().unwrap_or(&self.name)
    }
}

/// Maximum depth of searched folders; Scene Flow needs it.
const MAX_DEPTH: usize = 8;

/// Finds the pairs with truth in a folder and the folders below it, in the order of their names.
///
/// # Errors
/// The folder cannot be read or has no pair with truth; the text contains the searched names. Or a left image with truth has no right
/// image.
pub fn find_truth_pairs(root: &Path) -> Result<Vec<TruthPair>, CaptureError> {
    // `.` has no name of its own
    let whole = root.file_name().is_none().then(|| root.canonicalize().ok()).flatten();
    let root = whole.as_deref().unwrap_or(root);
    let mut found = Vec::new();
    search(root, root, 0, &mut found)?;
    if found.is_empty() {
        return Err(FileError::NoTruth { folder: root.to_owned(), layouts: LAYOUTS }.into());
    }
    Ok(found)
}

fn search(root: &Path, folder: &Path, depth: usize, found: &mut Vec<TruthPair>) -> Result<(), CaptureError> {
    let inside = entries(folder)?;
    let here = pairs_in(folder, &inside)?;
    if let Some((left, truth)) = here.unpaired.iter().find_map(|left| Some((left, files_beside(left)?))) {
        return Err(FileError::TruthWithoutRight { left: left.clone(), layout: truth.layout }.into());
    }
    let sides = &here.sides;
    found.extend(here.pairs.into_iter().filter_map(|pictures| {
        let truth = files_beside(&pictures.left)?;
        Some(TruthPair { name: name_of(root, &pictures, sides), pictures, truth })
    }));
    if depth < MAX_DEPTH {
        inside
            .folders
            .iter()
            .filter(|folder| !sides.contains(folder))
            .try_for_each(|below| search(root, below, depth + 1, found))?;
    }
    Ok(())
}

/// Returns the path of the scene's folder below `root`, followed by the name of the pair if the folder has several.
fn name_of(root: &Path, pair: &FilePair, sides: &[PathBuf]) -> String {
    let folder = pair.left.parent().unwrap_or(root);
    let is_side = sides.iter().any(|side| side == folder);
    let folder = if is_side { folder.parent().unwrap_or(root) } else { folder };
    let mut names: Vec<_> =
        folder.strip_prefix(root).unwrap_or(folder).iter().map(|part| part.to_string_lossy()).collect();
    if names.is_empty() || pair.left.file_stem().is_some_and(|stem| stem == pair.name.as_str()) {
        names.push(pair.name.as_str().into());
    }
    names.join("/")
}

impl TruthPair {
    /// Returns the paths of all its files; some may not exist.
    pub fn paths(&self) -> Vec<PathBuf> {
        let FilePair { left, right, .. } = &self.pictures;
        let beside = ["meta.json", "calib.txt"].map(|name| left.with_file_name(name));
        [left, right].into_iter().chain(self.truth.paths()).cloned().chain(beside).collect()
    }

    /// Reads the images, the truth and the masks.
    ///
    /// # Errors
    /// A file cannot be read, has another size or an unknown scale; the text names it.
    pub fn read(&self, max_pixels: MaxPixels) -> Result<PairWithTruth, CaptureError> {
        let raw = self.pictures.read(true, max_pixels)?;
        let size = raw.left.size();
        let files = truth_beside(&self.pictures.left, size)?.unwrap_or_else(|| self.truth.clone());
        let truth = files.read(size, max_pixels)?.truth;
        let mask = |path: &Option<PathBuf>| -> Result<Option<Image<bool>>, CaptureError> {
            let Some(path) = path else { return Ok(None) };
            let mask = read_mask(path, max_pixels)?;
            check_size(path, mask.size(), size)?;
            Ok(Some(mask))
        };
        let regions = Regions { all: mask(&files.all)?, disc: mask(&files.disc)?, ..Regions::of_truth(&truth) };
        Ok(PairWithTruth {
            name: self.name.clone(),
            layout: files.layout,
            num_disparities: self.ndisp().unwrap_or_else(|| num_disparities_of(&truth)),
            raw: Arc::new(raw),
            truth: Arc::new(truth),
            regions,
        })
    }

    /// Returns `ndisp` of the `calib.txt`.
    fn ndisp(&self) -> Option<u32> {
        let text = plain::read_text(&calib_txt(&self.pictures.left)?).ok()?;
        let value = |line: &str| line.split_once('=').filter(|(key, _)| key.trim() == "ndisp")?.1.trim().parse().ok();
        text.lines().find_map(value).filter(|&ndisp: &u32| ndisp > 0)
    }
}

/// Returns the number of disparities from 0 that includes the maximum true one.
pub(crate) fn num_disparities_of(truth: &Truth) -> u32 {
    let largest_px = truth.left_px.pixels().iter().copied().filter(|d| d.is_finite()).fold(0.0, f32::max);
    largest_px.ceil() as u32 + 1
}
