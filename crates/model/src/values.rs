//! Inputs and outputs of models, and their values.

use std::fmt;
use stereopsis_base::console;

/// Input or output of a model.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Port {
    /// Name in the file.
    pub name: String,
    /// Size of each dimension; `None` for any.
    pub extents: Vec<Option<usize>>,
}

// `left (1, 3, any, any)`
impl fmt::Display for Port {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let extent = |extent: &Option<usize>| extent.map_or_else(|| "any".to_owned(), |extent| extent.to_string());
        let extents: Vec<_> = self.extents.iter().map(extent).collect();
        write!(f, "{} ({})", console::foreign(&self.name), extents.join(", "))
    }
}

/// Inputs, outputs and properties of a model.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Signature {
    /// Inputs in the order of the file.
    pub inputs: Vec<Port>,
    /// Outputs in the order of the file.
    pub outputs: Vec<Port>,
    /// Licence that the file names.
    pub license: Option<String>,
}

/// Values of all dimensions; those of the last one are neighbours.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Values {
    pub(crate) extents: Vec<usize>,
    pub(crate) values: Vec<f32>,
}
