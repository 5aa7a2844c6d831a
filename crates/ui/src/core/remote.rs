//! Remote clients, which receive the source's description and the present parameters and may change these.

use super::Core;
use std::time::SystemTime;
use stereopsis_recording::About;
use stereopsis_settings::rig::Calibrated;
use stereopsis_settings::settings::parameter_words;

impl Core {
    /// Describes the open source and its calibration.
    pub(crate) fn about(&self, started: SystemTime) -> About {
        let info = self.live.status().source; // describes a source that was opened just now
        let preparation = self.live.preparation();
        let calibrated = Calibrated { preparation, rig: self.rig.rig.clone(), ..Calibrated::default() };
        let calibration = calibrated.to_note(self.rig.choice.crop(), &info);
        let parameters = parameter_words(&self.matching.params.of_source(info.is_camera));
        About { calibration, parameters, ..About::of_source(&self.source.spec.to_string(), &info, started) }
    }

    pub(crate) fn describe_source(&self) {
        for remote in self.live.remotes() {
            remote.set_about(self.about(SystemTime::now()));
        }
    }

    /// Applies parameters that others have set, sends the present ones, and shows the remotes' messages.
    pub(crate) fn exchange_with_remote(&mut self) {
        if let Some(params) = self.live.exchange() {
            self.set_params(params);
        }
        for news in self.live.remotes().iter().flat_map(|remote| remote.news()) {
            if news.is_error {
                self.notices.error(news.text);
            } else {
                self.notices.confirm(news.text);
            }
        }
    }
}
