//! Ground truth of pairs of files: finds its files in the layouts of data sets and decodes disparities and masks. Every comparison with
//! the truth of a data set must read it here.

mod files;
mod layout;
mod meta;
mod pairs;

pub use files::{Mask, TruthFiles};
pub(super) use layout::truth_beside;
pub use layout::{calib_txt, files_beside};
pub use pairs::{PairWithTruth, TruthPair, find_truth_pairs};

use crate::decode::{Numbers, read_numbers, read_pfm, read_picture};
use crate::error::{FileError, TruthError};
use std::path::Path;
use stereopsis_base::image::{Image, Luma, Truth};
use stereopsis_frame::source::DisparityFile;
use stereopsis_frame::source::names::{has_extension, is_name_of_depth};
use stereopsis_frame::{CaptureError, MaxPixels};

/// Largest disparity of a truth, px; no image of this program is wider.
const MAX_DISPARITY_PX: f32 = 65_536.0;
/// Maximum difference between the truths of both views for a point that both see, px.
const MAX_DISAGREEMENT_PX: f32 = 1.0;

/// Reads the disparities of a file, px; NaN where unknown.
///
/// # Errors
/// The file cannot be read, or its scale is unknown; the text names it.
pub(crate) fn read_disparities(file: &DisparityFile, max_pixels: MaxPixels) -> Result<Image<f32>, CaptureError> {
    let refused = |cause| FileError::Truth { path: file.path.clone(), cause };
    if is_name_of_depth(&file.path.file_stem().unwrap_or_default().to_string_lossy()) {
        return Err(refused(TruthError::NameOfDepth).into());
    }
    let (values, own_scale) = numbers(file, max_pixels)?;
    let scale = file.scale.or(own_scale).ok_or_else(|| refused(TruthError::NoScale))?;
    let values = values.map(|v| v / scale as f32);
    let is_too_large = |v: &&f32| v.is_finite() && v.abs() > MAX_DISPARITY_PX;
    if let Some(too_large) = values.pixels().iter().find(is_too_large) {
        return Err(refused(TruthError::TooLarge(*too_large)).into());
    }
    let has = |sign: fn(f32) -> bool| values.pixels().iter().any(|v| v.is_finite() && sign(*v));
    if has(|v| v < 0.0) && !has(|v| v > 0.0) {
        return Err(refused(TruthError::Negative { path: file.path.clone(), scale }).into());
    }
    Ok(values.map(|&v| if v.is_finite() && v > 0.0 { v } else { f32::NAN }))
}

/// Returns the numbers of the file, and their scale if known.
fn numbers(file: &DisparityFile, max_pixels: MaxPixels) -> Result<(Image<f32>, Option<i32>), CaptureError> {
    if has_extension(&file.path, &["pfm"]) {
        return Ok((read_pfm(&file.path, max_pixels)?, Some(1)));
    }
    if let Some(Numbers { values, are_whole }) = read_numbers(&file.path, max_pixels)? {
        return Ok((values, (!are_whole).then_some(1)));
    }
    let luma = read_picture(&file.path, false, max_pixels)?.luma;
    let scale = matches!(luma, Luma::U16 { .. }).then_some(KITTI_SCALE);
    Ok((luma.to_u16().map(|&v| f32::from(v)), scale))
}

const KITTI_SCALE: i32 = 256;

impl TruthFiles {
    /// Reads the truth of a pair of this size, px. Without a mask, a pixel counts as occluded if the truth of the right view differs by
    /// more than 1 px or is unknown; without both, occlusions are unknown.
    ///
    /// # Errors
    /// A file cannot be read or has another size; the text names it.
    pub fn read(&self, size: (usize, usize), max_pixels: MaxPixels) -> Result<Truth, CaptureError> {
        let of_size = |path: &Path, found| check_size(path, found, size);
        let disparities = |file: &DisparityFile| {
            let image = read_disparities(file, max_pixels)?;
            of_size(&file.path, image.size())?;
            Ok::<_, CaptureError>(image)
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

    /// Reads the truth like [`Self::read`], and requires at least one known pixel.
    ///
    /// # Errors
    /// Errors of [`Self::read`]; the truth contains no disparity.
    pub(super) fn read_known(&self, size: (usize, usize), max_pixels: MaxPixels) -> Result<Truth, CaptureError> {
        let truth = self.read(size, max_pixels)?;
        let is_known = truth.left_px.pixels().iter().any(|d| d.is_finite());
        if is_known { Ok(truth) } else { Err(FileError::NoDisparity(self.left.path.clone()).into()) }
    }
}

/// Checks that a file of truth has the size of its pair, px.
fn check_size(path: &Path, found: (usize, usize), wanted: (usize, usize)) -> Result<(), FileError> {
    if found == wanted { Ok(()) } else { Err(FileError::TruthSize { path: path.to_owned(), found, wanted }) }
}

/// Reads a mask: true where an image is 255.
fn read_mask(path: &Path, max_pixels: MaxPixels) -> Result<Image<bool>, CaptureError> {
    Ok(read_picture(path, false, max_pixels)?.luma.to_u8().map(|&v| v == u8::MAX))
}

/// Returns a map that is true for left pixels whose partner has another disparity, or none.
fn disagreeing(left_px: &Image<f32>, right_px: &Image<f32>) -> Image<bool> {
    let (width, height) = left_px.size();
    Image::from_fn(width, height, |x, y| {
        let d = left_px.at(x, y);
        // with d = NaN the position becomes 0 and the difference NaN, so that the pixel counts as disagreeing
        let partner = right_px.get((x as f32 - d).round() as isize, y as isize);
        !partner.is_some_and(|right| (right - d).abs() <= MAX_DISAGREEMENT_PX)
    })
}

#[cfg(test)]
mod tests;
