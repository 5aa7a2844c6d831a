//! Ground truth of pairs of files: which files hold it, in the layouts of the data sets, and how they are read. Everything that
//! compares with the truth of a data set reads it here.

pub(super) mod layout;
mod meta;
mod pairs;

pub use layout::TruthFiles;
pub(crate) use layout::{files_beside, truth_beside};
pub use pairs::{PairWithTruth, TruthPair, find_truth_pairs};

use crate::console;
use crate::decode::{read_pfm, read_picture};
use crate::image::{Image, Luma, Truth};
use crate::{CaptureError, MaxPixels};
use std::ffi::OsStr;
use std::fmt;
use std::path::{Path, PathBuf};

/// A file of disparities, left minus right.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct DisparityFile {
    /// PFM (`.pfm`: floats; not finite, 0 and negative are unknown), or a grey picture (0 is unknown).
    pub path: PathBuf,
    /// The file's numbers are so many times the disparity in px. `None` where the file tells: 1 for PFM, 256 for 16-bit pictures
    /// (KITTI). Pictures of 8 bits do not tell it.
    pub scale: Option<u32>,
}

/// Which left pixels the right view sees too.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Mask {
    /// A picture: 255 where both views see the point (Middlebury, ETH3D).
    Visible(PathBuf),
    /// Disparities of these pixels alone (KITTI's `disp_noc`).
    Disparities(DisparityFile),
}

/// Largest difference between the truths of both views where both see a point, px.
const MAX_DISAGREEMENT_PX: f32 = 1.0;

impl DisparityFile {
    /// A file that tells its scale itself.
    pub fn new(path: impl Into<PathBuf>) -> Self {
        Self { path: path.into(), scale: None }
    }

    /// Reads the disparities, px; NaN where unknown.
    ///
    /// # Errors
    /// The file cannot be read, or its scale is unknown; the text names it.
    pub fn read(&self, max_pixels: MaxPixels) -> Result<Image<f32>, CaptureError> {
        if is_pfm(&self.path) {
            let times = self.scale.unwrap_or(1) as f32;
            let known = |&v: &f32| if v.is_finite() && v > 0.0 { v / times } else { f32::NAN };
            return Ok(read_pfm(&self.path, max_pixels)?.map(known));
        }
        let luma = read_picture(&self.path, false, max_pixels)?.luma;
        let times = match (self.scale, &luma) {
            (Some(scale), _) => scale,
            (None, Luma::U16 { .. }) => KITTI_SCALE,
            (None, Luma::U8(_)) => {
                return Err(CaptureError::File(format!(
                    "cannot use the truth {}: it has 8 bits, and nothing says how many grey levels are 1 px: give --truth-scale \
                     (Middlebury 2003: 4 at quarter size; 2005 and 2006: 3 at third size; Tsukuba: 16)",
                    console::path(&self.path)
                )));
            }
        };
        Ok(luma.to_u16().map(|&v| if v > 0 { f32::from(v) / times as f32 } else { f32::NAN }))
    }
}

/// Numbers of 16-bit pictures are so many times the disparity, as in KITTI.
const KITTI_SCALE: u32 = 256;

/// `FILE`, or `FILE:SCALE`.
impl fmt::Display for DisparityFile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.scale {
            Some(scale) => write!(f, "{}:{scale}", self.path.display()),
            None => self.path.display().fmt(f),
        }
    }
}

impl From<&str> for DisparityFile {
    fn from(words: &str) -> Self {
        let scale = words.rsplit_once(':').and_then(|(path, scale)| Some((path, scale.parse().ok()?)));
        match scale {
            Some((path, scale @ 1..)) if !path.is_empty() => Self { path: path.into(), scale: Some(scale) },
            _ => Self::new(words),
        }
    }
}

impl TruthFiles {
    /// Reads the truth of a pair of this size, px. Without a mask, pixels are taken to be hidden where the truth of the right view
    /// differs by more than 1 px or is unknown; without both, the truth does not tell.
    ///
    /// # Errors
    /// A file cannot be read or has another size; the text names it.
    pub fn read(&self, size: (usize, usize), max_pixels: MaxPixels) -> Result<Truth, CaptureError> {
        let of_size = |path: &Path, found| check_size(path, found, size);
        let disparities = |file: &DisparityFile| {
            let image = file.read(max_pixels)?;
            of_size(&file.path, image.size()).map(|()| image)
        };
        let left_px = disparities(&self.left)?;
        let right_px = self.right.as_ref().map(disparities).transpose()?;
        let occluded = match &self.mask {
            Some(Mask::Visible(path)) => {
                let visible = read_mask(path, max_pixels)?;
                of_size(path, visible.size())?;
                Some(visible.map(|visible| !visible))
            }
            Some(Mask::Disparities(file)) => Some(disparities(file)?.map(|d| d.is_nan())),
            None => right_px.as_ref().map(|right_px| disagreeing(&left_px, right_px)),
        };
        Ok(Truth { left_px, right_px, occluded })
    }
}

/// Checks that a file of truth has the size of its pair, px.
fn check_size(path: &Path, found: (usize, usize), size: (usize, usize)) -> Result<(), CaptureError> {
    let ((width, height), (w, h)) = (size, found);
    let text = || format!("the truth {} has {w}x{h} and its pair {width}x{height} px", console::path(path));
    if found == size { Ok(()) } else { Err(CaptureError::File(text())) }
}

/// True where a picture is 255.
fn read_mask(path: &Path, max_pixels: MaxPixels) -> Result<Image<bool>, CaptureError> {
    Ok(read_picture(path, false, max_pixels)?.luma.to_u8().map(|&v| v == u8::MAX))
}

/// True for left pixels whose partner has another disparity, or none.
fn disagreeing(left_px: &Image<f32>, right_px: &Image<f32>) -> Image<bool> {
    let (width, height) = left_px.size();
    Image::from_fn(width, height, |x, y| {
        let d = left_px.at(x, y);
        // a position that is NaN becomes 0, and its difference is NaN
        let partner = right_px.get((x as f32 - d).round() as isize, y as isize);
        !partner.is_some_and(|right| (right - d).abs() <= MAX_DISAGREEMENT_PX)
    })
}

/// Whether a file's name says that it holds disparities: `.pfm`, `disp*`, or any name in a folder `disp_*`. So the files of a pair and
/// its truth are kept apart.
pub(crate) fn is_truth_name(path: &Path) -> bool {
    let begins = |name: Option<&OsStr>, with: &str| {
        name.is_some_and(|name| name.to_string_lossy().to_lowercase().starts_with(with))
    };
    is_pfm(path) || begins(path.file_name(), "disp") || begins(path.parent().and_then(Path::file_name), "disp_")
}

fn is_pfm(path: &Path) -> bool {
    path.extension().is_some_and(|ending| ending.eq_ignore_ascii_case("pfm"))
}

#[cfg(test)]
mod tests;
