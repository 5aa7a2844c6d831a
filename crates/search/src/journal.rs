//! Journal of the trials of a search, from which the search is resumed.
//! The first line is a JSON header of the search; each further line is a trial. A truncated line, as after a crash, is skipped.
//! A journal that does not fit the search must be refused and stay unchanged.

use super::error::{Difference, JournalError, LongLine, MAX_LINE};
use super::plan::EarlierTrials;
use super::trial::{Run, Trial};
use serde_json::{Map, Value};
use std::fs::File;
use std::io::{self, BufRead as _, BufReader, Write as _};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;
use stereopsis_base::files::{Growing, WriteError};
use stereopsis_stereo::StereoParams;

/// Key of the checksums of all pairs in a header.
pub const CHECKSUMS: &str = "checksums";

/// Open journal.
#[derive(Debug)]
pub struct Journal {
    growing: Growing,
    file: File,
}

#[derive(serde::Serialize, serde::Deserialize)]
struct Line {
    params: Map<String, Value>,
    runs: Vec<Run>,
    elapsed_s: f64,
}

impl Journal {
    /// Opens or creates the journal of the search with this `header`, and returns its content.
    ///
    /// # Errors
    /// The journal belongs to another search, another process writes it, or the file cannot be read or written.
    pub fn open(path: &Path, header: &Map<String, Value>) -> Result<(Self, EarlierTrials), JournalError> {
        let growing = Growing::open(path).map_err(|cause| match cause.kind() {
            io::ErrorKind::WouldBlock => JournalError::InUse(path.to_owned()),
            _ => JournalError::Open { path: path.to_owned(), cause },
        })?;
        let failed = |err: io::Error| WriteError::new(path, err);
        let file = growing.handle().map_err(failed)?;
        let found = read(&file, path, header)?;
        let mut journal = Self { growing, file };
        match &found {
            None => journal.write(&Value::Object(header.clone())).map_err(failed)?,
            // new text begins a line
            Some(_) if journal.ends_amid_a_line().map_err(failed)? => journal.file.write_all(b"\n").map_err(failed)?,
            Some(_) => {}
        }
        Ok((journal, found.unwrap_or_default()))
    }

    /// Adds a trial, which is in the file on return.
    ///
    /// # Errors
    /// The disk is full or fails.
    pub fn keep(&mut self, trial: &Trial, elapsed: Duration) -> Result<(), JournalError> {
        let params = serde_json::to_value(&*trial.params)?;
        let line = serde_json::json!({ "params": params, "runs": trial.runs, "elapsed_s": elapsed.as_secs_f64() });
        Ok(self.write(&line).map_err(|err| WriteError::new(self.growing.path(), err))?)
    }

