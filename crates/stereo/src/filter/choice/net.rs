//! Small network of integers, trained by `stereopsis-lab train`: evidence in, a score out, the same bits on every engine.

use super::EVIDENCE;
use std::sync::OnceLock;

const TEXT: &str = include_str!("choice.net");
/// Largest output of a hidden layer.
pub const MAX_HIDDEN: i32 = 4095;

/// Weights and biases of a layer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Layer {
    /// Number of inputs.
    pub inputs: usize,
    /// Number of outputs.
    pub outputs: usize,
    /// Bits by which sums are shifted right. The score itself is not shifted, only its [chance](Net::chance_of).
    pub shift: u32,
    /// Biases, one for each output.
    pub biases: Vec<i32>,
    /// Weights; those of input `i` are `weights[i * outputs..][..outputs]`.
    pub weights: Vec<i32>,
}

/// Layers in series. The outputs of all but the last are clamped to 0 to [`MAX_HIDDEN`]; the last one has a single output, the score.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Net {
    /// Layers, from the input to the score.
    pub layers: Vec<Layer>,
}

/// Returns the network of the program.
///
/// # Panics
/// The built-in file is damaged.
#[allow(clippy::expect_used, reason = "the file is part of the program")]
pub fn net() -> &'static Net {
    static NET: OnceLock<Net> = OnceLock::new();
    NET.get_or_init(|| Net::read(TEXT).expect("the network of the program is whole"))
}

/// Shifted score that stands for 1 in the logarithm of the odds.
pub const UNIT: i32 = 256;
/// Bits of the step between two entries of the table of chances.
const CHANCE_BITS: u32 = 4;
const MAX_SCORE: i32 = 6 * UNIT;

/// Returns the logistic function of a shifted score, in 255ths.
fn chance(score: i32) -> u8 {
    static CHANCES: OnceLock<Vec<u8>> = OnceLock::new();
    let chances = CHANCES.get_or_init(|| chances().collect());
    chances[((score.clamp(-MAX_SCORE, MAX_SCORE) + MAX_SCORE) >> CHANCE_BITS) as usize]
}

/// Returns the numbers for a shader: all biases and weights, layer by layer, then the chances of all scores.
pub fn numbers() -> impl Iterator<Item = i32> {
    let layers = net().layers.iter();
    layers.flat_map(|layer| layer.biases.iter().chain(&layer.weights)).copied().chain(chances().map(i32::from))
}

fn chances() -> impl Iterator<Item = u8> {
    let scores = (-MAX_SCORE..=MAX_SCORE).step_by(1 << CHANCE_BITS);
    scores.map(|score| (255.0 / (1.0 + (-f64::from(score) / f64::from(UNIT)).exp())).round() as u8)
}

/// Largest number of outputs of a layer.
pub const MAX_LAYER_WIDTH: usize = 32;
const MAX_INPUTS: usize = if EVIDENCE > MAX_LAYER_WIDTH { EVIDENCE } else { MAX_LAYER_WIDTH };

impl Net {
    /// Computes the score of a candidate; the larger the likelier.
    #[inline(always)]
    pub fn score(&self, evidence: &[i32; EVIDENCE]) -> i32 {
        let mut inputs = [0; MAX_INPUTS];
        inputs[..EVIDENCE].copy_from_slice(evidence);
        for layer in &self.layers {
            let mut sums = [0; MAX_LAYER_WIDTH];
            let sums = &mut sums[..layer.outputs];
            sums.copy_from_slice(&layer.biases);
            for (i, weights) in layer.weights.chunks_exact(layer.outputs).enumerate() {
                for (sum, weight) in sums.iter_mut().zip(weights) {
                    *sum += inputs[i] * weight;
                }
            }
            if layer.outputs == 1 {
                return sums[0];
            }
            for (input, sum) in inputs.iter_mut().zip(sums) {
                *input = (*sum >> layer.shift).clamp(0, MAX_HIDDEN);
            }
        }
        inputs[0]
    }

