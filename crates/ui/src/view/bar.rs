//! Colour bar beside a map: its colours from far (bottom) to near (top) with round numbers.

use super::grid::BAR;
use crate::render::Display;
use egui::{Align2, Color32, FontId, Mesh, Painter, Rect, Stroke, pos2, vec2};

const STRIP: f32 = 12.0;
const LINE_HEIGHT: f32 = 13.0;

pub(super) fn paint(painter: &Painter, area: Rect, display: &Display, colours: &[[u8; 3]], ink: Color32) {
    let strip = Rect::from_min_size(area.min + vec2(6.0, 0.0), vec2(STRIP, area.height()));
    let mut mesh = Mesh::default();
    for (i, &[r, g, b]) in colours.iter().enumerate() {
        let share = |i: usize| strip.bottom() - strip.height() * i as f32 / colours.len() as f32;
        let step = Rect::from_min_max(pos2(strip.left(), share(i + 1)), pos2(strip.right(), share(i)));
        mesh.add_colored_rect(step, Color32::from_rgb(r, g, b));
    }
    painter.add(mesh);
    if area.height() < LINE_HEIGHT {
        return; // no room for a number
    }

    let is_depth = display.quantity == Display::INVERSE_DEPTH;
    let font = FontId::monospace(10.5);
    let unit = unit(display);
    let mut taken: Vec<f32> = Vec::new();
    for (value, text) in ticks(display) {
        let position = if is_depth { 1.0 / value } else { value };
        let share = (position - display.low) / (display.high - display.low);
        let y = strip.bottom() - share * strip.height();
        let text_y = y.clamp(area.top() + LINE_HEIGHT / 2.0, area.bottom() - LINE_HEIGHT / 2.0);
        if taken.iter().any(|other| (other - text_y).abs() < LINE_HEIGHT) {
            continue;
        }
        taken.push(text_y);
        let label = if taken.len() <= 2 { format!("{text} {unit}") } else { text };
        painter.hline(strip.right()..=strip.right() + 3.0, y, Stroke::new(1.0, ink));
        painter.text(pos2(strip.right() + 5.0, text_y), Align2::LEFT_CENTER, label, font.clone(), ink);
    }
}

/// Draws the bar over the right border of an image, on an opaque ground.
pub(crate) fn paint_over(painter: &Painter, picture: Rect, display: &Display, colours: &[[u8; 3]]) {
    let left = (picture.right() - BAR).max(picture.left());
    let area = Rect::from_min_max(pos2(left, picture.top()), picture.max);
    painter.rect_filled(area, 0.0, Color32::from_black_alpha(150));
    paint(painter, area.shrink2(vec2(0.0, 4.0)), display, colours, Color32::WHITE);
}

/// Returns values with their labels, the two ends first: m for depth, px for disparity, per cent for confidence.
fn ticks(display: &Display) -> Vec<(f32, String)> {
    if display.quantity != Display::INVERSE_DEPTH {
        let (low, high) = (display.low, display.high);
        let step = round_step((high - low) / 6.0);
        let inner = (1..100).map(|i| (low / step).floor() * step + step * i as f32).take_while(|v| *v < high);
        let ends = [(high, decimals(high, step)), (low, decimals(low, step))];
        return ends.into_iter().chain(inner.map(|v| (v, decimals(v, step)))).collect();
    }
    let (far, near) = (1.0 / display.low, 1.0 / display.high);
    let mut ticks = vec![(near, metres(near)), (far, metres(far))];
    // evenly along the bar (so in 1/m), each a round number of metres
    for i in 1..8 {
        let wanted = 1.0 / (display.high + (display.low - display.high) * i as f32 / 8.0);
        let step = round_step(wanted / 8.0);
        let value = (wanted / step).round() * step;
        if value > near && value < far {
            ticks.push((value, decimals(value, step)));
        }
    }
    ticks
}

/// Returns the range of the colours, as `0.385 to 0.899 m`.
pub(crate) fn range_text(display: &Display) -> String {
    let ends = ticks(display);
    let [(_, near), (_, far), ..] = &ends[..] else { return String::new() };
    let (low, high) = if display.quantity == Display::INVERSE_DEPTH { (near, far) } else { (far, near) };
    format!("{low} to {high} {}", unit(display))
}

fn unit(display: &Display) -> &'static str {
    match display.quantity {
        Display::INVERSE_DEPTH => "m",
        Display::CONFIDENCE => "%",
        _ => "px",
    }
}

/// Returns the nearest of 1, 2, 5 times a power of ten.
fn round_step(wanted: f32) -> f32 {
    let power = 10f32.powf(wanted.max(1e-6).log10().floor());
    let ratio = wanted / power;
    power
        * if ratio < 1.5 {
            1.0
        } else if ratio < 3.5 {
            2.0
        } else if ratio < 7.5 {
            5.0
        } else {
            10.0
        }
}

fn decimals(value: f32, step: f32) -> String {
    let places = (-step.log10().floor()).clamp(0.0, 3.0) as usize;
    format!("{value:.places$}")
}

/// Formats a length in metres with three digits, without the unit.
pub(crate) fn metres(m: f32) -> String {
    let places = if m < 1.0 {
        3
    } else if m < 10.0 {
        2
    } else {
        1
    };
    format!("{m:.places$}")
}

#[cfg(test)]
mod tests {
    use super::*;

    const DEPTH: Display = Display {
        focal_times_baseline: 50.0,
        doffs_px: 0.0,
        low: 1.0 / 6.0,
        high: 1.0 / 0.4,
        quantity: Display::INVERSE_DEPTH,
        colour_reasons: 0,
    };

    #[test]
    fn a_bar_of_any_height_is_drawn_and_a_low_one_has_no_numbers() {
        let ctx = egui::Context::default();
        for height in [0.0, 0.7, 7.9, 12.9, 13.0, 14.0, 200.0] {
            let mut output = ctx.run_ui(egui::RawInput::default(), |ui| {
                let picture = Rect::from_min_size(pos2(9.0, 5.0), vec2(30.0, height));
                paint(ui.painter(), picture, &DEPTH, &[[1, 2, 3], [4, 5, 6]], Color32::WHITE);
                paint_over(ui.painter(), picture, &DEPTH, &[[1, 2, 3], [4, 5, 6]]);
            });
            output.textures_delta.clear(); // the test shows nothing
        }
    }

    #[test]
    fn numbers_are_round_and_inside() {
        let ticks = ticks(&DEPTH);
        assert_eq!(ticks[0].1, "0.400");
        assert_eq!(ticks[1].1, "6.00");
        for (value, text) in &ticks[2..] {
            assert!((0.4..=6.0).contains(value), "{value}");
            assert!((text.parse::<f32>().unwrap() - value).abs() < 1e-3, "{value} is written {text}");
        }
        assert!(ticks.len() > 5);
    }
}
