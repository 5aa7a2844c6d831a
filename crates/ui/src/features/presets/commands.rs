//! Presets of the program, and the user's presets, which are files.

use crate::core::{Command, Core, Feature, Level, OwnPreset, Remedy};
use egui::Context;
use stereopsis_settings::settings;
use stereopsis_settings::settings::Settings;
use stereopsis_stereo::Preset;

pub(crate) struct Presets;

impl Feature for Presets {
    fn execute(&mut self, core: &mut Core, command: Command, _ctx: &Context) -> Result<(), Command> {
        match command {
            Command::SetPreset(preset) => take(core, preset),
            Command::TakeOwnPreset(name) => take_own(core, &name),
            Command::SaveOwnPreset(name) => save(core, &name),
            Command::DeleteOwnPreset(name) => delete(core, &name),
            command => return Err(command),
        }
        Ok(())
    }
}

fn take(core: &mut Core, preset: Preset) {
    let matching = &mut core.matching;
    (matching.preset, matching.own) = (preset, None);
    let params = matching.base();
    core.set_params(params);
}

/// Applies a preset of the user; the search range stays.
fn take_own(core: &mut Core, name: &str) {
    let Some(folder) = &core.options.presets_folder else { return };
    match settings::read_own_preset(folder, name).and_then(|words| Settings::resolve(&words)) {
        Ok(settings) => {
            let matching = &mut core.matching;
            matching.preset = settings.preset.unwrap_or(Preset::Balanced);
            matching.own = Some(OwnPreset { name: name.to_owned(), params: settings.params });
            let params = matching.base();
            core.set_params(params);
        }
        Err(why) => core.notices.error(why),
    }
}

/// Saves the settings as a preset, in place of the present one of this name.
fn save(core: &mut Core, name: &str) {
    let Some(folder) = core.options.presets_folder.clone() else { return };
    let is_own = core.matching.own.as_ref().is_some_and(|own| own.name == name);
    let comment = format!("A preset of stereopsis: --preset {name}, or --settings with this file.");
    match settings::write_own_preset(&folder, name, &comment, &core.settings_flags(), is_own) {
        Ok(path) => {
            let params = core.matching.params.clone();
            core.matching.own = Some(OwnPreset { name: name.to_owned(), params });
            let text = format!("preset written: --preset '{name}', or --settings {}", path.display());
            core.notices.add(Level::News, text, vec![Remedy::ShowInFolder(path)]);
        }
        Err(why) => core.notices.error(why),
    }
    core.matching.own_presets = settings::own_presets(&folder);
}

fn delete(core: &mut Core, name: &str) {
    let Some(folder) = core.options.presets_folder.clone() else { return };
    match settings::delete_own_preset(&folder, name) {
        Ok(()) => {
            core.matching.own.take_if(|own| own.name == name);
            core.notices.news(format!("preset {name} is deleted"));
        }
        Err(why) => core.notices.error(why),
    }
    core.matching.own_presets = settings::own_presets(&folder);
}
