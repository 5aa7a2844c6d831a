//! Estimates the rig of uncalibrated cameras from images alone: accurate enough to align rows, and marked as estimated.
//!
//! Points seen by both cameras in several pairs determine their relative rotation and the ratio of their focal lengths (`fit`), but not the
//! baseline, and hardly the principal points. The user measures the baseline and gives the field of view. Depth is therefore off by a factor
//! and an offset, whose spread (`spread`) says between which metres each depth lies; [`super::fit_depth`] narrows it with known distances.

mod error;
mod fit;
mod spread;

use super::health::{RowOffset, row_offset_of};
use super::matches::{EXCHANGED, Match, corner_count, matches, search};
use super::projection::Rectification;
use super::{CalibrationError, Camera, LensGuess, StereoRig};
pub(crate) use error::EstimateError;
use fit::{Model, Parameters};
use glam::{DMat3, DVec2, DVec3};
use stereopsis_base::geometry::Axis;
use stereopsis_base::image::{Luma, QuarterTurn};
use stereopsis_base::quantile::quantile;

/// Estimated rig, with the row offsets before and after rectification.
#[derive(Clone, Debug)]
pub struct Estimate {
    /// Rig, marked as `estimated`.
    pub rig: StereoRig,
    /// Row offsets of the raw images; column offsets of cameras one above the other.
    pub row_offset_before: RowOffset,
    /// Row offsets after rectification. Each match is rectified by a fit to matches in other parts of the image, because the residuals of
    /// a fit's own matches are too small.
    pub row_offset_after: RowOffset,
    /// Number of matches that agree with the rig.
    pub matches: usize,
    /// Number of matches that do not, and are left out.
    pub left_out: usize,
}

/// Largest row offset of an estimate, px; a larger one suggests cameras one above the other.
const MAX_ROWS_PX: f64 = 1.0;
/// Smallest number of matches over all pairs.
const MIN_MATCHES: usize = 40;
/// Smallest mean number of corners per image; below it there is too little texture.
const MIN_CORNERS: usize = 60;
/// Smallest mean brightness, grey levels of 8 bits; below it the images are too dark.
const MIN_MEAN: f64 = 20.0;
/// Smallest range of disparities (5th to 95th percentile), as a fraction of the width; below it there is only one depth.
const MIN_DISPARITY_RANGE: f64 = 0.008;

/// Estimates the rig of `pairs` with a baseline along `axis`, see [`estimate_in_rows`]. Images of cameras one above the other are turned to
/// the left, and the rig is turned back.
///
/// # Errors
/// Errors of [`estimate_in_rows`].
pub fn estimate_rig(
    pairs: &[(&Luma, &Luma)],
    lens: impl Into<LensGuess>,
    baseline_m: f64,
    axis: Axis,
) -> Result<Estimate, CalibrationError> {
    let lens = lens.into();
    match (axis, pairs.first()) {
        (_, None) => estimate_in_rows(pairs, lens, baseline_m),
        (Axis::Horizontal, Some(_)) => {
            let found = estimate_in_rows(pairs, lens, baseline_m);
            let are_rows_equal = || {
                let raw: Vec<Match> = pairs.iter().flat_map(|(left, right)| matches(left, right)).collect();
                let (width, height) = pairs.first().map_or((0, 0), |(left, _)| left.size());
                row_offset_of(&raw, width, height).is_some_and(|offset| offset.median_abs_px < MAX_ROWS_PX)
            };
            match &found {
                Ok(_) | Err(CalibrationError::Estimate(EstimateError::Exchanged)) => return found,
                Err(CalibrationError::Estimate(EstimateError::Negative(_))) if are_rows_equal() => return found,
                Err(_) => (),
            }
            match estimate_rig(pairs, lens, baseline_m, Axis::Vertical) {
                Ok(other) => Err(EstimateError::Vertical(other.matches).into()),
                Err(_) => found,
            }
        }
        (Axis::Vertical, Some((first, _))) => {
            let lens = LensGuess { focal: lens.focal.along_columns(first.size()), ..lens };
            let turned = |luma: &Luma| luma.turned(QuarterTurn::Left);
            let turned: Vec<_> = pairs.iter().map(|(left, right)| (turned(left), turned(right))).collect();
            let pairs: Vec<_> = turned.iter().map(|(left, right)| (left, right)).collect();
            let found = estimate_in_rows(&pairs, lens, baseline_m)?;
            let [row_offset_before, row_offset_after] =
                [found.row_offset_before, found.row_offset_after].map(|offset| offset.upright(axis));
            Ok(Estimate { rig: turned_right(found.rig), row_offset_before, row_offset_after, ..found })
        }
    }
}

