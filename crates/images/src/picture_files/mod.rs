//! Pairs of image files: one pair, or those of a folder in natural order, with the ground truth beside them.

mod curved;
mod folder;
mod partners;
pub mod truth;

pub use curved::curved;
pub use folder::{FilePair, FolderPairs, list_pairs, list_pictures_of_both};

use self::truth::{ReadTruth, TruthFiles, truth_beside};
use crate::decode::{Content, ExifLens, NumberImage, NumberRange, Part, ReadImage, number_range, read_part};
use crate::error::FileError;
use std::path::Path;
use std::sync::Arc;
use std::time::SystemTime;
use stereopsis_base::console;
use stereopsis_base::image::{Luma, Picture};
use stereopsis_base::remedy::option;
use stereopsis_calibration::CurvedImages;
use stereopsis_frame::picture_file::{BothViews, FileOfBoth};
use stereopsis_frame::source::DisparityFile;
use stereopsis_frame::{Arrangement, CaptureError, MaxPixels, NamedLens, RawPair, doubtful_arrangement, split};

/// Largest ratio of the focal lengths of a pair; an estimate tells smaller differences.
const MAX_LENS_RATIO: f64 = 1.25;

/// Lenses of a pair, by the Exif data of its images, that cannot be of one rig.
#[derive(Debug, thiserror::Error)]
#[error(
    "the Exif data of the images name two lenses that are not of one pair ({words}): they are not used; give {} or {}",
    option("fov-deg"),
    option("focal-px")
)]
pub struct LensesDiffer {
    words: String,
}

impl FilePair {
    /// Creates a pair of a file with both views.
    pub fn of_both(file: &Path, both_views: FileOfBoth) -> Self {
        let name = file.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        Self { left: file.to_owned(), right: file.to_owned(), name, both_views: Some(both_views) }
    }

    /// Creates a pair of two files; one that is given twice may be a file with both views.
    pub fn of_two(left: &Path, right: &Path) -> Self {
        let name = left.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        let both_views = if left == right { FileOfBoth::of_file(left) } else { None };
        Self { left: left.to_owned(), right: right.to_owned(), name, both_views }
    }

    /// Reads both images without truth; `color` keeps the RGB of colour files.
    ///
    /// # Errors
    /// An image cannot be read, or the sizes differ.
    pub fn read(&self, color: bool, max_pixels: MaxPixels) -> Result<RawPair, CaptureError> {
        self.read_and_remark(color, max_pixels, false).map(|(pair, _)| pair)
    }

    /// Returns what tells that the images are not flat, by the left file; `size` is that of one view, px.
    pub fn curved(&self, size: (usize, usize)) -> Option<CurvedImages> {
        curved::curved(&self.left, size)
    }

    /// Reads the lenses that the Exif data of the images name; `None` without one, and for an image of both views.
    ///
    /// # Errors
    /// The images name two lenses of very different focal lengths.
    pub fn lens(&self, size: (usize, usize)) -> Result<Option<NamedLens>, LensesDiffer> {
        if self.both_views.as_ref().is_some_and(|both| !both.is_of_images()) {
            return Ok(None);
        }
        let lenses = [&self.left, &self.right].map(|path| ExifLens::of_file(path, size));
        let (focal_px, words) = match lenses {
            [None, None] => return Ok(None),
            [Some(lens), None] => ([lens.focal_px; 2], format!("{}, which the left image alone names", lens.words)),
            [None, Some(lens)] => ([lens.focal_px; 2], format!("{}, which the right image alone names", lens.words)),
            [Some(left), Some(right)] if left == right => ([left.focal_px; 2], left.words),
            [Some(left), Some(right)] => {
                let words = format!("left {}, right {}", left.words, right.words);
                let ratio = right.focal_px / left.focal_px;
                if ratio.max(1.0 / ratio) > MAX_LENS_RATIO {
                    return Err(LensesDiffer { words });
                }
                ([left.focal_px, right.focal_px], words)
            }
        };
        Ok(Some(NamedLens { focal_px, words: format!("focal length from the Exif data of the images: {words}") }))
    }

