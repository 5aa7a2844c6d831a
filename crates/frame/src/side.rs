//! Sides of a rig.

use serde::{Deserialize, Serialize};

/// Side of a camera, as seen from behind the cameras.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Side {
    /// Left camera.
    Left,
    /// Right camera.
    Right,
}

impl Side {
    /// Both sides.
    pub const ALL: [Self; 2] = [Self::Left, Self::Right];

    /// Returns its name: `left` or `right`.
    pub fn word(self) -> &'static str {
        match self {
            Self::Left => "left",
            Self::Right => "right",
        }
    }
}
