//! Detection in complete sets of pairs: a folder, or the stored views of an earlier calibration.
//! An image is in memory only during detection, and the number of pixels in memory is limited for any number of pairs.

use super::detect::{Detection, Detector, Mismatch};
use super::error::CalibrateError;
use super::pictures::{PairFiles, Pictures};
use super::session::{TakenView, is_wide};
use super::{Board, Corner, LensKind, View, solve};
use rayon::prelude::*;
use std::collections::BTreeMap;
use std::sync::Arc;
use stereopsis_base::image::Image;
use stereopsis_calibration::Camera;
use stereopsis_frame::CaptureError;

/// Detected views, and the reasons against the other pairs.
#[derive(Debug)]
pub struct BatchViews {
    /// Pairs with the board in at least one image.
    pub taken: Vec<TakenView>,
    /// Number of images by reason, in the order of the texts.
    pub unusable: Vec<(Mismatch, usize)>,
    /// Reasons for skipped pairs, as unreadable images or different sizes.
    pub left_out: Vec<CaptureError>,
}

/// Largest number of pixels in simultaneous images, unless a single image has more.
const PIXELS_AT_ONCE: usize = 1 << 26;
/// Number of simultaneous images per thread, which balances the threads.
const PER_THREAD: usize = 8;

/// Detects the board in all pairs, and again in undistorted images for wide lenses; `looked` is called for each image on any thread.
///
/// Pairs with an unreadable image, or one of another size than the first, are skipped.
///
/// # Errors
/// The board cannot be detected, no pair can be read, or no image contains the board (the text has the actual contents).
pub fn gather(
    board: &Board,
    pairs: Vec<PairFiles>,
    looked: &(dyn Fn(&Arc<Image<u8>>) + Sync),
) -> Result<BatchViews, CalibrateError> {
    let detector = Detector::new(board)?;
    let size = first_size(&pairs)?;
    let pictures: Vec<(usize, usize)> = (0..pairs.len()).flat_map(|pair| [(pair, 0), (pair, 1)]).collect();
    let most = PER_THREAD * rayon::current_num_threads();
    let at_once = (PIXELS_AT_ONCE / (size.0 * size.1).max(1)).clamp(1, most);
    let detect = |lenses: [Option<Camera>; 2]| -> Vec<Result<Detection, CaptureError>> {
        let one = |&(pair, side): &(usize, usize)| -> Result<Detection, CaptureError> {
            let picture = pairs[pair].read(side, Some(size))?;
            looked(&picture);
            Ok(detector.detect(&picture, lenses[side].as_ref()))
        };
        pictures.chunks(at_once).flat_map(|some| some.par_iter().map(one).collect::<Vec<_>>()).collect()
    };
    let mut seen = detect([None, None]);
    if let Some(lenses) = wide_lenses(board, &views_of(&pairs, &seen), size) {
        seen = detect(lenses.map(Some));
    }
    let views = views_of(&pairs, &seen);
    // by the text, in which measured numbers are rounded
    let (mut unusable, mut left_out) = (BTreeMap::new(), Vec::new());
    let mut seen = seen.into_iter();
    while let (Some(left), Some(right)) = (seen.next(), seen.next()) {
        match (left, right) {
            (Ok(left), Ok(right)) => {
                for picture in [left, right] {
                    if let Detection::Mismatch(why) = picture {
                        unusable.entry(why.to_string()).or_insert((why, 0)).1 += 1;
                    }
                }
            }
            (Err(why), _) | (_, Err(why)) => left_out.push(why),
        }
    }
    let mut unusable: Vec<(Mismatch, usize)> = unusable.into_values().collect();
    let taken: Vec<TakenView> = views
        .into_iter()
        .zip(pairs)
        .filter(|(view, _)| view.corners.iter().any(|corners| !corners.is_empty()))
        .map(|(view, files)| TakenView { view, pictures: Pictures::InFiles(files) })
        .collect();
    if taken.is_empty() {
        let unreadable = left_out.len();
        let first = left_out.into_iter().next();
        if unusable.is_empty() {
            return Err(first.map_or(CalibrateError::NoPair, CalibrateError::NoReadablePair));
        }
        unusable.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
        unusable.truncate(3);
        let unreadable = first.map(|why| (why, unreadable));
        return Err(CalibrateError::NoBoardSeen { board: *board, reasons: unusable, unreadable });
    }
    Ok(BatchViews { taken, unusable, left_out })
}

fn first_size(pairs: &[PairFiles]) -> Result<(usize, usize), CalibrateError> {
    let mut first = None;
    for (pair, side) in pairs.iter().flat_map(|pair| [(pair, 0), (pair, 1)]) {
        match pair.read(side, None) {
            Ok(picture) => return Ok(picture.size()),
            Err(err) => first = first.or(Some(err)),
        }
    }
    Err(first.map_or(CalibrateError::NoPair, CalibrateError::NoReadablePair))
}

/// Collects the views of all pairs from the detections in their images; unreadable ones have no corners.
fn views_of(pairs: &[PairFiles], seen: &[Result<Detection, CaptureError>]) -> Vec<View> {
    let view = |(files, both): (&PairFiles, &[Result<Detection, CaptureError>])| {
        let corners: Vec<&[Corner]> = both.iter().flatten().map(Detection::corners).collect();
        let corners =
            if let [left, right] = corners[..] { [left.to_vec(), right.to_vec()] } else { Default::default() };
        View { name: files.name.clone(), corners }
    };
    pairs.iter().zip(seen.chunks_exact(2)).map(view).collect()
}

/// Estimates rough cameras from the first corners if a lens is wide.
fn wide_lenses(board: &Board, views: &[View], size: (usize, usize)) -> Option<[Camera; 2]> {
    let solutions = [LensKind::Pinhole, LensKind::Fisheye]
        .into_iter()
        .filter_map(|kind| solve(board, views, size, kind, None).ok());
    let best = solutions.min_by(|a, b| a.sigma_px.total_cmp(&b.sigma_px))?;
    let cameras = [best.rig.left, best.rig.right];
    cameras.iter().any(|camera| is_wide(camera, size)).then_some(cameras)
}
