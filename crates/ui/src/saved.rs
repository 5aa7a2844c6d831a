//! Saved state: views, panels, source and parameters of the last run in one TOML file, whose unknown keys and values are ignored.

use super::space::{DENSITIES, SpaceSettings};
use super::state::{
    Arrangement, ERRORS_PX, PictureChoices, RecordingChoices, TEXT_ZOOM, Theme, ViewLayout, ViewSettings,
};
use super::view::ViewKind;
use crate::calibrate::Board;
use crate::capture::SourceSpec;
use crate::features::picture::state::SCALES;
use crate::files;
use crate::parameter::Group;
use crate::recording::Format;
use crate::recording::write::Compression;
use crate::rig::RigFile;
use crate::settings::{Origin, Word};
use serde::Deserialize;
use std::path::Path;
use toml::{Table, Value};

const RIG: &str = "rig";

#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct SavedState(Table);

impl SavedState {
    /// Reads the file; a missing one is empty, and so is invalid TOML, which is logged.
    pub(crate) fn read(path: &Path) -> Self {
        let Ok(text) = files::plain::read_text(path) else { return Self::default() };
        Self(toml::from_str(&text).unwrap_or_else(|err| {
            log::warn!("{}: the window starts with its defaults: {err}", path.display());
            Table::new()
        }))
    }

    /// Returns the text of the file with the rig as a table.
    ///
    /// # Errors
    /// A path is not valid Unicode.
    pub(crate) fn text(&self, rig: &RigFile, folder: &Path) -> Result<String, String> {
        let mut table = self.0.clone();
        table.insert(RIG.to_owned(), rig.to_table(folder).map_err(|err| err.to_string())?.into());
        toml::to_string(&table).map_err(|err| err.to_string())
    }

