//! Middlebury's calib.txt: a rectified pair. The baseline is in millimetres.

use super::matrix::Matrix;
use super::tree::{check_key, number};
use super::{Kind, draft::Draft};
use crate::{CalibrationError, LengthUnit, Projection, StereoRig};
use stereopsis_base::console::foreign;

pub(super) fn recognizes(text: &str) -> bool {
    text.lines().any(|line| line.split_once('=').is_some_and(|(key, _)| key.trim() == "cam0"))
}

/// Reads `cam0`, `cam1`, `doffs`, `baseline`, `width` and `height`.
pub(super) fn read(text: &str) -> Result<Draft, CalibrationError> {
    let mut lines: Vec<(&str, &str)> = Vec::new();
    for (n, line) in text.lines().enumerate() {
        if line.trim().is_empty() {
            continue;
        }
        let error = |text: String| Err(CalibrationError(format!("line {}: {text}", n + 1)));
        let Some((key, value)) = line.split_once('=') else {
            return error("is no key=value; take a copy that is whole".to_owned());
        };
        let key = key.trim();
        if let Err(why) = check_key(&lines, key) {
            return error(why);
        }
        lines.push((key, value.trim()));
    }
    let find = |key: &str| lines.iter().find(|(name, _)| *name == key).map(|(_, value)| *value);
    let need =
        |key: &str| find(key).ok_or_else(|| CalibrationError(format!("{key} is missing; take a copy that is whole")));
    let numbers = |key: &str| -> Result<f64, CalibrationError> {
        let text = need(key)?;
        let value = number(text).filter(|value| value.is_finite());
        value.ok_or_else(|| {
            CalibrationError(format!("{key} is '{}', no number; take a copy that is whole", foreign(text)))
        })
    };
    let size = |key: &str| {
        let value = numbers(key)?;
        if (2.0..=65_536.0).contains(&value) {
            return Ok(value as usize);
        }
        Err(CalibrationError(format!("{key} is {value}, no size of an image")))
    };
    let (left, right) = (camera("cam0", need("cam0")?)?, camera("cam1", need("cam1")?)?);
    let (doffs, between) = (numbers("doffs")?, right.cx - left.cx);
    if (doffs - between).abs() > 0.01 + 1e-3 * doffs.abs() {
        return Err(CalibrationError(format!(
            "doffs is {doffs}, but the principal points of cam0 and cam1 are {between} px apart: they are of two scenes or two \
             sizes; take a copy of the original"
        )));
    }
    let size = (size("width")?, size("height")?);
    let rig = StereoRig::of_pinholes([left, right], numbers("baseline")?, Some(size));
    Ok(Draft { rig: StereoRig { kind: Kind::Middlebury, ..rig }, unit: Some(LengthUnit::Millimetre) })
}

/// Parses `[f 0 cx; 0 f cy; 0 0 1]`.
fn camera(name: &str, text: &str) -> Result<Projection, CalibrationError> {
    let inside = text.strip_prefix('[').and_then(|text| text.strip_suffix(']'));
    let words = inside.unwrap_or_default().split([' ', '\t', ';', ',']).filter(|word| !word.is_empty());
    let data: Option<Vec<f64>> = words.map(number).collect();
    let data = data.ok_or_else(|| {
        CalibrationError(format!("{name} is '{}', no matrix; take a copy that is whole", foreign(text)))
    })?;
    Matrix { name: name.to_owned(), shape: None, data }.pinhole()
}
