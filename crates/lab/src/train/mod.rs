//! Trains the network of the learned choice ([`crate::stereo::filter::choice`]) on random worlds of the program's own renderer.

mod fit;
mod worlds;

use crate::capture::RawPair;
use crate::engine::CpuEngine;
use crate::image::{PictureRef, Truth};
use crate::metrics::Random;
use crate::stereo::filter::choice::{Chooser, Neighbourhood as _, Net};
use crate::stereo::filter::{Fill, fill_for_choice};
use crate::stereo::map::{INVALID, SUBPIXEL_STEPS};
use crate::stereo::{DisparityMap, Preset, StereoParams, Subpixel};
use anyhow::Context as _;
use fit::{Example, Fit};
use rayon::prelude::*;
use std::io::Write;

/// How it is trained.
#[derive(Clone, Copy, Debug)]
pub struct Options {
    /// Number of worlds.
    pub worlds: u32,
    /// Seed of the first world, of weights and of the order.
    pub seed: u32,
    /// How often all examples are seen.
    pub epochs: usize,
}

/// The presets whose maps it is trained on.
const PRESETS: [Preset; 2] = [Preset::Balanced, Preset::Accurate];
/// Of so many pixels one is an example: of those with a choice, and of those that are sure, which are three times as many.
const SPARSE: [usize; 2] = [4, 12];
/// A right candidate is at most this far from the truth, px.
const RIGHT_PX: f32 = 1.0;

/// Trains a network on worlds and on other pairs with truth, and writes how it goes.
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
    let mut fit = Fit::new(&examples, u64::from(options.seed));
    let mut failed = Ok(());
    fit.train(&examples, options.epochs, |epoch, loss| {
        failed = writeln!(out, "epoch {epoch}: cross entropy {loss:.4}");
    });
    failed?;
    Ok(fit.rounded())
}

/// Candidates of some pixels of a pair, with each preset.
fn examples(pair: &RawPair, seed: u32) -> anyhow::Result<Vec<Example>> {
    let truth = pair.truth.as_ref().context("a pair without truth teaches nothing")?;
    let pictures = PictureRef::pair(&pair.left, &pair.right);
    let mut random = Random::with_seed(u64::from(seed));
    let mut examples = Vec::new();
    for preset in PRESETS {
        let params = params(preset, truth);
        let map = before_choice(pictures, &params)?;
        let chooser = Chooser::new(&map, pictures, None, &params);
        let (width, height) = map.size();
        let pixels = (0..height).flat_map(|y| (0..width).map(move |x| (x, y)));
        for (x, y) in pixels {
            let true_px = truth.left_px.at(x, y);
            let has_both = true_px.is_finite() && map.values.at(x, y) != INVALID;
            if !has_both || random.below(SPARSE[usize::from(chooser.is_sure((x, y)))]) > 0 {
                continue;
            }
            let evidence = chooser.all_evidence(x, y).into_iter().enumerate();
            examples.extend(evidence.map(|(n, (candidate, evidence))| Example {
                evidence: evidence.map(|number| number as i16),
                is_right: (f32::from(candidate) / SUBPIXEL_STEPS as f32 - true_px).abs() <= RIGHT_PX,
                is_first: n == 0,
            }));
        }
    }
    Ok(examples)
}

/// A preset that fills, over the range of a truth.
fn params(preset: Preset, truth: &Truth) -> StereoParams {
    let mut params = StereoParams::default();
    preset.apply(&mut params);
    // the default speckle filter for all presets: it leaves more holes than that of `accurate`, and so more choices to learn from
    let StereoParams { speckle_size, speckle_range, .. } = StereoParams::default();
    let largest_px = truth.left_px.pixels().iter().copied().filter(|px| px.is_finite()).fold(0.0, f32::max);
    StereoParams {
        num_disparities: largest_px as u32 + 4,
        confidence: true,
        // its maps teach a little more than those of the default
        subpixel: Subpixel::Parabola,
        fill: Fill::Planes,
        choice: true,
        speckle_size,
        speckle_range,
        ..params
    }
}

/// The left map as the learned choice finds it: filled, and not changed by what comes behind.
fn before_choice(pictures: [PictureRef<'_>; 2], params: &StereoParams) -> anyhow::Result<DisparityMap> {
    let [left, right] = pictures;
    let until_fill = StereoParams { fill: Fill::None, choice: false, weighted_median: false, ..params.clone() };
    let (maps, _) = CpuEngine::new(Some(1)).match_next(left, right, &until_fill, false)?;
    let mut map = maps.left;
    fill_for_choice(&mut map, left, params);
    Ok(map)
}
