//! Field that finds actions, pages, settings, presets, engines and sources by their words.

use super::{Action, Command, Core, Panel, source};
use crate::core::{Theme, ViewSettings};
use egui::{Align, Align2, Button, Id, Key, Layout, Modal, RichText, Role, ScrollArea, TextEdit, Ui, WidgetInfo};
use stereopsis_base::parameter::Parameter;
use stereopsis_frame::SourceSpec;
use stereopsis_frame::engine::EngineChoice;
use stereopsis_images::colormap::Colormap;
use stereopsis_settings::settings::preset_groups;
use stereopsis_stereo::StereoParams;

const WIDTH: f32 = 520.0;
const HEIGHT: f32 = 320.0;
/// Distance from the window's upper edge, points.
const TOP: f32 = 48.0;

/// Search field, its words, and the chosen line of the list.
#[derive(Default)]
pub(crate) struct Finder {
    words: String,
    chosen: usize,
    is_open: bool,
}

struct Entry {
    /// Kind: `action`, `setting`, `preset`.
    kind: &'static str,
    name: String,
    help: String,
    /// Key or value of the entry.
    note: String,
    command: Command,
}

impl Panel for Finder {
    fn is_open(&self, core: &Core) -> bool {
        core.is_finder_open || self.is_open
    }

    fn show(&mut self, ui: &mut Ui, core: &Core, commands: &mut Vec<Command>) {
        let begins = core.is_finder_open && !self.is_open;
        self.is_open = core.is_finder_open;
        if !core.is_finder_open {
            return;
        }
        if begins {
            (self.words, self.chosen) = (String::new(), 0);
        }
        let id = Id::unique("find");
        let area = Modal::default_area(id).anchor(Align2::CENTER_TOP, [0.0, TOP]);
        let shown = Modal::new(id).area(area).show(ui.ctx(), |ui| {
            ui.set_width(WIDTH.min(0.9 * ui.ctx().content_rect().width()));
            self.content(ui, core, begins)
        });
        if let Some(command) = shown.inner {
            commands.extend([Action::Find.into(), command]);
        } else if shown.should_close() {
            commands.push(Action::Find.into());
        }
    }
}

impl Finder {
    /// Shows the field and the list, and returns the command of the chosen line.
    fn content(&mut self, ui: &mut Ui, core: &Core, begins: bool) -> Option<Command> {
        let (up, down, enter) = ui.input_mut(|i| {
            let mut pressed = |key| i.consume_key(egui::Modifiers::NONE, key);
            (pressed(Key::ArrowUp), pressed(Key::ArrowDown), pressed(Key::Enter))
        });
        let field = TextEdit::singleline(&mut self.words).hint_text("an action, a page, a setting, a preset, a source");
        let field = ui.add(field.desired_width(f32::INFINITY));
        field.widget_info(|| WidgetInfo {
            label: Some("Words to find".into()),
            ..WidgetInfo::text_edit(true, "", &self.words, "")
        });
        if begins || !field.has_focus() {
            field.request_focus();
        }
        let mut found = matching(entries(ui, core), &self.words);
        if field.changed() {
            self.chosen = 0;
        }
        let last = found.len().saturating_sub(1);
        self.chosen = (self.chosen + usize::from(down)).saturating_sub(usize::from(up)).min(last);
        ui.add_space(4.0);
        let mut taken = enter.then_some(self.chosen).filter(|_| !found.is_empty());
        ScrollArea::vertical().max_height(HEIGHT).auto_shrink([false, true]).show(ui, |ui| {
            for (number, entry) in found.iter().enumerate() {
                let is_chosen = number == self.chosen;
                let line = line(ui, entry, is_chosen);
                if is_chosen && (up || down) {
                    line.scroll_to_me(None);
                }
                if line.clicked() {
                    taken = Some(number);
                }
            }
        });
        if found.is_empty() {
            ui.label(RichText::new("nothing has all of these words").weak());
        }
        taken.map(|number| found.swap_remove(number).command)
    }
}

/// Shows a line of the list: name, kind, and at the right the key or the value.
fn line(ui: &mut Ui, entry: &Entry, is_chosen: bool) -> egui::Response {
    let Entry { kind, name, help, note, .. } = entry;
    let response = ui
        .with_layout(Layout::top_down_justified(Align::LEFT), |ui| {
            ui.add(Button::selectable(is_chosen, format!("{name}   {kind}")).shortcut_text(note.as_str()))
        })
        .inner;
    response.widget_info(|| WidgetInfo::selected(Role::Button, true, is_chosen, format!("{name}, {kind}")));
    response.on_hover_text(help.as_str())
}

