//! The preset that parameters started from, what was changed since, and how fast each preset has been here.

use super::Session;
use crate::engine::{EngineKind, Output};
use crate::rate::Latency;
use crate::settings::{differences, preset_of};
use crate::stereo::Preset;
use std::collections::HashMap;
use std::time::Duration;

/// What decides how fast a preset is on one machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Circumstances {
    preset: Preset,
    size: (usize, usize),
    num_disparities: u32,
    engine: EngineKind,
}

/// How fast presets were since the program started.
#[derive(Default)]
pub(crate) struct PresetRates {
    times: HashMap<Circumstances, Latency>,
}

/// So many results of a preset are enough to tell how fast it is now.
const RECENT: usize = 15;

impl PresetRates {
    /// Takes in a result, if its parameters are those of a preset.
    pub(super) fn see(&mut self, output: &Output) {
        let Some(preset) = preset_of(&output.job.params) else { return };
        let of_preset = self.times.entry(Circumstances::of(preset, output)).or_insert_with(|| Latency::new(RECENT));
        of_preset.record(output.compute_time);
    }

    /// Pairs a second that the matcher makes with a preset in the circumstances of this result; `None` where it has not run
    /// in them.
    pub(crate) fn per_second(&self, preset: Preset, output: &Output) -> Option<f64> {
        let median = self.times.get(&Circumstances::of(preset, output))?.median()?;
        Some(1.0 / median.max(Duration::from_micros(1)).as_secs_f64())
    }
}

impl Circumstances {
    fn of(preset: Preset, output: &Output) -> Self {
        let num_disparities = output.job.params.num_disparities;
        Self { preset, size: output.job.frame.size(), num_disparities, engine: output.engine.kind }
    }
}

impl Session {
    /// Starts from a preset; the search range stays.
    pub(crate) fn set_preset(&mut self, preset: Preset) {
        let mut params = self.params.clone();
        preset.apply(&mut params);
        self.preset = preset;
        self.set_params(params);
    }

    /// The parameters that differ from those of the preset, in words.
    pub(crate) fn changes(&self) -> Vec<String> {
        differences(&self.params, self.preset)
    }

    /// Pairs a second that the matcher makes with a preset at the present size and range, where that has been seen.
    pub(crate) fn rate(&self, preset: Preset) -> Option<f64> {
        self.output.as_ref().and_then(|output| self.preset_rates.per_second(preset, output))
    }

    /// `31 frames/s here`: how fast a preset is at the present size and range.
    pub(crate) fn rate_text(&self, preset: Preset) -> String {
        match self.rate(preset) {
            Some(rate) if rate < 10.0 => format!("{rate:.1} frames/s here"),
            Some(rate) => format!("{rate:.0} frames/s here"),
            None => "not run yet here".to_owned(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::capture::Frame;
    use crate::capture::scene::{self, SceneOptions};
    use crate::engine::{CpuEngine, Job, run};
    use crate::stereo::StereoParams;
    use std::sync::Arc;

    #[test]
    fn a_rate_belongs_to_its_preset_size_range_and_engine() {
        let options = SceneOptions { width: 32, height: 24, ..SceneOptions::default() };
        let frame = Arc::new(Frame::of_raw(Arc::new(scene::render(&options, 0, false))));
        let params = Arc::new(StereoParams { num_disparities: 8, ..StereoParams::default() });
        let job = Job { frame, params, read_back: true, wants_right: false };
        let mut output = run(&mut CpuEngine::new(Some(1)), job).unwrap();
        output.compute_time = Duration::from_millis(20);
        let mut rates = PresetRates::default();
        assert_eq!(rates.per_second(Preset::Balanced, &output), None);
        rates.see(&output);
        let rate = rates.per_second(Preset::Balanced, &output).unwrap();
        assert!((rate - 50.0).abs() < 1e-6 && rates.per_second(Preset::Fast, &output).is_none(), "{rate}");
        for change in
            [|params: &mut StereoParams| params.num_disparities += 1, |params: &mut StereoParams| params.p1 += 1]
        {
            let mut params = (*output.job.params).clone();
            change(&mut params);
            let job = Job { params: Arc::new(params), ..output.job.clone() };
            let other = Output { job, compute_time: Duration::from_millis(1), ..output.clone() };
            rates.see(&other);
        }
        let after = rates.per_second(Preset::Balanced, &output).unwrap();
        assert!((after - rate).abs() < 1e-6, "what is no preset, or another range, does not count: {after}");
    }
}