    /// Returns the score that multiplies the odds by e.
    #[inline(always)]
    pub fn unit(&self) -> i32 {
        self.layers.last().map_or(0, |layer| UNIT << layer.shift)
    }

    /// Returns the chance in 255ths that a disparity with this score lies within 1 px of the truth.
    #[inline(always)]
    pub fn chance_of(&self, score: i32) -> u8 {
        chance(score >> self.layers.last().map_or(0, |layer| layer.shift))
    }

    /// Reads a network: lines of numbers, for each layer its inputs, outputs and shift, then its biases, then the weights of each input.
    /// Lines that begin with `#` are remarks. `None` if the text is damaged.
    pub fn read(text: &str) -> Option<Self> {
        let lines = text.lines().filter(|line| !line.starts_with('#') && !line.trim().is_empty());
        let mut lines = lines.map(|line| line.split_whitespace().map(|number| number.parse().ok()).collect());
        let mut layers = Vec::new();
        while let Some(head) = lines.next() {
            let head: Option<Vec<i32>> = head;
            let &[inputs, outputs, shift] = &head?[..] else { return None };
            let (inputs, outputs) = (inputs as usize, outputs as usize);
            let biases = lines.next()??;
            let weights = (0..inputs).map(|_| lines.next()?).collect::<Option<Vec<_>>>()?.concat();
            let before = layers.last().map_or(EVIDENCE, |layer: &Layer| layer.outputs);
            let fits = inputs == before && (1..=MAX_LAYER_WIDTH).contains(&outputs) && (0..31).contains(&shift);
            if !fits || biases.len() != outputs || weights.len() != inputs * outputs {
                return None;
            }
            layers.push(Layer { inputs, outputs, shift: shift as u32, biases, weights });
        }
        layers.last().is_some_and(|layer| layer.outputs == 1).then_some(Self { layers })
    }

    /// Returns the text of a network, in the form that [`Self::read`] accepts.
    pub fn text(&self) -> String {
        let line = |numbers: &[i32]| numbers.iter().map(i32::to_string).collect::<Vec<_>>().join(" ") + "\n";
        let layer = |layer: &Layer| {
            let head = format!("{} {} {}\n", layer.inputs, layer.outputs, layer.shift);
            let rows: String = layer.weights.chunks_exact(layer.outputs).map(line).collect();
            head + &line(&layer.biases) + &rows
        };
        self.layers.iter().map(layer).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_are_shifted_and_stay_within_their_bounds() {
        let row = |first: &str, others: &str| format!("{first}\n{}", format!("{others}\n").repeat(EVIDENCE - 1));
        let text = format!("# a remark\n{EVIDENCE} 2 1\n10 -7\n{}2 1 0\n5\n1\n-100\n", row("3 2", "0 0"));
        let net = Net::read(&text).unwrap();
        assert_eq!(Net::read(&net.text()).unwrap(), net);
        let score = |first: i32| {
            let mut evidence = [9; EVIDENCE];
            evidence[0] = first;
            net.score(&evidence)
        };
        // 3 * 4 + 10 = 22 >> 1 = 11; 2 * 4 - 7 = 1 >> 1 = 0
        assert_eq!(score(4), 5 + 11);
        assert_eq!(score(5), 5 + 12 - 100, "2 * 5 - 7 = 3 >> 1 = 1");
        assert_eq!(score(-9), 5, "nothing below 0");
        assert_eq!(score(100_000), 5 + MAX_HIDDEN - 100 * MAX_HIDDEN);
    }

    #[test]
    fn damaged_texts_are_refused() {
        let good = net().text();
        assert!(Net::read(&good).is_some());
        for text in [
            "",
            "1 2",
            "x",
            &good[..good.len() / 2],
            &good.replacen(&EVIDENCE.to_string(), "30", 1),
            &(good.clone() + "7\n"),
        ] {
            assert!(Net::read(text).is_none(), "{text:.40}");
        }
    }
}
