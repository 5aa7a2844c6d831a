//! Noise of depth over time in a region.

use super::sight::measured_px;
use crate::quantity::{Measured, Missing};
use crate::region::Region;
use std::collections::VecDeque;
use stereopsis_base::geometry::Geometry;
use stereopsis_stereo::DisparityMap;

/// Number of pairs over which noise is measured, as in RealSense's tool.
const WINDOW: usize = 40;

/// Last 40 maps of a region. The scene and the camera must stand still: motion looks like noise.
#[derive(Clone, Debug)]
pub struct TemporalNoise {
    region: Region,
    /// Disparities of the region's pixels in each map, px; NaN where none was measured.
    maps: VecDeque<Vec<f32>>,
    geometry: Option<Geometry>,
}

impl TemporalNoise {
    /// Starts with the part of this region inside the image.
    pub fn new(region: Region) -> Self {
        Self { region, maps: VecDeque::new(), geometry: None }
    }

    /// Adds the next map. Another geometry or size restarts the measurement.
    pub fn add(&mut self, map: &DisparityMap, geometry: Option<&Geometry>) {
        let region = self.region.clipped(map.size());
        let values: Vec<_> =
            region.pixels().map(|(x, y)| measured_px(map, x, y).map_or(f32::NAN, |d| d as f32)).collect();
        if self.geometry.as_ref() != geometry || self.maps.front().is_some_and(|first| first.len() != values.len()) {
            self.maps.clear();
        }
        self.geometry = geometry.copied();
        self.maps.push_back(values);
        if self.maps.len() > WINDOW {
            self.maps.pop_front();
        }
    }

    /// Returns the median over the region's pixels of the standard deviation of depth over its median, %. Pixels measured less than twice
    /// are left out; RealSense counts them as free of noise.
    ///
    /// # Errors
    /// No calibration, or no pixel measured twice.
    pub fn percent(&self) -> Measured {
        let Some(geometry) = &self.geometry else {
            return Err(if self.maps.is_empty() { Missing::Pairs } else { Missing::Calibration });
        };
        let pixels = self.maps.front().map_or(0, Vec::len);
        let mut depths_m = Vec::with_capacity(WINDOW);
        let mut noise = Vec::new();
        for pixel in 0..pixels {
            depths_m.clear();
            depths_m.extend(self.maps.iter().filter_map(|map| geometry.depth_m(f64::from(map[pixel]))));
            noise.extend(relative_deviation(&mut depths_m));
        }
        if noise.is_empty() {
            return Err(Missing::Pairs);
        }
        Ok(100.0 * stereopsis_base::quantile::quantile(&mut noise, 0.5))
    }
}

/// Returns the standard deviation of all values over their median; `None` below two values.
fn relative_deviation(values: &mut [f64]) -> Option<f64> {
    if values.len() < 2 {
        return None;
    }
    let count = values.len() as f64;
    let mean = values.iter().sum::<f64>() / count;
    let variance = values.iter().map(|v| (v - mean) * (v - mean)).sum::<f64>() / count;
    Some(variance.sqrt() / stereopsis_base::quantile::quantile(values, 0.5))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::depth_quality::tests::{RIG, map_of};

    const REGION: Region = Region { x: 4, y: 4, width: 20, height: 10 };

    #[test]
    fn noise_is_the_deviation_over_the_median() {
        let mut noise = TemporalNoise::new(REGION);
        // depths 2 and 2.5 m: mean 2.25 m, deviation 0.25 m
        for i in 0..6 {
            noise.add(&map_of(|_, _| Some(if i % 2 == 0 { 25.0 } else { 20.0 })), Some(&RIG));
        }
        let found = noise.percent().unwrap();
        // the median of an even number of values is one of the two
        assert!((found - 12.5).abs() < 1e-6 || (found - 10.0).abs() < 1e-6, "{found}");
        let mut still = TemporalNoise::new(REGION);
        for _ in 0..3 {
            still.add(&map_of(|_, _| Some(25.0)), Some(&RIG));
        }
        assert!(still.percent().unwrap().abs() < 1e-9);
    }

    #[test]
    fn holes_do_not_count_as_quiet() {
        let mut noise = TemporalNoise::new(REGION);
        for i in 0..6 {
            let at = |x, _| (x < 6).then_some(if i % 2 == 0 { 25.0 } else { 20.0 });
            noise.add(&map_of(at), Some(&RIG));
        }
        assert!(noise.percent().unwrap() > 9.0, "most pixels of the region are holes");
    }

    #[test]
    fn the_window_drops_old_maps_and_names_missing_data() {
        let mut noise = TemporalNoise::new(REGION);
        assert_eq!(noise.percent(), Err(Missing::Pairs));
        noise.add(&map_of(|_, _| Some(50.0)), Some(&RIG));
        assert_eq!(noise.percent(), Err(Missing::Pairs), "one pair has no noise");
        for _ in 0..WINDOW {
            noise.add(&map_of(|_, _| Some(25.0)), Some(&RIG));
        }
        assert!(noise.percent().unwrap().abs() < 1e-9, "the first map is forgotten");
        noise.add(&map_of(|_, _| Some(25.0)), None);
        assert_eq!(noise.percent(), Err(Missing::Calibration));
    }
}
