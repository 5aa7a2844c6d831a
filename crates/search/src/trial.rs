//! Tried setting with its loss and time.

use std::sync::Arc;
use stereopsis_stereo::StereoParams;

/// Setting that was tried on all samples, or on the first ones after which it could not win.
#[derive(Clone, Debug)]
pub struct Trial {
    /// Parameters of the setting.
    pub params: Arc<StereoParams>,
    /// Mean loss of the samples, smaller is better; `None` if a map is too empty to be judged, or without a sample.
    pub loss: Option<f64>,
    /// Best time on the largest samples, ms; infinite if none was tried.
    pub time_ms: f64,
    /// Mean share of the measured pixels, %.
    pub measured_percent: f64,
    /// Number of tried samples.
    pub samples: usize,
    pub(super) runs: Vec<Run>,
}

/// Result of one sample.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct Run {
    /// Loss, smaller is better; `None` if the map is too empty or cannot be judged.
    pub loss: Option<f64>,
    /// Share of measured pixels, %.
    pub measured_percent: f64,
    /// Best time, ms.
    pub time_ms: f64,
    /// Size of the pair, px.
    pub pixels: usize,
}

impl Trial {
    /// Creates a trial from the results of the first samples, possibly none.
    pub fn of(params: Arc<StereoParams>, runs: Vec<Run>) -> Self {
        let pixels = runs.iter().map(|run| run.pixels).max();
        let largest = runs.iter().filter(|run| Some(run.pixels) == pixels);
        Self {
            params,
            loss: mean(runs.iter().map(|run| run.loss)),
            time_ms: largest.map(|run| run.time_ms).fold(f64::INFINITY, f64::min),
            measured_percent: mean(runs.iter().map(|run| Some(run.measured_percent))).unwrap_or(0.0),
            samples: runs.len(),
            runs,
        }
    }

    pub(super) fn is_whole(&self, samples: usize) -> bool {
        self.samples == samples && self.loss.is_some()
    }

    /// Adds the result of a sample, or the time of a repeated one if better.
    pub(super) fn add(&mut self, sample: usize, next: Run) {
        let mut runs = std::mem::take(&mut self.runs);
        match runs.get_mut(sample) {
            Some(run) => run.time_ms = run.time_ms.min(next.time_ms),
            None => runs.push(next),
        }
        *self = Self::of(Arc::clone(&self.params), runs);
    }

    /// Returns the largest sample if no other one has its size, because one run alone does not give a reliable time.
    pub(super) fn only_largest(&self) -> Option<usize> {
        let pixels = self.runs.iter().map(|run| run.pixels).max()?;
        let mut largest = (0..self.runs.len()).filter(|&k| self.runs[k].pixels == pixels);
        largest.next().filter(|_| largest.next().is_none())
    }
}

pub(super) fn mean(values: impl Iterator<Item = Option<f64>>) -> Option<f64> {
    let values: Option<Vec<f64>> = values.collect();
    values.filter(|values| !values.is_empty()).map(|values| values.iter().sum::<f64>() / values.len() as f64)
}

/// Returns the texts of the parameters that have an effect, equal for settings with equal maps.
pub fn key(params: &StereoParams) -> String {
    let effective = StereoParams::table().iter().filter(|parameter| parameter.inapplicable(params).is_none());
    let words: Vec<_> = effective.map(|parameter| format!("{}={}", parameter.name, (parameter.get)(params))).collect();
    words.join(" ")
}
