//! Menu that saves the points: content and size of the file.

use super::commands::size_text;
use super::{Scene, SpaceSettings, Surface};
use crate::core::{Command, Core};
use crate::space::PointsWish;
use crate::widgets;
use egui::containers::menu::{MenuButton, MenuConfig};
use egui::{PopupCloseBehavior, Role, Ui, WidgetInfo};
use stereopsis_images::{Axes, CloudShape};

const WIDTH: f32 = 210.0;

/// Menu with the user's last choice.
pub(super) struct SaveMenu {
    /// Whether the file has triangles; `None` follows the view.
    has_faces: Option<bool>,
    has_colours: bool,
    has_normals: bool,
    axes: Axes,
    offered: Option<PointsWish>,
}

impl Default for SaveMenu {
    fn default() -> Self {
        Self { has_faces: None, has_colours: true, has_normals: false, axes: Axes::default(), offered: None }
    }
}

impl SaveMenu {
    fn wish(&self, scene: &Scene, settings: &SpaceSettings) -> PointsWish {
        let has_faces = self.has_faces.unwrap_or(scene.surface(settings) == Surface::Mesh);
        let shape =
            CloudShape { every: scene.every(settings), has_faces, has_normals: self.has_normals, axes: self.axes };
        PointsWish { shape, has_colours: self.has_colours }
    }

    /// Shows the button with this text and its menu.
    pub(super) fn show(
        &mut self,
        ui: &mut Ui,
        core: &Core,
        (scene, text): (&Scene, &str),
        commands: &mut Vec<Command>,
    ) {
        // stays open for several choices
        let config = MenuConfig::new().close_behavior(PopupCloseBehavior::CloseOnClickOutside);
        let menu = |ui: &mut Ui| self.menu(ui, core, scene, commands);
        let (button, shown) = MenuButton::new(text).config(config).ui(ui, menu);
        button.widget_info(|| WidgetInfo::labeled(Role::Button, true, "Save points …"));
        let help = "Write what is shown into a PLY file, in metres from the left camera";
        button.on_hover_text(help);
        let offered = shown.map(|shown| shown.inner);
        if offered != self.offered {
            self.offered = offered;
            commands.push(Command::OfferPoints(offered));
        }
    }

    fn menu(&mut self, ui: &mut Ui, core: &Core, scene: &Scene, commands: &mut Vec<Command>) -> PointsWish {
        ui.set_width(WIDTH);
        let mut has_faces = self.wish(scene, &core.view.space).shape.has_faces;
        for (is_mesh, name, help) in [
            (true, "mesh", "Points with triangles between neighbours, cut at the edges of depth."),
            (false, "points only", "No triangles."),
        ] {
            if widgets::radio(ui, &mut has_faces, is_mesh, name).on_hover_text(help).clicked() {
                self.has_faces = Some(has_faces);
            }
        }
        widgets::checkbox(ui, &mut self.has_colours, "colours")
            .on_hover_text("Each point has the colour that is shown.");
        let help = "Each point has the normal of the surface through its neighbours, towards the camera: for programs that light or \
                    reconstruct surfaces.";
        widgets::checkbox(ui, &mut self.has_normals, "normals").on_hover_text(help);
        ui.horizontal(|ui| {
            ui.label("axes");
            for &axes in Axes::ALL {
                widgets::radio(ui, &mut self.axes, axes, axes.word()).on_hover_text(axes.help());
            }
        });
        let wish = self.wish(scene, &core.view.space);
        let size = core.points_size.filter(|(counted, _)| *counted == wish);
        widgets::note(ui, size.map_or("counting …".to_owned(), |(_, size)| size_text(size)));
        if ui.button("Choose a file …").clicked() {
            commands.push(Command::SavePoints(wish));
            ui.close();
        }
        wish
    }
}
