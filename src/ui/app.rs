//! The window's content: lays the panels out, and executes the commands that they give. Lives as long as one window and one
//! device.

use super::action::Action;
use super::command::Command;
use super::panels::{self, Panel, Place};
use super::session::Session;
use super::state::State;
use super::style;
use egui::{CentralPanel, ScrollArea, Ui};
use std::cell::RefCell;
use std::rc::Rc;
use std::time::Duration;

/// Repaint interval without results or input: a source that stands still has to be noticed.
const HEARTBEAT: Duration = Duration::from_millis(500);

/// One window over a session that outlives it.
pub struct App {
    session: Rc<RefCell<Session>>,
    panels: Vec<(Place, Box<dyn Panel>)>,
}

impl App {
    /// Opens the session in this window.
    ///
    /// # Errors
    /// The window does not draw through wgpu.
    pub fn new(cc: &eframe::CreationContext<'_>, session: Rc<RefCell<Session>>) -> Result<Self, String> {
        let state = cc.wgpu_render_state.as_ref().ok_or("the window has no wgpu device")?;
        style::apply(&cc.egui_ctx);
        session.borrow().waker.set(Some(cc.egui_ctx.clone()));
        Ok(Self { panels: panels::all(state), session })
    }
}

impl eframe::App for App {
    fn ui(&mut self, ui: &mut Ui, frame: &mut eframe::Frame) {
        if let Some(seconds) = frame.info().cpu_usage {
            log::debug!("the last frame took {:.1} ms", 1e3 * seconds);
        }
        ui.ctx().request_repaint_after(HEARTBEAT);
        let session = &mut *self.session.borrow_mut();
        session.update();
        let dropped = ui.ctx().input_mut(|i| std::mem::take(&mut i.raw.dropped_files));
        let dropped = dropped.iter().map(|file| file.path().to_owned()).collect();
        session.execute(Command::OpenFiles(dropped), ui.ctx());
        for action in Action::pressed(ui.ctx()) {
            session.execute(action.into(), ui.ctx());
        }
        let mut commands = Vec::new();
        show(&mut self.panels, ui, &session.state, &mut commands);
        for command in commands {
            session.execute(command, ui.ctx());
        }
    }

    fn on_exit(&mut self) {
        self.session.borrow().waker.set(None);
    }
}

/// Lays out the open panels: edges first, windows over them, and the rest for the centre.
fn show(panels: &mut [(Place, Box<dyn Panel>)], ui: &mut Ui, state: &State, commands: &mut Vec<Command>) {
    for (id, (place, panel)) in panels.iter_mut().enumerate().filter(|(_, (_, panel))| panel.is_open(state)) {
        let edge = match place {
            Place::Top => egui::Panel::top(egui::Id::unique(("edge panel", id))),
            Place::Bottom => egui::Panel::bottom(egui::Id::unique(("edge panel", id))),
            _ => continue,
        };
        edge.show(ui, |ui| panel.show(ui, state, commands));
    }
    if state.view.controls {
        let left = egui::Panel::left("left column").resizable(false).exact_size(300.0);
        let content = |ui: &mut Ui| stack(panels, ui, |place| matches!(place, Place::Left), state, commands);
        left.show(ui, |ui| ScrollArea::vertical().show(ui, content));
        let right = egui::Panel::right("right column").resizable(false).exact_size(232.0);
        right.show(ui, |ui| stack(panels, ui, |place| matches!(place, Place::Right), state, commands));
    }
    for (place, panel) in panels.iter_mut() {
        let Place::Window(action, window) = place else { continue };
        if state.is_open(*action) {
            let mut stays = true;
            window().collapsible(false).open(&mut stays).show(ui, |ui| panel.show(ui, state, commands));
            if !stays {
                commands.push((*action).into());
            }
        }
    }
    CentralPanel::default().show(ui, |ui| stack(panels, ui, |place| matches!(place, Place::Centre), state, commands));
}

/// Lays out the open panels of one position below each other.
fn stack(
    panels: &mut [(Place, Box<dyn Panel>)],
    ui: &mut Ui,
    is_here: fn(&Place) -> bool,
    state: &State,
    commands: &mut Vec<Command>,
) {
    for (_, panel) in panels.iter_mut().filter(|(place, panel)| is_here(place) && panel.is_open(state)) {
        panel.show(ui, state, commands);
    }
}
