//! Floating-point network, fitted to evidence and rounded to the integers used in matching.

use rayon::prelude::*;
use stereopsis_metrics::Random;
use stereopsis_stereo::filter::choice::{EVIDENCE, Layer, Net, UNIT};

/// Numbers of units of the hidden layers.
const HIDDEN: [usize; 2] = [32, 16];
/// Number of pixels per step.
const BATCH: usize = 128;
/// Number of pixels whose gradients are summed sequentially, which makes the result independent of threads.
const PART: usize = 32;
/// Learning rate of Adam (D. Kingma & J. Ba, 2015), which falls to 0 along a cosine.
const LEARNING_RATE: f32 = 0.002;
/// Decay of Adam's means of gradients and of their squares.
const ADAM_DECAY: [f32; 2] = [0.9, 0.999];
/// Largest integer weights, so that the sums of any layer fit 32 bits.
const MAX_WEIGHT: [f32; 3] = [32_767.0, 16_383.0, 16_383.0];

/// Evidence for a candidate, and its label; candidates of a pixel are adjacent.
#[derive(Clone, Copy)]
pub(super) struct Example {
    pub(super) evidence: [i16; EVIDENCE],
    pub(super) is_right: bool,
    /// Whether this is the first candidate of its pixel.
    pub(super) is_first: bool,
}

#[derive(Clone)]
struct FloatLayer {
    inputs: usize,
    outputs: usize,
    /// Biases of the outputs, then the weights of all outputs for each input.
    numbers: Vec<f32>,
}

/// Network during the fit.
pub(super) struct FloatNetwork {
    layers: Vec<FloatLayer>,
    /// Mean and inverse standard deviation of each evidence value.
    scale: Vec<(f32, f32)>,
    random: Random,
}

impl FloatLayer {
    fn weights(&self, input: usize) -> &[f32] {
        &self.numbers[self.outputs * (1 + input)..][..self.outputs]
    }

    fn zero(&self) -> Self {
        Self { numbers: vec![0.0; self.numbers.len()], ..*self }
    }
}

impl FloatNetwork {
    /// Creates a network with random weights (He et al., Delving deep into rectifiers, 2015), scaled to these examples.
    pub(super) fn new(examples: &[Example], seed: u64) -> Self {
        let mut random = Random::with_seed(seed);
        let sizes = [EVIDENCE, HIDDEN[0], HIDDEN[1], 1];
        let layers = sizes.windows(2).map(|size| {
            let deviation = (2.0 / size[0] as f64).sqrt();
            // approximately normal, the sum of six numbers of variance 1/12
            let mut normal = || (0..6).map(|_| random.share() - 0.5).sum::<f64>() * 2.0_f64.sqrt() * deviation;
            let weights = (0..size[0] * size[1]).map(|_| normal() as f32);
            FloatLayer {
                inputs: size[0],
                outputs: size[1],
                numbers: std::iter::repeat_n(0.0, size[1]).chain(weights).collect(),
            }
        });
        let layers = layers.collect();
        let count = examples.len().max(1) as f64;
        let scale = (0..EVIDENCE).map(|i| {
            let values = || examples.iter().map(|example| f64::from(example.evidence[i]));
            let mean = values().sum::<f64>() / count;
            let deviation = (values().map(|value| (value - mean).powi(2)).sum::<f64>() / count).sqrt();
            (mean as f32, if deviation > 1e-6 { (1.0 / deviation) as f32 } else { 0.0 })
        });
        Self { layers, scale: scale.collect(), random }
    }

