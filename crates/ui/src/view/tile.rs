//! View on the screen: name, image, cross-hair, colour bar; wheel, drag and double-click zoom and pan.

use super::marks::{Marks, paint_beside, region_between};
use super::{ViewKind, Zoom, bar, grid::ViewRects};
use crate::render::{Display, Drawable};
use egui::{
    Align2, Color32, FontId, PointerButton, Pos2, Rect, Role, Sense, Stroke, StrokeKind, Ui, WidgetInfo, pos2, vec2,
};
use stereopsis_metrics::Region;

/// Position of the cross-hair in px of the working size, with pixel centres at integers.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Crosshair {
    /// Position in the left image and in both maps.
    pub(crate) left: (f32, f32),
    /// Position in the right image at x - d; `None` without a disparity.
    pub(crate) right: Option<(f32, f32)>,
}

/// Position of the pointer in px of the image, and its clicks and drags.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct TileResponse {
    pub(crate) at: Option<(usize, usize)>,
    pub(crate) clicked: Option<(usize, usize)>,
    pub(crate) pressed: bool,
    /// Rectangle dragged over the image.
    pub(crate) region: Option<Region>,
    pub(crate) title: Option<TitleClick>,
    pub(crate) bar: bool,
    /// Position to which the line between two images was dragged, as a share of the width.
    pub(crate) wiper: Option<f32>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TitleClick {
    /// Shows the view large.
    Once,
    /// Shows the view alone, or all views again.
    Twice,
}

/// Width below which views have small letters, points.
const SMALL_WIDTH: f32 = 160.0;
/// Distance within which the line between two images can be dragged, points.
const WIPER_REACH: f32 = 6.0;

fn paint_wiper(painter: &egui::Painter, picture: Rect, line: f32) {
    for (width, colour) in [(4.0, Color32::from_black_alpha(170)), (1.5, Color32::WHITE)] {
        painter.vline(line, picture.y_range(), Stroke::new(width, colour));
    }
    for (letter, side, align) in [("A", -8.0, Align2::RIGHT_BOTTOM), ("B", 8.0, Align2::LEFT_BOTTOM)] {
        let at = pos2(line + side, picture.bottom() - 4.0);
        painter.text(at + vec2(1.0, 1.0), align, letter, FontId::proportional(18.0), Color32::BLACK);
        painter.text(at, align, letter, FontId::proportional(18.0), Color32::WHITE);
    }
}

pub(crate) fn show_title(ui: &mut Ui, kind: ViewKind, header: Rect, remark: &str) -> Option<TitleClick> {
    let response = ui.interact(header, ui.scope_id().with((kind.word(), "title")), Sense::click());
    response.widget_info(|| WidgetInfo::labeled(Role::Button, true, format!("{kind} title")));
    let visuals = ui.visuals();
    let ink = if response.hovered() { visuals.strong_text_color() } else { visuals.weak_text_color() };
    let place = header.left_center() - vec2(0.0, 1.0);
    let clipped = ui.painter().with_clip_rect(header.expand(2.0));
    clipped.text(place, Align2::LEFT_CENTER, format!("{kind}{remark}"), FontId::proportional(12.0), ink);
    let response = response.on_hover_text("Click: this view large. Double-click: this view alone, or all again.");
    if response.double_clicked() {
        return Some(TitleClick::Twice);
    }
    response.clicked().then_some(TitleClick::Once)
}

/// Returns whether the colour bar of depth is clicked.
fn click_bar(ui: &mut Ui, bar: Rect) -> bool {
    let response = ui.interact(bar, ui.scope_id().with("colour bar"), Sense::click());
    response.widget_info(|| WidgetInfo::labeled(Role::Button, true, "Fit the colours"));
    response.on_hover_text("Click: fit the colours to the depth that is seen now").clicked()
}

