//! Display of results, saved from run to run: views, panels, colours, depth range.

use crate::render::{Display, FloatMap, MapDisplays};
use crate::space::SpaceSettings;
use crate::view::ViewKind;
use serde::{Deserialize, Serialize, Serializer};
use std::ops::RangeInclusive;
use std::sync::Arc;
use stereopsis_base::geometry::Geometry;
use stereopsis_base::parameter::{Group, choices};
use stereopsis_images::colormap::{Colormap, DisplayRange, MAX_ERROR_PX};
use stereopsis_images::reach::TYPICAL_ERROR_PX;
use stereopsis_stereo::StereoParams;

/// Disparity errors on offer for the drawn error of the distance, px.
pub(crate) const ERRORS_PX: RangeInclusive<f64> = 0.01..=16.0;

choices! {
    /// Light or dark.
    pub enum Theme, default System {
        /// Theme of the system.
        System = "system",
        /// Light letters on dark.
        Dark = "dark",
        /// Dark letters on light.
        Light = "light",
    }
}

choices! {
    /// Layout of the open views.
    pub enum ViewLayout, default Large {
        /// One is large; the others stand in a strip, and a click on one exchanges them.
        Large = "one large",
        /// All have the same size.
        Grid = "grid",
    }
}

/// Open views and panels of windows of one class of widths.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Arrangement {
    pub(crate) views: Vec<ViewKind>,
    /// Whether the panel of parameters at the left is shown.
    pub(crate) controls: bool,
    /// Whether the panel of read-outs at the right is shown.
    pub(crate) readings: bool,
}

/// Width below which a window is narrow, points.
pub(crate) const NARROW_WIDTH: f32 = 1200.0;
/// Sizes of text on offer, relative to the system's.
pub(crate) const TEXT_ZOOM: RangeInclusive<f32> = 0.6..=3.0;

/// Display of results; what is skipped has other keys in the file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, rename_all = "kebab-case")]
pub(crate) struct ViewSettings {
    #[serde(skip)]
    pub(crate) wide: Arrangement,
    /// Views and panels of a narrow window: fewer views, and no read-outs beside the parameters.
    #[serde(skip)]
    pub(crate) narrow: Arrangement,
    #[serde(skip)]
    pub(crate) is_narrow: bool,
    pub(crate) layout: ViewLayout,
    /// View chosen as the large one; `None` for depth, or else disparity.
    #[serde(rename = "large-view")]
    pub(crate) large: Option<ViewKind>,
    /// View shown in place of all others.
    #[serde(skip)]
    pub(crate) alone: Option<ViewKind>,
    /// Nearest and farthest depth in colour, m; `None` until the first fit.
    pub(crate) depth_range_m: Option<(f64, f64)>,
    pub(crate) colormap: Colormap,
    pub(crate) colour_reasons: bool,
    /// Groups that show all their parameters.
    #[serde(skip)]
    pub(crate) unfolded: Vec<Group>,
    /// Disparity error for the drawn error of the distance, px.
    pub(crate) error_px: f64,
    #[serde(skip)]
    pub(crate) space: SpaceSettings,
    /// Whether near has the first colour of the map instead of the last one.
    pub(crate) inverted: bool,
    pub(crate) theme: Theme,
    /// Size of text and controls relative to the system's.
    pub(crate) text_zoom: f32,
    /// Size of the window, points.
    #[serde(serialize_with = "whole_numbers")]
    pub(crate) window_size: [f32; 2],
    /// Widths of the docks in points: parameters, read-outs, page.
    #[serde(serialize_with = "whole_numbers")]
    pub(crate) dock_widths: [f32; 3],
}

fn whole_numbers<S: Serializer, const N: usize>(points: &[f32; N], serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_seq(points.iter().map(|points| *points as i64))
}

impl Default for ViewSettings {
    fn default() -> Self {
        Self {
            wide: Arrangement { views: ViewKind::AT_FIRST.to_vec(), controls: true, readings: true },
            narrow: Arrangement { views: ViewKind::AT_FIRST_NARROW.to_vec(), controls: true, readings: false },
            is_narrow: false,
            layout: ViewLayout::default(),
            large: None,
            alone: None,
            depth_range_m: None,
            colormap: Colormap::default(),
            colour_reasons: false,
            unfolded: Vec::new(),
            error_px: TYPICAL_ERROR_PX,
            space: SpaceSettings::default(),
            inverted: false,
            theme: Theme::default(),
            text_zoom: 1.0,
            window_size: [1440.0, 900.0],
            dock_widths: [290.0, 232.0, 370.0],
        }
    }
}

impl ViewSettings {
    /// Returns the views and panels of the present width.
    pub(crate) fn arrangement(&self) -> &Arrangement {
        if self.is_narrow { &self.narrow } else { &self.wide }
    }

    pub(crate) fn arrangement_mut(&mut self) -> &mut Arrangement {
        if self.is_narrow { &mut self.narrow } else { &mut self.wide }
    }

    pub(crate) fn shown(&self) -> &[ViewKind] {
        self.alone.as_ref().map_or(&self.arrangement().views, std::slice::from_ref)
    }

