//! Field for a path, shown where the system has no dialog; Escape and a click outside cancel it.

use super::Panel;
use crate::core::{
    Command, Core,
    dialog::state::{AnswerKind, Question, TypeStep},
};
use crate::widgets;
use egui::{Button, Id, Key, Label, Modal, RichText, Role, TextEdit, Ui};

/// Width of the field, points.
const WIDTH: f32 = 480.0;
/// Accessible name of the field.
const FIELD: &str = "Path of the file or folder";
const PATH: &str = "/path/to/file";
/// Accessible name of the field for an address.
const ADDRESS: &str = "Address of the stream";
const NO_DIALOG: &str = "No dialog for files came up: xdg-desktop-portal or zenity has them. A typed path does as well";

#[derive(Default)]
pub(crate) struct PathField {
    /// Question and error for which the field last got the focus.
    asked: Option<(Question, Option<String>)>,
}

impl Panel for PathField {
    fn show(&mut self, ui: &mut Ui, core: &Core, commands: &mut Vec<Command>) {
        let Some(typed) = &core.typed else {
            self.asked = None;
            return;
        };
        let shown = Modal::new(Id::unique("typed path")).show(ui.ctx(), |ui| {
            ui.set_width(WIDTH.min(0.8 * ui.ctx().content_rect().width()));
            ui.label(RichText::new(typed.question.title).heading());
            let (name, hint, help) = match &typed.question.asked {
                AnswerKind::Address { why, .. } => (ADDRESS, "rtsp://user:password@10.0.0.5/stream1", why.clone()),
                AnswerKind::Files { .. } => (FIELD, PATH, format!("{NO_DIALOG}, several with ; between.")),
                AnswerKind::Folder | AnswerKind::NewFile { .. } => (FIELD, PATH, format!("{NO_DIALOG}.")),
            };
            ui.add(Label::new(RichText::new(help).weak()).wrap());
            ui.add_space(4.0);
            let mut text = typed.text.clone();
            let field = ui.add(TextEdit::singleline(&mut text).desired_width(f32::INFINITY).hint_text(hint));
            widgets::name_text(&field, Role::TextInput, name, &text);
            if self.asked.as_ref() != Some(&(typed.question.clone(), typed.error.clone())) {
                self.asked = Some((typed.question.clone(), typed.error.clone()));
                field.request_focus();
            }
            let escapes = field.lost_focus() && ui.input(|i| i.key_pressed(Key::Escape));
            let enters = field.lost_focus() && ui.input(|i| i.key_pressed(Key::Enter));
            if text != typed.text {
                commands.push(TypeStep::SetText(text).into());
            }
            if escapes {
                commands.push(TypeStep::Cancel.into());
            }
            let words = match (&typed.error, &typed.existing_file) {
                (Some(error), _) => error.clone(),
                (None, Some(file)) => format!("{} exists", file.display()),
                (None, None) => String::new(),
            };
            if !words.is_empty() {
                ui.add(Label::new(RichText::new(words).color(ui.visuals().error_fg_color)).wrap());
            }
            ui.add_space(4.0);
            ui.horizontal_wrapped(|ui| {
                let replaces = typed.existing_file.is_some();
                let name = if replaces { "Replace it" } else { "OK" };
                if ui.add(Button::new(name)).clicked() || enters && !replaces {
                    commands.push(TypeStep::Take { replaces }.into());
                }
                if ui.button("Cancel").clicked() {
                    commands.push(TypeStep::Cancel.into());
                }
            });
        });
        if shown.should_close() {
            commands.push(TypeStep::Cancel.into());
        }
    }
}
