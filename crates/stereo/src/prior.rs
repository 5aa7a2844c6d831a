//! Prior of a pair: gates and learned costs, from the same pair at half the size and from the pair before.

use super::cost::mutual_information::Table;
use super::gating::Gates;
use stereopsis_base::image::Image;

/// Gates and learned costs, known before the pair itself is matched.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Prior {
    /// Gates of the left image; `None` without gating.
    pub gates: Option<Gates>,
    /// Gates of the right image, where it is matched on its own.
    pub right_gates: Option<Gates>,
    /// Costs of mutual information.
    pub information: Option<Table>,
}

impl Prior {
    /// Returns the prior for swapped and mirrored images.
    #[must_use]
    pub fn swapped(&self) -> Self {
        Self {
            gates: self.right_gates.as_ref().map(Image::mirrored),
            right_gates: self.gates.as_ref().map(Image::mirrored),
            information: self.information.as_ref().map(Table::swapped),
        }
    }
}
