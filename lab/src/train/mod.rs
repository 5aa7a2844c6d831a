//! Training of the network of the learned choice ([`stereopsis_stereo::filter::choice`]) on random worlds of the program's own renderer.

mod fit;
mod worlds;

use anyhow::Context as _;
use fit::{Example, FloatNetwork};
use rayon::prelude::*;
use std::io::Write;
use stereopsis_base::image::{PictureRef, Truth};
use stereopsis_cpu::CpuEngine;
use stereopsis_frame::RawPair;
use stereopsis_metrics::Random;
use stereopsis_stereo::Fill;
use stereopsis_stereo::filter::choice::{ChoiceSettings, Chooser, Neighbourhood as _, Net};
use stereopsis_stereo::filter::fill;
use stereopsis_stereo::filter::planes::Fillable;
use stereopsis_stereo::map::{INVALID, SUBPIXEL_STEPS};
use stereopsis_stereo::{DisparityMap, Preset, StereoParams, Subpixel};

/// Options of the training.
#[derive(Clone, Copy, Debug)]
pub struct Options {
    /// Number of worlds.
    pub worlds: u32,
    /// Seed of the first world, the weights and the order.
    pub seed: u32,
    /// Number of epochs.
    pub epochs: usize,
}

const PRESETS: [Preset; 2] = [Preset::Balanced, Preset::Accurate];
/// Sampling intervals of pixels with a choice, and of the three times as many without one.
const SAMPLING_INTERVALS: [usize; 2] = [4, 12];
/// Largest error of a right candidate, px.
const MAX_RIGHT_ERROR_PX: f32 = 1.0;

/// Trains a network on worlds and other pairs with truth, and prints the progress.
///
/// # Errors
/// The renderer fails, or `out` cannot be written.
pub fn train(options: &Options, others: Vec<RawPair>, out: &mut dyn Write) -> anyhow::Result<Net> {
    let worlds: Vec<u32> = (0..options.worlds).map(|n| (options.seed * 100_000).wrapping_add(n)).collect();
    let worlds: Vec<_> = worlds.par_iter().with_max_len(1).map(|&seed| examples(&worlds::pair(seed)?, seed)).collect();
    let others: Vec<_> = others.par_iter().with_max_len(1).map(|pair| examples(pair, options.seed)).collect();
    let examples: anyhow::Result<Vec<_>> = worlds.into_iter().chain(others).collect();
    let examples = examples?.concat();
    let right = examples.iter().filter(|example| example.is_right).count();
    writeln!(out, "{} candidates in {} worlds, {right} of them right", examples.len(), options.worlds)?;
    let mut fit = FloatNetwork::new(&examples, u64::from(options.seed));
    let mut failed = Ok(());
    fit.train(&examples, options.epochs, |epoch, loss| {
        failed = writeln!(out, "epoch {epoch}: cross entropy {loss:.4}");
    });
    failed?;
    Ok(fit.rounded())
}

/// Extracts candidates of some pixels of a pair for each preset.
fn examples(pair: &RawPair, seed: u32) -> anyhow::Result<Vec<Example>> {
    let truth = pair.truth.as_ref().context("a pair without truth teaches nothing")?;
    let pictures = PictureRef::pair(&pair.left, &pair.right);
    let mut random = Random::with_seed(u64::from(seed));
    let mut examples = Vec::new();
    for preset in PRESETS {
        let params = params(preset, truth);
        let map = before_choice(pictures, &params)?;
        let chooser = Chooser::new(&map, pictures, None, &ChoiceSettings::of(&params));
        let (width, height) = map.size();
        let pixels = (0..height).flat_map(|y| (0..width).map(move |x| (x, y)));
        for (x, y) in pixels {
            let true_px = truth.left_px.at(x, y);
            let has_both = true_px.is_finite() && map.values.at(x, y) != INVALID;
            if !has_both || random.below(SAMPLING_INTERVALS[usize::from(chooser.is_sure((x, y)))]) > 0 {
                continue;
            }
            let evidence = chooser.all_evidence(x, y).into_iter().enumerate();
            examples.extend(evidence.map(|(n, (candidate, evidence))| Example {
                evidence: evidence.map(|number| number as i16),
                is_right: (f32::from(candidate) / SUBPIXEL_STEPS as f32 - true_px).abs() <= MAX_RIGHT_ERROR_PX,
                is_first: n == 0,
            }));
        }
    }
    Ok(examples)
}

/// Returns a preset with filling, over the range of a truth.
fn params(preset: Preset, truth: &Truth) -> StereoParams {
    let mut params = StereoParams::default();
    preset.apply(&mut params);
    // the default speckle filter leaves more holes than that of `accurate`, hence more choices to learn from
    let StereoParams { speckle_size, speckle_range, .. } = StereoParams::default();
    let largest_px = truth.left_px.pixels().iter().copied().filter(|px| px.is_finite()).fold(0.0, f32::max);
    StereoParams {
        num_disparities: largest_px as u32 + 4,
        confidence: true,
        // slightly better training maps than with the default
        subpixel: Subpixel::Parabola,
        fill: Fill::Planes,
        choice: true,
        speckle_size,
        speckle_range,
        ..params
    }
}

/// Computes the left map before the learned choice, filled and without later filters.
fn before_choice(pictures: [PictureRef<'_>; 2], params: &StereoParams) -> anyhow::Result<DisparityMap> {
    let [left, right] = pictures;
    let until_fill = StereoParams { fill: Fill::None, choice: false, weighted_median: false, ..params.clone() };
    let (maps, _) = CpuEngine::new(Some(1)).match_next(left, right, &until_fill, false)?;
    let mut map = maps.left;
    fill(&mut map, left, params.fill, &Fillable::of(params));
    Ok(map)
}
