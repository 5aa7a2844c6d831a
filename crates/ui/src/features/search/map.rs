//! The map of a sweep: a cell for each two values, coloured by how good the setting is.

use super::sweep::best_cell;
use crate::colormap::{DisplayRange, color_map};
use crate::command::Command;
use crate::parameter::Value;
use crate::search::{Cell, Judge, SweepProgress, Trial, Tried};
use crate::state::{SearchStep, State};
use egui::{
    Align2, Color32, ColorImage, FontId, Rect, Role, Sense, Stroke, StrokeKind, TextureHandle, TextureOptions, Ui,
    WidgetInfo, pos2, vec2,
};
use std::sync::Arc;

/// Room for the numbers at the left, points.
const LEFT: f32 = 40.0;
/// Room for the numbers below, points.
const BELOW: f32 = 16.0;
/// Largest height of a cell, points.
const MAX_HEIGHT: f32 = 24.0;
/// Losses above that of this share of the cells all have the last colour.
const SHOWN_SHARE: f64 = 0.9;

/// The small picture of the cell under the pointer.
pub(crate) struct Thumbnail {
    of: Arc<Tried>,
    texture: TextureHandle,
}

/// Draws the map; a click on a cell takes its values.
pub(crate) fn show(
    ui: &mut Ui,
    state: &State,
    sweep: &SweepProgress,
    thumbnail: &mut Option<Thumbnail>,
    commands: &mut Vec<Command>,
) {
    let [columns, rows] = [0, 1].map(|k| sweep.axes[k].values().len());
    let width = ((ui.available_width() - LEFT) / columns as f32).max(4.0);
    let height = MAX_HEIGHT.min(1.2 * width);
    let size = vec2(LEFT + width * columns as f32, height * rows as f32 + BELOW);
    let (room, _) = ui.allocate_exact_size(size, Sense::hover());
    // the smallest values stand at the lower left
    let rect_of = |x: usize, y: usize| {
        let corner = pos2(room.left() + LEFT + x as f32 * width, room.top() + (rows - 1 - y) as f32 * height);
        Rect::from_min_size(corner, vec2(width, height))
    };
    numbers(ui, sweep, rect_of);
    let scale = scale(sweep);
    let present = place_of_present(state, sweep);
    for (x, y) in (0..rows).flat_map(|y| (0..columns).map(move |x| (x, y))) {
        let rect = rect_of(x, y).shrink(0.5);
        ui.painter().rect_filled(rect, 0.0, color(ui, state, sweep, (x, y), scale));
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
                picture(ui, state, tried, thumbnail);
            }
        });
    }
    let mark = |(x, y), color| {
        let rect = rect_of(x, y);
        ui.painter().rect_stroke(rect, 0.0, Stroke::new(3.0, Color32::BLACK), StrokeKind::Inside);
        ui.painter().rect_stroke(rect, 0.0, Stroke::new(1.5, color), StrokeKind::Inside);
    };
    if let Some((best, _)) = best_cell(sweep) {
        mark(best, Color32::WHITE);
    }
    if let Some(present) = present {
        mark(present, Color32::from_rgb(255, 140, 40));
    }
    legend(ui, state, sweep.judge, scale);
}

/// The values along both axes, as many as there is room for.
fn numbers(ui: &Ui, sweep: &SweepProgress, rect_of: impl Fn(usize, usize) -> Rect) {
    let (font, ink) = (FontId::monospace(10.5), ui.visuals().weak_text_color());
    let [across, upwards] = &sweep.axes;
    let every = (28.0 / rect_of(0, 0).width()).ceil().max(1.0) as usize;
    for (x, value) in across.values().iter().enumerate().step_by(every) {
        let at = rect_of(x, 0).center_bottom() + vec2(0.0, 2.0);
        ui.painter().text(at, Align2::CENTER_TOP, value, font.clone(), ink);
    }
    for (y, value) in upwards.values().iter().enumerate() {
        let at = rect_of(0, y).left_center() - vec2(4.0, 0.0);
        ui.painter().text(at, Align2::RIGHT_CENTER, value, font.clone(), ink);
    }
}

