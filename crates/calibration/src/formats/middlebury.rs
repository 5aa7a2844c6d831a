//! Middlebury's calib.txt: a rectified pair. The baseline is in millimetres.

use super::error::LineFault;
use super::matrix::Matrix;
use super::tree::{check_key, number};
use super::{FileError, ValueError, ValueFault};
use super::{Kind, draft::Draft};
use crate::{LengthUnit, Projection, StereoRig};

pub(super) fn recognizes(text: &str) -> bool {
    text.lines().any(|line| line.split_once('=').is_some_and(|(key, _)| key.trim() == "cam0"))
}

/// Reads `cam0`, `cam1`, `baseline`, `width` and `height`; `doffs`, which follows from `cam0` and `cam1`, is checked if it is there.
pub(super) fn read(text: &str) -> Result<Draft, FileError> {
    let mut lines: Vec<(&str, &str)> = Vec::new();
    for (n, line) in text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()) {
        let (key, value) = line.split_once('=').ok_or_else(|| LineFault::NoKeyValue.at(n + 1))?;
        let key = key.trim();
        check_key(&lines, key).map_err(|err| LineFault::Key(err).at(n + 1))?;
        lines.push((key, value.trim()));
    }
    let find = |key: &str| lines.iter().find(|(name, _)| *name == key).map(|(_, value)| *value);
    let need = |key: &str| find(key).ok_or_else(|| ValueFault::Missing.of(key));
    let numbers = |key: &str| {
        let text = need(key)?;
        let value = number(text).filter(|value| value.is_finite());
        value.ok_or_else(|| ValueFault::Word(text.to_owned()).of(key))
    };
    let size = |key: &str| {
        let value = numbers(key)?;
        let is_size = (2.0..=65_536.0).contains(&value);
        if is_size { Ok(value as usize) } else { Err(ValueFault::NoImageSize(value).of(key)) }
    };
    let (left, right) = (camera("cam0", need("cam0")?)?, camera("cam1", need("cam1")?)?);
    let between = right.cx - left.cx;
    let doffs = find("doffs").map_or(Ok(between), |_| numbers("doffs"))?;
    if (doffs - between).abs() > 0.01 + 1e-3 * doffs.abs() {
        return Err(FileError::Doffs { doffs, between });
    }
    let size = (size("width")?, size("height")?);
    let rig = StereoRig::of_pinholes([left, right], numbers("baseline")?, Some(size));
    Ok(Draft { rig: StereoRig { kind: Kind::Middlebury, ..rig }, unit: Some(LengthUnit::Millimetre) })
}

/// Parses `[f 0 cx; 0 f cy; 0 0 1]`.
fn camera(name: &str, text: &str) -> Result<Projection, ValueError> {
    let inside = text.strip_prefix('[').and_then(|text| text.strip_suffix(']'));
    let words = inside.unwrap_or_default().split([' ', '\t', ';', ',']).filter(|word| !word.is_empty());
    let data: Option<Vec<f64>> = words.map(number).collect();
    let data = data.ok_or_else(|| ValueFault::NoMatrix(text.to_owned()).of(name))?;
    Matrix { name: name.to_owned(), shape: None, data }.pinhole()
}
