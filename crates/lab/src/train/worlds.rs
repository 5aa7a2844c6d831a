//! Pairs to learn from: random worlds through cameras that are never quite right.

use crate::capture::scene::{SceneOptions, SceneRenderer, SceneWorld};
use crate::capture::{CaptureError, RawPair};
use crate::image::{Image, Picture};
use crate::metrics::Random;

/// Size of a pair, px.
const SIZE: (usize, usize) = (400, 300);

/// The pair of a world: noisy and blurred in two thirds of the cases, rectified wrong by up to half a pixel or exposed differently in
/// half of them.
///
/// # Errors
/// The renderer fails.
pub(super) fn pair(seed: u32) -> Result<RawPair, CaptureError> {
    let mut random = Random::with_seed(u64::from(seed) ^ 0x00AB_CDEF);
    let noise = if random.below(3) == 0 { 0.0 } else { 3.0 * random.share() * random.share() };
    let gain = if random.below(2) == 0 { 1.0 } else { 0.8 + 0.45 * random.share() };
    let vertical_px = if random.below(2) == 0 { 0.0 } else { random.share() - 0.5 };
    let baseline_m = 0.05 + 0.06 * random.share();
    let blurs = random.below(3);
    let options = SceneOptions {
        width: SIZE.0,
        height: SIZE.1,
        baseline_m,
        world: SceneWorld::Random,
        seed,
        vertical_px,
        ..SceneOptions::default()
    };
    let pair = SceneRenderer::new(&options)?.pair(0);
    let mut expose = |picture: &Picture, gain: f64| {
        let mut rgb = picture.rgb.clone().unwrap_or_else(|| Image::filled(SIZE.0, SIZE.1, [0; 3]));
        for _ in 0..blurs {
            rgb = blurred(&rgb);
        }
        let mut grain = || (0..6).map(|_| random.share() - 0.5).sum::<f64>() * 2.0_f64.sqrt() * noise;
        let rgb =
            rgb.map(|color| color.map(|value| (f64::from(value) * gain + grain()).round().clamp(0.0, 255.0) as u8));
        Picture::from(rgb)
    };
    let (left, right) = (expose(&pair.left, 1.0), expose(&pair.right, gain));
    Ok(RawPair { left, right, ..pair })
}

/// The mean of each pixel and its neighbours, weighted 1 2 1 along rows and columns.
fn blurred(rgb: &Image<[u8; 3]>) -> Image<[u8; 3]> {
    let (width, height) = rgb.size();
    let mean = |a: [u8; 3], b: [u8; 3], c: [u8; 3]| {
        [0, 1, 2].map(|k| ((u16::from(a[k]) + 2 * u16::from(b[k]) + u16::from(c[k]) + 2) >> 2) as u8)
    };
    let rows = Image::from_fn(width, height, |x, y| {
        mean(rgb.at(x.saturating_sub(1), y), rgb.at(x, y), rgb.at((x + 1).min(width - 1), y))
    });
    Image::from_fn(width, height, |x, y| {
        mean(rows.at(x, y.saturating_sub(1)), rows.at(x, y), rows.at(x, (y + 1).min(height - 1)))
    })
}
