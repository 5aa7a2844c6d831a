//! Access to values that a file must have; the error names the missing one.

use super::matrix::Matrix;
use super::tree::Node;
use crate::CalibrationError;
use stereopsis_base::console::foreign;

fn name_in(group: &str, key: &str) -> String {
    if group.is_empty() { key.to_owned() } else { format!("{group}.{key}") }
}

/// Returns the value under a key of a group.
pub(super) fn node<'a>(group: &str, node: &'a Node, key: &str) -> Result<&'a Node, CalibrationError> {
    let missing =
        || CalibrationError(format!("{} is missing; take a copy that is whole", foreign(&name_in(group, key))));
    node.get(&[key]).ok_or_else(missing)
}

pub(super) fn matrix(group: &str, of: &Node, key: &str) -> Result<Matrix, CalibrationError> {
    let name = name_in(group, key);
    node(group, of, key)?
        .matrix(&name)
        .ok_or_else(|| CalibrationError(format!("{} is no list of numbers; the file is damaged", foreign(&name))))
}

pub(super) fn number(group: &str, of: &Node, key: &str) -> Result<f64, CalibrationError> {
    let value = node(group, of, key)?.number().filter(|value| value.is_finite());
    value.ok_or_else(|| {
        CalibrationError(format!("{} is no number; take a copy that is whole", foreign(&name_in(group, key))))
    })
}

/// Checks that two cameras are calibrated for images of one size, and returns it.
pub(super) fn one_size([left, right]: [(&str, (usize, usize)); 2]) -> Result<(usize, usize), CalibrationError> {
    let ((left, (w, h)), (right, (right_w, right_h))) = (left, right);
    if (w, h) == (right_w, right_h) {
        return Ok((w, h));
    }
    Err(CalibrationError(format!(
        "{} is calibrated for {w}x{h}, {} for {right_w}x{right_h}: calibrate both in one mode",
        foreign(left),
        foreign(right)
    )))
}
