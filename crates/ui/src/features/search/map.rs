//! Map of a sweep: one cell per pair of values, coloured by the loss of the setting.

use super::commands::SearchStep;
use crate::core::{Command, Core};
use egui::{
    Align2, Color32, ColorImage, FontId, Painter, Rect, Role, Sense, Stroke, StrokeKind, TextureHandle, TextureOptions,
    Ui, Visuals, WidgetInfo, pos2, vec2,
};
use std::sync::Arc;
use stereopsis_base::parameter::Value;
use stereopsis_images::colormap::{Colormap, DisplayRange, color_map};
use stereopsis_search::{Cell, Judge, SweepProgress, Trial, TriedCell};

/// Room for the numbers at the left, points.
const LEFT: f32 = 40.0;
/// Room for the numbers below, points.
const BELOW: f32 = 16.0;
/// Largest height of a cell, points.
const MAX_HEIGHT: f32 = 24.0;
/// Share of the cells whose losses have different colours; higher losses have the last colour.
const SHOWN_SHARE: f64 = 0.9;

/// Frame of the cell with the values in force.
const PRESENT_COLOR: Color32 = Color32::from_rgb(255, 140, 40);

pub(crate) struct Thumbnail {
    of: Arc<TriedCell>,
    texture: TextureHandle,
}

/// Draws the map and applies the values of a clicked cell.
pub(crate) fn show(
    ui: &mut Ui,
    core: &Core,
    sweep: &SweepProgress,
    thumbnail: &mut Option<Thumbnail>,
    commands: &mut Vec<Command>,
) {
    let [columns, rows] = size_of(sweep);
    let width = ((ui.available_width() - LEFT) / columns as f32).max(4.0);
    let height = MAX_HEIGHT.min(1.2 * width);
    let size = vec2(LEFT + width * columns as f32, height * rows as f32 + BELOW);
    let (room, _) = ui.allocate_exact_size(size, Sense::hover());
    paint(ui.painter(), ui.visuals(), room, sweep, place_of_present(core, sweep));
    for (x, y) in places(sweep) {
        let rect = rect_of(room, sweep, (x, y));
        let response = ui.interact(rect, ui.scope_id().with(("cell", x, y)), Sense::click());
        let text = text_of(sweep, (x, y));
        response.widget_info(|| WidgetInfo::labeled(Role::Button, true, &text));
        if response.clicked() {
            commands.push(SearchStep::TakeCell(x, y).into());
        }
        let tried = if let Cell::Tried(tried) = sweep.cell(x, y) { Some(tried) } else { None };
        response.on_hover_ui(|ui| {
            ui.label(&text);
            if let Some(tried) = tried {
                picture(ui, core, tried, thumbnail);
            }
        });
    }
    legend(ui, sweep.judge, scale(sweep));
}

fn size_of(sweep: &SweepProgress) -> [usize; 2] {
    [0, 1].map(|k| sweep.axes[k].values().len())
}

fn places(sweep: &SweepProgress) -> impl Iterator<Item = (usize, usize)> + use<> {
    let [columns, rows] = size_of(sweep);
    (0..rows).flat_map(move |y| (0..columns).map(move |x| (x, y)))
}

/// Returns the rectangle of a cell in a map that fills `room` with its numbers, the smallest values at the lower left.
fn rect_of(room: Rect, sweep: &SweepProgress, (x, y): (usize, usize)) -> Rect {
    let [columns, rows] = size_of(sweep);
    let cells = Rect::from_min_max(room.min + vec2(LEFT, 0.0), room.max - vec2(0.0, BELOW));
    let size = cells.size() / vec2(columns as f32, rows as f32);
    Rect::from_min_size(cells.min + size * vec2(x as f32, (rows - 1 - y) as f32), size)
}

