//! Settings of a run, resolved from defaults, a recording, a settings file and flags, in this order.
//!
//! Flags and settings files share one vocabulary, so both become [`Word`]s and go through one resolution; an error names the flag or
//! the line of the file. The window's saved state is separate.

mod error;
mod origin;
mod own_presets;
mod presets;

pub use error::{PresetNameError, SettingsError, WordError};
pub use origin::Origin;
pub use own_presets::{
    delete_own_preset, own_presets, own_presets_folder, read_own_preset, with_own_presets, write_own_preset,
};
pub use presets::{FROM_THE_LITERATURE, differences, paper_in_short, preset_groups, preset_of, words_to};

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use stereopsis_base::console::{self, counted};
use stereopsis_base::files::plain;
use stereopsis_base::geometry::Geometry;
use stereopsis_base::parameter::{Parameter, Value};
use stereopsis_base::remedy::option;
use stereopsis_calibration::{Match, is_verged, range_of};
use stereopsis_frame::engine::{AdapterChoice, Autotune, EngineChoice, EngineSettings, ModelDevice, ModelFile};
use stereopsis_stereo::{Preset, StereoParams};

/// Setting as written by the user: name, value and origin.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Word {
    /// Name of the flag without dashes.
    pub name: String,
    /// Value of the setting.
    pub text: String,
    /// Origin of the setting.
    pub origin: Origin,
}

/// Settings of a run: everything except the images that determines a result.
#[derive(Clone, Debug, PartialEq)]
pub struct Settings {
    /// Parameters of the matching.
    pub params: StereoParams,
    /// Preset from which the parameters started.
    pub preset: Option<Preset>,
    /// Whether the smallest disparity was said; see [`Settings::take_range`].
    pub says_first: bool,
    /// Whether the number of disparities was said, or the nearest depth.
    pub says_count: bool,
    /// Nearest depth in range, m; sets the number of disparities once a calibration is known.
    pub near_m: Option<f64>,
    /// Engine to open.
    pub engine: EngineChoice,
    /// Threads of the CPU engine or of a model; `None` for all cores.
    pub threads: Option<usize>,
    /// Number of a GPU, or part of its name.
    pub adapter: Option<String>,
    /// File of the engine `model`.
    pub model: Option<PathBuf>,
    /// Runtime and device of a model.
    pub model_device: ModelDevice,
}

impl From<StereoParams> for Settings {
    fn from(params: StereoParams) -> Self {
        Self { params, says_first: true, says_count: true, engine: EngineChoice::Cpu, ..Self::default() }
    }
}

impl Default for Settings {
    fn default() -> Self {
        let params = StereoParams::default();
        Self {
            params,
            preset: None,
            says_first: false,
            says_count: false,
            near_m: None,
            engine: EngineChoice::Auto,
            threads: None,
            adapter: None,
            model: None,
            model_device: ModelDevice::BuiltIn,
        }
    }
}

/// Names of the settings other than matching parameters.
const OTHER_WORDS: [&str; 7] = ["preset", "near-m", "engine", "threads", "adapter", "model", "model-device"];

impl Settings {
    /// Parses settings by the names of flags without dashes: `[("preset", "accurate"), ("num-disparities", "128")]`.
    ///
    /// # Errors
    /// The first wrong word, or parameters that contradict each other.
    pub fn of_words(words: &[(&str, &str)]) -> Result<Self, SettingsError> {
        Self::resolve(&flag_words(words))
    }

    /// Reads settings from a file written by the window or `--save-settings`, changed by `words` as by flags.
    ///
    /// # Errors
    /// The file cannot be read, the first wrong word, or parameters that contradict each other.
    pub fn of_file(path: &Path, words: &[(&str, &str)]) -> Result<Self, SettingsError> {
        let mut all = read_file(path)?;
        all.extend(flag_words(words));
        Self::resolve(&all)
    }

