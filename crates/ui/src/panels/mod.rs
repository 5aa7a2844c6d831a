//! Panels, one file each, which read the state and return commands; they may hold view state.

mod depth;
mod find;
mod health;
mod messages;
mod parameters;
pub(crate) mod pictures;
pub(crate) mod pixel;
pub(crate) mod source;
mod status;
pub(crate) mod steps;
mod timeline;
mod toolbar;
mod tools;

use crate::core::Core;
use crate::core::action::Action;
use crate::core::command::Command;
use crate::features::{
    cameras, comparison, conversion, dialog, doctor, explain, guide, help, history, measure, picture, presets, reach,
    recording, rig, search,
};
use crate::{style, widgets};
use eframe::egui_wgpu::RenderState;
use egui::{Button, Response, Ui};

pub(crate) trait Panel {
    fn is_open(&self, _core: &Core) -> bool {
        true
    }

    /// Draws the panel and adds the user's commands to `commands`.
    fn show(&mut self, ui: &mut Ui, core: &Core, commands: &mut Vec<Command>);
}

/// Panel as a function, without view state and always shown.
impl<F: FnMut(&mut Ui, &Core, &mut Vec<Command>)> Panel for F {
    fn show(&mut self, ui: &mut Ui, core: &Core, commands: &mut Vec<Command>) {
        self(ui, core, commands);
    }
}

/// Position of a panel.
pub(crate) enum Place {
    /// At the upper edge, below earlier panels of the list.
    Top,
    /// At the lower edge, above earlier panels of the list.
    Bottom,
    Left,
    /// Below an open page.
    BelowPage,
    Right,
    /// Page in the right dock beside the images, opened and closed by this action, one at a time.
    Page(Action),
    Centre,
    /// Above all others, which take no input meanwhile.
    Over,
}

/// Returns every panel with its position, in the order of their layout.
pub(crate) fn all(render_state: &RenderState) -> Vec<(Place, Box<dyn Panel>)> {
    vec![
        (Place::Top, Box::new(toolbar::show)),
        (Place::Top, Box::new(tools::ToolStrip)),
        (Place::Bottom, Box::new(status::show)),
        (Place::Bottom, Box::new(messages::show)),
        (Place::Bottom, Box::new(timeline::Timeline::default())),
        (Place::Bottom, Box::new(comparison::panel::ComparisonStrip)),
        (Place::Left, Box::new(parameters::show)),
        (Place::Right, Box::new(pixel::show)),
        (Place::BelowPage, Box::new(pixel::brief)),
        (Place::Right, Box::new(depth::show)),
        (Place::Right, Box::new(health::show)),
        (Place::Page(Action::Cameras), Box::new(cameras::panel::CamerasPage::default())),
        (Place::Page(Action::Rig), Box::new(rig::panel::RigPage::default())),
        (Place::Page(Action::Calibrate), Box::new(guide::panel::show)),
        (Place::Page(Action::Reach), Box::new(reach::show)),
        (Place::Page(Action::Measure), Box::new(measure::panel::show)),
        (Place::Page(Action::Sweep), Box::new(search::sweep::SweepPage::default())),
        (Place::Page(Action::Suggest), Box::new(search::suggest::show)),
        (Place::Page(Action::Explain), Box::new(explain::panel::ExplainPage::default())),
        (Place::Page(Action::Convert), Box::new(conversion::panel::show)),
        (Place::Page(Action::Pictures), Box::new(picture::panel::show)),
        (Place::Page(Action::History), Box::new(history::panel::show)),
        (Place::Page(Action::Doctor), Box::new(doctor::panel::show)),
        (Place::Page(Action::Help), Box::new(help::show)),
        (Place::Centre, Box::new(guide::pictures::GuidePictures::default())),
        (Place::Centre, Box::new(pictures::Pictures::new(render_state))),
        (Place::Over, Box::new(find::Finder::default())),
        (Place::Over, Box::new(recording::question::QuestionPanel)),
        (Place::Over, Box::new(dialog::panel::PathField::default())),
    ]
}

pub(crate) fn action_button(
    ui: &mut Ui,
    action: Action,
    button: Button<'_>,
    selected: bool,
    commands: &mut Vec<Command>,
) -> Response {
    let response = ui.add(button.selected(selected));
    let enabled = response.enabled();
    response.widget_info(|| egui::WidgetInfo::selected(egui::Role::Button, enabled, selected, action.label()));
    if response.clicked() {
        commands.push(action.into());
    }
    response.on_hover_text(tooltip(ui, action))
}

pub(crate) fn menu_entry(ui: &mut Ui, action: Action, commands: &mut Vec<Command>) {
    let button = Button::new(action.label()).shortcut_text(ui.ctx().format_shortcut(&action.shortcut()));
    if ui.add(button).on_hover_text(tooltip(ui, action)).clicked() {
        commands.push(action.into());
        ui.close();
    }
}

pub(crate) fn tooltip(ui: &Ui, action: Action) -> String {
    format!("{}\n{}", action.help(), ui.ctx().format_shortcut(&action.shortcut()))
}
