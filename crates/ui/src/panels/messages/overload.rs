//! Message of dropped pairs because of a slow engine, or of missing memory; its remedies show measured rates.

use super::Message;
use crate::core::notices::Level;
use crate::core::{Command, Core};
use stereopsis_frame::Scale;
use stereopsis_stereo::{Preset, StereoParams};

/// Number of disparities at or below which halving is not offered.
const MIN_DISPARITIES: u32 = 32;

/// Returns the message if pairs are dropped because the engine is slow.
pub(super) fn message(core: &Core) -> Option<Message> {
    let status = core.status();
    let left_out_hz = status.capture.rate_hz - status.computed_hz;
    // matching pauses during a calibration
    let rests = status.paused || core.shows_guide();
    if !core.matching.load.is_too_high() || rests || left_out_hz < 0.5 {
        return None;
    }
    let text = format!(
        "Too slow: matching takes {:.0} ms, so {:.0} of {:.0} pairs a second are left out.",
        // pairs in flight together each take longer than the interval between results
        1e3 / status.computed_hz.max(0.1),
        left_out_hz,
        status.capture.rate_hz
    );
    let rate = |params: &StereoParams, scale: Scale| {
        let output = core.output()?;
        let size = scale.size(output.job.frame.size());
        core.matching.rates.per_second(params, size, output.engine.kind)
    };
    let remedies = remedies(core).into_iter().map(|(label, params, scale, command)| {
        let measured = rate(&params, scale);
        let measured =
            measured.map_or(String::new(), |hz| format!(": {:.0}/s measured", hz.min(status.capture.rate_hz)));
        (format!("{label}{measured}"), command)
    });
    Some(Message { text, level: Level::Warning, remedies: remedies.collect(), notice: None, is_new: false })
}

/// Returns the message if the requested setting exceeds the memory.
pub(super) fn too_large(core: &Core) -> Option<Message> {
    let text = core.status().engine.too_large.clone()?;
    let remedies = remedies(core).into_iter().map(|(label, _, _, command)| (label.to_owned(), command)).collect();
    Some(Message { text, level: Level::Error, remedies, notice: None, is_new: false })
}

/// Returns ways to match faster and with less memory, each with label, parameters and scale.
fn remedies(core: &Core) -> Vec<(&'static str, StereoParams, Scale, Command)> {
    let matching = &core.matching;
    let mut remedies = Vec::new();
    if core.rig.choice.scale == Scale::One {
        let params = matching.scaled_params(Scale::Half.factor());
        remedies.push(("Half size", params, Scale::Half, Command::SetScale(Scale::Half)));
    }
    if core.has_model() {
        if matching.params.left_right.is_some() {
            let params = StereoParams { left_right: None, ..matching.params.clone() };
            remedies.push(("No left-right check", params.clone(), Scale::One, Command::SetParams(params)));
        }
        return remedies; // the range and the presets do not change the time of a model
    }
    if matching.params.num_disparities > MIN_DISPARITIES {
        let num_disparities = matching.params.num_disparities / 2;
        let params = StereoParams { num_disparities, ..matching.params.clone() };
        remedies.push(("Half the disparities", params.clone(), Scale::One, Command::SetParams(params)));
    }
    if matching.preset != Preset::Fast {
        let mut params = matching.params.clone();
        Preset::Fast.apply(&mut params);
        remedies.push(("Preset fast", params, Scale::One, Command::SetPreset(Preset::Fast)));
    }
    remedies
}
