//! Automatic steps after two cameras were opened without a calibration: rows, search range, colours.

use crate::core::{
    Action, Core, Feature,
    rig::commands::{self, ESTIMATE, Initiator},
};
use std::time::Instant;
use stereopsis_frame::SourceSpec;
use stereopsis_settings::rig::{CalibrationChoice, RectifyChoice};

/// Time at which the automatically calibrated cameras were opened.
#[derive(Default)]
pub(crate) struct ByItself(Option<Instant>);

impl Feature for ByItself {
    /// Starts the steps once after cameras were opened, as soon as both images have enough texture.
    fn update(&mut self, core: &mut Core, _now: Instant) {
        if self.0 == Some(core.source_since) || !is_ready(core) {
            return;
        }
        self.0 = Some(core.source_since);
        let choice = &core.rig.choice;
        let health = &core.status().health;
        let is_in_rows = health.misaligned().is_none() && health.exchanged.is_none();
        if is_in_rows {
            core.awaited.range = true;
        } else {
            let choice = CalibrationChoice { rectify: Some(RectifyChoice::Auto), ..choice.clone() };
            commands::calibrate(core, choice, Initiator::Window);
        }
    }
}

/// Returns whether uncalibrated cameras have matches in both images while the user changes nothing.
fn is_ready(core: &Core) -> bool {
    let health = &core.status().health;
    let is_camera = core.source.running.as_ref().is_some_and(SourceSpec::is_camera);
    let is_uncalibrated = core.rig.choice.is_unset() && core.geometry().is_none();
    let is_busy = core.status().paused
        || core.recording.is_begun()
        || core.is_open(Action::Calibrate)
        || core.source.opening.is_some()
        || core.rig.sides_watch.is_some()
        || !core.source.lost_since.is_empty()
        || core.jobs.is_running(ESTIMATE);
    let newest = core.output().is_some_and(|output| output.job.frame.arrived >= core.source_since);
    // cameras that look towards each other seem exchanged until the user has checked them with a hand
    let has_sides = health.exchanged.is_none() || core.rig.sides_checked;
    let tells = health.row_offset.is_some() && health.blank.is_none() && health.in_columns.is_none();
    is_camera && is_uncalibrated && !is_busy && newest && tells && has_sides
}
