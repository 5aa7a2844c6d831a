//! Saved state: views, panels, source and parameters of the last run in one TOML file. A wrong value costs its key alone and is named to
//! the user; keys of later versions are kept when the state is written.

use super::error::FileError;
use super::{Arrangement, ERRORS_PX, PictureChoices, RecordingChoices, TEXT_ZOOM, ViewSettings, picture::SCALES};
use crate::space::{DENSITIES, SpaceSettings};
use crate::view::ViewKind;
use serde::{Deserialize, Serialize};
use std::io::ErrorKind;
use std::ops::RangeInclusive;
use std::path::{Path, PathBuf};
use stereopsis_base::files;
use stereopsis_base::parameter::Group;
use stereopsis_calibrate::Board;
use stereopsis_capture::webcam;
use stereopsis_frame::SourceSpec;
use stereopsis_recording::Streams;
use stereopsis_recording::write::Split;
use stereopsis_settings::rig::RigFile;
use stereopsis_settings::settings::{Origin, Settings, Word, known_words};
use stereopsis_stereo::StereoParams;
use toml::{Table, Value};

/// Key of the table of parameters.
const SETTINGS: &str = "settings";

/// Content of the file, by its keys.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, rename_all = "kebab-case")]
pub(crate) struct SavedState {
    source: Option<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    recent: Vec<String>,
    views: Vec<ViewKind>,
    controls: Option<bool>,
    /// Whether the read-outs are shown; earlier versions had one switch for both panels.
    readings: Option<bool>,
    narrow_views: Vec<ViewKind>,
    narrow_controls: Option<bool>,
    narrow_readings: Option<bool>,
    /// Whether all groups are unfolded, which earlier versions saved in place of their names.
    unfolded: bool,
    unfolded_groups: Option<Vec<Group>>,
    #[serde(flatten)]
    view: ViewSettings,
    #[serde(flatten)]
    space: SpaceSettings,
    record_streams: Option<String>,
    record_split: Option<String>,
    #[serde(flatten)]
    recording: RecordingChoices,
    #[serde(flatten)]
    pictures: PictureChoices,
    board: Option<String>,
    settings: Table,
    rig: Option<Table>,
    /// Keys of later versions.
    #[serde(flatten)]
    unknown: Table,
    /// Table of the file that was read.
    #[serde(skip)]
    file: Table,
    /// Keys of the file whose values cannot be used.
    #[serde(skip)]
    wrong: Vec<String>,
}

impl SavedState {
    /// Reads the file; a missing one is empty.
    ///
    /// # Errors
    /// There is something else than a plain file, it cannot be read, or its text is not valid TOML.
    pub(crate) fn read(path: &Path) -> Result<Self, FileError> {
        match files::plain::read_text(path) {
            Err(err) if err.kind() == ErrorKind::NotFound && path.is_symlink() => Err(FileError::DanglingLink),
            Err(err) if err.kind() == ErrorKind::NotFound => Ok(Self::default()),
            Err(cause) => Err(FileError::Read { path: path.to_owned(), cause }),
            Ok(text) => Self::parse(&text),
        }
    }

    fn parse(text: &str) -> Result<Self, FileError> {
        toml::from_str(text).and_then(Self::of_table).map_err(|cause| {
            let before = cause.span().and_then(|span| text.get(..span.start));
            FileError::Toml { line: before.map(|before| before.matches('\n').count() + 1), cause }
        })
    }

    /// Takes what can be used of a table: each key alone, and of a wrong list its usable members.
    fn of_table(file: Table) -> Result<Self, toml::de::Error> {
        let is_usable = |key: &str, value: &Value| {
            let alone: Result<Self, _> = Table::from_iter([(key.to_owned(), value.clone())]).try_into();
            alone.is_ok_and(|state| state.is_valid())
        };
        let (mut usable, mut wrong) = (Table::new(), Vec::new());
        for (key, value) in &file {
            let mut value = value.clone();
            if !is_usable(key, &value) {
                wrong.push(key.clone());
                if let Value::Array(members) = &mut value {
                    members.retain(|member| is_usable(key, &Value::from(vec![member.clone()])));
                }
                if !is_usable(key, &value) {
                    continue;
                }
            }
            usable.insert(key.clone(), value);
        }
        Ok(Self { file, wrong, ..usable.try_into()? })
    }

