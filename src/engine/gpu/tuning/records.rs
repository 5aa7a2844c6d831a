//! Measurements, stored in a file of the program's cache folder.

use crate::engine::cached;
use crate::engine::gpu::variant::Variant;
use std::collections::BTreeMap;
use std::path::PathBuf;

/// The quickest variant for one adapter, driver and size.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct Record {
    /// The variant.
    pub variant: Variant,
    /// Time of a pair on the device, ms.
    pub ms: f64,
}

/// Records by key. If the file cannot be read or written, variants are measured again.
#[derive(Clone, Debug, Default)]
pub struct Records {
    file: Option<PathBuf>,
}

/// All records are dropped when there are more.
const MAX_RECORDS: usize = 500;

impl Records {
    /// Those of this user.
    pub fn of_user() -> Self {
        Self { file: cached::file("gpu-variants.json") }
    }

    /// Those in `file`.
    #[cfg(test)]
    pub fn in_file(file: PathBuf) -> Self {
        Self { file: Some(file) }
    }

    /// The record of a key.
    pub fn get(&self, key: &str) -> Option<Record> {
        self.read().get(key).copied()
    }

    /// Stores a record.
    pub fn put(&self, key: &str, record: Record) {
        let Some(file) = &self.file else { return };
        let mut records = self.read();
        if records.len() >= MAX_RECORDS {
            records.clear();
        }
        records.insert(key.to_owned(), record);
        let written = serde_json::to_vec_pretty(&records).map_err(std::io::Error::from);
        if let Err(err) = written.and_then(|bytes| cached::replace(file, &bytes)) {
            log::info!("the quickest variant is not kept: {}: {err}", file.display());
        }
    }

    /// Their file.
    pub fn file(&self) -> Option<&std::path::Path> {
        self.file.as_deref()
    }

    fn read(&self) -> BTreeMap<String, Record> {
        let text = self.file.as_ref().and_then(|file| std::fs::read_to_string(file).ok());
        text.and_then(|text| serde_json::from_str(&text).ok()).unwrap_or_default()
    }
}
