//! Table of the path directions: P2 on the last step, and the winner of each direction alone.

use super::curves::{SECOND_COLOR, WINNER_COLOR};
use egui::{Color32, RichText, Role, Sense, Stroke, Ui, WidgetInfo, vec2};
use stereopsis_stereo::Explanation;

/// Side of the field of an arrow, points.
const ARROW_SIDE: f32 = 14.0;

pub(crate) fn show(ui: &mut Ui, explanation: &Explanation) {
    let count = explanation.directions.len();
    let winner_px = explanation.disparity_px(explanation.winner);
    let agreeing = explanation.directions.iter().filter(|direction| direction.winner == explanation.winner).count();
    crate::widgets::note(ui, format!("{agreeing} of {count} directions alone choose the winner, {winner_px} px."));
    for (k, direction) in explanation.directions.iter().enumerate() {
        let angle_deg = (f64::from(explanation.params.start_angle_deg) + 360.0 * k as f64 / count as f64) % 360.0;
        let p2 = direction.p2.map_or("–".to_owned(), |p2| p2.to_string());
        let own_px = explanation.disparity_px(direction.winner);
        let color = if own_px == winner_px { WINNER_COLOR } else { SECOND_COLOR };
        ui.horizontal(|ui| {
            arrow(ui, angle_deg, color);
            let text = format!("{angle_deg:>5.1}°  P2 {p2:>4}  {own_px:>5} px  cost {}", direction.cost);
            let label = ui.label(RichText::new(text).monospace());
            let phrase =
                format!("direction {angle_deg:.1}°: P2 {p2}, winner {own_px} px, path cost {}", direction.cost);
            label.widget_info(|| WidgetInfo::labeled(Role::Label, true, &phrase));
        });
    }
}

/// Draws an arrow in the direction of the path, clockwise from the right.
fn arrow(ui: &mut Ui, angle_deg: f64, color: Color32) {
    let (rect, _) = ui.allocate_exact_size(vec2(ARROW_SIDE, ARROW_SIDE), Sense::hover());
    let angle = angle_deg.to_radians() as f32;
    let along = vec2(angle.cos(), angle.sin()) * (ARROW_SIDE - 3.0);
    ui.painter().arrow(rect.center() - along / 2.0, along, Stroke::new(1.5, color));
}
