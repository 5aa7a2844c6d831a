//! Options of the window from the command line.

use std::path::PathBuf;
use std::sync::Arc;
use stereopsis_frame::{SourceOptions, SourceSpec};
use stereopsis_live::Remote;
use stereopsis_settings::rig::CalibrationChoice;
use stereopsis_settings::settings;
use stereopsis_settings::settings::Word;

/// Options of the window at its start.
pub struct WindowOptions {
    /// Flags, which override the saved settings, and the settings file, which replaces them.
    pub words: Vec<Word>,
    /// Source, or `None` for the saved source or the scene.
    pub source: Option<SourceSpec>,
    /// Options with which sources are opened.
    pub source_options: SourceOptions,
    /// Calibration of the source.
    pub calibration: CalibrationChoice,
    /// Rig file with source, options and calibration.
    pub rig_file: Option<PathBuf>,
    /// Folder of snapshots.
    pub folder: PathBuf,
    /// File of the saved state; without one nothing is saved.
    pub saved_state: Option<PathBuf>,
    /// Folder of the user's presets.
    pub presets_folder: Option<PathBuf>,
    /// Servers of remote clients, which receive pairs and results and may change parameters.
    pub remotes: Vec<Arc<dyn Remote>>,
    /// Whether the saved state is ignored.
    pub reset: bool,
    /// Icon of the window, as PNG.
    pub icon: &'static [u8],
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
                ..SourceOptions::default()
            },
            calibration: CalibrationChoice::default(),
            rig_file: None,
            folder: PathBuf::from("."),
            saved_state: directories::ProjectDirs::from("", "", "stereopsis")
                .map(|dirs| dirs.config_dir().join("window.toml")),
            presets_folder: settings::own_presets_folder(),
            remotes: Vec::new(),
            reset: false,
            icon: &[],
        }
    }
}
