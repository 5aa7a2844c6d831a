//! Content of the window: lays the panels out and executes their commands. Lives as long as one window and one device.

pub(crate) mod ending;
mod list;
pub(crate) mod picture;
mod session;
mod toolbar;
pub(crate) mod window;

use crate::core::{Action, Command, Core, Feature};
use crate::features::guide::commands::GuideStep;
use crate::panels::{Panel, Place};
use crate::{render, style};
use eframe::egui_wgpu::RenderState;
use egui::{
    Align, CentralPanel, Layout, Role, ScrollArea, Ui, UiBuilder, UiKind, UiStackInfo, ViewportCommand, WidgetInfo,
};
pub(crate) use session::Session;
use std::cell::RefCell;
use std::rc::Rc;
use std::time::Duration;

/// Repaint interval without results or input: shows that a source has stopped.
const HEARTBEAT: Duration = Duration::from_millis(500);

/// Content of one window; the session outlives it.
pub struct App {
    session: Rc<RefCell<Session>>,
    panels: Vec<(Place, Box<dyn Panel>)>,
    title: String,
    render_state: RenderState,
}

/// Error of a window that does not draw through wgpu.
#[derive(Clone, Debug, thiserror::Error)]
#[error("the window has no wgpu device")]
pub struct NoWgpu;

impl App {
    /// Opens the session in this window.
    ///
    /// # Errors
    /// The window does not draw through wgpu.
    pub fn new(cc: &eframe::CreationContext<'_>, session: Rc<RefCell<Session>>) -> Result<Self, NoWgpu> {
        let state = cc.wgpu_render_state.as_ref().ok_or(NoWgpu)?;
        style::apply(&cc.egui_ctx);
        cc.egui_ctx.set_zoom_factor(session.borrow().core.view.text_zoom);
        session.borrow().core.waker.open(cc.egui_ctx.clone(), render::is_software(state));
        Ok(Self { panels: list::all(state), session, title: String::new(), render_state: state.clone() })
    }
}

impl eframe::App for App {
    fn ui(&mut self, ui: &mut Ui, frame: &mut eframe::Frame) {
        if let Some(seconds) = frame.info().cpu_usage {
            log::debug!("the last frame took {:.1} ms", 1e3 * seconds);
        }
        ui.ctx().request_repaint_after(HEARTBEAT);
        let session = &mut *self.session.borrow_mut();
        session.core.waker.note_frame();
        session.update(ui.ctx());
        session.core.fit_window(ui.ctx());
        let title = session.core.title();
        if title != self.title {
            ui.ctx().send_viewport_cmd(ViewportCommand::Title(title.clone()));
            self.title = title;
        }
        let dropped = ui.ctx().input_mut(|i| std::mem::take(&mut i.raw.dropped_files));
        let dropped: Vec<_> = dropped.iter().map(|file| file.path().to_owned()).collect();
        if !dropped.is_empty() {
            session.execute(Command::OpenFiles(dropped), ui.ctx());
        }
        // a question takes all keys except the one that closes the window, which completes a recording
        let asks = session.core.recording.question.is_some() || session.core.typed.is_some();
        for action in Action::pressed(ui.ctx(), |action| !asks || action == Action::Quit) {
            // Space takes a view during a calibration
            let takes = action == Action::Pause && session.core.shows_guide() && !session.core.status().paused;
            let command: Command = if takes { GuideStep::Take.into() } else { action.into() };
            session.execute(command, ui.ctx());
        }
        if ui.ctx().input(|i| i.viewport().close_requested()) && session.keeps_open() {
            ui.ctx().send_viewport_cmd(ViewportCommand::CancelClose);
        }
        let mut commands = Vec::new();
        // scroll areas fade into this colour
        let background = egui::Frame::new().fill(style::background(ui.visuals()));
        let info = UiStackInfo::new(UiKind::CentralPanel).with_frame(background);
        ui.scope_builder(UiBuilder::new().ui_stack_info(info), |ui| {
            show(&mut self.panels, &mut session.features, ui, &session.core, &mut commands);
        });
        for command in commands {
            session.execute(command, ui.ctx());
        }
        picture::commands::update(&mut session.core, ui.ctx(), &self.render_state);
        for feature in &mut session.features {
            feature.end_frame(&mut session.core, ui.ctx());
        }
    }

    fn clear_color(&self, visuals: &egui::Visuals) -> [f32; 4] {
        style::background(visuals).to_normalized_gamma_f32()
    }

    fn on_exit(&mut self) {
        self.session.borrow().core.waker.close();
    }
}

