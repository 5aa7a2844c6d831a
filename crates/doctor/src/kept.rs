//! Checks of saved files: window settings, last rig, user presets, caches. Each is read as the program reads it.

use super::report::{self, Check};
use std::io;
use std::path::{Path, PathBuf};
use stereopsis_base::files::plain;
use stereopsis_base::{console, files};
use stereopsis_settings::rig::{RigFile, RigFileError};
use stereopsis_settings::settings;
use stereopsis_settings::settings::{Settings, SettingsError, own_presets, own_presets_folder};

/// Folders of saved files.
#[derive(Clone, Debug)]
pub(super) struct SavedFolders {
    /// Folder of settings; `None` if the system has none.
    pub(super) config: Option<PathBuf>,
    pub(super) presets: Option<PathBuf>,
    pub(super) cache: Option<PathBuf>,
    /// Folder of recordings, in which the window saves a rig.
    pub(super) folder: PathBuf,
}

impl SavedFolders {
    pub(super) fn of_user(folder: &Path) -> Self {
        let dirs = directories::ProjectDirs::from("", "", "stereopsis");
        Self {
            config: dirs.as_ref().map(|dirs| dirs.config_dir().to_owned()),
            presets: own_presets_folder(),
            cache: dirs.as_ref().map(|dirs| dirs.cache_dir().to_owned()),
            folder: folder.to_owned(),
        }
    }
}

/// Checks each saved file, and all caches together.
pub(super) fn checks(folders: &SavedFolders) -> Vec<Check> {
    let mut checks = Vec::new();
    if let Some(config) = &folders.config {
        let todo = "correct it, or delete it: the window then starts with its defaults";
        checks.extend(file(&config.join("window.toml"), "the window's settings", todo, read_window));
        let todo = "delete it: the window then opens without the last rig";
        checks.extend(file(&config.join("last-rig.toml"), "the window's last rig", todo, read_rig));
    }
    let todo = "correct it, or save the rig anew in the window";
    checks.extend(file(&folders.folder.join("rig.toml"), "a rig", todo, read_rig));
    checks.extend(folders.presets.iter().flat_map(|folder| presets(folder)));
    checks.extend(folders.cache.as_ref().and_then(|folder| caches(folder)));
    if checks.is_empty() {
        checks.push(Check::ok("settings", "nothing is kept yet: no settings, rigs, presets or caches"));
    }
    checks
}

