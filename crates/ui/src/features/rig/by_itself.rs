//! Automatic steps after two cameras were opened without a calibration: rows, search range, colours.

use super::commands::{self, ESTIMATE, Initiator};
use crate::action::Action;
use crate::session::Session;
use stereopsis_frame::SourceSpec;
use stereopsis_settings::rig::{CalibrationChoice, RectifyChoice};
use stereopsis_stereo::StereoParams;

const RANGE_WORDS: [&str; 3] = ["num-disparities", "min-disparity", "near-m"];

/// Starts the steps once after cameras were opened, as soon as both images have enough texture.
pub(crate) fn update(session: &mut Session) {
    if session.begun_by_itself == Some(session.source_since) || !is_ready(session) {
        return;
    }
    session.begun_by_itself = Some(session.source_since);
    let choice = &session.state.rig.choice;
    let health = &session.state.status().health;
    let is_in_rows = health.misaligned().is_none() && health.exchanged.is_none();
    if is_in_rows {
        session.awaited.range = true;
    } else {
        let choice = CalibrationChoice { rectify: Some(RectifyChoice::Auto), ..choice.clone() };
        commands::calibrate(session, choice, Initiator::Window);
    }
}

/// Returns whether uncalibrated cameras have matches in both images while the user changes nothing.
fn is_ready(session: &Session) -> bool {
    let state = &session.state;
    let health = &state.status().health;
    let is_camera = state.source.running.as_ref().is_some_and(SourceSpec::is_camera);
    let is_uncalibrated = state.rig.choice.is_unset() && state.geometry().is_none();
    let is_busy = state.status().paused
        || state.recording.is_begun()
        || state.is_open(Action::Calibrate)
        || state.source.opening.is_some()
        || state.rig.sides_watch.is_some()
        || !state.source.lost_since.is_empty()
        || session.jobs.is_running(ESTIMATE);
    let newest = state.output().is_some_and(|output| output.job.frame.arrived >= session.source_since);
    // cameras that look towards each other seem exchanged until the user has checked them with a hand
    let has_sides = health.exchanged.is_none() || state.rig.sides_checked;
    let tells = health.row_offset.is_some() && health.blank.is_none() && health.in_columns.is_none();
    is_camera && is_uncalibrated && !is_busy && newest && tells && has_sides
}

/// Returns whether the search range is the initial one or a fitted one, and so not the user's choice.
pub(crate) fn may_fit_range(session: &Session) -> bool {
    let StereoParams { min_disparity, num_disparities, .. } = session.state.matching.params;
    let now = (min_disparity, num_disparities);
    let at_start = StereoParams::default();
    let is_said = session.options.words.iter().any(|word| RANGE_WORDS.contains(&word.name.as_str()));
    let is_at_start = now == (at_start.min_disparity, at_start.num_disparities) && !is_said;
    is_at_start || session.state.rig.fitted_range == Some(now)
}
