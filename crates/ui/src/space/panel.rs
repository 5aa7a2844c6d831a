//! 3-D view: its image, the gestures that move its camera, and a row of controls.

use crate::core::{Command, Core, ViewSettings};
use crate::render::{Display, MapDisplays, Screens, is_software};
use crate::space::save_menu::SaveMenu;
use crate::space::{
    Colouring, DENSITIES, Drawing, Inputs, Lens, Pose, Scene, SpaceScreen, SpaceSettings, Surface, every_text,
    grid_spacing_m,
};
use crate::style::Ground;
use crate::view::{TitleClick, ViewKind, ViewRects, paint_over, show_title};
use crate::widgets::{self, focused_slider};
use eframe::egui_wgpu::RenderState;
use egui::containers::menu::{MenuButton, MenuConfig};
use egui::{
    Align, EventFilter, Key, Layout, Modifiers, PointerButton, PopupCloseBehavior, Rect, Response, RichText, Role,
    Sense, StrokeKind, Ui, UiBuilder, WidgetInfo, pos2, vec2,
};
use glam::{DVec3, dvec3};
use std::f64::consts::PI;
use std::sync::Arc;
use std::time::Duration;
use stereopsis_frame::engine::Output;

const NO_DEPTH: &str = "No points: no calibration. Two webcams, rig … (R) loads one or estimates it from the images; the depth view takes two numbers.";
const NO_RESULT: &str = "no result yet";
const NO_CONFIDENCE: &str =
    "It is not computed: Confidence, among the parameters of Rejection, or the confidence view switches it on.";
const GESTURES: &str = "Drag: turn around the middle; with Shift, or the right or middle button: move along. Wheel: nearer, farther. \
                        Arrows and Page keys after a click: fly. Double-click: as the camera sees it.";
/// Time after a movement during which the view counts as moving, s.
const SETTLE_S: f64 = 0.3;
const ROW_HEIGHT: f32 = 22.0;
/// Width below which the row has short words, points.
const SHORT_ROW_WIDTH: f32 = 330.0;
/// Movement per key press as a share of the distance from the pivot.
const FLY_SHARE: f64 = 0.05;
/// Direction (right, down, forward) of the movement by each key.
const FLY_KEYS: [(Key, DVec3); 6] = [
    (Key::ArrowLeft, dvec3(-1.0, 0.0, 0.0)),
    (Key::ArrowRight, dvec3(1.0, 0.0, 0.0)),
    (Key::ArrowUp, dvec3(0.0, 0.0, 1.0)),
    (Key::ArrowDown, dvec3(0.0, 0.0, -1.0)),
    (Key::PageUp, dvec3(0.0, -1.0, 0.0)),
    (Key::PageDown, dvec3(0.0, 1.0, 0.0)),
];

pub(crate) struct SpaceView {
    screen: SpaceScreen,
    is_software: bool,
    /// Time of the last movement of the view on the window's clock, s.
    moved_s: Option<f64>,
    save_menu: SaveMenu,
}

impl SpaceView {
    pub(crate) fn new(render_state: &RenderState) -> Self {
        Self {
            is_software: is_software(render_state),
            moved_s: None,
            save_menu: SaveMenu::default(),
            screen: SpaceScreen::new(render_state),
        }
    }

    /// Returns whether a software adapter draws fewer points, because pairs arrive or the view moves.
    fn is_coarse(&self, ui: &Ui, core: &Core) -> bool {
        if !self.is_software {
            return false;
        }
        let since_s = self.moved_s.map_or(f64::INFINITY, |moved_s| ui.input(|i| i.time) - moved_s);
        if since_s < SETTLE_S {
            ui.ctx().request_repaint_after(Duration::from_secs_f64(SETTLE_S - since_s));
            return true;
        }
        let status = core.status();
        !(status.paused || status.engine.ended || status.source.is_still)
    }

