//! Settings that a step of the history and a comparison keep, their differences in words, and their restoration.

use super::OwnPreset;
use stereopsis_calibration::{FocalLength, StereoRig};
use stereopsis_frame::engine::EngineChoice;
use stereopsis_frame::{FramePreparation, SourceSpec};
use stereopsis_settings::rig::{CalibrationChoice, RectifyChoice};
use stereopsis_stereo::{Preset, StereoParams};

/// Largest number of settings that a step names.
const MAX_NAMED: usize = 3;

/// Settings that a step changes.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Setup {
    /// Parameters, with confidence off because it follows its view.
    pub(crate) params: StereoParams,
    pub(crate) preset: Preset,
    pub(crate) own: Option<OwnPreset>,
    pub(crate) engine: EngineChoice,
    pub(crate) source: SourceSpec,
    pub(crate) calibration: Calibration,
    /// Nearest and farthest depth in colour, m.
    pub(crate) depth_range_m: Option<(f64, f64)>,
}

/// Calibration of the source: the choice, and its result so that an estimate is restored exactly.
#[derive(Clone, Debug, Default)]
pub(crate) struct Calibration {
    pub(crate) choice: CalibrationChoice,
    pub(crate) preparation: FramePreparation,
    pub(crate) rig: Option<StereoRig>,
    pub(crate) note: Option<String>,
}

impl PartialEq for Calibration {
    /// Compares the choices, which determine the rest.
    fn eq(&self, other: &Self) -> bool {
        (&self.choice, &self.rig) == (&other.choice, &other.rig)
    }
}

impl Setup {
    /// Returns these settings with the matching settings of `other`; source, calibration and colours stay.
    pub(crate) fn matched_as(self, other: &Self) -> Self {
        let Self { source, calibration, depth_range_m, .. } = self;
        Self { source, calibration, depth_range_m, ..other.clone() }
    }

    /// Describes the differences in one line, as "P1 14 → 22"; "the same" if there are none.
    pub(crate) fn differences_to(&self, to: &Self) -> String {
        let changes = self.changes_to(to);
        if changes.is_empty() { "the same".to_owned() } else { words_of(&changes) }
    }

    /// Returns the name of the preset at the origin of the parameters.
    pub(crate) fn preset_name(&self) -> &str {
        self.own.as_ref().map_or(self.preset.word(), |own| &own.name)
    }

    /// Returns the changes, as "P1 14 → 22", with a preset's name in place of its parameters.
    pub(crate) fn changes_to(&self, to: &Self) -> Vec<SettingChange> {
        let mut changes = Vec::new();
        let mut add = |name: &'static str, from: &str, to: &str| {
            if from != to {
                changes.push(SettingChange { name, words: format!("{name} {from} → {to}") });
            }
        };
        add("Source", &self.source.to_string(), &to.source.to_string());
        add("Engine", &self.engine.to_string(), &to.engine.to_string());
        add("Preset", self.preset_name(), to.preset_name());
        if self.preset_name() == to.preset_name() {
            for parameter in StereoParams::table() {
                let [from, to] = [self, to].map(|setup| (parameter.get)(&setup.params).to_string());
                add(parameter.label, &from, &to);
            }
        }
        let [from, to] = [self, to].map(|setup| (&setup.calibration, colours(setup.depth_range_m)));
        let before = [words_of_choice(&from.0.choice), words_of_choice(&to.0.choice)];
        match before {
            [from_words, to_words] if from_words != to_words => add("Calibration", &from_words, &to_words),
            [words, _] if from.0 != to.0 => add("Calibration", &words, "changed"),
            _ => {}
        }
        add("Colours", &from.1, &to.1);
        changes
    }
}

fn colours(range_m: Option<(f64, f64)>) -> String {
    range_m.map_or("not fitted".to_owned(), |(near, far)| format!("{near:.2} to {far:.2} m"))
}

/// Describes a calibration by its origin and its numbers.
fn words_of_choice(choice: &CalibrationChoice) -> String {
    let mut words = vec![match (choice.rectify(), &choice.files[..]) {
        (RectifyChoice::Auto, _) => "estimated".to_owned(),
        (_, [file, ..]) => file.file_name().unwrap_or_default().to_string_lossy().into_owned(),
        (_, []) => "none".to_owned(),
    }];
    words.extend(choice.focal().map(|focal| match focal {
        FocalLength::FovDeg(fov_deg) => format!("{fov_deg:.1}°"),
        FocalLength::Px(px) => format!("{px:.0} px"),
        FocalLength::Lens { focal_mm, .. } => format!("{focal_mm:.2} mm"),
    }));
    words.extend(choice.baseline_m.map(|baseline_m| format!("{baseline_m} m")));
    words.extend(choice.depth_fit.map(|_| "known distances".to_owned()));
    words.extend(choice.swap_pictures.then(|| "swapped".to_owned()));
    words.join(" ")
}

/// Change of one setting, described as "P1 14 → 22".
pub(crate) struct SettingChange {
    pub(crate) name: &'static str,
    pub(crate) words: String,
}

/// Describes changes in one line, the first ones by name.
pub(crate) fn words_of(changes: &[SettingChange]) -> String {
    let words: Vec<_> = changes.iter().take(MAX_NAMED).map(|change| change.words.as_str()).collect();
    match changes.len().saturating_sub(MAX_NAMED) {
        0 => words.join(", "),
        more => format!("{}, {more} more", words.join(", ")),
    }
}
