//! Options of sources: plain data with the same words on the command line, in rig files and in the window.

use super::scene::SceneOptions;
use super::{CameraOptions, MaxPixels, Pixels, Speed};
use std::path::PathBuf;
use std::time::Duration;

/// Options of sources beside the words of `--source`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SourceOptions {
    /// Size per view, px: of the scene, or requested from a camera. Files have their own.
    pub size: Option<(usize, usize)>,
    /// Rate, Hz: of scene and files, or requested from a camera. `None` for no limit, or for the camera's default.
    pub rate_hz: Option<f64>,
    /// Files and recordings restart at the end.
    pub looped: bool,
    /// Interactive use: a recording stays open at its end so that the user can seek, and its pairs carry their recorded
    /// results; a folder is held at its start and played like a recording; a single pair is given once.
    pub watched: bool,
    /// Playback speed of recordings, and of folders that are watched. Standard input has no speed of its own; [`Speed::Max`] reads all of it.
    pub speed: Speed,
    /// Start time of recordings, from their first pair on.
    pub start_at: Duration,
    /// Topics of a foreign recording that hold the views.
    pub topics: TopicChoice,
    /// Limit on the size of pictures from files and recordings.
    pub max_pixels: MaxPixels,
    /// What is decoded of pictures.
    pub pixels: Pixels,
    /// The camera of `webcam:N` shows one view, not both side by side: for a head of one camera.
    pub one_view: bool,
    /// Options of cameras.
    pub cameras: CameraOptions,
    /// Zenoh's own configuration, for rigs on the network: certificates, access rules.
    pub zenoh_config: Option<PathBuf>,
    /// The scene's rig and appearance; [`SourceOptions::size`] takes precedence over its size.
    pub scene: SceneOptions,
}

/// The user's choice of topics for the views.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TopicChoice {
    /// Topic of the left view.
    pub left: Option<String>,
    /// Topic of the right view.
    pub right: Option<String>,
    /// Topic of side-by-side pictures, the left view in the left half.
    pub both: Option<String>,
}

impl TopicChoice {
    /// Whether no topic is chosen.
    pub fn is_default(&self) -> bool {
        *self == Self::default()
    }
}
