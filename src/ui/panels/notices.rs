//! Messages above the status line, each with buttons to copy and to dismiss it.

use super::{Command, Panel, State};
use egui::{Label, RichText, Role, Ui, WidgetInfo};

pub(super) struct NoticeList;

impl Panel for NoticeList {
    fn is_open(&self, state: &State) -> bool {
        !state.notices.all().is_empty()
    }

    fn show(&mut self, ui: &mut Ui, state: &State, commands: &mut Vec<Command>) {
        for (index, notice) in state.notices.all().iter().enumerate() {
            ui.horizontal(|ui| {
                let colour = if notice.is_error { ui.visuals().error_fg_color } else { ui.visuals().weak_text_color() };
                let dismiss = ui.small_button("×");
                dismiss.widget_info(|| WidgetInfo::labeled(Role::Button, true, "Dismiss"));
                if dismiss.on_hover_text("Dismiss").clicked() {
                    commands.push(Command::Dismiss(index));
                }
                if notice.is_error && ui.small_button("Copy").on_hover_text("Copy this message").clicked() {
                    ui.ctx().copy_text(notice.text.clone());
                }
                if let Some(file) = &notice.file
                    && ui.small_button("Open it").on_hover_text(format!("Play {}", file.display())).clicked()
                {
                    commands.extend([Command::Dismiss(index), Command::OpenFiles(vec![file.clone()])]);
                }
                ui.add(Label::new(RichText::new(&notice.text).color(colour)).wrap().selectable(true));
            });
        }
    }
}
