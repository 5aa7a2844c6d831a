//! Sizes and colours of the window, light or dark like the system.

use egui::{Color32, FontDefinitions, FontFamily, FontId, Stroke, TextStyle, Theme, Ui, Visuals, vec2};
use stereopsis_base::parameter::choices;

pub(crate) fn apply(ctx: &egui::Context) {
    // the font Hack has the arrows and triangles that Ubuntu lacks
    let mut fonts = FontDefinitions::default();
    fonts.families.entry(FontFamily::Proportional).or_default().push("Hack".to_owned());
    ctx.set_fonts(fonts);
    ctx.set_visuals_of(Theme::Dark, dark());
    ctx.set_visuals_of(Theme::Light, light());
    ctx.all_styles_mut(|style| {
        style.text_styles = [
            (TextStyle::Small, FontId::new(11.0, FontFamily::Proportional)),
            (TextStyle::Body, FontId::new(13.0, FontFamily::Proportional)),
            (TextStyle::Button, FontId::new(13.0, FontFamily::Proportional)),
            (TextStyle::Heading, FontId::new(15.0, FontFamily::Proportional)),
            (TextStyle::Monospace, FontId::new(12.0, FontFamily::Monospace)),
        ]
        .into();
        style.spacing.item_spacing = vec2(6.0, 4.0);
        style.spacing.button_padding = vec2(6.0, 2.0);
        style.spacing.interact_size.y = 20.0;
        style.spacing.slider_rail_height = 3.0;
        style.interaction.tooltip_delay = 0.4;
        style.interaction.selectable_labels = false;
        style.animation_time = 0.0;
    });
}

choices! {
    /// Colour behind points in space and saved images.
    pub enum Ground, default Theme {
        /// Dark in a dark window, light in a light one.
        Theme = "as the window",
        /// Black, nearly.
        Dark = "dark",
        /// White.
        Light = "light",
    }
}

impl Ground {
    /// Returns whether the ground is dark in a window of this theme.
    pub(crate) fn is_dark(self, is_dark_window: bool) -> bool {
        match self {
            Self::Theme => is_dark_window,
            Self::Dark => true,
            Self::Light => false,
        }
    }

    /// Returns the colour of the ground in a window of this theme.
    pub(crate) fn colour(self, is_dark_window: bool) -> [u8; 3] {
        if self.is_dark(is_dark_window) { [10; 3] } else { [255; 3] }
    }
}

/// Returns the colour of the window behind everything; panels without a fill save a software GPU work for every pixel.
pub(crate) fn background(visuals: &Visuals) -> Color32 {
    Color32::from_gray(if visuals.dark_mode { 24 } else { 240 })
}

pub(crate) fn good(visuals: &Visuals) -> Color32 {
    if visuals.dark_mode { Color32::from_rgb(90, 170, 90) } else { Color32::from_rgb(20, 108, 40) }
}

/// Returns the colour of outlines and tracks, without which a control would be invisible.
fn outline(visuals: &Visuals) -> Color32 {
    Color32::from_gray(if visuals.dark_mode { 140 } else { 104 })
}

/// Makes the tracks of the following sliders in `ui` visible.
pub(crate) fn show_tracks(ui: &mut Ui) {
    let outline = outline(ui.visuals());
    ui.visuals_mut().widgets.inactive.bg_fill = outline;
}

/// Makes the outlines of the following boxes and radio buttons in `ui` visible, also in a menu.
pub(crate) fn show_boxes(ui: &mut Ui) {
    let outline = outline(ui.visuals());
    ui.visuals_mut().widgets.inactive.bg_stroke = Stroke::new(1.0, outline);
}

fn dark() -> Visuals {
    let mut visuals = Visuals::dark();
    visuals.panel_fill = Color32::TRANSPARENT; // see `background`
    visuals.window_fill = Color32::from_gray(30);
    visuals.override_text_color = Some(Color32::from_gray(208));
    visuals.weak_text_color = Some(Color32::from_gray(156));
    visuals.error_fg_color = Color32::from_rgb(255, 128, 112);
    visuals.widgets.noninteractive.bg_stroke = Stroke::new(1.0, Color32::from_gray(44));
    visuals
}

fn light() -> Visuals {
    let mut visuals = Visuals::light();
    visuals.panel_fill = Color32::TRANSPARENT;
    visuals.window_fill = Color32::from_gray(248);
    visuals.override_text_color = Some(Color32::from_gray(36));
    visuals.weak_text_color = Some(Color32::from_gray(88));
    visuals.error_fg_color = Color32::from_rgb(176, 36, 24);
    visuals.warn_fg_color = Color32::from_rgb(140, 76, 0);
    visuals.hyperlink_color = Color32::from_rgb(0, 88, 168);
    visuals
}

#[cfg(test)]
fn luminance(color: Color32) -> f64 {
    let linear = |part: u8| match f64::from(part) / 255.0 {
        low if low <= 0.04045 => low / 12.92,
        part => ((part + 0.055) / 1.055).powf(2.4),
    };
    0.2126 * linear(color.r()) + 0.7152 * linear(color.g()) + 0.0722 * linear(color.b())
}

/// Returns the WCAG contrast of two colours, from 1 to 21.
#[cfg(test)]
pub(crate) fn contrast(a: Color32, b: Color32) -> f64 {
    let (a, b) = (luminance(a) + 0.05, luminance(b) + 0.05);
    a.max(b) / a.min(b)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Smallest contrast of text, outlines and tracks with the colour behind them.
    const MIN_CONTRAST: f64 = 4.5;

    #[test]
    fn everything_is_legible_in_both_themes() {
        assert!((contrast(Color32::WHITE, Color32::BLACK) - 21.0).abs() < 1e-9);
        for visuals in [dark(), light()] {
            let inks = [
                ("text", visuals.text_color()),
                ("weak text", visuals.weak_text_color()),
                ("strong text", visuals.strong_text_color()),
                ("an error", visuals.error_fg_color),
                ("a warning", visuals.warn_fg_color),
                ("what is good", good(&visuals)),
                ("a link", visuals.hyperlink_color),
                ("the outline of a box and the track of a slider", outline(&visuals)),
            ];
            for ground in [background(&visuals), visuals.window_fill] {
                for (what, ink) in inks {
                    let contrast = contrast(ink, ground);
                    assert!(contrast >= MIN_CONTRAST, "{what} on {ground:?}: {contrast:.2}");
                    assert!(ink.is_opaque(), "{what}");
                }
            }
            // letters of buttons at rest, under the pointer, pressed and chosen
            let widgets = &visuals.widgets;
            let fills = [&widgets.inactive, &widgets.hovered, &widgets.active].map(|widget| widget.weak_bg_fill);
            for fill in fills.into_iter().chain([visuals.selection.bg_fill]) {
                let contrast = contrast(visuals.text_color(), fill);
                assert!(contrast >= MIN_CONTRAST, "text on {fill:?}: {contrast:.2}");
            }
        }
    }
}
