//! Content of one calibration file.

use super::draft::Draft;
use super::tree::Node;
use std::path::Path;

/// Largest size of a text file, bytes.
pub(super) const MAX_TEXT_BYTES: usize = 4 << 20;

/// File whose content is a tree.
pub(super) struct File {
    pub(super) name: String,
    pub(super) tree: Node,
}

impl File {
    /// Returns the file's name without endings.
    pub(super) fn stem(&self) -> String {
        Path::new(self.name.strip_suffix(".gz").unwrap_or(&self.name))
            .file_stem()
            .unwrap_or_default()
            .to_string_lossy()
            .into_owned()
    }
}

/// Content of a file.
pub(super) enum Content {
    /// Tree, which may need those of other files.
    Tree(Node),
    /// Rig of both cameras.
    Rig(Box<Draft>),
}

impl Content {
    /// Returns the content that is a rig.
    pub(super) fn rig(draft: Draft) -> Self {
        Self::Rig(Box::new(draft))
    }
}
