//! Settings file that the window follows.

use std::path::PathBuf;

#[derive(Clone, Debug, PartialEq)]
pub(crate) enum HistoryStep {
    /// Goes to the position after this number of steps.
    Go(usize),
    /// Lets the user choose a settings file to apply and follow.
    ChooseFile,
    /// Lets the user choose a file to which the settings are written.
    ChooseNewFile,
    Save,
    Forget,
}

/// Settings file that is followed, so that changes by an editor take effect.
pub(crate) struct SettingsFile {
    pub(crate) path: PathBuf,
    /// Text of the file as last read or written.
    pub(crate) text: String,
    /// Error in the file, which leaves the settings unchanged.
    pub(crate) wrong: Option<String>,
}
