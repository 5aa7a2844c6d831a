//! Saved state: views, panels, source and parameters of the last run in one TOML file. What cannot be used of it is noted while it is read:
//! unknown keys, of later versions, are kept when the state is written, and wrong values are named to the user.

use super::{
    Arrangement, ERRORS_PX, PictureChoices, RecordingChoices, TEXT_ZOOM, Theme, ViewLayout, ViewSettings,
    picture::SCALES,
};
use crate::space::{DENSITIES, SpaceSettings};
use crate::view::ViewKind;
use serde::Deserialize;
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::io::ErrorKind;
use std::ops::RangeInclusive;
use std::path::Path;
use stereopsis_base::files;
use stereopsis_base::parameter::Group;
use stereopsis_calibrate::Board;
use stereopsis_capture::webcam;
use stereopsis_frame::SourceSpec;
use stereopsis_recording::Format;
use stereopsis_recording::write::Compression;
use stereopsis_settings::rig::RigFile;
use stereopsis_settings::settings::{Origin, Settings, Word, known_words};
use stereopsis_stereo::StereoParams;
use toml::{Table, Value};

const RIG: &str = "rig";
/// Key of the table of parameters.
const SETTINGS: &str = "settings";

#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct SavedState {
    table: Table,
    /// Keys that this version has read, and whether their values can be used.
    read: RefCell<BTreeMap<String, bool>>,
}

/// Content of a saved state that this version does not use.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct Unused {
    /// Known keys with a wrong value.
    pub(crate) wrong: Vec<String>,
    /// Keys of later versions.
    pub(crate) unknown: Table,
}

impl SavedState {
    /// Reads the file; a missing one is empty.
    ///
    /// # Errors
    /// There is something else than a plain file, it cannot be read, or its text is not valid TOML.
    pub(crate) fn read(path: &Path) -> Result<Self, String> {
        let text = match files::plain::read_text(path) {
            Err(err) if err.kind() == ErrorKind::NotFound && path.is_symlink() => {
                return Err("it is a link to something that does not exist".to_owned());
            }
            Err(err) if err.kind() == ErrorKind::NotFound => String::new(),
            text => text.map_err(|err| files::read_cause(path, &err))?,
        };
        Self::parse(&text)
    }

    fn parse(text: &str) -> Result<Self, String> {
        let table = toml::from_str(text).map_err(|err: toml::de::Error| {
            let before = err.span().and_then(|span| text.get(..span.start));
            let line = before.map_or(String::new(), |before| format!("line {}: ", before.matches('\n').count() + 1));
            format!("{line}{}", err.message())
        })?;
        Ok(Self { table, read: RefCell::default() })
    }

    /// Returns the table of the file, with the rig and the keys of later versions that were in the file before.
    ///
    /// # Errors
    /// A path is not valid Unicode.
    pub(crate) fn table(&self, rig: &RigFile, folder: &Path, unknown: Table) -> Result<Table, String> {
        let mut table = self.table.clone();
        let rig = RigFile { source: rig.source.as_ref().map(webcam::lasting), ..rig.clone() };
        table.insert(RIG.to_owned(), rig.to_table(folder).map_err(|err| err.to_string())?.into());
        for (key, value) in unknown {
            match (table.get_mut(&key).and_then(Value::as_table_mut), value) {
                (Some(known), Value::Table(more)) => known.extend(more),
                (_, value) => _ = table.insert(key, value),
            }
        }
        Ok(table)
    }

    pub(crate) fn is(&self, table: &Table) -> bool {
        self.table == *table
    }