/// Paints the map with its numbers into `room`, with frames around the cells of the best and of the `present` values.
fn paint(painter: &Painter, visuals: &Visuals, room: Rect, sweep: &SweepProgress, present: Option<(usize, usize)>) {
    numbers(painter, visuals, room, sweep);
    let scale = scale(sweep);
    for place in places(sweep) {
        let rect = rect_of(room, sweep, place).shrink(0.5);
        match color(sweep, place, scale) {
            Some(color) => painter.rect_filled(rect, 0.0, color),
            None if matches!(sweep.cell(place.0, place.1), Cell::Waiting) => {
                painter.rect_filled(rect, 0.0, visuals.faint_bg_color)
            }
            // a cell without a loss is crossed out, because the worst colour is dark too
            None => painter.line_segment([rect.left_bottom(), rect.right_top()], (1.0, visuals.weak_text_color())),
        };
    }
    let best = best_cell(sweep).map(|(best, _)| (best, Color32::WHITE));
    for (place, color) in best.into_iter().chain(present.map(|present| (present, PRESENT_COLOR))) {
        let rect = rect_of(room, sweep, place).shrink(0.5);
        painter.rect_stroke(rect, 0.0, Stroke::new(3.0, Color32::BLACK), StrokeKind::Inside);
        painter.rect_stroke(rect, 0.0, Stroke::new(1.5, color), StrokeKind::Inside);
    }
}

/// Paints the values along both axes, as many as fit.
fn numbers(painter: &Painter, visuals: &Visuals, room: Rect, sweep: &SweepProgress) {
    let (font, ink) = (FontId::monospace(10.5), visuals.weak_text_color());
    let [across, upwards] = &sweep.axes;
    let rect_of = |x: usize, y: usize| rect_of(room, sweep, (x, y));
    let every = (28.0 / rect_of(0, 0).width()).ceil().max(1.0) as usize;
    for (x, value) in across.values().iter().enumerate().step_by(every) {
        let at = rect_of(x, 0).center_bottom() + vec2(0.0, 2.0);
        painter.text(at, Align2::CENTER_TOP, value, font.clone(), ink);
    }
    for (y, value) in upwards.values().iter().enumerate() {
        let at = rect_of(0, y).left_center() - vec2(4.0, 0.0);
        painter.text(at, Align2::RIGHT_CENTER, value, font.clone(), ink);
    }
}

/// Returns the losses of the brightest and of the darkest colour, or `None` before two differ.
fn scale(sweep: &SweepProgress) -> Option<(f64, f64)> {
    let mut losses: Vec<f64> = sweep
        .cells
        .iter()
        .filter_map(|cell| if let Cell::Tried(tried) = cell { tried.trial.loss } else { None })
        .collect();
    losses.sort_by(f64::total_cmp);
    let best = *losses.first()?;
    let worst = losses[((losses.len() - 1) as f64 * SHOWN_SHARE).ceil() as usize];
    (worst > best).then_some((best, worst))
}

/// Returns the colour of a cell, dimmed from its coarser cell while it waits; `None` without a loss.
fn color(sweep: &SweepProgress, place: (usize, usize), scale: Option<(f64, f64)>) -> Option<Color32> {
    let (x, y) = place;
    let coarser = [1, 2, 4].map(|step| (x - x % step, y - y % step));
    let is_known = |&(x, y): &(usize, usize)| !matches!(sweep.cell(x, y), Cell::Waiting);
    let known = coarser.into_iter().find(is_known)?;
    let Cell::Tried(tried) = sweep.cell(known.0, known.1) else { return None };
    let loss = tried.trial.loss?;
    let color = color_of(scale.map_or(1.0, |(best, worst)| ((worst - loss) / (worst - best)).clamp(0.0, 1.0)) as f32);
    Some(if known == place { color } else { color.gamma_multiply(0.5) })
}

/// Returns the colour from 0 for the worst to 1 for the best, in perceptually equal steps.
fn color_of(share: f32) -> Color32 {
    let [r, g, b] = Colormap::Viridis.color(share);
    Color32::from_rgb(r, g, b)
}

fn place_of_present(core: &Core, sweep: &SweepProgress) -> Option<(usize, usize)> {
    let place = |k: usize| {
        let axis = &sweep.axes[k];
        let now = (axis.parameter().get)(&core.matching.params);
        axis.values().iter().position(|value| *value == now)
    };
    Some((place(0)?, place(1)?))
}

/// Returns `P1 14, P2 50: 7.080, 92.1 % measured`, without times because live matching disturbs them.
pub(crate) fn cell_text(sweep: &SweepProgress, place: (usize, usize), trial: &Trial) -> String {
    let loss = trial.loss.map_or_else(|| "too empty to be judged".to_owned(), |loss| format!("{loss:.3}"));
    format!("{}: {loss}, {:.1} % measured", values_text(sweep, place), trial.measured_percent)
}

fn values_text(sweep: &SweepProgress, (x, y): (usize, usize)) -> String {
    let [a, b] = &sweep.axes;
    let value = |value: Value| value.to_string();
    let (first, second) = (value(a.values()[x]), value(b.values()[y]));
    format!("{} {first}, {} {second}", a.parameter().label, b.parameter().label)
}