    /// Draws the view of `output` with the pixels of `screens`, and returns a click on its title or on its image in the strip.
    pub(crate) fn show(
        &mut self,
        ui: &mut Ui,
        core: &Core,
        (output, screens): (&Arc<Output>, &Screens),
        (rects, is_small): (ViewRects, bool),
        displays: &MapDisplays,
        commands: &mut Vec<Command>,
    ) -> Option<TitleClick> {
        let scene = core.space_scene(output, self.is_coarse(ui, core));
        let remark = scene.as_ref().map_or(String::new(), |scene| remark(core, scene));
        let mut title = show_title(ui, ViewKind::Space, rects.header, &remark);
        let (row, picture) = rects.picture.split_top_bottom_at_y(rects.picture.top() + ROW_HEIGHT);
        let response = ui.interact(picture, ui.scope_id().with(ViewKind::Space.word()), Sense::click_and_drag());
        response.widget_info(|| WidgetInfo::labeled(Role::Image, true, format!("{} view", ViewKind::Space)));
        if is_small && response.clicked() {
            title = Some(TitleClick::Once);
        }
        let (Some(scene), Some(inputs)) = (scene, screens.space_inputs()) else {
            let why = if scene.is_none() { NO_DEPTH } else { NO_RESULT };
            ui.painter().rect_filled(rects.picture, 0.0, ui.visuals().faint_bg_color);
            let middle = Rect::from_center_size(picture.center(), vec2(picture.width() * 0.8, 60.0));
            let layout = Layout::top_down(Align::Center);
            ui.scope_builder(UiBuilder::new().max_rect(middle).layout(layout), |ui| ui.label(why));
            return title;
        };
        let layout = Layout::left_to_right(Align::Center);
        ui.scope_builder(UiBuilder::new().max_rect(row).layout(layout), |ui| {
            ui.set_clip_rect(row.intersect(ui.clip_rect()));
            self.controls(ui, core, &scene, commands);
        });

        let size = size_px(ui, picture);
        let pose = core.pose.unwrap_or_else(|| Pose::of_left_camera(scene.middle_m()));
        self.paint(ui, core, (output, screens, inputs), (&scene, &pose), picture, displays);
        let display = bar_of(&scene, core, displays);
        if let Some(display) = display.filter(|_| !is_small) {
            paint_over(ui.painter(), picture, display, &displays.colours[..]);
        }
        if response.has_focus() {
            ui.painter().rect_stroke(picture, 0.0, ui.visuals().selection.stroke, StrokeKind::Inside);
        }
        hold_focus(ui, &response);
        let focal_points =
            Lens::of(&scene.geometry, scene.size, size).focal_px / f64::from(ui.ctx().pixels_per_point());
        let moved = moved(ui, &response, pose, focal_points);
        if response.double_clicked() {
            commands.push(Command::SetPose(None));
        } else if moved != pose {
            self.moved_s = Some(ui.input(|i| i.time));
            commands.push(Command::SetPose(Some(moved)));
        }
        title
    }

    /// Draws the view for a saved image in full detail.
    pub(crate) fn show_alone(
        &mut self,
        ui: &mut Ui,
        core: &Core,
        (output, screens): (&Arc<Output>, &Screens),
        rects: ViewRects,
        displays: &MapDisplays,
        about: &str,
    ) {
        let Some(scene) = core.space_scene(output, false) else { return };
        let Some(inputs) = screens.space_inputs() else { return };
        show_title(ui, ViewKind::Space, rects.header, &format!("{}{about}", remark(core, &scene)));
        let pose = core.pose.unwrap_or_else(|| Pose::of_left_camera(scene.middle_m()));
        self.paint(ui, core, (output, screens, inputs), (&scene, &pose), rects.picture, displays);
        if let Some(display) = bar_of(&scene, core, displays) {
            paint_over(ui.painter(), rects.picture, display, &displays.colours[..]);
        }
    }

