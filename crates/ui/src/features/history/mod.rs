//! History of the settings, undo and redo, and a settings file that is followed.

pub(crate) mod commands;
mod panel;
mod steps;

use crate::core::Step;

#[derive(Clone, Debug)]
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

impl Step for HistoryStep {}
