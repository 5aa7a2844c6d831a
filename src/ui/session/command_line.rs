//! "Copy as command": the command line that gives the same result.

use super::Session;
use crate::engine::EngineChoice;
use crate::stereo::{Preset, StereoParams};

impl Session {
    /// Flags of the settings that differ from the defaults, with their values.
    pub(super) fn settings_flags(&self) -> Vec<(&'static str, String)> {
        let matching = &self.state.matching;
        let mut words = differing(&matching.params, matching.preset);
        if matching.engine.choice != EngineChoice::Auto {
            words.push(("engine", matching.engine.choice.to_string()));
        }
        words
    }

    /// The command line of the window, with the flags that differ from the defaults.
    pub(super) fn command_line(&self) -> String {
        self.command("live", Vec::new())
    }

    /// A command that measures the same as the page does.
    pub(super) fn measure_command(&self) -> String {
        let measure = &self.state.measure;
        let flag = |name: &str, value: Option<String>| value.map(|value| [format!("--{name}"), value]);
        let points = self.state.output().and_then(|output| measure.subject(output.job.frame.size()).points);
        let flags = [
            flag("region", measure.region.map(|region| region.to_string())),
            flag("distance-m", measure.true_distance_m.map(|metres| metres.to_string())),
            flag("points", points.map(|[(x1, y1), (x2, y2)]| format!("{x1},{y1},{x2},{y2}"))),
        ];
        self.command("measure", flags.into_iter().flatten().flatten().collect())
    }

    /// A command on the open source with the present settings, and more flags.
    fn command(&self, name: &str, flags: Vec<String>) -> String {
        let mut words = vec!["stereopsis".to_owned(), name.to_owned()];
        words.extend(self.state.rig.flags(&self.state.source.spec));
        words.extend(self.settings_flags().into_iter().flat_map(|(name, value)| [format!("--{name}"), value]));
        words.extend(flags);
        let quoted: Vec<_> = words.iter().map(|word| quote(word)).collect();
        quoted.join(" ")
    }
}

/// Settings that lead to `params`: preset and cost first, because they change the base of the rest.
fn differing(params: &StereoParams, preset: Preset) -> Vec<(&'static str, String)> {
    let mut base = StereoParams::default();
    let mut words = Vec::new();
    preset.apply(&mut base);
    if base != StereoParams::default() {
        words.push(("preset", preset.to_string()));
    }
    if base.cost != params.cost {
        base.set_cost(params.cost);
        words.push(("cost", params.cost.to_string()));
    }
    let values = params.words().zip(base.words());
    words.extend(values.filter(|((_, v), (_, default))| v != default).map(|((name, v), _)| (name, v.to_string())));
    words
}

/// A word as a shell takes it.
fn quote(word: &str) -> String {
    let is_plain = |c: char| c.is_alphanumeric() || "-_./,:=".contains(c);
    if !word.is_empty() && word.chars().all(is_plain) {
        word.to_owned()
    } else if cfg!(windows) {
        format!("\"{word}\"")
    } else {
        format!("'{}'", word.replace('\'', r"'\''"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::settings::{Origin, Settings, Word};
    use crate::stereo::CostKind;

    #[test]
    fn the_words_lead_back_to_the_parameters() {
        let mut rank = StereoParams::default();
        Preset::Banz2011.apply(&mut rank);
        rank.p1 += 3;
        rank.p2_min = rank.p1 + 1;
        let mut sad = StereoParams { p1: 9, min_disparity: -4, left_right: None, ..StereoParams::default() };
        sad.set_cost(CostKind::Sad);
        for (params, preset) in
            [(StereoParams::default(), Preset::Balanced), (rank, Preset::Banz2011), (sad, Preset::Balanced)]
        {
            let words: Vec<_> = differing(&params, preset)
                .into_iter()
                .map(|(name, text)| Word { name: name.to_owned(), text, origin: Origin::Flag })
                .collect();
            assert_eq!(Settings::resolve(&words).unwrap().params, params, "{words:?}");
        }
        assert!(differing(&StereoParams::default(), Preset::Balanced).is_empty());
    }

    #[test]
    fn odd_names_survive_a_shell() {
        assert_eq!(quote("a/im0.png,a/im1.png"), "a/im0.png,a/im1.png");
        if !cfg!(windows) {
            assert_eq!(quote("it's mine"), r"'it'\''s mine'");
        }
    }
}