    /// Returns the index of the large view among `views`, the chosen one or else an available map; `None` in a grid.
    pub(crate) fn large_among(&self, views: &[ViewKind], has_metres: bool) -> Option<usize> {
        let depth = has_metres.then_some(ViewKind::Depth);
        let mut wanted = [self.large, depth, Some(ViewKind::Disparity)].into_iter().flatten();
        let place = |wanted: ViewKind| views.iter().position(|&view| view == wanted);
        (self.layout == ViewLayout::Large).then(|| wanted.find_map(place).unwrap_or(0))
    }

    /// Opens or closes a view in the order of [`ViewKind::ALL`]; a view that was alone joins the others.
    pub(crate) fn toggle(&mut self, view: ViewKind) {
        self.alone = None;
        let arrangement = self.arrangement_mut();
        let is_open = |v: &&ViewKind| arrangement.views.contains(v) != (**v == view);
        arrangement.views = ViewKind::ALL.iter().filter(is_open).copied().collect();
        if view == ViewKind::Space && arrangement.views.contains(&view) {
            self.large = Some(view); // the user walks through it
        }
    }

    pub(crate) fn toggle_panels(&mut self) {
        let arrangement = self.arrangement_mut();
        let show = !(arrangement.controls || arrangement.readings);
        (arrangement.controls, arrangement.readings) = (show, show);
    }

    pub(crate) fn fit(&mut self, range: DisplayRange, geometry: &Geometry) {
        let near = geometry.depth_m(f64::from(range.near_px));
        // a range up to infinity ends where one more px would change little
        let far = geometry.depth_m(f64::from(range.far_px)).or_else(|| geometry.depth_m(1.0 - geometry.doffs_px));
        if let (Some(near), Some(far)) = (near, far)
            && near < far
        {
            self.depth_range_m = Some((near, far));
        }
    }

    pub(crate) fn range_m(&self) -> (f64, f64) {
        self.depth_range_m.unwrap_or((0.5, 10.0))
    }

    /// Returns the 256 colours of the maps from far to near.
    pub(crate) fn colours(&self) -> [[u8; 3]; 256] {
        let mut colours = self.colormap.lookup();
        if self.inverted {
            colours.reverse();
        }
        colours
    }

    /// Returns the uniforms of the shader that colours the maps of these parameters.
    pub(crate) fn maps(
        &self,
        params: &StereoParams,
        geometry: Option<&Geometry>,
        recorded: Option<&FloatMap>,
        has_reference: bool,
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
        let (near, far) = self.range_m();
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
        let difference = Display { low: 0.0, high: MAX_ERROR_PX, quantity: Display::DIFFERENCE, ..disparity };
        let difference = has_reference.then_some(difference);
        MapDisplays { disparity, depth, confidence, recorded, difference, colours: Arc::new(self.colours()) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_closed_view_opens_again_in_its_place() {
        let mut view = ViewSettings::default();
        view.toggle(ViewKind::Depth);
        assert_eq!(view.shown(), [ViewKind::Left, ViewKind::Right, ViewKind::Disparity]);
        view.toggle(ViewKind::Depth);
        assert_eq!(view.shown(), ViewKind::AT_FIRST);
        view.alone = Some(ViewKind::Left);
        assert_eq!(view.shown(), [ViewKind::Left]);
        view.toggle(ViewKind::Confidence);
        assert_eq!(view.shown().len(), 5, "all of them again");
        view.is_narrow = true;
        assert_eq!(view.shown(), ViewKind::AT_FIRST_NARROW);
    }

    #[test]
    fn available_map_is_large_in_place_of_a_missing_one() {
        let mut view = ViewSettings::default();
        let large =
            |view: &ViewSettings, has_metres| view.large_among(view.shown(), has_metres).map(|at| view.shown()[at]);
        assert_eq!(large(&view, true), Some(ViewKind::Depth));
        assert_eq!(large(&view, false), Some(ViewKind::Disparity));
        view.toggle(ViewKind::Space);
        assert_eq!(large(&view, true), Some(ViewKind::Space));
        view.toggle(ViewKind::Space);
        assert_eq!(large(&view, true), Some(ViewKind::Depth));
        view.is_narrow = true;
        assert_eq!(large(&view, false), Some(ViewKind::Left), "no disparity is open");
        view.layout = ViewLayout::Grid;
        assert_eq!(large(&view, true), None);
    }

    #[test]
    fn a_fit_is_in_metres() {
        let geometry = Geometry::new(500.0, 0.1, 0.0, [0.0, 0.0]);
        let mut view = ViewSettings::default();
        view.fit(DisplayRange { far_px: 10.0, near_px: 50.0 }, &geometry);
        assert_eq!(view.depth_range_m, Some((1.0, 5.0)));
        let display = view.maps(&StereoParams::default(), Some(&geometry), None, false).depth.unwrap();
        assert!((display.low - 0.2).abs() < 1e-6 && (display.high - 1.0).abs() < 1e-6);
    }
}
