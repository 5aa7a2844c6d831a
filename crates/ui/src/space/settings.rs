//! Settings of the 3-D view, saved from run to run.

use crate::style::Ground;
use serde::{Deserialize, Serialize};
use stereopsis_base::parameter::choices;
use stereopsis_images::CloudShape;

choices! {
    /// Colour of a point.
    pub enum Colouring, default Picture {
        /// Colour of its pixel in the left image.
        Picture = "picture",
        /// Colour of its depth, as in the depth view.
        Depth = "depth",
        /// How clearly its disparity won, as in the confidence view.
        Confidence = "confidence",
    }
}

choices! {
    /// Surface between neighbouring pixels.
    pub enum Surface, default Automatic {
        /// A mesh where the adapter draws every pixel in time, and of a pair that is held; points else.
        Automatic = "automatic",
        /// Nothing: each pixel is a square of its own size that faces the viewer.
        Points = "points",
        /// A surface, cut where the disparities of four neighbours differ by more than 1 px for each pixel between them.
        Mesh = "mesh",
    }
}

/// Content of a file of points.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct PointsWish {
    pub(crate) shape: CloudShape,
    pub(crate) has_colours: bool,
}

/// Densities on offer: every n-th pixel of every n-th row.
pub(crate) const DENSITIES: [usize; 6] = [1, 2, 3, 4, 6, 8];

/// Largest number of points of a moving image on a software adapter.
const MAX_SOFTWARE_POINTS: usize = 25_000;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct SpaceSettings {
    #[serde(rename = "space-colouring")]
    pub(crate) colouring: Colouring,
    #[serde(rename = "space-surface")]
    pub(crate) surface: Surface,
    /// Distance between drawn pixels along rows and columns, px; `None` for the density that this adapter draws in time.
    #[serde(rename = "space-every")]
    pub(crate) every: Option<usize>,
    /// Whether points outside the depth range are left out.
    #[serde(rename = "space-limited")]
    pub(crate) is_limited: bool,
    /// Whether the grid and both cameras are drawn.
    #[serde(rename = "space-lines")]
    pub(crate) has_lines: bool,
    #[serde(rename = "space-background")]
    pub(crate) ground: Ground,
}

impl Default for SpaceSettings {
    fn default() -> Self {
        Self {
            colouring: Colouring::default(),
            surface: Surface::default(),
            every: None,
            is_limited: false,
            has_lines: true,
            ground: Ground::default(),
        }
    }
}

impl SpaceSettings {
    pub(crate) fn every(&self, is_coarse: bool, (width, height): (usize, usize)) -> usize {
        let fits = |every: &usize| width.div_ceil(*every) * height.div_ceil(*every) <= MAX_SOFTWARE_POINTS;
        let automatic = || if is_coarse { (1..=width.max(1)).find(fits).unwrap_or(1) } else { 1 };
        self.every.unwrap_or_else(automatic).max(1)
    }
}

/// Formats `every pixel`, or `every 3rd pixel`.
pub(crate) fn every_text(every: usize) -> String {
    let ending = match every {
        0 | 1 => return "every pixel".to_owned(),
        2 => "nd",
        3 => "rd",
        _ => "th",
    };
    format!("every {every}{ending} pixel")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_gpu_draws_every_pixel_and_software_as_many_as_it_can() {
        let automatic = SpaceSettings::default();
        assert_eq!(automatic.every(false, (1280, 720)), 1);
        assert_eq!(automatic.every(true, (1280, 720)), 7);
        assert_eq!(automatic.every(true, (160, 120)), 1);
        let chosen = SpaceSettings { every: Some(2), ..automatic };
        assert_eq!([true, false].map(|is_coarse| chosen.every(is_coarse, (1280, 720))), [2; 2]);
        assert_eq!(
            [1, 2, 3, 5].map(every_text).join(", "),
            "every pixel, every 2nd pixel, every 3rd pixel, every 5th pixel"
        );
    }
}
