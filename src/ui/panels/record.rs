//! The button that records, what it says meanwhile, and the menu beside it with what is recorded.

use super::{command_button, tooltip};
use crate::recording::write::{Compression, Expected, RecordStatus};
use crate::recording::{Format, Stream};
use crate::ui::command::Command;
use crate::ui::session::Session;
use crate::ui::widgets;
use egui::containers::menu::{MenuButton, MenuConfig};
use egui::{Button, PopupCloseBehavior, RichText, Role, Stroke, TextEdit, Ui, WidgetInfo, vec2};
use std::path::PathBuf;
use std::time::Duration;

/// Width of the button while it records, points: it grows to the left rarely.
const RUNNING_WIDTH: f32 = 132.0;
const MENU_WIDTH: f32 = 280.0;
/// The disk is said to end from here on.
const SOON_S: f64 = 600.0;

/// Shows menu and button, from right to left; gives the command of the button.
pub(crate) fn show(ui: &mut Ui, session: &mut Session) -> Option<Command> {
    menu(ui, session);
    if let Some(status) = session.record.running() {
        return running(ui, status, session.record.needs_results());
    }
    let enabled = !session.record.is_between();
    let button = Button::new("● Record");
    let button = ui.add_enabled_ui(enabled, |ui| command_button(ui, Command::Record, button, false)).inner;
    if button.hovered() {
        session.forecast();
    }
    let button = match &session.record.expected {
        Some(expected) if !session.streams().is_empty() => button.on_hover_text(forecast(session, *expected)),
        _ => button,
    };
    button.clicked().then_some(Command::Record)
}

/// A red dot, for how long, how much, and what was lost.
fn running(ui: &mut Ui, status: &RecordStatus, needs_results: bool) -> Option<Command> {
    let red = ui.visuals().error_fg_color;
    let text = format!("{}  {}", minutes(status.elapsed), size(status.bytes));
    let button = Button::new((RichText::new("●").color(red), RichText::new(text).monospace()));
    let button = ui.add(button.min_size(vec2(RUNNING_WIDTH, 0.0)).stroke(Stroke::new(1.0, red)));
    button.widget_info(|| WidgetInfo::selected(Role::Button, true, true, "Stop recording"));
    let clicked = button.on_hover_text(details(ui, status)).clicked();
    if let Some(lost) = losses(status) {
        ui.label(RichText::new(lost).small().color(red));
    } else if status.counters.not_matched > 0 && needs_results {
        // nothing is lost: what is raw can be matched later
        let text = format!("{} of {} not matched", status.counters.not_matched, status.counters.pairs);
        ui.label(RichText::new(text).small().color(ui.visuals().warn_fg_color));
    } else if let Some(left_s) = status.disk_left_s.filter(|&left_s| left_s < SOON_S) {
        let text = format!("disk full in {}", minutes(Duration::from_secs_f64(left_s.max(0.0))));
        ui.label(RichText::new(text).small().color(ui.visuals().warn_fg_color));
    }
    clicked.then_some(Command::Record)
}

/// What was dropped, and by whom; nothing where all is there.
fn losses(status: &RecordStatus) -> Option<String> {
    let counters = &status.counters;
    let causes = [
        (counters.dropped_by_disk, "pairs dropped: the disk is too slow"),
        (counters.results_dropped_by_disk, "results dropped: the disk is too slow"),
        (counters.dropped_by_source, "pairs dropped by the source"),
    ];
    causes.iter().find(|(count, _)| *count > 0).map(|(count, cause)| format!("{count} {cause}"))
}

fn details(ui: &Ui, status: &RecordStatus) -> String {
    let counters = &status.counters;
    let path = status.path.as_ref().map_or(String::new(), |path| path.display().to_string());
    let left = status.disk_left_s.map_or(String::new(), |s| format!(", the disk lasts {}", long(s)));
    let key = ui.ctx().format_shortcut(&Command::Record.shortcut());
    format!(
        "Recording into {path}; a click ends it.\n\n{} pairs, {} results, {:.0} MB per minute{left}\n{} pairs dropped by the \
         source\n{} pairs and {} results dropped because the disk was too slow\n{} pairs recorded and not matched, because \
         the matcher was too slow\n\n{key}",
        counters.pairs,
        counters.results,
        status.megabytes_per_minute(),
        counters.dropped_by_source,
        counters.dropped_by_disk,
        counters.results_dropped_by_disk,
        counters.not_matched,
    )
}

fn menu(ui: &mut Ui, session: &mut Session) {
    let config = MenuConfig::new().close_behavior(PopupCloseBehavior::CloseOnClickOutside);
    let (button, _) = MenuButton::new("▾").config(config).ui(ui, |ui| {
        ui.set_width(MENU_WIDTH);
        content(ui, session);
    });
    button.widget_info(|| WidgetInfo::labeled(Role::Button, true, "What is recorded"));
    button.on_hover_text("What is recorded, how, and where to.");
}

