//! Time line of a recording or a folder: play, step, position, speed, loop.
//! The source seeks to the newest position only, so that dragging never lags.

use super::{Action, Command, Core, Panel, action_button, style, widgets};
use crate::core::command::Playback;
use egui::{
    Align, Button, Color32, DragValue, Label, Layout, Rangef, Rect, Response, RichText, Role, Slider, TextStyle, Ui,
    vec2,
};
use std::time::Duration;
use stereopsis_base::console;
use stereopsis_frame::{Playing, SourceSpec, Speed};

/// Speeds on offer beside the present one.
const SPEEDS: [f64; 7] = [0.1, 0.25, 0.5, 1.0, 2.0, 5.0, 10.0];
const SPEED_WIDTH: f32 = 64.0;
/// Width of the button that plays and holds, enough for both words, points.
const PLAY_WIDTH: f32 = 68.0;
/// Smallest width of windows with one row, points.
const ONE_ROW_WIDTH: f32 = 860.0;
/// Height of a tick at a pair with recorded depth, points.
const TICK_HEIGHT: f32 = 3.0;
const TICK_WIDTH: f32 = 1.5;
/// Largest width of a pair's name, points.
const NAME_WIDTH: f32 = 200.0;

#[derive(Default)]
pub(crate) struct Timeline {
    /// Whether playback resumes when the slider is released.
    resumes: bool,
}

impl Panel for Timeline {
    fn is_open(&self, core: &Core) -> bool {
        core.pipeline.playback.is_some()
    }

    fn show(&mut self, ui: &mut Ui, core: &Core, commands: &mut Vec<Command>) {
        let Some(playing) = &core.pipeline.playback else { return };
        // one row would have no room for the slider
        let is_narrow = ui.available_width() < ONE_ROW_WIDTH;
        ui.horizontal(|ui| {
            buttons(ui, playing, core.status().paused, commands);
            if !is_narrow {
                place(ui, playing, commands);
            }
            ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
                choices(ui, core, playing, commands);
                if !is_narrow {
                    ui.separator();
                    self.slider(ui, playing, commands);
                }
            });
        });
        if is_narrow {
            ui.horizontal(|ui| {
                place(ui, playing, commands);
                self.slider(ui, playing, commands);
            });
        }
    }
}

fn buttons(ui: &mut Ui, playing: &Playing, held: bool, commands: &mut Vec<Command>) {
    let play = Button::new(if held { "▶ Play" } else { "‖ Pause" }).min_size(vec2(PLAY_WIDTH, 0.0));
    action_button(ui, Action::ToStart, Button::new("|◂◂"), false, commands);
    action_button(ui, Action::StepBack, Button::new("|◂"), false, commands);
    action_button(ui, Action::Pause, play, held, commands);
    action_button(ui, Action::Step, Button::new("▸|"), false, commands);
    action_button(ui, Action::ToEnd, Button::new("▸▸|"), false, commands);
    if playing.recorded.is_some() {
        action_button(ui, Action::RecordedBack, Button::new("◂•"), false, commands);
        action_button(ui, Action::RecordedOn, Button::new("•▸"), false, commands);
    }
}

fn place(ui: &mut Ui, playing: &Playing, commands: &mut Vec<Command>) {
    let Some(last) = playing.num_pairs().checked_sub(1) else {
        ui.label("no pair here");
        return;
    };
    let at = playing.target().unwrap_or(0);
    match playing.name(at) {
        Some(name) => numbered(ui, name, at, last, commands),
        None => position(ui, playing, at, last, commands),
    }
}

/// Shows conversion, loop and speed from right to left.
fn choices(ui: &mut Ui, core: &Core, playing: &Playing, commands: &mut Vec<Command>) {
    if core.open_recording().is_some() {
        let convert = Button::new("Export …");
        action_button(ui, Action::Convert, convert, core.is_open(Action::Convert), commands);
    }
    let mut looped = playing.looped;
    let help = "At the end, begin again; otherwise stay there.";
    if widgets::checkbox(ui, &mut looped, "loop").on_hover_text(help).changed() {
        commands.push(Command::Playback(Playback::SetLooped(looped)));
    }
    speed(ui, playing.speed, commands);
    if let SourceSpec::Video(inputs) = &core.source.spec
        && inputs.len() == 2
    {
        right_shift(ui, core, commands);
    }
}

/// Shows by how much the right one of two videos began later; a change opens both again.
fn right_shift(ui: &mut Ui, core: &Core, commands: &mut Vec<Command>) {
    let mut options = core.rig.options.clone();
    let shift_s = options.right_shift_s;
    // a drag would open them at each step
    let field = DragValue::new(&mut options.right_shift_s).speed(0.0).max_decimals(3).suffix(" s");
    let field = fixed_width(ui, field.update_while_editing(false), "-000.000 s");
    widgets::name(&field, Role::SpinButton, "Right shift", shift_s);
    field.on_hover_text(
        "Right shift: how long after the left video the right one began, s; negative: before it. Click and type.",
    );
    ui.label("right shift"); // the line is laid from the right
    if options != core.rig.options {
        commands.push(Command::Reopen(Box::new(options)));
    }
}

