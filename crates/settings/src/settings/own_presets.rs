//! Presets of the user: settings files in one folder, each named by its stem. Names are checked so that none leaves the folder.

use super::{Origin, PresetNameError, SettingsError, Word, read_file};
use std::path::{Path, PathBuf};
use stereopsis_base::files;
use stereopsis_stereo::Preset;

const EXTENSION: &str = "toml";
const MAX_NAME: usize = 40;

/// Returns the folder of the user's presets; `None` where the system has no folder for settings.
pub fn own_presets_folder() -> Option<PathBuf> {
    directories::ProjectDirs::from("", "", "stereopsis").map(|dirs| dirs.config_dir().join("presets"))
}

/// Returns the names of the user's presets, sorted; empty without a folder.
pub fn own_presets(folder: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let name = |path: PathBuf| {
        let is_preset = path.extension().is_some_and(|extension| extension == EXTENSION);
        path.file_stem().filter(|_| is_preset)?.to_str().map(str::to_owned)
    };
    let mut names: Vec<_> = entries.filter_map(|entry| name(entry.path())).filter(|n| check_name(n).is_ok()).collect();
    names.sort();
    names
}

/// Reads the words of a user's preset.
///
/// # Errors
/// No preset has this name, and the text lists the existing names; or its file is invalid.
pub fn read_own_preset(folder: &Path, name: &str) -> Result<Vec<Word>, SettingsError> {
    let path = file_of(folder, name)?;
    if !path.is_file() {
        return Err(SettingsError::NoPreset {
            name: name.to_owned(),
            folder: folder.to_owned(),
            own: own_presets(folder),
        });
    }
    read_file(&path)
}

/// Writes a user's preset, behind a comment; an existing one is replaced only if `replaces`.
///
/// # Errors
/// The name is invalid, a preset of this name exists, or the file cannot be written.
pub fn write_own_preset(
    folder: &Path,
    name: &str,
    comment: &str,
    settings: &[(&'static str, String)],
    replaces: bool,
) -> Result<PathBuf, SettingsError> {
    let path = file_of(folder, name)?;
    let text = super::text_of(comment, settings)?;
    files::make_folder(folder)?;
    let write = if replaces { files::write_synced } else { files::write_new };
    write(&path, text.as_bytes())?;
    Ok(path)
}

/// Deletes a user's preset.
///
/// # Errors
/// The file cannot be deleted.
pub fn delete_own_preset(folder: &Path, name: &str) -> Result<(), SettingsError> {
    let path = file_of(folder, name)?;
    std::fs::remove_file(&path).map_err(|err| SettingsError::Delete { path, cause: err.kind() })
}

/// Replaces each `preset` that is not built in by the words of the user's preset. They have a lower precedence than flags.
///
/// # Errors
/// Errors of [`read_own_preset`].
pub fn with_own_presets(words: Vec<Word>, folder: Option<&Path>) -> Result<Vec<Word>, SettingsError> {
    let mut all = Vec::new();
    for word in words {
        let is_own = word.name == "preset" && word.text.parse::<Preset>().is_err();
        match folder.filter(|_| is_own) {
            // only a flag may name one: files could refer to each other
            Some(folder) if word.origin == Origin::Flag => {
                drop(all.splice(..0, read_own_preset(folder, &word.text)?));
            }
            _ => all.push(word),
        }
    }
    Ok(all)
}

fn file_of(folder: &Path, name: &str) -> Result<PathBuf, PresetNameError> {
    check_name(name)?;
    Ok(folder.join(name).with_added_extension(EXTENSION))
}

/// Checks that a name is a valid file name on every system, and not that of a built-in preset.
fn check_name(name: &str) -> Result<(), PresetNameError> {
    let is_plain = |c: char| c.is_alphanumeric() || "-_ .".contains(c);
    if name.is_empty() || name.chars().count() > MAX_NAME || !name.chars().all(is_plain) || name.starts_with(['.', ' '])
    {
        return Err(PresetNameError::Characters { name: name.to_owned(), most: MAX_NAME });
    }
    if name.parse::<Preset>().is_ok() {
        return Err(PresetNameError::BuiltIn(name.to_owned()));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::settings::Settings;

    #[test]
    fn writes_reads_and_deletes_an_own_preset() {
        let folder = tempfile::tempdir().unwrap();
        let folder = folder.path().join("presets");
        let settings = [("preset", "banz2011".to_owned()), ("p1", "9".to_owned())];
        write_own_preset(&folder, "my desk", "a desk", &settings, false).unwrap();
        assert!(
            write_own_preset(&folder, "my desk", "a desk", &settings, false).is_err(),
            "nothing is replaced unasked"
        );
        write_own_preset(&folder, "my desk", "a desk", &settings, true).unwrap();
        assert_eq!(own_presets(&folder), ["my desk"]);
        let flag = |name: &str, text: &str| Word { name: name.into(), text: text.into(), origin: Origin::Flag };
        let words = vec![flag("preset", "my desk"), flag("p2", "70")];
        let resolved = Settings::resolve(&with_own_presets(words, Some(&folder)).unwrap()).unwrap();
        assert_eq!((resolved.preset, resolved.params.p1, resolved.params.p2), (Some(Preset::Banz2011), 9, 70));
        let missing = with_own_presets(vec![flag("preset", "desk")], Some(&folder)).unwrap_err().to_string();
        assert!(
            missing.contains("no such preset") && missing.contains("my desk") && missing.contains("balanced"),
            "{missing}"
        );
        delete_own_preset(&folder, "my desk").unwrap();
        assert!(own_presets(&folder).is_empty());
    }

    #[test]
    fn rejects_names_outside_the_folder() {
        let folder = Path::new("presets");
        for name in ["", "../rig", "a/b", ".hidden", "balanced", "a\u{1b}b", &"x".repeat(41)] {
            assert!(write_own_preset(folder, name, "", &[], true).is_err(), "{name:?}");
        }
        assert!(!folder.exists());
    }
}
