//! Faults of settings.

use super::origin::Origin;
use std::io;
use std::path::PathBuf;
use stereopsis_base::console::foreign;
use stereopsis_base::parameter::ValueError;
use stereopsis_base::remedy::{Remedy, option};
use stereopsis_base::{console, files};
use stereopsis_stereo::{ParamsError, Preset};

/// Fault in settings.
#[derive(Debug, thiserror::Error)]
pub enum SettingsError {
    /// A setting has a wrong value.
    #[error("{} {why}", named(.origin, .name))]
    Word {
        /// Origin of the setting.
        origin: Origin,
        /// Name of the setting.
        name: String,
        /// Fault of its value.
        why: Box<WordError>,
    },
    /// Parameters contradict each other.
    #[error("{why}")]
    Params {
        /// The contradiction.
        why: ParamsError,
        /// Whether all of them are flags.
        only_flags: bool,
    },
    /// The nearest depth is given without a geometry.
    #[error(
        "{} needs a calibration: give {}, or the lens ({}) and {}, or set {}",
        Remedy::set("near-m", .near_m),
        option("calibration"),
        option("fov-deg"),
        option("baseline-m"),
        option("num-disparities")
    )]
    NearWithoutGeometry {
        /// Nearest depth, m.
        near_m: f64,
    },
    /// The nearest depth is out of reach.
    #[error(
        "{} is a disparity of {nearest_px} px, outside {} to {} px: the nearest depth in reach is {reach_m:.3} m; a smaller {} sees \
         nearer",
        Remedy::set("near-m", .near_m),
        .range[0],
        .range[1],
        option("scale")
    )]
    OutOfReach {
        /// Nearest depth that is wanted, m.
        near_m: f64,
        /// Its disparity, px.
        nearest_px: f64,
        /// First and last disparity of the longest range, px.
        range: [i32; 2],
        /// Nearest depth that is possible, m.
        reach_m: f64,
    },
    /// The user has no preset of this name.
    #[error(
        "{}: there is no such preset, neither built in ({}) nor in {}{}",
        Remedy::set("preset", foreign(.name)),
        built_in(),
        console::path(.folder),
        if .own.is_empty() { String::new() } else { format!("; your own: {}", .own.join(", ")) }
    )]
    NoPreset {
        /// Name that was given.
        name: String,
        /// Folder of the user's presets.
        folder: PathBuf,
        /// Their names.
        own: Vec<String>,
    },
    /// The name cannot be one of the user's presets.
    #[error(transparent)]
    PresetName(#[from] PresetNameError),
    /// A settings file cannot be read.
    #[error("settings file {}: {}", console::path(.path), files::read_cause(.path, .cause))]
    Read {
        /// Path of the file.
        path: PathBuf,
        /// Cause.
        cause: io::Error,
    },
    /// A settings file is no TOML.
    #[error("settings file {}{}: {}", console::path(.path), at(*.line), .why.message())]
    Syntax {
        /// Path of the file.
        path: PathBuf,
        /// Number of the line, from 1, if known.
        line: Option<usize>,
        /// What the parser says.
        why: Box<toml::de::Error>,
    },
    /// A settings file has an unknown key.
    #[error(
        "settings file {}, line {line}: unknown key '{}'{}",
        console::path(.path),
        foreign(.key),
        .nearest.map_or(String::new(), |word| format!(": did you mean '{word}'?"))
    )]
    UnknownKey {
        /// Path of the file.
        path: PathBuf,
        /// Number of the line, from 1.
        line: usize,
        /// The key.
        key: String,
        /// Most similar known key.
        nearest: Option<&'static str>,
    },
    /// A key of a settings file has more than one value.
    #[error("settings file {}, line {line}: {key} takes one word or number", console::path(.path))]
    NoScalar {
        /// Path of the file.
        path: PathBuf,
        /// Number of the line, from 1.
        line: usize,
        /// The key.
        key: String,
    },
    /// A settings file cannot be written or deleted.
    #[error(transparent)]
    Write(#[from] files::WriteError),
    /// A preset cannot be deleted.
    #[error("{} cannot be deleted: {cause}", console::path(.path))]
    Delete {
        /// Path of the file.
        path: PathBuf,
        /// Cause.
        cause: io::ErrorKind,
    },
    /// TOML cannot hold a value.
    #[error(transparent)]
    Unwritable(#[from] toml::ser::Error),
}

/// Fault of the value of a setting.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum WordError {
    /// The text is no value of the setting.
    #[error(transparent)]
    Value(#[from] ValueError),
    /// The text is no distance.
    #[error("'{0}': expected a distance in metres above 0")]
    NoDistance(String),
    /// The text is no number of threads.
    #[error("'{0}': expected a number of threads from 1 to 1024")]
    NoThreads(String),
    /// There is no such setting.
    #[error("no such setting")]
    Unknown,
    /// There is no such parameter.
    #[error("is no parameter")]
    NoParameter,
}

/// Reason why a name cannot be one of the user's presets.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PresetNameError {
    /// The name is no file name on every system.
    #[error(
        "'{}' cannot name a preset: give letters, digits, spaces and - _ . only, at most {most}",
        foreign(.name)
    )]
    Characters {
        /// The name.
        name: String,
        /// Largest number of characters.
        most: usize,
    },
    /// A built-in preset has this name.
    #[error("'{0}' is built in: choose another name")]
    BuiltIn(String),
}

impl SettingsError {
    /// Whether a flag is wrong, and so the command line.
    pub fn is_of_flags(&self) -> bool {
        match self {
            Self::Word { origin, .. } => *origin == Origin::Flag,
            Self::Params { only_flags, .. } => *only_flags,
            Self::NearWithoutGeometry { .. }
            | Self::OutOfReach { .. }
            | Self::NoPreset { .. }
            | Self::PresetName(_) => true,
            _ => false,
        }
    }
}

/// Returns the name of a setting behind its origin.
fn named(origin: &Origin, name: &str) -> String {
    match origin {
        Origin::Flag => option(name.to_owned()).to_string(),
        Origin::Recording(path) => format!("parameters of the recording {}: {name}", path.display()),
        Origin::File { path, line } => format!("settings file {}, line {line}: {name}", path.display()),
    }
}

fn built_in() -> String {
    Preset::ALL.iter().map(|preset| preset.word()).collect::<Vec<_>>().join(", ")
}

fn at(line: Option<usize>) -> String {
    line.map_or(String::new(), |line| format!(", line {line}"))
}
