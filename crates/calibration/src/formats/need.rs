//! Access to values that a file must have; the error names the missing one.

use super::matrix::Matrix;
use super::tree::Node;
use super::{ValueError, ValueFault};

fn name_in(group: &str, key: &str) -> String {
    if group.is_empty() { key.to_owned() } else { format!("{group}.{key}") }
}

/// Returns the value under a key of a group.
pub(super) fn node<'a>(group: &str, node: &'a Node, key: &str) -> Result<&'a Node, ValueError> {
    node.get(&[key]).ok_or_else(|| ValueFault::Missing.of(name_in(group, key)))
}

pub(super) fn matrix(group: &str, of: &Node, key: &str) -> Result<Matrix, ValueError> {
    let name = name_in(group, key);
    node(group, of, key)?.matrix(&name).ok_or_else(|| ValueFault::NoList.of(name))
}

pub(super) fn number(group: &str, of: &Node, key: &str) -> Result<f64, ValueError> {
    let value = node(group, of, key)?.number().filter(|value| value.is_finite());
    value.ok_or_else(|| ValueFault::NoNumber.of(name_in(group, key)))
}