/// Returns the rig of images turned clockwise; its lenses are radial, and thus the same in all directions.
fn turned_right(rig: StereoRig) -> StereoRig {
    let (width, height) = rig.size.unwrap_or_default();
    let camera = |camera: Camera| Camera {
        fx: camera.fy,
        fy: camera.fx,
        cx: height as f64 - 1.0 - camera.cy,
        cy: camera.cx,
        ..camera
    };
    let turn = DMat3::from_cols(DVec3::Y, DVec3::NEG_X, DVec3::Z);
    StereoRig {
        left: camera(rig.left),
        right: camera(rig.right),
        rotation: turn * rig.rotation * turn.transpose(),
        translation_m: turn * rig.translation_m,
        size: Some((height, width)),
        ..rig
    }
}

/// Estimates the rig of `pairs` of cameras side by side, all of one size. One pair with much texture near and far suffices; several are
/// better. `lens` is approximate; a field of view is that of the distorted lens, whose distortion follows from the matches.
/// `baseline_m` is measured.
///
/// # Errors
/// No pairs or of several sizes, too little texture, images without overlap, swapped cameras, only one depth, or
/// inconsistent matches.
fn estimate_in_rows(pairs: &[(&Luma, &Luma)], lens: LensGuess, baseline_m: f64) -> Result<Estimate, CalibrationError> {
    let error = |err: EstimateError| Err(err.into());
    let Some(size) = pairs.first().map(|(left, _)| left.size()) else {
        return error(EstimateError::NoPair);
    };
    if pairs.iter().any(|(left, right)| left.size() != size || right.size() != size) {
        return error(EstimateError::Sizes);
    }
    let focal_px = lens.focal.px(size.0);
    if !(focal_px > 0.0 && baseline_m > 0.0 && focal_px.is_finite() && baseline_m.is_finite()) {
        return error(EstimateError::Lengths { focal_px, baseline_m });
    }
    let found: Vec<Match> = pairs.iter().flat_map(|(left, right)| matches(left, right)).collect();
    check_matches(pairs, &found)?;
    check_sides(size, lens, &found)?;
    of_matches(size, lens, baseline_m, &found)
}

/// Refuses matches that lie on the wrong side by the fit of a usual rig. Of cameras that look towards each other the same matches would be
/// right; no image tells which.
fn check_sides(size: (usize, usize), lens: LensGuess, found: &[Match]) -> Result<(), EstimateError> {
    let model = Model::new(size, lens);
    let parameters = fit::usual(&model, found);
    let disparity_px = |[left, right]: [DVec2; 2]| (left.x - right.x) * model.focal_px(&parameters);
    let mut disparities: Vec<f64> = model.rectified(&parameters, found).map(disparity_px).collect();
    let [low, middle, high] = [0.05, 0.5, 0.9].map(|share| quantile(&mut disparities, share));
    if middle < -0.01 * size.0 as f64 && high < 0.0 {
        return Err(EstimateError::Negative(low));
    }
    Ok(())
}

/// Estimates the rig whose images of `size` have these matches, see [`estimate_in_rows`].
fn of_matches(
    size: (usize, usize),
    lens: LensGuess,
    baseline_m: f64,
    found: &[Match],
) -> Result<Estimate, CalibrationError> {
    let error = |err: EstimateError| Err(err.into());
    let model = Model::new(size, lens);
    let fit = fit::fit(&model, found);
    let kept: Vec<Match> =
        found.iter().zip(&fit.inliers).filter_map(|(found, &inlier)| inlier.then_some(*found)).collect();
    let agreeing = kept.len();
    if agreeing < MIN_MATCHES || agreeing * 2 < found.len() {
        return error(EstimateError::Disagreement { agreeing, found: found.len() });
    }
    let parts = fits_without_parts(&model, &fit.parameters, found);
    let Some((parameters, spread)) =
        spread::middle_rig(&model, &kept, &fit, parts.iter().flatten().copied().collect::<Vec<_>>().as_slice())
    else {
        return error(EstimateError::Scatter);
    };
    let rig = StereoRig { spread: Some(spread), ..rig(&model, &parameters, baseline_m)? };
    let rectified = rectified(&rig, kept.iter())?;
    if rectified.len() < MIN_MATCHES {
        return error(EstimateError::Behind(model.focal_px(&parameters)));
    }
    let mut disparities: Vec<_> = rectified.iter().map(Match::disparity_px).collect();
    let [low, high] = [0.05, 0.95].map(|share| quantile(&mut disparities, share));
    if high - low < MIN_DISPARITY_RANGE * size.0 as f64 {
        return error(EstimateError::OneDepth(high - low));
    }
    let left_out = left_out(&model, &parts, found, baseline_m)?;
    let offsets = row_offset_of(found, size.0, size.1).zip(row_offset_of(&left_out, size.0, size.1));
    let Some((row_offset_before, row_offset_after)) = offsets else {
        return error(EstimateError::Scatter);
    };
    let [before, after] = [row_offset_before, row_offset_after].map(|offset| offset.median_abs_px);
    if after > before.max(MAX_ROWS_PX / 2.0) || after > MAX_ROWS_PX {
        return error(EstimateError::Rows { before, after });
    }
    Ok(Estimate { rig, row_offset_before, row_offset_after, matches: agreeing, left_out: found.len() - agreeing })
}

