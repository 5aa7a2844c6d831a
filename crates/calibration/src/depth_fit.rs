//! Metric depth corrected by points at known distances.
//!
//! The inverse of depth is linear in disparity, `1 / z = (d + doffs) / (f T)`, with two unknowns: a wrong field of view or baseline changes
//! the slope; converging cameras or optical axes off the image centre change the offset, by 10 px for each degree at a focal length of
//! 570 px. One known distance determines the offset, if lens and baseline are trusted; two or more determine both. Where the images leave
//! open how large both errors are (`Geometry::spread`), each known distance narrows that.

use stereopsis_base::geometry::{DepthSpread, Geometry, KnownParallax};

/// Reason why depth cannot be fitted.
#[derive(Debug, thiserror::Error)]
pub enum DepthFitError {
    /// A distance is not above 0.
    #[error("depth cannot be corrected: a distance is {0} m; it must be above 0")]
    Distance(f64),
    /// One distance, and neither lens nor baseline.
    #[error(
        "depth cannot be corrected by one distance: it gives the offset of the disparities, and neither the lens nor the baseline is \
         known; give a second distance, or the lens and the baseline"
    )]
    OneOfTwo,
    /// The disparities are nearly equal.
    #[error(
        "depth cannot be corrected: the nearest and the farthest point have nearly the same disparity ({:.1} and {:.1} px); choose one \
         much nearer to the cameras",
        .0[0], .0[1]
    )]
    SameDisparity([f64; 2]),
    /// The nearest point has the smaller disparity.
    #[error(
        "depth cannot be corrected: the nearest point has a smaller disparity than the farthest ({:.1} against {:.1} px), so the \
         distances are exchanged, one point was matched wrongly, or left and right are swapped; choose points with a clear texture",
        .0[0], .0[1]
    )]
    SmallerDisparity([f64; 2]),
    /// The focal length would be implausible.
    #[error(
        "depth cannot be corrected: the focal length would become {px:.0} px instead of {was_px:.0} px; check that the \
         distances are in metres, from the cameras, and that the baseline is {baseline_m:.3} m"
    )]
    Focal {
        /// Fitted focal length, px.
        px: f64,
        /// Focal length before, px.
        was_px: f64,
        /// Baseline, m.
        baseline_m: f64,
    },
    /// A distance contradicts the images, or the other distances.
    #[error(
        "depth cannot be corrected: a point given at {depth_m} m is at {others_m:.2} m by the images and the other distances; measure it \
         again from the cameras, and check that the baseline is {baseline_m:.3} m: two distances correct it too"
    )]
    Contradiction {
        /// Given distance, m.
        depth_m: f64,
        /// Distance by the images and the other distances, m; infinite at and behind infinity.
        others_m: f64,
        /// Baseline, m.
        baseline_m: f64,
    },
    /// The lens that the user has given has another field of view.
    #[error(
        "these distances imply a field of view of the lens of {implied_deg:.0}°; you said {said_deg:.0}°: measure the distances again, \
         and check that the baseline is {baseline_m:.3} m"
    )]
    Lens {
        /// Field of view of the fit, degrees.
        implied_deg: f64,
        /// Field of view that the user has given, degrees.
        said_deg: f64,
        /// Baseline, m.
        baseline_m: f64,
    },
    /// A place of a known distance lies outside the image.
    #[error("a known distance is given at {x},{y}, outside the image of {}x{} px, the rectified left one at its working size", .size.0, .size.1)]
    Outside {
        /// Column, px.
        x: usize,
        /// Row, px.
        y: usize,
        /// Width and height of the image, px.
        size: (usize, usize),
    },
    /// There is no disparity at a place of a known distance.
    #[error("a known distance is given at {x},{y}, where no disparity is found: choose a place with a clear texture")]
    NoDisparity {
        /// Column, px.
        x: usize,
        /// Row, px.
        y: usize,
    },
}

/// Point at a known distance.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct KnownDepth {
    /// Measured disparity, px.
    pub disparity_px: f64,
    /// True distance from the camera plane, m.
    pub depth_m: f64,
}

/// Smallest usable difference of the disparities of two points, px; each is uncertain by a fraction of a pixel.
const MIN_DIFFERENCE_PX: f64 = 2.0;
/// Largest plausible factor between the guessed and the fitted focal length.
const MAX_FOCAL_FACTOR: f64 = 4.0;
/// Standard deviation of distances by a ruler, as a share of them.
const DISTANCE_DEVIATION: f64 = 0.01;
/// Standard deviation of the disparity at a place, px.
const DISPARITY_DEVIATION_PX: f64 = 0.25;
/// Standard deviation of the slope where the scale is free, as a share.
const SCALE_DEVIATION: f64 = 0.5;
/// Largest difference between a known distance and the fitted one, as a share.
const MAX_CONTRADICTION: f64 = 0.2;
/// Largest difference of a known distance from an estimate, in standard deviations of the estimate.
const MAX_SURPRISE: f64 = 4.0;

