//! Steps of a page, each with its state.

use super::style;
use egui::{RichText, Role, Ui, WidgetInfo};

#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum StepState {
    /// Done, and good.
    Good,
    /// Done with doubts, or bad.
    Doubtful,
    /// Not begun, or unknown.
    Open,
}

pub(crate) fn step(
    ui: &mut Ui,
    number: usize,
    title: &str,
    done: StepState,
    text: &str,
    content: impl FnOnce(&mut Ui),
) {
    let (mark, color) = match done {
        StepState::Good => ("●", style::good(ui.visuals())),
        StepState::Doubtful => ("▲", ui.visuals().warn_fg_color),
        StepState::Open => ("○", ui.visuals().weak_text_color()),
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