/// Lays out edges, docks at the sides, and the images in the rest; a page replaces the right dock, in a narrow window the left too.
fn show(
    panels: &mut [(Place, Box<dyn Panel>)],
    features: &mut [Box<dyn Feature>],
    ui: &mut Ui,
    core: &Core,
    commands: &mut Vec<Command>,
) {
    for (id, (place, panel)) in panels.iter_mut().enumerate().filter(|(_, (_, panel))| panel.is_open(core)) {
        let edge = match place {
            Place::Top => egui::Panel::top(egui::Id::unique(("edge panel", id))),
            Place::Bottom => egui::Panel::bottom(egui::Id::unique(("edge panel", id))),
            _ => continue,
        };
        edge.show(ui, |ui| panel.show(ui, core, commands));
    }
    let arrangement = core.view.arrangement();
    let width = ui.ctx().content_rect().width();
    let mut widths = core.view.dock_widths;
    let [left_width, right_width, page_width] = widths;
    let is_covered = core.shows_guide() || core.view.is_narrow && core.page.is_some();
    if arrangement.controls && !is_covered {
        let left = egui::Panel::left("left column").resizable(true).default_size(left_width).size_range(270.0..=420.0);
        let content = |ui: &mut Ui| stack(panels, ui, |place| matches!(place, Place::Left), core, commands);
        let shown = left.show(ui, |ui| ScrollArea::vertical().auto_shrink(false).show(ui, content));
        widths[0] = shown.response.rect.width();
    }
    if let Some(page) = core.page {
        // a calibration needs its images
        let share = if core.shows_guide() { 0.42 } else { 0.6 };
        let widest = (share * width).max(260.0);
        let dock =
            egui::Panel::right("page").resizable(true).default_size(page_width.min(widest)).size_range(260.0..=widest);
        let shown = dock.show(ui, |ui| show_page(panels, features, ui, page, core, commands));
        widths[2] = shown.response.rect.width();
    } else if arrangement.readings {
        let right =
            egui::Panel::right("right column").resizable(true).default_size(right_width).size_range(200.0..=360.0);
        let content = |ui: &mut Ui| stack(panels, ui, |place| matches!(place, Place::Right), core, commands);
        let shown = right.show(ui, |ui| ScrollArea::vertical().auto_shrink(false).show(ui, content));
        widths[1] = shown.response.rect.width();
    }
    if widths.iter().zip(core.view.dock_widths).any(|(now, before)| (now - before).abs() > 0.5) {
        commands.insert(0, Command::SetDockWidths(widths));
    }
    CentralPanel::default().show(ui, |ui| stack(panels, ui, |place| matches!(place, Place::Centre), core, commands));
    stack(panels, ui, |place| matches!(place, Place::Over), core, commands);
}

/// Shows a page with its title and a button to close it.
fn show_page(
    panels: &mut [(Place, Box<dyn Panel>)],
    features: &mut [Box<dyn Feature>],
    ui: &mut Ui,
    page: Action,
    core: &Core,
    commands: &mut Vec<Command>,
) {
    if !core.shows_guide() {
        let below = egui::Panel::bottom("below a page").resizable(false);
        below.show(ui, |ui| stack(panels, ui, |place| matches!(place, Place::BelowPage), core, commands));
    }
    let is_page = |place: &Place| matches!(place, Place::Page(action) if *action == page);
    ui.horizontal(|ui| {
        ui.heading(page.label().trim_end_matches(" …"));
        ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
            let close = ui.small_button("×");
            close.widget_info(|| WidgetInfo::labeled(Role::Button, true, "Close the page"));
            if close.on_hover_text("Close the page (Esc)").clicked() {
                commands.push(page.into());
            }
        });
    });
    ui.separator();
    ScrollArea::vertical().auto_shrink(false).show(ui, |ui| {
        if let Some(feature) = features.iter_mut().find(|feature| feature.pages().contains(&page)) {
            feature.page(page, ui, core, commands);
        } else if let Some((_, panel)) = panels.iter_mut().find(|(place, _)| is_page(place)) {
            panel.show(ui, core, commands);
        }
    });
}

/// Lays out the open panels of one position one below the other.
fn stack(
    panels: &mut [(Place, Box<dyn Panel>)],
    ui: &mut Ui,
    is_here: fn(&Place) -> bool,
    core: &Core,
    commands: &mut Vec<Command>,
) {
    for (_, panel) in panels.iter_mut().filter(|(place, panel)| is_here(place) && panel.is_open(core)) {
        panel.show(ui, core, commands);
    }
}
