//! Tries variants on the pairs that come along: one part of the variant after the other, the best one so far being kept.

use crate::engine::gpu::variant::{
    Arithmetic, Capabilities, CostSource, Exchange, PIECES, Requirements, Variant, WORKGROUPS,
};

/// Pairs that are timed with each variant; the quickest counts, because others may use the device too.
const SAMPLES: usize = 4;
/// What a variant has to gain to replace another: less may be chance.
const WORTH: f64 = 0.97;

/// The parts of a variant, in the order in which they are tried: those that change most first.
const PARTS: usize = 7;

pub(in crate::engine::gpu) struct Autotuner {
    capabilities: Capabilities,
    requirements: Requirements,
    best: Variant,
    best_ms: Option<f64>,
    trying: Option<Variant>,
    part: usize,
    waiting: Vec<Variant>,
    samples: Vec<f64>,
}

impl Autotuner {
    pub(in crate::engine::gpu) fn new(capabilities: Capabilities, requirements: Requirements) -> Self {
        let best = Variant::baseline(&capabilities, &requirements);
        let (trying, waiting, samples) = (Some(best), Vec::new(), Vec::new());
        Self { capabilities, requirements, best, best_ms: None, trying, part: 0, waiting, samples }
    }

    /// The quickest variant so far.
    pub(in crate::engine::gpu) fn best(&self) -> Variant {
        self.best
    }

    /// The variant whose time is wanted next; none when all is known.
    pub(in crate::engine::gpu) fn trying(&self) -> Option<Variant> {
        self.trying
    }

    /// The quickest variant and its time, when all is known.
    pub(in crate::engine::gpu) fn result(&self) -> Option<(Variant, f64)> {
        self.best_ms.filter(|_| self.trying.is_none()).map(|ms| (self.best, ms))
    }

    /// Takes the time of a pair.
    pub(in crate::engine::gpu) fn note(&mut self, variant: Variant, ms: f64) {
        if self.trying != Some(variant) {
            return;
        }
        self.samples.push(ms);
        if self.samples.len() < SAMPLES {
            return;
        }
        let ms = self.samples.drain(..).fold(f64::INFINITY, f64::min);
        if self.best_ms.is_none_or(|best_ms| ms < WORTH * best_ms) {
            (self.best, self.best_ms) = (variant, Some(ms));
        }
        self.next();
    }

    /// Leaves out the variant that was being tried: it cannot be run here.
    pub(in crate::engine::gpu) fn skip(&mut self) {
        self.samples.clear();
        self.next();
    }

    fn next(&mut self) {
        while self.waiting.is_empty() && self.part < PARTS {
            self.waiting = others(self.best, self.part);
            let best = self.best;
            self.waiting
                .retain(|v| *v != best && v.unsupported_reason(&self.capabilities, &self.requirements).is_none());
            self.part += 1;
        }
        self.trying = self.waiting.pop();
    }
}

/// The variants that differ in one part.
fn others(base: Variant, part: usize) -> Vec<Variant> {
    match part {
        0 => Arithmetic::ALL.iter().map(|&arithmetic| Variant { arithmetic, ..base }).collect(),
        1 => [1, 2, 4].map(|words| Variant { words, ..base }).to_vec(),
        2 => WORKGROUPS.map(|workgroup| Variant { workgroup, ..base }).to_vec(),
        3 => CostSource::ALL.iter().map(|&costs| Variant { costs, ..base }).collect(),
        4 => [false, true].map(|fused| Variant { fused, ..base }).to_vec(),
        5 if base.fused => Vec::new(),
        5 => PIECES.map(|piece| Variant { piece, ..base }).to_vec(),
        _ => Exchange::ALL.iter().map(|&exchange| Variant { exchange, ..base }).collect(),
    }
}
