//! The strip of a comparison: what A and B are, and the figures of both.

use super::{Action, Command, Panel, State, action_button};
use crate::ui::state::{CompareState, CompareStep, Setup};
use egui::{Button, Grid, Label, RichText, Role, Ui, WidgetInfo};

/// Below this rate the strip says that the comparison lags, Hz.
const SLOW_HZ: f64 = 5.0;

pub(super) struct ComparisonStrip;

impl Panel for ComparisonStrip {
    fn is_open(&self, state: &State) -> bool {
        state.comparison.is_some()
    }

    fn show(&mut self, ui: &mut Ui, state: &State, commands: &mut Vec<Command>) {
        let Some(comparison) = &state.comparison else { return };
        ui.horizontal_wrapped(|ui| {
            action_button(ui, Action::ShowA, Button::new("Flip"), comparison.shows_a, commands);
            action_button(ui, Action::KeepAsA, Button::new("B becomes A"), false, commands);
            if ui.button("Exchange").on_hover_text("Takes A's settings, and keeps the present ones as A.").clicked() {
                commands.push(CompareStep::Exchange.into());
            }
            action_button(ui, Action::EndComparison, Button::new("End"), false, commands);
            let now = Setup::of(&state.matching, &state.source.spec);
            let (a, b) = (comparison.kept.preset_name(), comparison.kept.differences_to(&now));
            ui.add(Label::new(format!("A: {a} as it was kept · B: {b}")).truncate());
        });
        table(ui, comparison);
        if let Some(error) = &comparison.error {
            ui.add(Label::new(RichText::new(format!("A: {error}")).color(ui.visuals().error_fg_color)).wrap());
        } else if comparison.shown.is_none() {
            ui.label(RichText::new("A is being computed …").weak());
        } else if is_live(state) && comparison.rate_hz > 0.0 && comparison.rate_hz < SLOW_HZ {
            let text =
                format!("two results for each pair take their time: {:.1} pairs/s are compared", comparison.rate_hz);
            ui.label(RichText::new(text).weak());
        }
    }
}

/// Whether one pair follows the other.
fn is_live(state: &State) -> bool {
    let status = state.status();
    !(status.paused || status.source.is_still || status.capture.ended)
}

/// Time, share of valid pixels, and errors where the truth is known.
fn table(ui: &mut Ui, comparison: &CompareState) {
    let Some(sides) = &comparison.shown else { return };
    Grid::new("comparison").num_columns(7).spacing([16.0, 1.0]).show(ui, |ui| {
        for title in ["", "time", "measured", "filled", "bad 1.0", "bad 2.0", "mean error"] {
            ui.label(RichText::new(title).small().weak());
        }
        ui.end_row();
        for (name, side) in ["A", "B"].into_iter().zip(sides) {
            ui.strong(name);
            let truth = side.figures.as_ref().and_then(|figures| figures.truth).map(|truth| truth.all);
            let percent = |share: f64| format!("{:.1} %", 100.0 * share);
            let dash = || "–".to_owned();
            let shares = side.figures.as_ref().map(|figures| &figures.shares);
            let cells = [
                ("time", format!("{:.1} ms", 1e3 * side.output.compute_time.as_secs_f64())),
                ("measured", shares.map_or_else(dash, |shares| percent(shares.measured + shares.held))),
                ("filled", shares.map_or_else(dash, |shares| percent(shares.filled))),
                ("bad 1.0", truth.map_or_else(dash, |truth| format!("{:.1} %", truth.bad_1_percent))),
                ("bad 2.0", truth.map_or_else(dash, |truth| format!("{:.1} %", truth.bad_2_percent))),
                ("mean error", truth.map_or_else(dash, |truth| format!("{:.2} px", truth.average_px))),
            ];
            for (title, text) in cells {
                let response = ui.monospace(&text);
                response.widget_info(|| WidgetInfo::labeled(Role::Label, true, format!("{name} {title} {text}")));
            }
            ui.end_row();
        }
    });
}