impl Timeline {
    /// Shows the slider of the whole recording or folder; playback waits during a drag.
    fn slider(&mut self, ui: &mut Ui, playing: &Playing, commands: &mut Vec<Command>) {
        let Some(last) = playing.num_pairs().checked_sub(1) else { return };
        let at = playing.target().unwrap_or(0);
        ui.spacing_mut().slider_width = ui.available_width();
        style::show_tracks(ui);
        let mut frame = at;
        let slider = ui.add(Slider::new(&mut frame, 0..=last).show_value(false));
        widgets::name(&slider, Role::Slider, "Position", at as f64);
        frame = frame.saturating_add_signed(widgets::wheel_steps(ui, &slider)).min(last);
        if slider.drag_started() && playing.playing {
            commands.push(Command::Playback(Playback::Drag(true)));
            self.resumes = true;
        }
        // a press and its release may fall into one frame of the window before the slider has moved
        if let Some(pointer) = slider.interact_pointer_pos().filter(|_| slider.clicked()) {
            let track = track(&slider);
            let share = ((pointer.x - track.min) / track.span().max(1.0)).clamp(0.0, 1.0);
            frame = (f64::from(share) * last as f64).round() as u64;
        }
        if frame != at {
            commands.push(Command::Playback(Playback::Seek(frame)));
        }
        if slider.drag_stopped() && std::mem::take(&mut self.resumes) {
            commands.push(Command::Playback(Playback::Drag(false)));
        }
        if slider.has_focus() {
            ui.data_mut(|data| data.insert_temp(widgets::focused_slider(), slider.id));
        }
        let help = "Drag, or turn the wheel, to any pair.";
        match &playing.recorded {
            Some(recorded) => {
                ticks(ui, &slider, recorded, last);
                let count = recorded.iter().filter(|&&has| has).count() as u64;
                let found = console::counted(count, "pair");
                let searched = match recorded.len() as u64 {
                    all if all > last => String::new(),
                    some => format!(" of the first {some}, searching on"),
                };
                slider.on_hover_text(format!("{help}\nTicks below: {found}{searched} with recorded depth."));
            }
            None => {
                slider.on_hover_text(help);
            }
        }
    }
}

/// Returns the range in which the middle of a slider's handle moves.
fn track(slider: &Response) -> Rangef {
    slider.rect.shrink(slider.rect.height() / 2.0).x_range()
}

/// Marks the pairs with recorded depth below the slider, successive ones by a bar.
fn ticks(ui: &Ui, slider: &Response, recorded: &[bool], last: u64) {
    let track = track(slider);
    let place = |pair: usize| track.min + track.span() * (pair as f64 / last.max(1) as f64) as f32;
    let rows = Rangef::new(slider.rect.bottom() - TICK_HEIGHT, slider.rect.bottom());
    let half = (0.5 * track.span() / last.max(1) as f32).clamp(0.5 * TICK_WIDTH, TICK_WIDTH);
    let color = ui.visuals().hyperlink_color;
    let mut from = 0;
    for run in recorded.chunk_by(|a, b| a == b) {
        if run[0] {
            let columns = Rangef::new(place(from) - half, place(from + run.len() - 1) + half);
            ui.painter().rect_filled(Rect::from_x_y_ranges(columns, rows), 0.0, color);
        }
        from += run.len();
    }
}

/// Shows number and name of a pair of files, as `3 of 9, left03`; the number is a field.
fn numbered(ui: &mut Ui, name: &str, at: u64, last: u64, commands: &mut Vec<Command>) {
    ui.separator();
    let count = last + 1;
    let mut number = at + 1;
    let field = DragValue::new(&mut number).range(1..=count).speed(0.1).update_while_editing(false);
    let field = fixed_width(ui, field, &count.to_string());
    widgets::name(&field, Role::SpinButton, "Pair", (at + 1) as f64);
    field.on_hover_text("Number of the pair in the folder. Drag it, or click and type.");
    if number != at + 1 {
        commands.push(Command::Playback(Playback::Seek(number.saturating_sub(1))));
    }
    ui.scope(|ui| {
        ui.set_max_width(NAME_WIDTH);
        let text = format!("of {count}, {}", console::foreign(name));
        ui.add(Label::new(RichText::new(&text).weak()).truncate()).on_hover_text(text);
    });
}

