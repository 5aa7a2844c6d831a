//! Link to a network rig whose pairs an engine there matches.

use parking_lot::Mutex;
use std::sync::Arc;
use std::time::{Duration, Instant};
use stereopsis_stereo::StereoParams;

/// Link between the source of a rig's pairs and the viewer of its results, on two threads. It carries requests for results, for which the
/// source holds its pairs back, and changes of parameters on either side.
#[derive(Debug)]
pub struct RemoteRig {
    /// Name of the rig.
    pub name: Arc<str>,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    /// Time at which results were last requested.
    wanted: Option<Instant>,
    /// Parameters of the rig.
    there: Option<StereoParams>,
    /// Last parameters that were equal on both sides.
    agreed: Option<StereoParams>,
    /// Parameters to send to the rig.
    requested: Option<StereoParams>,
}

/// Time for which a request for results holds.
const WANTED: Duration = Duration::from_secs(2);

impl RemoteRig {
    /// Creates the link to this rig, without a request.
    pub fn of(name: impl Into<Arc<str>>) -> Self {
        Self { name: name.into(), state: Mutex::default() }
    }

    /// Requests results for the next two seconds.
    pub fn want(&self) {
        self.state.lock().wanted = Some(Instant::now());
    }

    /// Whether results are requested now.
    pub fn is_wanted(&self) -> bool {
        self.state.lock().wanted.is_some_and(|since| since.elapsed() < WANTED)
    }

    /// Sets the rig's parameters.
    pub fn set_there(&self, params: StereoParams) {
        self.state.lock().there = Some(params);
    }

    /// Synchronises parameters: returns the rig's if another user has changed them, for the viewer to adopt; parameters changed here are
    /// sent to the rig. At first the rig's are adopted.
    pub fn exchange(&self, in_force: &StereoParams) -> Option<StereoParams> {
        let mut state = self.state.lock();
        let there = state.there.clone()?;
        if state.agreed.as_ref() != Some(&there) {
            state.agreed = Some(there.clone());
            return (there != *in_force).then_some(there);
        }
        if there != *in_force {
            // so that the rig's next report of these is no foreign change
            (state.agreed, state.there) = (Some(in_force.clone()), Some(in_force.clone()));
            state.requested = Some(in_force.clone());
        }
        None
    }

    /// Takes the parameters to send to the rig.
    pub fn take_request(&self) -> Option<StereoParams> {
        self.state.lock().requested.take()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parameters_of_a_rig_and_of_its_viewer_follow_each_other() {
        let rig = RemoteRig::of("pi");
        let of = |p1| StereoParams { p1, ..StereoParams::default() };
        assert_eq!((rig.exchange(&of(5)), rig.take_request()), (None, None), "the rig has said nothing yet");
        rig.set_there(of(7));
        assert_eq!((rig.exchange(&of(5)), rig.take_request()), (Some(of(7)), None), "the rig's hold at first");
        assert_eq!((rig.exchange(&of(7)), rig.take_request()), (None, None));
        assert_eq!((rig.exchange(&of(9)), rig.take_request()), (None, Some(of(9))), "changed here");
        assert_eq!((rig.exchange(&of(9)), rig.take_request()), (None, None), "once");
        rig.set_there(of(9));
        assert_eq!((rig.exchange(&of(9)), rig.take_request()), (None, None));
        rig.set_there(of(11));
        assert_eq!((rig.exchange(&of(9)), rig.take_request()), (Some(of(11)), None), "changed by others");
        assert!(!rig.is_wanted());
        rig.want();
        assert!(rig.is_wanted());
    }
}
