//! Attack on the journal of a search and on the search that continues from it.

use serde_json::{Map, Value};
use std::time::Duration;
use stereopsis_search::{
    Budget, Failure, Journal, JournalError, Judge, Meter, Plan, SampleResult, SearchLimits, SearchProgress, Trial,
    Watcher, find,
};
use stereopsis_stereo::StereoParams;

const SAMPLES: usize = 2;

/// Returns the header of the search to which the journal of every input belongs.
pub fn header() -> Map<String, Value> {
    [("stereopsis-search".to_owned(), Value::from(2))].into_iter().collect()
}

/// Attacks a journal: a refused one stays unchanged, an accepted one loses nothing and is read again completely.
pub(crate) fn journal(input: &[u8]) {
    let path = super::inputs::file("a.search.jsonl", input);
    let opened = Journal::open(&path, &header());
    let bytes = std::fs::read(&path).expect("a file");
    let Ok((journal, known)) = opened else { return assert!(bytes == input, "a journal that is refused was changed") };
    drop(journal);
    assert!(bytes.starts_with(input), "something was lost");
    let (_, again) = Journal::open(&path, &header()).expect("a journal that was opened before");
    assert_eq!((again.trials.len(), again.elapsed), (known.trials.len(), known.elapsed));
    let limits = SearchLimits { max_ms: None, budget: Budget::Trials(known.trials.len() + 1) };
    let plan = Plan { judge: Judge::WithoutTruth, start: StereoParams::default(), limits };
    let ended = find(&plan, SAMPLES, known, &mut MissingEngine, &mut PassiveWatcher);
    assert!(!matches!(ended, Err(Failure::Stopped | Failure::Refused(_))), "{ended:?}");
}

/// Missing engine, which ends the search at the first setting without a journal entry.
struct MissingEngine;

impl Meter for MissingEngine {
    fn measure(&mut self, _: &StereoParams, _: usize, _: &dyn Fn() -> bool) -> Result<SampleResult, Failure> {
        Err(Failure::NoMap)
    }
}

struct PassiveWatcher;

impl Watcher for PassiveWatcher {
    fn is_stopped(&self) -> bool {
        false
    }

    fn tried(&mut self, _: &Trial, _: Duration) -> Result<(), JournalError> {
        Ok(())
    }

    fn reached(&mut self, _: SearchProgress) {}
}