    fn paint(
        &mut self,
        ui: &Ui,
        core: &Core,
        (output, screens, inputs): (&Arc<Output>, &Screens, Inputs<'_>),
        (scene, pose): (&Scene, &Pose),
        picture: Rect,
        displays: &MapDisplays,
    ) {
        let ground = core.view.space.ground.colour(ui.visuals().dark_mode);
        let drawing = Drawing::new(scene, &core.view.space, pose, size_px(ui, picture), ground);
        let texture = self.screen.update(output, inputs, drawing, &displays.colours);
        let whole = Rect::from_min_max(pos2(0.0, 0.0), pos2(1.0, 1.0));
        screens.drawable(texture).paint(ui.painter(), picture, whole, !core.source.lost_since.is_empty());
    }

    fn controls(&mut self, ui: &mut Ui, core: &Core, scene: &Scene, commands: &mut Vec<Command>) {
        let is_short = ui.available_width() < SHORT_ROW_WIDTH;
        // stays open for several choices
        let config = MenuConfig::new().close_behavior(PopupCloseBehavior::CloseOnClickOutside);
        let (shown, _) = MenuButton::new("Show ▾").config(config).ui(ui, |ui| menu(ui, core, scene, commands));
        shown.widget_info(|| WidgetInfo::labeled(Role::Button, true, "Points shown"));
        shown.on_hover_text("Colour, surface, density and background of the points");
        let name = "As the camera sees it";
        let response = ui.button(if is_short { "↺" } else { name });
        response.widget_info(|| WidgetInfo::labeled(Role::Button, true, name));
        if response.on_hover_text("Go back to the left camera's own view (0)").clicked() {
            commands.push(Command::SetPose(None));
        }
        let save = if is_short { "Save …" } else { "Save points …" };
        self.save_menu.show(ui, core, (scene, save), commands);
        ui.label(RichText::new("?").weak()).on_hover_text(GESTURES);
    }
}

fn size_px(ui: &Ui, rect: Rect) -> (u32, u32) {
    let px = |points: f32| (points * ui.ctx().pixels_per_point()).round().max(1.0) as u32;
    (px(rect.width()), px(rect.height()))
}

/// Returns the colour bar of the points, or `None` for the image's colours.
fn bar_of<'a>(scene: &Scene, core: &Core, displays: &'a MapDisplays) -> Option<&'a Display> {
    match scene.colouring(&core.view.space) {
        Colouring::Picture => None,
        Colouring::Depth => displays.depth.as_ref(),
        Colouring::Confidence => displays.confidence.as_ref(),
    }
}

fn remark(core: &Core, scene: &Scene) -> String {
    let settings = &core.view.space;
    let mut parts = vec![every_text(scene.every(settings))];
    if scene.colouring(settings) != settings.colouring {
        parts.push(format!("{} is not computed", settings.colouring));
    }
    if settings.has_lines {
        parts.push(format!("grid {} m", grid_spacing_m(scene.range_m.1)));
    }
    let compared = core.comparison.as_ref().filter(|comparison| comparison.shown.is_some());
    if let Some(comparison) = compared {
        parts.push(if comparison.shows_a { "A" } else { "B" }.to_owned());
    }
    parts.extend(core.depth_mark().map(str::to_owned));
    parts.extend(core.source.lost_text());
    format!(" · {}", parts.join(" · "))
}

/// Shows the settings of the points in two columns, because one would exceed a small window.
fn menu(ui: &mut Ui, core: &Core, scene: &Scene, commands: &mut Vec<Command>) {
    let mut space = core.view.space;
    ui.horizontal_top(|ui| {
        ui.vertical(|ui| look(ui, scene, &mut space));
        ui.vertical(|ui| density(ui, scene, &mut space));
    });
    if space != core.view.space {
        commands.push(Command::SetView(ViewSettings { space, ..core.view.clone() }));
    }
}

