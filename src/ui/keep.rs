//! What the window remembers from one start to the next: views, panels, source, parameters, in one TOML file.
//! What an older or newer version wrote and this one does not know is passed over.

use super::look::{ERRORS_PX, Look, ReachLook};
use super::session::RecordChoices;
use super::view::ViewKind;
use crate::colormap::Colormap;
use crate::files::{self, WriteError};
use crate::recording::Format;
use crate::recording::write::Compression;
use crate::settings::{Origin, Word};
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};

/// The file's content.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, rename_all = "kebab-case")]
pub(crate) struct Kept {
    /// Words of `--source`.
    pub(crate) source: Option<String>,
    views: Option<Vec<String>>,
    colormap: Option<String>,
    depth_range_m: Option<(f64, f64)>,
    colour_reasons: bool,
    unfolded: bool,
    controls: Option<bool>,
    error_px: Option<f64>,
    record_streams: Option<String>,
    record_format: Option<String>,
    record_compression: Option<String>,
    record_filled: bool,
    record_folder: Option<PathBuf>,
    /// Preset, engine and matching parameters in the words of the command line.
    settings: toml::Table,
}

impl Kept {
    /// Where it is kept; `None` on a system without a place for it.
    pub(crate) fn path() -> Option<PathBuf> {
        directories::ProjectDirs::from("", "", "stereopsis").map(|dirs| dirs.config_dir().join("window.toml"))
    }

    /// Reads the file; nothing where there is none or it is no TOML, which is said in the log.
    pub(crate) fn read(path: &Path) -> Self {
        let Ok(text) = files::plain::read_text(path) else { return Self::default() };
        toml::from_str(&text).unwrap_or_else(|err| {
            log::warn!("{}: the window starts afresh: {err}", path.display());
            Self::default()
        })
    }

    /// Writes the file, all of it or nothing.
    ///
    /// # Errors
    /// The folder or file cannot be written.
    pub(crate) fn write(&self, path: &Path) -> Result<(), WriteError> {
        let text = toml::to_string(self).map_err(|err| WriteError::new(path, std::io::Error::other(err)))?;
        if let Some(folder) = path.parent() {
            files::make_folder(folder)?;
        }
        files::write(path, text.as_bytes())
    }

    /// What is to be kept of a session: settings only where they differ from the defaults, which may change.
    pub(crate) fn of(
        source: &str,
        look: &Look,
        recording: &RecordChoices,
        chosen: Vec<(&'static str, String)>,
    ) -> Self {
        let settings = chosen.into_iter().map(|(name, value)| (name.to_owned(), value.into())).collect();
        Self {
            source: Some(source.to_owned()),
            views: Some(look.views.iter().map(ToString::to_string).collect()),
            colormap: Some(look.colormap.to_string()),
            depth_range_m: look.depth_range_m,
            colour_reasons: look.colour_reasons,
            unfolded: look.unfolded,
            controls: Some(look.controls),
            error_px: Some(look.reach.error_px),
            record_streams: Some(recording.streams.to_string()),
            record_format: Some(recording.format.to_string()),
            record_compression: Some(recording.compression.to_string()),
            record_filled: recording.filled,
            record_folder: recording.folder.clone(),
            settings,
        }
    }

    /// How things were shown; what is unknown is as at first.
    pub(crate) fn look(&self) -> Look {
        let first = Look::default();
        let views = self.views.as_ref().map(|words| words.iter().filter_map(|w| ViewKind::from_word(w)).collect());
        Look {
            views: views.filter(|v: &Vec<_>| !v.is_empty()).unwrap_or(first.views),
            colormap: self.colormap.as_deref().and_then(Colormap::from_word).unwrap_or(first.colormap),
            depth_range_m: self.depth_range_m.filter(|(near, far)| *near > 0.0 && near < far && far.is_finite()),
            colour_reasons: self.colour_reasons,
            unfolded: self.unfolded,
            controls: self.controls.unwrap_or(first.controls),
            reach: ReachLook {
                error_px: self.error_px.filter(|px| ERRORS_PX.contains(px)).unwrap_or(first.reach.error_px),
                ..first.reach
            },
        }
    }

    /// What was recorded, and how; what is unknown is as at first.
    pub(crate) fn recording(&self) -> RecordChoices {
        let first = RecordChoices::default();
        let streams = self.record_streams.as_ref().and_then(|words| words.parse().ok());
        let format = self.record_format.as_deref().and_then(Format::from_word);
        let compression = self.record_compression.as_deref().and_then(Compression::from_word);
        RecordChoices {
            streams: streams.unwrap_or(first.streams),
            format: format.unwrap_or(first.format),
            compression: compression.unwrap_or(first.compression),
            filled: self.record_filled,
            folder: self.record_folder.clone(),
        }
    }

    /// The settings as words that flags can follow; `known` tells which are still understood.
    pub(crate) fn words(&self, path: &Path, known: impl Fn(&Word) -> bool) -> Vec<Word> {
        let word = |(name, value): (&String, &toml::Value)| {
            let text = match value {
                toml::Value::String(text) => text.clone(),
                other => other.to_string(),
            };
            Word { name: name.clone(), text, origin: Origin::File { path: path.to_owned(), line: 1 } }
        };
        self.settings.iter().map(word).filter(known).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::settings::Settings;
    use crate::stereo::StereoParams;

    #[test]
    fn everything_comes_back() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("deep/window.toml");
        let mut look = Look { depth_range_m: Some((0.5, 4.0)), unfolded: true, ..Look::default() };
        look.reach.error_px = 0.5;
        look.toggle(ViewKind::Right);
        let chosen = [("p1", "4"), ("left-right", "off"), ("subpixel", "off"), ("engine", "cpu")];
        let recording = RecordChoices {
            streams: "eyes,disparity".parse().unwrap(),
            format: Format::Foxglove,
            compression: Compression::Zstd,
            filled: true,
            folder: Some("some/where".into()),
        };
        let kept = Kept::of("scene", &look, &recording, chosen.map(|(name, text)| (name, text.to_owned())).into());
        kept.write(&path).unwrap();
        let read = Kept::read(&path);
        assert_eq!(read, kept);
        assert_eq!(read.look(), look);
        assert_eq!(read.recording(), recording);
        let settings = Settings::resolve(&read.words(&path, |_| true)).unwrap();
        let params = StereoParams { p1: 4, left_right: None, subpixel: false, ..StereoParams::default() };
        assert_eq!(settings.params, params);
        assert_eq!(settings.engine.word(), "cpu");
    }

    #[test]
    fn unknown_keys_and_broken_files_do_no_harm() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("window.toml");
        std::fs::write(&path, "views = [\"depth\", \"hologram\"]\nfuture = 3\n[settings]\np1 = 11\n").unwrap();
        let kept = Kept::read(&path);
        assert_eq!(kept.look().views, [ViewKind::Depth]);
        assert_eq!(kept.words(&path, |word| word.name == "p1").len(), 1);
        std::fs::write(&path, "views = [").unwrap();
        assert_eq!(Kept::read(&path), Kept::default());
    }
}
