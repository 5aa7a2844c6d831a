//! Pipeline with a status line instead of a window: runs until its pairs are done, or Ctrl-C.

use super::status::fitting;
use super::{Cause, Live, LiveOptions, News, Status, Summary};
use crate::capture::{Capture, CaptureOptions};
use anyhow::Context;
use indicatif::{ProgressBar, ProgressStyle};
use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::io::IsTerminal;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};
use stereopsis_base::console;
use stereopsis_base::process::CpuShare;
use stereopsis_engine::worker::EngineSource;
use stereopsis_frame::PairSource;
use stereopsis_frame::engine::{EngineChoice, EngineInfo, Output};
use stereopsis_stereo::StereoParams;

/// Finished run without a window.
pub struct Finished {
    /// Last result, with its map on the host, if there was one.
    pub output: Option<Arc<Output>>,
    /// Final status. Its errors have been printed.
    pub status: Status,
    /// Summary of the whole run, as printed.
    pub summary: Summary,
}

const PRINT_INTERVAL: Duration = Duration::from_secs(1);
/// Interval of polling the status, unless an observer sets another one.
const POLL_INTERVAL: Duration = Duration::from_millis(5);

/// Observer of a run, such as a recorder.
pub trait RunObserver {
    /// Receives the status, some hundred times a second; returns whether the run ends.
    fn poll(&mut self, status: &Status) -> bool;

    /// Returns the interval of polling the status.
    fn interval(&self) -> Duration {
        POLL_INTERVAL
    }

    /// Receives the parameters in force after each change.
    fn set_params(&mut self, _params: &StereoParams) {}

    /// Returns a line to print once while it holds.
    fn news(&self) -> Option<String> {
        None
    }

    /// Returns additions to the status line.
    fn status_parts(&self) -> Vec<String> {
        Vec::new()
    }

    /// Ends the observation: capture and engine no longer wait for it.
    fn close(&mut self) {}
}

/// Observer that ends after a number of matched or failed pairs: an engine may fail with every pair.
struct Results(Option<u64>);

impl RunObserver for Results {
    fn poll(&mut self, status: &Status) -> bool {
        status.capture.unprepared
            || self.0.is_some_and(|results| status.engine.computed + status.engine.failed >= results)
    }
}

/// Runs until the source ends, there are `results` results, or Ctrl-C; a second Ctrl-C ends the program at once. The status goes
/// to standard error: on a terminal as one line that is rewritten, else as a line a second.
///
/// # Errors
/// A GPU that was chosen by name and cannot be opened, no threads, no handler for Ctrl-C. A lost source is no error here:
/// [`Finished::status`] has it.
pub fn run(source: Box<dyn PairSource>, options: LiveOptions, results: Option<u64>) -> anyhow::Result<Finished> {
    run_observed(source, options, &mut Results(results))
}

/// Runs until the source ends, `observer` ends the run, or Ctrl-C.
///
/// # Errors
/// Errors of [`run`].
pub fn run_observed(
    source: Box<dyn PairSource>,
    options: LiveOptions,
    observer: &mut dyn RunObserver,
) -> anyhow::Result<Finished> {
    let interrupt = interrupt().context("cannot listen for Ctrl-C")?;
    let engine = match options.engine {
        // without a window, a GPU or a model chosen by name is not replaced by the CPU at the start
        EngineSource::Open(wanted) if matches!(wanted.settings.choice, EngineChoice::Gpu | EngineChoice::Model) => {
            EngineSource::Opened(stereopsis_engine::open(&wanted, None)?.engine, wanted)
        }
        engine => engine,
    };
    let options = LiveOptions { engine, read_back: true, ..options };
    let share = CpuShare::start();
    let self_calibrate = options.self_calibrate;
    let live = Live::start(source, options).context("cannot start the threads")?;
    let mut printer = StatusPrinter::new(|status| status.engine.computed > 0);
    let mut params = live.params();
    poll(interrupt, &mut printer, observer, |printer, observer| {
        if let Some(params) = live.exchange() {
            live.set_params(params);
        }
        if self_calibrate && let Some(done) = live.correct() {
            printer.line(&format!("stereopsis: {done}"));
        }
        live.remotes().iter().for_each(|remote| printer.print_news(&remote.news()));
        printer.clients = live.standing();
        let in_force = live.params();
        if !Arc::ptr_eq(&in_force, &params) {
            observer.set_params(&in_force);
            params = in_force;
        }
        live.status()
    });
    let status = live.last_status();
    printer.print(&status, observer);
    let summary = Summary::of(&status, &share);
    printer.finish(&status, &format!("{status}\n{summary}"));
    Ok(Finished { output: live.latest(), status, summary })
}

/// Reads a source for an observer, without an engine.
///
/// # Errors
/// No handler for Ctrl-C.
pub fn capture_observed(
    source: Box<dyn PairSource>,
    options: CaptureOptions,
    observer: &mut dyn RunObserver,
) -> anyhow::Result<Finished> {
    let interrupt = interrupt().context("cannot listen for Ctrl-C")?;
    let share = CpuShare::start();
    let capture = Capture::start(source, options);
    let mut printer = StatusPrinter::new(|status| status.capture.captured > 0);
    let status = poll(interrupt, &mut printer, observer, |_, _| Status::of_capture(&capture));
    let summary = Summary::of(&status, &share);
    printer.finish(&status, &status.to_string());
    Ok(Finished { output: None, status, summary })
}

