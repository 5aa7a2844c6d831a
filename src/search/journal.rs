//! The trials of a search in a file, so that the same search goes on where it was stopped.
//!
//! A line of JSON says what was searched for; each further line is a trial. A line that is cut off, as where the machine stopped, is left out.

use super::plan::Known;
use super::trial::{Run, Trial};
use crate::console;
use crate::files::{Growing, WriteError, write_cause};
use crate::stereo::StereoParams;
use serde_json::{Map, Value};
use std::fs::File;
use std::io::{self, BufRead as _, BufReader, Write as _};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

/// An open journal.
#[derive(Debug)]
pub struct Journal {
    growing: Growing,
    file: File,
}

/// A trial as it is written.
#[derive(serde::Serialize, serde::Deserialize)]
struct Line {
    params: Map<String, Value>,
    runs: Vec<Run>,
    elapsed_s: f64,
}

impl Journal {
    /// Opens the journal of a search that `header` describes, or begins it; returns what is in it.
    ///
    /// # Errors
    /// It is of another search, or another process writes it, or the file cannot be read or written.
    pub fn open(path: &Path, header: &Map<String, Value>) -> Result<(Self, Known), String> {
        let shown = console::path(path);
        let growing = Growing::open(path).map_err(|err| match err.kind() {
            io::ErrorKind::WouldBlock => format!("{shown} is written by another run: wait for it, or name another -o"),
            _ => format!("cannot write {shown}: {}", write_cause(path, &err)),
        })?;
        let failed = |err: io::Error| WriteError::new(path, err).to_string();
        let file = growing.handle().map_err(failed)?;
        let lines = whole_lines(&file).map_err(failed)?;
        let known = match lines.split_first() {
            None => Known::default(),
            Some((first, trials)) => {
                check_header(first, header).map_err(|why| {
                    format!("{shown} was left by another search: {why}. Delete it, or name another -o")
                })?;
                known(trials)
            }
        };
        let mut journal = Self { growing, file };
        if known.trials.is_empty() {
            journal.growing.clear().and_then(|()| journal.write(&Value::Object(header.clone()))).map_err(failed)?;
        } else if journal.ends_amid_a_line().map_err(failed)? {
            // what comes now begins a line
            journal.file.write_all(b"\n").map_err(failed)?;
        }
        Ok((journal, known))
    }

    /// Adds a trial, which is in the file when this returns.
    ///
    /// # Errors
    /// The disk is full, or fails.
    pub fn keep(&mut self, trial: &Trial, elapsed: Duration) -> Result<(), String> {
        let failed = |err: &dyn std::fmt::Display| format!("cannot write the journal: {err}");
        let params = serde_json::to_value(&*trial.params).map_err(|err| failed(&err))?;
        let line = serde_json::json!({ "params": params, "runs": trial.runs, "elapsed_s": elapsed.as_secs_f64() });
        self.write(&line).map_err(|err| WriteError::new(self.growing.path(), err).to_string())
    }

    fn write(&mut self, line: &Value) -> io::Result<()> {
        self.file.write_all(format!("{line}\n").as_bytes())
    }

    fn ends_amid_a_line(&self) -> io::Result<bool> {
        use std::io::{Read as _, Seek as _, SeekFrom};
        let mut file = &self.file;
        let mut last = [0];
        file.seek(SeekFrom::End(-1))?;
        file.read_exact(&mut last)?;
        Ok(last != *b"\n")
    }
}

/// Longest line, bytes: some thousand samples.
const MAX_LINE: usize = 1 << 20;

/// The lines of a file that are JSON, up to the first that is too long to be one of these.
fn whole_lines(file: &File) -> io::Result<Vec<Value>> {
    let mut reader = BufReader::new(file);
    let mut values = Vec::new();
    loop {
        let mut line = Vec::new();
        let read = io::Read::take(&mut reader, MAX_LINE as u64).read_until(b'\n', &mut line)?;
        if read == 0 || read == MAX_LINE {
            return Ok(values);
        }
        match serde_json::from_slice(&line) {
            Ok(value) => values.push(value),
            // the first line says whose file this is
            Err(_) if values.is_empty() => return Ok(vec![Value::Null]),
            Err(_) => {}
        }
    }
}

/// Checks that a journal is of this search; the reason in words where it is not.
fn check_header(found: &Value, wanted: &Map<String, Value>) -> Result<(), String> {
    let Value::Object(found) = found else { return Err("it is no journal".to_owned()) };
    let other: Vec<_> = wanted.iter().filter(|(name, value)| found.get(*name) != Some(value)).collect();
    if other.is_empty() {
        return Ok(());
    }
    let differing = |(name, value): &(&String, &Value)| {
        let there = found.get(*name).map_or_else(|| "nothing".to_owned(), Value::to_string);
        format!("its {name} is {}, not {value}", console::foreign(&there))
    };
    Err(other.iter().map(differing).collect::<Vec<_>>().join("; "))
}

