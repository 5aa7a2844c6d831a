//! What the owner of the engine thread tells it: settings, engines, commands.

use crate::OpenOptions;
use std::sync::Arc;
use stereopsis_base::newest::NewestReceiver;
use stereopsis_frame::engine::{Engine, SourceEngine};
use stereopsis_frame::{Frame, FramePreparation, SourceInfo};
use stereopsis_stereo::StereoParams;

/// Settings of the engine thread, read before each job.
#[derive(Clone, Debug)]
pub struct Control {
    /// Parameters; they have to be valid.
    pub params: Arc<StereoParams>,
    /// Whether each result brings its numbers to the host.
    pub read_back: bool,
    /// Whether no new pairs are taken.
    pub paused: bool,
    /// Whether no new pairs are taken because other work needs the processor; the last pair is still matched when parameters change.
    pub suspended: bool,
    /// Number of steps so far: each takes one new pair while paused.
    pub steps: u64,
}

/// Source of the engine: an open one, or options by which the thread opens one.
pub enum EngineSource {
    /// Open engine.
    Ready(Box<dyn Engine>),
    /// Open engine, and the options by which it is opened again after a loss.
    Opened(Box<dyn Engine>, OpenOptions),
    /// Options; `auto` decides with the first pair, `network` is the engine of the source.
    Open(OpenOptions),
}

/// Command to the thread.
pub(super) enum Command {
    Frames(NewestReceiver<Arc<Frame>>, Option<Arc<dyn SourceEngine>>),
    Engine(EngineSource),
    /// Prepares the frames of this source in another way.
    PrepareAgain(FramePreparation, Box<SourceInfo>),
    MatchAgain,
}