fn text_of(sweep: &SweepProgress, place: (usize, usize)) -> String {
    match sweep.cell(place.0, place.1) {
        Cell::Waiting => format!("{}: waits", values_text(sweep, place)),
        Cell::Invalid(why) => format!("{}: {why}", values_text(sweep, place)),
        Cell::Tried(tried) => cell_text(sweep, place, &tried.trial),
    }
}

/// Shows the small map of a cell, in the colours of the depth view.
fn picture(ui: &mut Ui, core: &Core, tried: &Arc<TriedCell>, known: &mut Option<Thumbnail>) {
    known.take_if(|known| !Arc::ptr_eq(&known.of, tried));
    let thumbnail = known.get_or_insert_with(|| {
        let map = &tried.thumbnail;
        let params = &tried.trial.params;
        let first = params.min_disparity as f32;
        let whole = DisplayRange { far_px: first, near_px: first + params.num_disparities.max(2) as f32 - 1.0 };
        let range = DisplayRange::fit(map, None).unwrap_or(whole);
        let rgb = color_map(map, None, range, core.view.colormap, core.view.colour_reasons);
        let bytes: Vec<u8> = rgb.pixels().iter().flatten().copied().collect();
        let image = ColorImage::from_rgb([rgb.width(), rgb.height()], &bytes);
        let texture = ui.ctx().load_texture("map of a cell", image, TextureOptions::NEAREST);
        Thumbnail { of: Arc::clone(tried), texture }
    });
    let size = thumbnail.texture.size_vec2() * 1.5;
    let response = ui.add(egui::Image::new((thumbnail.texture.id(), size)));
    response.widget_info(|| WidgetInfo::labeled(Role::Image, true, "Map of the cell"));
}

/// Shows the meaning of the colours and of the frames.
fn legend(ui: &mut Ui, judge: Judge, scale: Option<(f64, f64)>) {
    if let Some((best, worst)) = scale {
        ui.label(judge.title());
        ui.horizontal(|ui| {
            ui.label(format!("best {best:.3}"));
            let (rect, bar) = ui.allocate_exact_size(vec2(90.0, 10.0), Sense::hover());
            paint_bar(ui.painter(), rect);
            bar.widget_info(|| WidgetInfo::labeled(Role::Image, true, "Colours: bright is best, dark is worst"));
            ui.label(format!("worst {worst:.3} and above"));
        });
    }
    crate::widgets::note(
        ui,
        "White frame: the best so far. Orange frame: the values in force. Crossed out: they do not go together, or the map is too empty.",
    );
}

/// Paints the colours from the best at the left to the worst at the right.
fn paint_bar(painter: &Painter, rect: Rect) {
    for i in 0..32 {
        let x = |i: usize| rect.left() + rect.width() * i as f32 / 32.0;
        let step = Rect::from_min_max(pos2(x(i), rect.top()), pos2(x(i + 1), rect.bottom()));
        painter.rect_filled(step, 0.0, color_of(1.0 - i as f32 / 31.0));
    }
}

pub(crate) fn best_cell(sweep: &SweepProgress) -> Option<((usize, usize), &Arc<TriedCell>)> {
    let columns = sweep.axes[0].values().len();
    let tried = sweep.cells.iter().enumerate().filter_map(|(i, cell)| match cell {
        Cell::Tried(tried) if tried.trial.loss.is_some() => Some(((i % columns, i / columns), tried)),
        _ => None,
    });
    tried.min_by(|(_, a), (_, b)| a.trial.loss.partial_cmp(&b.trial.loss).unwrap_or(std::cmp::Ordering::Equal))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the perceived brightness from 0 to 255.
    fn brightness(color: Color32) -> f32 {
        0.2126 * f32::from(color.r()) + 0.7152 * f32::from(color.g()) + 0.0722 * f32::from(color.b())
    }

    #[test]
    fn a_better_cell_is_brighter_and_the_best_is_not_red() {
        let colors: Vec<_> = (0..=20).map(|i| color_of(i as f32 / 20.0)).collect();
        assert!(colors.windows(2).all(|two| brightness(two[0]) < brightness(two[1])), "{colors:?}");
        let best = colors[20];
        assert!(best.g() > 200 && brightness(colors[0]) < 40.0, "{colors:?}");
    }
}
