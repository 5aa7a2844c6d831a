//! Test of a model's conventions on a pair with truth: order, brightness, sign and scale are found by the error, and the largest
//! disparity by a texture that is shifted further and further.

use crate::brightness::Brightness;
use crate::description::Description;
use crate::error::ModelError;
use crate::fit::Fit;
use crate::loaded::LoadedModel;
use std::time::Instant;
use stereopsis_base::image::{Image, Luma, PictureRef};

/// Result of a test.
#[derive(Clone, Debug)]
pub struct Inspection {
    /// Conventions with the smallest error.
    pub description: Description,
    /// Tested combinations, in the order of their tests; the guess comes first.
    pub tested: Vec<Tested>,
    /// Index of the best combination.
    pub best: usize,
}

impl Inspection {
    /// Returns the best combination.
    pub fn best(&self) -> &Tested {
        &self.tested[self.best]
    }

    /// Whether the model finds disparity with the best combination.
    pub fn is_stereo(&self) -> bool {
        self.best().bad <= MAX_BAD
    }
}

/// Combination of conventions and its error.
#[derive(Clone, Debug)]
pub struct Tested {
    /// Whether the right image came in the place of the left one of the guess.
    pub is_swapped: bool,
    /// Brightness of the inputs.
    pub brightness: Brightness,
    /// Scale of the output that fits best.
    pub scale: f32,
    /// Share of the visible pixels with an error above [`BAD_PX`], 0 to 1.
    pub bad: f64,
    /// Median error, px.
    pub median_px: f64,
    /// Time of the run, ms.
    pub run_ms: f64,
}

/// Error above which a pixel is bad, px.
pub const BAD_PX: f32 = 2.0;
/// Largest share of bad pixels of a model that finds disparity.
const MAX_BAD: f64 = 0.5;
/// Reduction of the share of bad pixels that is worth another combination than an earlier one.
const MIN_GAIN: f64 = 0.005;
/// Deviation of a scale from a known one that is taken for that one.
const SCALE_TOLERANCE: f32 = 0.15;
/// Scales of an output in px: at the input's width, and at an output of a half, a quarter and an eighth of it.
const SCALES: [f32; 4] = [1.0, 2.0, 4.0, 8.0];
/// Disparities that are tried for the largest one, px.
const SHIFTS: [usize; 10] = [32, 48, 64, 96, 128, 160, 192, 256, 320, 384];

