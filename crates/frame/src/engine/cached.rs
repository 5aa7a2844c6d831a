//! Files of the program's cache folder: measured times and compiled pipelines. Their loss costs only time.

use serde::Serialize;
use serde::de::DeserializeOwned;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use stereopsis_base::files;

/// Returns the path of the file with this name; `None` if the system has no cache folder.
pub fn file(name: &str) -> Option<PathBuf> {
    Some(directories::ProjectDirs::from("", "", "stereopsis")?.cache_dir().join(name))
}

/// Replaces the file atomically, even while other processes write it.
///
/// # Errors
/// The folder or the file cannot be written.
pub fn replace(file: &Path, bytes: &[u8]) -> std::io::Result<()> {
    let folder = file.parent().map_or(Ok(()), files::make_folder);
    folder.and_then(|()| files::write_synced(file, bytes)).map_err(|err| err.source)
}

/// Measurements by key, in a JSON file. If the file is unreadable or not writable, they are repeated.
#[derive(Clone, Debug, Default)]
pub struct Measurements {
    file: Option<PathBuf>,
}

/// Largest number of entries; above it all are dropped, because most belong to old devices and versions.
const MAX_ENTRIES: usize = 500;

impl Measurements {
    /// Opens the measurements in the file with this name in the cache folder.
    pub fn named(name: &str) -> Self {
        Self { file: file(name) }
    }

    /// Opens the measurements in `file`.
    pub fn in_file(file: PathBuf) -> Self {
        Self { file: Some(file) }
    }

    /// Returns the path of the file.
    pub fn file(&self) -> Option<&Path> {
        self.file.as_deref()
    }

    /// Returns the entry of a key; `None` also for another type.
    pub fn get<T: DeserializeOwned>(&self, key: &str) -> Option<T> {
        serde_json::from_value(self.read().remove(key)?).ok()
    }

    /// Stores an entry.
    pub fn put(&self, key: &str, entry: &impl Serialize) {
        let Some(file) = &self.file else { return };
        let mut entries = self.read();
        if entries.len() >= MAX_ENTRIES {
            entries.clear();
        }
        let written = serde_json::to_value(entry).and_then(|entry| {
            entries.insert(key.to_owned(), entry);
            serde_json::to_vec_pretty(&entries)
        });
        if let Err(err) = written.map_err(Into::into).and_then(|bytes| replace(file, &bytes)) {
            log::info!("measurements are not kept: {}: {err}", file.display());
        }
    }

    fn read(&self) -> BTreeMap<String, serde_json::Value> {
        let text = self.file.as_ref().and_then(|file| files::plain::read_text(file).ok());
        text.and_then(|text| serde_json::from_str(&text).ok()).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn measurements_survive_and_broken_files_do_not_hurt() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("deeper/times.json");
        let kept = Measurements::in_file(file.clone());
        assert_eq!(kept.get::<(f64, f64)>("a"), None);
        kept.put("a", &(3.0, 14.0));
        kept.put("b", &(9.0, 1.0));
        assert_eq!(Measurements::in_file(file.clone()).get("a"), Some((3.0, 14.0)));
        assert_eq!(kept.get::<(f64, f64)>("c"), None);
        assert_eq!(kept.get::<String>("a"), None, "of another type");
        std::fs::write(&file, "no json").unwrap();
        assert_eq!(kept.get::<(f64, f64)>("a"), None);
        kept.put("a", &(1.0, 1.0));
        assert_eq!(kept.get("a"), Some((1.0, 1.0)));
        assert_eq!(Measurements::default().get::<f64>("a"), None, "no file");
    }
}