/// Polls and prints the status until the run ends; returns the last one, and whether Ctrl-C has ended the run.
fn poll(
    interrupt: &AtomicBool,
    printer: &mut StatusPrinter,
    observer: &mut dyn RunObserver,
    mut status: impl FnMut(&mut StatusPrinter, &mut dyn RunObserver) -> Status,
) -> Status {
    loop {
        std::thread::sleep(observer.interval());
        let status = status(printer, observer);
        let done = observer.poll(&status) || status.engine.ended;
        printer.print(&status, observer);
        if done || interrupt.load(Ordering::Acquire) {
            observer.close();
            return status;
        }
    }
}

/// Returns a flag that the first Ctrl-C sets; the second one ends the program at once.
///
/// # Errors
/// The system accepts no handler.
pub fn interrupt() -> Result<&'static AtomicBool, ctrlc::Error> {
    static PRESSED: AtomicBool = AtomicBool::new(false);
    let handler = || {
        if PRESSED.swap(true, Ordering::AcqRel) {
            std::process::exit(130);
        }
    };
    match ctrlc::set_handler(handler) {
        // set by an earlier run of this process
        Ok(()) | Err(ctrlc::Error::MultipleHandlers) => Ok(&PRESSED),
        Err(err) => Err(err),
    }
}

/// Returns the text of a warning without numbers: a repeated one may have others.
fn without_numbers(text: &str) -> String {
    text.replace(|c: char| c.is_ascii_digit(), "")
}

/// Printer of the status at intervals, and of errors, warnings and the engine when they change.
struct StatusPrinter {
    bar: Option<ProgressBar>,
    due: Instant,
    /// Whether a status has anything to print.
    begun: fn(&Status) -> bool,
    errors: Vec<String>,
    news: Option<String>,
    /// Printed warnings by their texts without numbers; each is printed once.
    warnings: BTreeMap<String, String>,
    engine: Option<Arc<EngineInfo>>,
    clients: String,
}

impl StatusPrinter {
    fn new(begun: fn(&Status) -> bool) -> Self {
        let bar = std::io::stderr().is_terminal().then(|| {
            let style = ProgressStyle::with_template("{wide_msg}").unwrap_or_else(|_| ProgressStyle::default_spinner());
            ProgressBar::new_spinner().with_style(style)
        });
        let (errors, warnings, clients) = (Vec::new(), BTreeMap::new(), String::new());
        Self { bar, due: Instant::now(), begun, errors, news: None, warnings, engine: None, clients }
    }

    fn print_news(&self, news: &[News]) {
        // other news were printed at the start
        for news in news.iter().filter(|news| news.is_error) {
            self.line(&format!("stereopsis: {}", news.text));
        }
    }

    fn print(&mut self, status: &Status, observer: &dyn RunObserver) {
        for error in status.errors.iter().filter(|error| !self.errors.contains(error)) {
            self.line(&format!("stereopsis: {error}"));
        }
        self.errors.clone_from(&status.errors);
        let news = observer.news();
        if let Some(news) = news.as_ref().filter(|_| self.news != news) {
            self.line(&format!("stereopsis: {news}"));
        }
        self.news = news;
        for warning in &status.warnings {
            if let Entry::Vacant(entry) = self.warnings.entry(without_numbers(&warning.text)) {
                entry.insert(warning.text.clone());
                self.line(&format!("stereopsis: {warning}"));
            }
        }
        if let Some(engine) = status.engine.engine.as_ref().filter(|engine| self.engine.as_ref() != Some(engine)) {
            self.engine = Some(Arc::clone(engine));
            let why = status.engine.why.as_ref().map_or_else(String::new, |why| format!(" ({why})"));
            self.line(&format!("{} on {} {}{why}", status.source.name, engine.kind, engine.adapter));
        }
        if (self.begun)(status) && Instant::now() >= self.due {
            self.due = Instant::now() + PRINT_INTERVAL;
            let clients = Some(self.clients.clone()).filter(|clients| !clients.is_empty());
            let added = observer.status_parts().into_iter().chain(clients).collect();
            let parts = [status.essentials(), added, status.details()].concat();
            match &self.bar {
                Some(bar) => bar.set_message(console::shown(&fitting(&parts, console::columns()))),
                None => self.line(&fitting(&parts, None)),
            }
        }
    }

    /// Prints the last lines, which stay: remarks on the source whose numbers have changed since they were printed, and `text`.
    fn finish(&self, status: &Status, text: &str) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
        for warning in status.warnings.iter().filter(|warning| warning.cause == Cause::Source) {
            if self.warnings.get(&without_numbers(&warning.text)) != Some(&warning.text) {
                console::say(warning);
            }
        }
        console::line(text);
    }

    fn line(&self, text: &str) {
        match &self.bar {
            Some(bar) => bar.println(console::shown(text)),
            None => console::line(text),
        }
    }
}
