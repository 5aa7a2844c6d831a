//! A rig on the network whose pairs an engine there matches.

use crate::stereo::StereoParams;
use parking_lot::Mutex;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Link between the source of a rig's pairs and the viewer of its results, on two threads: whether results are wanted, for which the
/// source then holds its pairs back, and parameters that were changed on one side.
#[derive(Debug)]
pub struct RemoteRig {
    /// Name of the rig.
    pub name: Arc<str>,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    /// When results were wanted last.
    wanted: Option<Instant>,
    /// The rig's parameters.
    there: Option<StereoParams>,
    /// The parameters that were the same here and there last.
    agreed: Option<StereoParams>,
    /// Parameters that the rig is to take.
    requested: Option<StereoParams>,
}

/// For so long a result stays wanted.
const WANTED: Duration = Duration::from_secs(2);

impl RemoteRig {
    /// Of this rig; nothing is wanted.
    pub fn of(name: impl Into<Arc<str>>) -> Self {
        Self { name: name.into(), state: Mutex::default() }
    }

    /// Wants results for the next two seconds.
    pub fn want(&self) {
        self.state.lock().wanted = Some(Instant::now());
    }

    /// Whether results are wanted now.
    pub fn is_wanted(&self) -> bool {
        self.state.lock().wanted.is_some_and(|since| since.elapsed() < WANTED)
    }

    /// Notes the rig's parameters.
    pub fn set_there(&self, params: StereoParams) {
        self.state.lock().there = Some(params);
    }

    /// The rig's parameters, where they were changed by others: whatever shows its results takes them. Where they were changed here,
    /// the rig is to take those. At first the rig's hold.
    pub fn exchange(&self, in_force: &StereoParams) -> Option<StereoParams> {
        let mut state = self.state.lock();
        let there = state.there.clone()?;
        if state.agreed.as_ref() != Some(&there) {
            state.agreed = Some(there.clone());
            return (there != *in_force).then_some(there);
        }
        if there != *in_force {
            // what the rig will say next is no change by others
            (state.agreed, state.there) = (Some(in_force.clone()), Some(in_force.clone()));
            state.requested = Some(in_force.clone());
        }
        None
    }

    /// Parameters that the rig is to take, once.
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
