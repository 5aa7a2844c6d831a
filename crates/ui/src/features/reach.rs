//! Distance over disparity for the present rig and search range, and its error for an error of the disparity.

use crate::core::{Command, Core, ERRORS_PX, ViewSettings};
use crate::panels::pixel;
use crate::view::metres;
use crate::widgets;
use egui::{Align2, Color32, DragValue, Rangef, RichText, Role, TextStyle, Ui, WidgetInfo};
use egui_plot::{AxisHints, GridMark, HoverPosition, Legend, Line, LineStyle, Plot, PlotPoint, Points, Span, VLine};
use stereopsis_base::geometry::Geometry;
use stereopsis_images::reach::{Reach, STEP_PX, Sample, TOLERANCE_PERCENT};
use stereopsis_stereo::StereoParams;

/// Height of the curves, points.
const HEIGHT: f32 = 290.0;
const SAMPLES: usize = 400;
// readable on light and dark backgrounds; colours that differ in more than red and green, for colour-blind readers
const STEP_COLOR: Color32 = Color32::from_rgb(230, 120, 20);
const ERROR_COLOR: Color32 = Color32::from_rgb(50, 140, 210);
const POINTER_COLOR: Color32 = Color32::from_rgb(204, 121, 167);
/// Room above the curves for the legend, as a share of their height.
const LEGEND_SHARE: f64 = 0.5;

pub(crate) fn show(ui: &mut Ui, core: &Core, commands: &mut Vec<Command>) {
    let Some(output) = core.output() else {
        widgets::note(ui, "No result yet.");
        return;
    };
    let Some(geometry) = output.job.frame.geometry else {
        let why = "No distances: there is no calibration. Source ▾, Two webcams, rig … loads one or estimates it from the images.";
        widgets::note(ui, why);
        return;
    };
    let reach = reach_of(core, geometry);
    let pointed = pixel::pointed(core).and_then(|(output, (x, y))| {
        let d = output.map.as_ref()?.disparity_px(x, y)?;
        reach.sample(f64::from(d))
    });
    let mut error_px = core.view.error_px;
    curves(ui, &reach, error_px, pointed);
    sentences(ui, &reach, error_px, pointed);
    error_field(ui, &mut error_px);
    if error_px.to_bits() != core.view.error_px.to_bits() {
        commands.push(Command::SetView(ViewSettings { error_px, ..core.view.clone() }));
    }
    if geometry.estimated {
        widgets::note(ui, of_estimate(&reach));
    }
}

pub(crate) fn figure(ui: &mut Ui, core: &Core) {
    if let Some(geometry) = core.geometry() {
        curves(ui, &reach_of(core, *geometry), core.view.error_px, None);
    }
}

/// Describes how far the distances of an estimated rig may be off, at the near end of the range.
fn of_estimate(reach: &Reach) -> String {
    let (_, last_px) = reach.range_px();
    let bounds = reach.geometry.interval_words(last_px).zip(reach.nearest_m());
    let how_far = bounds.map_or("all distances may be off by a factor.".to_owned(), |(between, nearest_m)| {
        format!(
            "{} m, the nearest distance, is {between}. The pixel's read-out has the bounds of others.",
            metres(nearest_m as f32)
        )
    });
    format!("The rig is estimated from the images: {how_far}")
}

fn reach_of(core: &Core, geometry: Geometry) -> Reach {
    let StereoParams { min_disparity, num_disparities, .. } = core.matching.params;
    Reach { geometry, min_disparity, num_disparities }
}

fn curves(ui: &mut Ui, reach: &Reach, error_px: f64, pointed: Option<Sample>) {
    let (ink, weak) = (ui.visuals().text_color(), ui.visuals().weak_text_color());
    let samples = reach.curve(SAMPLES);
    let curve = |height: &dyn Fn(&Sample) -> f64| -> Vec<[f64; 2]> {
        samples.iter().map(|sample| [sample.disparity_px, height(sample).log10()]).collect()
    };
    let tolerance = curve(&|sample| sample.distance_m * TOLERANCE_PERCENT / 100.0);
    let (first_px, last_px) = reach.drawn_px();
    let limit_px = reach.limit_px(TOLERANCE_PERCENT, STEP_PX).min(last_px);
    let geometry = reach.geometry;
    let heights = samples.iter().flat_map(|sample| [sample.distance_m, sample.error_m(error_px.min(STEP_PX))]);
    let (lowest, highest) = heights.fold((f64::INFINITY, f64::NEG_INFINITY), |(lowest, highest), height_m| {
        (lowest.min(height_m.log10()), highest.max(height_m.log10()))
    });
    let plot = Plot::new("distance and error")
        .include_y(highest + LEGEND_SHARE * (highest - lowest).max(0.0))
        .height(HEIGHT)
        .allow_drag(false)
        .allow_zoom(false)
        .allow_scroll(false)
        .allow_boxed_zoom(false)
        .custom_x_axes(vec![AxisHints::new_x().label("disparity, px").label_spacing(Rangef::new(20.0, 40.0))])
        .y_axis_label("m")
        .y_grid_spacer(|input| powers_of_ten(input.bounds))
        .y_axis_formatter(|mark, _| power_text(mark.value))
        .label_formatter(move |at| {
            let (HoverPosition::NearDataPoint { position, .. } | HoverPosition::Elsewhere { position }) = at;
            Some(at_pointer(&geometry, error_px, *position))
        })
        .legend(Legend::default().follow_insertion_order(true).text_style(TextStyle::Small));
    let response = plot.show(ui, |plot| {
        if limit_px > first_px {
            let shade = STEP_COLOR.gamma_multiply(0.12);
            let name = format!("above {TOLERANCE_PERCENT} %");
            let span = Span::new(name, first_px..=limit_px).fill(shade).border_width(0.0);
            plot.span(span.label_align(Align2::LEFT_BOTTOM));
        }
        plot.line(Line::new("distance", curve(&|sample| sample.distance_m)).color(ink).width(2.0));
        let name = format!("{TOLERANCE_PERCENT} % of it");
        plot.line(Line::new(name, tolerance).color(weak).style(LineStyle::dashed_dense()));
        for (px, color) in [(STEP_PX, STEP_COLOR), (error_px, ERROR_COLOR)] {
            let name = format!("error, off by {px} px");
            plot.line(Line::new(name, curve(&|sample| sample.error_m(px))).color(color).width(2.0));
        }
        if let Some(sample) = pointed {
            let at = [sample.disparity_px, sample.distance_m.log10()];
            plot.vline(VLine::new("under the pointer", sample.disparity_px).color(POINTER_COLOR));
            plot.points(Points::new("under the pointer", vec![at]).color(POINTER_COLOR).radius(4.0));
        }
    });
    let name = "Distance and its error over the disparity";
    response.response.widget_info(|| WidgetInfo::labeled(Role::Image, true, name));
}

