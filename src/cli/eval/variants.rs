//! The settings that are evaluated side by side.

use crate::cli::error::{UsageError, refuse};
use crate::cli::settings_args::SettingsArgs;
use std::path::{Path, PathBuf};
use stereopsis_base::console;
use stereopsis_settings::settings::{Settings, Word};
use stereopsis_stereo::StereoParams;

#[derive(Clone, Debug)]
pub(super) struct Variant {
    /// Name in tables and names of files, unique.
    pub(super) name: String,
    pub(super) settings: Settings,
    /// Whether the variant leaves the search range to each pair.
    has_own_range: bool,
}

/// Largest number of disparities that is searched.
const MAX_DISPARITIES: i64 = 1024;

impl Variant {
    fn of(name: String, words: &[Word]) -> anyhow::Result<Self> {
        let settings = Settings::resolve(words)?;
        if settings.near_m.is_some() {
            let text = "--near-m needs a rig, and pairs with truth have a range of their own: leave it out, or give --num-disparities";
            return refuse(text);
        }
        if settings.params.smooths_over_time() {
            return refuse("--temporal works from pair to pair, and eval looks at each pair alone: leave it out");
        }
        let has_own_range = words.iter().all(|word| word.name != "num-disparities");
        Ok(Self { name, settings, has_own_range })
    }

    /// Returns the parameters for a pair of this width, px, whose disparities are below `num_disparities` px.
    ///
    /// # Errors
    /// The search range matches nowhere in the pair.
    pub(super) fn params(&self, width: usize, num_disparities: u32) -> anyhow::Result<StereoParams> {
        let mut params = self.settings.params.clone();
        if self.has_own_range {
            let needed = i64::from(num_disparities) - i64::from(params.min_disparity);
            params.num_disparities = needed.clamp(1, MAX_DISPARITIES) as u32;
        }
        params.validate_range(width).map_err(|err| UsageError(err.to_string()))?;
        Ok(params)
    }
}

/// Returns the presets, or without them the current setting; then the settings of these files.
///
/// # Errors
/// A file or flag is wrong, there is no such preset, or a setting cannot be evaluated.
pub(super) fn all(args: &SettingsArgs, presets: &[String], files: &[PathBuf]) -> anyhow::Result<Vec<Variant>> {
    let mut variants = Vec::new();
    for preset in presets {
        variants.push(Variant::of(preset.clone(), &args.words_from(args.file().map(PathBuf::as_path), Some(preset))?)?);
    }
    if presets.is_empty() {
        let words = args.words()?;
        variants.push(Variant::of(present_name(args, &words), &words)?);
    }
    for file in files {
        variants.push(Variant::of(stem(file), &args.words_from(Some(file), None)?)?);
    }
    tell_apart(&mut variants);
    Ok(variants)
}

/// Returns the name of the settings file or the preset of the setting, if there is one.
fn present_name(args: &SettingsArgs, words: &[Word]) -> String {
    let preset = || words.iter().rfind(|word| word.name == "preset").map(|word| console::foreign(&word.text));
    args.file().map(|path| stem(path)).or_else(preset).unwrap_or_else(|| "present".to_owned())
}

fn stem(path: &Path) -> String {
    console::foreign(&path.file_stem().unwrap_or_default().to_string_lossy())
}

/// Numbers equal names of several settings.
fn tell_apart(variants: &mut [Variant]) {
    for k in 1..variants.len() {
        let name = variants[k].name.clone();
        let is_taken = |name: &str| variants[..k].iter().any(|before| before.name == name);
        let mut numbered = (2..).map(|number| format!("{name}-{number}")).filter(|name| !is_taken(name));
        if is_taken(&name)
            && let Some(numbered) = numbered.next()
        {
            variants[k].name = numbered;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use stereopsis_settings::settings::Origin;

    fn variant(words: &[(&str, &str)]) -> anyhow::Result<Variant> {
        let word = |&(name, text): &(&str, &str)| Word { name: name.into(), text: text.into(), origin: Origin::Flag };
        Variant::of("a".into(), &words.iter().map(word).collect::<Vec<_>>())
    }

    #[test]
    fn a_pair_has_its_own_range_unless_one_is_given() {
        let range = |words: &[(&str, &str)]| {
            let params = variant(words).unwrap().params(640, 60).unwrap();
            (params.min_disparity, params.num_disparities)
        };
        assert_eq!(range(&[]), (0, 60));
        assert_eq!(range(&[("min-disparity", "10")]), (10, 50), "to the same end");
        assert_eq!(range(&[("num-disparities", "33")]), (0, 33));
        assert!(variant(&[("min-disparity", "700")]).unwrap().params(640, 60).is_err());
    }

    #[test]
    fn settings_that_need_a_rig_or_a_sequence_are_refused() {
        for (word, text) in [("near-m", "2"), ("temporal", "on")] {
            let why = variant(&[(word, text)]).unwrap_err().to_string();
            assert!(why.contains(&format!("--{word}")) && why.contains("leave it out"), "{why}");
        }
    }

    #[test]
    fn settings_of_one_name_are_numbered() {
        let mut all = vec![variant(&[]).unwrap(); 3];
        tell_apart(&mut all);
        assert_eq!(all.iter().map(|variant| variant.name.as_str()).collect::<Vec<_>>(), ["a", "a-2", "a-3"]);
    }
}
