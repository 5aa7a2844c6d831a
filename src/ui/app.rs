//! The window's content: panels at the edges, pictures in the middle. Lives as long as one window and one device.

use super::command::Command;
use super::panels::{self, parameters, pixel};
use super::render::Screens;
use super::session::Session;
use super::style;
use super::view::{Tile, ViewKind, arrange};
use crate::capture::SourceSpec;
use crate::parameter::Group;
use egui::{CentralPanel, Panel, ScrollArea, Ui};
use std::cell::RefCell;
use std::rc::Rc;
use std::time::Duration;

const HEARTBEAT: Duration = Duration::from_millis(500);

/// One window over a session that outlives it.
pub struct App {
    session: Rc<RefCell<Session>>,
    screens: Screens,
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
        Ok(Self { screens: Screens::new(state), session })
    }

    /// The session that this window shows.
    pub fn session(&self) -> Rc<RefCell<Session>> {
        Rc::clone(&self.session)
    }
}

impl eframe::App for App {
    fn ui(&mut self, ui: &mut Ui, frame: &mut eframe::Frame) {
        if let Some(seconds) = frame.info().cpu_usage {
            log::debug!("the last frame took {:.1} ms", 1e3 * seconds);
        }
        let session = &mut *self.session.borrow_mut();
        session.update();
        // results wake the window; that none come any more has to be seen too
        ui.ctx().request_repaint_after(HEARTBEAT);
        let dropped = ui.ctx().input_mut(|i| std::mem::take(&mut i.raw.dropped_files));
        session.open_paths(&dropped.iter().map(|file| file.path().to_owned()).collect::<Vec<_>>());
        for command in Command::pressed(ui.ctx()) {
            session.run(command, ui.ctx());
        }
        let mut command = Panel::top("toolbar").show(ui, |ui| panels::toolbar::show(ui, session)).inner;
        if session.source == SourceSpec::Scene {
            command = Panel::top("strip").show(ui, |ui| panels::source::strip(ui, session)).inner.or(command);
        }
        Panel::bottom("status").show(ui, |ui| panels::status::show(ui, session));
        if session.notices.forget(std::time::Instant::now()) {
            ui.ctx().request_repaint_after(super::notices::NEWS);
        }
        if !session.notices.all().is_empty() {
            let shown = Panel::bottom("notices").show(ui, |ui| panels::notices::show(ui, &mut session.notices));
            session.open_paths(shown.inner.as_slice());
        }
        if let Some(transport) = session.live.transport() {
            let line = Panel::bottom("time line").show(ui, |ui| panels::timeline::show(ui, session, &transport));
            command = line.inner.or(command);
        }
        // above all else: what comes and goes must not move what is about to be clicked
        if session.slowness.is_slow() && !session.status.paused {
            Panel::bottom("slow").show(ui, |ui| panels::slow::show(ui, session));
        }
        if session.look.controls {
            let left = Panel::left("parameters").resizable(false).exact_size(300.0);
            left.show(ui, |ui| ScrollArea::vertical().show(ui, |ui| parameter_panel(ui, session)));
            let right = Panel::right("readout").resizable(false).exact_size(232.0);
            let chosen = right.show(ui, |ui| {
                pixel::show(ui, session);
                let command = panels::depth::show(ui, session);
                panels::health::show(ui, session);
                command
            });
            command = command.or(chosen.inner);
        }
        panels::cameras::show(ui, session);
        if session.rig.open {
            panels::rig::show(ui, session);
        }
        if session.look.reach.open {
            session.look.reach.open = panels::reach::show(ui, session);
        }
        if session.help {
            session.help = panels::help::show(ui);
        }
        CentralPanel::default().show(ui, |ui| views(ui, session, &mut self.screens));
        if let Some(command) = command {
            session.run(command, ui.ctx());
        }
    }

    fn on_exit(&mut self) {
        self.session.borrow().waker.set(None);
    }
}

