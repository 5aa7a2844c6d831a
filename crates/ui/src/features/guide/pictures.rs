//! Raw images of a live calibration in place of the views: corners, coverage, target pose, and a notice legible from some metres.

use crate::core::{Command, Core, RunningCalibration};
use crate::panels::Panel;
use crate::view::{ViewKind, arrange};
use egui::{
    Align, Color32, ColorImage, FontId, Id, Painter, Pos2, Rect, Role, Sense, Stroke, StrokeKind, TextureHandle,
    TextureOptions, Ui, WidgetInfo, pos2, vec2,
};
use std::sync::Arc;
use std::time::Duration;
use stereopsis_calibrate::{CELLS, Corner, Coverage, Notice, Progress, TargetPose};
use stereopsis_frame::{RawPair, Side};

/// Heights of the notice above the images and of the text below as shares of the room, and their limits in points.
const NOTICE_SHARE: f32 = 0.16;
const NOTICE_HEIGHT: (f32, f32) = (54.0, 150.0);
const NEXT_SHARE: f32 = 0.07;
const NEXT_HEIGHT: (f32, f32) = (30.0, 60.0);
/// Smallest height of letters, points.
const MIN_FONT_SIZE: f32 = 12.0;
/// Interval of the check whether the sign of a new view is over.
const REFRESH_INTERVAL: Duration = Duration::from_millis(100);

const TAKEN: Color32 = Color32::from_rgb(0, 138, 62);
const READY: Color32 = Color32::from_rgb(28, 92, 56);
const WAIT: Color32 = Color32::from_rgb(138, 92, 0);
const REFUSED: Color32 = Color32::from_rgb(150, 40, 30);
const CALM: Color32 = Color32::from_gray(52);
const TICK: Color32 = Color32::from_rgb(40, 220, 110);
const GHOST: Color32 = Color32::from_rgb(255, 214, 64);

#[derive(Default)]
pub(crate) struct GuidePictures {
    shown: Option<(Arc<RawPair>, [TextureHandle; 2])>,
}

impl Panel for GuidePictures {
    fn is_open(&self, core: &Core) -> bool {
        core.shows_guide()
    }

    fn show(&mut self, ui: &mut Ui, core: &Core, _: &mut Vec<Command>) {
        let Some(running) = &core.guide.running else { return };
        let room = ui.available_rect_before_wrap();
        let share = |share: f32, (least, most): (f32, f32)| (share * room.height()).clamp(least, most);
        let (above, below) = (share(NOTICE_SHARE, NOTICE_HEIGHT), share(NEXT_SHARE, NEXT_HEIGHT));
        let notice = Rect::from_min_size(room.min, vec2(room.width(), above));
        let next = Rect::from_min_max(pos2(room.left(), room.bottom() - below), room.max);
        let middle = Rect::from_min_max(notice.left_bottom(), next.right_top());
        // a paused recording or folder still has its held pair examined
        let is_paused = core.status().paused && core.pipeline.playback.is_none();
        paint_notice(ui, notice, running, is_paused);
        let across = core.guide.board.as_ref().map_or(1, |board| board.inner().0);
        self.pictures(ui, middle, running, across);
        if let Some(ghost) = &running.progress.ghost {
            let suffices = running.outcome().is_some_and(|outcome| outcome.suffices());
            let begin = if suffices { "Good enough: save it, or" } else { "Next:" };
            let words = format!("{begin} {}", ghost.words);
            paint_line(ui, next, &words, 0.55 * below, ui.visuals().strong_text_color());
            name(ui, next, "next view", &words);
        }
        if running.has_just_taken() {
            ui.ctx().request_repaint_after(REFRESH_INTERVAL);
        }
    }
}

