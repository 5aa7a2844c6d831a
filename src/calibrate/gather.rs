//! Views of pairs that are all there: a folder, or the kept views of an earlier calibration.

use super::detect::{Detector, Seen};
use super::session::{Taken, is_wide};
use super::{Board, Corner, LensKind, View, solve};
use crate::calibration::{CalibrationError, Camera};
use crate::console::counted;
use crate::image::Image;
use rayon::prelude::*;
use std::collections::BTreeMap;
use std::sync::Arc;

/// A pair with its name.
pub type NamedPair = (String, [Arc<Image<u8>>; 2]);

/// Views that were found, and what speaks against the others.
#[derive(Clone, Debug)]
pub struct Gathered {
    /// Pairs that show the board to an eye at least.
    pub taken: Vec<Taken>,
    /// Reasons by how many pictures have them.
    pub unusable: BTreeMap<String, usize>,
}

/// Looks for the board in all pairs; where the lenses turn out to be wide, once more in straightened pictures. `looked` is called for each
/// pair, on any thread.
///
/// # Errors
/// The board cannot be detected, pairs have several sizes, or no picture shows the board: what is seen instead.
pub fn gather(board: &Board, pairs: Vec<NamedPair>, looked: &(dyn Fn() + Sync)) -> Result<Gathered, CalibrationError> {
    let detector = Detector::new(board)?;
    let Some(size) = pairs.first().map(|(_, [left, _])| left.size()) else {
        return Err(CalibrationError("there is no pair of pictures to look for the board in".to_owned()));
    };
    if let Some((name, [other, _])) =
        pairs.iter().find(|(_, pictures)| pictures.iter().any(|picture| picture.size() != size))
    {
        let ((width, height), (wide, high)) = (size, other.size());
        return Err(CalibrationError(format!(
            "pair {name} has {wide}x{high} px, and the first one has {width}x{height}: a calibration is of one size; take all pictures in \
             one mode"
        )));
    }
    let detect = |lenses: [Option<Camera>; 2]| -> Vec<[Seen; 2]> {
        let both = |(_, pictures): &NamedPair| {
            looked();
            [0, 1].map(|eye| detector.detect(&pictures[eye], lenses[eye].as_ref()))
        };
        pairs.par_iter().map(both).collect()
    };
    let mut seen = detect([None, None]);
    if let Some(lenses) = wide_lenses(board, &views_of(&pairs, &seen), size) {
        seen = detect(lenses.map(Some));
    }
    let mut unusable = BTreeMap::new();
    for picture in seen.iter().flatten() {
        let reason = match picture {
            Seen::Corners(_) => continue,
            Seen::Nothing => "no board is seen".to_owned(),
            Seen::Part(why) | Seen::Other(why) => why.clone(),
        };
        *unusable.entry(reason).or_insert(0) += 1;
    }
    let views = views_of(&pairs, &seen);
    let taken: Vec<Taken> = views
        .into_iter()
        .zip(pairs)
        .filter(|(view, _)| view.corners.iter().any(|corners| !corners.is_empty()))
        .map(|(view, (_, pictures))| Taken { view, pictures })
        .collect();
    if taken.is_empty() {
        let mut reasons: Vec<_> = unusable.iter().collect();
        reasons.sort_by_key(|(_, count)| std::cmp::Reverse(**count));
        let reasons = reasons
            .iter()
            .take(3)
            .map(|(reason, count)| format!("{reason} (in {})", counted(**count as u64, "picture")));
        return Err(CalibrationError(format!(
            "no picture shows the board {board}: {}; is it the board that was printed?",
            reasons.collect::<Vec<_>>().join("; ")
        )));
    }
    Ok(Gathered { taken, unusable })
}

fn views_of(pairs: &[NamedPair], seen: &[[Seen; 2]]) -> Vec<View> {
    let corners = |seen: &Seen| -> Vec<Corner> { seen.corners().to_vec() };
    let view = |((name, _), seen): (&NamedPair, &[Seen; 2])| View {
        name: name.clone(),
        corners: [corners(&seen[0]), corners(&seen[1])],
    };
    pairs.iter().zip(seen).map(view).collect()
}

/// Rough cameras by the first corners, where a lens is wide.
fn wide_lenses(board: &Board, views: &[View], size: (usize, usize)) -> Option<[Camera; 2]> {
    let solutions = [LensKind::Pinhole, LensKind::Fisheye]
        .into_iter()
        .filter_map(|kind| solve(board, views, size, kind, None).ok());
    let best = solutions.min_by(|a, b| a.sigma_px.total_cmp(&b.sigma_px))?;
    let cameras = [best.rig.left, best.rig.right];
    cameras.iter().any(|camera| is_wide(camera, size)).then_some(cameras)
}
