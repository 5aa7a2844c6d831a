//! Presets of the program, and the user's presets, which are files.

use crate::notices::{Level, Remedy};
use crate::session::Session;
use crate::state::OwnPreset;
use stereopsis_settings::settings;
use stereopsis_settings::settings::Settings;
use stereopsis_stereo::Preset;

pub(crate) fn take(session: &mut Session, preset: Preset) {
    let matching = &mut session.state.matching;
    (matching.preset, matching.own) = (preset, None);
    let params = matching.base();
    session.set_params(params);
}

/// Applies a preset of the user; the search range stays.
pub(crate) fn take_own(session: &mut Session, name: &str) {
    let Some(folder) = &session.options.presets_folder else { return };
    match settings::read_own_preset(folder, name).and_then(|words| Settings::resolve(&words)) {
        Ok(settings) => {
            let matching = &mut session.state.matching;
            matching.preset = settings.preset.unwrap_or(Preset::Balanced);
            matching.own = Some(OwnPreset { name: name.to_owned(), params: settings.params });
            let params = matching.base();
            session.set_params(params);
        }
        Err(why) => session.state.notices.error(why.to_string()),
    }
}

/// Saves the settings as a preset, in place of the present one of this name.
pub(crate) fn save(session: &mut Session, name: &str) {
    let Some(folder) = session.options.presets_folder.clone() else { return };
    let is_own = session.state.matching.own.as_ref().is_some_and(|own| own.name == name);
    match settings::write_own_preset(&folder, name, &session.settings_flags(), is_own) {
        Ok(path) => {
            let params = session.state.matching.params.clone();
            session.state.matching.own = Some(OwnPreset { name: name.to_owned(), params });
            let text = format!("preset written: --preset '{name}', or --settings {}", path.display());
            session.state.notices.add(Level::News, text, vec![Remedy::ShowInFolder(path)]);
        }
        Err(why) => session.state.notices.error(why),
    }
    session.state.matching.own_presets = settings::own_presets(&folder);
}

pub(crate) fn delete(session: &mut Session, name: &str) {
    let Some(folder) = session.options.presets_folder.clone() else { return };
    match settings::delete_own_preset(&folder, name) {
        Ok(()) => {
            session.state.matching.own.take_if(|own| own.name == name);
            session.state.notices.news(format!("preset {name} is deleted"));
        }
        Err(why) => session.state.notices.error(why),
    }
    session.state.matching.own_presets = settings::own_presets(&folder);
}