    /// Trains for this many epochs in random order, and returns the last epoch's mean cross entropy of a candidate.
    /// The loss is the sum of two cross entropies: of each candidate's probability, and of the choice between a pixel's candidates.
    pub(super) fn train(&mut self, examples: &[Example], epochs: usize, mut report: impl FnMut(usize, f64)) -> f64 {
        let mut order: Vec<u32> = (0..examples.len() as u32).filter(|&n| examples[n as usize].is_first).collect();
        let mut means = [(); 2].map(|()| self.layers.iter().map(FloatLayer::zero).collect::<Vec<_>>());
        let steps = (epochs * order.len().div_ceil(BATCH)).max(1);
        let (mut step, mut loss) = (0, 0.0);
        for epoch in 0..epochs {
            for last in (1..order.len()).rev() {
                order.swap(last, self.random.below(last + 1));
            }
            loss = 0.0;
            for batch in order.chunks(BATCH) {
                step += 1;
                let rate = LEARNING_RATE * 0.5 * (1.0 + (std::f32::consts::PI * step as f32 / steps as f32).cos());
                let parts: Vec<_> = batch.par_chunks(PART).map(|part| self.slopes(part, examples)).collect();
                loss += parts.iter().map(|(_, loss)| loss).sum::<f64>();
                let share = 1.0 / batch.len() as f32;
                let unbias = ADAM_DECAY.map(|forget| 1.0 / (1.0 - forget.powi(step)));
                for (l, layer) in self.layers.iter_mut().enumerate() {
                    for (n, number) in layer.numbers.iter_mut().enumerate() {
                        let slope = share * parts.iter().map(|(slopes, _)| slopes[l].numbers[n]).sum::<f32>();
                        let [first, second] = &mut means;
                        let (first, second) = (&mut first[l].numbers[n], &mut second[l].numbers[n]);
                        *first = ADAM_DECAY[0] * *first + (1.0 - ADAM_DECAY[0]) * slope;
                        *second = ADAM_DECAY[1] * *second + (1.0 - ADAM_DECAY[1]) * slope * slope;
                        *number -= rate * unbias[0] * *first / ((unbias[1] * *second).sqrt() + 1e-8);
                    }
                }
            }
            loss /= examples.len().max(1) as f64;
            report(epoch + 1, loss);
        }
        loss
    }

    /// Computes gradients over some pixels, given by their first examples, and the summed cross entropy of the candidates.
    fn slopes(&self, part: &[u32], examples: &[Example]) -> (Vec<FloatLayer>, f64) {
        let mut slopes: Vec<_> = self.layers.iter().map(FloatLayer::zero).collect();
        let mut loss = 0.0;
        for &first in part {
            let rest = &examples[first as usize..];
            let count = 1 + rest[1..].iter().take_while(|example| !example.is_first).count();
            let candidates = &rest[..count];
            let outputs: Vec<_> = candidates.iter().map(|example| self.outputs(&example.evidence)).collect();
            let scores: Vec<f32> = outputs.iter().map(|outputs| outputs[self.layers.len()][0]).collect();
            for ((example, outputs), slope) in
                candidates.iter().zip(&outputs).zip(slopes_of_choice(candidates, &scores))
            {
                let chance = 1.0 / (1.0 + (-outputs[self.layers.len()][0]).exp());
                let right = f32::from(u8::from(example.is_right));
                loss -= f64::from(if example.is_right { chance } else { 1.0 - chance }.max(1e-7)).ln();
                self.go_back(outputs, chance - right + slope, &mut slopes);
            }
        }
        (slopes, loss)
    }

    /// Back-propagates a score's gradient through the layers and adds the weights' gradients to `slopes`.
    fn go_back(&self, outputs: &[Vec<f32>], slope: f32, slopes: &mut [FloatLayer]) {
        let mut back = vec![slope];
        for (l, layer) in self.layers.iter().enumerate().rev() {
            let inputs = &outputs[l];
            let slopes = &mut slopes[l].numbers;
            for (slope, back) in slopes.iter_mut().zip(&back) {
                *slope += back;
            }
            let mut before = vec![0.0; layer.inputs];
            for (i, &input) in inputs.iter().enumerate() {
                if l > 0 && input <= 0.0 {
                    continue; // a hidden value at its bound passes no gradient back
                }
                let slopes = &mut slopes[layer.outputs * (1 + i)..][..layer.outputs];
                for ((slope, weight), back) in slopes.iter_mut().zip(layer.weights(i)).zip(&back) {
                    *slope += input * back;
                    before[i] += weight * back;
                }
            }
            back = before;
        }
    }

    fn outputs(&self, evidence: &[i16; EVIDENCE]) -> Vec<Vec<f32>> {
        let scaled =
            evidence.iter().zip(&self.scale).map(|(&value, (mean, inverse))| (f32::from(value) - mean) * inverse);
        let mut outputs: Vec<Vec<f32>> = vec![scaled.collect()];
        for (l, layer) in self.layers.iter().enumerate() {
            let mut sums = layer.numbers[..layer.outputs].to_vec();
            for (i, &input) in outputs[l].iter().enumerate() {
                for (sum, weight) in sums.iter_mut().zip(layer.weights(i)) {
                    *sum += input * weight;
                }
            }
            if l + 1 < self.layers.len() {
                for sum in &mut sums {
                    *sum = sum.max(0.0);
                }
            }
            outputs.push(sums);
        }
        outputs
    }