/// The losses of the last and of the first colour; `None` before two differ.
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

/// The colour of a cell; one that waits has that of the coarser cell that it lies in, dimmed.
fn color(ui: &Ui, state: &State, sweep: &SweepProgress, place: (usize, usize), scale: Option<(f64, f64)>) -> Color32 {
    let (x, y) = place;
    let coarser = [1, 2, 4].map(|step| (x - x % step, y - y % step));
    let is_known = |&(x, y): &(usize, usize)| !matches!(sweep.cell(x, y), Cell::Waiting);
    let Some(known) = coarser.into_iter().find(is_known) else { return ui.visuals().faint_bg_color };
    let Cell::Tried(tried) = sweep.cell(known.0, known.1) else { return ui.visuals().extreme_bg_color };
    let Some(loss) = tried.trial.loss else { return ui.visuals().extreme_bg_color };
    let share = scale.map_or(1.0, |(best, worst)| ((worst - loss) / (worst - best)).clamp(0.0, 1.0));
    let [r, g, b] = state.view.colormap.color(share as f32);
    let color = Color32::from_rgb(r, g, b);
    if known == place { color } else { color.gamma_multiply(0.5) }
}

/// The cell whose values are those in force.
fn place_of_present(state: &State, sweep: &SweepProgress) -> Option<(usize, usize)> {
    let place = |k: usize| {
        let axis = &sweep.axes[k];
        let now = (axis.parameter().get)(&state.matching.params);
        axis.values().iter().position(|value| *value == now)
    };
    Some((place(0)?, place(1)?))
}

/// `P1 14, P2 50: 7.080, 92.1 % measured`. The times say nothing: live matching goes on.
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

/// The small map of a cell, in the colours of the depth view.
fn picture(ui: &mut Ui, state: &State, tried: &Arc<Tried>, known: &mut Option<Thumbnail>) {
    known.take_if(|known| !Arc::ptr_eq(&known.of, tried));
    let thumbnail = known.get_or_insert_with(|| {
        let map = &tried.thumbnail;
        let params = &tried.trial.params;
        let first = params.min_disparity as f32;
        let whole = DisplayRange { far_px: first, near_px: first + params.num_disparities.max(2) as f32 - 1.0 };
        let range = DisplayRange::fit(map, None).unwrap_or(whole);
        let rgb = color_map(map, None, range, state.view.colormap, state.view.colour_reasons);
        let bytes: Vec<u8> = rgb.pixels().iter().flatten().copied().collect();
        let image = ColorImage::from_rgb([rgb.width(), rgb.height()], &bytes);
        let texture = ui.ctx().load_texture("map of a cell", image, TextureOptions::NEAREST);
        Thumbnail { of: Arc::clone(tried), texture }
    });
    let size = thumbnail.texture.size_vec2() * 1.5;
    let response = ui.add(egui::Image::new((thumbnail.texture.id(), size)));
    response.widget_info(|| WidgetInfo::labeled(Role::Image, true, "Map of the cell"));
}

/// The meaning of the colours and of the frames.
fn legend(ui: &mut Ui, state: &State, judge: Judge, scale: Option<(f64, f64)>) {
    if let Some((best, worst)) = scale {
        ui.label(judge.title());
        ui.horizontal(|ui| {
            ui.label(format!("{best:.3}"));
            let (rect, _) = ui.allocate_exact_size(vec2(90.0, 10.0), Sense::hover());
            for i in 0..32 {
                let [r, g, b] = state.view.colormap.color(1.0 - i as f32 / 31.0);
                let x = |i: usize| rect.left() + rect.width() * i as f32 / 32.0;
                let step = Rect::from_min_max(pos2(x(i), rect.top()), pos2(x(i + 1), rect.bottom()));
                ui.painter().rect_filled(step, 0.0, Color32::from_rgb(r, g, b));
            }
            ui.label(format!("{worst:.3} and above"));
        });
    }
    crate::widgets::note(
        ui,
        "White frame: the best so far. Orange frame: the values in force. Dark: they do not go together, or the map is too empty.",
    );
}
