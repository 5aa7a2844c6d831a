//! Strip of a comparison: the settings of A and B and the figures of both.

use crate::core::{Action, Command, CompareState, CompareStep, Core};
use crate::panels::{Panel, action_button};
use egui::{Button, Grid, Label, RichText, Role, ScrollArea, Ui, WidgetInfo};
use stereopsis_live::{JudgedResult, MedianTime};

/// Rate below which the strip shows that the comparison lags, Hz.
const SLOW_HZ: f64 = 5.0;

pub(crate) struct ComparisonStrip;

impl Panel for ComparisonStrip {
    fn is_open(&self, core: &Core) -> bool {
        core.comparison.is_some()
    }

    fn show(&mut self, ui: &mut Ui, core: &Core, commands: &mut Vec<Command>) {
        let Some(comparison) = &core.comparison else { return };
        ui.horizontal_wrapped(|ui| {
            action_button(ui, Action::ShowA, Button::new("Flip"), comparison.shows_a, commands);
            action_button(ui, Action::KeepAsA, Button::new("B becomes A"), false, commands);
            if ui.button("Exchange").on_hover_text("Takes A's settings, and keeps the present ones as A.").clicked() {
                commands.push(CompareStep::Exchange.into());
            }
            action_button(ui, Action::EndComparison, Button::new("End"), false, commands);
            let now = core.setup();
            let kept = now.clone().matched_as(&comparison.kept);
            let (a, b) = (kept.preset_name(), kept.differences_to(&now));
            ui.add(Label::new(format!("A: {a} as it was kept · B: {b}")).truncate());
        });
        table(ui, comparison);
        if let Some(error) = &comparison.error {
            ui.add(Label::new(RichText::new(format!("A: {error}")).color(ui.visuals().error_fg_color)).wrap());
        } else if comparison.shown.is_none() {
            ui.label(RichText::new("A is being computed …").weak());
        } else if core.pipeline.is_live() && comparison.rate_hz > 0.0 && comparison.rate_hz < SLOW_HZ {
            let text =
                format!("two results for each pair take their time: {:.1} pairs/s are compared", comparison.rate_hz);
            ui.label(RichText::new(text).weak());
        }
    }
}

/// Scores in the table: name, title, digits after the decimal point.
const SCORES: [(&str, &str, usize); 5] = [
    ("score_without_truth", "score", 3),
    ("left_right_percent", "left-right", 1),
    ("census_bits", "census error", 2),
    ("agreement_percent", "agreement", 1),
    ("smoothness_px", "roughness", 2),
];
const SCORES_HELP: &str = "score: the score without truth, 0 is best; left-right: pixels that pass the check, %; census error: bits of 24; \
    agreement: with the pair before where nothing moved, %; roughness: px. bad-1 all, bad-2 all: pixels off by more than 1 and 2 px or without a disparity, % of all with truth. docs/measure.md says how far each agrees with truth.";

/// Shows time, shares, scores, and errors where the truth is known.
fn table(ui: &mut Ui, comparison: &CompareState) {
    let (Some(_), Some(judged)) = (&comparison.shown, &comparison.judged) else { return };
    let titles = ["", "time", "measured", "filled", "bad-1 all", "bad-2 all", "mean error"];
    let titles: Vec<_> = titles.into_iter().chain(SCORES.map(|(_, title, _)| title)).collect();
    let grid = |ui: &mut Ui| {
        for title in &titles {
            ui.label(RichText::new(*title).small().weak()).on_hover_text(SCORES_HELP);
        }
        ui.end_row();
        for ((name, median), judged) in ["A", "B"].into_iter().zip(comparison.times).zip(judged.iter()) {
            ui.strong(name);
            time(ui, name, median);
            for (title, text) in titles[2..].iter().zip(cells(judged)) {
                let response = ui.monospace(&text);
                response.widget_info(|| WidgetInfo::labeled(Role::Label, true, format!("{name} {title} {text}")));
            }
            ui.end_row();
        }
    };
    ScrollArea::horizontal()
        .show(ui, |ui| Grid::new("comparison").num_columns(titles.len()).spacing([14.0, 1.0]).show(ui, grid));
}

fn time(ui: &mut Ui, name: &str, median: Option<MedianTime>) {
    let text = median.map_or_else(|| "–".to_owned(), |median| format!("{:.1} ms", 1e3 * median.time.as_secs_f64()));
    let of = median.map_or_else(String::new, |median| {
        format!("median of {}", stereopsis_base::console::counted(median.results as u64, "result"))
    });
    let response = ui.monospace(&text);
    response.widget_info(|| WidgetInfo::labeled(Role::Label, true, format!("{name} time {text}, {of}")));
    response.on_hover_text(of);
}

/// Returns the texts of the columns after the time.
fn cells(judged: &JudgedResult) -> impl Iterator<Item = String> {
    let dash = || "–".to_owned();
    let shares = judged.figures.as_ref().map(|figures| &figures.shares);
    let truth = judged.figures.as_ref().and_then(|figures| figures.truth).map(|truth| truth.all);
    let percent = |share: f64| format!("{:.1} %", 100.0 * share);
    let figures = [
        shares.map_or_else(dash, |shares| percent(shares.measured + shares.held)),
        shares.map_or_else(dash, |shares| percent(shares.filled)),
        truth.map_or_else(dash, |truth| format!("{:.1} %", truth.bad_1_percent)),
        truth.map_or_else(dash, |truth| format!("{:.1} %", truth.bad_2_percent)),
        truth.map_or_else(dash, |truth| format!("{:.2} px", truth.average_px)),
    ];
    let scores = SCORES.map(|(name, _, digits)| {
        let score = judged.scores.iter().find(|score| score.name == name);
        score.and_then(|score| score.value.ok()).map_or_else(dash, |value| format!("{value:.digits$}"))
    });
    figures.into_iter().chain(scores)
}