fn look(ui: &mut Ui, scene: &Scene, space: &mut SpaceSettings) {
    ui.label(RichText::new("Colour").weak());
    for &colouring in Colouring::ALL {
        let is_there = colouring != Colouring::Confidence || scene.has_confidence;
        let help = if is_there { colouring.help() } else { NO_CONFIDENCE };
        let name = format!("points by {colouring}");
        ui.add_enabled_ui(is_there, |ui| choose(ui, &mut space.colouring, colouring, &name, help));
    }
    ui.add_space(6.0);
    ui.label(RichText::new("Background").weak());
    for &ground in Ground::ALL {
        choose(ui, &mut space.ground, ground, &format!("background {ground}"), ground.help());
    }
    ui.add_space(6.0);
    let help = "Leave out what is nearer or farther than the range of the depth colours.";
    widgets::checkbox(ui, &mut space.is_limited, "only the depth range").on_hover_text(help);
    let help = "A grid in metres through the lower border of the image at the middle of the depth range, and what each camera sees: \
                left orange, right blue.";
    widgets::checkbox(ui, &mut space.has_lines, "grid and cameras").on_hover_text(help);
}

fn density(ui: &mut Ui, scene: &Scene, space: &mut SpaceSettings) {
    ui.label(RichText::new("Surface").weak());
    for &surface in Surface::ALL {
        choose(ui, &mut space.surface, surface, &format!("as {surface}"), surface.help());
    }
    ui.add_space(6.0);
    ui.label(RichText::new("Density").weak());
    let automatic = SpaceSettings { every: None, ..*space };
    let name = format!("automatic: {}", every_text(scene.every(&automatic)));
    let help = "Every pixel on a GPU and of a pair that is held; fewer where the adapter computes on the CPU.";
    choose(ui, &mut space.every, None, &name, help);
    for every in DENSITIES {
        let help = "One point for each block of pixels of this side.";
        choose(ui, &mut space.every, Some(every), &every_text(every), help);
    }
}

fn choose<T: PartialEq>(ui: &mut Ui, chosen: &mut T, option: T, name: &str, help: &str) {
    widgets::radio(ui, chosen, option, name).on_hover_text(help).on_disabled_hover_text(help);
}

/// Holds the focus from a click until the pointer leaves; the view then receives the arrow keys, and Space still pauses.
fn hold_focus(ui: &Ui, response: &Response) {
    if response.clicked() || response.drag_stopped() {
        response.request_focus();
    }
    if !response.has_focus() {
        return;
    }
    if !response.contains_pointer() && !response.dragged() && ui.input(|i| i.pointer.has_pointer()) {
        response.surrender_focus();
        return;
    }
    let arrows = EventFilter { horizontal_arrows: true, vertical_arrows: true, ..EventFilter::default() };
    ui.memory_mut(|memory| memory.set_focus_lock_filter(response.id, arrows));
    ui.data_mut(|data| data.insert_temp(focused_slider(), response.id));
}

/// Returns the pose after the gestures of this frame; `focal_points` is the focal length on the screen in points.
fn moved(ui: &Ui, response: &Response, pose: Pose, focal_points: f64) -> Pose {
    let mut moved = pose;
    let drag = response.drag_delta();
    let (right, down) = (f64::from(drag.x), f64::from(drag.y));
    let moves_along = ui.input(|i| i.modifiers.shift)
        || response.dragged_by(PointerButton::Secondary)
        || response.dragged_by(PointerButton::Middle);
    if moves_along {
        // points at the pivot's distance stay under the pointer
        let metres = pose.distance_m / focal_points;
        moved.fly(dvec3(-right * metres, -down * metres, 0.0));
    } else if response.dragged() {
        let half_turn = f64::from(response.rect.width().max(1.0));
        moved.orbit(PI * right / half_turn, PI * down / half_turn);
    }
    if response.hovered() {
        let (scroll, pinch) = ui.input_mut(|i| (std::mem::take(&mut i.smooth_scroll_delta).y, i.zoom_delta()));
        let ratio = (-f64::from(scroll) / 200.0).exp2() / f64::from(pinch);
        if (ratio - 1.0).abs() > 1e-9 {
            moved.approach(ratio);
        }
    }
    if response.has_focus() {
        for (key, direction) in FLY_KEYS {
            let presses = ui.input_mut(|i| i.count_and_consume_key(Modifiers::NONE, key));
            moved.fly(direction * (FLY_SHARE * presses as f64 * pose.distance_m));
        }
    }
    moved
}