    /// Collects the state to save; `settings` are only those that differ from the defaults, which later versions may change.
    pub(crate) fn of(
        source: &str,
        recent: &[SourceSpec],
        view: &ViewSettings,
        (recording, pictures): (&RecordingChoices, &PictureChoices),
        board: Option<&Board>,
        settings: Vec<(&'static str, String)>,
    ) -> Self {
        let range = view.depth_range_m.map(|(near, far)| Value::from(vec![near, far]));
        let folder = recording.folder.as_ref().and_then(|folder| folder.to_str()).map(Value::from);
        let picture_folder = pictures.folder.as_ref().and_then(|folder| folder.to_str()).map(Value::from);
        let settings: Table = settings.into_iter().map(|(name, value)| (name.to_owned(), value.into())).collect();
        let groups = view.unfolded.iter().map(|group| group.word()).collect::<Vec<_>>().into();
        let recent: Vec<_> = recent.iter().map(SourceSpec::to_string).collect();
        let entries = [
            ("source", Some(source.into())),
            ("recent", (!recent.is_empty()).then(|| recent.into())),
            ("views", Some(words_of(&view.wide.views))),
            ("controls", Some(view.wide.controls.into())),
            ("readings", Some(view.wide.readings.into())),
            ("narrow-views", Some(words_of(&view.narrow.views))),
            ("narrow-controls", Some(view.narrow.controls.into())),
            ("narrow-readings", Some(view.narrow.readings.into())),
            ("layout", Some(view.layout.word().into())),
            ("large-view", view.large.map(|view| view.word().into())),
            ("theme", Some(view.theme.word().into())),
            ("text-zoom", Some(f64::from(view.text_zoom).into())),
            ("inverted", Some(view.inverted.into())),
            ("window-size", Some(numbers(&[view.window_size.0, view.window_size.1]))),
            ("dock-widths", Some(numbers(&view.dock_widths))),
            ("colormap", Some(view.colormap.word().into())),
            ("depth-range-m", range),
            ("colour-reasons", Some(view.colour_reasons.into())),
            ("unfolded", Some((view.unfolded.len() == Group::ALL.len()).into())),
            ("unfolded-groups", Some(groups)),
            ("error-px", Some(view.error_px.into())),
            ("space-colouring", Some(view.space.colouring.word().into())),
            ("space-surface", Some(view.space.surface.word().into())),
            ("space-every", view.space.every.map(|every| (every as i64).into())),
            ("space-limited", Some(view.space.is_limited.into())),
            ("space-lines", Some(view.space.has_lines.into())),
            ("space-background", Some(view.space.ground.word().into())),
            ("record-streams", Some(recording.streams.to_string().into())),
            ("record-format", Some(recording.format.word().into())),
            ("record-compression", Some(recording.compression.word().into())),
            ("record-filled", Some(recording.filled.into())),
            ("record-split", recording.split.map(|split| split.to_string().into())),
            ("record-folder", folder),
            ("picture-format", Some(pictures.format.word().into())),
            ("picture-scale", Some(i64::from(pictures.scale).into())),
            ("picture-ground", Some(pictures.ground.word().into())),
            ("picture-folder", picture_folder),
            ("board", board.map(|board| board.to_string().into())),
            ("settings", Some(settings.into())),
        ];
        Self(entries.into_iter().filter_map(|(key, value)| Some((key.to_owned(), value?))).collect())
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    fn get<T: for<'de> Deserialize<'de>>(&self, key: &str) -> Option<T> {
        self.0.get(key)?.clone().try_into().ok()
    }

    /// Returns the last rig with its files in this folder; `None` in files of earlier versions.
    pub(crate) fn rig(&self, folder: &Path) -> Option<RigFile> {
        let rig = RigFile::from_table(self.0.get(RIG)?.as_table()?.clone(), folder);
        rig.inspect_err(|err| log::warn!("the last rig is not used: {err}")).ok()
    }

    /// Returns the source in the notation of `--source`.
    pub(crate) fn source(&self) -> Option<String> {
        self.get("source")
    }

    /// Returns the recently opened sources, the newest first.
    pub(crate) fn recent(&self) -> Vec<SourceSpec> {
        let words: Vec<String> = self.get("recent").unwrap_or_default();
        words.iter().filter_map(|words| SourceSpec::parse(words).ok()).collect()
    }

    pub(crate) fn board(&self) -> Option<Board> {
        self.get::<String>("board")?.parse().ok()
    }

    /// Returns the settings of the views, with defaults for missing and invalid values.
    pub(crate) fn view(&self) -> ViewSettings {
        let default = ViewSettings::default();
        let views = |key: &str, default: &Arrangement| -> Vec<ViewKind> {
            let words: Vec<String> = self.get(key).unwrap_or_default();
            let views: Vec<_> = words.iter().filter_map(|word| ViewKind::from_word(word)).collect();
            if views.is_empty() { default.views.clone() } else { views }
        };
        let groups: Option<Vec<String>> = self.get("unfolded-groups");
        let groups = groups.map(|words| words.iter().filter_map(|word| Group::from_word(word)).collect());
        let unfolded: Vec<Group> = groups.unwrap_or_else(|| match self.get("unfolded") {
            Some(true) => Group::ALL.to_vec(), // earlier versions saved all or none
            _ => Vec::new(),
        });
        let is_on_screen =
            |(width, height): &(f32, f32)| (200.0..20_000.0).contains(width) && (200.0..20_000.0).contains(height);
        let are_widths = |widths: &[f32; 3]| widths.iter().all(|width| (100.0..2000.0).contains(width));
        let controls = self.get("controls").unwrap_or(default.wide.controls);
        ViewSettings {
            wide: Arrangement {
                views: views("views", &default.wide),
                controls,
                readings: self.get("readings").unwrap_or(controls), // earlier versions had one switch for both
            },
            narrow: Arrangement {
                views: views("narrow-views", &default.narrow),
                controls: self.get("narrow-controls").unwrap_or(default.narrow.controls),
                readings: self.get("narrow-readings").unwrap_or(default.narrow.readings),
            },
            is_narrow: default.is_narrow,
            layout: self.get("layout").and_then(|word: String| ViewLayout::from_word(&word)).unwrap_or(default.layout),
            large: self.get("large-view").and_then(|word: String| ViewKind::from_word(&word)),
            alone: default.alone,
            colormap: self.get("colormap").unwrap_or(default.colormap),
            depth_range_m: self
                .get("depth-range-m")
                .filter(|(near, far): &(f64, f64)| *near > 0.0 && near < far && far.is_finite()),
            colour_reasons: self.get("colour-reasons").unwrap_or(default.colour_reasons),
            unfolded,
            error_px: self.get("error-px").filter(|px| ERRORS_PX.contains(px)).unwrap_or(default.error_px),
            space: self.space(),
            inverted: self.get("inverted").unwrap_or(default.inverted),
            theme: self.get("theme").and_then(|word: String| Theme::from_word(&word)).unwrap_or(default.theme),
            window_size: self.get("window-size").filter(is_on_screen).unwrap_or(default.window_size),
            dock_widths: self.get("dock-widths").filter(are_widths).unwrap_or(default.dock_widths),
            text_zoom: self.get("text-zoom").filter(|zoom| TEXT_ZOOM.contains(zoom)).unwrap_or(default.text_zoom),
        }
    }

    fn space(&self) -> SpaceSettings {
        let default = SpaceSettings::default();
        SpaceSettings {
            colouring: self.get("space-colouring").unwrap_or(default.colouring),
            surface: self.get("space-surface").unwrap_or(default.surface),
            every: self.get("space-every").filter(|every| DENSITIES.contains(every)),
            is_limited: self.get("space-limited").unwrap_or(default.is_limited),
            has_lines: self.get("space-lines").unwrap_or(default.has_lines),
            ground: self.get("space-background").unwrap_or(default.ground),
        }
    }

    pub(crate) fn pictures(&self) -> PictureChoices {
        let default = PictureChoices::default();
        PictureChoices {
            format: self.get("picture-format").unwrap_or(default.format),
            scale: self.get("picture-scale").filter(|scale| SCALES.contains(scale)).unwrap_or(default.scale),
            ground: self.get("picture-ground").unwrap_or(default.ground),
            folder: self.get("picture-folder"),
        }
    }

    pub(crate) fn recording(&self) -> RecordingChoices {
        let default = RecordingChoices::default();
        let streams = self.get::<String>("record-streams").and_then(|words| words.parse().ok());
        RecordingChoices {
            streams: streams.unwrap_or(default.streams),
            format: self.get::<Format>("record-format").unwrap_or(default.format),
            compression: self.get::<Compression>("record-compression").unwrap_or(default.compression),
            filled: self.get("record-filled").unwrap_or(default.filled),
            split: self.get::<String>("record-split").and_then(|words| words.parse().ok()),
            folder: self.get("record-folder"),
        }
    }

    /// Returns preset, engine and parameters as words that flags can follow; `known` drops words of other versions.
    pub(crate) fn words(&self, path: &Path, known: impl Fn(&Word) -> bool) -> Vec<Word> {
        let word = |(name, value): (String, Value)| {
            let text = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
            Word { name, text, origin: Origin::File { path: path.to_owned(), line: 1 } }
        };
        self.get::<Table>("settings").unwrap_or_default().into_iter().map(word).filter(known).collect()
    }
}

/// Rounds to whole points.
fn numbers(points: &[f32]) -> Value {
    points.iter().map(|&points| i64::from(points.round() as i32)).collect::<Vec<_>>().into()
}

fn words_of(views: &[ViewKind]) -> Value {
    views.iter().map(|view| view.word()).collect::<Vec<_>>().into()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::features::picture::state::PictureFormat;
    use crate::recording::write::Split;
    use crate::settings::Settings;
    use crate::space::{Colouring, Surface};
    use crate::stereo::{StereoParams, Subpixel};
    use crate::style::Ground;
    use std::time::Duration;

    #[test]
    fn saved_state_round_trips() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("window.toml");
        let mut view =
            ViewSettings { depth_range_m: Some((0.5, 4.0)), unfolded: vec![Group::Paths], ..ViewSettings::default() };
        view.error_px = 0.5;
        view.space = SpaceSettings {
            colouring: Colouring::Depth,
            surface: Surface::Mesh,
            every: Some(3),
            is_limited: false,
            has_lines: false,
            ground: Ground::Light,
        };
        view.toggle(ViewKind::Right);
        view.toggle(ViewKind::Space);
        let recent = ["l.png,r.png,t.png:4", "webcam:0,1", "a.mcap"].map(|words| SourceSpec::parse(words).unwrap());
        let chosen = [("p1", "4"), ("left-right", "off"), ("subpixel", "off"), ("engine", "cpu")];
        let recording = RecordingChoices {
            streams: "eyes,disparity".parse().unwrap(),
            format: Format::Foxglove,
            compression: Compression::Zstd,
            filled: true,
            split: Some(Split::Time(Duration::from_mins(10))),
            folder: Some("some/where".into()),
        };
        let board: Board = "chessboard:9x6:25.5mm".parse().unwrap();
        let folder_of_pictures = Some("pictures".into());
        let pictures =
            PictureChoices { format: PictureFormat::Svg, scale: 3, ground: Ground::Dark, folder: folder_of_pictures };
        let saved = SavedState::of(
            "scene",
            &recent,
            &view,
            (&recording, &pictures),
            Some(&board),
            chosen.map(|(name, text)| (name, text.to_owned())).into(),
        );
        let rig = RigFile { size: Some((640, 480)), ..RigFile::default() };
        std::fs::write(&path, saved.text(&rig, folder.path()).unwrap()).unwrap();
        let read = SavedState::read(&path);
        assert_eq!((read.rig(folder.path()), saved.rig(folder.path())), (Some(rig), None));
        assert_eq!(read.recent(), recent);
        assert_eq!(read.board().unwrap().to_string(), board.to_string());
        assert_eq!(read.view(), view);
        assert_eq!(read.recording(), recording);
        assert_eq!(read.pictures(), pictures);
        let settings = Settings::resolve(&read.words(&path, |_| true)).unwrap();
        let params = StereoParams { p1: 4, left_right: None, subpixel: Subpixel::Off, ..StereoParams::default() };
        assert_eq!(settings.params, params);
        assert_eq!(settings.engine.word(), "cpu");
    }

    #[test]
    fn unknown_keys_and_broken_files_do_no_harm() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("window.toml");
        std::fs::write(&path, "views = [\"depth\", \"hologram\"]\nfuture = 3\nspace-every = 77\nspace-surface = \"jelly\"\n[settings]\np1 = 11\n").unwrap();
        let saved = SavedState::read(&path);
        assert_eq!(saved.view().wide.views, [ViewKind::Depth]);
        assert_eq!(saved.view().space, SpaceSettings::default());
        assert_eq!(saved.words(&path, |word| word.name == "p1").len(), 1);
        std::fs::write(&path, "views = [").unwrap();
        assert_eq!(SavedState::read(&path), SavedState::default());
    }