/// Tests the guessed conventions of a model on a pair with truth, px, and returns the best ones.
///
/// # Errors
/// The model fails on each combination; the error is that of the guess.
pub fn inspect(
    model: &mut LoadedModel,
    guess: &Description,
    pair: [PictureRef<'_>; 2],
    truth_px: &Image<f32>,
) -> Result<Inspection, ModelError> {
    let mut tested = Vec::new();
    let mut first = Ok(());
    for is_swapped in [false, true] {
        for &brightness in Brightness::ALL {
            match test(model, guess, (is_swapped, brightness), pair, truth_px) {
                Ok(test) => tested.push(test),
                Err(err) => first = first.and(Err(err)),
            }
        }
    }
    let (mut best, mut least) = (0, f64::INFINITY);
    for (i, test) in tested.iter().enumerate() {
        if test.bad < least - MIN_GAIN {
            (best, least) = (i, test.bad);
        }
    }
    if tested.is_empty() {
        first?;
    }
    let found = &tested[best];
    let mut description = Description { scale: found.scale, ..changed(guess, found.is_swapped, found.brightness) };
    let (width, height) = Fit::new(pair[0].luma.size(), &description)?.input;
    if found.scale.abs() > SCALES[SCALES.len() - 1] {
        // a share of the width: the scale holds for this size alone
        (description.width, description.height) = (Some(width), Some(height));
    }
    if description.max_disparity.is_none() && found.bad <= MAX_BAD {
        description.max_disparity = largest_shift(model, &description, (width, height));
    }
    Ok(Inspection { description, tested, best })
}

fn changed(guess: &Description, is_swapped: bool, brightness: Brightness) -> Description {
    let mut description = Description { brightness, scale: 1.0, ..guess.clone() };
    if is_swapped {
        description.swapped ^= guess.left == guess.right;
        std::mem::swap(&mut description.left, &mut description.right);
    }
    description
}

/// Runs the model with one combination.
fn test(
    model: &mut LoadedModel,
    guess: &Description,
    (is_swapped, brightness): (bool, Brightness),
    pair: [PictureRef<'_>; 2],
    truth_px: &Image<f32>,
) -> Result<Tested, ModelError> {
    let description = &changed(guess, is_swapped, brightness);
    let fit = Fit::new(pair[0].luma.size(), description)?;
    let start = Instant::now();
    let output = model.run(fit.inputs(pair, description), &description.output)?;
    let run_ms = start.elapsed().as_secs_f64() * 1e3;
    let found = fit.disparities(&output, description)?;
    let width = truth_px.width();
    let is_seen = |at: usize, truth: f32| truth.is_finite() && truth > 0.5 && (at % width) as f32 >= truth;
    let both = truth_px.pixels().iter().zip(found.pixels()).enumerate();
    let both: Vec<(f32, f32)> =
        both.filter(|&(at, (truth, _))| is_seen(at, *truth)).map(|(_, (truth, found))| (*truth, *found)).collect();
    let scale = scale_of(&both, fit.input.0);
    let mut errors: Vec<f32> = both.iter().map(|(truth, found)| (scale * found - truth).abs()).collect();
    errors.iter_mut().filter(|error| !error.is_finite()).for_each(|error| *error = f32::MAX);
    errors.sort_by(f32::total_cmp);
    let bad = errors.iter().filter(|error| **error > BAD_PX).count() as f64 / errors.len().max(1) as f64;
    let median_px = errors.get(errors.len() / 2).copied().unwrap_or(f32::MAX).into();
    Ok(Tested { is_swapped, brightness, scale, bad, median_px, run_ms })
}

/// Returns the known scale near the median ratio of truth and output; 1 where none is.
fn scale_of(both: &[(f32, f32)], input_width: usize) -> f32 {
    let mut ratios: Vec<f32> =
        both.iter().map(|(truth, found)| truth / found).filter(|ratio| ratio.is_finite()).collect();
    ratios.sort_by(f32::total_cmp);
    let Some(&ratio) = ratios.get(ratios.len() / 2) else { return 1.0 };
    let known = SCALES.into_iter().chain([input_width as f32]).flat_map(|scale| [scale, -scale]);
    known.into_iter().find(|scale| (ratio / scale - 1.0).abs() < SCALE_TOLERANCE).unwrap_or(1.0)
}

/// Returns the largest of [`SHIFTS`] that the model still finds in a texture; `None` where it finds not even the smallest.
fn largest_shift(model: &mut LoadedModel, description: &Description, (width, height): (usize, usize)) -> Option<usize> {
    let tried = SHIFTS.into_iter().take_while(|shift| 2 * shift <= width);
    tried.take_while(|&shift| finds(model, description, (width, height), shift)).last()
}

fn finds(model: &mut LoadedModel, description: &Description, (width, height): (usize, usize), shift: usize) -> bool {
    let [left, right] = [0, shift].map(|by| Luma::U8(Image::from_fn(width, height, |x, y| texture(x + by, y))));
    let Ok(fit) = Fit::new((width, height), description) else { return false };
    let pair = [PictureRef::from(&left), PictureRef::from(&right)];
    let output = model.run(fit.inputs(pair, description), &description.output);
    let Ok(found) = output.and_then(|output| fit.disparities(&output, description)) else { return false };
    let seen = (0..height).flat_map(|y| (shift..width).map(move |x| (x, y)));
    let (mut all, mut right) = (0, 0);
    for (x, y) in seen {
        all += 1;
        right += usize::from((found.at(x, y) - shift as f32).abs() <= BAD_PX);
    }
    2 * right > all
}

/// Returns the brightness of a texture that nowhere repeats: noise of squares of 16, 4 and 1 px.
fn texture(x: usize, y: usize) -> u8 {
    let noise = |side: usize| {
        let cell = ((x / side) as u64) << 32 ^ ((y / side) as u64) << 8 ^ side as u64;
        let mixed = (cell.wrapping_add(1)).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let mixed = (mixed ^ mixed >> 29).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        (mixed >> 32) as u32 % 80
    };
    (8 + noise(16) + noise(4) + noise(1)) as u8
}
