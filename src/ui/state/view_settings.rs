//! How results are shown: views, panels, colours, depth range. Saved from run to run.

use crate::colormap::{Colormap, DisplayRange};
use crate::geometry::Geometry;
use crate::reach::TYPICAL_ERROR_PX;
use crate::stereo::StereoParams;
use crate::ui::render::{Display, FloatMap, MapDisplays};
use crate::ui::view::ViewKind;
use std::ops::RangeInclusive;
use std::sync::Arc;

/// Errors of a disparity that can be drawn, px.
pub(crate) const ERRORS_PX: RangeInclusive<f64> = 0.01..=16.0;

/// The settings of the views.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct ViewSettings {
    /// The open views.
    pub(crate) views: Vec<ViewKind>,
    /// Nearest and farthest depth in colour, m; `None` until the first fit.
    pub(crate) depth_range_m: Option<(f64, f64)>,
    /// Colours of the maps.
    pub(crate) colormap: Colormap,
    /// Invalid pixels are coloured by reason.
    pub(crate) colour_reasons: bool,
    /// All parameters are shown.
    pub(crate) unfolded: bool,
    /// The panels at the left and right are shown.
    pub(crate) controls: bool,
    /// Error of a disparity whose error of the distance is drawn, px.
    pub(crate) error_px: f64,
}

impl Default for ViewSettings {
    fn default() -> Self {
        Self {
            views: ViewKind::AT_FIRST.to_vec(),
            depth_range_m: None,
            colormap: Colormap::default(),
            colour_reasons: false,
            unfolded: false,
            controls: true,
            error_px: TYPICAL_ERROR_PX,
        }
    }
}

impl ViewSettings {
    /// Opens or closes a view; the order stays that of [`ViewKind::ALL`].
    pub(crate) fn toggle(&mut self, view: ViewKind) {
        let is_open = |v: &&ViewKind| self.views.contains(v) != (**v == view);
        self.views = ViewKind::ALL.iter().filter(is_open).copied().collect();
    }

    /// Fits the depth range to a measured range of disparities.
    pub(crate) fn fit(&mut self, range: DisplayRange, geometry: &Geometry) {
        let near = geometry.depth_m(f64::from(range.near_px));
        // a range that reaches infinity ends where one more px would change little
        let far = geometry.depth_m(f64::from(range.far_px)).or_else(|| geometry.depth_m(1.0 - geometry.doffs_px));
        if let (Some(near), Some(far)) = (near, far)
            && near < far
        {
            self.depth_range_m = Some((near, far));
        }
    }

    /// The uniforms of the shader that colours the maps of these parameters.
    pub(crate) fn maps(
        &self,
        params: &StereoParams,
        geometry: Option<&Geometry>,
        recorded: Option<&FloatMap>,
    ) -> MapDisplays {
        let colour_reasons = u32::from(self.colour_reasons);
        let low = params.min_disparity as f32;
        let disparity = Display {
            focal_times_baseline: 0.0,
            doffs_px: 0.0,
            low,
            high: low + (params.num_disparities as f32 - 1.0).max(1.0),
            quantity: Display::DISPARITY,
            colour_reasons,
        };
        let (near, far) = self.depth_range_m.unwrap_or((0.5, 10.0));
        let of_depth = |focal_times_baseline, doffs_px| Display {
            focal_times_baseline,
            doffs_px,
            low: (1.0 / far) as f32,
            high: (1.0 / near) as f32,
            quantity: Display::INVERSE_DEPTH,
            colour_reasons,
        };
        let of_rig = |rig: &Geometry| of_depth((rig.focal_px * rig.baseline_m) as f32, rig.doffs_px as f32);
        let depth = geometry.map(of_rig);
        let recorded =
            recorded.map(|map| if map.is_depth() { of_depth(map.focal_times_baseline, 0.0) } else { disparity });
        let confidence =
            params.confidence.then_some(Display { low: 0.0, high: 100.0, quantity: Display::CONFIDENCE, ..disparity });
        MapDisplays { disparity, depth, confidence, recorded, colours: Arc::new(self.colormap.lookup()) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_closed_view_opens_again_in_its_place() {
        let mut view = ViewSettings::default();
        view.toggle(ViewKind::Depth);
        assert_eq!(view.views, [ViewKind::Left, ViewKind::Right, ViewKind::Disparity]);
        view.toggle(ViewKind::Depth);
        assert_eq!(view.views, ViewKind::AT_FIRST);
        view.toggle(ViewKind::Recorded);
        view.toggle(ViewKind::Confidence);
        assert_eq!(view.views, ViewKind::ALL);
    }

    #[test]
    fn a_fit_is_in_metres() {
        let geometry =
            Geometry { focal_px: 500.0, baseline_m: 0.1, doffs_px: 0.0, cx_px: 0.0, cy_px: 0.0, estimated: false };
        let mut view = ViewSettings::default();
        view.fit(DisplayRange { far_px: 10.0, near_px: 50.0 }, &geometry);
        assert_eq!(view.depth_range_m, Some((1.0, 5.0)));
        let display = view.maps(&StereoParams::default(), Some(&geometry), None).depth.unwrap();
        assert!((display.low - 0.2).abs() < 1e-6 && (display.high - 1.0).abs() < 1e-6);
    }
}
