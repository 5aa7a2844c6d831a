//! Panels, one file each, which read the state and return commands; they may hold view state.

pub(crate) mod chooser;
pub(crate) mod depth;
mod estimate;
pub(crate) mod find;
pub(crate) mod health;
pub(crate) mod messages;
pub(crate) mod parameters;
pub(crate) mod path_field;
pub(crate) mod pictures;
pub(crate) mod pixel;
pub(crate) mod source;
pub(crate) mod status;
pub(crate) mod steps;
pub(crate) mod thumbnail;
pub(crate) mod timeline;
pub(crate) mod tools;

use crate::core::{Action, Command, Core};
use crate::{style, widgets};
use egui::{Button, Response, Ui};
pub(crate) use estimate::{estimate, without_files};

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
