//! Patches around a corner at two scales, normalised for correlation: mean 0, length 1, in integers.

use super::corners::Corner;
use super::pyramid::{Pyramid, SmoothedImage};

/// Radius of the patch around the corner, px.
const FINE_RADIUS: usize = 5;
/// Radius of the patch at a quarter of the resolution, which distinguishes repeated patterns.
const COARSE_RADIUS: usize = 6;
const FINE_AREA: usize = (2 * FINE_RADIUS + 1) * (2 * FINE_RADIUS + 1);
const COARSE_AREA: usize = (2 * COARSE_RADIUS + 1) * (2 * COARSE_RADIUS + 1);
/// Length of a patch as a vector.
const NORM: f32 = 16_384.0;
/// Smallest correlation of the coarse patches; below it the fine ones are not compared.
const MIN_COARSE_CORRELATION: f32 = 0.35;

/// Two patches, padded to whole registers.
#[derive(Debug)]
pub(super) struct Patch {
    near: [i16; FINE_AREA.next_multiple_of(16)],
    wide: [i16; COARSE_AREA.next_multiple_of(16)],
}

impl Patch {
    /// Cuts out the patches around a corner of level `work`.
    pub(super) fn cut(pyramid: &Pyramid, work: usize, corner: Corner) -> Self {
        let context = pyramid.context_of(work);
        let step = (1 << (context - work)) as f32;
        let place = |v: f32| ((v + 0.5) / step - 0.5).round() as isize;
        Self {
            near: normal(pyramid.level(work), corner.x as isize, corner.y as isize, FINE_RADIUS),
            wide: normal(pyramid.level(context), place(corner.x), place(corner.y), COARSE_RADIUS),
        }
    }

    /// Returns the mean correlation, up to 1; `None` if the coarse patches differ.
    pub(super) fn likeness(&self, other: &Self) -> Option<f32> {
        let wide = correlation(&self.wide, &other.wide);
        (wide > MIN_COARSE_CORRELATION).then(|| f32::midpoint(wide, correlation(&self.near, &other.near)))
    }
}

fn normal<const N: usize>(level: &SmoothedImage, x: isize, y: isize, reach: usize) -> [i16; N] {
    let reach = reach as isize;
    let mut values = [0.0f32; N];
    let area = (2 * reach + 1) * (2 * reach + 1);
    let mut i = 0;
    for v in y - reach..=y + reach {
        for u in x - reach..=x + reach {
            values[i] = f32::from(level.at_clamped(u, v));
            i += 1;
        }
    }
    let values = &mut values[..area as usize];
    let mean = values.iter().sum::<f32>() / area as f32;
    for v in values.iter_mut() {
        *v -= mean;
    }
    let length = values.iter().map(|v| v * v).sum::<f32>().sqrt();
    let mut out = [0; N];
    if length > 0.0 {
        for (out, v) in out.iter_mut().zip(values) {
            *out = (*v * NORM / length).round() as i16;
        }
    }
    out
}

fn correlation(a: &[i16], b: &[i16]) -> f32 {
    let sum: i32 = a.iter().zip(b).map(|(&a, &b)| i32::from(a) * i32::from(b)).sum();
    sum as f32 / (NORM * NORM)
}
