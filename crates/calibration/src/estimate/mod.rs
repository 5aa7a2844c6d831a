//! Estimates the rig of uncalibrated cameras from images alone: accurate enough to align rows, and marked as estimated.
//!
//! Points seen by both cameras in several pairs determine their relative rotation (`fit`), but not the baseline, and hardly the focal
//! length and the principal points. The user measures the baseline and gives the field of view; the principal points are assumed at the
//! centres. Depth is therefore off by a factor and an offset, which [`super::fit_depth`] corrects with two known distances.

mod error;
mod fit;

use super::health::{RowOffset, row_offset_of};
use super::matches::{EXCHANGED, Match, corner_count, matches, search};
use super::projection::Rectification;
use super::{CalibrationError, Camera, FocalLength, StereoRig};
pub(crate) use error::EstimateError;
use fit::{Fit, Model};
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

/// Largest row offset that does not suggest cameras one above the other, px.
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
    focal: FocalLength,
    baseline_m: f64,
    axis: Axis,
) -> Result<Estimate, CalibrationError> {
    match (axis, pairs.first()) {
        (_, None) => estimate_in_rows(pairs, focal, baseline_m),
        (Axis::Horizontal, Some(_)) => {
            let found = estimate_in_rows(pairs, focal, baseline_m);
            if found.as_ref().is_ok_and(|found| found.row_offset_after.median_abs_px < MAX_ROWS_PX) {
                return found;
            }
            match estimate_rig(pairs, focal, baseline_m, Axis::Vertical) {
                Ok(other) if other.row_offset_after.median_abs_px < MAX_ROWS_PX => {
                    Err(EstimateError::Vertical(other.matches).into())
                }
                _ => found,
            }
        }
        (Axis::Vertical, Some((first, _))) => {
            let focal = focal.along_columns(first.size());
            let turned = |luma: &Luma| luma.turned(QuarterTurn::Left);
            let turned: Vec<_> = pairs.iter().map(|(left, right)| (turned(left), turned(right))).collect();
            let pairs: Vec<_> = turned.iter().map(|(left, right)| (left, right)).collect();
            let found = estimate_in_rows(&pairs, focal, baseline_m)?;
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
/// better. `focal` is approximate; a field of view is that of the distorted lens, whose distortion follows from the matches.
/// `baseline_m` is measured.
///
/// # Errors
/// No pairs or of several sizes, too little texture, images without overlap, swapped cameras, only one depth, or
/// inconsistent matches.
fn estimate_in_rows(
    pairs: &[(&Luma, &Luma)],
    focal: FocalLength,
    baseline_m: f64,
) -> Result<Estimate, CalibrationError> {
    let error = |err: EstimateError| Err(err.into());
    let Some(size) = pairs.first().map(|(left, _)| left.size()) else {
        return error(EstimateError::NoPair);
    };
    if pairs.iter().any(|(left, right)| left.size() != size || right.size() != size) {
        return error(EstimateError::Sizes);
    }
    let focal_px = focal.px(size.0);
    if !(focal_px > 0.0 && baseline_m > 0.0 && focal_px.is_finite() && baseline_m.is_finite()) {
        return error(EstimateError::Lengths { focal_px, baseline_m });
    }
    let found: Vec<Match> = pairs.iter().flat_map(|(left, right)| matches(left, right)).collect();
    check_matches(pairs, &found)?;
    let (model, fit) = fitted(size, focal, &found);
    let focal_px = model.focal_px;
    let agreeing = fit.inliers.iter().filter(|&&inlier| inlier).count();
    if agreeing < MIN_MATCHES || agreeing * 2 < found.len() {
        return error(EstimateError::Disagreement { agreeing, found: found.len() });
    }
    let rig = rig(&model, &fit, baseline_m)?;
    let kept = found.iter().zip(&fit.inliers).filter_map(|(found, &inlier)| inlier.then_some(found));
    let rectified = rectified(&rig, kept)?;
    if rectified.len() < MIN_MATCHES {
        return error(EstimateError::Behind(focal_px));
    }
    let mut disparities: Vec<_> = rectified.iter().map(Match::disparity_px).collect();
    let [low, middle, high] = [0.05, 0.5, 0.95].map(|share| quantile(&mut disparities, share));
    if middle < -0.01 * size.0 as f64 && quantile(&mut disparities, 0.9) < 0.0 {
        return error(EstimateError::Negative(low));
    }
    if high - low < MIN_DISPARITY_RANGE * size.0 as f64 {
        return error(EstimateError::OneDepth(high - low));
    }
    let left_out = left_out(&model, &found, baseline_m)?;
    let offsets = row_offset_of(&found, size.0, size.1).zip(row_offset_of(&left_out, size.0, size.1));
    let Some((row_offset_before, row_offset_after)) = offsets else {
        return error(EstimateError::Scatter);
    };
    Ok(Estimate { rig, row_offset_before, row_offset_after, matches: agreeing, left_out: found.len() - agreeing })
}

/// Fits the lens and the pose that bring matches into rows.
fn fitted(size: (usize, usize), focal: FocalLength, found: &[Match]) -> (Model, Fit) {
    let mut model = Model::new(size, focal.px(size.0));
    let mut fit = fit::fit(&model, found);
    let FocalLength::FovDeg(fov_deg) = focal else { return (model, fit) };
    // distortion hardly depends on the focal length, so that each round comes closer
    for _ in 0..FOV_ROUNDS {
        let factor = model.slope_at_border(&fit.parameters) / (fov_deg.to_radians() / 2.0).tan();
        if !(0.5..2.0).contains(&factor) || (factor - 1.0).abs() < FOV_ACCURACY {
            break;
        }
        model.focal_px *= factor;
        fit = fit::fit(&model, found);
    }
    (model, fit)
}

/// Largest number of rounds to find the focal length for a field of view, and the change that ends them.
const FOV_ROUNDS: usize = 6;
const FOV_ACCURACY: f64 = 2e-3;

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

fn rig(model: &Model, fit: &Fit, baseline_m: f64) -> Result<StereoRig, CalibrationError> {
    let [left, right] = Model::rotations(&fit.parameters);
    let camera = Camera {
        fx: model.focal_px,
        fy: model.focal_px,
        cx: model.center.x,
        cy: model.center.y,
        skew: 0.0,
        distortion: model.distortion(&fit.parameters)?,
    };
    let right_camera = Camera { cy: model.right_center(&fit.parameters).y, ..camera };
    let rotation = right.transpose() * left;
    let translation_m = right.transpose() * DVec3::new(-baseline_m, 0.0, 0.0);
    let rig = StereoRig::new(camera, right_camera, rotation, translation_m, Some(model.size));
    Ok(StereoRig { estimated: true, ..rig })
}

/// Number of parts along each side of the image that are left out in turn.
const PARTS: f64 = 3.0;

/// Returns matches in rectified coordinates, each by a fit without the matches of its part of the image. Parts with too few other matches
/// for a fit are left out.
fn left_out(model: &Model, found: &[Match], baseline_m: f64) -> Result<Vec<Match>, CalibrationError> {
    let size = DVec2::new(model.size.0 as f64, model.size.1 as f64);
    let part = |found: &Match| (found.left * PARTS / size).floor().clamp(DVec2::ZERO, DVec2::splat(PARTS - 1.0));
    let mut rectified_by_others = Vec::new();
    for number in 0..(PARTS * PARTS) as u32 {
        let of_number = DVec2::new(f64::from(number) % PARTS, (f64::from(number) / PARTS).floor());
        let (of_part, others): (Vec<Match>, Vec<Match>) = found.iter().partition(|found| part(found) == of_number);
        if !of_part.is_empty() && others.len() >= MIN_MATCHES {
            let rig = rig(model, &fit::fit(model, &others), baseline_m)?;
            rectified_by_others.extend(rectified(&rig, of_part.iter())?);
        }
    }
    Ok(rectified_by_others)
}

fn rectified<'a>(rig: &StereoRig, found: impl Iterator<Item = &'a Match>) -> Result<Vec<Match>, CalibrationError> {
    let (width, height) = rig.size.unwrap_or_default();
    let done = Rectification::compute(rig, width, height, 0.0)?;
    let place = |camera: &Camera, rotation: DMat3, at: DVec2| done.left.pixel(rotation * camera.ray(at)?);
    let both = found.filter_map(|found| {
        let left = place(&rig.left, done.rotation_left, found.left)?;
        let right = place(&rig.right, done.rotation_right, found.right)?;
        Some(Match { left, right, ..*found })
    });
    Ok(both.collect())
}

#[cfg(test)]
mod tests;
