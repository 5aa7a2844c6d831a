//! Options of the study.

use stereopsis_engine::OpenOptions;
use stereopsis_search::Judge;
use stereopsis_stereo::StereoParams;

/// Options of the study.
#[derive(Clone)]
pub struct Options {
    /// Number of settings that each search tries.
    pub trials: usize,
    /// Largest image size, px; larger scenes are skipped.
    pub max_pixels: usize,
    /// Objective of the searches; without truth each scene is searched by itself.
    pub judge: Judge,
    /// Start setting of each search.
    pub start: StereoParams,
    /// Engine options.
    pub engine: OpenOptions,
    /// Whether to print JSON instead of a table.
    pub json: bool,
}
