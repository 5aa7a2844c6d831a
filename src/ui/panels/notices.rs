//! Messages above the status line, each with a way to copy it and to take it away.

use crate::ui::notices::Notices;
use egui::{RichText, Role, Ui, WidgetInfo};
use std::path::PathBuf;

/// Shows the messages, one line each; gives the file that shall be opened.
pub(crate) fn show(ui: &mut Ui, notices: &mut Notices) -> Option<PathBuf> {
    let mut dismissed = None;
    let mut opened = None;
    for (index, notice) in notices.all().iter().enumerate() {
        ui.horizontal(|ui| {
            let colour = if notice.is_error { ui.visuals().error_fg_color } else { ui.visuals().weak_text_color() };
            let dismiss = ui.small_button("×");
            dismiss.widget_info(|| WidgetInfo::labeled(Role::Button, true, "Dismiss"));
            if dismiss.on_hover_text("Dismiss").clicked() {
                dismissed = Some(index);
            }
            if notice.is_error && ui.small_button("Copy").on_hover_text("Copy this message").clicked() {
                ui.ctx().copy_text(notice.text.clone());
            }
            if let Some(file) = &notice.file
                && ui.small_button("Open it").on_hover_text(format!("Play {}", file.display())).clicked()
            {
                opened = Some(file.clone());
                dismissed = Some(index);
            }
            ui.add(egui::Label::new(RichText::new(&notice.text).color(colour)).wrap().selectable(true));
        });
    }
    if let Some(index) = dismissed {
        notices.dismiss(index);
    }
    opened
}
