//! Page of the search for better settings: limits, progress, quality against time, and suggestions.

use super::commands::SearchStep;
use super::{front, tried_pairs};
use crate::core::{Command, Core, RATES_HZ, SEARCH_S};
use crate::widgets;
use egui::{Button, DragValue, Grid, Label, RichText, Role, Ui, WidgetInfo};
use std::sync::Arc;
use stereopsis_search::{SearchProgress, Trial};
use stereopsis_stereo::StereoParams;

const HELP: &str = "Proposes the best preset within a time per pair, and with truth of several pairs what suits them better. Nothing is \
     changed until you take it as B. Meanwhile live matching rests, because the times are measured; images go on.";

/// Width of the names in the table, points.
const NAME_WIDTH: f32 = 110.0;

pub(crate) fn show(ui: &mut Ui, core: &Core, commands: &mut Vec<Command>) {
    widgets::note(ui, HELP);
    let can_judge = tried_pairs::show(ui, core, commands);
    wishes(ui, core, commands);
    let is_searching = core.search.is_searching();
    let name = if core.search.search.is_some() { "Search again" } else { "Suggest" };
    let steps = [SearchStep::StartSearch, SearchStep::StopSearch];
    tried_pairs::start_and_stop(ui, (name, "search"), (can_judge, is_searching), steps, commands);
    let Some(search) = &core.search.search else { return };
    if is_searching && (core.recording.recorder().is_some() || !core.live.remotes().is_empty()) {
        widgets::note(ui, "Recorders and other viewers need every depth: matching goes on, and the times are longer.");
    }
    progress(ui, search);
    front::show(ui, search);
    if let Some(why) = search.keeps_to_presets() {
        widgets::note(ui, why);
    }
    if let Some(untried) = search.untried() {
        widgets::note(ui, untried);
    }
    results(ui, core, search, commands);
}

fn wishes(ui: &mut Ui, core: &Core, commands: &mut Vec<Command>) {
    let mut wishes = core.search.wishes;
    let help = "Pairs per second at least, as the engine alone computes them on this machine; 0 for any.";
    widgets::row(ui, "at least", help, |ui| {
        let field = DragValue::new(&mut wishes.rate_hz).range(RATES_HZ).speed(0.5).max_decimals(1).suffix(" pairs/s");
        let response = ui.add(field.update_while_editing(false));
        widgets::name(&response, Role::SpinButton, "Pairs per second at least", wishes.rate_hz);
    });
    widgets::row(ui, "search for", "How long it searches at most. Presets alone take a few seconds.", |ui| {
        let field = DragValue::new(&mut wishes.seconds).range(SEARCH_S).speed(1.0).max_decimals(0).suffix(" s");
        let response = ui.add(field.update_while_editing(false));
        widgets::name(&response, Role::SpinButton, "Seconds to search", wishes.seconds);
    });
    if wishes != core.search.wishes {
        commands.push(SearchStep::SetWishes(wishes).into());
    }
}

fn progress(ui: &mut Ui, search: &SearchProgress) {
    let trials = stereopsis_base::console::counted(search.trials.len() as u64, "setting");
    let text = if search.ended {
        format!("{trials} tried in {:.0} s", search.elapsed.as_secs_f64())
    } else {
        format!("{trials} tried{}", tried_pairs::left_text(search.left))
    };
    let share = search.left.map_or(f32::from(u8::from(search.ended)), |left| {
        let elapsed = search.elapsed.as_secs_f32();
        elapsed / (elapsed + left.as_secs_f32()).max(1e-3)
    });
    tried_pairs::progress(ui, search.error.as_deref(), share, &text);
}