pub(crate) struct Tile<'a> {
    pub(crate) kind: ViewKind,
    pub(crate) rects: ViewRects,
    /// Image, or the reason why none exists.
    pub(crate) content: Result<Drawable<'a>, &'a str>,
    pub(crate) display: Option<(&'a Display, &'a [[u8; 3]])>,
    /// Working size of the images, px.
    pub(crate) size: (usize, usize),
    pub(crate) crosshair: Option<Crosshair>,
    /// Label beside the pointer while no button is pressed.
    pub(crate) beside_pointer: Option<&'a str>,
    /// Text after the kind in the title.
    pub(crate) remark: &'a str,
    /// Whether the image is old because its camera is lost.
    pub(crate) is_stale: bool,
    /// Other image left of a line, and the line's position as a share of the width.
    pub(crate) beside: Option<(Drawable<'a>, f32)>,
    /// Marks of the measurement, with which a drag draws a rectangle.
    pub(crate) marks: Option<Marks<'a>>,
}

impl Tile<'_> {
    /// Draws the view and reads the pointer.
    pub(crate) fn show(self, ui: &mut Ui, zoom: &mut Zoom) -> TileResponse {
        let ViewRects { header, picture, bar } = self.rects;
        let visuals = ui.visuals().clone();
        let title = show_title(ui, self.kind, header, self.remark);
        if zoom.factor > 1.0 {
            let text = format!("× {:.1}", zoom.factor);
            let font = FontId::monospace(10.5);
            ui.painter().text(header.right_center(), Align2::RIGHT_CENTER, text, font, visuals.weak_text_color());
        }
        let response = ui.interact(picture, ui.scope_id().with(self.kind.word()), Sense::click_and_drag());
        let name = format!("{} view", self.kind);
        response.widget_info(|| WidgetInfo::labeled(Role::Image, true, &name));
        let painter = ui.painter().with_clip_rect(picture);
        let shown = match self.content {
            Ok(shown) => shown,
            Err(why) => {
                painter.rect_filled(picture, 0.0, visuals.faint_bg_color);
                // a text of several lines begins higher
                let height = if picture.width() < SMALL_WIDTH { 0.9 * picture.height() } else { 40.0 };
                let middle = Rect::from_center_size(picture.center(), vec2(picture.width() * 0.8, height));
                let layout = egui::Layout::top_down(egui::Align::Center);
                ui.scope_builder(egui::UiBuilder::new().max_rect(middle).layout(layout), |ui| {
                    ui.set_clip_rect(picture.intersect(ui.clip_rect()));
                    let text = egui::RichText::new(why);
                    ui.label(if picture.width() < SMALL_WIDTH { text.small() } else { text });
                });
                return TileResponse { title, pressed: response.clicked(), ..TileResponse::default() };
            }
        };
        shown.paint(&painter, picture, zoom.visible(), self.is_stale);
        let wiper = self.beside.and_then(|(beside, share)| {
            let line = picture.left() + share * picture.width();
            let left = Rect::from_min_max(picture.min, pos2(line, picture.bottom()));
            beside.paint(&ui.painter().with_clip_rect(left), picture, zoom.visible(), self.is_stale);
            paint_wiper(&painter, picture, line);
            self.drag_wiper(ui, picture, line)
        });
        let mut fits = false;
        if let Some(crosshair) = self.crosshair {
            self.paint_crosshair(&painter, picture, *zoom, crosshair);
        }
        let marks = self.marks.filter(|_| !matches!(self.kind, ViewKind::Right | ViewKind::Rows));
        if let Some(marks) = marks {
            marks.paint(&painter, picture, *zoom, self.size);
        }
        if let Some((display, colours)) = self.display.filter(|_| bar.width() > 0.0) {
            bar::paint(ui.painter(), bar, display, colours, visuals.text_color());
            fits = self.kind == ViewKind::Depth && click_bar(ui, bar);
        }
        if response.has_focus() {
            ui.painter().rect_stroke(picture, 0.0, visuals.selection.stroke, StrokeKind::Outside);
        }

        if let (Some(text), Some(pointer)) = (self.beside_pointer, response.hover_pos())
            && !ui.input(|i| i.pointer.any_down())
        {
            paint_beside(&painter, picture, pointer, text);
        }
        if response.double_clicked() {
            *zoom = Zoom::default();
        } else if response.dragged() && !(marks.is_some() && response.dragged_by(PointerButton::Primary)) {
            zoom.pan(response.drag_delta() / picture.size());
        }
        let pixel = |zoom: Zoom, at: Pos2| {
            let share = zoom.to_picture(picture, at);
            let pixel = |share: f32, count: usize| ((share * count as f32).max(0.0) as usize).min(count - 1);
            (pixel(share.x, self.size.0), pixel(share.y, self.size.1))
        };
        let draws = marks.is_some() && response.dragged_by(PointerButton::Primary);
        let ends = ui.input(|i| i.pointer.press_origin()).zip(response.interact_pointer_pos()).filter(|_| draws);
        let region = ends.and_then(|(from, to)| region_between(pixel(*zoom, from), pixel(*zoom, to)));
        let Some(pointer) = response.hover_pos() else {
            return TileResponse { region, title, wiper, bar: fits, ..TileResponse::default() };
        };
        let (scroll, pinch) = ui.input_mut(|i| (std::mem::take(&mut i.smooth_scroll_delta).y, i.zoom_delta()));
        zoom.zoom_at(zoom.to_picture(picture, pointer), (scroll / 200.0).exp2() * pinch);
        let at = pixel(*zoom, pointer);
        TileResponse {
            at: Some(at),
            bar: fits,
            pressed: response.clicked(),
            clicked: (response.clicked() && !matches!(self.kind, ViewKind::Right | ViewKind::Rows)).then_some(at),
            region,
            title,
            wiper,
        }
    }

    fn drag_wiper(&self, ui: &mut Ui, picture: Rect, line: f32) -> Option<f32> {
        let handle = Rect::from_x_y_ranges(line - WIPER_REACH..=line + WIPER_REACH, picture.y_range());
        let response = ui.interact(handle, ui.scope_id().with((self.kind.word(), "wiper")), Sense::drag());
        let share = f64::from((line - picture.left()) / picture.width());
        let name = format!("line between A and B in {}", self.kind);
        response.widget_info(|| WidgetInfo::slider(true, share, &name));
        let response = response.on_hover_cursor(egui::CursorIcon::ResizeHorizontal);
        let pointer = response.interact_pointer_pos().filter(|_| response.dragged())?;
        Some(((pointer.x - picture.left()) / picture.width()).clamp(0.0, 1.0))
    }

    fn paint_crosshair(&self, painter: &egui::Painter, picture: Rect, zoom: Zoom, crosshair: Crosshair) {
        let at = match self.kind {
            ViewKind::Right => crosshair.right,
            ViewKind::Rows => None, // has other columns than the images
            _ => Some(crosshair.left),
        };
        let Some((x, y)) = at else { return };
        let share = pos2((x + 0.5) / self.size.0 as f32, (y + 0.5) / self.size.1 as f32);
        let point = zoom.to_view(picture, share);
        if !picture.expand(1.0).contains(point) {
            return;
        }
        // dark under bright: legible on any image; open in the middle, so that the pixel itself shows
        for (width, colour) in [(3.0, Color32::from_black_alpha(140)), (1.0, Color32::from_white_alpha(230))] {
            let stroke = Stroke::new(width, colour);
            painter.hline(picture.left()..=point.x - 6.0, point.y, stroke);
            painter.hline(point.x + 6.0..=picture.right(), point.y, stroke);
            painter.vline(point.x, picture.top()..=point.y - 6.0, stroke);
            painter.vline(point.x, point.y + 6.0..=picture.bottom(), stroke);
        }
    }
}