    /// Returns the integer network, with hidden values scaled by [`UNIT`] and weights as far as 32-bit sums permit.
    pub(super) fn rounded(&self) -> Net {
        let layers = self.layers.iter().enumerate().map(|(l, layer)| {
            let mut numbers = layer.numbers.clone();
            if l == 0 {
                // fold the evidence scale into the weights
                for (i, (mean, inverse)) in self.scale.iter().enumerate() {
                    for k in 0..layer.outputs {
                        let weight = numbers[layer.outputs * (1 + i) + k] * inverse;
                        numbers[layer.outputs * (1 + i) + k] = weight;
                        numbers[k] -= weight * mean;
                    }
                }
            }
            let (biases, weights) = numbers.split_at(layer.outputs);
            // layers: evidence to hidden, hidden to hidden, hidden to score
            let unit = if l == 0 { UNIT as f32 } else { 1.0 };
            let largest = weights.iter().fold(1e-9_f32, |largest, weight| largest.max(weight.abs())) * unit;
            let shift = (MAX_WEIGHT[l.min(2)] / largest).log2().floor().clamp(0.0, 20.0);
            let factor = unit * shift.exp2();
            let bias_factor = UNIT as f32 * shift.exp2();
            Layer {
                inputs: layer.inputs,
                outputs: layer.outputs,
                shift: shift as u32,
                biases: biases.iter().map(|bias| (bias * bias_factor).round() as i32).collect(),
                weights: weights.iter().map(|weight| (weight * factor).round() as i32).collect(),
            }
        });
        Net { layers: layers.collect() }
    }
}

/// Computes gradients of `-ln(probability that a right candidate is chosen)` with probabilities proportional to `exp(score)`, which are 0
/// if all candidates are right or none.
fn slopes_of_choice(candidates: &[Example], scores: &[f32]) -> Vec<f32> {
    let largest = scores.iter().copied().fold(f32::MIN, f32::max);
    let weights: Vec<f32> = scores.iter().map(|score| (score - largest).exp()).collect();
    let all: f32 = weights.iter().sum();
    let right: f32 =
        candidates.iter().zip(&weights).filter(|(example, _)| example.is_right).map(|(_, weight)| weight).sum();
    let is_choice =
        candidates.iter().any(|example| example.is_right) && candidates.iter().any(|example| !example.is_right);
    let slope = |(example, weight): (&Example, &f32)| {
        let among_right = if example.is_right { weight / right.max(f32::MIN_POSITIVE) } else { 0.0 };
        if is_choice { weight / all - among_right } else { 0.0 }
    };
    candidates.iter().zip(&weights).map(slope).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Creates examples that are right where the first value exceeds the second; the other values are noise.
    fn examples(count: usize) -> Vec<Example> {
        let mut random = Random::with_seed(3);
        let mut example = || {
            let evidence = [(); EVIDENCE].map(|()| random.below(256) as i16);
            Example { evidence, is_right: evidence[0] > evidence[1], is_first: random.below(2) == 0 }
        };
        let mut examples: Vec<_> = (0..count).map(|_| example()).collect();
        examples[0].is_first = true;
        examples
    }

    #[test]
    fn learned_rule_survives_rounding_and_is_reproducible() {
        let examples = examples(6000);
        let fitted = || {
            let mut fit = FloatNetwork::new(&examples, 1);
            let loss = fit.train(&examples, 40, |_, _| {});
            (fit.rounded(), loss)
        };
        let (net, loss) = fitted();
        assert!(loss < 0.1, "{loss}");
        let agrees = |example: &&Example| (net.score(&example.evidence.map(i32::from)) > 0) == example.is_right;
        let right = examples.iter().filter(agrees).count();
        assert!(right > 5800, "{right} of 6000");
        assert_eq!(fitted().0, net);
        let is_bounded = |layer: &Layer| layer.weights.iter().all(|weight| weight.abs() <= 32_767);
        assert!(net.layers.iter().all(is_bounded));
    }
}