fn check_matches(pairs: &[(&Luma, &Luma)], found: &[Match]) -> Result<(), EstimateError> {
    let mut disparities: Vec<_> = found.iter().map(Match::disparity_px).collect();
    let few = found.len() < MIN_MATCHES.max(pairs.len() * 8);
    if !few && quantile(&mut disparities, 0.5) >= 0.0 {
        return Ok(());
    }
    let mirrored: usize = pairs.iter().map(|(left, right)| search(left, right, EXCHANGED).len()).sum();
    if mirrored >= MIN_MATCHES && mirrored > found.len() * 3 / 2 {
        return Err(EstimateError::Exchanged);
    }
    if !few {
        return Ok(());
    }
    let corners =
        pairs.iter().map(|(left, right)| corner_count(left).min(corner_count(right))).sum::<usize>() / pairs.len();
    let darkest = pairs.iter().flat_map(|&(left, right)| [left, right]).map(mean).fold(f64::INFINITY, f64::min);
    Err(match corners < MIN_CORNERS {
        true if darkest < MIN_MEAN => EstimateError::Dark(darkest),
        true => EstimateError::LittleTexture(corners),
        false => EstimateError::FewMatches { found: found.len(), pairs: pairs.len(), corners },
    })
}

fn mean(luma: &Luma) -> f64 {
    let image = luma.to_u8();
    let sum: u64 = image.pixels().iter().map(|&value| u64::from(value)).sum();
    sum as f64 / image.pixels().len().max(1) as f64
}

fn rig(model: &Model, parameters: &Parameters, baseline_m: f64) -> Result<StereoRig, CalibrationError> {
    let [left, right] = Model::rotations(parameters);
    let [left_camera, right_camera] = model.cameras(parameters)?;
    let rotation = right.transpose() * left;
    let translation_m = right.transpose() * DVec3::new(-baseline_m, 0.0, 0.0);
    let rig = StereoRig::new(left_camera, right_camera, rotation, translation_m, Some(model.size));
    Ok(StereoRig { estimated: true, ..rig })
}

/// Number of parts along each side of the image that are left out in turn.
const PARTS: usize = 3;

/// Returns the part of the image in which a match lies.
fn part(size: (usize, usize), found: &Match) -> usize {
    let size = DVec2::new(size.0 as f64, size.1 as f64);
    let at = (found.left * PARTS as f64 / size).floor().clamp(DVec2::ZERO, DVec2::splat(PARTS as f64 - 1.0));
    at.y as usize * PARTS + at.x as usize
}

/// Returns for each part of the image the parameters of a fit without its matches; none for parts without matches, or with too few others.
fn fits_without_parts(model: &Model, parameters: &Parameters, found: &[Match]) -> [Option<Parameters>; PARTS * PARTS] {
    std::array::from_fn(|number| {
        let others: Vec<Match> = found.iter().filter(|found| part(model.size, found) != number).copied().collect();
        (others.len() < found.len() && others.len() >= MIN_MATCHES)
            .then(|| fit::fit_from(model, &others, *parameters).parameters)
    })
}

/// Returns matches in rectified coordinates, each by the fit without its part of the image.
fn left_out(
    model: &Model,
    parts: &[Option<Parameters>; PARTS * PARTS],
    found: &[Match],
    baseline_m: f64,
) -> Result<Vec<Match>, CalibrationError> {
    let mut rectified_by_others = Vec::new();
    for (number, parameters) in parts.iter().enumerate() {
        let Some(parameters) = parameters else { continue };
        let of_part = found.iter().filter(|found| part(model.size, found) == number);
        rectified_by_others.extend(rectified(&rig(model, parameters, baseline_m)?, of_part)?);
    }
    Ok(rectified_by_others)
}

fn rectified<'a>(rig: &StereoRig, found: impl Iterator<Item = &'a Match>) -> Result<Vec<Match>, CalibrationError> {
    let (width, height) = rig.size.unwrap_or_default();
    let done = Rectification::compute(rig, width, height, 0.0)?;
    let both = found.filter_map(|found| {
        let left = done.left.pixel(done.rotation_left * rig.left.ray(found.left)?)?;
        let right = done.right.pixel(done.rotation_right * rig.right.ray(found.right)?)?;
        Some(Match { left, right, ..*found })
    });
    Ok(both.collect())
}

#[cfg(test)]
mod random_rigs;
#[cfg(test)]
mod tests;
