//! Button that starts and shows the recording, and the menu beside it.

use crate::core::{Action, Command, Core, RecordingChoices};
use crate::panels::{action_button, tooltip};
use crate::widgets;
use egui::containers::menu::{MenuButton, MenuConfig};
use egui::{Button, DragValue, PopupCloseBehavior, RichText, Role, Stroke, TextEdit, Ui, WidgetInfo, vec2};
use std::path::PathBuf;
use std::time::Duration;
use stereopsis_base::console;
use stereopsis_recording::write::{Compression, Expected, RecordStatus, Split, WAITING};
use stereopsis_recording::{Format, Stream};

/// Width of the button during a recording, which rarely outgrows it, points.
const RUNNING_WIDTH: f32 = 132.0;
const MENU_WIDTH: f32 = 280.0;
/// Sizes and times of parts that are offered first: files of 4 GB can be copied to every disk.
const FIRST_SPLITS: [Split; 2] = [Split::Bytes(4_000_000_000), Split::Time(Duration::from_mins(10))];
/// Time left on the disk below which it is shown as nearly full, s.
const SOON_S: f64 = 600.0;

/// Shows menu and button from right to left.
pub(crate) fn show(ui: &mut Ui, core: &Core, commands: &mut Vec<Command>) {
    menu(ui, core, commands);
    let recording = &core.recording;
    if let Some(status) = recording.running() {
        running(ui, status, recording.streams.needs_results(), commands);
        return;
    }
    let button = Button::new("● Record");
    let button =
        ui.add_enabled_ui(!recording.is_busy(), |ui| action_button(ui, Action::Record, button, false, commands));
    if button.inner.hovered() {
        commands.push(Command::EstimateRecording);
    }
    if let Some(expected) = recording.expected.filter(|_| !core.streams().is_empty()) {
        button.inner.on_hover_text(size_and_time(expected, &recording.choices));
    }
}

/// Shows a red dot, duration, size, and losses.
fn running(ui: &mut Ui, status: &RecordStatus, needs_results: bool, commands: &mut Vec<Command>) {
    let red = ui.visuals().error_fg_color;
    let text = format!("{}  {}", minutes(status.elapsed), console::bytes(status.bytes));
    let button = Button::new((RichText::new("●").color(red), RichText::new(text).monospace()));
    let button = ui.add(button.min_size(vec2(RUNNING_WIDTH, 0.0)).stroke(Stroke::new(1.0, red)));
    button.widget_info(|| WidgetInfo::selected(Role::Button, true, true, "Stop recording"));
    if button.on_hover_text(details(ui, status)).clicked() {
        commands.push(Action::Record.into());
    }
    if status.is_waiting {
        ui.label(RichText::new(WAITING).small());
    } else if let Some(lost) = losses(status) {
        ui.label(RichText::new(lost).small().color(red));
    } else if status.counters.not_matched > 0 && needs_results {
        // shown as a warning, since raw pairs can be matched later
        let text = format!("{} of {} not matched", status.counters.not_matched, status.taken);
        ui.label(RichText::new(text).small().color(ui.visuals().warn_fg_color));
    } else if let Some(left_s) = status.disk_left_s.filter(|&left_s| left_s < SOON_S) {
        let text = format!("disk full in {}", minutes(Duration::from_secs_f64(left_s.max(0.0))));
        ui.label(RichText::new(text).small().color(ui.visuals().warn_fg_color));
    }
}

/// Describes the first cause of dropped pairs or results.
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
    let path = status.further.last().or(status.path.as_ref());
    let path = path.map_or(String::new(), |path| path.display().to_string());
    let left = status.disk_left_s.map_or(String::new(), |s| format!(", the disk lasts {}", long(s)));
    let key = ui.ctx().format_shortcut(&Action::Record.shortcut());
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

fn menu(ui: &mut Ui, core: &Core, commands: &mut Vec<Command>) {
    let config = MenuConfig::new().close_behavior(PopupCloseBehavior::CloseOnClickOutside);
    let (button, _) = MenuButton::new("▾").config(config).ui(ui, |ui| {
        ui.set_width(MENU_WIDTH);
        content(ui, core, commands);
    });
    button.widget_info(|| WidgetInfo::labeled(Role::Button, true, "What is recorded"));
    button.on_hover_text("Streams, format and folder of the recording.");
}

fn content(ui: &mut Ui, core: &Core, commands: &mut Vec<Command>) {
    commands.push(Command::EstimateRecording);
    if core.recording.running().is_some() {
        widgets::note(ui, "For the next recording: the one that runs stays as it is.");
    }
    let mut choices = core.recording.choices.clone();
    widgets::heading(ui, "What is recorded");
    for &stream in Stream::ALL {
        let mut chosen = choices.streams.has(stream);
        if widgets::checkbox(ui, &mut chosen, stream.word()).on_hover_text(stream.help()).changed() {
            choices.streams = choices.streams.with(stream, chosen);
        }
        if stream == Stream::Depth && chosen && !core.has_depth() {
            widgets::note(ui, "There is no calibration, so no depth: disparity is recorded instead.");
        }
    }
    ui.add_space(4.0);
    let filled = egui::Checkbox::new(&mut choices.filled, "fill holes");
    let help = "Depth and disparity without holes: what was not measured is taken from its surroundings, and cannot be told \
                apart in the file.";
    widgets::explain(ui.add_enabled(core.streams().needs_results(), filled), help);

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
    ui.horizontal_wrapped(|ui| splitting(ui, &mut choices.split));
    ui.horizontal(|ui| folder(ui, core, &mut choices, commands));
    if choices != core.recording.choices {
        commands.push(Command::SetRecording(choices));
    }
    ui.add_space(4.0);
    if core.streams().is_empty() {
        ui.label(RichText::new("Nothing is chosen to be recorded.").color(ui.visuals().warn_fg_color));
        return;
    }
    let expected = core.recording.expected;
    let soon = expected.and_then(|expected| expected.disk_time).is_some_and(|time| time.as_secs_f64() < SOON_S);
    let color = if soon { ui.visuals().warn_fg_color } else { ui.visuals().text_color() };
    let text = expected.map_or("…".to_owned(), |expected| size_and_time(expected, &core.recording.choices));
    ui.label(RichText::new(text).color(color));
    widgets::note(ui, tooltip(ui, Action::Record));
}