    /// Returns what cannot be used of a state whose rig has its files in this folder.
    pub(crate) fn unused(&self, folder: &Path) -> Unused {
        let _ = (self.source(), self.recent(), self.board(), self.view(), self.pictures(), self.recording());
        let _ = (self.rig(folder), self.words(folder));
        let read = self.read.borrow();
        let wrong = read.iter().filter(|(_, is_usable)| !**is_usable).map(|(key, _)| key.clone()).collect();
        let mut unknown: Table = self.table.clone().into_iter().filter(|(key, _)| !read.contains_key(key)).collect();
        let settings = self.table.get(SETTINGS).and_then(Value::as_table).cloned().unwrap_or_default();
        let settings: Table = settings.into_iter().filter(|(name, _)| !read.contains_key(&setting(name))).collect();
        if !settings.is_empty() {
            unknown.insert(SETTINGS.to_owned(), settings.into());
        }
        Unused { wrong, unknown }
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
        let range = view.depth_range_m.filter(is_range).map(|(near, far)| Value::from(vec![near, far]));
        let (width, height) = view.window_size;
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
            ("text-zoom", Some(f64::from(view.text_zoom.clamp(*TEXT_ZOOM.start(), *TEXT_ZOOM.end())).into())),
            ("inverted", Some(view.inverted.into())),
            ("window-size", Some(numbers(&[width, height], &SIDES))),
            ("dock-widths", Some(numbers(&view.dock_widths, &WIDTHS))),
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
            (SETTINGS, Some(settings.into())),
        ];
        let table = entries.into_iter().filter_map(|(key, value)| Some((key.to_owned(), value?))).collect();
        Self { table, read: RefCell::default() }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.table.is_empty()
    }

    fn get<T: for<'de> Deserialize<'de>>(&self, key: &str) -> Option<T> {
        self.get_if(key, Some)
    }

    /// Returns the value of a key if it has this type and `use_it` accepts it, and notes whether it can be used.
    fn get_if<T: for<'de> Deserialize<'de>, U>(&self, key: &str, use_it: impl FnOnce(T) -> Option<U>) -> Option<U> {
        let value = self.table.get(key).cloned().map(|value| value.try_into().ok().and_then(use_it));
        self.note(key.to_owned(), !matches!(value, Some(None)));
        value.flatten()
    }

    /// Returns the values of a list of words; a wrong one is noted and left out.
    fn list<T>(&self, key: &str, parse: impl Fn(&str) -> Option<T>) -> Option<Vec<T>> {
        let words: Vec<String> = self.get(key)?;
        let values: Vec<_> = words.iter().filter_map(|word| parse(word)).collect();
        if values.len() < words.len() {
            self.note(key.to_owned(), false);
        }
        Some(values)
    }

    fn note(&self, key: String, is_usable: bool) {
        self.read.borrow_mut().insert(key, is_usable);
    }

    /// Returns the last rig with its files in this folder; `None` in files of earlier versions.
    pub(crate) fn rig(&self, folder: &Path) -> Option<RigFile> {
        let used = |table| RigFile::from_table(table, folder);
        self.get_if(RIG, |table| used(table).inspect_err(|err| log::warn!("the last rig is not used: {err}")).ok())
    }

    /// Returns the source in the notation of `--source`.
    pub(crate) fn source(&self) -> Option<String> {
        self.get_if("source", |words: String| SourceSpec::parse(&words).is_ok().then_some(words))
    }

    /// Returns the recently opened sources, the newest first.
    pub(crate) fn recent(&self) -> Vec<SourceSpec> {
        self.list("recent", |words| SourceSpec::parse(words).ok()).unwrap_or_default()
    }

    pub(crate) fn board(&self) -> Option<Board> {
        self.get_if("board", |words: String| words.parse().ok())
    }

    /// Returns the settings of the views, with defaults for missing and invalid values.
    pub(crate) fn view(&self) -> ViewSettings {
        let default = ViewSettings::default();
        let views = |key: &str, default: &Arrangement| -> Vec<ViewKind> {
            self.list(key, ViewKind::from_word).filter(|views| !views.is_empty()).unwrap_or(default.views.clone())
        };
        let all = self.get("unfolded"); // earlier versions saved all or none
        let unfolded = self.list("unfolded-groups", Group::from_word);
        let unfolded = unfolded.unwrap_or(if all == Some(true) { Group::ALL.to_vec() } else { Vec::new() });
        let size = |(width, height)| [width, height].iter().all(|side| SIDES.contains(side)).then_some((width, height));
        let widths = |widths: [f32; 3]| widths.iter().all(|width| WIDTHS.contains(width)).then_some(widths);
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
            layout: self.word("layout", ViewLayout::from_word).unwrap_or(default.layout),
            large: self.word("large-view", ViewKind::from_word),
            alone: default.alone,
            colormap: self.get("colormap").unwrap_or(default.colormap),
            depth_range_m: self.get_if("depth-range-m", |range| Some(range).filter(is_range)),
            colour_reasons: self.get("colour-reasons").unwrap_or(default.colour_reasons),
            unfolded,
            error_px: self.within("error-px", &ERRORS_PX).unwrap_or(default.error_px),
            space: self.space(),
            inverted: self.get("inverted").unwrap_or(default.inverted),
            theme: self.word("theme", Theme::from_word).unwrap_or(default.theme),
            window_size: self.get_if("window-size", size).unwrap_or(default.window_size),
            dock_widths: self.get_if("dock-widths", widths).unwrap_or(default.dock_widths),
            text_zoom: self.within("text-zoom", &TEXT_ZOOM).unwrap_or(default.text_zoom),
        }
    }

    fn space(&self) -> SpaceSettings {
        let default = SpaceSettings::default();
        SpaceSettings {
            colouring: self.get("space-colouring").unwrap_or(default.colouring),
            surface: self.get("space-surface").unwrap_or(default.surface),
            every: self.get_if("space-every", |every| DENSITIES.contains(&every).then_some(every)),
            is_limited: self.get("space-limited").unwrap_or(default.is_limited),
            has_lines: self.get("space-lines").unwrap_or(default.has_lines),
            ground: self.get("space-background").unwrap_or(default.ground),
        }
    }

    pub(crate) fn pictures(&self) -> PictureChoices {
        let default = PictureChoices::default();
        PictureChoices {
            format: self.get("picture-format").unwrap_or(default.format),
            scale: self.within("picture-scale", &SCALES).unwrap_or(default.scale),
            ground: self.get("picture-ground").unwrap_or(default.ground),
            folder: self.get("picture-folder"),
        }
    }

    pub(crate) fn recording(&self) -> RecordingChoices {
        let default = RecordingChoices::default();
        let streams = self.get_if("record-streams", |words: String| words.parse().ok());
        RecordingChoices {
            streams: streams.unwrap_or(default.streams),
            format: self.get::<Format>("record-format").unwrap_or(default.format),
            compression: self.get::<Compression>("record-compression").unwrap_or(default.compression),
            filled: self.get("record-filled").unwrap_or(default.filled),
            split: self.get::<String>("record-split").and_then(|words| words.parse().ok()),
            folder: self.get("record-folder"),
        }
    }

    /// Returns preset, engine and parameters as words that flags can follow, without those of other versions.
    pub(crate) fn words(&self, path: &Path) -> Vec<Word> {
        let word = |(name, value): (String, Value)| {
            let text = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
            Word { name, text, origin: Origin::File { path: path.to_owned(), line: 1 } }
        };
        // each word is checked alone, because P1 may need the P2 that follows
        let is_usable = |word: &Word| match StereoParams::parameter(&word.name) {
            Some(parameter) => parameter.parse(&word.text).is_ok(),
            None => Settings::resolve(std::slice::from_ref(word)).is_ok(),
        };
        let words = self.get::<Table>(SETTINGS).unwrap_or_default().into_iter().map(word);
        let known = words.filter(|word| known_words().any(|known| known == word.name));
        let noted = known.map(|word| (is_usable(&word), word));
        let usable = noted.inspect(|(is_usable, word)| self.note(setting(&word.name), *is_usable));
        usable.filter_map(|(is_usable, word)| is_usable.then_some(word)).collect()
    }

    fn word<T>(&self, key: &str, parse: impl FnOnce(&str) -> Option<T>) -> Option<T> {
        self.get_if(key, |word: String| parse(&word))
    }

    fn within<T: for<'de> Deserialize<'de> + PartialOrd>(&self, key: &str, range: &RangeInclusive<T>) -> Option<T> {
        self.get_if(key, |value| range.contains(&value).then_some(value))
    }
}