/// Returns the entries that contain all words: first names that begin with the first word, then other names, then help texts.
fn matching(entries: Vec<Entry>, words: &str) -> Vec<Entry> {
    let words: Vec<_> = words.split_whitespace().map(str::to_lowercase).collect();
    let rank = |entry: &Entry| {
        let name = format!("{} {}", entry.name, entry.kind).to_lowercase();
        let help = entry.help.to_lowercase();
        let has = |text: &str| words.iter().all(|word| text.contains(word));
        let begins = words.first().is_none_or(|word| name.starts_with(word));
        if has(&name) {
            return Some(u8::from(!begins));
        }
        has(&format!("{name} {help}")).then_some(2)
    };
    let mut ranked: Vec<_> = entries.into_iter().filter_map(|entry| Some((rank(&entry)?, entry))).collect();
    ranked.sort_by_key(|(rank, _)| *rank);
    ranked.into_iter().map(|(_, entry)| entry).collect()
}

fn entries(ui: &Ui, core: &Core) -> Vec<Entry> {
    let actions = Action::all().filter(|action| !matches!(action, Action::Find | Action::Close)).map(|action| Entry {
        kind: if matches!(action, Action::View(_)) { "view" } else { "action" },
        name: action.label().trim_end_matches(" …").to_owned(),
        help: action.help().to_owned(),
        note: ui.ctx().format_shortcut(&action.shortcut()),
        command: action.into(),
    });
    let params = &core.matching.params;
    let settings = StereoParams::table().iter().map(|parameter| setting(parameter, params));
    let presets = preset_groups().into_iter().flat_map(|group| group.presets.clone()).map(|preset| Entry {
        kind: "preset",
        name: preset.word().to_owned(),
        help: preset.help().to_owned(),
        note: core.rate_text(preset),
        command: Command::SetPreset(preset),
    });
    let plain = |kind, name: &str, help: &str, command| Entry {
        kind,
        name: name.to_owned(),
        help: help.to_owned(),
        note: String::new(),
        command,
    };
    let own = core.matching.own_presets.iter();
    let own = own.map(|name| plain("preset of your own", name, "", Command::TakeOwnPreset(name.clone())));
    let engines = EngineChoice::ALL.iter();
    let engines = engines.map(|&choice| plain("engine", choice.word(), choice.help(), Command::SetEngine(choice)));
    let sources = std::iter::once(&SourceSpec::Scene).chain(&core.source.recent);
    let sources =
        sources.map(|spec| plain("source", &source::short_name(spec), &spec.to_string(), Command::Open(spec.clone())));
    let themes = Theme::ALL.iter().map(|&theme| {
        let view = ViewSettings { theme, ..core.view.clone() };
        plain("theme", theme.word(), theme.help(), Command::SetView(view))
    });
    let colours = Colormap::ALL.iter().map(|&colormap| {
        let view = ViewSettings { colormap, ..core.view.clone() };
        plain("colours", colormap.word(), colormap.help(), Command::SetView(view))
    });
    actions
        .chain(settings)
        .chain(presets)
        .chain(own)
        .chain(engines)
        .chain(sources)
        .chain(themes)
        .chain(colours)
        .collect()
}

/// Returns the entry of a parameter, which is shown in its panel and also found by its flag.
fn setting(parameter: &'static Parameter<StereoParams>, params: &StereoParams) -> Entry {
    let why = parameter.inapplicable(params).map_or_else(String::new, |why| format!("\n{why}"));
    Entry {
        kind: "setting",
        name: parameter.label.to_owned(),
        help: format!("{}{why}\n--{}", parameter.help, parameter.name),
        note: (parameter.get)(params).to_string(),
        command: Command::Reveal(parameter.name),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn matching_names_precede_matching_help_texts() {
        let entry = |name: &str, help: &str| Entry {
            kind: "setting",
            name: name.to_owned(),
            help: help.to_owned(),
            note: String::new(),
            command: Action::Help.into(),
        };
        let all = || {
            vec![
                entry("Speckle size", "px"),
                entry("Fill", "speckle is filled"),
                entry("Largest speckle", ""),
                entry("P1", ""),
            ]
        };
        let names = |words: &str| matching(all(), words).into_iter().map(|entry| entry.name).collect::<Vec<_>>();
        assert_eq!(names("Speckle"), ["Speckle size", "Largest speckle", "Fill"]);
        assert_eq!(names("size speck"), ["Speckle size"]);
        assert_eq!(names("setting p1"), ["P1"]);
        assert_eq!(names("speckles everywhere"), [""; 0]);
        assert_eq!(names(" ").len(), 4);
    }
}
