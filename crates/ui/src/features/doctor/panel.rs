//! Page of the examination of this machine: faults, remedies, and a report to copy.

use super::{Doctor, DoctorStep, EXAMINE};
use crate::core::{Command, Core};
use crate::widgets;
use egui::{Button, Label, RichText, Ui};
use stereopsis_doctor::{Check, State as CheckState};

pub(super) fn show(ui: &mut Ui, doctor: &Doctor, core: &Core, commands: &mut Vec<Command>) {
    let checks = &doctor.checks;
    let is_running = core.jobs.is_running(EXAMINE);
    ui.horizontal_wrapped(|ui| {
        let again = ui.add_enabled(!is_running, Button::new("Examine again"));
        if widgets::explain(again, "Examines this machine anew. It takes some seconds.").clicked() {
            commands.push(DoctorStep::Examine.into());
        }
        let copy = ui.add_enabled(!checks.is_empty(), Button::new("Copy"));
        let help = "Puts the whole text on the clipboard. It names neither you nor this machine.";
        if widgets::explain(copy, help).clicked() {
            ui.ctx().copy_text(text(checks));
        }
    });
    if is_running {
        widgets::note(ui, "Examining this machine …");
    }
    if checks.is_empty() {
        return;
    }
    ui.add(Label::new(stereopsis_doctor::summary(checks)).wrap());
    for shown in [CheckState::Wrong, CheckState::Note, CheckState::Ok] {
        checks.iter().filter(|check| check.state == shown).for_each(|check| row(ui, check));
    }
}

fn row(ui: &mut Ui, check: &Check) {
    let colour = match check.state {
        CheckState::Wrong => ui.visuals().error_fg_color,
        CheckState::Note => ui.visuals().warn_fg_color,
        CheckState::Ok => ui.visuals().weak_text_color(),
    };
    ui.add_space(4.0);
    let text = format!("{}  {}: {}", check.state, check.area, check.text);
    ui.add(Label::new(RichText::new(text).color(colour)).wrap());
    if let Some(todo) = &check.todo {
        widgets::note(ui, format!("To do: {todo}"));
    }
}

/// Returns the report as the command prints it.
fn text(checks: &[Check]) -> String {
    checks.iter().map(stereopsis_doctor::line).chain([stereopsis_doctor::summary(checks) + "\n"]).collect()
}
