//! A setting that was tried, with its loss and time.

use crate::stereo::StereoParams;
use std::sync::Arc;

/// A setting that was tried on samples: all of them, or the first ones where it could not win after these.
#[derive(Clone, Debug)]
pub struct Trial {
    /// The setting.
    pub params: Arc<StereoParams>,
    /// Mean loss of the samples, smaller is better; `None` where one of them is too empty to be judged, or none was tried.
    pub loss: Option<f64>,
    /// The best of its times on the largest samples, ms; infinite where none was tried.
    pub time_ms: f64,
    /// Mean share of the pixels that were measured, %.
    pub measured_percent: f64,
    /// Number of samples that were tried.
    pub samples: usize,
    /// What came of each.
    pub(super) runs: Vec<Run>,
}

/// What is kept of one sample.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct Run {
    /// Smaller is better; `None` where the map is too empty to be judged, or cannot be.
    pub loss: Option<f64>,
    /// Pixels measured, % of all.
    pub measured_percent: f64,
    /// The best time so far, ms.
    pub time_ms: f64,
    /// Size of the pair, px.
    pub pixels: usize,
}

impl Trial {
    /// With what came of the first samples, or of none.
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

    /// Whether it was tried on so many samples, all of which could be judged.
    pub(super) fn is_whole(&self, samples: usize) -> bool {
        self.samples == samples && self.loss.is_some()
    }

    /// Adds what came of sample number `sample`; of one that was tried before its time counts, if it is a better one.
    pub(super) fn add(&mut self, sample: usize, next: Run) {
        let mut runs = std::mem::take(&mut self.runs);
        match runs.get_mut(sample) {
            Some(run) => run.time_ms = run.time_ms.min(next.time_ms),
            None => runs.push(next),
        }
        *self = Self::of(Arc::clone(&self.params), runs);
    }

    /// The largest sample, where no other one has its size: one run alone says little of the time.
    pub(super) fn only_largest(&self) -> Option<usize> {
        let pixels = self.runs.iter().map(|run| run.pixels).max()?;
        let mut largest = (0..self.runs.len()).filter(|&k| self.runs[k].pixels == pixels);
        largest.next().filter(|_| largest.next().is_none())
    }
}

/// The mean of values that are all there.
pub(super) fn mean(values: impl Iterator<Item = Option<f64>>) -> Option<f64> {
    let values: Option<Vec<f64>> = values.collect();
    values.filter(|values| !values.is_empty()).map(|values| values.iter().sum::<f64>() / values.len() as f64)
}

/// The words of the parameters that have an effect: equal for settings that give the same maps.
pub fn key(params: &StereoParams) -> String {
    let effective = StereoParams::table().iter().filter(|parameter| parameter.inapplicable(params).is_none());
    let words: Vec<_> = effective.map(|parameter| format!("{}={}", parameter.name, (parameter.get)(params))).collect();
    words.join(" ")
}