fn sentences(ui: &mut Ui, reach: &Reach, error_px: f64, pointed: Option<Sample>) {
    for px in [STEP_PX, error_px] {
        let within = reach.within(TOLERANCE_PERCENT, px);
        ui.label(format!("off by {px} px: within {TOLERANCE_PERCENT} % {within}"));
    }
    let text = pointed.map_or_else(
        || "Rest the pointer on an image to see its distance here.".to_owned(),
        |sample| {
            let between = reach.geometry.interval_words(sample.disparity_px);
            format!(
                "under the pointer: {:.2} px, {} m ± {} m ({:.1} %){}",
                sample.disparity_px,
                metres(sample.distance_m as f32),
                metres(sample.error_m(error_px) as f32),
                sample.error_percent(error_px),
                between.map_or(String::new(), |between| format!("; by the estimate of the rig {between}"))
            )
        },
    );
    ui.label(RichText::new(text).weak());
}

fn error_field(ui: &mut Ui, error_px: &mut f64) {
    let help = "How far disparities are off: 0.25 px is usual for textured surfaces and a good calibration.";
    widgets::row(ui, "error", help, |ui| {
        let field = DragValue::new(error_px).range(ERRORS_PX).speed(0.01).suffix(" px").max_decimals(2);
        let response = ui.add(field.update_while_editing(false)).on_hover_text(help);
        widgets::name(&response, Role::SpinButton, "Error of a disparity", *error_px);
    });
}

/// Describes the values of the curves at the pointer's disparity.
fn at_pointer(geometry: &Geometry, error_px: f64, at: PlotPoint) -> String {
    let reach = Reach { geometry: *geometry, min_disparity: 0, num_disparities: 1 };
    let Some(sample) = reach.sample(at.x) else { return format!("{:.1} px\nbehind infinity", at.x) };
    format!(
        "{:.1} px\n{} m\n± {:.1} % off by {STEP_PX} px\n± {:.1} % off by {error_px} px",
        at.x,
        metres(sample.distance_m as f32),
        sample.error_percent(STEP_PX),
        sample.error_percent(error_px)
    )
}

/// Returns grid lines at 1, 2, 5 times each power of ten, on a logarithmic axis.
fn powers_of_ten(bounds: (f64, f64)) -> Vec<GridMark> {
    let (low, high) = (bounds.0.floor() as i32, bounds.1.ceil() as i32);
    let mark = |power: i32, leading: f64| {
        let step_size = if leading > 1.0 { 0.3 } else { 1.0 };
        GridMark { value: f64::from(power) + leading.log10(), step_size }
    };
    let marks = (low..=high).flat_map(|power| [1.0, 2.0, 5.0].map(|leading| mark(power, leading)));
    // egui would draw labels of marks outside beside the axis
    marks.filter(|mark| (bounds.0..=bounds.1).contains(&mark.value)).collect()
}

fn power_text(log_m: f64) -> String {
    let places = (-(log_m + 1e-9).floor()).clamp(0.0, 6.0) as usize;
    format!("{:.places$}", 10f64.powf(log_m))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_axis_has_round_numbers() {
        let marks = powers_of_ten((-1.2, 1.8));
        let texts: Vec<_> = marks.iter().map(|mark| power_text(mark.value)).collect();
        assert_eq!(texts, ["0.1", "0.2", "0.5", "1", "2", "5", "10", "20", "50"]);
    }

    #[test]
    fn the_pointer_reads_distance_and_error() {
        let geometry = Geometry::new(500.0, 0.1, 0.0, [0.0, 0.0]);
        let text = at_pointer(&geometry, 0.5, PlotPoint::new(20.0, 0.3));
        assert_eq!(text, "20.0 px\n2.50 m\n± 5.0 % off by 1 px\n± 2.5 % off by 0.5 px");
        assert!(at_pointer(&geometry, 0.5, PlotPoint::new(-1.0, 0.0)).contains("behind infinity"));
    }
}