    /// Returns whether words have their form and numbers lie in their ranges.
    fn is_valid(&self) -> bool {
        let Self { view, space, .. } = self;
        self.source.iter().chain(&self.recent).all(|words| SourceSpec::parse(words).is_ok())
            && self.board.as_ref().is_none_or(|words| words.parse::<Board>().is_ok())
            && self.record_streams.as_ref().is_none_or(|words| words.parse::<Streams>().is_ok())
            && self.record_split.as_ref().is_none_or(|words| words.parse::<Split>().is_ok())
            && ERRORS_PX.contains(&view.error_px)
            && TEXT_ZOOM.contains(&view.text_zoom)
            && view.window_size.iter().all(|side| SIDES.contains(side))
            && view.dock_widths.iter().all(|width| WIDTHS.contains(width))
            && view.depth_range_m.as_ref().is_none_or(is_range)
            && space.every.is_none_or(|every| DENSITIES.contains(&every))
            && SCALES.contains(&self.pictures.scale)
    }

    /// Returns the table of the file, with the rig and with the keys of later versions that were in the file before.
    ///
    /// # Errors
    /// A path is not valid Unicode.
    pub(crate) fn table(&self, rig: &RigFile, folder: &Path, before: Option<&Self>) -> Result<Table, FileError> {
        let rig = RigFile { source: rig.source.as_ref().map(webcam::lasting), ..rig.clone() };
        let mut state = Self { rig: Some(rig.to_table(folder)?), ..self.clone() };
        if let Some(before) = before {
            state.unknown.clone_from(&before.unknown);
            let later = before.settings.iter().filter(|(name, _)| !is_known(name));
            state.settings.extend(later.map(|(name, value)| (name.clone(), value.clone())));
        }
        Ok(Table::try_from(state)?)
    }

    /// Returns whether this table was read.
    pub(crate) fn is(&self, table: &Table) -> bool {
        self.file == *table
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.file.is_empty()
    }

    /// Returns the keys whose values cannot be used, of a state whose rig has its files in this folder.
    pub(crate) fn wrong(&self, folder: &Path) -> Vec<String> {
        let mut wrong = self.wrong.clone();
        wrong.extend(self.rig.as_ref().filter(|_| self.rig(folder).is_none()).map(|_| "rig".to_owned()));
        let words = self.known_words(folder).filter(|word| !is_usable(word));
        wrong.extend(words.map(|word| format!("{SETTINGS}.{}", word.name)));
        wrong.sort();
        wrong
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
        let in_unicode = |folder: &Option<PathBuf>| folder.clone().filter(|folder| folder.to_str().is_some());
        let whole = |points: f32, range: &RangeInclusive<f32>| points.clamp(*range.start(), *range.end()).round();
        Self {
            source: Some(source.to_owned()),
            recent: recent.iter().map(SourceSpec::to_string).collect(),
            views: view.wide.views.clone(),
            controls: Some(view.wide.controls),
            readings: Some(view.wide.readings),
            narrow_views: view.narrow.views.clone(),
            narrow_controls: Some(view.narrow.controls),
            narrow_readings: Some(view.narrow.readings),
            unfolded: view.unfolded.len() == Group::ALL.len(),
            unfolded_groups: Some(view.unfolded.clone()),
            view: ViewSettings {
                depth_range_m: view.depth_range_m.filter(is_range),
                text_zoom: view.text_zoom.clamp(*TEXT_ZOOM.start(), *TEXT_ZOOM.end()),
                window_size: view.window_size.map(|side| whole(side, &SIDES)),
                dock_widths: view.dock_widths.map(|width| whole(width, &WIDTHS)),
                ..view.clone()
            },
            space: view.space,
            record_streams: Some(recording.streams.to_string()),
            record_split: recording.split.map(|split| split.to_string()),
            recording: RecordingChoices { folder: in_unicode(&recording.folder), ..recording.clone() },
            pictures: PictureChoices { folder: in_unicode(&pictures.folder), ..pictures.clone() },
            board: board.map(Board::to_string),
            settings: settings.into_iter().map(|(name, value)| (name.to_owned(), value.into())).collect(),
            ..Self::default()
        }
    }

    /// Returns the last rig with its files in this folder; `None` in files of earlier versions.
    pub(crate) fn rig(&self, folder: &Path) -> Option<RigFile> {
        let rig = RigFile::from_table(self.rig.clone()?, folder);
        rig.inspect_err(|err| log::warn!("the last rig is not used: {err}")).ok()
    }

    /// Returns the source in the notation of `--source`.
    pub(crate) fn source(&self) -> Option<&str> {
        self.source.as_deref()
    }

