//! Somebody elsewhere who watches the pipeline and changes its parameters, such as a client on the network.

use super::Wake;
use crate::capture::FrameTap;
use crate::engine::worker::ResultTap;
use crate::recording::About;
use crate::stereo::StereoParams;

/// What a remote has to say once.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct News {
    /// In words.
    pub text: String,
    /// Something was refused or failed.
    pub is_error: bool,
}

/// Sees every frame and result, and may want other parameters. Whoever owns the pipeline asks it now and then; nothing here waits.
pub trait Remote: FrameTap + ResultTap {
    /// Says which parameters are in force, and takes those that are wanted instead: valid ones, once.
    fn exchange(&self, in_force: &StereoParams) -> Option<StereoParams>;

    /// What has happened since this was asked last.
    fn news(&self) -> Vec<News>;

    /// Where somebody can watch; lines for a person.
    fn invitation(&self) -> String;

    /// How it stands, in a few words for a status line.
    fn standing(&self) -> String;

    /// Another source is read, or the same one in another way.
    fn set_about(&self, about: About);

    /// The run ends; waits for a moment at most.
    fn stop(&self);

    /// Called from now on when there is something to [exchange](Self::exchange) or [news](Self::news); must not wait.
    fn set_wake(&self, wake: Wake);
}
