//! Names of lens models.

use super::FileError;
use super::names::{is_one_of, plain};
use crate::Distortion;

const PINHOLE: &str = "pinhole plumbbob radtan radialtangential rationalpolynomial rational brownconrady thinprism tiltedsensor opencv \
                       none perspective";
const FISHEYE: &str = "fisheye equidistant kannalabrandt kannalabrandt4 kannalabrandt8 kb4 kb8 opencvfisheye";

/// Returns the lens model of this name with these coefficients; `name` is the name of the coefficients.
///
/// # Errors
/// The named model is not supported, or the number of coefficients is wrong.
pub(super) fn lens(model: &str, name: &str, coefficients: &[f64]) -> Result<Distortion, FileError> {
    if is_fisheye(model) {
        return Ok(Distortion::from_fisheye(name, coefficients)?);
    }
    let plain = plain(model);
    if !plain.is_empty() && !is_one_of(&plain, PINHOLE) {
        return Err(FileError::LensModel(model.to_owned()));
    }
    Ok(if plain == "none" { Distortion::default() } else { Distortion::from_opencv(name, coefficients)? })
}

pub(super) fn is_fisheye(word: &str) -> bool {
    is_one_of(&plain(word), FISHEYE)
}
