//! Correction of a calibrated rig by itself, where the user has asked for that.

use crate::core::{
    Core, Feature,
    rig::commands::{self, Initiator},
};
use std::time::Instant;
use stereopsis_calibration::Correction;

/// Last correction that was tried: a refused one is not tried again.
#[derive(Default)]
pub(crate) struct SelfCalibration(Option<Correction>);

impl Feature for SelfCalibration {
    fn update(&mut self, core: &mut Core, _now: Instant) {
        let choice = &core.rig.choice;
        if !choice.self_calibrate || core.recording.is_begun() {
            return;
        }
        let Some(drift) = core.status().health.drift.as_ref().filter(|drift| drift.is_offered) else { return };
        let found = drift.correction.clone();
        if [self.0.as_ref(), choice.correction.as_deref()].contains(&Some(&found)) {
            return;
        }
        let choice = choice.with_correction(Some(found.clone()));
        self.0 = Some(found);
        commands::calibrate(core, choice, Initiator::User);
    }
}
