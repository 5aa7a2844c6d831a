//! Quiet, dense, legible: sizes and colours of the whole window, light and dark as the system has it.

use egui::{Color32, FontDefinitions, FontFamily, FontId, Stroke, TextStyle, Theme, Visuals, vec2};

/// Sets both themes.
pub(crate) fn apply(ctx: &egui::Context) {
    // Ubuntu has no arrows and triangles; Hack has
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

/// The colour of the window behind everything. Each frame begins with it, and no panel fills itself: for a software GPU that is work
/// for every pixel.
pub(crate) fn background(visuals: &Visuals) -> Color32 {
    Color32::from_gray(if visuals.dark_mode { 24 } else { 240 })
}

fn dark() -> Visuals {
    let mut visuals = Visuals::dark();
    visuals.panel_fill = Color32::TRANSPARENT; // see `background`
    visuals.window_fill = Color32::from_gray(30);
    visuals.override_text_color = Some(Color32::from_gray(208));
    visuals.error_fg_color = Color32::from_rgb(255, 128, 112);
    visuals.widgets.noninteractive.bg_stroke = Stroke::new(1.0, Color32::from_gray(44));
    visuals
}

fn light() -> Visuals {
    let mut visuals = Visuals::light();
    visuals.panel_fill = Color32::TRANSPARENT;
    visuals.window_fill = Color32::from_gray(248);
    visuals.override_text_color = Some(Color32::from_gray(36));
    visuals.error_fg_color = Color32::from_rgb(176, 36, 24);
    visuals
}
