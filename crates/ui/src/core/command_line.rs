//! "Copy as command": the command line that reproduces the shown result.

use super::Core;
use stereopsis_base::console;
use stereopsis_frame::engine::{EngineChoice, ModelDevice};
use stereopsis_settings::settings::words_to;

impl Core {
    /// Returns flags and values of the settings that differ from the defaults.
    pub(crate) fn settings_flags(&self) -> Vec<(&'static str, String)> {
        let matching = &self.matching;
        let mut words = words_to(&matching.params, matching.preset);
        if matching.engine.settings.choice != EngineChoice::Auto {
            words.push(("engine", matching.engine.settings.choice.to_string()));
        }
        if let Some(model) =
            matching.engine.settings.model.as_ref().filter(|_| matching.engine.settings.choice == EngineChoice::Model)
        {
            words.push(("model", model.path.display().to_string()));
            if model.device != ModelDevice::BuiltIn {
                words.push(("model-device", model.device.to_string()));
            }
        }
        words
    }

    /// Returns the command line of the window with the flags that differ from the defaults.
    pub(crate) fn command_line(&self) -> String {
        self.command("live", Vec::new())
    }

    /// Returns a command on the open source with the present settings and further flags.
    pub(crate) fn command(&self, name: &str, flags: Vec<String>) -> String {
        let mut words = vec!["stereopsis".to_owned(), name.to_owned()];
        words.extend(self.rig.flags(&self.source.spec));
        words.extend(self.settings_flags().into_iter().flat_map(|(name, value)| [format!("--{name}"), value]));
        words.extend(flags);
        let quoted: Vec<_> = words.iter().map(|word| console::quoted(word)).collect();
        quoted.join(" ")
    }
}