    /// Resolves words. Later ones win, but within one origin the preset, and then the cost and a model, come first: they change the rest.
    ///
    /// # Errors
    /// The first wrong word, or parameters that contradict each other.
    pub fn resolve(words: &[Word]) -> Result<Self, SettingsError> {
        let mut settings = Self::default();
        for layer in 0..=Origin::Flag.layer() {
            let rank = |word: &Word| match word.name.as_str() {
                "preset" => 0,
                "cost" | "model" => 1,
                _ => 2,
            };
            let mut layer: Vec<_> = words.iter().filter(|word| word.origin.layer() == layer).collect();
            layer.sort_by_key(|word| rank(word));
            for word in layer {
                settings.apply(word).map_err(|why| {
                    let (origin, name) = (word.origin.clone(), word.name.clone());
                    SettingsError::Word { origin, name, why: Box::new(why) }
                })?;
            }
        }
        let says = |name: &str| words.iter().any(|word| word.name == name);
        settings.says_first = says("min-disparity");
        settings.says_count = says("num-disparities") || says("near-m");
        settings.params.repair(says);
        let only_flags = words.iter().all(|word| word.origin == Origin::Flag);
        settings.params.validate().map_err(|why| SettingsError::Params { why, only_flags })?;
        Ok(settings)
    }

    fn apply(&mut self, word: &Word) -> Result<(), WordError> {
        let text = word.text.as_str();
        if let Some(parameter) = StereoParams::parameter(&word.name) {
            self.params.set(parameter, parameter.parse(text)?);
            if word.name == "num-disparities" {
                self.near_m = None;
            }
            return Ok(());
        }
        match word.name.as_str() {
            "preset" => {
                let preset: Preset = text.parse()?;
                preset.apply(&mut self.params);
                self.preset = Some(preset);
            }
            "engine" => self.engine = text.parse()?,
            "near-m" => {
                let near = text.parse().ok().filter(|v: &f64| v.is_finite() && *v > 0.0);
                self.near_m = Some(near.ok_or_else(|| WordError::NoDistance(text.to_owned()))?);
            }
            "threads" => {
                let threads = text.parse().ok().filter(|n| (1..=1024).contains(n));
                self.threads = Some(threads.ok_or_else(|| WordError::NoThreads(text.to_owned()))?);
            }
            "adapter" => self.adapter = Some(text.to_owned()),
            "model" => (self.model, self.engine) = (Some(text.into()), EngineChoice::Model),
            "model-device" => self.model_device = text.parse()?,
            _ => return Err(WordError::Unknown),
        }
        Ok(())
    }

    /// Returns the model with its runtime and device.
    pub fn model_file(&self) -> Option<ModelFile> {
        Some(ModelFile { path: self.model.clone()?, device: self.model_device })
    }

    /// Returns the settings by which the engine is opened.
    pub fn engine_options(&self) -> EngineSettings {
        let adapter = self.adapter.as_deref().map_or(AdapterChoice::Best, AdapterChoice::from_word);
        EngineSettings {
            choice: self.engine,
            threads: self.threads,
            adapter,
            autotune: Autotune::OnHardware,
            model: self.model_file(),
        }
    }

    /// Whether a search range remains to be found for this geometry: none was said, and the cameras look towards each other, so that the usual
    /// one begins far from what they look at.
    pub fn awaits_range(&self, extent_px: usize, geometry: &Geometry) -> bool {
        !(self.says_first && self.says_count) && is_verged(geometry, extent_px)
    }

    /// Takes what was not said of the search range from matches of the rectified images, or without enough of them from the disparities
    /// around that of the crossing of the cameras' axes, 0. Returns a sentence about it.
    ///
    /// # Errors
    /// Errors of [`Settings::params_for`].
    pub fn take_range(
        &mut self,
        found: &[Match],
        extent_px: usize,
        geometry: &Geometry,
    ) -> Result<String, SettingsError> {
        let infinity_px = -geometry.doffs_px;
        let in_images = range_of(found, infinity_px);
        let around = extent_px as i32 / 8;
        let (first, count) = in_images.unwrap_or((-around, 2 * around as u32));
        // as long as the usual range, for things that come nearer later, or move away
        let longer = StereoParams::default().num_disparities.saturating_sub(count) as i32;
        let first = first.saturating_sub(longer / 2).max(infinity_px.floor() as i32);
        let end = first.saturating_add_unsigned(count).saturating_add(longer);
        if !self.says_first {
            self.params.min_disparity = first.clamp(-MAX_DISPARITIES, MAX_DISPARITIES - 1);
        }
        if !self.says_count {
            self.params.num_disparities = (end - self.params.min_disparity).clamp(1, MAX_DISPARITIES) as u32;
        }
        let range = self.params_for(extent_px, Some(geometry))?.disparities();
        let how = match in_images {
            Some(_) => format!("found from {}", counted(found.len() as u64, "match")),
            None => format!(
                "around the crossing of their axes, as the images have too few matches ({}) to find it: {} and {} set it",
                found.len(),
                option("min-disparity"),
                option("num-disparities")
            ),
        };
        Ok(format!(
            "the cameras look towards each other, infinity is at {infinity_px:.0} px: the search goes from {} to {} px, {how}",
            range.start(),
            range.end()
        ))
    }