/// Shows the best setting, the presets from the slowest on, and the present setting, each with a button that applies it.
fn results(ui: &mut Ui, core: &Core, search: &SearchProgress, commands: &mut Vec<Command>) {
    let present = search.start.as_ref();
    match (&search.best, present) {
        (Some(best), Some(start)) if !Arc::ptr_eq(best, start) => suggestion(ui, core, start, best, commands),
        (Some(_), Some(_)) if search.ended => {
            widgets::note(ui, "Nothing surely better was found: the present setting is the suggestion.");
        }
        (None, Some(_)) => {
            widgets::note(ui, "Nothing so far is quick enough: ask for fewer pairs per second, or scale the images.");
        }
        _ => {}
    }
    let presets = search.presets.iter().rev().map(|(preset, trial)| (preset.to_string(), Arc::clone(trial)));
    let present = present.map(|trial| ("present setting".to_owned(), Arc::clone(trial)));
    let changed = search.passed_over().into_iter().filter_map(|(trial, _)| {
        let best = search.best.as_ref()?;
        Some((differences(&best.params, &trial.params), trial))
    });
    widgets::heading(ui, "Presets and the present setting");
    Grid::new("tried").num_columns(5).spacing([10.0, 2.0]).show(ui, |ui| {
        for title in ["", search.judge.short_title(), "time", "measured", ""] {
            ui.label(RichText::new(title).small().weak()).on_hover_text(search.judge.title());
        }
        ui.end_row();
        for (name, trial) in presets.chain(present).chain(changed) {
            row(ui, core, search, (&name, &trial), commands);
        }
    });
}

/// Shows a tried setting, with the reason why it is not suggested.
fn row(ui: &mut Ui, core: &Core, search: &SearchProgress, (name, trial): (&str, &Trial), commands: &mut Vec<Command>) {
    let why = search.why_not(trial);
    ui.vertical(|ui| {
        ui.set_max_width(NAME_WIDTH);
        ui.add(Label::new(name).wrap());
        if let Some(why) = why {
            let response = ui.label(RichText::new(why.short()).small().weak());
            response.widget_info(|| WidgetInfo::labeled(Role::Label, true, format!("Why not {name}: {why}")));
            response.on_hover_text(format!("Not suggested: {why}."));
        }
    });
    let time = if trial.time_ms.is_finite() { format!("{:.1} ms", trial.time_ms) } else { "–".to_owned() };
    let measured = format!("{:.1} %", trial.measured_percent);
    for (what, text) in [("loss", loss_text(search, trial)), ("time", time), ("measured", measured)] {
        let response = ui.monospace(&text);
        response.widget_info(|| WidgetInfo::labeled(Role::Label, true, format!("{name} {what} {text}")));
    }
    take(ui, name, core, &trial.params, commands);
    ui.end_row();
}

fn loss_text(search: &SearchProgress, trial: &Trial) -> String {
    match trial.loss {
        Some(loss) if trial.samples == search.samples => format!("{loss:.3}"),
        Some(loss) => format!("> {loss:.3}"),
        None => "–".to_owned(),
    }
}

fn suggestion(ui: &mut Ui, core: &Core, start: &Trial, best: &Arc<Trial>, commands: &mut Vec<Command>) {
    let loss = |trial: &Trial| trial.loss.map_or_else(|| "–".to_owned(), |loss| format!("{loss:.3}"));
    let text = format!("{} → {}, {:.1} → {:.1} ms", loss(start), loss(best), start.time_ms, best.time_ms);
    let response = ui.label(RichText::new(&text).strong());
    response.widget_info(|| WidgetInfo::labeled(Role::Label, true, format!("Suggestion: {text}")));
    ui.add(Label::new(differences(&start.params, &best.params)).wrap());
    take(ui, "the suggestion", core, &best.params, commands);
}

/// Describes the differences, as `P1 14 → 22, uniqueness 5 → 0`.
fn differences(from: &StereoParams, to: &StereoParams) -> String {
    let changed = StereoParams::table().iter().filter_map(|parameter| {
        let (before, after) = ((parameter.get)(from), (parameter.get)(to));
        (before != after).then(|| format!("{} {before} → {after}", parameter.label))
    });
    changed.collect::<Vec<_>>().join(", ")
}

/// Shows a button that keeps the present settings as A and applies these as B.
fn take(ui: &mut Ui, name: &str, core: &Core, params: &StereoParams, commands: &mut Vec<Command>) {
    let is_new = *params != core.matching.params;
    let button = ui.add_enabled(is_new, Button::new("Take as B").small());
    button.widget_info(|| WidgetInfo::labeled(Role::Button, is_new, format!("Take {name} as B")));
    if button.on_hover_text("Keeps the present settings as A, and compares these with them.").clicked() {
        commands.push(SearchStep::TakeAsB(Box::new(params.clone())).into());
    }
}
