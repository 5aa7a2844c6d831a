//! Measures variants on the pairs of a running pipeline: varies one field at a time and keeps the quickest value.

use crate::limits::Limits;
use crate::variant::{AHEADS, CostSource, Exchange, PIECES, PathBits, Requirements, Variant, WORDS, WORKGROUPS};

/// Timed pairs per variant; the minimum counts, because other programs may use the device.
const SAMPLES: usize = 4;
/// Share of the best time below which a variant replaces the best one: smaller gains may be noise.
const MIN_GAIN: f64 = 0.97;

/// Coordinate descent over the fields of a variant.
pub struct Autotuner {
    limits: Limits,
    requirements: Requirements,
    best: Variant,
    best_ms: Option<f64>,
    candidate: Option<Variant>,
    field: usize,
    waiting: Vec<Variant>,
    samples: Vec<f64>,
}

impl Autotuner {
    pub fn new(limits: Limits, requirements: Requirements) -> Self {
        let best = Variant::baseline(&limits, &requirements);
        let (candidate, waiting, samples) = (Some(best), Vec::new(), Vec::new());
        Self { limits, requirements, best, best_ms: None, candidate, field: 0, waiting, samples }
    }

    /// Returns the quickest variant so far.
    pub fn best(&self) -> Variant {
        self.best
    }

    /// Returns the variant to measure next; `None` when the search is complete.
    pub fn candidate(&self) -> Option<Variant> {
        self.candidate
    }

    /// Returns the quickest variant and its time, ms, when the search is complete.
    pub fn result(&self) -> Option<(Variant, f64)> {
        self.best_ms.filter(|_| self.candidate.is_none()).map(|ms| (self.best, ms))
    }

    pub(crate) fn add_sample(&mut self, variant: Variant, ms: f64) {
        if self.candidate != Some(variant) {
            return;
        }
        self.samples.push(ms);
        if self.samples.len() < SAMPLES {
            return;
        }
        let ms = self.samples.drain(..).fold(f64::INFINITY, f64::min);
        if self.best_ms.is_none_or(|best_ms| ms < MIN_GAIN * best_ms) {
            (self.best, self.best_ms) = (variant, Some(ms));
        }
        self.next();
    }

    /// Skips the candidate, which cannot run here.
    pub fn skip(&mut self) {
        self.samples.clear();
        self.next();
    }

    fn next(&mut self) {
        while self.waiting.is_empty() {
            let Some(variations) = VARIATIONS.get(self.field) else { break };
            self.waiting = variations(self.best);
            let best = self.best;
            self.waiting.retain(|v| *v != best && v.unsupported_reason(&self.limits, &self.requirements).is_none());
            self.field += 1;
        }
        self.candidate = self.waiting.pop();
    }
}

/// Variations of each field, those with the largest effect first.
const VARIATIONS: [fn(Variant) -> Vec<Variant>; 8] = [
    |base| WORDS.map(|words| Variant { words, ..base }.with_possible_paths()).to_vec(),
    |base| PathBits::ALL.iter().map(|&path_bits| Variant { path_bits, ..base }).collect(),
    |base| WORKGROUPS.map(|workgroup| Variant { workgroup, ..base }).to_vec(),
    |base| AHEADS.map(|ahead| Variant { ahead, ..base }).to_vec(),
    |base| CostSource::ALL.iter().map(|&costs| Variant { costs, ..base }.with_possible_paths()).collect(),
    |base| [false, true].map(|fused| Variant { fused, ..base }).to_vec(),
    |base| if base.fused { Vec::new() } else { PIECES.map(|piece| Variant { piece, ..base }).to_vec() },
    |base| Exchange::ALL.iter().map(|&exchange| Variant { exchange, ..base }).collect(),
];
