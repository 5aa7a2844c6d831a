//! Page of saved images: figure, size, format and folder.

use super::commands::PictureStep;
use super::figure;
use crate::core::{
    Action, Command, Core,
    picture::{PictureFormat, SCALES},
};
use crate::panels::action_button;
use crate::style::Ground;
use crate::widgets;
use egui::{Button, ComboBox, DragValue, Label, Role, Ui};

const HELP: &str = "An image of a view as it is seen now, or of a figure, with title, units and colour bar. \
                    Source and settings stand in its metadata.";

pub(crate) fn show(ui: &mut Ui, core: &Core, commands: &mut Vec<Command>) {
    widgets::note(ui, HELP);
    let chosen = core.picture.chosen.filter(|figure| core.has_figure(*figure));
    let Some(figure) = chosen.or_else(|| core.current_figure()) else {
        widgets::note(ui, "No result yet.");
        return;
    };
    let mut choices = core.picture.choices.clone();
    widgets::row(
        ui,
        "image of",
        "Views, and the figures of pages that were open: explain, sweep, suggest, distance.",
        |ui| {
            let combo = ComboBox::from_id_salt("image of").selected_text(figure.title()).width(160.0);
            let response = combo.show_ui(ui, |ui| {
                for offered in core.figures() {
                    if ui.selectable_label(offered == figure, offered.title()).clicked() {
                        commands.push(PictureStep::Choose(offered).into());
                    }
                }
            });
            widgets::name_text(&response.response, Role::ComboBox, "Image of", figure.title());
        },
    );
    widgets::row(ui, "scale", "Pixels of the file for each pixel of a view, or for each point of a figure.", |ui| {
        let field = DragValue::new(&mut choices.scale).range(SCALES).speed(0.05).prefix("× ");
        let response = ui.add(field.update_while_editing(false));
        widgets::name(&response, Role::SpinButton, "Scale of the image", f64::from(choices.scale));
        if let Some([width, height]) = figure::size_px(core, figure, choices.scale) {
            ui.label(format!("{width} × {height} px"));
        }
    });
    widgets::row(ui, "background", "Light for print, dark for slides.", |ui| {
        for &ground in Ground::ALL {
            ui.radio_value(&mut choices.ground, ground, ground.word()).on_hover_text(ground.help());
        }
    });
    widgets::row(ui, "format", "Views are pixels: PNG. Figures can be SVG too.", |ui| {
        for &format in PictureFormat::ALL {
            let is_offered = format == PictureFormat::Png || figure.is_drawing();
            let shown = if figure.is_drawing() { choices.format } else { PictureFormat::Png };
            let radio = egui::RadioButton::new(shown == format, format.word());
            let response = ui.add_enabled(is_offered, radio).on_hover_text(format.help());
            if response.on_disabled_hover_text("A view is pixels.").clicked() {
                choices.format = format;
            }
        }
    });
    let folder = core.picture_folder();
    ui.add(Label::new(format!("folder: {}", folder.display())).wrap());
    ui.horizontal(|ui| {
        if ui.button("Choose folder …").clicked() {
            commands.push(PictureStep::ChooseFolder.into());
        }
        if ui.button("Show folder").on_hover_text("Opens the folder in the system's window of files.").clicked() {
            commands.push(Command::ShowInFolder(folder.join("picture")));
        }
    });
    ui.add_space(6.0);
    ui.horizontal(|ui| {
        action_button(ui, Action::SavePicture, Button::new("Save image"), false, commands);
        action_button(ui, Action::CopyPicture, Button::new("Copy image"), false, commands);
    });
    if choices != core.picture.choices {
        commands.push(PictureStep::SetChoices(choices).into());
    }
}