    fn write(&mut self, line: &Value) -> io::Result<()> {
        let line = format!("{line}\n");
        if line.len() > MAX_LINE {
            return Err(io::Error::other(LongLine));
        }
        self.file.write_all(line.as_bytes())
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

/// Largest time of a search, s: thirty years.
const MAX_ELAPSED_S: f64 = 1e9;

/// Reads a journal of the search with this `header`, unless the file is empty.
fn read(file: &File, path: &Path, header: &Map<String, Value>) -> Result<Option<EarlierTrials>, JournalError> {
    let other = |why| JournalError::Other { path: path.to_owned(), why };
    let mut reader = BufReader::new(file);
    let mut known = None::<EarlierTrials>;
    // number of complete lines without a trial
    let mut unknown = 0;
    for number in 1_u64.. {
        let mut line = Vec::new();
        let read = io::Read::take(&mut reader, MAX_LINE as u64 + 1)
            .read_until(b'\n', &mut line)
            .map_err(|err| WriteError::new(path, err))?;
        if read == 0 {
            break;
        }
        if read > MAX_LINE {
            return Err(other(Difference::LongLine(number)));
        }
        match &mut known {
            None => {
                check_header(&line, header).map_err(other)?;
                known = Some(EarlierTrials::default());
            }
            Some(known) => match trial(&line) {
                Ok((trial, elapsed)) => {
                    known.trials.push(trial);
                    known.elapsed = known.elapsed.max(elapsed);
                }
                Err(is_whole) => unknown += u64::from(is_whole),
            },
        }
    }
    if unknown > 0 && known.as_ref().is_some_and(|known| known.trials.is_empty()) {
        return Err(other(Difference::NoTrial(unknown)));
    }
    Ok(known)
}

fn check_header(line: &[u8], wanted: &Map<String, Value>) -> Result<(), Difference> {
    let Ok(Value::Object(found)) = serde_json::from_slice(line) else { return Err(Difference::NoJournal) };
    let other = wanted.iter().filter(|(name, value)| found.get(*name) != Some(value));
    let differing = other.map(|(name, wanted)| match found.get(name) {
        None => Difference::Unsaid(name.clone()),
        Some(_) if name == CHECKSUMS => Difference::Pairs,
        Some(there) => Difference::Value { name: name.clone(), there: there.clone(), wanted: wanted.clone() },
    });
    let differing: Vec<_> = differing.collect();
    if differing.is_empty() { Ok(()) } else { Err(Difference::Header(differing)) }
}

/// Parses the trial of a line and the time of the search; an error holds whether the line is complete but of another kind.
fn trial(line: &[u8]) -> Result<(Trial, Duration), bool> {
    let value: Value = serde_json::from_slice(line).map_err(|_| false)?;
    let Line { params, runs, elapsed_s } = serde_json::from_value(value).map_err(|_| true)?;
    let elapsed = Some(elapsed_s).filter(|s| (0.0..=MAX_ELAPSED_S).contains(s)).map(Duration::from_secs_f64);
    let (params, elapsed) = params_of(&params).zip(elapsed).ok_or(true)?;
    Ok((Trial::of(Arc::new(params), runs), elapsed))
}

fn params_of(words: &Map<String, Value>) -> Option<StereoParams> {
    let mut params = StereoParams::default();
    for parameter in StereoParams::table() {
        let text = match words.get(parameter.name)? {
            Value::String(text) => text.clone(),
            other => other.to_string(),
        };
        // all parameters are written, so none is derived from another
        (parameter.set)(&mut params, parameter.parse(&text).ok()?);
    }
    params.validate().ok().map(|()| params)
}

#[cfg(test)]
mod tests {
    use super::*;
    use stereopsis_stereo::Preset;

    fn header(seed: u64) -> Map<String, Value> {
        [("search".to_owned(), Value::from(1)), ("seed".to_owned(), Value::from(seed))].into_iter().collect()
    }

    fn trial(preset: Preset, loss: f64) -> Trial {
        let mut params = StereoParams { num_disparities: 40, ..StereoParams::default() };
        preset.apply(&mut params);
        let run = Run { loss: Some(loss), measured_percent: 90.0, time_ms: 3.25, pixels: 12 };
        Trial::of(Arc::new(params), vec![run; 2])
    }

    #[test]
    fn trials_round_trip_and_a_truncated_line_is_skipped() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.jsonl");
        let all: Vec<_> = Preset::ALL.iter().map(|&preset| trial(preset, 7.125)).collect();
        let (mut journal, known) = Journal::open(&path, &header(1)).unwrap();
        assert!(known.trials.is_empty());
        for (k, trial) in all.iter().enumerate() {
            journal.keep(trial, Duration::from_secs(k as u64)).unwrap();
        }
        assert!(Journal::open(&path, &header(1)).unwrap_err().to_string().contains("another run"), "one writes it");
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
        let why = Journal::open(&path, &header(2)).unwrap_err().to_string();
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

    fn journal(path: &Path) -> Vec<String> {
        let (mut journal, _) = Journal::open(path, &header(1)).unwrap();
        journal.keep(&trial(Preset::Fast, 1.0), Duration::from_secs(5)).unwrap();
        std::fs::read_to_string(path).unwrap().lines().map(str::to_owned).collect()
    }

    #[test]
    fn unsuitable_journal_is_refused_and_unchanged() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.jsonl");
        let lines = journal(&path);
        let long = "x".repeat(MAX_LINE + 1);
        let late = lines[1].replace("\"elapsed_s\":5.0", "\"elapsed_s\":1e19");
        let later_version = lines[1].replace("\"p1\"", "\"p9\"");
        assert!(late != lines[1] && later_version != lines[1], "{lines:?}");
        for (text, why) in [
            (format!("{}\n{}\n{long}\n{}\n", lines[0], lines[1], lines[1]), "line 3 has more than 1048576 bytes"),
            (
                format!("{}\n{later_version}\n{later_version}\n", lines[0]),
                "2 lines behind its first one, and none is a trial",
            ),
            (format!("{}\n{late}\n", lines[0]), "1 line behind its first one, and none is a trial"),
        ] {
            std::fs::write(&path, &text).unwrap();
            let said = Journal::open(&path, &header(1)).unwrap_err().to_string();
            assert!(
                said.contains(why) && said.contains("Delete it, or name another output") && said.len() < 400,
                "{said}"
            );
            assert!(std::fs::read_to_string(&path).unwrap() == text, "{why}");
        }
        // after a known header, unknown lines are skipped and kept
        let text = format!("{}\n{later_version}\n{late}\n{}\n", lines[0], lines[1]);
        std::fs::write(&path, &text).unwrap();
        let known = Journal::open(&path, &header(1)).unwrap().1;
        assert_eq!((known.trials.len(), known.elapsed), (1, Duration::from_secs(5)));
        assert_eq!(std::fs::read_to_string(&path).unwrap(), text);
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn journal_is_a_plain_file() {
        use rustix::fs::{CWD, FileType, Mode, mknodat};
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.jsonl");
        // no child process: it would have the locks of other tests' journals until it begins
        mknodat(CWD, &path, FileType::Fifo, Mode::RUSR | Mode::WUSR, 0).unwrap();
        let (sender, receiver) = std::sync::mpsc::sync_channel(1);
        // reading a pipe waits for its writer, so that a failure of this test must not wait for the thread
        let open = move || sender.send(Journal::open(&path, &header(1)).map(drop));
        let _thread = std::thread::Builder::new().name("opens a pipe".into()).spawn(open).unwrap();
        let said = receiver.recv_timeout(Duration::from_secs(20)).expect("nothing waits").unwrap_err().to_string();
        assert!(said.contains("cannot write") && said.contains("it is a pipe"), "{said}");
    }

    #[test]
    fn journal_with_a_truncated_first_trial_is_resumed() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.jsonl");
        let lines = journal(&path);
        std::fs::write(&path, format!("{}\n{}", lines[0], &lines[1][..20])).unwrap();
        let (mut journal, known) = Journal::open(&path, &header(1)).unwrap();
        assert!(known.trials.is_empty());
        journal.keep(&trial(Preset::Fast, 1.0), Duration::ZERO).unwrap();
        drop(journal);
        assert_eq!(Journal::open(&path, &header(1)).unwrap().1.trials.len(), 1);
    }

    #[test]
    fn rejection_names_other_images_or_another_version() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.jsonl");
        let of = |version: &str, checksum: u32| -> Map<String, Value> {
            let more = [("version".to_owned(), version.into()), (CHECKSUMS.to_owned(), vec![checksum].into())];
            header(1).into_iter().chain(more).collect()
        };
        drop(Journal::open(&path, &of("1.0", 3)).unwrap());
        assert!(Journal::open(&path, &of("1.0", 3)).is_ok());
        let why = Journal::open(&path, &of("1.1", 4)).unwrap_err().to_string();
        assert!(why.contains("its version is \"1.0\", not \"1.1\"") && why.contains("have other images"), "{why}");
        std::fs::write(&path, format!("{}\n", Value::Object(header(1)))).unwrap();
        let why = Journal::open(&path, &of("1.0", 3)).unwrap_err().to_string();
        assert!(why.contains("it does not say its version") && why.contains("does not say its checksums"), "{why}");
    }
}
