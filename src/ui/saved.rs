//! Saved state: views, panels, source and parameters from the last run, in one TOML file. Keys and values that this version
//! does not know are ignored.

use super::state::{ERRORS_PX, RecordingChoices, ViewSettings};
use super::view::ViewKind;
use crate::capture::SourceSpec;
use crate::files::{self, WriteError};
use crate::recording::Format;
use crate::recording::write::Compression;
use crate::settings::{Origin, Word};
use serde::Deserialize;
use std::path::Path;
use toml::{Table, Value};

/// The file's content.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct SavedState(Table);

impl SavedState {
    /// Reads the file; empty if there is none, or if it is no TOML, which the log says.
    pub(crate) fn read(path: &Path) -> Self {
        let Ok(text) = files::plain::read_text(path) else { return Self::default() };
        Self(toml::from_str(&text).unwrap_or_else(|err| {
            log::warn!("{}: the window starts with its defaults: {err}", path.display());
            Table::new()
        }))
    }

    /// Writes the file, all of it or nothing.
    ///
    /// # Errors
    /// The folder or file cannot be written.
    pub(crate) fn write(&self, path: &Path) -> Result<(), WriteError> {
        let text = toml::to_string(&self.0).map_err(|err| WriteError::new(path, std::io::Error::other(err)))?;
        if let Some(folder) = path.parent() {
            files::make_folder(folder)?;
        }
        files::write(path, text.as_bytes())
    }