    /// Returns the parameters for images of this extent along the baseline, px, and this geometry: `near_m` becomes a number of
    /// disparities, and the range is checked for possible matches.
    ///
    /// # Errors
    /// `near_m` is given without a geometry, or out of reach; or the range has no possible matches.
    pub fn params_for(&self, extent_px: usize, geometry: Option<&Geometry>) -> Result<StereoParams, SettingsError> {
        let mut params = self.params.clone();
        if let Some(near_m) = self.near_m {
            let geometry = geometry.ok_or(SettingsError::NearWithoutGeometry { near_m })?;
            params.num_disparities = disparities_to(near_m, params.min_disparity, geometry)?;
        }
        params.validate_range(extent_px).map_err(|why| SettingsError::Params { why, only_flags: true })?;
        Ok(params)
    }
}

fn flag_words(words: &[(&str, &str)]) -> Vec<Word> {
    let word =
        |&(name, text): &(&str, &str)| Word { name: name.to_owned(), text: text.to_owned(), origin: Origin::Flag };
    words.iter().map(word).collect()
}

/// Returns all parameters by name, as on the command line.
pub fn parameter_words(params: &StereoParams) -> BTreeMap<String, String> {
    let word = |parameter: &Parameter<StereoParams>| (parameter.name.to_owned(), (parameter.get)(params).to_string());
    StereoParams::table().iter().map(word).collect()
}

/// Returns parameters with these changes, by the rules of flags.
///
/// # Errors
/// The first wrong word, or parameters that contradict each other.
pub fn changed(params: &StereoParams, words: &[(String, String)]) -> Result<StereoParams, SettingsError> {
    let mut params = params.clone();
    for (name, text) in words {
        let refused =
            |why: WordError| SettingsError::Word { origin: Origin::Flag, name: name.clone(), why: Box::new(why) };
        let parameter = StereoParams::parameter(name).ok_or_else(|| refused(WordError::NoParameter))?;
        params.set(parameter, parameter.parse(text).map_err(|why| refused(why.into()))?);
    }
    params.repair(|name| words.iter().any(|(word, _)| word == name));
    params.validate().map_err(|why| SettingsError::Params { why, only_flags: true })?;
    Ok(params)
}

/// Largest number of disparities.
const MAX_DISPARITIES: i32 = 1024;

/// Returns the number of disparities from `min_disparity` that reach the depth `near_m`.
fn disparities_to(near_m: f64, min_disparity: i32, geometry: &Geometry) -> Result<u32, SettingsError> {
    let nearest_px = geometry.disparity_px(near_m).ceil();
    let needed = nearest_px - f64::from(min_disparity) + 1.0;
    if (1.0..=f64::from(MAX_DISPARITIES)).contains(&needed) {
        return Ok(needed as u32);
    }
    let range = [min_disparity, min_disparity + MAX_DISPARITIES - 1];
    let reach_m = geometry.depth_m(f64::from(range[1])).unwrap_or(f64::INFINITY);
    Err(SettingsError::OutOfReach { near_m, nearest_px, range, reach_m })
}

/// Reads a settings file: TOML, one `word = value` a line, in the words of the flags.
///
/// # Errors
/// The file is missing or no valid TOML, or has an unknown key; the error has the line and the nearest known key.
pub fn read_file(path: &Path) -> Result<Vec<Word>, SettingsError> {
    words_of(path, &read_text(path)?)
}

