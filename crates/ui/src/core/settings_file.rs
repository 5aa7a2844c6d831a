//! Settings file that the window follows.

use std::path::PathBuf;

/// Settings file that is followed, so that changes by an editor take effect.
pub(crate) struct SettingsFile {
    pub(crate) path: PathBuf,
    /// Text of the file as last read or written.
    pub(crate) text: String,
    /// Error in the file, which leaves the settings unchanged.
    pub(crate) wrong: Option<String>,
}
