//! Parameters of a rig on the network, which its head has and every viewer of its results may change.

use parking_lot::Mutex;
use stereopsis_stereo::StereoParams;

/// Parameters that the source of a rig's pairs, the viewer of its results and the thread that asks the head share.
#[derive(Debug, Default)]
pub(super) struct RigParameters(Mutex<State>);

#[derive(Debug, Default)]
struct State {
    /// Whether results of the rig are shown.
    shown: bool,
    /// Parameters of the rig.
    there: Option<StereoParams>,
    /// Last parameters that were equal on both sides.
    agreed: Option<StereoParams>,
    /// Parameters to send to the rig.
    requested: Option<StereoParams>,
}

impl RigParameters {
    /// Notes that results of the rig are shown.
    pub(super) fn set_shown(&self) {
        self.0.lock().shown = true;
    }

    /// Sets the rig's parameters.
    pub(super) fn set_there(&self, params: StereoParams) {
        self.0.lock().there = Some(params);
    }

    /// Synchronises parameters: returns the rig's if another user has changed them, for the viewer to adopt; parameters changed here are
    /// sent to the rig. At first the rig's are adopted.
    pub(super) fn exchange(&self, in_force: &StereoParams) -> Option<StereoParams> {
        let mut state = self.0.lock();
        let there = state.there.clone().filter(|_| state.shown)?;
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
    pub(super) fn take_request(&self) -> Option<StereoParams> {
        self.0.lock().requested.take()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parameters_of_a_rig_and_of_its_viewer_follow_each_other() {
        let rig = RigParameters::default();
        let of = |p1| StereoParams { p1, ..StereoParams::default() };
        assert_eq!((rig.exchange(&of(5)), rig.take_request()), (None, None), "the rig has said nothing yet");
        rig.set_there(of(7));
        assert_eq!((rig.exchange(&of(5)), rig.take_request()), (None, None), "its results are not shown");
        rig.set_shown();
        assert_eq!((rig.exchange(&of(5)), rig.take_request()), (Some(of(7)), None), "the rig's hold at first");
        assert_eq!((rig.exchange(&of(7)), rig.take_request()), (None, None));
        assert_eq!((rig.exchange(&of(9)), rig.take_request()), (None, Some(of(9))), "changed here");
        assert_eq!((rig.exchange(&of(9)), rig.take_request()), (None, None), "once");
        rig.set_there(of(9));
        assert_eq!((rig.exchange(&of(9)), rig.take_request()), (None, None));
        rig.set_there(of(11));
        assert_eq!((rig.exchange(&of(9)), rig.take_request()), (Some(of(11)), None), "changed by others");
    }
}