/// Shows the choice of one file or of parts, with their size or time.
fn splitting(ui: &mut Ui, split: &mut Option<Split>) {
    let of_size = matches!(split, Some(Split::Bytes(_)));
    let of_time = matches!(split, Some(Split::Time(_)));
    let [size, time] = FIRST_SPLITS.map(Some);
    let parts = "Goes on in another file. Each is whole by itself; the first one opens all.";
    let options = [
        (None, split.is_none(), "one file", "Goes on in another file only where the disk takes no larger one."),
        (size, of_size, "parts of a size", parts),
        (time, of_time, "of a time", parts),
    ];
    for (option, is_chosen, word, help) in options {
        if ui.selectable_label(is_chosen, word).on_hover_text(help).clicked() && !is_chosen {
            *split = option;
        }
    }
    let mut number = |mut value: f64, suffix: &str, name: &str| {
        let field = DragValue::new(&mut value).range(0.1..=10_000.0).speed(0.1).suffix(suffix).max_decimals(1);
        let response = ui.add(field);
        widgets::name(&response, Role::SpinButton, name, value);
        response.changed().then_some(value)
    };
    match split {
        Some(Split::Bytes(bytes)) => {
            if let Some(gigabytes) = number(*bytes as f64 / 1e9, " GB", "Size of a part") {
                *bytes = (gigabytes * 1e9).round() as u64;
            }
        }
        Some(Split::Time(time)) => {
            if let Some(minutes) = number(time.as_secs_f64() / 60.0, " min", "Time of a part") {
                *time = Duration::from_secs((minutes * 60.0).round() as u64);
            }
        }
        None => {}
    }
}

fn folder(ui: &mut Ui, core: &Core, choices: &mut RecordingChoices, commands: &mut Vec<Command>) {
    if ui.button("Folder …").on_hover_text("Choose a folder for recordings.").clicked() {
        commands.push(Command::ChooseRecordingFolder);
    }
    let mut text = core.recording_folder().display().to_string();
    let field = ui.add(TextEdit::singleline(&mut text).desired_width(ui.available_width()));
    widgets::name_text(&field, Role::TextInput, "Folder", &text);
    if field.on_hover_text("Where recordings go. Files are named by the time, and none is overwritten.").changed() {
        choices.folder = Some(PathBuf::from(text)).filter(|path| !path.as_os_str().is_empty());
    }
}

/// Formats `about 166 MB per minute; the disk lasts 5 h 12 min`, an upper bound where the file is compressed.
fn size_and_time(expected: Expected, choices: &RecordingChoices) -> String {
    let megabytes = expected.bytes_per_minute as f64 / 1e6;
    let lasts =
        expected.disk_time.map_or(String::new(), |time| format!("; the disk lasts {}", long(time.as_secs_f64())));
    let about = if choices.compression == Compression::None { "about" } else { "less than" };
    format!("{about} {megabytes:.0} MB per minute{lasts}")
}

/// Formats a time, as `0:42` or, from an hour on, `1:00:42`.
fn minutes(time: Duration) -> String {
    let s = time.as_secs();
    match s / 3600 {
        0 => format!("{}:{:02}", s / 60, s % 60),
        hours => format!("{hours}:{:02}:{:02}", s / 60 % 60, s % 60),
    }
}

/// Formats a duration in one or two units.
fn long(s: f64) -> String {
    let s = s.max(0.0) as u64;
    match s {
        0..120 => format!("{s} s"),
        120..7200 => format!("{} min", s / 60),
        7200..360_000 => format!("{} h {} min", s / 3600, s / 60 % 60),
        _ => format!("{} days", s / 86_400),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_short_enough_for_a_button() {
        assert_eq!([42, 600, 3642].map(|s| minutes(Duration::from_secs(s))), ["0:42", "10:00", "1:00:42"]);
        assert_eq!([59.0, 700.0, 18_720.0, 864_000.0].map(long), ["59 s", "11 min", "5 h 12 min", "10 days"]);
        assert_eq!([0, 118_400_000, 12_300_000_000].map(console::bytes), ["0 bytes", "118.4 MB", "12.3 GB"]);
        let expected = Expected { bytes_per_minute: 166_000_000, disk_time: Some(Duration::from_mins(312)) };
        for (compression, about) in [(Compression::None, "about"), (Compression::Zstd, "less than")] {
            let choices = RecordingChoices { compression, ..RecordingChoices::default() };
            let text = format!("{about} 166 MB per minute; the disk lasts 5 h 12 min");
            assert_eq!(size_and_time(expected, &choices), text);
        }
    }
}
