//! Page of conversions of the open recording: content, target, size and progress.

use super::state::{Contents, Conversion, ConversionChoices, ConversionState, ConversionStep, RunningConversion};
use crate::core::{Command, Core};
use crate::widgets;
use egui::{Button, DragValue, Label, ProgressBar, RichText, Role, TextEdit, Ui, WidgetInfo};
use stereopsis_base::console;
use stereopsis_frame::Playing;
use stereopsis_images::Axes;
use stereopsis_recording::export::Part;
use stereopsis_recording::write::bytes_per_pair;
use stereopsis_recording::{Stream, Streams};

pub(super) fn show(ui: &mut Ui, conversion: &ConversionState, core: &Core, commands: &mut Vec<Command>) {
    if core.open_recording().is_none() {
        let why = "There is no recording open. Record (Shift+R) makes one, and Open files … opens one.";
        widgets::note(ui, why);
        return;
    }
    let Some(contents) = &conversion.contents else {
        ui.label(RichText::new("Reading the recording …").weak());
        return;
    };
    if let Some(running) = &conversion.running {
        progress(ui, running, commands);
    }
    let mut choices = conversion.choices.clone();
    widgets::heading(ui, "Compute again");
    recompute(ui, core, contents, &mut choices);
    begin(ui, conversion, "Compute again", Conversion::Recompute, None, commands);
    widgets::heading(ui, "Export");
    let why_not = export(ui, core, contents, &mut choices);
    begin(ui, conversion, "Export", Conversion::Export, why_not, commands);
    if choices != conversion.choices {
        commands.push(ConversionStep::SetChoices(choices).into());
    }
}

fn progress(ui: &mut Ui, running: &RunningConversion, commands: &mut Vec<Command>) {
    let counter = &running.counter;
    let what = match running.kind {
        Conversion::Recompute => "Computing",
        Conversion::Export => "Exporting",
    };
    let left = match running.time_left() {
        _ if counter.is_stopped() => ", stopping".to_owned(),
        Some(time) => format!(", {} s left", time.as_secs() + 1),
        None => String::new(),
    };
    let text = format!("{what}: {} of {}{left}", counter.done(), console::counted(counter.pairs(), "pair"));
    let bar = ui.add(ProgressBar::new(running.share()));
    bar.widget_info(|| WidgetInfo::labeled(Role::ProgressIndicator, true, &text));
    ui.horizontal(|ui| {
        let stop = ui.add_enabled(!counter.is_stopped(), Button::new("Stop"));
        stop.widget_info(|| WidgetInfo::labeled(Role::Button, !counter.is_stopped(), "Stop the conversion"));
        let help = "Finished parts are kept; the same conversion continues there.";
        if widgets::explain(stop, help).clicked() {
            commands.push(ConversionStep::Stop.into());
        }
        ui.label(&text);
    });
    ui.add(Label::new(RichText::new(running.output.display().to_string()).weak()).truncate());
}

fn recompute(ui: &mut Ui, core: &Core, contents: &Contents, choices: &mut ConversionChoices) {
    let (pictures, numbers) = (Stream::Raw, if core.has_depth() { Stream::Depth } else { Stream::Disparity });
    let (preset, engine) = (core.matching.preset_name(), &core.matching.engine.settings.choice);
    let text = format!(
        "A new recording: the same images, and {numbers} with the parameters of this window (from {preset}), its calibration, and \
         engine {engine}. The open recording stays as it is."
    );
    widgets::note(ui, text);
    path_field(
        ui,
        "New recording",
        "The file to write. It has the ending .part until it is complete.",
        &mut choices.recording,
    );
    let streams = Streams::default().with(pictures, true).with(Stream::Depth, false).with(numbers, true);
    let pairs = core.pipeline.playback.as_ref().map_or(0, Playing::num_pairs);
    let bytes = core.output().map(|output| pairs * bytes_per_pair(streams, &output.job.frame) as u64);
    // images are copied as packed in the recording
    let bytes = bytes.map(|bytes| bytes.max(contents.bytes));
    let what = format!("{}, {pictures} and {numbers}", console::counted(pairs, "pair"));
    size(ui, &what, bytes, contents.free_bytes);
}

