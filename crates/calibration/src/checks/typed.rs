//! Doubts about a lens and a baseline that the user has typed: another unit was meant, as with the numbers of files.

use crate::FocalLength;
use crate::length_unit::{number, typed_baseline_doubt};
use stereopsis_base::remedy::{Remedy, option};

/// Widest horizontal field of view of images in which straight lines are straight, degrees, with a wide margin.
const WIDEST_DEG: f64 = 140.0;
/// Narrowest horizontal field of view of nearly all rigs, degrees.
const NARROWEST_DEG: f64 = 3.0;

/// Returns doubts about a typed lens, for images `width` px wide, and a typed baseline, each with advice.
pub fn doubts_of_typed(focal: Option<FocalLength>, baseline_m: Option<f64>, width: usize) -> Vec<String> {
    let lens = focal.and_then(|focal| lens_doubt(focal, width));
    lens.into_iter().chain(baseline_m.and_then(typed_baseline_doubt)).collect()
}

fn lens_doubt(focal: FocalLength, width: usize) -> Option<String> {
    let seen_deg = focal.fov_deg(width);
    if (NARROWEST_DEG..=WIDEST_DEG).contains(&seen_deg) {
        return None;
    }
    let is_wide = seen_deg > WIDEST_DEG;
    // few degrees are shown with more digits
    let seen = if is_wide { format!("{seen_deg:.0}") } else { number(seen_deg) };
    Some(match focal {
        FocalLength::Px(px) if is_wide => format!(
            "a focal length of {} px is a field of view of {seen} degrees: is it {} mm? give {} with {}, or {}",
            number(px),
            number(px),
            Remedy::set("focal-mm", number(px)),
            option("sensor-width-mm"),
            option("fov-deg")
        ),
        FocalLength::Px(px) => format!(
            "a focal length of {} px is a field of view of {seen} degrees: is it of larger images? {} is for images {width} px wide",
            number(px),
            option("focal-px")
        ),
        FocalLength::FovDeg(_) if is_wide => format!(
            "a field of view of {seen} degrees is that of a fisheye, whose images are not as those of a pinhole: calibrate it, and give \
             {}",
            option("calibration")
        ),
        FocalLength::FovDeg(deg) => format!(
            "a field of view of {seen} degrees is that of a telescope: {} if it is in radians",
            Remedy::set("fov-deg", number(deg.to_degrees()))
        ),
        FocalLength::Lens { focal_mm, sensor_width_mm } => format!(
            "a lens of {} mm before a sensor {} mm wide is a field of view of {seen} degrees: both are in mm, and {} is that of the whole \
             image, the number of columns times the width of a pixel",
            number(focal_mm),
            number(sensor_width_mm),
            option("sensor-width-mm")
        ),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn usual_lenses_and_baselines_are_not_doubted() {
        for focal in [
            FocalLength::Px(250.0),
            FocalLength::FovDeg(120.0),
            FocalLength::FovDeg(5.0),
            FocalLength::Lens { focal_mm: 4.0, sensor_width_mm: 4.8 },
        ] {
            assert_eq!(doubts_of_typed(Some(focal), Some(0.06), 320), [""; 0], "{focal:?}");
        }
    }

    #[test]
    fn numbers_in_other_units_are_doubted_with_the_cure() {
        let lens = |focal_mm, sensor_width_mm| Some(FocalLength::Lens { focal_mm, sensor_width_mm });
        for (focal, baseline_m, words) in [
            (
                Some(FocalLength::Px(4.0)),
                None,
                "4 px is a field of view of 177 degrees: is it 4 mm? give focal-mm 4 with",
            ),
            (
                Some(FocalLength::Px(8000.0)),
                None,
                "8000 px is a field of view of 2.29 degrees: is it of larger images?",
            ),
            (Some(FocalLength::FovDeg(160.0)), None, "160 degrees is that of a fisheye"),
            (Some(FocalLength::FovDeg(1.2)), None, "1.2 degrees is that of a telescope: fov-deg 68.8 if"),
            (lens(4.0, 0.003), None, "4 mm before a sensor 0.003 mm wide is a field of view of 0.043 degrees"),
            (
                None,
                Some(60.0),
                "a baseline of 60 m is larger than that of nearly all rigs: baseline-m 0.06 if it is 60 mm",
            ),
            (
                None,
                Some(6.0),
                "a baseline of 6 m is larger than that of nearly all rigs: baseline-m 0.06 if it is 6 cm",
            ),
            (
                None,
                Some(0.00006),
                "a baseline of 0.06 mm is smaller than that of nearly all rigs: baseline-m 0.06 if metres were",
            ),
            (
                None,
                Some(0.004),
                "a baseline of 4 mm is smaller than that of nearly all rigs: measure between the lenses",
            ),
        ] {
            let doubts = doubts_of_typed(focal, baseline_m, 320);
            assert!(doubts.len() == 1 && doubts[0].contains(words), "{doubts:?}");
        }
    }
}
