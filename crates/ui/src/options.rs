//! Options of the window, from the command line.

use crate::capture::{SourceOptions, SourceSpec};
use crate::live::Remote;
use crate::rig::CalibrationChoice;
use crate::settings::{self, Word};
use std::path::PathBuf;
use std::sync::Arc;

/// How the window starts.
pub struct WindowOptions {
    /// Flags and settings file. Flags win over the saved settings; a settings file replaces them.
    pub words: Vec<Word>,
    /// The source; without one the saved source, or the scene.
    pub source: Option<SourceSpec>,
    /// How sources are opened.
    pub source_options: SourceOptions,
    /// How their frames are made.
    pub calibration: CalibrationChoice,
    /// The rig file with source, options and calibration.
    pub rig_file: Option<PathBuf>,
    /// Folder of snapshots.
    pub folder: PathBuf,
    /// File of the saved state; without one nothing is saved.
    pub saved_state: Option<PathBuf>,
    /// Folder of the user's own presets.
    pub presets_folder: Option<PathBuf>,
    /// Remote clients, which receive pairs and results and may change parameters.
    pub remote: Option<Arc<dyn Remote>>,
    /// Ignore the saved state.
    pub reset: bool,
    /// Picture of the window in task bars, as PNG.
    pub icon: &'static [u8],
}

impl Default for WindowOptions {
    fn default() -> Self {
        Self {
            words: Vec::new(),
            source: None,
            // a still pair is not matched as fast as possible
            source_options: SourceOptions {
                rate_hz: Some(30.0),
                looped: true,
                watched: true,
                ..SourceOptions::default()
            },
            calibration: CalibrationChoice::default(),
            rig_file: None,
            folder: PathBuf::from("."),
            saved_state: directories::ProjectDirs::from("", "", "stereopsis")
                .map(|dirs| dirs.config_dir().join("window.toml")),
            presets_folder: settings::own_presets_folder(),
            remote: None,
            reset: false,
            icon: &[],
        }
    }
}
