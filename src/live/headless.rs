//! The pipeline with a status line instead of a window: until its pairs are done, or Ctrl-C.

use super::{EngineSource, Live, LiveOptions, News, Status, Summary};
use crate::capture::{Capture, CaptureOptions, PairSource};
use crate::console;
use crate::engine::{self, EngineChoice, EngineInfo, Output};
use crate::process::CpuShare;
use crate::stereo::StereoParams;
use anyhow::Context;
use indicatif::{ProgressBar, ProgressStyle};
use std::collections::BTreeSet;
use std::io::IsTerminal;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// How a run without a window ended.
pub struct Finished {
    /// The last result, with its numbers; `None` if there was none.
    pub output: Option<Arc<Output>>,
    /// Everything else, as of the end. Its errors have been told already.
    pub status: Status,
    /// The whole run, which has been told already.
    pub summary: Summary,
    /// Ctrl-C ended it.
    pub interrupted: bool,
}

/// How often the status is told.
const TELL_EVERY: Duration = Duration::from_secs(1);
/// How often is looked for the end.
const LOOK_EVERY: Duration = Duration::from_millis(5);

/// Somebody beside the pipeline, such as a recorder.
pub trait Beside {
    /// Sees how it stands, some hundred times a second; `true` ends the run.
    fn look(&mut self, status: &Status) -> bool;

    /// Sees the parameters in force whenever they have changed.
    fn params(&mut self, params: &StereoParams);

    /// Words for the status line, behind what it says anyway; may be empty.
    fn words(&self) -> String;

    /// The run ends: nothing may wait for anything any more.
    fn end(&mut self);
}

/// Ends after so many results.
struct Results(Option<u64>);

impl Beside for Results {
    fn look(&mut self, status: &Status) -> bool {
        status.unprepared || self.0.is_some_and(|results| status.computed >= results)
    }

    fn params(&mut self, _: &StereoParams) {}

    fn words(&self) -> String {
        String::new()
    }

    fn end(&mut self) {}
}

/// Runs until the source ends, there are `results` results, or Ctrl-C; a second Ctrl-C ends the program at once. The status goes to standard error: one line that is rewritten on a terminal, else a line a second.
///
/// # Errors
/// A GPU that was asked for by name and cannot be opened, no threads, no handler for Ctrl-C. A lost source is no error here: [`Finished::status`] has it.
pub fn run(source: Box<dyn PairSource>, options: LiveOptions, results: Option<u64>) -> anyhow::Result<Finished> {
    run_beside(source, options, &mut Results(results))
}

/// The same until the source ends, somebody beside it ends it, or Ctrl-C.
///
/// # Errors
/// As [`run`].
pub fn run_beside(
    source: Box<dyn PairSource>,
    options: LiveOptions,
    beside: &mut dyn Beside,
) -> anyhow::Result<Finished> {
    let interrupt = interrupt().context("cannot listen for Ctrl-C")?;
    let engine = match options.engine {
        // whoever names an engine and watches no window wants this one or none
        EngineSource::Open(wanted) if wanted.choice == EngineChoice::Gpu => {
            EngineSource::Opened(engine::open(&wanted, None)?.engine, wanted)
        }
        engine => engine,
    };
    let options = LiveOptions { engine, read_back: true, ..options };
    let share = CpuShare::start();
    let live = Live::start(source, options).context("cannot start the threads")?;
    let mut teller = Teller::new();
    let mut params = live.params();
    let (status, interrupted) = loop {
        std::thread::sleep(LOOK_EVERY);
        let status = live.status();
        if let Some(remote) = live.remote() {
            if let Some(params) = remote.exchange(&live.params()) {
                live.set_params(params);
            }
            teller.tell_news(&remote.news());
            teller.remote = remote.standing();
        }
        let in_force = live.params();
        if !Arc::ptr_eq(&in_force, &params) {
            beside.params(&in_force);
            params = in_force;
        }
        let done = beside.look(&status) || status.ended;
        teller.tell(&status, beside, status.computed > 0);
        let interrupted = interrupt.load(Ordering::Acquire);
        if done || interrupted {
            break (status, interrupted && !done);
        }
    };
    beside.end();
    let summary = Summary::of(&status, &share);
    teller.last(&format!("{status}\n{summary}"));
    Ok(Finished { output: live.latest(), interrupted, status, summary })
}

