//! Maps of floats from recordings, packed like disparities for the window's shader.

use stereopsis_base::image::Image;
use stereopsis_frame::{Frame, Recorded};
use stereopsis_stereo::map::SUBPIXEL_STEPS;
use stereopsis_stereo::{DisparityMap, INVALID};

/// Largest absolute value in a word, steps of disparity; the rest marks invalid pixels.
const MAX_STEPS: f32 = 32_000.0;

/// Map in the words of the shader.
#[derive(Clone, Debug, PartialEq)]
pub struct FloatMap {
    /// Disparities in the low 16 bits, row by row.
    pub words: Vec<u32>,
    /// Number of columns and rows, px.
    pub size: (usize, usize),
    /// Product of focal length and baseline, by which depth is computed from disparities, px m; 0 for a map of disparities.
    pub focal_times_baseline: f32,
}

impl FloatMap {
    /// Returns the recorded depth, or else disparity.
    pub fn of_recorded(recorded: &Recorded) -> Option<Self> {
        let depth = recorded.depth_m.as_ref().map(Self::of_depth);
        depth.or_else(|| recorded.disparity_px.as_ref().map(Self::of_disparity))
    }

    /// Returns disparities to compare the computed ones with: recorded disparity, else that of recorded depth, else the truth. `None` where
    /// none has the frame's size.
    pub fn of_reference(frame: &Frame) -> Option<Self> {
        let recorded = frame.raw.recorded.as_ref();
        let disparity_px = recorded.and_then(|recorded| recorded.disparity_px.clone());
        let of_depth = || {
            let (depth_m, geometry) = (recorded?.depth_m.as_ref()?, frame.geometry?);
            let disparity_px = |&z: &f32| if z > 0.0 { geometry.disparity_px(f64::from(z)) as f32 } else { f32::NAN };
            Some(depth_m.map(disparity_px))
        };
        let truth = || frame.truth.as_ref().map(|truth| truth.left_px.clone());
        let reference = disparity_px.or_else(of_depth).or_else(truth)?;
        (reference.size() == frame.size()).then(|| Self::of_disparity(&reference))
    }

    /// Packs the disparities of a result.
    pub fn of_map(map: &DisparityMap) -> Self {
        let words = map.values.pixels().iter().map(|&steps| u32::from(steps as u16)).collect();
        Self { words, size: map.size(), focal_times_baseline: 0.0 }
    }

    /// Returns whether this is a map of depth.
    pub fn is_depth(&self) -> bool {
        self.focal_times_baseline > 0.0
    }

    /// Packs disparities, px; NaN where there is none.
    pub fn of_disparity(disparity_px: &Image<f32>) -> Self {
        Self::of(disparity_px, 0.0, |d| d * SUBPIXEL_STEPS as f32)
    }

    /// Packs depths, m; NaN or 0 where there is none. The shader reads disparities only, so each depth becomes that of a rig in which the
    /// nearest one has nearly the largest disparity: steps are finer than any measurement.
    pub fn of_depth(depth_m: &Image<f32>) -> Self {
        let nearest_m = depth_m.pixels().iter().copied().filter(|z| *z > 0.0).fold(f32::INFINITY, f32::min);
        let focal_times_baseline =
            if nearest_m.is_finite() { nearest_m * MAX_STEPS / SUBPIXEL_STEPS as f32 } else { 1.0 };
        let scale = focal_times_baseline * SUBPIXEL_STEPS as f32;
        Self::of(depth_m, focal_times_baseline, |z| if z > 0.0 { scale / z } else { f32::NAN })
    }

    fn of(image: &Image<f32>, focal_times_baseline: f32, steps: impl Fn(f32) -> f32) -> Self {
        let word = |&v: &f32| match steps(v).round() {
            steps if steps.abs() <= MAX_STEPS => u32::from(steps as i16 as u16),
            _ => u32::from(INVALID as u16),
        };
        Self { words: image.pixels().iter().map(word).collect(), size: image.size(), focal_times_baseline }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_decode_to_the_recorded_values() {
        let value = |map: &FloatMap, i: usize| f32::from(map.words[i] as u16 as i16) / SUBPIXEL_STEPS as f32;
        let invalid = u32::from(INVALID as u16);
        let disparity = FloatMap::of_disparity(&Image::new(4, 1, vec![12.5, f32::NAN, -3.0, 1e9]));
        assert!((value(&disparity, 0) - 12.5).abs() < 1e-6 && (value(&disparity, 2) + 3.0).abs() < 1e-6);
        assert_eq!([disparity.words[1], disparity.words[3]], [invalid; 2]);

        let depths = [0.4, 0.0, 1.284, 6.0, f32::NAN];
        let depth = FloatMap::of_depth(&Image::new(5, 1, depths.to_vec()));
        assert_eq!([depth.words[1], depth.words[4]], [invalid; 2]);
        for i in [0, 2, 3] {
            let shown = depth.focal_times_baseline / value(&depth, i);
            assert!((shown / depths[i] - 1.0).abs() < 1e-3, "{shown} instead of {}", depths[i]);
        }
        assert!(FloatMap::of_depth(&Image::filled(2, 1, 0.0)).words.iter().all(|word| *word == invalid));
    }
}