    /// Returns the recently opened sources, the newest first.
    pub(crate) fn recent(&self) -> Vec<SourceSpec> {
        self.recent.iter().filter_map(|words| SourceSpec::parse(words).ok()).collect()
    }

    pub(crate) fn board(&self) -> Option<Board> {
        self.board.as_ref()?.parse().ok()
    }

    /// Returns the settings of the views.
    pub(crate) fn view(&self) -> ViewSettings {
        let ViewSettings { wide, narrow, .. } = ViewSettings::default();
        let views = |saved: &[ViewKind], default| if saved.is_empty() { default } else { saved.to_vec() };
        let controls = self.controls.unwrap_or(wide.controls);
        let all_unfolded = if self.unfolded { Group::ALL } else { &[] };
        ViewSettings {
            wide: Arrangement {
                views: views(&self.views, wide.views),
                controls,
                readings: self.readings.unwrap_or(controls),
            },
            narrow: Arrangement {
                views: views(&self.narrow_views, narrow.views),
                controls: self.narrow_controls.unwrap_or(narrow.controls),
                readings: self.narrow_readings.unwrap_or(narrow.readings),
            },
            unfolded: self.unfolded_groups.clone().unwrap_or_else(|| all_unfolded.to_vec()),
            space: self.space,
            ..self.view.clone()
        }
    }

    pub(crate) fn pictures(&self) -> PictureChoices {
        self.pictures.clone()
    }

    pub(crate) fn recording(&self) -> RecordingChoices {
        let streams = self.record_streams.as_ref().and_then(|words| words.parse().ok());
        RecordingChoices {
            streams: streams.unwrap_or_default(),
            split: self.record_split.as_ref().and_then(|words| words.parse().ok()),
            ..self.recording.clone()
        }
    }

    /// Returns preset, engine and parameters as words that flags can follow, without those of other versions.
    pub(crate) fn words(&self, path: &Path) -> Vec<Word> {
        self.known_words(path).filter(is_usable).collect()
    }

    fn known_words(&self, path: &Path) -> impl Iterator<Item = Word> {
        let known = self.settings.iter().filter(|(name, _)| is_known(name));
        known.map(|(name, value)| Word {
            name: name.clone(),
            text: value.as_str().map_or_else(|| value.to_string(), str::to_owned),
            origin: Origin::File { path: path.to_owned(), line: 1 },
        })
    }
}

/// Sides of a window that is on a screen, points.
const SIDES: RangeInclusive<f32> = 200.0..=20_000.0;
/// Widths of docks, points.
const WIDTHS: RangeInclusive<f32> = 100.0..=2000.0;

fn is_range((near, far): &(f64, f64)) -> bool {
    *near > 0.0 && near < far && far.is_finite()
}

fn is_known(setting: &str) -> bool {
    known_words().any(|known| known == setting)
}