impl GuidePictures {
    /// Shows the images; `across` is the number of corners in a row of the board.
    fn pictures(&mut self, ui: &mut Ui, room: Rect, running: &RunningCalibration, across: usize) {
        let progress = &running.progress;
        let Some(pair) = &progress.pair else { return };
        let size = pair.left.size();
        let Some(textures) = self.textures(ui, pair) else { return };
        let rects =
            arrange(&[ViewKind::Left, ViewKind::Right], room.shrink2(vec2(0.0, 4.0)), size.0 as f32 / size.1 as f32);
        for (side, rects) in Side::ALL.into_iter().zip(rects) {
            let corners = &progress.corners[side as usize];
            let side_name = side.word();
            let title =
                format!("{side_name}, raw · {}", stereopsis_base::console::counted(corners.len() as u64, "corner"));
            let ink = ui.visuals().weak_text_color();
            ui.painter().text(
                rects.header.left_center(),
                egui::Align2::LEFT_CENTER,
                &title,
                FontId::proportional(12.0),
                ink,
            );
            let response = ui.interact(rects.picture, ui.scope_id().with(("guide", side_name)), Sense::hover());
            response.widget_info(|| WidgetInfo::labeled(Role::Image, true, format!("{title} of the board")));
            let picture =
                Overlay { painter: &ui.painter().with_clip_rect(rects.picture), rect: rects.picture, size, across };
            let whole = Rect::from_min_max(pos2(0.0, 0.0), pos2(1.0, 1.0));
            picture.painter.image(textures[side as usize].id(), rects.picture, whole, Color32::WHITE);
            picture.all(progress, side);
            if running.has_just_taken() {
                picture.taken();
            }
        }
    }

    /// Returns the images of a pair as textures, copied once.
    fn textures(&mut self, ui: &Ui, pair: &Arc<RawPair>) -> Option<[TextureHandle; 2]> {
        if self.shown.as_ref().is_none_or(|(shown, _)| !Arc::ptr_eq(shown, pair)) {
            let images = [&pair.left, &pair.right].map(|picture| {
                let luma = picture.luma.to_u8();
                ColorImage::from_gray([luma.width(), luma.height()], luma.pixels())
            });
            if let Some((shown, textures)) = &mut self.shown {
                for (texture, image) in textures.iter_mut().zip(images) {
                    texture.set(image, TextureOptions::LINEAR);
                }
                *shown = Arc::clone(pair);
            } else {
                let load = |image| ui.ctx().load_texture("guide", image, TextureOptions::LINEAR);
                self.shown = Some((Arc::clone(pair), images.map(load)));
            }
        }
        self.shown.as_ref().map(|(_, textures)| textures.clone())
    }
}

struct Overlay<'a> {
    painter: &'a Painter,
    rect: Rect,
    /// Size of the image, px.
    size: (usize, usize),
    /// Number of corners in a row of the board.
    across: usize,
}

impl Overlay<'_> {
    fn all(&self, progress: &Progress, side: Side) {
        if let Some(coverage) = &progress.coverage {
            self.coverage(&coverage[side as usize]);
        }
        if let Some(ghost) = &progress.ghost {
            self.ghost(ghost, side);
        }
        self.corners(&progress.corners[side as usize]);
    }

    /// Converts a position in the image in px to a point on the screen.
    fn point(&self, at: glam::DVec2) -> Pos2 {
        let share = vec2((at.x as f32 + 0.5) / self.size.0 as f32, (at.y as f32 + 0.5) / self.size.1 as f32);
        self.rect.min + share * self.rect.size()
    }

    /// Tints the cells in which corners were seen.
    fn coverage(&self, coverage: &Coverage) {
        let cell = self.rect.size() / vec2(CELLS.0 as f32, CELLS.1 as f32);
        for (i, _) in coverage.cells.iter().enumerate().filter(|(_, count)| **count > 0) {
            let place = vec2((i % CELLS.0) as f32, (i / CELLS.0) as f32);
            let rect = Rect::from_min_size(self.rect.min + place * cell, cell);
            self.painter.rect_filled(rect.shrink(1.0), 2.0, Color32::from_rgba_unmultiplied(70, 200, 120, 40));
        }
    }

    /// Draws the outline of the next pose of the board.
    fn ghost(&self, ghost: &TargetPose, side: Side) {
        let outline: Vec<Pos2> = ghost.outline[side as usize].iter().map(|at| self.point(*at)).collect();
        let is_shown = outline.iter().all(|point| point.x.abs() < 1e5 && point.y.abs() < 1e5);
        if outline.len() < 3 || !is_shown {
            return;
        }
        // dark under bright: legible on any image
        for (width, colour) in [(6.0, Color32::from_black_alpha(150)), (3.0, GHOST)] {
            self.painter.add(egui::Shape::closed_line(outline.clone(), Stroke::new(width, colour)));
        }
        // first corner, so that the board is not held the wrong way round
        self.painter.circle(outline[0], 6.0, GHOST, Stroke::new(1.5, Color32::from_black_alpha(180)));
    }

    /// Draws the corners, each column in one colour.
    fn corners(&self, corners: &[Corner]) {
        let radius = (self.rect.width() / 160.0).clamp(2.0, 5.0);
        for corner in corners {
            let hue = (corner.id % self.across) as f32 / self.across as f32;
            let colour: Color32 = egui::ecolor::Hsva::new(hue, 0.85, 1.0, 1.0).into();
            self.painter.circle(
                self.point(corner.at),
                radius,
                colour,
                Stroke::new(1.0, Color32::from_black_alpha(200)),
            );
        }
    }

    /// Draws the sign that a view was taken.
    fn taken(&self) {
        self.painter.rect_stroke(self.rect, 0.0, Stroke::new(12.0, TAKEN), StrokeKind::Inside);
        // drawn as lines, since fonts may have no tick
        let unit = 0.2 * self.rect.height();
        let tick = [vec2(-1.0, 0.0), vec2(-0.3, 0.7), vec2(1.0, -0.8)].map(|at| self.rect.center() + at * unit);
        for (width, colour) in [(0.36, Color32::from_black_alpha(120)), (0.26, TICK)] {
            self.painter.line(tick.to_vec(), Stroke::new(width * unit, colour));
        }
    }
}