    /// Reads the brightness of one view; an image that is not `size` px is refused before decoding.
    ///
    /// # Errors
    /// The file cannot be read, is damaged, or has another size.
    pub fn read_view(
        &self,
        is_right: bool,
        max_pixels: MaxPixels,
        size: Option<(usize, usize)>,
    ) -> Result<Picture, CaptureError> {
        let path = if is_right { &self.right } else { &self.left };
        let read = |part, size| {
            let image = read_part(path, part, false, max_pixels, size)?;
            alone(path, image.content)
        };
        let side = usize::from(is_right);
        let (arrangement, is_right_first) = match self.both_views.as_ref().map(|both| &both.views) {
            None => return read(Part::Main, size),
            Some(BothViews::Jpegs(places)) => return read(Part::Bytes(&places[side]), size),
            Some(BothViews::Pages(places)) => return read(Part::Page(places[side]), size),
            Some(&BothViews::Halves { arrangement, is_right_first }) => (arrangement, is_right_first),
        };
        let whole = size.map(|(width, height)| match arrangement {
            Arrangement::SideBySide => (2 * width, height),
            Arrangement::TopBottom => (width, 2 * height),
        });
        let both = read(Part::Main, whole)?;
        check_halves(path, both.size(), arrangement)?;
        let (first, second) = split(&both, arrangement);
        Ok(if is_right == is_right_first { first } else { second })
    }