/// Shows the choices of an export, and returns the reason why none is possible.
fn export(ui: &mut Ui, core: &Core, contents: &Contents, choices: &mut ConversionChoices) -> Option<&'static str> {
    widgets::note(ui, "Files for other tools, as it was recorded.");
    let mut chosen = Vec::new();
    let mut show = |ui: &mut Ui, (part, why_not): &(Part, Option<String>)| {
        let mut is_chosen = why_not.is_none() && !choices.left_out.contains(part);
        let switch = egui::Checkbox::new(&mut is_chosen, part.word());
        let switch = ui.add_enabled(why_not.is_none(), switch);
        if widgets::explain(switch, why_not.as_deref().unwrap_or(part.help())).changed() {
            choices.left_out.retain(|left_out| left_out != part);
            choices.left_out.extend((!is_chosen).then_some(*part));
        }
        chosen.extend(is_chosen.then_some(*part));
    };
    let (first, second) = contents.parts.split_at(contents.parts.len().div_ceil(2));
    ui.columns(2, |columns| {
        for (column, parts) in columns.iter_mut().zip([first, second]) {
            for part in parts {
                show(column, part);
            }
        }
    });
    if chosen.contains(&Part::Ply) {
        widgets::row(ui, "axes", "Axes of the points, from the left camera.", |ui| {
            for &axes in Axes::ALL {
                widgets::radio(ui, &mut choices.axes, axes, axes.word()).on_hover_text(axes.help());
            }
        });
    }
    let last = core.pipeline.playback.as_ref().map_or(0, |playing| playing.num_pairs().saturating_sub(1));
    widgets::row(ui, "pairs", "The first and the last pair to export.", |ui| {
        let (first_pair, last_pair) = (&mut choices.pairs.0, &mut choices.pairs.1);
        let field = ui.add(DragValue::new(first_pair).range(0..=*last_pair).update_while_editing(false));
        widgets::name(&field, Role::SpinButton, "First pair", *first_pair as f64);
        ui.label("to");
        let field = ui.add(DragValue::new(last_pair).range(*first_pair..=last).update_while_editing(false));
        widgets::name(&field, Role::SpinButton, "Last pair", *last_pair as f64);
    });
    path_field(
        ui,
        "Folder of the export",
        "A new or empty folder, or that of an export that was stopped.",
        &mut choices.folder,
    );
    let pairs = choices.pairs.1.saturating_sub(choices.pairs.0) + 1;
    let bytes = core.output().map(|output| {
        let raw = &output.job.frame.raw;
        let (width, height) = raw.left.size();
        let pixels = (width * height) as u64;
        pairs * chosen.iter().map(|part| part.max_bytes(pixels, raw.left.rgb.is_some())).sum::<u64>()
    });
    size(ui, &console::counted(pairs, "pair"), bytes, contents.free_bytes);
    chosen.is_empty().then_some("Nothing is chosen to be exported.")
}

/// Shows the largest size of the output, and whether the disk has room for it.
fn size(ui: &mut Ui, what: &str, bytes: Option<u64>, free_bytes: Option<u64>) {
    let Some(bytes) = bytes else { return };
    let free = free_bytes.map_or(String::new(), |free| format!("; {} are free there", console::bytes(free)));
    let text = format!("{what}, less than {}{free}", console::bytes(bytes));
    let color = if free_bytes.is_some_and(|free| free < bytes) {
        ui.visuals().warn_fg_color
    } else {
        ui.visuals().text_color()
    };
    ui.add(Label::new(RichText::new(text).color(color)).wrap());
}

/// Shows the button that starts; disabled with the reason.
fn begin(
    ui: &mut Ui,
    conversion: &ConversionState,
    label: &str,
    kind: Conversion,
    why_not: Option<&str>,
    commands: &mut Vec<Command>,
) {
    let why_not = why_not.or(conversion.running.as_ref().map(|_| "One at a time: another conversion is running."));
    let button = ui.add_enabled(why_not.is_none(), Button::new(label));
    let help = why_not.unwrap_or("In the background; this window goes on.");
    if widgets::explain(button, help).clicked() {
        commands.push(ConversionStep::Convert(kind).into());
    }
}

fn path_field(ui: &mut Ui, label: &str, help: &str, path: &mut String) {
    let field = ui.add(TextEdit::singleline(path).desired_width(ui.available_width()));
    widgets::name_text(&field, Role::TextInput, label, path);
    widgets::explain(field, help);
}