/// The same without a matcher: the source is read for whoever is beside it.
///
/// # Errors
/// No handler for Ctrl-C.
pub fn capture_beside(
    source: Box<dyn PairSource>,
    options: CaptureOptions,
    beside: &mut dyn Beside,
) -> anyhow::Result<Finished> {
    let interrupt = interrupt().context("cannot listen for Ctrl-C")?;
    let share = CpuShare::start();
    let capture = Capture::start(source, options);
    let mut teller = Teller::new();
    let (status, interrupted) = loop {
        std::thread::sleep(LOOK_EVERY);
        let status = Status::of_capture(&capture);
        let done = beside.look(&status) || status.ended;
        teller.tell(&status, beside, status.captured > 0);
        let interrupted = interrupt.load(Ordering::Acquire);
        if done || interrupted {
            break (status, interrupted && !done);
        }
    };
    beside.end();
    let summary = Summary::of(&status, &share);
    teller.last(&status.to_string());
    Ok(Finished { output: None, interrupted, status, summary })
}

/// Set by the first Ctrl-C.
fn interrupt() -> Result<&'static AtomicBool, ctrlc::Error> {
    static PRESSED: AtomicBool = AtomicBool::new(false);
    // held while the handler is set: a second one would be refused
    static LISTENING: Mutex<bool> = Mutex::new(false);
    let mut listening = LISTENING.lock().unwrap_or_else(PoisonError::into_inner);
    if !*listening {
        ctrlc::set_handler(|| {
            if PRESSED.swap(true, Ordering::AcqRel) {
                std::process::exit(130);
            }
        })?;
        *listening = true;
    }
    Ok(&PRESSED)
}

/// Tells the status when it is time, and news when there are any.
struct Teller {
    bar: Option<ProgressBar>,
    due: Instant,
    told_errors: Vec<String>,
    /// Without their numbers; each is told once.
    told_warnings: BTreeSet<String>,
    told_engine: Option<Arc<EngineInfo>>,
    /// How who watches from elsewhere stands.
    remote: String,
}

impl Teller {
    fn new() -> Self {
        let bar = std::io::stderr().is_terminal().then(|| {
            let style = ProgressStyle::with_template("{wide_msg}").unwrap_or_else(|_| ProgressStyle::default_spinner());
            ProgressBar::new_spinner().with_style(style)
        });
        Self {
            bar,
            due: Instant::now(),
            told_errors: Vec::new(),
            told_warnings: BTreeSet::new(),
            told_engine: None,
            remote: String::new(),
        }
    }

    fn tell_news(&self, news: &[News]) {
        // the rest was said at the start
        for news in news.iter().filter(|news| news.is_error) {
            self.line(&format!("stereopsis: {}", news.text));
        }
    }

    fn tell(&mut self, status: &Status, beside: &dyn Beside, begun: bool) {
        for error in &status.errors {
            if !self.told_errors.contains(error) {
                self.line(&format!("stereopsis: {error}"));
            }
        }
        self.told_errors.clone_from(&status.errors);
        for warning in &status.warnings {
            // the numbers in it change, the matter does not
            let matter: String = warning.chars().filter(|c| !c.is_ascii_digit()).collect();
            if self.told_warnings.insert(matter) {
                self.line(&format!("stereopsis: {warning}"));
            }
        }
        if let Some(engine) = status.engine.as_ref().filter(|engine| self.told_engine.as_ref() != Some(engine)) {
            self.told_engine = Some(Arc::clone(engine));
            let why = status.engine_why.as_ref().map_or_else(String::new, |why| format!(" ({why})"));
            self.line(&format!("{} on {} {}{why}", status.source.name, engine.kind, engine.adapter));
        }
        if begun && Instant::now() >= self.due {
            self.due = Instant::now() + TELL_EVERY;
            let text =
                [status.to_string(), beside.words(), self.remote.clone()].into_iter().filter(|text| !text.is_empty());
            let text = text.collect::<Vec<_>>().join(", ");
            match &self.bar {
                Some(bar) => bar.set_message(console::shown(&text)),
                None => self.line(&text),
            }
        }
    }

    /// What is said at the end, and stays.
    fn last(&self, text: &str) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
        console::line(text);
    }

    /// A line that stays. Standard error may be closed; that is no reason to stop.
    fn line(&self, text: &str) {
        match &self.bar {
            Some(bar) => bar.println(console::shown(text)),
            None => console::line(text),
        }
    }
}