    /// Reads both images like [`Self::read`], with remarks on changes of their pixels. With `two_sizes` their sizes may differ.
    ///
    /// # Errors
    /// Errors of [`Self::read`].
    pub fn read_and_remark(
        &self,
        color: bool,
        max_pixels: MaxPixels,
        two_sizes: bool,
    ) -> Result<(RawPair, Vec<String>), CaptureError> {
        let mut remarks = Vec::new();
        let mut read = |path: &Path, part: Part<'_>| -> Result<ReadImage, CaptureError> {
            let image = read_part(path, part, color, max_pixels, None)?;
            let shown = console::path(path);
            let turn = image.turn.words();
            remarks.extend(turn.map(|turn| format!("{shown} is {turn}, as the orientation tag in the file says")));
            remarks.extend((matches!(part, Part::Main) && image.pages > 1).then(|| {
                let pages = image.pages;
                let split = path.with_extension("");
                let [file, split] = [path, &split].map(|path| console::quoted(&path.to_string_lossy()));
                format!("{shown} has {pages} pages of one size, and the first one is used: `tiffsplit {file} {split}_` writes each into a file")
            }));
            Ok(image)
        };
        let path = &self.left;
        let (left, right) = match self.both_views.as_ref().map(|both| &both.views) {
            Some(&BothViews::Halves { arrangement, is_right_first }) => {
                let image = read(path, Part::Main)?;
                let both = alone(path, image.content)?;
                check_halves(path, both.size(), arrangement)?;
                let (first, second) = split(&both, arrangement);
                let doubt = doubtful_arrangement(first.size(), arrangement);
                remarks.extend(doubt.map(|doubt| format!("{}: {doubt}", console::path(path))));
                if is_right_first { (second, first) } else { (first, second) }
            }
            views => {
                let [left, right] = match views {
                    Some(BothViews::Jpegs([left, right])) => {
                        [read(path, Part::Bytes(left))?, read(path, Part::Bytes(right))?]
                    }
                    Some(&BothViews::Pages([left, right])) => {
                        [read(path, Part::Page(left))?, read(path, Part::Page(right))?]
                    }
                    _ => [read(&self.left, Part::Main)?, read(&self.right, Part::Main)?],
                };
                let sizes = [left.size(), right.size()];
                if sizes[0] != sizes[1] && !two_sizes {
                    let paths = [self.left.clone(), self.right.clone()];
                    let turned_differently = left.turn != right.turn;
                    return Err(FileError::PairSizes { paths, sizes, turned_differently }.into());
                }
                let (left, right, range) = self.of_one_range(left.content, right.content)?;
                remarks.extend(range);
                (left, right)
            }
        };
        remarks.extend(self.said_of_file());
        let (left, right, reduced) = self.of_one_depth(left, right);
        remarks.extend(reduced);
        let capture_time = SystemTime::now();
        let skew_s = partners::skew_s(&self.left, &self.right);
        Ok((RawPair { skew_s, ..RawPair::new(self.name.clone(), 0, capture_time, left, right) }, remarks))
    }

    /// Returns what is said of a file with both views, or of one that has them and is taken otherwise.
    fn said_of_file(&self) -> Option<String> {
        let shown = console::path(&self.left);
        let Some(both) = &self.both_views else {
            return [&self.left, &self.right].into_iter().find_map(|path| {
                let both = FileOfBoth::of_file(path).filter(|both| matches!(both.views, BothViews::Jpegs(_)))?;
                let what = both.what?;
                Some(format!(
                    "{} is {what}; only its first image is used: give it alone for its own pair",
                    console::path(path)
                ))
            });
        };
        if let Some(what) = &both.what {
            return Some(format!("{shown} is {what}; {} exchanges both", option("swap-pictures")));
        }
        let found = FileOfBoth::of_file(&self.left).filter(|found| found.views != both.views)?;
        let BothViews::Halves { arrangement, .. } = both.views else { return None };
        Some(format!("{shown} is {}: so it is read without {}", found.what?, option(arrangement.word())))
    }

    /// Makes images of numbers of both contents, in one range, and returns a remark on the range.
    fn of_one_range(&self, left: Content, right: Content) -> Result<(Picture, Picture, Option<String>), CaptureError> {
        let (left, right) = match (left, right) {
            (Content::Picture(left), Content::Picture(right)) => return Ok((left, right, None)),
            (Content::Numbers(left), Content::Numbers(right)) => (left, right),
            (Content::Numbers(numbers), Content::Picture(_)) | (Content::Picture(_), Content::Numbers(numbers)) => {
                let paths = [self.left.clone(), self.right.clone()];
                return Err(FileError::OneOfNumbers { paths, kind: numbers.kind }.into());
            }
        };
        let range = range_of(&self.left, &[&left, &right])?;
        let remark = match range {
            NumberRange::Bytes | NumberRange::Words => None,
            NumberRange::Between(black, white) => Some(format!(
                "{} and {} hold {}: of both {black} is black and {white} white; pixels without a number are black",
                console::path(&self.left),
                console::path(&self.right),
                left.kind
            )),
        };
        Ok((left.picture(range), right.picture(range), remark))
    }

    /// Reduces both images to the bit depth of the shallower one, and returns a remark on a reduced one.
    fn of_one_depth(&self, left: Picture, right: Picture) -> (Picture, Picture, Option<String>) {
        let reduced = |picture: Picture| Picture { luma: Luma::U8(picture.luma.to_u8()), ..picture };
        let remark = |path: &Path| {
            Some(format!("{} has 16 bits and its partner 8: of both 8 bits are used", console::path(path)))
        };
        match (left.luma.word_bits(), right.luma.word_bits()) {
            (16, 8) => (reduced(left), right, remark(&self.left)),
            (8, 16) => (left, reduced(right), remark(&self.right)),
            _ => (left, right, None),
        }
    }

    /// Reads the truth into `pair`, from the file that the user names or from the data set's files beside the pair. Returns a remark on
    /// numbers that are no disparities, or on unusable files beside the pair, which are skipped.
    ///
    /// # Errors
    /// The named file cannot be read or has another size.
    pub fn read_truth(
        &self,
        pair: &mut RawPair,
        named: Option<&DisparityFile>,
        max_pixels: MaxPixels,
    ) -> Result<Option<String>, CaptureError> {
        let size = pair.left.size();
        let beside = if self.both_views.is_some() { Ok(None) } else { truth_beside(&self.left, size) };
        if let Some(named) = named {
            // a named file that belongs to a data set gets the scale, mask and right truth of the set
            let is_named = |files: &TruthFiles| files.left.path == named.path && named.scale.is_none();
            let files = beside.ok().flatten().filter(is_named);
            let files = files.unwrap_or_else(|| TruthFiles::of_left(named.clone()));
            let ReadTruth { truth, remark } = files.read_known(size, max_pixels)?;
            pair.truth = Some(Arc::new(truth));
            return Ok(remark);
        }
        Ok(match beside.map(|files| files.map(|files| files.read_known(size, max_pixels))) {
            Ok(None) => None,
            Ok(Some(Ok(ReadTruth { truth, remark }))) => {
                pair.truth = Some(Arc::new(truth));
                remark
            }
            Ok(Some(Err(err))) => Some(format!("{err}; it is left out")),
            Err(err) => Some(err.to_string()),
        })
    }
}

/// Returns the image of a file by itself.
fn alone(path: &Path, content: Content) -> Result<Picture, CaptureError> {
    Ok(match content {
        Content::Picture(picture) => picture,
        Content::Numbers(numbers) => numbers.picture(range_of(path, &[&numbers])?),
    })
}

fn range_of(path: &Path, images: &[&NumberImage]) -> Result<NumberRange, CaptureError> {
    number_range(images).ok_or_else(|| FileError::NoNumber(path.to_owned()).into())
}

/// Checks that an image of both views has two equal halves.
fn check_halves(path: &Path, size: (usize, usize), arrangement: Arrangement) -> Result<(), FileError> {
    let length = if arrangement == Arrangement::SideBySide { size.0 } else { size.1 };
    let is_even = length > 0 && length % 2 == 0;
    if is_even { Ok(()) } else { Err(FileError::OddSize { path: path.to_owned(), size, arrangement }) }
}

#[cfg(test)]
mod tests;
