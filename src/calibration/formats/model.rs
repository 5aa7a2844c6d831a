//! Names of lens models.

use crate::calibration::{CalibrationError, Distortion};
use crate::console::foreign;

const PINHOLE: &[&str] = &[
    "pinhole",
    "plumbbob",
    "radtan",
    "radialtangential",
    "rationalpolynomial",
    "rational",
    "brownconrady",
    "thinprism",
    "opencv",
    "none",
    "perspective",
    "",
];
const FISHEYE: &[&str] =
    &["fisheye", "equidistant", "kannalabrandt", "kannalabrandt4", "kannalabrandt8", "kb4", "kb8", "opencvfisheye"];

/// The lens model of this name with these coefficients; `name` is the name of the coefficients.
///
/// # Errors
/// The named model is not supported, or the number of coefficients is wrong.
pub(super) fn lens(model: &str, name: &str, coefficients: &[f64]) -> Result<Distortion, CalibrationError> {
    let plain: String = model.chars().filter(char::is_ascii_alphanumeric).collect::<String>().to_lowercase();
    if FISHEYE.contains(&plain.as_str()) {
        Distortion::from_fisheye(name, coefficients)
    } else if plain == "none" || coefficients.is_empty() {
        known(model, &plain).map(|()| Distortion::default())
    } else {
        known(model, &plain).and_then(|()| Distortion::from_opencv(name, coefficients))
    }
}

fn known(model: &str, plain: &str) -> Result<(), CalibrationError> {
    if PINHOLE.contains(&plain) {
        return Ok(());
    }
    Err(CalibrationError(format!(
        "the lens model {} is not supported; calibrate again with plumb_bob (radtan), rational_polynomial or fisheye \
         (equidistant)",
        foreign(model)
    )))
}

/// Whether a word is the name of a lens model, supported or not.
pub(super) fn is_fisheye(word: &str) -> bool {
    let plain: String = word.chars().filter(char::is_ascii_alphanumeric).collect::<String>().to_lowercase();
    FISHEYE.contains(&plain.as_str())
}