    /// The state to save. `settings` are those that differ from the defaults, which may change.
    pub(crate) fn of(
        source: &str,
        recent: &[SourceSpec],
        view: &ViewSettings,
        recording: &RecordingChoices,
        settings: Vec<(&'static str, String)>,
    ) -> Self {
        let range = view.depth_range_m.map(|(near, far)| Value::from(vec![near, far]));
        let folder = recording.folder.as_ref().and_then(|folder| folder.to_str()).map(Value::from);
        let settings: Table = settings.into_iter().map(|(name, value)| (name.to_owned(), value.into())).collect();
        let recent: Vec<_> = recent.iter().map(SourceSpec::to_string).collect();
        let entries = [
            ("source", Some(source.into())),
            ("recent", (!recent.is_empty()).then(|| recent.into())),
            ("views", Some(view.views.iter().map(|view| view.word()).collect::<Vec<_>>().into())),
            ("colormap", Some(view.colormap.word().into())),
            ("depth-range-m", range),
            ("colour-reasons", Some(view.colour_reasons.into())),
            ("unfolded", Some(view.unfolded.into())),
            ("controls", Some(view.controls.into())),
            ("error-px", Some(view.error_px.into())),
            ("record-streams", Some(recording.streams.to_string().into())),
            ("record-format", Some(recording.format.word().into())),
            ("record-compression", Some(recording.compression.word().into())),
            ("record-filled", Some(recording.filled.into())),
            ("record-folder", folder),
            ("settings", Some(settings.into())),
        ];
        Self(entries.into_iter().filter_map(|(key, value)| Some((key.to_owned(), value?))).collect())
    }

    fn get<T: for<'de> Deserialize<'de>>(&self, key: &str) -> Option<T> {
        self.0.get(key)?.clone().try_into().ok()
    }

    /// The source, in the words of `--source`.
    pub(crate) fn source(&self) -> Option<String> {
        self.get("source")
    }

    /// The sources that were opened last, the newest first.
    pub(crate) fn recent(&self) -> Vec<SourceSpec> {
        let words: Vec<String> = self.get("recent").unwrap_or_default();
        words.iter().filter_map(|words| SourceSpec::parse(words).ok()).collect()
    }

    /// The settings of the views; defaults where nothing valid is saved.
    pub(crate) fn view(&self) -> ViewSettings {
        let default = ViewSettings::default();
        let known = |words: Vec<String>| words.iter().filter_map(|word| ViewKind::from_word(word)).collect();
        let views: Option<Vec<ViewKind>> = self.get("views").map(known);
        ViewSettings {
            views: views.filter(|views| !views.is_empty()).unwrap_or(default.views),
            colormap: self.get("colormap").unwrap_or(default.colormap),
            depth_range_m: self
                .get("depth-range-m")
                .filter(|(near, far): &(f64, f64)| *near > 0.0 && near < far && far.is_finite()),
            colour_reasons: self.get("colour-reasons").unwrap_or(default.colour_reasons),
            unfolded: self.get("unfolded").unwrap_or(default.unfolded),
            controls: self.get("controls").unwrap_or(default.controls),
            error_px: self.get("error-px").filter(|px| ERRORS_PX.contains(px)).unwrap_or(default.error_px),
        }
    }

    /// The choices for recordings; defaults where nothing valid is saved.
    pub(crate) fn recording(&self) -> RecordingChoices {
        let default = RecordingChoices::default();
        let streams = self.get::<String>("record-streams").and_then(|words| words.parse().ok());
        RecordingChoices {
            streams: streams.unwrap_or(default.streams),
            format: self.get::<Format>("record-format").unwrap_or(default.format),
            compression: self.get::<Compression>("record-compression").unwrap_or(default.compression),
            filled: self.get("record-filled").unwrap_or(default.filled),
            folder: self.get("record-folder"),
        }
    }

    /// Preset, engine and parameters as words that flags can follow; `known` says which of them are still understood.
    pub(crate) fn words(&self, path: &Path, known: impl Fn(&Word) -> bool) -> Vec<Word> {
        let word = |(name, value): (String, Value)| {
            let text = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
            Word { name, text, origin: Origin::File { path: path.to_owned(), line: 1 } }
        };
        self.get::<Table>("settings").unwrap_or_default().into_iter().map(word).filter(known).collect()
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
        let mut view = ViewSettings { depth_range_m: Some((0.5, 4.0)), unfolded: true, ..ViewSettings::default() };
        view.error_px = 0.5;
        view.toggle(ViewKind::Right);
        let recent = ["l.png,r.png,t.png:4", "webcam:0,1", "a.mcap"].map(|words| SourceSpec::parse(words).unwrap());
        let chosen = [("p1", "4"), ("left-right", "off"), ("subpixel", "off"), ("engine", "cpu")];
        let recording = RecordingChoices {
            streams: "eyes,disparity".parse().unwrap(),
            format: Format::Foxglove,
            compression: Compression::Zstd,
            filled: true,
            folder: Some("some/where".into()),
        };
        let saved = SavedState::of(
            "scene",
            &recent,
            &view,
            &recording,
            chosen.map(|(name, text)| (name, text.to_owned())).into(),
        );
        saved.write(&path).unwrap();
        let read = SavedState::read(&path);
        assert_eq!(read, saved);
        assert_eq!(read.recent(), recent);
        assert_eq!(read.view(), view);
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
        let saved = SavedState::read(&path);
        assert_eq!(saved.view().views, [ViewKind::Depth]);
        assert_eq!(saved.words(&path, |word| word.name == "p1").len(), 1);
        std::fs::write(&path, "views = [").unwrap();
        assert_eq!(SavedState::read(&path), SavedState::default());
    }

    /// Written by version 0.1.0 before the state was regrouped.
    const OLD_FILE: &str = r#"
source = "scene"
views = ["left", "depth", "recorded"]
colormap = "viridis"
depth-range-m = [0.5, 4.0]
colour-reasons = true
unfolded = true
controls = false
error-px = 0.5
record-streams = "raw,disparity"
record-format = "foxglove"
record-compression = "zstd"
record-filled = true
record-folder = "some/where"

[settings]
preset = "fast"
p1 = "4"
engine = "cpu"
"#;

    #[test]
    fn an_old_file_opens_unchanged() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("window.toml");
        std::fs::write(&path, OLD_FILE).unwrap();
        let saved = SavedState::read(&path);
        assert_eq!(saved.source().as_deref(), Some("scene"));
        let view = ViewSettings {
            views: vec![ViewKind::Left, ViewKind::Depth, ViewKind::Recorded],
            colormap: crate::colormap::Colormap::from_word("viridis").unwrap(),
            depth_range_m: Some((0.5, 4.0)),
            colour_reasons: true,
            unfolded: true,
            controls: false,
            error_px: 0.5,
        };
        assert_eq!(saved.view(), view);
        let recording = RecordingChoices {
            streams: "raw,disparity".parse().unwrap(),
            format: Format::Foxglove,
            compression: Compression::Zstd,
            filled: true,
            folder: Some("some/where".into()),
        };
        assert_eq!(saved.recording(), recording);
        let mut names: Vec<_> = saved.words(&path, |_| true).into_iter().map(|word| word.name).collect();
        names.sort();
        assert_eq!(names, ["engine", "p1", "preset"]);
        let written = SavedState::of("scene", &[], &view, &recording, vec![("preset", "fast".to_owned())]);
        written.write(&path).unwrap();
        assert_eq!(SavedState::read(&path).view(), view);
    }
}