/// Fault of a saved file.
#[derive(Debug, thiserror::Error)]
enum KeptError {
    #[error("{}", files::read_cause(.0, .1))]
    Read(PathBuf, io::Error),
    #[error(transparent)]
    Syntax(#[from] toml::de::Error),
    #[error(transparent)]
    Rig(#[from] RigFileError),
    #[error(transparent)]
    Preset(#[from] SettingsError),
}

impl KeptError {
    /// Whether the text names the file.
    fn names_file(&self) -> bool {
        matches!(self, Self::Rig(_)) || matches!(self, Self::Preset(err) if !err.is_of_flags())
    }
}

/// Checks a file with `read`; `None` if the file does not exist.
fn file(path: &Path, what: &str, todo: &str, read: impl FnOnce(&Path) -> Result<(), KeptError>) -> Option<Check> {
    let size = match path.metadata() {
        Err(_) if files::missing(path).is_some() => return None,
        Err(err) => Err(KeptError::Read(path.to_owned(), err)),
        Ok(meta) => read(path).map(|()| meta.len()),
    };
    let shown = console::path(path);
    Some(match size {
        Ok(size) => Check::ok("settings", format!("{shown}, {}: {what}", console::bytes(size))),
        Err(why) if why.names_file() => Check::wrong("settings", one_line(&why.to_string()), todo),
        Err(why) => Check::wrong("settings", format!("{shown}: {what}: {}", one_line(&why.to_string())), todo),
    })
}

/// Reads the window's settings; values unknown to this version are ignored.
fn read_window(path: &Path) -> Result<(), KeptError> {
    let text = plain::read_text(path).map_err(|err| KeptError::Read(path.to_owned(), err))?;
    Ok(text.parse::<toml::Table>().map(drop)?)
}

fn read_rig(path: &Path) -> Result<(), KeptError> {
    Ok(RigFile::read(path).map(drop)?)
}

fn read_preset(path: &Path) -> Result<(), KeptError> {
    Ok(Settings::resolve(&settings::read_file(path)?).map(drop)?)
}

fn presets(folder: &Path) -> Vec<Check> {
    let todo = "correct it, or delete it in the window";
    let path = |name: &String| folder.join(name).with_added_extension("toml");
    let names = own_presets(folder);
    let all = names.iter().filter_map(|name| file(&path(name), "an own preset", todo, read_preset));
    report::cut(all.collect(), "own preset")
}

/// Reports the caches of times, variants and pipelines; a lost one costs only time.
fn caches(folder: &Path) -> Option<Check> {
    let entries = std::fs::read_dir(folder).ok()?.flatten();
    let (mut count, mut bytes, mut broken) = (0, 0, Vec::new());
    for entry in entries {
        let path = entry.path();
        let Some(meta) = path.metadata().ok().filter(std::fs::Metadata::is_file) else { continue };
        (count, bytes) = (count + 1, bytes + meta.len());
        let is_json = path.extension().is_some_and(|extension| extension == "json");
        let is_read = plain::read(&path, plain::MAX_TEXT_BYTES.max(meta.len()));
        let is_whole = |bytes: &Vec<u8>| !is_json || serde_json::from_slice::<serde_json::Value>(bytes).is_ok();
        if !is_read.as_ref().is_ok_and(is_whole) {
            broken.push(console::path(&path));
        }
    }
    let text = format!("{}, {}: {}", console::path(folder), console::bytes(bytes), console::counted(count, "cache"));
    if !broken.is_empty() {
        let text = format!("{text}; not readable: {}", report::names(&broken));
        return Some(Check::note("settings", text, "delete it: the program measures and compiles again"));
    }
    (count > 0).then(|| Check::ok("settings", text))
}

/// Removes the source excerpt from a parser's message.
fn one_line(text: &str) -> String {
    let is_drawn = |line: &&str| {
        let code = line.trim_start().trim_start_matches(|c: char| c.is_ascii_digit()).trim_start();
        code.starts_with('|') || code.is_empty()
    };
    text.lines().filter(|line| !is_drawn(line)).map(str::trim).collect::<Vec<_>>().join(": ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::State;

    fn with_files(files: &[(&str, &str)]) -> (tempfile::TempDir, Vec<Check>) {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        for name in ["config/presets", "cache", "walks"] {
            std::fs::create_dir_all(at(name)).unwrap();
        }
        for (name, text) in files {
            std::fs::write(at(name), text).unwrap();
        }
        let (config, presets) = (Some(at("config")), Some(at("config/presets")));
        let folders = SavedFolders { config, presets, cache: Some(at("cache")), folder: at("walks") };
        let checks = checks(&folders);
        (folder, checks)
    }

    fn only(name: &str, text: &str) -> Check {
        let (_folder, mut checks) = with_files(&[(name, text)]);
        assert_eq!(checks.len(), 1, "{checks:?}");
        assert!(!checks[0].text.contains('\n'), "{checks:?}");
        checks.remove(0)
    }

    #[test]
    fn reports_saved_files_with_their_size() {
        let (_folder, checks) = with_files(&[
            ("config/window.toml", "theme = \"dark\"\n"),
            ("config/last-rig.toml", "[source]\nleft = \"1-2:1.0\"\nright = \"1-3:1.0\"\n"),
            ("config/presets/desk.toml", "p1 = 9\n"),
            ("cache/engine-times.json", "{}"),
            ("cache/some-gpu.bin", "\u{0}"),
            ("walks/rig.toml", "[calibration]\nfocal_px = 100\nbaseline_m = 0.1\n"),
        ]);
        assert!(checks.iter().all(|check| check.state == State::Ok), "{checks:?}");
        let ends = [
            "window.toml, 15 bytes: the window's settings",
            "last rig",
            "bytes: a rig",
            "desk.toml, 7 bytes: an own preset",
            "cache, 3 bytes: 2 caches",
        ];
        assert_eq!(checks.len(), ends.len(), "{checks:?}");
        assert!(checks.iter().zip(ends).all(|(check, end)| check.text.ends_with(end)), "{checks:?}");
        let (_folder, none) = with_files(&[]);
        assert!(none.len() == 1 && none[0].text.starts_with("nothing is kept yet"), "{none:?}");
    }

    #[test]
    fn reports_the_parser_error_of_a_broken_settings_file() {
        let check = only("config/window.toml", "theme = \"dark\"\nviews = [\n");
        assert!(check.state == State::Wrong && check.text.contains("window.toml"), "{check:?}");
        assert!(check.text.contains("TOML parse error at line ") && check.text.contains("unclosed array"), "{check:?}");
        assert!(check.todo.unwrap().contains("delete it: the window then starts with its defaults"));
        let preset = only("config/presets/desk.toml", "p1 = 9\npahts = 8\n");
        assert!(
            preset.state == State::Wrong && preset.text.contains("line 2: unknown key 'pahts': did you mean 'paths'?"),
            "{preset:?}"
        );
        assert!(preset.todo.unwrap().contains("correct it"));
    }

    #[test]
    fn a_broken_rig_file_is_wrong() {
        let last = only("config/last-rig.toml", "[source]\nleft = 3\nhight = 480\n");
        assert!(last.state == State::Wrong && last.text.contains("cannot read the rig "), "{last:?}");
        assert!(last.todo.unwrap().starts_with("delete it"));
        let saved = only("walks/rig.toml", "[source]\nhight = 480\n");
        assert!(
            saved.text.contains("TOML parse error at line 2") && saved.text.contains("unknown field `hight`"),
            "{saved:?}"
        );
        assert!(saved.todo.unwrap().contains("save the rig anew"));
    }

    #[test]
    fn a_broken_cache_is_a_note() {
        let check = only("cache/gpu-variants.json", "{");
        assert!(check.state == State::Note && check.text.contains("not readable: "), "{check:?}");
        assert!(check.todo.unwrap().starts_with("delete it"));
    }

    #[test]
    fn names_at_most_twenty_broken_files() {
        let names: Vec<_> = (0..50).map(|i| format!("cache/c{i}.json")).collect();
        let caches: Vec<_> = names.iter().map(|name| (name.as_str(), "{")).collect();
        let (_folder, told) = with_files(&caches);
        assert!(told.len() == 1 && told[0].text.ends_with(" and 30 more"), "{told:?}");
        assert_eq!(told[0].text.matches(".json").count(), 20);
        let names: Vec<_> = (0..30).map(|i| format!("config/presets/p{i}.toml")).collect();
        let presets: Vec<_> = names.iter().map(|name| (name.as_str(), "pahts = 8\n")).collect();
        let (_folder, told) = with_files(&presets);
        assert!(told.len() == 21 && told[20].text == "and 10 more own presets", "{told:?}");
    }
}
