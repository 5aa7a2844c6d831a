//! The disparity that lies in the plane of the screen where both views are looked at: one for all pairs, as a film must not jump.

use crate::read::Recording;
use crate::unpack::UnpackedResult;
use stereopsis_base::geometry::Geometry;
use stereopsis_base::quantile::quantile;

/// Maximum number of pairs whose results are read for it.
const MAX_PAIRS: usize = 32;
/// Share of pixels that may come out in front of the screen.
const IN_FRONT: f64 = 0.02;
/// Largest parallax of what is far, of the width, that most people fuse with ease (the stereographers' rule of 1/30).
const MAX_PARALLAX: f64 = 1.0 / 30.0;

/// Depth of a recording around the plane of the screen.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Screen {
    /// Disparity in the plane of the screen, px: that of the nearest things.
    pub(super) screen_px: i32,
    /// Disparity of the farthest things, px.
    far_px: f64,
}

impl Screen {
    /// Chooses the disparity from the recorded results of some of these pairs; `None` where they have none.
    pub(super) fn of(recording: &mut Recording, numbers: &[u64], geometry: Option<&Geometry>) -> Option<Self> {
        let step = numbers.len().div_ceil(MAX_PAIRS).max(1);
        let mut disparities = Vec::new();
        for &number in numbers.iter().step_by(step) {
            let Ok(measured) = recording.packets_of_result(number).map(|packets| UnpackedResult::of(&packets)) else {
                continue;
            };
            let Ok(measured) = measured else { continue };
            let of_depth = || {
                let (depth_m, geometry) = (measured.depth_m()?, geometry?);
                Some(depth_m.map(|&z| geometry.disparity_px(f64::from(z)) as f32))
            };
            if let Some(px) = measured.disparity_px.clone().or_else(of_depth) {
                disparities.extend(px.pixels().iter().filter(|d| d.is_finite()).map(|&d| f64::from(d)));
            }
        }
        if disparities.is_empty() {
            return None;
        }
        let near_px = quantile(&mut disparities, 1.0 - IN_FRONT);
        Some(Self { screen_px: near_px.round() as i32, far_px: quantile(&mut disparities, IN_FRONT) })
    }

    /// Returns a sentence on views whose depth is too large to be looked at, px wide.
    pub(super) fn remark(self, width_px: usize) -> Option<String> {
        let parallax = (f64::from(self.screen_px) - self.far_px) / width_px as f64;
        (parallax > MAX_PARALLAX).then(|| {
            format!(
                "what is far lies {:.1} % of the width behind the screen, and more than {:.1} % strains the eyes: a smaller baseline, or \
                 nothing near, shows less",
                100.0 * parallax,
                100.0 * MAX_PARALLAX
            )
        })
    }
}
