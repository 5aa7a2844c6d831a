//! Rigs on the network: below the cameras of this machine, as the sources that they are.

use super::{Command, State, widgets};
use crate::capture::SourceSpec;
use crate::console::foreign;
use crate::network::access::DEFAULT_PORT;
use crate::network::census::Census;
use egui::{RichText, TextEdit, Ui};

/// The router that is looked at.
pub(super) struct RigChooser {
    router: String,
}

impl Default for RigChooser {
    fn default() -> Self {
        Self { router: format!("127.0.0.1:{DEFAULT_PORT}") }
    }
}

impl RigChooser {
    pub(super) fn show(&mut self, ui: &mut Ui, state: &State, commands: &mut Vec<Command>) {
        widgets::heading(ui, "Rigs on the network");
        ui.horizontal(|ui| {
            let label = ui.label("Router");
            let edit = TextEdit::singleline(&mut self.router).desired_width(150.0).hint_text("192.168.1.5:7447");
            let edited = ui.add(edit).labelled_by(label.id);
            let entered = edited.lost_focus() && ui.input(|input| input.key_pressed(egui::Key::Enter));
            let help = "Connects to the router or head at this address, and lists its rigs.";
            if ui.button("Look for rigs").on_hover_text(help).clicked() || entered {
                commands.push(Command::WatchRigs(self.router.trim().to_owned()));
            }
        });
        let Some(watch) = &state.source.rigs else { return };
        match watch.newest() {
            None => drop(ui.label("looking for rigs \u{2026}")),
            Some(Err(why)) => drop(ui.label(RichText::new(foreign(&why)).color(ui.visuals().warn_fg_color))),
            Some(Ok(census)) => rigs(ui, &census, watch.router(), commands),
        }
    }
}

/// The rigs, each with a button, and all members as a table.
fn rigs(ui: &mut Ui, census: &Census, router: &str, commands: &mut Vec<Command>) {
    if census.engines.is_empty() {
        ui.label("The router has no rig: start a head, as docs/network.md says.");
    }
    for (rig, engine) in &census.engines {
        ui.horizontal(|ui| {
            let help = "Opens its pairs as the source. With the engine \u{201c}network\u{201d} the results of its own engine are shown.";
            if ui.button(format!("Open {rig}")).on_hover_text(help).clicked() {
                let source = SourceSpec::Rig { name: rig.clone(), router: Some(router.to_owned()) };
                commands.push(Command::Open(source));
            }
            let engine = engine.as_ref().map_or_else(|| "no engine".to_owned(), |engine| format!("engine {engine}"));
            let seen = census.head(rig).map_or_else(
                || "does not answer".to_owned(),
                |head| format!("{}x{}, {:.1}/s, {engine}", head.width, head.height, head.rate_hz),
            );
            ui.label(seen);
        });
    }
    ui.collapsing("All members", |ui| {
        egui::ScrollArea::horizontal().show(ui, |ui| {
            ui.add(egui::Label::new(RichText::new(census.table()).monospace().small()).extend());
        });
    });
}