/// Returns the geometry whose depth fits the known points: of one, the offset changes (`doffs_px`), of more the focal length too. An
/// estimate's spread is narrowed. The baseline, which a ruler measures, the image centre and `estimated` stay. `known` has a point.
///
/// # Errors
/// A distance is not above 0, the disparities of the nearest and the farthest point are nearly equal or of the wrong order, the focal
/// length is implausible compared with the first guess, or a distance contradicts the images or the others.
pub fn fit_depth(geometry: &Geometry, known: &[KnownDepth]) -> Result<Geometry, DepthFitError> {
    let is_wrong = |known: &&KnownDepth| !(known.depth_m > 0.0 && known.depth_m.is_finite());
    if let Some(wrong) = known.iter().find(is_wrong) {
        return Err(DepthFitError::Distance(wrong.depth_m));
    }
    let by_depth = |a: &&KnownDepth, b: &&KnownDepth| a.depth_m.total_cmp(&b.depth_m);
    let (nearest, farthest) = (known.iter().min_by(by_depth), known.iter().max_by(by_depth));
    if let Some((near, far)) = nearest.zip(farthest).filter(|_| known.len() > 1) {
        let disparities_px = [near.disparity_px, far.disparity_px];
        if (near.disparity_px - far.disparity_px).abs() < MIN_DIFFERENCE_PX || near.depth_m >= far.depth_m {
            return Err(DepthFitError::SameDisparity(disparities_px));
        }
        if near.disparity_px < far.disparity_px {
            return Err(DepthFitError::SmallerDisparity(disparities_px));
        }
    }
    let fitted = match geometry.spread {
        Some(spread) => narrowed(geometry, spread, known)?,
        None => geometry.corrected(line(geometry, known)),
    };
    let change = fitted.focal_px / geometry.focal_px;
    if !(1.0 / MAX_FOCAL_FACTOR..=MAX_FOCAL_FACTOR).contains(&change) {
        let (px, was_px, baseline_m) = (fitted.focal_px, geometry.focal_px, geometry.baseline_m);
        return Err(DepthFitError::Focal { px, was_px, baseline_m });
    }
    let is_off = |known: &&KnownDepth| {
        fitted.depth_m(known.disparity_px).is_none_or(|z| (z / known.depth_m - 1.0).abs() > MAX_CONTRADICTION)
    };
    if let Some(wrong) = known.iter().find(is_off) {
        return Err(contradiction(&fitted, wrong));
    }
    Ok(Geometry { uncertainty: None, ..fitted })
}

/// Returns offset and slope of the parallax by least squares of the known points' inverse depths; of one point only the offset.
fn line(geometry: &Geometry, known: &[KnownDepth]) -> [f64; 2] {
    let points = known.iter().map(|known| {
        let measured = geometry.parallax(known.disparity_px);
        (measured, geometry.baseline_m / known.depth_m - measured)
    });
    let count = known.len() as f64;
    let (sum, errors) = points.clone().fold((0.0, 0.0), |(sum, errors), (p, error)| (sum + p, errors + error));
    let (middle, offset) = (sum / count, errors / count);
    let (with, square) = points
        .fold((0.0, 0.0), |(with, square), (p, error)| (with + (p - middle) * error, square + (p - middle).powi(2)));
    let slope = if known.len() > 1 { with / square } else { 0.0 };
    [offset - slope * middle, slope]
}

/// Returns the middle of the rigs that the images and the known points allow.
fn narrowed(geometry: &Geometry, mut spread: DepthSpread, known: &[KnownDepth]) -> Result<Geometry, DepthFitError> {
    if known.len() > 1 {
        spread = spread.widened([0.0, SCALE_DEVIATION.powi(2)], 0.0);
    }
    for point in known {
        let truth = geometry.baseline_m / point.depth_m;
        let deviation = (DISTANCE_DEVIATION * truth).hypot(DISPARITY_DEVIATION_PX / geometry.focal_px);
        let known = KnownParallax { measured: geometry.parallax(point.disparity_px), truth, deviation };
        if spread.surprise(known) > MAX_SURPRISE {
            return Err(contradiction(geometry, point));
        }
        spread = spread.knowing(known);
    }
    Ok(Geometry { spread: Some(spread), ..*geometry }.corrected(spread.centre()))
}

