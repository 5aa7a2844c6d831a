//! Question whether the running recording ends for a change; Escape and a click outside keep the recording.

use crate::core::{Command, Core};
use crate::panels::Panel;
use egui::{Id, Modal, RichText, Ui};

/// Width of the text, points.
const WIDTH: f32 = 360.0;

pub(crate) struct QuestionPanel;

impl Panel for QuestionPanel {
    fn is_open(&self, core: &Core) -> bool {
        core.recording.question.is_some()
    }

    fn show(&mut self, ui: &mut Ui, core: &Core, commands: &mut Vec<Command>) {
        let Some(obstacle) = &core.recording.question else { return };
        let shown = Modal::new(Id::unique("end the recording?")).show(ui.ctx(), |ui| {
            ui.set_width(WIDTH.min(0.8 * ui.ctx().content_rect().width()));
            ui.label(RichText::new("End the recording?").heading());
            ui.add_space(4.0);
            ui.label(obstacle.text());
            ui.add_space(8.0);
            ui.horizontal_wrapped(|ui| {
                let keep = ui.button("Keep recording");
                let end = ui.button("End the recording and switch");
                if !keep.has_focus() && !end.has_focus() {
                    keep.request_focus();
                }
                if keep.clicked() {
                    commands.push(Command::EndRecording(false));
                } else if end.clicked() {
                    commands.push(Command::EndRecording(true));
                }
            });
        });
        if shown.should_close() {
            commands.push(Command::EndRecording(false));
        }
    }
}
