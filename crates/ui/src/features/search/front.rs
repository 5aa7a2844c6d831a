//! Quality against time: all tried settings, the front, presets, and the limit.

use super::labels::place;
use egui::{Color32, FontId, Role, Ui, WidgetInfo, vec2};
use egui_plot::{Line, MarkerShape, Plot, PlotPoint, PlotResponse, Points, VLine};
use stereopsis_base::console;
use stereopsis_search::{SearchProgress, Trial};

/// Height of the figure, points.
const HEIGHT: f32 = 230.0;
// colours that differ in more than red and green, for colour-blind readers
const FRONT_COLOR: Color32 = Color32::from_rgb(50, 140, 210);
const PRESET_COLOR: Color32 = Color32::from_rgb(204, 121, 167);
const START_COLOR: Color32 = Color32::from_rgb(255, 140, 40);
const BEST_COLOR: Color32 = Color32::from_rgb(0, 158, 115);
/// Largest loss in the figure as a multiple of the lowest one.
const MAX_OF_BEST: f64 = 3.0;
/// Right end of the figure as a multiple of the time limit, which is thus at four fifths of the width.
const MAX_OF_LIMIT: f64 = 1.25;

#[derive(Debug, PartialEq)]
struct FigureLimits {
    /// Largest time, ms; `None` without a limit.
    max_ms: Option<f64>,
    max_loss: f64,
}

impl FigureLimits {
    /// Returns limits for settings with these times in ms and losses; the quickest setting is always inside.
    fn of(places: &[[f64; 2]], limit_ms: Option<f64>) -> Self {
        let least = |axis: usize| places.iter().map(|place| place[axis]).fold(f64::INFINITY, f64::min);
        let quickest_ms = Some(least(0)).filter(|ms| ms.is_finite()).unwrap_or(0.0);
        Self { max_ms: limit_ms.map(|ms| MAX_OF_LIMIT * ms.max(quickest_ms)), max_loss: MAX_OF_BEST * least(1) }
    }

    fn is_late(&self, [time_ms, _]: [f64; 2]) -> bool {
        self.max_ms.is_some_and(|max_ms| time_ms > max_ms)
    }

    fn has(&self, place: [f64; 2]) -> bool {
        place[1] <= self.max_loss && !self.is_late(place)
    }

    /// Returns `3 settings beyond 416 ms are not drawn.`, or `None` if all are drawn.
    fn left_out(&self, places: &[[f64; 2]]) -> Option<String> {
        let late = places.iter().filter(|place| self.is_late(**place)).count();
        let bad = places.iter().filter(|place| !self.has(**place)).count() - late;
        let settings = |count: usize| console::counted(count as u64, "setting");
        let late_text = (late > 0).then(|| format!("{} beyond {:.0} ms", settings(late), self.max_ms.unwrap_or(0.0)));
        let bad_text = (bad > 0).then(|| format!("{} above {:.3}", settings(bad), self.max_loss));
        let texts: Vec<_> = late_text.into_iter().chain(bad_text).collect();
        let verb = if late + bad == 1 { "is" } else { "are" };
        (!texts.is_empty()).then(|| format!("{} {verb} not drawn.", texts.join(" and ")))
    }
}

