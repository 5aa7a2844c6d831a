//! Settings file that the window follows.

use std::path::PathBuf;

/// Change of the history or of the settings file.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum HistoryStep {
    /// Goes to the position after this number of steps.
    Go(usize),
    /// Lets the user choose a settings file to apply and follow.
    ChooseFile,
    /// Applies the settings of a file, and follows it.
    OpenFile(PathBuf),
    /// Lets the user choose a file to write the settings to.
    ChooseNewFile,
    /// Writes the settings to the file that is followed.
    Save,
    /// Stops following the file.
    Forget,
}

/// Settings file that is followed: changes by an editor take effect.
pub(crate) struct SettingsFile {
    pub(crate) path: PathBuf,
    /// Text of the file as last read or written.
    pub(crate) text: String,
    /// Error in the file; the settings stay as they are.
    pub(crate) wrong: Option<String>,
}
