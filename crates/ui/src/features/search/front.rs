//! Quality against time: all settings that were tried, the front of the best ones, presets, and the limit.

use crate::search::{Judge, SearchProgress, Trial};
use egui::{Align2, Color32, Role, Ui, WidgetInfo};
use egui_plot::{Line, MarkerShape, Plot, PlotPoint, Points, Text, VLine};

/// Height of the figure, points.
const HEIGHT: f32 = 230.0;
// they differ in more than red and green, for colour-blind readers
const FRONT_COLOR: Color32 = Color32::from_rgb(50, 140, 210);
const PRESET_COLOR: Color32 = Color32::from_rgb(204, 121, 167);
const START_COLOR: Color32 = Color32::from_rgb(255, 140, 40);
const BEST_COLOR: Color32 = Color32::from_rgb(0, 158, 115);
/// Settings this many times worse than the best one lie outside the figure.
const MAX_OF_BEST: f64 = 3.0;

/// Draws the figure.
pub(crate) fn show(ui: &mut Ui, search: &SearchProgress) {
    let at = |trial: &Trial| {
        let loss = trial.loss.filter(|_| trial.samples == search.samples)?;
        trial.time_ms.is_finite().then_some([trial.time_ms, loss])
    };
    let best = search.trials.iter().filter_map(|trial| at(trial)).map(|[_, loss]| loss).fold(f64::INFINITY, f64::min);
    let is_shown = |[_, loss]: &[f64; 2]| *loss <= MAX_OF_BEST * best;
    let shown: Vec<_> = search.trials.iter().filter_map(|trial| at(trial)).filter(is_shown).collect();
    let (ink, weak) = (ui.visuals().text_color(), ui.visuals().weak_text_color());
    let plot = Plot::new("quality against time")
        .height(HEIGHT)
        .allow_drag(false)
        .allow_zoom(false)
        .allow_scroll(false)
        .allow_boxed_zoom(false)
        .include_x(0.0)
        .x_axis_label("time of a pair, ms")
        .y_axis_label(if search.judge == Judge::Truth { "wrong, %" } else { "score" });
    let response = plot.show(ui, |plot| {
        plot.points(Points::new("tried", shown).color(weak).radius(1.5));
        let front: Vec<_> = search.front.iter().filter_map(|trial| at(trial)).filter(is_shown).collect();
        plot.line(Line::new("front", front).color(FRONT_COLOR).width(2.0));
        if let Some(max_ms) = search.limits.max_ms {
            plot.vline(VLine::new("limit", max_ms).color(ink));
        }
        for (preset, trial) in &search.presets {
            if let Some(point) = at(trial).filter(is_shown) {
                plot.points(Points::new(preset.word(), vec![point]).color(PRESET_COLOR).radius(3.5));
                let text = Text::new(preset.word(), PlotPoint::from(point), format!(" {preset}"));
                plot.text(text.color(PRESET_COLOR).anchor(Align2::LEFT_BOTTOM));
            }
        }
        for (name, trial, color) in [("present", &search.start, START_COLOR), ("best", &search.best, BEST_COLOR)] {
            if let Some(point) = trial.as_ref().and_then(|trial| at(trial)).filter(is_shown) {
                let shape = if name == "best" { MarkerShape::Asterisk } else { MarkerShape::Diamond };
                plot.points(Points::new(name, vec![point]).color(color).radius(6.0).shape(shape));
            }
        }
    });
    let name = "Quality against time of the settings that were tried";
    response.response.widget_info(|| WidgetInfo::labeled(Role::Image, true, name));
    crate::widgets::note(
        ui,
        "Lower is better, left is quicker. Line: what no other setting beats. Diamond: the present setting; star: the suggestion; vertical line: the limit.",
    );
}