pub(crate) fn show(ui: &mut Ui, search: &SearchProgress) {
    let at = |trial: &Trial| {
        let loss = trial.loss.filter(|_| trial.samples == search.samples)?;
        trial.time_ms.is_finite().then_some([trial.time_ms, loss])
    };
    let tried: Vec<_> = search.trials.iter().filter_map(|trial| at(trial)).collect();
    let scope = FigureLimits::of(&tried, search.limits.max_ms);
    let drawn = |trial: &Trial| at(trial).filter(|place| scope.has(*place));
    let (ink, weak) = (ui.visuals().text_color(), ui.visuals().weak_text_color());
    let mut plot = Plot::new("quality against time")
        .height(HEIGHT)
        .allow_drag(false)
        .allow_zoom(false)
        .allow_scroll(false)
        .allow_boxed_zoom(false)
        .include_x(0.0)
        .x_axis_label("time of a pair, ms")
        .y_axis_label(search.judge.short_title());
    if let Some(max_ms) = scope.max_ms {
        plot = plot.include_x(max_ms).set_margin_fraction(vec2(0.0, 0.08));
    }
    let presets: Vec<_> =
        search.presets.iter().filter_map(|(preset, trial)| Some((preset.word(), drawn(trial)?))).collect();
    let response = plot.show(ui, |plot| {
        let shown: Vec<_> = tried.iter().copied().filter(|place| scope.has(*place)).collect();
        plot.points(Points::new("tried", shown).color(weak).radius(1.5));
        let front: Vec<_> = search.front.iter().filter_map(|trial| drawn(trial)).collect();
        // one line per segment, since a single line would have a spike at a sharp corner
        for ends in front.windows(2) {
            plot.line(Line::new("front", ends.to_vec()).color(FRONT_COLOR).width(2.0));
        }
        if let Some(max_ms) = search.limits.max_ms {
            plot.vline(VLine::new("limit", max_ms).color(ink));
        }
        for (word, place) in &presets {
            plot.points(Points::new(*word, vec![*place]).color(PRESET_COLOR).radius(3.5));
        }
        for (name, trial, color) in [("present", &search.start, START_COLOR), ("best", &search.best, BEST_COLOR)] {
            if let Some(place) = trial.as_ref().and_then(|trial| drawn(trial)) {
                let shape = if name == "best" { MarkerShape::Asterisk } else { MarkerShape::Diamond };
                plot.points(Points::new(name, vec![place]).color(color).radius(6.0).shape(shape));
            }
        }
    });
    names(ui, &response, &presets);
    let left_out = scope.left_out(&tried);
    let name = "Quality against time of the settings that were tried";
    let name = left_out.as_ref().map_or_else(|| name.to_owned(), |text| format!("{name}. {text}"));
    response.response.widget_info(|| WidgetInfo::labeled(Role::Image, true, &name));
    if let Some(text) = left_out {
        crate::widgets::note(ui, text);
    }
    crate::widgets::note(
        ui,
        "Lower is better, left is quicker. Line: what no other setting beats. Diamond: the present setting; star: the suggestion; vertical line: the limit.",
    );
}

/// Draws the names of the presets beside their points.
fn names<R>(ui: &Ui, plot: &PlotResponse<R>, presets: &[(&str, [f64; 2])]) {
    let area = *plot.transform.frame();
    let painter = ui.painter().with_clip_rect(area);
    let points: Vec<_> =
        presets.iter().map(|&(_, place)| plot.transform.position_from_point(&PlotPoint::from(place))).collect();
    let texts: Vec<_> = presets
        .iter()
        .map(|(word, _)| painter.layout_no_wrap((*word).to_owned(), FontId::proportional(11.0), PRESET_COLOR))
        .collect();
    let sizes: Vec<_> = texts.iter().map(|text| text.size()).collect();
    for (rect, text) in place(&points, &sizes, area.shrink(2.0)).into_iter().zip(texts) {
        painter.galley(rect.min, text, PRESET_COLOR);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_far_beyond_the_limit_are_left_out() {
        let places = [[138.0, 23.9], [158.0, 22.6], [410.0, 20.0], [1484.0, 19.0], [200.0, 60.0]];
        let scope = FigureLimits::of(&places, Some(333.0));
        assert_eq!(scope.max_ms, Some(1.25 * 333.0));
        assert_eq!(places.map(|place| scope.has(place)), [true, true, true, false, false]);
        let text = scope.left_out(&places).unwrap();
        assert_eq!(text, "1 setting beyond 416 ms and 1 setting above 57.000 are not drawn.");
        assert_eq!(scope.left_out(&places[..3]), None);
        assert_eq!(scope.left_out(&places[..4]).unwrap(), "1 setting beyond 416 ms is not drawn.");
        let all = FigureLimits::of(&places[..4], None);
        assert!(places[..4].iter().all(|place| all.has(*place)), "without a limit the time is no reason");
        let slow = FigureLimits::of(&places, Some(10.0));
        assert!(slow.has(places[0]), "what is nearest to a limit that nothing keeps is drawn");
    }
}
