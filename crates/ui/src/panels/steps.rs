//! The steps of a page: each says in words whether it is done and how well.

use super::style;
use egui::{RichText, Role, Ui, WidgetInfo};

/// How far a step is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Done {
    /// Done, and good.
    Good,
    /// Done with doubts, or bad.
    Doubtful,
    /// Nothing is known of it.
    Open,
}

/// A step with its number, and in words whether it is done and how well.
pub(crate) fn step(ui: &mut Ui, number: usize, title: &str, done: Done, text: &str, content: impl FnOnce(&mut Ui)) {
    let (mark, color) = match done {
        Done::Good => ("●", style::good(ui.visuals())),
        Done::Doubtful => ("▲", ui.visuals().warn_fg_color),
        Done::Open => ("○", ui.visuals().weak_text_color()),
    };
    ui.add_space(4.0);
    ui.horizontal(|ui| {
        ui.label(RichText::new(mark).strong().color(color));
        ui.label(RichText::new(format!("{number} {title}")).strong());
    });
    let response = ui.add(egui::Label::new(RichText::new(text).small().color(color)).wrap());
    response.widget_info(|| WidgetInfo::labeled(Role::Label, true, format!("{number} {title}: {text}")));
    content(ui);
    ui.separator();
}