/// Reads the text of a settings file.
///
/// # Errors
/// The file cannot be read.
pub fn read_text(path: &Path) -> Result<String, SettingsError> {
    plain::read_text(path).map_err(|cause| SettingsError::Read { path: path.to_owned(), cause })
}

/// Parses the words in the text of a settings file.
///
/// # Errors
/// The text is no valid TOML, or has an unknown key; the error has the line and the nearest known key.
pub fn words_of(path: &Path, text: &str) -> Result<Vec<Word>, SettingsError> {
    let path = || path.to_owned();
    let line_of = |offset: usize| text[..offset.min(text.len())].matches('\n').count() + 1;
    let table = toml::de::DeTable::parse(text).map_err(|why| SettingsError::Syntax {
        path: path(),
        line: why.span().map(|span| line_of(span.start)),
        why: Box::new(why),
    })?;
    let known: Vec<&str> = known_words().collect();
    let mut words = Vec::new();
    for (key, value) in table.get_ref() {
        let (name, line) = (key.get_ref().to_string(), line_of(key.span().start));
        if !known.contains(&name.as_str()) {
            let nearest = console::closest(&name, known.iter().copied());
            return Err(SettingsError::UnknownKey { path: path(), line, key: name, nearest });
        }
        let text = match value.get_ref() {
            toml::de::DeValue::String(text) => text.to_string(),
            toml::de::DeValue::Integer(number) => number.to_string(),
            toml::de::DeValue::Float(number) => number.to_string(),
            toml::de::DeValue::Boolean(on) => Value::Switch(*on).to_string(),
            _ => return Err(SettingsError::NoScalar { path: path(), line, key: name }),
        };
        words.push(Word { name, text, origin: Origin::File { path: path(), line } });
    }
    Ok(words)
}

/// Returns whether a file contains settings rather than a rig: TOML with a word of the settings.
pub fn is_settings_file(path: &Path) -> bool {
    let text = read_text(path).unwrap_or_default();
    let Ok(table) = toml::de::DeTable::parse(&text) else { return false };
    known_words().any(|word| table.get_ref().contains_key(word))
}

/// Returns the names of all settings.
pub fn known_words() -> impl Iterator<Item = &'static str> {
    StereoParams::table().iter().map(|p| p.name).chain(OTHER_WORDS)
}

