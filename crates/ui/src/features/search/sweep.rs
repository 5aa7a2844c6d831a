//! Page of the sweep over two parameters: choices, progress, and the map.

use super::commands::SearchStep;
use super::{map, tried_pairs};
use crate::core::{Command, Core, SearchState};
use crate::panels::Panel;
use crate::widgets;
use egui::{Button, Role, Ui, WidgetInfo};
use stereopsis_search::{SearchAxis, SweepProgress};

const HELP: &str =
    "Tries all values of two parameters, coarse first, while depth goes on. A click on a cell takes its two values.";

#[derive(Default)]
pub(crate) struct SweepPage {
    thumbnail: Option<map::Thumbnail>,
}

impl Panel for SweepPage {
    fn show(&mut self, ui: &mut Ui, core: &Core, commands: &mut Vec<Command>) {
        widgets::note(ui, HELP);
        let can_judge = tried_pairs::show(ui, core, commands);
        axes(ui, core, commands);
        let search = &core.search;
        let name = if search.sweep.is_some() { "Sweep again" } else { "Sweep" };
        let steps = [SearchStep::StartSweep, SearchStep::StopSweep];
        tried_pairs::start_and_stop(ui, (name, "sweep"), (can_judge, search.is_sweeping()), steps, commands);
        let Some(sweep) = &search.sweep else { return };
        progress(ui, sweep);
        map::show(ui, core, sweep, &mut self.thumbnail, commands);
        best(ui, core, sweep, commands);
    }
}

fn axes(ui: &mut Ui, core: &Core, commands: &mut Vec<Command>) {
    let all = SearchAxis::all(&core.matching.params);
    let options: Vec<_> = all.iter().map(SearchAxis::parameter).map(|p| (p.name, p.label, p.help)).collect();
    let SearchState { axes, .. } = &core.search;
    for (which, label) in ["to the right", "upwards"].into_iter().enumerate() {
        let mut chosen = axes[which];
        let help = "A parameter that has an effect beside the others.";
        if widgets::row(ui, label, help, |ui| widgets::choice(ui, label, help, &options, &mut chosen)) {
            commands.push(SearchStep::SetAxis(which, chosen).into());
        }
    }
}

fn progress(ui: &mut Ui, sweep: &SweepProgress) {
    let (done, total) = (sweep.done, sweep.total());
    let text = match sweep.ended {
        true if done < total => format!("stopped after {done} of {total} settings"),
        true => format!("{total} settings tried"),
        false => format!("{done} of {total} settings{}", tried_pairs::left_text(sweep.left)),
    };
    tried_pairs::progress(ui, sweep.error.as_deref(), done as f32 / total.max(1) as f32, &text);
}

/// Shows the best values, with a button that applies them.
fn best(ui: &mut Ui, core: &Core, sweep: &SweepProgress, commands: &mut Vec<Command>) {
    let Some((place, tried)) = map::best_cell(sweep) else { return };
    ui.horizontal_wrapped(|ui| {
        ui.label(format!("best so far: {}", map::cell_text(sweep, place, &tried.trial)));
        let is_new = core.search.params_of_cell(&core.matching.params, place) != Some(core.matching.params.clone());
        let take = ui.add_enabled(is_new, Button::new("Take it"));
        take.widget_info(|| WidgetInfo::labeled(Role::Button, is_new, "Take the best cell"));
        if take.clicked() {
            commands.push(SearchStep::TakeCell(place.0, place.1).into());
        }
    });
}
