//! The settings file that the window follows.

use std::path::PathBuf;

/// A change of what the window does with settings files and older settings.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum HistoryStep {
    /// Goes to where so many steps are in force.
    Go(usize),
    /// Lets the user choose a settings file to take and to follow.
    ChooseFile,
    /// Takes the settings of a file, and follows it.
    OpenFile(PathBuf),
    /// Lets the user choose a file to write the settings to.
    ChooseNewFile,
    /// Writes the settings to the file that is followed.
    Save,
    /// Follows the file no more.
    Forget,
}

/// A settings file that is followed: what is changed in it by an editor takes effect.
pub(crate) struct SettingsFile {
    pub(crate) path: PathBuf,
    /// Its text as it was read or written last.
    pub(crate) text: String,
    /// What is wrong with it; the settings stay as they are.
    pub(crate) wrong: Option<String>,
}