    /// State as version 0.1.0 wrote it.
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
            wide: Arrangement {
                views: vec![ViewKind::Left, ViewKind::Depth, ViewKind::Recorded],
                controls: false,
                readings: false,
            },
            colormap: crate::colormap::Colormap::from_word("viridis").unwrap(),
            depth_range_m: Some((0.5, 4.0)),
            colour_reasons: true,
            unfolded: Group::ALL.to_vec(),
            error_px: 0.5,
            ..ViewSettings::default()
        };
        assert_eq!(saved.view(), view);
        let recording = RecordingChoices {
            streams: "raw,disparity".parse().unwrap(),
            format: Format::Foxglove,
            compression: Compression::Zstd,
            filled: true,
            split: None,
            folder: Some("some/where".into()),
        };
        assert_eq!(saved.recording(), recording);
        let mut names: Vec<_> = saved.words(&path, |_| true).into_iter().map(|word| word.name).collect();
        names.sort();
        assert_eq!(names, ["engine", "p1", "preset"]);
        let written = SavedState::of(
            "scene",
            &[],
            &view,
            (&recording, &PictureChoices::default()),
            None,
            vec![("preset", "fast".to_owned())],
        );
        std::fs::write(&path, written.text(&RigFile::default(), folder.path()).unwrap()).unwrap();
        assert_eq!(SavedState::read(&path).view(), view);
    }
}
