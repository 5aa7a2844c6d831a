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

use crate::decode::{NumberTags, Numbers, read_numbers, read_pfm, read_picture};
use crate::error::{FileError, TruthError};
use std::path::Path;
use stereopsis_base::console::{self, counted};
use stereopsis_base::image::{Image, Luma, Picture, Truth};
use stereopsis_frame::source::DisparityFile;
use stereopsis_frame::source::names::{has_extension, is_name_of_depth};
use stereopsis_frame::{CaptureError, MaxPixels};

/// Maximum difference between the truths of both views for a point that both see, px.
const MAX_DISAGREEMENT_PX: f32 = 1.0;

/// Largest share of numbers that may be no disparities, as those of a few stray pixels.
const MAX_STRAY_SHARE: f64 = 0.01;
/// Numbers that mean "no value" where disparities are negative: of pandora 1.9.0 (`invalid_disparity`) and GDAL.
const NEGATIVE_SENTINELS: &[f32] = &[-999.0, -9999.0, -32_767.0, -32_768.0, -99_999.0];
/// Scale of 16-bit images, as KITTI's.
const KITTI_SCALE: i32 = 256;
/// Scale of MPI Sintel's numbers.
const SINTEL_SCALE: i32 = 16_384;
/// Scales of whole numbers in three channels, and the base of their digits, red the highest: MPI Sintel's (`sdk/python/sintel_io.py`) and
/// FoundationStereo's (`depth_uint8_decoding`).
const SCALES_OF_COLOURS: [(i32, f32); 2] = [(SINTEL_SCALE, 256.0), (1000, 255.0)];

/// Disparities of a file.
#[derive(Debug)]
struct Disparities {
    /// Disparities, px; NaN where unknown.
    px: Image<f32>,
    /// Number of the file's numbers that are 1 px.
    scale: i32,
    /// Sentence on numbers that are no disparities.
    remark: Option<String>,
}

/// Reads the disparities of a file. Unknown are numbers that are infinite, none or 0, the one that GDAL's tag names, and those of the
/// image's width or more, which the remark counts.
///
/// # Errors
/// The file cannot be read, has another size than its pair, px, its scale is unknown, or too many of its numbers are no disparities; the
/// text names it.
fn read_disparities(
    file: &DisparityFile,
    size: (usize, usize),
    max_pixels: MaxPixels,
) -> Result<Disparities, CaptureError> {
    let refused = |cause| FileError::Truth { path: file.path.clone(), cause };
    if is_name_of_depth(&file.path.file_stem().unwrap_or_default().to_string_lossy()) {
        return Err(refused(TruthError::NameOfDepth).into());
    }
    let FileNumbers { values, scale: own_scale, has_mask } = numbers(file, max_pixels)?;
    check_size(&file.path, values.size(), size)?;
    let scale = file.scale.or(own_scale).ok_or_else(|| refused(TruthError::NoScale))?;
    let width_px = values.width() as f32;
    let is_sentinel = |v: f32| scale < 0 && NEGATIVE_SENTINELS.contains(&v);
    let values = values.map(|&v| if is_sentinel(v) { f32::NAN } else { v / scale as f32 });
    let (mut known, mut negative, mut too_large) = (0, 0, Vec::new());
    for &v in values.pixels().iter().filter(|v| v.is_finite()) {
        known += usize::from(v > 0.0);
        negative += usize::from(v < 0.0);
        if v >= width_px {
            too_large.push(v);
        }
    }
    if let Some(&largest) = too_large.iter().max_by(|a, b| a.total_cmp(b)) {
        // one number says "no value", many are of another scale
        let is_one_number = too_large.iter().all(|&v| v.to_bits() == largest.to_bits()) && too_large.len() < known;
        if !is_one_number && too_large.len() as f64 > MAX_STRAY_SHARE * known as f64 {
            return Err(refused(TruthError::TooLarge { disparity_px: largest, width_px }).into());
        }
    }
    if negative > 0 && known == 0 {
        return Err(refused(TruthError::Negative { path: file.path.clone(), scale }).into());
    }
    let path = console::path(&file.path);
    let beyond = (!too_large.is_empty()).then(|| {
        let count = counted(too_large.len() as u64, "number");
        format!("{path}: {count} of {width_px} px, the width of the image, or more count as unknown disparities")
    });
    let masked =
        has_mask.then(|| format!("{path}: its mask is not read: write NaN where it says that there is no value"));
    let remarks: Vec<_> = beyond.into_iter().chain(masked).collect();
    let remark = (!remarks.is_empty()).then(|| remarks.join("; "));
    let px = values.map(|&v| if v > 0.0 && v < width_px { v } else { f32::NAN });
    Ok(Disparities { px, scale, remark })
}

