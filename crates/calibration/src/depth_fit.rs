//! Metric depth of an estimated rig, fitted to two points at measured distances.
//!
//! The inverse of depth is linear in disparity, `1 / z = (d + doffs) / (f T)`, with two unknowns: a wrong field of view changes the slope;
//! converging cameras or optical axes off the image centre change the offset, by 10 px for each degree at a focal length of 570 px. One
//! known distance determines only one of them, so two are needed.

use stereopsis_base::geometry::Geometry;

/// Reason why depth cannot be fitted.
#[derive(Debug, thiserror::Error)]
pub enum DepthFitError {
    /// A distance is not above 0.
    #[error("depth cannot be corrected: the distances are {} and {} m; both must be above 0", .0[0], .0[1])]
    Distances([f64; 2]),
    /// The near point is not the nearer one.
    #[error(
        "depth cannot be corrected: the near point is given as {} m and the far one as {} m; take the nearer one first",
        .0[0], .0[1]
    )]
    Order([f64; 2]),
    /// The disparities are nearly equal.
    #[error(
        "depth cannot be corrected: both points have nearly the same disparity ({:.1} and {:.1} px); choose one \
         much nearer to the cameras",
        .0[0], .0[1]
    )]
    SameDisparity([f64; 2]),
    /// The near point has the smaller disparity.
    #[error(
        "depth cannot be corrected: the nearer point has the smaller disparity ({:.1} against {:.1} px), so one of them \
         was matched wrongly, or left and right are swapped; choose points with a clear texture",
        .0[0], .0[1]
    )]
    SmallerDisparity([f64; 2]),
    /// The focal length would be implausible.
    #[error(
        "depth cannot be corrected: the focal length would become {px:.0} px instead of {was_px:.0} px; check that the \
         distances are in metres, from the cameras, and that the baseline is {baseline_m} m"
    )]
    Focal { px: f64, was_px: f64, baseline_m: f64 },
}

/// Point at a known distance.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct KnownDepth {
    /// Measured disparity, px.
    pub disparity_px: f64,
    /// True distance from the camera plane, m.
    pub depth_m: f64,
}

/// Smallest usable difference of the two disparities, px; each is uncertain by a fraction of a pixel.
const MIN_DIFFERENCE_PX: f64 = 2.0;
/// Largest plausible factor between the guessed and the fitted focal length.
const MAX_FOCAL_FACTOR: f64 = 4.0;

/// Returns the geometry with right depth at both points: focal length and `doffs_px` change. The baseline, which a ruler measures, the
/// image centre and `estimated` stay.
///
/// # Errors
/// A distance is not above 0, the disparities are nearly equal, the far point is nearer or has the larger disparity, or the focal length
/// is implausible compared with the first guess.
pub fn fit_depth(geometry: &Geometry, near: KnownDepth, far: KnownDepth) -> Result<Geometry, DepthFitError> {
    let numbers = [near.disparity_px, near.depth_m, far.disparity_px, far.depth_m];
    if numbers.iter().any(|v| !v.is_finite()) || near.depth_m <= 0.0 || far.depth_m <= 0.0 {
        return Err(DepthFitError::Distances([near.depth_m, far.depth_m]));
    }
    if near.depth_m >= far.depth_m {
        return Err(DepthFitError::Order([near.depth_m, far.depth_m]));
    }
    let rise_px = near.disparity_px - far.disparity_px;
    if rise_px.abs() < MIN_DIFFERENCE_PX {
        return Err(DepthFitError::SameDisparity([near.disparity_px, far.disparity_px]));
    }
    if rise_px < 0.0 {
        return Err(DepthFitError::SmallerDisparity([near.disparity_px, far.disparity_px]));
    }
    let product = rise_px / (1.0 / near.depth_m - 1.0 / far.depth_m);
    let focal_px = product / geometry.baseline_m;
    let change = focal_px / geometry.focal_px;
    if !(1.0 / MAX_FOCAL_FACTOR..=MAX_FOCAL_FACTOR).contains(&change) {
        return Err(DepthFitError::Focal { px: focal_px, was_px: geometry.focal_px, baseline_m: geometry.baseline_m });
    }
    let doffs_px = product / far.depth_m - far.disparity_px;
    Ok(Geometry { focal_px, doffs_px, uncertainty: None, spread: None, ..*geometry })
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
        let fitted = fit_depth(&GUESS, at(0.6), at(3.0)).unwrap();
        assert!(fitted.estimated && (fitted.focal_px - 520.0).abs() < 1e-9 && (fitted.doffs_px - 14.5).abs() < 1e-9);
        for depth_m in [0.3, 0.6, 1.1, 3.0, 7.0] {
            let found = fitted.depth_m(truth.disparity_px(depth_m)).unwrap();
            assert!((found - depth_m).abs() < 1e-9, "{depth_m} m came out as {found} m");
        }
    }

    #[test]
    fn refuses_impossible_points_with_advice() {
        for (near, far, words) in [
            (known(20.0, 1.0), known(19.5, 2.0), "nearly the same disparity"),
            (known(40.0, 2.0), known(20.0, 1.0), "take the nearer one first"),
            (known(20.0, 1.0), known(40.0, 2.0), "smaller disparity"),
            (known(20.0, 0.0), known(10.0, 2.0), "must be above 0"),
            (known(f64::NAN, 1.0), known(10.0, 2.0), "must be above 0"),
            (known(40.0, 100.0), known(20.0, 200.0), "in metres"),
        ] {
            let text = fit_depth(&GUESS, near, far).unwrap_err().to_string();
            assert!(text.contains(words), "{text}");
        }
    }
}
