//! Those who watch from elsewhere: what they want, and what they are told.

use super::Session;
use crate::live::RemoteEvents;
use crate::recording::{About, parameter_words};
use crate::rig::Calibrated;
use std::time::SystemTime;

impl Session {
    /// What is known of the source and of how its pairs become metric.
    pub(super) fn about(&self, started: SystemTime) -> About {
        let info = self.live.status().source; // also of one that was opened just now
        let calibrated = Calibrated { recipe: self.live.recipe(), note: None, rig: self.rig.rig.clone() };
        let calibration = calibrated.to_note(self.rig.choice.alpha, &info);
        let parameters = parameter_words(&self.params);
        About { calibration, parameters, ..About::of_source(&self.source.to_string(), &info, started) }
    }

    /// Tells of another source, or the same one in another way.
    pub(super) fn tell_about(&self) {
        if let Some(remote) = self.live.remote() {
            remote.set_about(self.about(SystemTime::now()));
        }
    }

    /// Takes parameters that are wanted elsewhere, and tells what is in force here.
    pub(super) fn ask_remote(&mut self) {
        let RemoteEvents { params, news } = self.live.poll_remote();
        if let Some(params) = params {
            self.set_params(params);
        }
        for news in news {
            if news.is_error {
                self.notices.error(news.text);
            } else {
                self.notices.confirm(news.text);
            }
        }
    }
}
