//! What the command line hands to the window.

use crate::capture::source::{SourceOptions, SourceSpec};
use crate::live::Remote;
use crate::rig::CalibrationChoice;
use crate::settings::Word;
use std::path::PathBuf;
use std::sync::Arc;

/// How the window starts.
pub struct WindowOptions {
    /// Flags and settings file. They win over what was kept; a settings file replaces it.
    pub words: Vec<Word>,
    /// The source asked for; without one the one of last time, or the scene.
    pub source: Option<SourceSpec>,
    /// How sources are opened.
    pub source_options: SourceOptions,
    /// How their frames are made.
    pub calibration: CalibrationChoice,
    /// The rig file that source, options and calibration come from.
    pub rig_file: Option<PathBuf>,
    /// Where snapshots go.
    pub folder: PathBuf,
    /// The file that keeps what the window remembers; `None` keeps nothing.
    pub kept: Option<PathBuf>,
    /// Watches and changes parameters from elsewhere.
    pub remote: Option<Arc<dyn Remote>>,
    /// Forget what was kept.
    pub reset: bool,
}

impl Default for WindowOptions {
    fn default() -> Self {
        Self {
            words: Vec::new(),
            source: None,
            // a still pair need not be matched as fast as possible
            source_options: SourceOptions {
                rate_hz: Some(30.0),
                looped: true,
                watched: true,
                color: true,
                ..SourceOptions::default()
            },
            calibration: CalibrationChoice::default(),
            rig_file: None,
            folder: PathBuf::from("."),
            kept: super::keep::Kept::path(),
            remote: None,
            reset: false,
        }
    }
}