/// Formats the text of a settings file, behind a comment.
///
/// # Errors
/// TOML cannot hold the values.
pub fn text_of(comment: &str, settings: &[(&'static str, String)]) -> Result<String, toml::ser::Error> {
    let table: toml::Table = settings.iter().map(|(name, value)| ((*name).to_owned(), value.clone().into())).collect();
    Ok(format!("# {comment}\n{}", toml::to_string(&table)?))
}

#[cfg(test)]
mod tests {
    use super::*;
    use glam::DVec2;
    use stereopsis_stereo::{CostKind, Subpixel};

    fn flags(words: &[(&str, &str)]) -> Vec<Word> {
        words.iter().map(|(n, t)| Word { name: (*n).into(), text: (*t).into(), origin: Origin::Flag }).collect()
    }

    fn file(text: &str) -> Result<Vec<Word>, SettingsError> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("settings.toml");
        std::fs::write(&path, text).unwrap();
        read_file(&path)
    }

    #[test]
    fn flags_win_over_files_and_presets_keep_the_range() {
        let mut words = file("p1 = 9\nnum-disparities = 96\npreset = \"banz2011\"\nsubpixel = true\n").unwrap();
        words.extend(flags(&[("p1", "11")]));
        let settings = Settings::resolve(&words).unwrap();
        assert_eq!(settings.params.p1, 11);
        assert_eq!(settings.params.num_disparities, 96);
        assert_eq!(settings.params.cost, CostKind::Rank);
        assert_eq!(
            settings.params.subpixel,
            Subpixel::Parabola,
            "what stands beside a preset changes it, wherever it stands"
        );
    }

    #[test]
    fn a_model_chooses_its_engine_unless_another_is_named_beside_it() {
        let engine = |in_file: &str, words: &[(&str, &str)]| {
            let mut all = file(in_file).unwrap();
            all.extend(flags(words));
            Settings::resolve(&all).unwrap().engine
        };
        assert_eq!(engine("engine = \"cpu\"\n", &[("model", "a.onnx")]), EngineChoice::Model);
        assert_eq!(engine("model = \"a.onnx\"\n", &[]), EngineChoice::Model);
        assert_eq!(engine("engine = \"model\"\nmodel = \"a.onnx\"\n", &[("engine", "cpu")]), EngineChoice::Cpu);
        assert_eq!(engine("", &[("engine", "cpu"), ("model", "a.onnx")]), EngineChoice::Cpu);
    }

    #[test]
    fn recorded_parameters_have_the_lowest_precedence() {
        let recorded = parameter_words(&StereoParams { p1: 7, p2: 80, ..StereoParams::default() });
        let origin = || Origin::Recording("a.mcap".into());
        let mut words = flags(&[("p1", "11")]);
        words.extend(recorded.into_iter().map(|(name, text)| Word { name, text, origin: origin() }));
        let settings = Settings::resolve(&words).unwrap();
        assert_eq!((settings.params.p1, settings.params.p2), (11, 80));
        let newer = Word { name: "flow".into(), text: "on".into(), origin: origin() };
        let text = Settings::resolve(&[newer]).unwrap_err().to_string();
        assert!(text.contains("a.mcap: flow no such setting"), "{text}");
    }

    #[test]
    fn cost_sets_penalties_and_scales_changed_ones() {
        let settings = Settings::resolve(&flags(&[("p2", "77"), ("cost", "census-7x7")])).unwrap();
        assert_eq!((settings.params.p1, settings.params.p2), (CostKind::Census7x7.penalties().p1, 77));
        let mut params = StereoParams { p1: 12, p2: 48, ..StereoParams::default() };
        params.set_cost(CostKind::Census7x7);
        assert_eq!((params.p1, params.p2), (24, 96));
    }

    #[test]
    fn unknown_key_error_has_line_and_suggestion() {
        let text = file("p1 = 5\n\nnum-disparites = 64\n").unwrap_err().to_string();
        assert!(text.contains("line 3") && text.contains("did you mean 'num-disparities'"), "{text}");
        let folder = tempfile::tempdir().unwrap();
        for (text, is_one) in
            [("p1 = 5\nnum-disparites = 4\n", true), ("[calibration]\nalpha = 1\n", false), ("%YAML", false)]
        {
            let path = folder.path().join("file.toml");
            std::fs::write(&path, text).unwrap();
            assert_eq!(is_settings_file(&path), is_one, "{text}");
        }
        let text = file("p1 = = 5\n").unwrap_err().to_string();
        assert!(text.contains("line 1"), "{text}");
        let words = file("\np1 = 5000\n").unwrap();
        let text = Settings::resolve(&words).unwrap_err().to_string();
        assert!(text.contains("line 2") && text.contains("from 0 to 4096"), "{text}");
    }

    #[test]
    fn rejects_penalties_in_the_wrong_order() {
        let text = Settings::resolve(&flags(&[("p1", "90"), ("p2", "60")])).unwrap_err().to_string();
        assert!(text.contains("p1 90 is not below p2 60"), "{text}");
        let raised = Settings::resolve(&flags(&[("p1", "90")])).unwrap().params;
        assert_eq!((raised.p2, raised.p2_min), (91, 91), "P1 raises them");
        let text = Settings::resolve(&flags(&[("p1", "20"), ("p2-min", "20")])).unwrap_err().to_string();
        assert!(text.contains("p2-min 20"), "{text}");
        let text = Settings::resolve(&flags(&[("p2", "8191"), ("cost", "sad")])).unwrap_err().to_string();
        assert!(text.contains("at most 7 paths") && text.contains("up to 7936"), "{text}");
    }

    #[test]
    fn a_change_follows_the_rules_of_flags() {
        let change = |words: &[(&str, &str)]| {
            let words: Vec<_> = words.iter().map(|(n, t)| ((*n).to_owned(), (*t).to_owned())).collect();
            changed(&StereoParams::default(), &words)
        };
        let raised = change(&[("p1", "20")]).unwrap();
        assert_eq!((raised.p1, raised.p2_min), (20, 21));
        assert_eq!(change(&[("cost", "census-7x7")]).unwrap().p2, CostKind::Census7x7.penalties().p2);
        assert_eq!(change(&[("gating", "off")]).unwrap(), StereoParams::default());
        for (words, why) in [
            (&[("p2", "3")][..], "p1 14 is not below p2 3"),
            (&[("p1", "high")], "p1 'high': expected a whole number from 0 to 4096"),
            (&[("colour", "red")], "colour is no parameter"),
        ] {
            let text = change(words).unwrap_err().to_string();
            assert!(text.starts_with(why), "{text}");
        }
    }

    #[test]
    fn reads_paths_as_number_or_word() {
        let resolve = |text: &str| Settings::resolve(&file(text).unwrap());
        let paths = |text| resolve(text).unwrap().params.paths;
        assert_eq!((paths("paths = \"4\""), paths("paths = 8"), paths("paths = 384")), (4, 8, 384));
        assert_eq!(resolve("start-angle-deg = 7").unwrap().params.start_angle_deg, 7);
        for (text, allowed) in [("paths = 385", "from 0 to 384"), ("start-angle-deg = 360", "from 0 to 359")] {
            let error = resolve(text).unwrap_err().to_string();
            assert!(error.contains("line 1") && error.contains(allowed), "{error}");
        }
    }

    #[test]
    fn presets_keep_confidence() {
        let settings = Settings::resolve(&flags(&[("confidence", "on"), ("preset", "banz2011")])).unwrap();
        assert!(settings.params.confidence);
        let mut params = settings.params;
        Preset::Fast.apply(&mut params);
        assert!(params.confidence, "it selects an output, not how pairs are matched");
    }

    #[test]
    fn what_was_not_said_of_the_range_of_verged_cameras_is_found() {
        let verged = Geometry::new(450.0, 0.3, 250.0, [160.0, 120.0]);
        let at = |d: i32| Match { left: DVec2::new(f64::from(d), 1.0), right: DVec2::new(0.0, 1.0), score: 1.0 };
        let range = |words: &[(&str, &str)], found: &[Match]| {
            let mut settings = Settings::resolve(&flags(words)).unwrap();
            assert!(settings.awaits_range(320, &verged));
            let said = settings.take_range(found, 320, &verged).unwrap();
            (settings.params_for(320, Some(&verged)).unwrap().disparities(), said)
        };
        let found: Vec<_> = (-70..=30).map(at).collect();
        assert_eq!(range(&[], &found).0, -96..=63);
        assert_eq!(range(&[("min-disparity", "-50")], &found).0, -50..=63);
        assert_eq!(range(&[("num-disparities", "40")], &found).0, -96..=-57);
        assert_eq!(range(&[("near-m", "0.5")], &found).0, -96..=20);
        let close: Vec<_> = (-12..=12).map(at).collect();
        assert_eq!(range(&[], &close).0, -28..=35, "as long as the usual range");
        let (around, said) = range(&[], &found[..5]);
        assert_eq!(around, -40..=39);
        assert!(said.contains("from -40 to 39 px, around the crossing") && said.contains("(5)"), "{said}");
        // a said range and usual rigs stay
        let both = Settings::resolve(&flags(&[("min-disparity", "0"), ("num-disparities", "64")])).unwrap();
        let usual = Geometry::new(450.0, 0.06, 20.0, [160.0, 120.0]);
        assert!(!both.awaits_range(320, &verged) && !Settings::default().awaits_range(320, &usual));
        assert!(!Settings::from(StereoParams::default()).awaits_range(320, &verged));
    }

    #[test]
    fn the_nearest_depth_sets_the_range() {
        let geometry = Geometry::new(500.0, 0.1, 0.0, [0.0, 0.0]);
        let settings = Settings::resolve(&flags(&[("near-m", "0.5")])).unwrap();
        assert_eq!(settings.params_for(640, Some(&geometry)).unwrap().num_disparities, 101);
        assert!(settings.params_for(640, None).unwrap_err().to_string().contains("needs a calibration"));
        let near = Settings::resolve(&flags(&[("near-m", "0.01")])).unwrap();
        assert!(near.params_for(640, Some(&geometry)).unwrap_err().to_string().contains("nearest depth in reach"));
        let far = Settings::resolve(&flags(&[("min-disparity", "700")])).unwrap();
        assert!(far.params_for(640, None).unwrap_err().to_string().contains("match nowhere"));
    }
}