/// Numbers of a file.
struct FileNumbers {
    /// Numbers, NaN where the file says that there is none.
    values: Image<f32>,
    /// Scale, if known.
    scale: Option<i32>,
    /// Whether the file has a mask, which is not read.
    has_mask: bool,
}

/// Reads the numbers of a file.
fn numbers(file: &DisparityFile, max_pixels: MaxPixels) -> Result<FileNumbers, CaptureError> {
    if has_extension(&file.path, &["pfm"]) {
        return Ok(FileNumbers { values: read_pfm(&file.path, max_pixels)?, scale: Some(1), has_mask: false });
    }
    if let Some(Numbers { values, are_whole, tags }) = read_numbers(&file.path, max_pixels)? {
        return Ok(of_tags(values, tags, file.scale, (!are_whole).then_some(1)));
    }
    let Picture { luma, rgb } = read_picture(&file.path, true, max_pixels)?;
    if let Some(rgb) = rgb.filter(|rgb| rgb.pixels().iter().any(|&[r, g, b]| r != g || g != b)) {
        let known = SCALES_OF_COLOURS.iter().find(|(scale, _)| file.scale == Some(*scale));
        let refused = FileError::Truth { path: file.path.clone(), cause: TruthError::Colours };
        let (scale, base) = *known.ok_or(refused)?;
        let number = |[r, g, b]: &[u8; 3]| (f32::from(*r) * base + f32::from(*g)) * base + f32::from(*b);
        return Ok(FileNumbers {
            values: rgb.map(number),
            scale: Some(scale),
            has_mask: NumberTags::of(&file.path).has_mask,
        });
    }
    let scale = matches!(luma, Luma::U16 { .. }).then_some(KITTI_SCALE);
    Ok(of_tags(luma.to_u16().map(|&v| f32::from(v)), NumberTags::of(&file.path), file.scale, scale))
}

/// Returns numbers, and their scale if known, as the tags of their file say; a scale of the user wins.
fn of_tags(values: Image<f32>, tags: NumberTags, given: Option<i32>, scale: Option<i32>) -> FileNumbers {
    let no_value = tags.no_value.map(|v| (v as f32).to_bits());
    let known = |v: f32| if no_value == Some(v.to_bits()) { f32::NAN } else { v };
    let (values, scale) = match tags.scale_and_offset.filter(|_| given.is_none()) {
        Some((scale, offset)) => (values.map(|&v| (f64::from(known(v)) * scale + offset) as f32), Some(1)),
        None => (values.map(|&v| known(v)), scale),
    };
    FileNumbers { values, scale, has_mask: tags.has_mask }
}

/// Truth of a pair, as read from its files.
#[derive(Clone, Debug)]
pub struct ReadTruth {
    /// The truth.
    pub truth: Truth,
    /// Sentence on numbers of the left view that are no disparities.
    pub remark: Option<String>,
}

impl TruthFiles {
    /// Reads the truth of a pair of this size, px. Without a mask, a pixel counts as occluded if the truth of the right view differs by
    /// more than 1 px or is unknown; without both, occlusions are unknown.
    ///
    /// # Errors
    /// A file cannot be read or has another size; the text names it.
    pub fn read(&self, size: (usize, usize), max_pixels: MaxPixels) -> Result<ReadTruth, CaptureError> {
        let disparities = |file: &DisparityFile| read_disparities(file, size, max_pixels);
        let Disparities { px: left_px, scale, remark } = disparities(&self.left)?;
        let right_px = self.right.as_ref().map(disparities).transpose()?.map(|right| right.px);
        let occluded = match &self.mask {
            Some(Mask::Visible(path)) => {
                let visible = read_mask(path, max_pixels)?;
                check_size(path, visible.size(), size)?;
                Some(visible.map(|visible| !visible))
            }
            Some(Mask::Disparities(file)) => Some(disparities(file)?.px.map(|d| d.is_nan())),
            None => right_px.as_ref().map(|right_px| disagreeing(&left_px, right_px)),
        };
        Ok(ReadTruth { truth: Truth { left_px, right_px, occluded, scale: Some(scale) }, remark })
    }

    /// Reads the truth like [`Self::read`], and requires at least one known pixel.
    ///
    /// # Errors
    /// Errors of [`Self::read`]; the truth contains no disparity.
    pub(super) fn read_known(&self, size: (usize, usize), max_pixels: MaxPixels) -> Result<ReadTruth, CaptureError> {
        let read = self.read(size, max_pixels)?;
        let is_known = read.truth.left_px.pixels().iter().any(|d| d.is_finite());
        if is_known { Ok(read) } else { Err(FileError::NoDisparity(self.left.path.clone()).into()) }
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
