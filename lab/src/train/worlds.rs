//! Training pairs: random worlds seen through imperfect cameras.

use stereopsis_base::image::{Image, Picture, Truth};
use stereopsis_frame::{CaptureError, RawPair, SceneOptions, SceneWorld};
use stereopsis_metrics::Random;
use stereopsis_scene::SceneRenderer;

/// Size of a pair, px.
const SIZE: (usize, usize) = (400, 300);
/// Largest disparity gradient between rows, px.
const MAX_SLOPE_PX: f64 = 0.3;

/// Renders the pair of a world: noisy and blurred in two thirds of the cases, misrectified by up to half a pixel or exposed differently
/// in half, [sheared] in a third.
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
    let exposed = RawPair { left, right, ..pair };
    Ok(if random.below(3) > 0 { exposed } else { sheared(exposed, MAX_SLOPE_PX * random.share()) })
}

/// Blurs with weights 1 2 1 along rows and columns.
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

/// Adds a disparity gradient between rows, as of ground, so that no surface is fronto-parallel; areas unseen by the right camera are
/// black.
fn sheared(pair: RawPair, px: f64) -> RawPair {
    let (width, height) = pair.right.luma.size();
    let rgb = pair.right.rgb.unwrap_or_else(|| Image::filled(width, height, [0; 3]));
    let right = Image::from_fn(width, height, |x, y| {
        let from = x as f64 + px * y as f64;
        let part = from.fract();
        let [one, other] = [0, 1].map(|next| {
            let column = from as usize + next;
            if column < width { rgb.at(column, y) } else { [0; 3] }
        });
        [0, 1, 2].map(|k| (f64::from(one[k]) * (1.0 - part) + f64::from(other[k]) * part).round() as u8)
    });
    let truth = pair.truth.map(|truth| {
        let left_px = Image::from_fn(width, height, |x, y| truth.left_px.at(x, y) + (px * y as f64) as f32);
        Truth { left_px, ..(*truth).clone() }.into()
    });
    RawPair { right: Picture::from(right), truth, ..pair }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sheared_disparities_grow_with_the_row_in_images_and_truth() {
        let options = SceneOptions { width: 40, height: 30, ..SceneOptions::default() };
        let pair = SceneRenderer::new(&options).unwrap().pair(0);
        let truth = |pair: &RawPair, y: usize| pair.truth.as_ref().unwrap().left_px.at(20, y);
        let right = |pair: &RawPair, x: usize, y: usize| pair.right.rgb.as_ref().unwrap().at(x, y);
        let sheared = sheared(pair.clone(), 0.5);
        for y in (0..30).step_by(2) {
            assert!((truth(&sheared, y) - truth(&pair, y) - y as f32 / 2.0).abs() < 1e-4);
            assert_eq!(right(&sheared, 3, y), right(&pair, 3 + y / 2, y));
        }
        assert_eq!(right(&sheared, 39, 20), [0; 3], "outside");
    }
}
