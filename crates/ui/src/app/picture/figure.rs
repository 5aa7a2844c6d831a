//! Drawing of views and figures on a sheet, with title, colour bar and units.

use super::offscreen::{ShapeDrawing, Sheet};
use crate::core::{Core, picture::Figure};
use crate::features::{explain, reach, search};
use crate::panels::pictures::Pictures;
use crate::view::{BAR, HEADER, ViewKind, ViewRects};
use eframe::egui_wgpu::RenderState;
use egui::{Frame, Rect, RichText, Ui, pos2, vec2};

/// Room around everything, points.
const MARGIN: f32 = 8.0;
/// Width of figures, points.
const FIGURE_WIDTH: f32 = 640.0;
/// Width of a view above which its title and bar grow with it, px.
const USUAL_WIDTH_PX: f32 = 800.0;
/// Width below which no title is drawn, points.
const MIN_WIDTH: f32 = 240.0;

/// Drawing with its title and description.
pub(crate) struct TitledDrawing {
    pub(crate) drawn: ShapeDrawing,
    pub(crate) title: String,
    pub(crate) description: String,
}

pub(crate) fn size_px(core: &Core, figure: Figure, scale: u32) -> Option<[u32; 2]> {
    let Figure::View(kind) = figure else { return None };
    let sheet = view_sheet(core, kind, scale);
    let px = |points: f32| (points * sheet.pixels_per_point).round() as u32;
    Some([px(sheet.size.x), px(sheet.size.y)])
}

/// Draws a figure; a view is drawn through `render_state`.
pub(crate) fn draw(core: &Core, render_state: &RenderState, figure: Figure, is_dark: bool) -> TitledDrawing {
    let title = format!("{} – {}", figure.title(), core.status().source.name);
    let (drawn, units) = match figure {
        Figure::View(kind) => draw_view(core, render_state, kind, is_dark),
        _ => (draw_figure(core, figure, is_dark, &title), None),
    };
    let [width, height] = drawn.size_px();
    let compared = core.comparison.as_ref().map(|comparison| {
        let now = core.setup();
        format!("A: {}, B: {}", comparison.kept.preset_name(), comparison.kept.differences_to(&now))
    });
    let parts = units.into_iter().chain(compared).chain([format!("{width} × {height} px")]);
    TitledDrawing { drawn, title, description: parts.collect::<Vec<_>>().join("; ") }
}

/// Layout of a view on its sheet.
struct ViewSheet {
    rects: ViewRects,
    size: egui::Vec2,
    pixels_per_point: f32,
}

fn view_sheet(core: &Core, kind: ViewKind, scale: u32) -> ViewSheet {
    let (width, height) = core.output().map_or((1, 1), |output| output.job.frame.size());
    // whole pixels per point, so that pixels of the image fall on those of the file
    let larger = (width as f32 / USUAL_WIDTH_PX).round().max(1.0);
    let pixels_per_point = scale as f32 * larger;
    let shown = vec2(width as f32, height as f32) / larger;
    let bar = if kind.is_map() { BAR } else { 0.0 };
    let at_corner = ViewRects::at(pos2(MARGIN, MARGIN), shown, bar);
    let sheet_width = (shown.x + bar + 2.0 * MARGIN).max(MIN_WIDTH).ceil();
    let header = Rect::from_min_max(pos2(MARGIN, MARGIN), pos2(sheet_width - MARGIN, MARGIN + HEADER));
    let size = vec2(sheet_width, (at_corner.picture.bottom() + MARGIN).ceil());
    ViewSheet { rects: ViewRects { header, ..at_corner }, size, pixels_per_point }
}

fn draw_view(core: &Core, render_state: &RenderState, kind: ViewKind, is_dark: bool) -> (ShapeDrawing, Option<String>) {
    let ViewSheet { rects, size, pixels_per_point } = view_sheet(core, kind, core.picture.choices.scale);
    let mut pictures = Pictures::new(render_state);
    let range = pictures.range_text(core, kind);
    let sheet = Sheet { width: size.x, height: Some(size.y), pixels_per_point, is_dark };
    let drawn = sheet.draw(|ui| pictures.show_alone(ui, core, kind, rects));
    (drawn, range.map(|range| format!("{kind}, colours {} from {range}", core.view.colormap)))
}

fn draw_figure(core: &Core, figure: Figure, is_dark: bool, title: &str) -> ShapeDrawing {
    let sheet =
        Sheet { width: FIGURE_WIDTH, height: None, pixels_per_point: core.picture.choices.scale as f32, is_dark };
    sheet.draw(|ui| {
        Frame::new().inner_margin(MARGIN).show(ui, |ui| {
            ui.label(RichText::new(title).strong());
            content(ui, core, figure);
        });
    })
}

fn content(ui: &mut Ui, core: &Core, figure: Figure) {
    match figure {
        Figure::Costs => {
            if let Some(Ok(found)) = core.pipeline.explained.as_ref().map(|explained| explained.found.as_ref()) {
                explain::curves::show(ui, &found.0);
            }
        }
        Figure::Sweep => {
            if let Some(sweep) = &core.search.sweep {
                search::map::show(ui, core, sweep, &mut None, &mut Vec::new());
            }
        }
        Figure::Search => {
            if let Some(found) = &core.search.search {
                search::front::show(ui, found);
            }
        }
        Figure::Reach => reach::figure(ui, core),
        Figure::View(_) => {}
    }
}
