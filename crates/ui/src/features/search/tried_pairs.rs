//! Pairs of a sweep or a search, and the judge of the maps.

use super::commands::SearchStep;
use crate::core::{Command, Core, cannot_judge};
use crate::widgets;
use egui::{Button, Label, ProgressBar, RichText, Role, Ui, WidgetInfo};
use stereopsis_base::console;
use stereopsis_search::Judge;

/// Shows the pairs and the judge, and returns whether settings can be judged.
pub(crate) fn show(ui: &mut Ui, core: &Core, commands: &mut Vec<Command>) -> bool {
    let Some(output) = core.output() else {
        widgets::note(ui, "No result yet.");
        return false;
    };
    let pairs = &core.search.pairs;
    let help = "Settings that suit several pairs suit pairs that were not tried: go to another place of the recording, or move the cameras, and \
                add that pair too.";
    widgets::row(ui, "tried on", help, |ui| {
        let text = match pairs.len() {
            0 => "the pair that is shown".to_owned(),
            count => console::counted(count as u64, "pair"),
        };
        ui.label(text);
        if ui.button("Add this pair").on_hover_text(help).clicked() {
            commands.push(SearchStep::AddPair.into());
        }
        if !pairs.is_empty() && ui.button("Forget them").clicked() {
            commands.push(SearchStep::ForgetPairs.into());
        }
    });
    let judge = Judge::of(&core.search.samples(&output.job.frame));
    widgets::row(ui, "judged by", judge.help(), |ui| ui.add(Label::new(judge.title()).wrap()));
    match cannot_judge(judge, &core.matching.params) {
        Some(why) => {
            ui.label(RichText::new(why).color(ui.visuals().warn_fg_color));
            false
        }
        None => true,
    }
}

/// Shows the buttons that start and stop `what`; the first one has the label `name`.
pub(crate) fn start_and_stop(
    ui: &mut Ui,
    (name, what): (&str, &str),
    (can_start, is_running): (bool, bool),
    [start, stop]: [SearchStep; 2],
    commands: &mut Vec<Command>,
) {
    ui.horizontal(|ui| {
        for (text, verb, is_on, step) in
            [(name, "Start", can_start && !is_running, start), ("Stop", "Stop", is_running, stop)]
        {
            let button = ui.add_enabled(is_on, Button::new(text));
            button.widget_info(|| WidgetInfo::labeled(Role::Button, is_on, format!("{verb} the {what}")));
            if button.clicked() {
                commands.push(step.into());
            }
        }
    });
}

/// Shows the error that ended the trials, and a bar with a text.
pub(crate) fn progress(ui: &mut Ui, error: Option<&str>, share: f32, text: &str) {
    if let Some(error) = error {
        ui.add(Label::new(RichText::new(error).color(ui.visuals().error_fg_color)).wrap());
    }
    let bar = ui.add(ProgressBar::new(share).text(text));
    bar.widget_info(|| WidgetInfo::labeled(Role::ProgressIndicator, true, text));
}

/// Formats `1:05 left`, or nothing where the time is unknown.
pub(crate) fn left_text(left: Option<std::time::Duration>) -> String {
    left.map_or_else(String::new, |left| format!(", {}:{:02} left", left.as_secs() / 60, left.as_secs() % 60))
}
