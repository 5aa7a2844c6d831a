//! Cost and sum over disparity, with the marks of the winner and of its tests, and the sub-pixel refinement.

use egui::{Color32, Rangef, Role, TextStyle, Ui, WidgetInfo};
use egui_plot::{AxisHints, HLine, Legend, Line, LineStyle, Plot, PlotPoint, Points, VLine};
use stereopsis_stereo::{Explanation, Subpixel};

/// Height of the curves, points.
const HEIGHT: f32 = 210.0;
/// Height of the refinement, points.
const REFINEMENT_HEIGHT: f32 = 110.0;
const SAMPLES: usize = 97;
// colours that differ in more than red and green, for colour-blind readers
pub(crate) const WINNER_COLOR: Color32 = Color32::from_rgb(50, 140, 210);
pub(crate) const SECOND_COLOR: Color32 = Color32::from_rgb(230, 120, 20);
pub(crate) const RIGHT_COLOR: Color32 = Color32::from_rgb(204, 121, 167);
pub(crate) const REFINEMENT_COLOR: Color32 = Color32::from_rgb(0, 158, 115);

/// Disparity axis on the screen: disparities of the first and the last candidate, and their x coordinates in points.
#[derive(Clone, Copy)]
pub(crate) struct AxisOnScreen {
    pub(crate) first: f32,
    pub(crate) last: f32,
}

pub(crate) fn show(ui: &mut Ui, explanation: &Explanation) -> AxisOnScreen {
    let (ink, weak) = (ui.visuals().text_color(), ui.visuals().weak_text_color());
    let per_sum = sums_per_cost(explanation);
    let px = |index: usize| f64::from(explanation.disparity_px(index));
    let curve = |values: &[u32], scale: f64| -> Vec<[f64; 2]> {
        values.iter().enumerate().map(|(i, &value)| [px(i), f64::from(value) / scale]).collect()
    };
    let plot = base("cost and sum over disparity", HEIGHT)
        .include_y(0.0)
        .custom_x_axes(vec![AxisHints::new_x().label("disparity, px").label_spacing(Rangef::new(20.0, 40.0))])
        .legend(Legend::default().follow_insertion_order(true).text_style(TextStyle::Small));
    let response = plot.show(ui, |plot| {
        plot.line(Line::new("cost", curve(&explanation.costs, 1.0)).color(weak));
        if let Some(means) = &explanation.means {
            plot.line(Line::new("cost, aggregated", curve(means, 1.0)).color(weak).style(LineStyle::dashed_dense()));
        }
        let name = if per_sum > 1.0 { format!("sum / {per_sum}") } else { "sum".to_owned() };
        plot.line(Line::new(name, curve(&explanation.sums, per_sum)).color(ink).width(2.0));
        plot.vline(VLine::new("winner", px(explanation.winner)).color(WINNER_COLOR));
        if let Some(second) = explanation.second {
            plot.vline(VLine::new("second", px(second)).color(SECOND_COLOR));
        }
        if let Some(d) = right_px(explanation) {
            plot.vline(VLine::new("right winner", d).color(RIGHT_COLOR).style(LineStyle::dashed_loose()));
        }
        if explanation.params.uniqueness > 0 {
            let limit = explanation.uniqueness_limit() / per_sum;
            let name = format!("uniqueness {} %", explanation.params.uniqueness);
            plot.hline(HLine::new(name, limit).color(SECOND_COLOR).style(LineStyle::dotted_dense()));
        }
        if let Some(largest) = explanation.params.largest_accepted_sum() {
            let limit = f64::from(largest) / per_sum;
            plot.hline(HLine::new("match threshold", limit).color(WINNER_COLOR).style(LineStyle::dotted_dense()));
        }
    });
    response.response.widget_info(|| WidgetInfo::labeled(Role::Image, true, "Cost and sum over disparity"));
    let at = |index| response.transform.position_from_point(&PlotPoint::new(px(index), 0.0)).x;
    AxisOnScreen { first: at(0), last: at(explanation.sums.len() - 1) }
}

/// Draws the sums around the winner with the parabola or the lines through three of them.
pub(crate) fn refinement(ui: &mut Ui, explanation: &Explanation) {
    let Some(refinement) = explanation.refinement else { return };
    let ink = ui.visuals().text_color();
    let winner = explanation.winner;
    let px = f64::from(explanation.disparity_px(winner));
    let [below, best, above] = refinement.sums.map(f64::from);
    let curve = explanation.params.subpixel;
    let of = |offset: f64| match curve {
        Subpixel::Equiangular => {
            let slope = above.max(below) - best;
            let lowest = (below - above) / (2.0 * slope.max(1.0));
            best + slope * ((offset - lowest).abs() - lowest.abs())
        }
        Subpixel::Parabola | Subpixel::Off => {
            best + (above - below) / 2.0 * offset + (f64::midpoint(above, below) - best) * offset * offset
        }
    };
    let offsets = (0..SAMPLES).map(|k| 2.4 * (k as f64 / (SAMPLES - 1) as f64 - 0.5));
    let fitted: Vec<_> = offsets.map(|offset| [px + offset, of(offset)]).collect();
    let around = winner.saturating_sub(2)..(winner + 3).min(explanation.sums.len());
    let sums: Vec<_> =
        around.map(|i| [f64::from(explanation.disparity_px(i)), f64::from(explanation.sums[i])]).collect();
    let plot = base("sub-pixel", REFINEMENT_HEIGHT).show(ui, |plot| {
        plot.line(Line::new(curve.word(), fitted).color(REFINEMENT_COLOR).width(2.0));
        plot.points(Points::new("sums", sums).color(ink).radius(3.0));
        let lowest = f64::from(explanation.disparity_16th) / 16.0;
        plot.vline(VLine::new("disparity", lowest).color(WINNER_COLOR));
    });
    let name = format!("Sub-pixel, {curve}, through the sums {below}, {best} and {above}");
    plot.response.widget_info(|| WidgetInfo::labeled(Role::Image, true, &name));
}

fn base(id: &'static str, height: f32) -> Plot<'static> {
    Plot::new(id).height(height).allow_drag(false).allow_zoom(false).allow_scroll(false).allow_boxed_zoom(false)
}

/// Returns the disparity at which the right pixel matches best, px.
fn right_px(explanation: &Explanation) -> Option<f64> {
    let right = explanation.partner.as_ref()?.right.as_ref()?;
    right.disparity_16th.map(|d| f64::from(d) / 16.0)
}

/// Returns the divisor that brings sums to the scale of costs: the number of directions, or of costs in a window.
fn sums_per_cost(explanation: &Explanation) -> f64 {
    let params = &explanation.params;
    let is_aggregated = params.aggregation != stereopsis_stereo::Aggregation::None;
    f64::from(match params.paths {
        0 if is_aggregated => params.unit().per_cost(),
        paths => paths.max(1),
    })
}
