//! Rigs on the network, as sources; shown below the cameras of this machine.

use crate::core::{Command, Core};
use crate::panels::thumbnail::thumbnail;
use crate::widgets;
use egui::{Image, Rect, RichText, Role, Sense, TextEdit, TextureHandle, TextureOptions, Ui, WidgetInfo, vec2};
use std::collections::BTreeMap;
use std::sync::Arc;
use stereopsis_base::console::foreign;
use stereopsis_frame::{Side, SourceSpec};
use stereopsis_network::access::DEFAULT_PORT;
use stereopsis_network::census::{Census, CensusWatch};

/// Width of an image, points.
const WIDTH: f32 = 120.0;

/// List of the rigs of a router, with the images of their heads.
pub(crate) struct RigChooser {
    router: String,
    /// Textures by name of the head, with the address of the shown image.
    thumbnails: BTreeMap<String, (TextureHandle, usize)>,
}

impl Default for RigChooser {
    fn default() -> Self {
        Self { router: format!("127.0.0.1:{DEFAULT_PORT}"), thumbnails: BTreeMap::new() }
    }
}

impl RigChooser {
    pub(crate) fn show(&mut self, ui: &mut Ui, core: &Core, commands: &mut Vec<Command>) {
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
        let Some(watch) = &core.source.rigs else { return };
        match watch.newest() {
            None => drop(ui.label("looking for rigs \u{2026}")),
            Some(Err(why)) => {
                drop(ui.label(RichText::new(foreign(&why.to_string())).color(ui.visuals().warn_fg_color)));
            }
            Some(Ok(census)) => self.rigs(ui, &census, watch, commands),
        }
    }

    /// Shows the rigs with their images and a button each, the heads with one camera, and all members as a table.
    fn rigs(&mut self, ui: &mut Ui, census: &Census, watch: &CensusWatch, commands: &mut Vec<Command>) {
        let router = || Some(watch.router().to_owned());
        if census.engines.is_empty() {
            ui.label("The router has no rig: start a head, as docs/network.md says.");
        }
        for (rig, engine) in &census.engines {
            ui.horizontal(|ui| {
                self.picture(ui, watch, rig);
                ui.vertical(|ui| {
                    let help = "Opens its pairs as the source. With the engine \u{201c}network\u{201d} the results of its own engine are shown.";
                    if ui.button(format!("Open {rig}")).on_hover_text(help).clicked() {
                        commands.push(Command::Open(SourceSpec::Rig { name: rig.clone(), router: router() }));
                    }
                    for line in lines(census, rig, engine.as_deref()) {
                        ui.label(RichText::new(line).small());
                    }
                });
            });
        }
        for left in census.cameras(Side::Left) {
            for right in census.cameras(Side::Right) {
                ui.horizontal(|ui| {
                    self.picture(ui, watch, left);
                    self.picture(ui, watch, right);
                });
                let help = "Pairs the images of these two heads, which have one camera each, by their times.";
                if ui.button(format!("Open {left} and {right}")).on_hover_text(help).clicked() {
                    let (left, right) = (left.to_owned(), right.to_owned());
                    commands.push(Command::Open(SourceSpec::RigPair { left, right, router: router() }));
                }
            }
        }
        ui.collapsing("All members", |ui| {
            egui::ScrollArea::horizontal().show(ui, |ui| {
                ui.add(egui::Label::new(RichText::new(census.table()).monospace().small()).extend());
            });
        });
    }

    /// Shows the newest image of a head, or an empty rectangle of equal size.
    fn picture(&mut self, ui: &mut Ui, watch: &CensusWatch, head: &str) {
        if let Some(picture) = watch.picture(head) {
            let address = Arc::as_ptr(&picture) as usize;
            if self.thumbnails.get(head).is_none_or(|(_, shown)| *shown != address) {
                let texture = ui.ctx().load_texture(head, thumbnail(&picture), TextureOptions::LINEAR);
                self.thumbnails.insert(head.to_owned(), (texture, address));
            }
        }
        let (rect, response) = ui.allocate_exact_size(vec2(WIDTH, 0.75 * WIDTH), Sense::hover());
        ui.painter().rect_filled(rect, 2.0, ui.visuals().extreme_bg_color);
        if let Some((texture, _)) = self.thumbnails.get(head) {
            let size = texture.size_vec2();
            let fitted = Rect::from_center_size(rect.center(), size * (rect.size() / size).min_elem());
            Image::new(texture).paint_at(ui, fitted);
        }
        response.widget_info(|| WidgetInfo::labeled(Role::Image, true, format!("image of {head}")));
    }
}

fn lines(census: &Census, rig: &str, engine: Option<&str>) -> Vec<String> {
    let Some(head) = census.head(rig) else { return vec!["does not answer".to_owned()] };
    let mut lines = vec![format!("{}x{}, {:.1}/s", head.width, head.height, head.rate_hz)];
    lines.push(match (engine, census.at_engine(rig)) {
        (None, _) => "no engine".to_owned(),
        (Some(engine), None) => format!("engine {engine}"),
        (Some(engine), Some(at)) => {
            let latency = at.latency_ms.map(|ms| format!(", {ms:.0} ms{}", at.latency_since)).unwrap_or_default();
            format!("engine {engine}: {:.1}/s{latency}", at.rate_hz)
        }
    });
    lines.push(format!("dropped: {}", census.drops(rig)));
    lines.extend(census.clocks.get(rig).map(ToString::to_string));
    lines
}
