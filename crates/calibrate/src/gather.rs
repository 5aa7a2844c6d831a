//! Detection in complete sets of pairs: a folder, or the stored views of an earlier calibration.
//! An image is in memory only during detection, and the number of pixels in memory is limited for any number of pairs.

use super::detect::{Detection, Detector};
use super::error::CalibrateError;
use super::pictures::{PairFiles, Pictures};
use super::session::{TakenView, is_wide};
use super::{Board, Corner, LensKind, View, solve};
use rayon::prelude::*;
use std::collections::BTreeMap;
use std::sync::Arc;
use stereopsis_base::console::counted;
use stereopsis_base::image::Image;
use stereopsis_calibration::Camera;
use stereopsis_frame::CaptureError;

/// Detected views, and the reasons against the other pairs.
#[derive(Clone, Debug)]
pub struct BatchViews {
    /// Pairs with the board in at least one image.
    pub taken: Vec<TakenView>,
    /// Number of images by reason.
    pub unusable: BTreeMap<String, usize>,
    /// Reasons for skipped pairs, as unreadable images or different sizes.
    pub left_out: Vec<String>,
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
    let (mut unusable, mut left_out) = (BTreeMap::new(), Vec::new());
    for both in seen.chunks_exact(2) {
        if let Some(why) = both.iter().find_map(|picture| picture.as_ref().err()) {
            left_out.push(why.to_string());
            continue;
        }
        for picture in both.iter().flatten() {
            let reason = match picture {
                Detection::Corners(_) => continue,
                Detection::Nothing => "no board is seen".to_owned(),
                Detection::Part(why) | Detection::Other(why) => why.clone(),
            };
            *unusable.entry(reason).or_insert(0) += 1;
        }
    }
    let taken: Vec<TakenView> = views_of(&pairs, &seen)
        .into_iter()
        .zip(pairs)
        .filter(|(view, _)| view.corners.iter().any(|corners| !corners.is_empty()))
        .map(|(view, files)| TakenView { view, pictures: Pictures::InFiles(files) })
        .collect();
    if taken.is_empty() {
        if let Some(why) = left_out.first().filter(|_| unusable.is_empty()) {
            return Err(CalibrateError::NoReadablePair(why.clone()));
        }
        let mut reasons: Vec<_> = unusable.iter().collect();
        reasons.sort_by_key(|(_, count)| std::cmp::Reverse(**count));
        let reasons = reasons
            .iter()
            .take(3)
            .map(|(reason, count)| format!("{reason} (in {})", counted(**count as u64, "image")))
            .chain(left_out.first().map(|why| format!("{why} ({} left out)", counted(left_out.len() as u64, "pair"))));
        return Err(CalibrateError::NoBoardSeen { board: *board, reasons: reasons.collect() });
    }
    Ok(BatchViews { taken, unusable, left_out })
}

fn first_size(pairs: &[PairFiles]) -> Result<(usize, usize), CalibrateError> {
    let mut first = None;
    for (pair, side) in pairs.iter().flat_map(|pair| [(pair, 0), (pair, 1)]) {
        match pair.read(side, None) {
            Ok(picture) => return Ok(picture.size()),
            Err(err) => first = first.or(Some(err.to_string())),
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