fn content(ui: &mut Ui, session: &mut Session) {
    session.forecast();
    let is_running = session.record.running().is_some();
    if is_running {
        widgets::note(ui, "For the next recording: the one that runs stays as it is.");
    }
    widgets::heading(ui, "What is recorded");
    let has_depth = session.has_depth();
    for &stream in Stream::ALL {
        let mut wanted = session.record.choices.streams.has(stream);
        if ui.checkbox(&mut wanted, stream.word()).on_hover_text(stream.help()).changed() {
            session.record.choices.streams = session.record.choices.streams.with(stream, wanted);
        }
        if stream == Stream::Depth && wanted && !has_depth {
            widgets::note(ui, "There is no calibration, so no depth: disparity is recorded instead.");
        }
    }
    ui.add_space(4.0);
    let needs_results = session.streams().needs_results();
    let choices = &mut session.record.choices;
    let filled = egui::Checkbox::new(&mut choices.filled, "fill holes");
    let help = "Depth and disparity without holes: what was not measured is taken from its surroundings, and cannot be told \
                apart in the file.";
    widgets::explain(ui.add_enabled(needs_results, filled), help);

    widgets::heading(ui, "File");
    ui.horizontal(|ui| {
        for &format in Format::ALL {
            ui.selectable_value(&mut choices.format, format, format.word()).on_hover_text(format.help());
        }
        ui.separator();
        for &compression in Compression::ALL {
            let word = if compression == Compression::None { "not compressed" } else { compression.word() };
            ui.selectable_value(&mut choices.compression, compression, word).on_hover_text(compression.help());
        }
    });
    folder(ui, session);
    ui.add_space(4.0);
    if session.streams().is_empty() {
        ui.label(RichText::new("Nothing is chosen to be recorded.").color(ui.visuals().warn_fg_color));
    } else {
        let soon = session
            .record
            .expected
            .and_then(|expected| expected.disk_time)
            .is_some_and(|time| time.as_secs_f64() < SOON_S);
        let color = if soon { ui.visuals().warn_fg_color } else { ui.visuals().text_color() };
        let text = session.record.expected.map_or("…".to_owned(), |expected| forecast(session, expected));
        ui.label(RichText::new(text).color(color));
        widgets::note(ui, tooltip(ui, Command::Record));
    }
}

fn folder(ui: &mut Ui, session: &mut Session) {
    ui.horizontal(|ui| {
        if ui.button("Folder …").on_hover_text("Choose a folder for recordings.").clicked() {
            session.choose_record_folder();
        }
        let mut text = session.record_folder().display().to_string();
        let field = ui.add(TextEdit::singleline(&mut text).desired_width(ui.available_width()));
        let named = text.clone();
        field.widget_info(|| WidgetInfo {
            current_text_value: Some(named.clone()),
            ..WidgetInfo::labeled(Role::TextInput, true, "Folder")
        });
        if field.on_hover_text("Where recordings go. Files are named by the time, and none is overwritten.").changed() {
            session.record.choices.folder = Some(PathBuf::from(text)).filter(|path| !path.as_os_str().is_empty());
        }
    });
}

/// `about 166 MB per minute; the disk lasts 5 h 12 min`. How much compression saves, nobody knows before.
fn forecast(session: &Session, expected: Expected) -> String {
    size_and_time(expected, session.record.choices.compression != Compression::None)
}

fn size_and_time(expected: Expected, is_compressed: bool) -> String {
    let megabytes = expected.bytes_per_minute as f64 / 1e6;
    let lasts =
        expected.disk_time.map_or(String::new(), |time| format!("; the disk lasts {}", long(time.as_secs_f64())));
    let about = if is_compressed { "less than" } else { "about" };
    format!("{about} {megabytes:.0} MB per minute{lasts}")
}

/// `0:42`, from an hour on `1:00:42`.
fn minutes(time: Duration) -> String {
    let s = time.as_secs();
    match s / 3600 {
        0 => format!("{}:{:02}", s / 60, s % 60),
        hours => format!("{hours}:{:02}:{:02}", s / 60 % 60, s % 60),
    }
}

/// A time as people say it.
fn long(s: f64) -> String {
    let s = s.max(0.0) as u64;
    match s {
        0..120 => format!("{s} s"),
        120..7200 => format!("{} min", s / 60),
        7200..360_000 => format!("{} h {} min", s / 3600, s / 60 % 60),
        _ => format!("{} days", s / 86_400),
    }
}

fn size(bytes: u64) -> String {
    let megabytes = bytes as f64 / 1e6;
    if megabytes < 9999.5 { format!("{megabytes:.0} MB") } else { format!("{:.1} GB", megabytes / 1e3) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_short_enough_for_a_button() {
        assert_eq!([42, 600, 3642].map(|s| minutes(Duration::from_secs(s))), ["0:42", "10:00", "1:00:42"]);
        assert_eq!([59.0, 700.0, 18_720.0, 864_000.0].map(long), ["59 s", "11 min", "5 h 12 min", "10 days"]);
        assert_eq!([0, 118_400_000, 12_300_000_000].map(size), ["0 MB", "118 MB", "12.3 GB"]);
        let expected = Expected { bytes_per_minute: 166_000_000, disk_time: Some(Duration::from_mins(312)) };
        assert_eq!(size_and_time(expected, false), "about 166 MB per minute; the disk lasts 5 h 12 min");
        assert_eq!(size_and_time(expected, true), "less than 166 MB per minute; the disk lasts 5 h 12 min");
    }
}
