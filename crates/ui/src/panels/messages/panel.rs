//! Line of messages above the status line: constant height, remedies, and a counter that opens the list.

use super::{Message, overload};
use crate::core::notices::{Level, NEWS_TIMEOUT, Notice, Remedy};
use crate::core::{Action, Command, Core};
use egui::{Align, Label, Layout, RichText, Role, ScrollArea, Ui, WidgetInfo, vec2};
use std::time::Instant;
use stereopsis_live::{Cause, Warning};

/// Width of the list, points.
const LIST_WIDTH: f32 = 560.0;

/// Largest share of the window's height for the list.
const LIST_SHARE: f32 = 0.4;

pub(crate) fn show(ui: &mut Ui, core: &Core, commands: &mut Vec<Command>) {
    let messages = messages(core);
    let height = ui.spacing().interact_size.y;
    ui.allocate_ui_with_layout(vec2(ui.available_width(), height), Layout::right_to_left(Align::Center), |ui| {
        ui.set_min_height(height);
        let Some(first) = messages.first() else { return };
        if messages.len() > 1 {
            let label = format!("{} messages ▾", messages.len());
            let menu = ui.menu_button(RichText::new(&label).small(), |ui| list(ui, &messages, commands));
            menu.response.widget_info(|| WidgetInfo::labeled(Role::Button, true, &label));
        }
        buttons(ui, first, commands);
        let text = RichText::new(&first.text).color(colour(ui, first.level));
        let label = Label::new(text).truncate().selectable(true);
        ui.with_layout(Layout::left_to_right(Align::Center), |ui| ui.add(label).on_hover_text(&first.text));
    });
}

/// Returns all messages: first the newest of the new ones, then the worst.
fn messages(core: &Core) -> Vec<Message> {
    let now = Instant::now();
    let of_notice = |(index, notice): (usize, &Notice)| Message {
        text: notice.text.clone(),
        level: notice.level,
        remedies: notice.remedies.iter().map(remedy_button).collect(),
        notice: Some(index),
        is_new: now.saturating_duration_since(notice.at) < NEWS_TIMEOUT,
    };
    let mut messages: Vec<_> = core.notices.all().iter().enumerate().rev().map(of_notice).collect();
    messages.extend(baseline_doubt(core));
    messages.extend(core.rig.choice.doubts(&core.status().source).into_iter().map(typed_doubt));
    messages.extend(core.status().warnings.iter().map(|warning| of_warning(core, warning)));
    messages.extend(overload::too_large(core));
    messages.extend(overload::message(core));
    // the answer to the last click must come before an earlier error
    messages.sort_by_key(|message| (!message.is_new).then_some(message.level));
    messages
}

fn of_warning(core: &Core, warning: &Warning) -> Message {
    let remedies: Vec<Action> = match warning.cause {
        Cause::Exchanged => vec![Action::SwapPictures],
        Cause::TooNear => vec![Action::Widen, Action::FitRange],
        Cause::TooFar => vec![Action::FitRange],
        Cause::Matches | Cause::Range => vec![Action::FitRange, Action::Rig],
        Cause::Rows | Cause::Drift => vec![Action::Rig],
        Cause::Blank | Cause::Skew | Cause::Light | Cause::Source => Vec::new(),
    };
    let mut remedies: Vec<_> =
        remedies.into_iter().map(|action| (action.label().to_owned(), Command::Action(action))).collect();
    remedies.retain(|(_, command)| !matches!(command, Command::Action(Action::Rig)) || !core.is_open(Action::Rig));
    match warning.cause {
        Cause::Skew => remedies.push(("Re-sync".to_owned(), Command::Resync)),
        Cause::Light if core.status().cameras.cameras.len() == 2 => {
            remedies.push(("Equal exposure".to_owned(), Command::EqualExposure));
        }
        _ => {}
    }
    Message { text: warning.text.clone(), level: Level::Warning, remedies, notice: None, is_new: false }
}

/// Returns a message about an implausible baseline, by which every depth may be wrong by a factor.
fn baseline_doubt(core: &Core) -> Option<Message> {
    let baseline_m = core.rig.doubted_baseline_m()?;
    let text = format!(
        "a baseline of {baseline_m:.3} m is doubtful: the calibration does not say its unit of length, so every depth may be \
         wrong by a factor"
    );
    let remedies = vec![
        ("Choose the unit …".to_owned(), Action::Rig.into()),
        ("It is right".to_owned(), Command::ConfirmBaseline),
    ];
    Some(Message { text, level: Level::Warning, remedies, notice: None, is_new: false })
}

/// Returns the message of a doubt about a typed lens or baseline.
fn typed_doubt(text: String) -> Message {
    let remedies = vec![("Correct it …".to_owned(), Action::Rig.into())];
    Message { text, level: Level::Warning, remedies, notice: None, is_new: false }
}

fn remedy_button(remedy: &Remedy) -> (String, Command) {
    match remedy {
        Remedy::Action(action) => (action.label().to_owned(), (*action).into()),
        Remedy::OpenAgain => ("Open again".to_owned(), Command::OpenAgain),
        Remedy::Estimate(choice) => ("Estimate again".to_owned(), Command::Calibrate(choice.clone())),
        Remedy::OpenFile(file) => ("Open it".to_owned(), Command::OpenFiles(vec![file.clone()])),
        Remedy::ShowInFolder(file) => ("Show in folder".to_owned(), Command::ShowInFolder(file.clone())),
        Remedy::StartFresh => ("Start fresh".to_owned(), Command::StartFresh),
    }
}

/// Shows, from right to left: dismiss, copy, remedies.
fn buttons(ui: &mut Ui, message: &Message, commands: &mut Vec<Command>) {
    if let Some(index) = message.notice {
        let dismiss = ui.small_button("×");
        dismiss.widget_info(|| WidgetInfo::labeled(Role::Button, true, "Dismiss"));
        if dismiss.on_hover_text("Dismiss").clicked() {
            commands.push(Command::Dismiss(index));
        }
    }
    if message.level == Level::Error && ui.small_button("Copy").on_hover_text("Copy this message").clicked() {
        ui.ctx().copy_text(message.text.clone());
    }
    for (label, command) in message.remedies.iter().rev() {
        if ui.button(label).clicked() {
            // a page is opened before its remedy is applied
            let is_page = matches!(command, Command::Action(Action::Cameras | Action::Rig | Action::Open));
            let dismissed = message.notice.filter(|_| !is_page).map(Command::Dismiss);
            commands.extend(dismissed.into_iter().chain([command.clone()]));
        }
    }
}

fn list(ui: &mut Ui, messages: &[Message], commands: &mut Vec<Command>) {
    let window = ui.ctx().content_rect().size();
    ui.set_width(LIST_WIDTH.min(0.9 * window.x));
    ScrollArea::vertical().max_height(LIST_SHARE * window.y).show(ui, |ui| {
        for message in messages {
            ui.add(Label::new(RichText::new(&message.text).color(colour(ui, message.level))).wrap().selectable(true));
            let row = vec2(ui.available_width(), ui.spacing().interact_size.y);
            ui.allocate_ui_with_layout(row, Layout::right_to_left(Align::Center), |ui| buttons(ui, message, commands));
            ui.separator();
        }
    });
}

fn colour(ui: &Ui, level: Level) -> egui::Color32 {
    match level {
        Level::Error => ui.visuals().error_fg_color,
        Level::Warning => ui.visuals().warn_fg_color,
        Level::Remark | Level::News => ui.visuals().weak_text_color(),
    }
}