/// Sides of a window that is on a screen, points.
const SIDES: RangeInclusive<f32> = 200.0..=20_000.0;
/// Widths of docks, points.
const WIDTHS: RangeInclusive<f32> = 100.0..=2000.0;

fn is_range((near, far): &(f64, f64)) -> bool {
    *near > 0.0 && near < far && far.is_finite()
}

/// Returns the name of a setting among the keys.
fn setting(name: &str) -> String {
    format!("{SETTINGS}.{name}")
}

/// Rounds to whole points in a range.
fn numbers(points: &[f32], range: &RangeInclusive<f32>) -> Value {
    let rounded = points.iter().map(|points| points.clamp(*range.start(), *range.end()).round());
    rounded.map(|points| i64::from(points as i32)).collect::<Vec<_>>().into()
}

fn words_of(views: &[ViewKind]) -> Value {
    views.iter().map(|view| view.word()).collect::<Vec<_>>().into()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::core::picture::PictureFormat;
    use crate::space::{Colouring, Surface};
    use crate::style::Ground;
    use std::time::Duration;
    use stereopsis_recording::write::Split;
    use stereopsis_settings::settings::Settings;
    use stereopsis_stereo::{StereoParams, Subpixel};

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
        std::fs::write(&path, saved.table(&rig, folder.path(), Table::new()).unwrap().to_string()).unwrap();
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
        assert_eq!(read.unused(folder.path()), Unused::default());
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
        let wrong = saved.unused(here).wrong.join(" ");
        assert!(
            wrong.starts_with("board depth-range-m dock-widths recent rig settings.engine settings.p2 source "),
            "{wrong}"
        );
        assert!(wrong.ends_with(" space-every space-surface views window-size"), "{wrong}");
        for key in SavedState::parse(OLD_FILE).unwrap().table.keys().filter(|key| *key != SETTINGS) {
            let one =
                SavedState { table: [(key.clone(), Value::from(-7))].into_iter().collect(), ..SavedState::default() };
            assert_eq!(one.unused(here).wrong, [key.as_str()]);
        }
    }

    #[test]
    fn keys_of_later_versions_are_kept() {
        let later = "future = 3\ntheme = \"dark\"\n[more]\na = 1\n[settings]\np1 = 11\nlater-filter = \"on\"\n";
        let there = SavedState::parse(later).unwrap();
        let Unused { wrong, unknown } = there.unused(Path::new(""));
        assert!(wrong.is_empty(), "{wrong:?}");
        let (recording, pictures) = (RecordingChoices::default(), PictureChoices::default());
        let (view, settings) = (ViewSettings::default(), vec![("p2", "70".to_owned())]);
        let now = SavedState::of("scene", &[], &view, (&recording, &pictures), None, settings);
        let written = now.table(&RigFile::default(), Path::new(""), unknown).unwrap();
        assert_eq!((written["future"].as_integer(), written["more"]["a"].as_integer()), (Some(3), Some(1)));
        let settings = written[SETTINGS].as_table().unwrap();
        let words: Vec<_> = settings.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
        assert_eq!(words, [("later-filter", Some("on")), ("p2", Some("70"))]);
        assert_eq!(written["theme"].as_str(), Some("system"), "a known key has its new value");
    }

    #[test]
    fn what_a_window_writes_it_can_read() {
        let mut view = ViewSettings { text_zoom: 5.0, window_size: (120.0, 30_000.0), ..ViewSettings::default() };
        (view.dock_widths, view.depth_range_m) = ([20.0, 300.0, 9000.0], Some((2.0, 2.0)));
        let (recording, pictures) = (RecordingChoices::default(), PictureChoices::default());
        // each of these words needs another one
        let settings = [("engine", "model"), ("model", "a.onnx"), ("p1", "900"), ("p2", "1000")];
        let settings = settings.map(|(name, value)| (name, value.to_owned())).into();
        let written = SavedState::of("scene", &[], &view, (&recording, &pictures), None, settings);
        assert_eq!(written.unused(Path::new("")), Unused::default());
        let read = written.view();
        assert_eq!(
            (read.text_zoom, read.window_size, read.dock_widths),
            (3.0, (200.0, 20_000.0), [100.0, 300.0, 2000.0])
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
        assert_eq!(saved.source().as_deref(), Some("scene"));
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
        let table = written.table(&RigFile::default(), folder.path(), Table::new()).unwrap();
        std::fs::write(&path, table.to_string()).unwrap();
        assert_eq!(SavedState::read(&path).unwrap().view(), view);
    }
}
