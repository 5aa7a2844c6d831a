//! What the command line hands to the window.

use crate::capture::source::{SourceOptions, SourceSpec};
use crate::capture::{CaptureOptions, SourceInfo};
use crate::settings::Word;
use std::path::PathBuf;
use std::sync::Arc;

/// How the frames of a newly opened source are made (calibration, working size), and what a person should confirm.
/// Called on the thread that opens the source.
pub type CaptureFor = Arc<dyn Fn(&SourceInfo) -> Result<(CaptureOptions, Option<String>), String> + Send + Sync>;

/// How the window starts.
pub struct WindowOptions {
    /// Flags and settings file. They win over what was kept; a settings file replaces it.
    pub words: Vec<Word>,
    /// The source asked for; without one the one of last time, or the scene.
    pub source: Option<SourceSpec>,
    /// How sources are opened.
    pub source_options: SourceOptions,
    /// How their frames are made.
    pub capture: CaptureFor,
    /// Further words for "copy as command": calibration, working size.
    pub more_words: Vec<String>,
    /// Where snapshots go.
    pub folder: PathBuf,
    /// The file that keeps what the window remembers; `None` keeps nothing.
    pub kept: Option<PathBuf>,
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
                color: true,
                ..SourceOptions::default()
            },
            capture: Arc::new(|_| Ok((CaptureOptions::default(), None))),
            more_words: Vec::new(),
            folder: PathBuf::from("."),
            kept: super::keep::Kept::path(),
            reset: false,
        }
    }
}