/// Paints the notice: its beginning in large letters, the rest of the sentence below.
fn paint_notice(ui: &Ui, rect: Rect, running: &RunningCalibration, is_paused: bool) {
    let (text, colour) = match &running.progress.notice {
        _ if running.has_just_taken() => (Notice::Taken(running.count()).to_string(), TAKEN),
        _ if is_paused => ("Paused: Space goes on".to_owned(), CALM),
        None => ("Waiting for images …".to_owned(), CALM),
        Some(notice) => (notice.to_string(), colour_of(notice)),
    };
    name(ui, rect, "notice", &text);
    ui.painter().rect_filled(rect, 4.0, colour);
    let (head, rest) = text.split_once(": ").map_or((text.as_str(), ""), |(head, rest)| (head, rest));
    let share = if rest.is_empty() { 1.0 } else { 0.66 };
    let (upper, lower) = rect.split_top_bottom_at_fraction(share);
    paint_line(ui, upper, head, 0.72 * upper.height(), Color32::WHITE);
    if !rest.is_empty() {
        paint_line(ui, lower, rest, 0.62 * lower.height(), Color32::from_gray(235));
    }
}

fn colour_of(notice: &Notice) -> Color32 {
    match notice {
        Notice::Taken(_) => TAKEN,
        Notice::Ready => READY,
        Notice::Moving(_) | Notice::Skewed(_) | Notice::Blurred | Notice::OneSide(_) => WAIT,
        Notice::Unusable(_) | Notice::OtherSize(..) => REFUSED,
        Notice::NoBoard | Notice::Known => CALM,
    }
}

/// Paints a line of text in the middle of a rectangle, in the largest letters that fit.
fn paint_line(ui: &Ui, rect: Rect, text: &str, largest: f32, ink: Color32) {
    let room = rect.width() - 16.0;
    let layout = |size: f32| ui.painter().layout_no_wrap(text.to_owned(), FontId::proportional(size), ink);
    let mut galley = layout(largest.max(MIN_FONT_SIZE));
    if galley.rect.width() > room {
        // whole sizes: the font's texture receives each size once
        let fitted = (largest * room / galley.rect.width()).floor();
        galley = layout(fitted.max(MIN_FONT_SIZE));
    }
    if galley.rect.width() > room {
        galley = ui.painter().layout(text.to_owned(), FontId::proportional(MIN_FONT_SIZE), ink, room);
    }
    let at = Align::Center.align_size_within_range(galley.rect.height(), rect.y_range()).min;
    let painter = ui.painter().with_clip_rect(rect);
    painter.galley(pos2(rect.center().x - galley.rect.width() / 2.0, at), galley, ink);
}

/// Gives painted text to screen readers, which speak it when it changes.
fn name(ui: &Ui, rect: Rect, which: &str, text: &str) {
    let id: Id = ui.scope_id().with(("guide", which));
    let response = ui.interact(rect, id, Sense::hover());
    response.widget_info(|| WidgetInfo::labeled(Role::Label, true, text));
    ui.ctx().accesskit_node_builder(id, |node| node.set_live(egui::accesskit::Live::Polite));
}
