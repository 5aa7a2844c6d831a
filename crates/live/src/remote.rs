//! Interface to remote clients, such as on the network, that watch the pipeline and request parameters.

use stereopsis_frame::{FrameTap, ResultTap, Wake};
use stereopsis_recording::About;
use stereopsis_stereo::StereoParams;

/// Message to the user.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct News {
    /// Text of the message.
    pub text: String,
    /// Whether a request was refused, or something failed.
    pub is_error: bool,
}

/// Server of clients that see frames and results and may request parameters. The owner of the pipeline polls it;
/// no method but [`Remote::stop`] waits.
pub trait Remote: FrameTap + ResultTap {
    /// Sends clients the parameters in force, and returns those that a client requests: valid ones, once.
    fn exchange(&self, in_force: &StereoParams) -> Option<StereoParams>;

    /// Returns the messages since the last call.
    fn news(&self) -> Vec<News>;

    /// Returns the addresses for clients, as lines for the user.
    fn invitation(&self) -> String;

    /// Returns the state in a few words for a status line.
    fn standing(&self) -> String;

    /// Describes another source, or another preparation, to clients.
    fn set_about(&self, about: About);

    /// Ends the server; waits for a moment at most.
    fn stop(&self);

    /// Sets the function that is called where there is something to [exchange](Self::exchange), [news](Self::news), or
    /// results are [wanted](ResultTap::wants_results); it must not wait.
    fn set_wake(&self, wake: Wake);
}
