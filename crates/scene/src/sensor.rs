//! Sensor model: exposure, noise and luma of rendered colours. A rendered frame in, the raw pair of both cameras out.

use super::Rendered;
use super::texture::hash;
use std::f64::consts::TAU;
use std::sync::{Arc, OnceLock};
use std::time::SystemTime;
use stereopsis_base::image::{Image, Picture};
use stereopsis_frame::{RawPair, SceneOptions};

/// Returns the pair that both cameras take of a frame, with the noise of its number; `color` adds RGB to luma.
pub fn expose(options: &SceneOptions, frame: &Rendered, number: u64, color: bool) -> RawPair {
    let in_loop = number % u64::from(options.loop_frames.max(1));
    let seed = |view: u32| hash(options.seed ^ hash(in_loop as u32 * 2 + view));
    let left = picture(&frame.left, 1.0, options.noise, seed(0), color);
    let right = picture(&frame.right, options.exposure, options.noise, seed(1), color);
    let truth = Some(Arc::clone(&frame.truth));
    RawPair { truth, ..RawPair::new(format!("scene-{number:06}"), number, SystemTime::now(), left, right) }
}

fn picture(rgb: &Image<[u8; 3]>, gain: f64, noise: f64, seed: u32, color: bool) -> Picture {
    if (gain - 1.0).abs() < 1e-6 && noise <= 0.0 {
        return Picture::of_colors(rgb.clone(), color);
    }
    let gains: Vec<i16> = (0..256).map(|v| (f64::from(v) * gain * 16.0).round() as i16).collect();
    let table = noise_table();
    let strength = (noise * 16.0).round() as i32;
    let mut grainy = rgb.clone();
    for y in 0..rgb.height() {
        let mut state = hash(seed.wrapping_add(y as u32));
        for pixel in grainy.row_mut(y) {
            state = state.wrapping_mul(0x915f_77f5).wrapping_add(0x3c6e_f35f);
            let noise = (i32::from(table[(state >> 20) as usize]) * strength) >> 10;
            *pixel = pixel.map(|v| ((i32::from(gains[usize::from(v)]) + noise + 8) >> 4).clamp(0, 255) as u8);
        }
    }
    Picture::of_colors(grainy, color)
}

/// Returns 4096 equally probable values of a normal distribution, times 1024.
fn noise_table() -> &'static [i16] {
    static TABLE: OnceLock<Vec<i16>> = OnceLock::new();
    TABLE.get_or_init(|| {
        // Box-Muller over a 64x64 grid of its two uniform numbers
        let value = |k: u32| {
            let (u, v) = ((f64::from(k / 64) + 0.5) / 64.0, (f64::from(k % 64) + 0.5) / 64.0);
            ((-2.0 * u.ln()).sqrt() * (TAU * v).cos() * 1024.0).round() as i16
        };
        (0..4096).map(value).collect()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn flat(gain: f64, noise: f64) -> Vec<f64> {
        let picture = picture(&Image::filled(160, 120, [100; 3]), gain, noise, 7, false);
        let stereopsis_base::image::Luma::U8(image) = picture.luma else { panic!("8 bits expected") };
        image.pixels().iter().map(|&v| f64::from(v)).collect()
    }

    #[test]
    fn noise_has_the_requested_strength_and_no_offset() {
        let values = flat(1.0, 3.0);
        let mean = values.iter().sum::<f64>() / values.len() as f64;
        let sigma = (values.iter().map(|v| (v - mean).powi(2)).sum::<f64>() / values.len() as f64).sqrt();
        assert!((mean - 100.0).abs() < 0.2, "{mean}");
        assert!((sigma - 3.0).abs() < 0.15, "{sigma}");
    }

    #[test]
    fn exposure_is_a_factor() {
        assert!(flat(1.2, 0.0).iter().all(|&v| (v - 120.0).abs() < 0.1));
    }
}