/// Matching and filters, basic ones first.
fn parameter_panel(ui: &mut Ui, session: &mut Session) {
    let mut params = session.params.clone();
    let output = session.output.clone();
    let geometry = output.as_ref().and_then(|output| output.job.frame.geometry.as_ref());
    let context = parameters::Context { preset: session.preset, geometry, unfolded: session.look.unfolded };
    let mut changed = false;
    for (title, group) in [("Matching", Group::Matching), ("Filters", Group::Filters)] {
        super::widgets::heading(ui, title);
        changed |= parameters::show(ui, group, &mut params, &context);
    }
    ui.add_space(4.0);
    let more = if session.look.unfolded { "fewer ▴" } else { "more ▾" };
    if ui.small_button(more).on_hover_text("Show all parameters, or only those that matter most").clicked() {
        session.look.unfolded = !session.look.unfolded;
    }
    if changed {
        session.set_params(params);
    }
}

/// The pictures.
fn views(ui: &mut Ui, session: &mut Session, screens: &mut Screens) {
    let Some(output) = session.output.clone() else {
        ui.centered_and_justified(|ui| ui.label(session.waiting_for()));
        return;
    };
    let frame = &output.job.frame;
    let recorded = session.recorded_map(frame);
    let recorded = recorded.as_deref();
    let look = session.look.maps(&output.job.params, frame.geometry.as_ref(), recorded);
    screens.update(&output, recorded, &look, &session.look.views);
    let size = frame.size();
    let places = arrange(&session.look.views, ui.available_rect_before_wrap(), size.0 as f32 / size.1 as f32);
    let crosshair = session.pixel().filter(|&(x, y)| x < size.0 && y < size.1).map(|at| pixel::crosshair(&output, at));
    let mut hovered = None;
    for (&kind, place) in session.look.views.iter().zip(places) {
        let display = match kind {
            ViewKind::Disparity => Some(&look.disparity),
            ViewKind::Depth => look.depth.as_ref(),
            ViewKind::Confidence => look.confidence.as_ref(),
            ViewKind::Recorded => look.recorded.as_ref(),
            ViewKind::Left | ViewKind::Right => None,
        };
        let estimated = kind == ViewKind::Depth && frame.geometry.is_some_and(|geometry| geometry.estimated);
        let remark = match recorded.filter(|_| kind == ViewKind::Recorded) {
            Some(map) if map.is_depth() => " depth",
            Some(_) => " disparity",
            None if estimated => " · estimated",
            None => "",
        };
        let content = match kind {
            ViewKind::Depth if display.is_none() => Err(NO_DEPTH),
            ViewKind::Confidence if !session.params.confidence => Err(NO_CONFIDENCE),
            ViewKind::Confidence if display.is_none() => Err(NO_RESULT),
            ViewKind::Recorded if display.is_none() => Err(NOT_RECORDED),
            _ => screens.texture(kind).ok_or(NO_RESULT),
        };
        let tile =
            Tile { kind, place, content, display: display.map(|d| (d, &look.colours[..])), size, crosshair, remark };
        let pointed = tile.show(ui, &mut session.zoom);
        hovered = hovered.or(pointed.at.map(|at| (kind, at)));
        if let Some(at) = pointed.clicked {
            session.pinned = if session.pinned.is_some() { None } else { Some(at) };
        }
    }
    // in the right picture the pointer reads that picture, not the left one's pixel of the same place
    let hovered = hovered.filter(|(kind, _)| *kind != ViewKind::Right).map(|(_, at)| at);
    if std::mem::replace(&mut session.hovered, hovered) != hovered {
        ui.ctx().request_repaint(); // the read-out was drawn before
    }
}

const NO_RESULT: &str = "no result yet";
const NO_CONFIDENCE: &str = "No confidence: it is switched off. Filters, more ▾, Confidence switches it on.";
const NOT_RECORDED: &str =
    "No recorded depth: this pair has none with it. Recordings have it where depth or disparity was recorded.";
const NO_DEPTH: &str = "No depth: no calibration. Source ▾, Rig … loads one or estimates it from the pictures.";