/// Shows fields for frame and time.
fn position(ui: &mut Ui, playing: &Playing, at: u64, last: u64, commands: &mut Vec<Command>) {
    ui.separator();
    ui.label(RichText::new("frame").weak());
    let mut frame = at;
    let field = DragValue::new(&mut frame).range(0..=last).speed(0.1).update_while_editing(false);
    let field = fixed_width(ui, field, &last.to_string());
    widgets::name(&field, Role::SpinButton, "Frame", at as f64);
    field.on_hover_text("Number of the pair in the recording, from 0. Drag it, or click and type.");
    if frame != at {
        commands.push(Command::Playback(Playback::Seek(frame)));
    }
    ui.label(RichText::new(format!("/ {last}")).weak());

    let seconds = |pair| playing.time(pair).map_or(0.0, |time: Duration| time.as_secs_f64());
    let (here_s, end_s) = (seconds(at), seconds(last));
    let mut time_s = here_s;
    let field = DragValue::new(&mut time_s)
        .range(0.0..=end_s)
        .speed((end_s / 1000.0).clamp(0.01, 1.0))
        .custom_formatter(|seconds, _| clock(seconds))
        .custom_parser(read_clock)
        .update_while_editing(false);
    let field = fixed_width(ui, field, &clock(end_s));
    widgets::name(&field, Role::SpinButton, "Time", here_s);
    let how = "Time since the first pair: m:ss.mmm, or seconds. Drag it, or click and type.";
    // a typed time equal to the shown one to the millisecond is no change
    if field.on_hover_text(how).changed() && (time_s - here_s).abs() > 5e-4 {
        commands.push(Command::Playback(Playback::SeekTime(Duration::from_secs_f64(time_s.max(0.0) + 5e-4))));
    }
    ui.label(RichText::new(format!("/ {}", clock(end_s))).weak());
}

/// Shows a number field as wide as its longest text, so that nothing moves while it counts.
fn fixed_width(ui: &mut Ui, field: DragValue<'_>, longest: &str) -> Response {
    let font = TextStyle::Button.resolve(ui.style());
    let text = ui.painter().layout_no_wrap(longest.replace(|c: char| c.is_ascii_digit(), "0"), font, Color32::WHITE);
    let width = text.size().x + 2.0 * ui.spacing().button_padding.x;
    ui.add_sized(vec2(width.ceil(), ui.spacing().interact_size.y), field)
}

fn speed(ui: &mut Ui, now: Speed, commands: &mut Vec<Command>) {
    let mut offered: Vec<_> = SPEEDS.iter().map(|&times| Speed::Times(times)).collect();
    offered.push(Speed::Max);
    if !offered.contains(&now) {
        offered.insert(0, now);
    }
    let words: Vec<_> = offered.iter().map(|&speed| (speed, word(speed))).collect();
    let options: Vec<_> = words.iter().map(|(speed, word)| (*speed, word.as_str(), help(*speed))).collect();
    let mut chosen = now;
    let changed = ui.scope(|ui| {
        ui.set_max_width(SPEED_WIDTH);
        widgets::choice(ui, "Speed", "Speed of playback.", &options, &mut chosen)
    });
    if changed.inner {
        commands.push(Command::Playback(Playback::SetSpeed(chosen)));
    }
}

fn word(speed: Speed) -> String {
    match speed {
        Speed::Times(times) => format!("{times} ×"),
        Speed::Max => "max".to_owned(),
    }
}

fn help(speed: Speed) -> &'static str {
    match speed {
        Speed::Times(_) => {
            "So many times as fast as it was recorded, or as its rate says; pairs for which the matcher is too slow are left out."
        }
        Speed::Max => "As fast as pairs are matched; none is left out.",
    }
}

/// Formats a time as `1:02.500`, from an hour on as `1:01:02.500`.
fn clock(seconds: f64) -> String {
    let ms = (seconds.max(0.0) * 1e3).round() as u64;
    let (minutes, rest) = (ms / 60_000, ms % 60_000);
    let (s, ms) = (rest / 1000, rest % 1000);
    match minutes / 60 {
        0 => format!("{minutes}:{s:02}.{ms:03}"),
        hours => format!("{hours}:{:02}:{s:02}.{ms:03}", minutes % 60),
    }
}

/// Parses seconds from `62.5`, `1:02.5` or `1:01:02`.
fn read_clock(text: &str) -> Option<f64> {
    let parts: Vec<_> = text.trim().split(':').map(|part| part.trim().parse::<f64>().ok()).collect();
    let parts = parts.into_iter().collect::<Option<Vec<_>>>()?;
    let valid = parts.len() <= 3 && parts.iter().all(|part| part.is_finite() && *part >= 0.0);
    valid.then(|| parts.iter().fold(0.0, |sum, part| 60.0 * sum + part))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_read_as_they_are_written() {
        for (seconds, text) in
            [(0.0, "0:00.000"), (62.5, "1:02.500"), (3662.0401, "1:01:02.040"), (59.9996, "1:00.000")]
        {
            assert_eq!(clock(seconds), text);
            assert!((read_clock(text).unwrap() - seconds).abs() < 1e-3);
        }
        assert_eq!([" 7 ", "1:2", "1:0:0", "0.25"].map(read_clock), [Some(7.0), Some(62.0), Some(3600.0), Some(0.25)]);
        assert_eq!(["", "x", "1:", "-1", "1:2:3:4", "nan"].map(read_clock), [None; 6]);
    }
}
