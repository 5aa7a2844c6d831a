//! Toolbar at the top: pause, source, preset, engine, recording, snapshot, tools, views.

use crate::core::{Action, Command, Core, Theme, ViewLayout};
use crate::features::{presets, recording};
use crate::panels::{action_button, menu_entry, source, tools, tooltip};
use crate::view::ViewKind;
use crate::widgets;
use egui::{Align, Button, Label, Layout, RichText, Role, Ui, WidgetInfo};
use stereopsis_frame::engine::EngineChoice;

/// Largest share of the window's width for the source's name, which may be a file name.
const SOURCE_SHARE: f32 = 0.17;
/// Smallest width of windows with one row, points.
const ONE_ROW_WIDTH: f32 = 1250.0;
const ENGINE_WIDTH: f32 = 64.0;

pub(super) fn show(ui: &mut Ui, core: &Core, commands: &mut Vec<Command>) {
    if ui.ctx().content_rect().width() < ONE_ROW_WIDTH {
        ui.horizontal(|ui| input(ui, core, commands));
        ui.horizontal(|ui| output(ui, core, commands));
    } else {
        ui.horizontal(|ui| {
            input(ui, core, commands);
            ui.separator();
            output(ui, core, commands);
        });
    }
}

fn input(ui: &mut Ui, core: &Core, commands: &mut Vec<Command>) {
    // a recording has these buttons on its time line, and a still pair cannot be held
    if core.pipeline.playback.is_none() && !core.status().source.is_still {
        let (text, held) = if core.status().paused { ("▶ Go on", true) } else { ("‖ Pause", false) };
        action_button(ui, Action::Pause, Button::new(text), held, commands);
        action_button(ui, Action::Step, Button::new("▸| Step"), false, commands);
        ui.separator();
    }
    ui.scope(|ui| {
        ui.set_max_width(SOURCE_SHARE * ui.ctx().content_rect().width());
        let summary = source::summary(core);
        ui.add(Label::new(&summary).truncate()).on_hover_text(summary);
    });
    source::menu(ui, core, commands);
    ui.separator();
    presets::panel::show(ui, core, commands);
}

/// Shows the engine at the left, files and views at the right.
fn output(ui: &mut Ui, core: &Core, commands: &mut Vec<Command>) {
    engine(ui, core, commands);
    ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
        action_button(ui, Action::Help, Button::new("?"), core.is_open(Action::Help), commands);
        let menu = ui.menu_button("≡", |ui| menu(ui, core, commands)).response;
        menu.widget_info(|| WidgetInfo::labeled(Role::Button, true, "Menu"));
        ui.menu_button("Views ▾", |ui| views(ui, core, commands));
        tools::menu(ui, commands);
        action_button(ui, Action::Snapshot, Button::new("Snapshot"), false, commands);
        recording::panel::show(ui, core, commands);
    });
}

fn views(ui: &mut Ui, core: &Core, commands: &mut Vec<Command>) {
    let arrangement = core.view.arrangement();
    for &view in ViewKind::ALL {
        switch(ui, Action::View(view), arrangement.views.contains(&view), commands);
    }
    ui.separator();
    switch(ui, Action::Grid, core.view.layout == ViewLayout::Grid, commands);
    switch(ui, Action::Controls, arrangement.controls, commands);
    switch(ui, Action::Readings, arrangement.readings, commands);
    menu_entry(ui, Action::Panels, commands);
    ui.separator();
    for action in [Action::WholePicture, Action::FullScreen] {
        menu_entry(ui, action, commands);
    }
}

/// Shows a menu entry with a check mark and its key.
fn switch(ui: &mut Ui, action: Action, is_on: bool, commands: &mut Vec<Command>) {
    ui.horizontal(|ui| {
        let mut on = is_on;
        if widgets::checkbox(ui, &mut on, action.label()).on_hover_text(tooltip(ui, action)).clicked() {
            commands.push(action.into());
        }
        let key = RichText::new(ui.ctx().format_shortcut(&action.shortcut())).small().weak();
        ui.with_layout(Layout::right_to_left(Align::Center), |ui| ui.label(key));
    });
}

fn menu(ui: &mut Ui, core: &Core, commands: &mut Vec<Command>) {
    let mut view = core.view.clone();
    ui.horizontal(|ui| {
        for &theme in Theme::ALL {
            ui.selectable_value(&mut view.theme, theme, theme.word()).on_hover_text(theme.help());
        }
    });
    if view != core.view {
        commands.push(Command::SetView(view));
    }
    ui.separator();
    for action in [Action::Open, Action::CopyCommand, Action::Doctor, Action::Help, Action::Quit] {
        menu_entry(ui, action, commands);
    }
}

fn engine(ui: &mut Ui, core: &Core, commands: &mut Vec<Command>) {
    ui.label(RichText::new("Engine").weak());
    let options: Vec<_> = EngineChoice::ALL.iter().map(|&e| (e, e.word(), e.help())).collect();
    let mut engine = core.matching.engine.settings.choice;
    // a click on the present engine reopens it, which restores a lost GPU
    let chosen = ui.scope(|ui| {
        ui.set_max_width(ENGINE_WIDTH);
        widgets::choice_again(ui, "Engine", "Engine that computes the disparities.", &options, &mut engine)
    });
    if chosen.inner {
        commands.push(Command::SetEngine(engine));
    }
}