/// Returns whether a word has a valid value; it is checked alone, because P1 may need the P2 that follows.
fn is_usable(word: &Word) -> bool {
    match StereoParams::parameter(&word.name) {
        Some(parameter) => parameter.parse(&word.text).is_ok(),
        None => Settings::resolve(std::slice::from_ref(word)).is_ok(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::core::picture::PictureFormat;
    use crate::space::{Colouring, Surface};
    use crate::style::Ground;
    use std::time::Duration;
    use stereopsis_recording::Format;
    use stereopsis_recording::write::Compression;
    use stereopsis_stereo::Subpixel;

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
        std::fs::write(&path, saved.table(&rig, folder.path(), None).unwrap().to_string()).unwrap();
        let read = SavedState::read(&path).unwrap();
        assert_eq!((read.rig(folder.path()), saved.rig(folder.path())), (Some(rig), None));
        assert_eq!(read.recent(), recent);
        assert_eq!(read.board().unwrap().to_string(), board.to_string());
        assert_eq!(read.view(), view);
        assert_eq!(read.recording(), recording);
        assert_eq!(read.pictures(), pictures);
        let settings = Settings::resolve(&read.words(&path)).unwrap();
        let params = StereoParams { p1: 4, left_right: None, subpixel: Subpixel::Off, ..StereoParams::default() };
        assert_eq!(settings.params, params);
        assert_eq!(settings.engine.word(), "cpu");
        assert!(read.wrong(folder.path()).is_empty() && read.unknown.is_empty(), "{read:?}");
    }

    #[test]
    fn one_wrong_value_costs_no_other_and_is_named() {
        let here = Path::new("");
        let text = r#"
views = ["depth", "hologram"]
colormap = "viridis"
space-every = 77
space-surface = "jelly"
window-size = "large"
dock-widths = [300, 300, 99999]
depth-range-m = [4.0, 0.5]
source = "webcam:1,1"
recent = ["scene", "webcam:1,1"]
board = "a board"
rig = 7
[settings]
p1 = 11
p2 = "many"
engine = "quantum"
"#;
        let saved = SavedState::parse(text).unwrap();
        assert_eq!((saved.view().wide.views, saved.view().space), (vec![ViewKind::Depth], SpaceSettings::default()));
        assert_eq!(saved.view().colormap.word(), "viridis");
        assert_eq!((saved.recent(), saved.source(), saved.board().is_none()), (vec![SourceSpec::Scene], None, true));
        assert!(matches!(&saved.words(here)[..], [Word { name, .. }] if name == "p1"));
        let wrong = saved.wrong(here).join(" ");
        assert!(
            wrong.starts_with("board depth-range-m dock-widths recent rig settings.engine settings.p2 source "),
            "{wrong}"
        );
        assert!(wrong.ends_with(" space-every space-surface views window-size"), "{wrong}");
        for key in SavedState::parse(OLD_FILE).unwrap().file.keys().filter(|key| *key != SETTINGS) {
            let one = SavedState::parse(&format!("{key} = -7")).unwrap();
            assert_eq!(one.wrong(here), [key.as_str()]);
        }
    }

    #[test]
    fn keys_of_later_versions_are_kept() {
        let later = "future = 3\ntheme = \"dark\"\n[more]\na = 1\n[settings]\np1 = 11\nlater-filter = \"on\"\n";
        let there = SavedState::parse(later).unwrap();
        assert!(there.wrong(Path::new("")).is_empty(), "{there:?}");
        let (recording, pictures) = (RecordingChoices::default(), PictureChoices::default());
        let (view, settings) = (ViewSettings::default(), vec![("p2", "70".to_owned())]);
        let now = SavedState::of("scene", &[], &view, (&recording, &pictures), None, settings);
        let written = now.table(&RigFile::default(), Path::new(""), Some(&there)).unwrap();
        assert_eq!((written["future"].as_integer(), written["more"]["a"].as_integer()), (Some(3), Some(1)));
        let settings = written[SETTINGS].as_table().unwrap();
        let words: Vec<_> = settings.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
        assert_eq!(words, [("later-filter", Some("on")), ("p2", Some("70"))]);
        assert_eq!(written["theme"].as_str(), Some("system"), "a known key has its new value");
    }

    #[test]
    fn what_a_window_writes_it_can_read() {
        let mut view = ViewSettings { text_zoom: 5.0, window_size: [120.0, 30_000.0], ..ViewSettings::default() };
        (view.dock_widths, view.depth_range_m) = ([20.0, 300.0, 9000.0], Some((2.0, 2.0)));
        let (recording, pictures) = (RecordingChoices::default(), PictureChoices::default());
        // each of these words needs another one
        let settings = [("engine", "model"), ("model", "a.onnx"), ("p1", "900"), ("p2", "1000")];
        let settings = settings.map(|(name, value)| (name, value.to_owned())).into();
        let written = SavedState::of("scene", &[], &view, (&recording, &pictures), None, settings);
        let written = written.table(&RigFile::default(), Path::new(""), None).unwrap();
        assert_eq!(written["window-size"], Value::from(vec![200, 20_000]), "whole numbers");
        let read = SavedState::of_table(written).unwrap();
        assert!(read.wrong(Path::new("")).is_empty() && read.unknown.is_empty(), "{read:?}");
        let read = read.view();
        assert_eq!(
            (read.text_zoom, read.window_size, read.dock_widths),
            (3.0, [200.0, 20_000.0], [100.0, 300.0, 2000.0])
        );
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
        let saved = SavedState::read(&path).unwrap();
        assert_eq!(saved.source(), Some("scene"));
        let view = ViewSettings {
            wide: Arrangement {
                views: vec![ViewKind::Left, ViewKind::Depth, ViewKind::Recorded],
                controls: false,
                readings: false,
            },
            colormap: stereopsis_images::colormap::Colormap::from_word("viridis").unwrap(),
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
        let mut names: Vec<_> = saved.words(&path).into_iter().map(|word| word.name).collect();
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
        let table = written.table(&RigFile::default(), folder.path(), None).unwrap();
        std::fs::write(&path, table.to_string()).unwrap();
        assert_eq!(SavedState::read(&path).unwrap().view(), view);
    }
}