fn contradiction(geometry: &Geometry, known: &KnownDepth) -> DepthFitError {
    let others_m = geometry.depth_m(known.disparity_px).unwrap_or(f64::INFINITY);
    DepthFitError::Contradiction { depth_m: known.depth_m, others_m, baseline_m: geometry.baseline_m }
}

#[cfg(test)]
mod tests {
    use super::*;

    const GUESS: Geometry = Geometry { estimated: true, ..Geometry::new(640.0, 0.06, 0.0, [319.5, 239.5]) };

    fn known(disparity_px: f64, depth_m: f64) -> KnownDepth {
        KnownDepth { disparity_px, depth_m }
    }

    #[test]
    fn depth_is_right_at_both_points_between_and_beyond() {
        let truth = Geometry { focal_px: 520.0, doffs_px: 14.5, ..GUESS };
        let at = |depth_m| known(truth.disparity_px(depth_m), depth_m);
        for points in [vec![at(0.6), at(3.0)], vec![at(3.0), at(0.6)], vec![at(0.6), at(1.4), at(3.0)]] {
            let fitted = fit_depth(&GUESS, &points).unwrap();
            let found = [fitted.focal_px - 520.0, fitted.doffs_px - 14.5];
            assert!(fitted.estimated && found.iter().all(|error| error.abs() < 1e-9), "{fitted:?}");
            for depth_m in [0.3, 0.6, 1.1, 3.0, 7.0] {
                let found = fitted.depth_m(truth.disparity_px(depth_m)).unwrap();
                assert!((found - depth_m).abs() < 1e-9, "{depth_m} m came out as {found} m");
            }
        }
    }

    #[test]
    fn one_point_corrects_the_offset_alone() {
        let truth = Geometry { doffs_px: 14.5, ..GUESS };
        let fitted = fit_depth(&GUESS, &[known(truth.disparity_px(1.5), 1.5)]).unwrap();
        assert!((fitted.doffs_px - 14.5).abs() < 1e-9 && (fitted.focal_px - 640.0).abs() < 1e-9, "{fitted:?}");
    }

    #[test]
    fn known_points_narrow_the_interval_of_an_estimate() {
        let spread = DepthSpread {
            mean: [0.0; 2],
            deviation: [0.02, 0.1],
            correlation: -0.3,
            rest: 5e-4,
            farthest: 0.015,
            middle: 0.05,
        };
        let estimate = Geometry { spread: Some(spread), ..GUESS };
        let truth = Geometry { focal_px: 600.0, doffs_px: 5.0, ..GUESS };
        let at = |depth_m| known(truth.disparity_px(depth_m), depth_m);
        let widths = [vec![], vec![at(1.0)], vec![at(1.0), at(3.0)], vec![at(0.4), at(1.0), at(3.0)]].map(|points| {
            let fitted = if points.is_empty() { estimate } else { fit_depth(&estimate, &points).unwrap() };
            let middle_px = truth.disparity_px(2.0);
            let [near_m, far_m] = fitted.depth_interval_m(middle_px).unwrap();
            assert!((near_m..far_m).contains(&2.0), "{near_m} to {far_m}");
            1.0 / near_m - 1.0 / far_m
        });
        assert!(
            widths[1] < 0.5 * widths[0] && widths[2] < 0.5 * widths[1] && widths[3] < 1.01 * widths[2],
            "{widths:?}"
        );
        // a baseline of half the length: one distance contradicts the images, two correct it
        let wrong = Geometry { baseline_m: 0.02, ..estimate };
        let refused = fit_depth(&wrong, &[at(0.4)]).unwrap_err().to_string();
        assert!(refused.contains("two distances correct it too"), "{refused}");
        let fitted = fit_depth(&wrong, &[at(0.4), at(2.0)]).unwrap();
        let found_m = fitted.depth_m(truth.disparity_px(1.0)).unwrap();
        assert!((found_m - 1.0).abs() < 0.05, "{found_m}");
    }

    #[test]
    fn refuses_impossible_points_with_advice() {
        for (points, words) in [
            ([known(20.0, 1.0), known(19.5, 2.0)], "nearly the same disparity"),
            ([known(40.0, 1.0), known(20.0, 1.0)], "nearly the same disparity"),
            ([known(40.0, 2.0), known(20.0, 1.0)], "smaller disparity"),
            ([known(20.0, 0.0), known(10.0, 2.0)], "must be above 0"),
            ([known(20.0, f64::NAN), known(10.0, 2.0)], "must be above 0"),
            ([known(40.0, 100.0), known(20.0, 200.0)], "in metres"),
        ] {
            let text = fit_depth(&GUESS, &points).unwrap_err().to_string();
            assert!(text.contains(words), "{text}");
        }
    }
}