/// The trials of these lines.
fn known(lines: &[Value]) -> Known {
    let mut known = Known::default();
    for line in lines {
        let Ok(Line { params, runs, elapsed_s }) = serde_json::from_value(line.clone()) else { continue };
        let Some(params) = params_of(&params) else { continue };
        known.trials.push(Trial::of(Arc::new(params), runs));
        known.elapsed = Duration::try_from_secs_f64(elapsed_s).unwrap_or_default().max(known.elapsed);
    }
    known
}

/// Parameters from their words; `None` where one of them is wrong.
fn params_of(words: &Map<String, Value>) -> Option<StereoParams> {
    let mut params = StereoParams::default();
    for parameter in StereoParams::table() {
        let text = match words.get(parameter.name)? {
            Value::String(text) => text.clone(),
            other => other.to_string(),
        };
        // each is written, so none follows another
        (parameter.set)(&mut params, parameter.parse(&text).ok()?);
    }
    params.validate().ok().map(|()| params)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stereo::Preset;

    fn header(seed: u64) -> Map<String, Value> {
        [("search".to_owned(), Value::from(1)), ("seed".to_owned(), Value::from(seed))].into_iter().collect()
    }

    fn trial(preset: Preset, loss: f64) -> Trial {
        let mut params = StereoParams { num_disparities: 40, ..StereoParams::default() };
        preset.apply(&mut params);
        let run = Run { loss: Some(loss), wrong_percent: None, measured_percent: 90.0, time_ms: 3.25, pixels: 12 };
        Trial::of(Arc::new(params), vec![run; 2])
    }

    #[test]
    fn trials_come_back_and_a_line_that_was_cut_is_left_out() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.jsonl");
        let all: Vec<_> = Preset::ALL.iter().map(|&preset| trial(preset, 7.125)).collect();
        let (mut journal, known) = Journal::open(&path, &header(1)).unwrap();
        assert!(known.trials.is_empty());
        for (k, trial) in all.iter().enumerate() {
            journal.keep(trial, Duration::from_secs(k as u64)).unwrap();
        }
        assert!(Journal::open(&path, &header(1)).unwrap_err().contains("another run"), "one writes it");
        drop(journal);
        let text = std::fs::read_to_string(&path).unwrap();
        std::fs::write(&path, &text[..text.len() - 9]).unwrap();
        let (mut journal, known) = Journal::open(&path, &header(1)).unwrap();
        assert_eq!(known.trials.len(), all.len() - 1);
        assert_eq!(known.elapsed, Duration::from_secs(all.len() as u64 - 2));
        for (found, wanted) in known.trials.iter().zip(&all) {
            assert_eq!((&found.params, &found.runs, found.loss), (&wanted.params, &wanted.runs, wanted.loss));
        }
        journal.keep(&all[0], Duration::ZERO).unwrap();
        drop(journal);
        assert_eq!(Journal::open(&path, &header(1)).unwrap().1.trials.len(), all.len(), "the next line is whole");
    }

    #[test]
    fn a_journal_of_another_search_is_refused_and_stays() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.jsonl");
        let (mut journal, _) = Journal::open(&path, &header(1)).unwrap();
        journal.keep(&trial(Preset::Fast, 1.0), Duration::ZERO).unwrap();
        drop(journal);
        let before = std::fs::read(&path).unwrap();
        let why = Journal::open(&path, &header(2)).unwrap_err();
        assert!(why.contains("its seed is 1, not 2") && why.contains("Delete it"), "{why}");
        assert_eq!(std::fs::read(&path).unwrap(), before);
        for other in ["no journal", "[1]\n", "{\"params\": 3}\n"] {
            std::fs::write(&path, other).unwrap();
            assert!(Journal::open(&path, &header(1)).is_err(), "{other}");
            assert_eq!(std::fs::read_to_string(&path).unwrap(), other);
        }
    }

    #[test]
    fn a_trial_with_wrong_parameters_is_left_out() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.jsonl");
        let (mut journal, _) = Journal::open(&path, &header(1)).unwrap();
        journal.keep(&trial(Preset::Fast, 1.0), Duration::ZERO).unwrap();
        journal.keep(&trial(Preset::Balanced, 1.0), Duration::ZERO).unwrap();
        drop(journal);
        let text = std::fs::read_to_string(&path).unwrap().replacen("\"paths\":4", "\"paths\":9999", 1);
        std::fs::write(&path, text).unwrap();
        assert_eq!(Journal::open(&path, &header(1)).unwrap().1.trials.len(), 1);
    }
}
