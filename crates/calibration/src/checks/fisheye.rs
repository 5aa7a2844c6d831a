//! Check of four coefficients without the name of their lens model: `k1 k2 p1 p2` of a pinhole, or `k1 k2 k3 k4` of a fisheye.

use crate::{Camera, Distortion};
use glam::DVec2;

/// Largest tangential coefficient of ordinary lenses, with a wide margin.
const MAX_TANGENTIAL: f64 = 0.01;
/// Field of view along a row, degrees, above which hardly any lens keeps straight lines straight.
const MAX_STRAIGHT_DEG: f64 = 100.0;
/// Angle to the axis, degrees, beyond which a fisheye's model may fold: its round image ends there.
const ROUND_DEG: f64 = 80.0;
/// Smallest k1 of a pinhole that bends straight lines visibly.
const MIN_BENDING: f64 = 0.1;

/// Returns a doubt if the four coefficients of a camera, read as a pinhole's, look like those of a fisheye. `name` is the name of the
/// coefficients.
pub fn doubt(name: &str, camera: &Camera, size: Option<(usize, usize)>) -> Option<String> {
    let Distortion::BrownConrady(lens) = camera.distortion else { return None };
    let ([k1, k2, ..], [p1, p2]) = (lens.radial, lens.tangential);
    let four = [k1, k2, p1, p2];
    let as_fisheye = Camera { distortion: Distortion::from_fisheye(name, &four).ok()?, ..*camera };
    let folds = as_fisheye.edge_fold(size).is_some_and(|(_, fold_deg)| fold_deg < ROUND_DEG);
    if four.iter().all(|v| *v == 0.0) || folds {
        return None;
    }
    let reason = if camera.edge_fold(size).is_some() {
        "as k1 k2 p1 p2 of a pinhole they fold inside the image, as k1 k2 k3 k4 of a fisheye they do not".to_owned()
    } else if p1.abs().max(p2.abs()) > MAX_TANGENTIAL {
        format!("as p1 and p2 of a pinhole {p1:?} and {p2:?} are of no ordinary lens")
    } else {
        let width_px = size.map_or(2.0 * camera.cx + 1.0, |(width, _)| width as f64);
        let ends = [0.0, width_px - 1.0].map(|x| camera.direction(DVec2::new(x, camera.cy)));
        let [Some(left), Some(right)] = ends else { return None };
        let seen_deg = left.angle_between(right).to_degrees();
        if seen_deg < MAX_STRAIGHT_DEG || k1.abs() > MIN_BENDING {
            return None;
        }
        format!(
            "as a pinhole the camera sees {seen_deg:.0} degrees along a row and hardly bends lines, as few lenses do"
        )
    };
    Some(format!(
        "the four numbers of {name} look like a fisheye's: {reason}; where the lens was calibrated as one (cv2.fisheye, \
         equidistant), write distortion_model: fisheye into the file"
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn doubted(focal_px: f64, four: [f64; 4]) -> Option<String> {
        let distortion = Distortion::from_opencv("D1", &four).unwrap();
        let camera = Camera { fx: focal_px, fy: focal_px, cx: 319.5, cy: 239.5, skew: 0.0, distortion };
        doubt("D1", &camera, Some((640, 480)))
    }

    #[test]
    fn numbers_of_fisheyes_are_doubted() {
        for (focal_px, four, words) in [
            (239.0, [0.0035, 0.0007, -0.0021, 0.0002], "sees 106 degrees"),
            (280.0, [-0.1, 0.05, -0.03, 0.006], "-0.03 and 0.006 are of no ordinary lens"),
            (200.0, [-0.03, 0.02, 0.17, -0.01], "fold inside the image"),
            (200.0, [-0.0073, 0.0418, -0.0396, 0.0063], "-0.0396 and 0.0063 are of no ordinary lens"),
        ] {
            let text = doubted(focal_px, four).unwrap_or_else(|| panic!("{four:?}"));
            assert!(text.contains(words) && text.contains("write distortion_model: fisheye"), "{four:?}: {text}");
        }
    }

    #[test]
    fn numbers_of_pinholes_are_not() {
        for (focal_px, four) in [
            (390.0, [-0.283, 0.074, 0.0002, 0.00002]),
            (500.0, [0.0; 4]),
            (239.0, [0.0; 4]),
            (280.0, [-0.28, 0.07, 0.001, -0.0007]),
            (500.0, [-1.5, 0.0, 0.0, 0.0]), // folds either way
        ] {
            assert_eq!(doubted(focal_px, four), None, "{four:?}");
        }
        let fisheye = Distortion::from_fisheye("D1", &[-0.1, 0.05, -0.03, 0.006]).unwrap();
        let camera = Camera { fx: 280.0, fy: 280.0, cx: 319.5, cy: 239.5, skew: 0.0, distortion: fisheye };
        assert_eq!(doubt("D1", &camera, None), None, "it is one already");
    }
}
