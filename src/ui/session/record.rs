//! Recording what the window reads: the choices, which are remembered, and the recorder, which outlives window and device.
//!
//! Files are made, finished and measured on threads of their own, see [`crate::ui::jobs`]; here is only said what shall be.

use super::Session;
use crate::calibration::CalibrationError;
use crate::capture::{FrameTap, RawRule, Recipe};
use crate::live::ResultTap;
use crate::recording::write::{
    Compression, Expected, RecordOptions, RecordStatus, RecordSummary, Recorder, Target, default_name_in, expected,
};
use crate::recording::{About, Format, Stream, Streams};
use crate::ui::dialogs;
use crate::ui::jobs::Job;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime};

/// How often the size is reckoned anew while somebody looks at it: disks fill.
/// Started again and again while its result is shown, and not shown itself.
pub(crate) const FORECAST: Job = Job::new("estimating the size of a recording");
const FORECAST_EVERY: Duration = Duration::from_secs(1);

/// What is recorded, and how.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct RecordChoices {
    /// What is in the file.
    pub(crate) streams: Streams,
    /// In which words.
    pub(crate) format: Format,
    /// How it is compressed.
    pub(crate) compression: Compression,
    /// Holes of depth and disparity are filled.
    pub(crate) filled: bool,
    /// Where files go; `None` for where snapshots go.
    pub(crate) folder: Option<PathBuf>,
}

impl Default for RecordChoices {
    fn default() -> Self {
        let RecordOptions { format, compression, .. } = RecordOptions::default();
        Self { streams: Streams::default(), format, compression, filled: false, folder: None }
    }
}

/// Where a folder is, whatever the program's own is the next time.
fn whole_path(folder: &Path) -> PathBuf {
    std::path::absolute(folder).unwrap_or_else(|_| folder.to_owned())
}

/// A recording in this window.
#[derive(Default)]
pub(crate) struct RecordState {
    pub(crate) choices: RecordChoices,
    /// How large it would become.
    pub(crate) expected: Option<Expected>,
    forecast: Option<(Instant, Streams, PathBuf)>,
    phase: Phase,
    /// What is in the running one.
    streams: Streams,
    /// How the running one stands; read once per frame.
    status: Option<RecordStatus>,
}

/// From a click to the file that is whole.
#[derive(Default)]
enum Phase {
    #[default]
    Idle,
    /// The file is being made; for this reason it is not wanted any more.
    Starting(Option<String>),
    Running(Arc<Recorder>),
    /// All of it is being brought to the disk; why it ended, where nobody asked for it.
    Ending(Arc<Recorder>, Option<String>),
}

impl RecordState {
    pub(crate) fn new(choices: RecordChoices) -> Self {
        Self { choices, ..Self::default() }
    }

    /// How the running recording stands.
    pub(crate) fn running(&self) -> Option<&RecordStatus> {
        self.status.as_ref().filter(|_| matches!(self.phase, Phase::Running(_)))
    }

    /// Whether the running recording has depth or disparity.
    pub(crate) fn needs_results(&self) -> bool {
        self.streams.needs_results()
    }

    /// It begins or ends: another click would come too early.
    pub(crate) fn is_between(&self) -> bool {
        matches!(self.phase, Phase::Starting(_) | Phase::Ending(..))
    }

    /// What is in the running recording, in words.
    fn words(&self) -> String {
        self.streams.to_string().replace(',', ", ")
    }

    fn recorder(&self) -> Option<&Arc<Recorder>> {
        match &self.phase {
            Phase::Running(recorder) => Some(recorder),
            _ => None,
        }
    }
}

impl Session {
    /// Begins or ends a recording.
    pub(crate) fn toggle_recording(&mut self) {
        match &self.record.phase {
            Phase::Running(_) => self.end_recording(None),
            Phase::Idle => {
                if let Err(why) = self.start_recording() {
                    self.notices.error(why);
                }
            }
            Phase::Starting(_) | Phase::Ending(..) => {}
        }
    }

    /// What would be recorded: without a calibration disparity instead of depth.
    pub(crate) fn streams(&self) -> Streams {
        let chosen = self.record.choices.streams;
        if chosen.has(Stream::Depth) && !self.has_depth() {
            return chosen.with(Stream::Depth, false).with(Stream::Disparity, true);
        }
        chosen
    }

    /// Whether disparities become metres; nobody knows before the first result.
    pub(crate) fn has_depth(&self) -> bool {
        self.output.as_ref().is_none_or(|output| output.job.frame.geometry.is_some())
    }

    /// Where recordings go.
    pub(crate) fn record_folder(&self) -> PathBuf {
        self.record.choices.folder.clone().unwrap_or_else(|| whole_path(&self.options.folder))
    }

    /// Asks for the folder.
    pub(crate) fn choose_record_folder(&mut self) {
        const CHOOSE: Job = Job::stoppable("choosing a folder");
        if !self.jobs.is_running(CHOOSE) {
            self.start_job(CHOOSE, dialogs::choose_folder("A folder for recordings"), |session, folder| {
                session.record.choices.folder = folder.or(session.record.choices.folder.take());
            });
        }
    }

    fn start_recording(&mut self) -> Result<(), String> {
        let streams = self.streams();
        if streams.is_empty() {
            return Err("nothing is chosen to be recorded: ▾ beside Record offers what there is".into());
        }
        let output = self.output.clone().filter(|_| self.status.captured > 0);
        let output = output.ok_or("nothing to record yet: wait for the first pair")?;
        let holds = self.live.transport().is_some_and(|transport| !transport.get().playing);
        if self.status.paused || holds {
            return Err("paused: nothing comes that could be recorded. Space goes on".into());
        }
        if self.status.ended {
            return Err(format!("{} has ended: there is nothing more to record", self.source));
        }
        let now = SystemTime::now();
        let choices = &self.record.choices;
        let about = About {
            streams,
            filled: choices.filled && streams.needs_results(),
            raw: RawRule::of(output.job.frame.raw.original.as_ref()),
            ..self.about(now)
        };
        let options =
            RecordOptions { format: choices.format, compression: choices.compression, ..RecordOptions::default() };
        let target = Target::File(default_name_in(&whole_path(&self.record_folder()), now));
        self.record.phase = Phase::Starting(None);
        self.record.streams = streams;
        let start = move || Recorder::start(target, about, options).map_err(|err| err.to_string());
        self.jobs.start(Job::new("starting the recording"), start, Self::recording);
        Ok(())
    }

    /// The recorder is there, or cannot be.
    pub(super) fn recording(&mut self, started: Result<Arc<Recorder>, String>) {
        let Phase::Starting(unwanted) = std::mem::take(&mut self.record.phase) else { return };
        match started {
            Ok(recorder) => {
                // changed while the file was made
                recorder.set_params(&self.params);
                self.record.status = Some(recorder.status());
                self.record.phase = Phase::Running(recorder);
                match unwanted {
                    None => self.show_to_recorder(),
                    Some(why) => self.end_recording(Some(&why)),
                }
            }
            Err(why) => self.notices.error(why),
        }
    }

    /// Shows pairs and results to the recorder, if there is one.
    fn show_to_recorder(&self) {
        let recorder = self.record.recorder();
        let frames = recorder.map(|recorder| Arc::clone(recorder) as Arc<dyn FrameTap>);
        let results = recorder.map(|recorder| Arc::clone(recorder) as Arc<dyn ResultTap>);
        self.live.set_taps(frames.into_iter().collect(), results.into_iter().collect());
    }

    /// Ends the recording, if there is one; `why` where nobody asked for it.
    pub(super) fn end_recording(&mut self, why: Option<&str>) {
        match std::mem::take(&mut self.record.phase) {
            Phase::Running(recorder) => {
                if let Some(why) = why {
                    recorder.event("end", why);
                }
                self.record.phase = Phase::Ending(Arc::clone(&recorder), why.map(str::to_owned));
                self.show_to_recorder();
                let end = move || {
                    let ended = recorder.stop();
                    Ok((recorder.summary(), ended.err().map(|err| err.to_string())))
                };
                self.start_job(Job::new("finishing the recording"), end, Self::recorded);
            }
            Phase::Starting(unwanted) => {
                self.record.phase = Phase::Starting(unwanted.or_else(|| why.map(str::to_owned)));
            }
            other => self.record.phase = other,
        }
    }

    /// Says what was recorded.
    pub(super) fn recorded(&mut self, (summary, error): (RecordSummary, Option<String>)) {
        let Phase::Ending(_, why) = std::mem::take(&mut self.record.phase) else { return };
        self.record.status = None;
        let is_error = error.is_some() || summary.counters.pairs == 0;
        let cause = error.or(why).map_or_else(String::new, |cause| format!("{cause} · "));
        let text = format!("{cause}recorded {} into {summary}", self.record.words());
        self.notices.offer(text, is_error, summary.path.filter(|_| summary.counters.pairs > 0));
    }

    /// Looks how the recording stands; called once per frame.
    pub(super) fn look_at_recording(&mut self) {
        let Some(recorder) = self.record.recorder() else { return };
        recorder.watch(&self.status.errors);
        let status = recorder.status();
        let has_ended = status.ended.is_some();
        self.record.status = Some(status);
        if has_ended {
            self.end_recording(None);
        } else if self.status.ended {
            let why = format!("{} has ended", self.source);
            self.end_recording(Some(&why));
        }
    }

    /// Notes changed parameters.
    pub(super) fn tell_recorder(&self) {
        if let Some(recorder) = self.record.recorder() {
            recorder.set_params(&self.params);
        }
    }

    /// Makes frames in another way. A recording says at its beginning how its frames are made, so it ends here.
    pub(super) fn set_recipe(&mut self, recipe: Recipe) -> Result<(), CalibrationError> {
        self.live.set_taps(Vec::new(), Vec::new());
        let set = self.live.set_recipe(recipe);
        match &set {
            Ok(()) => self.end_recording(Some("calibration or working size was changed")),
            Err(_) => self.show_to_recorder(),
        }
        set
    }

    /// Has it reckoned how large a recording becomes, for whoever looks at it.
    pub(crate) fn forecast(&mut self) {
        let Some(output) = self.output.clone() else { return };
        let wanted = (self.streams(), self.record_folder());
        let is_fresh = self.record.forecast.as_ref().is_some_and(|(asked, streams, folder)| {
            asked.elapsed() < FORECAST_EVERY && (*streams, folder) == (wanted.0, &wanted.1)
        });
        if is_fresh || self.jobs.is_running(FORECAST) {
            return;
        }
        let rate_hz = self.status.source.rate_hz.unwrap_or(self.status.captured_hz);
        let (streams, folder) = wanted;
        self.record.forecast = Some((Instant::now(), streams, folder.clone()));
        let forecast = move || Ok(expected(&folder, streams, &output.job.frame, rate_hz));
        self.start_job(FORECAST, forecast, |session, expected| session.record.expected = Some(expected));
    }

    /// Ends a recording and waits for it: for whoever has closed the window.
    ///
    /// # Errors
    /// It ended before its time; the text names the file too.
    pub fn finish_recording(&mut self) -> Option<Result<String, String>> {
        self.live.set_taps(Vec::new(), Vec::new());
        let (Phase::Running(recorder) | Phase::Ending(recorder, _)) = std::mem::take(&mut self.record.phase) else {
            return None;
        };
        let ended = recorder.stop();
        let summary = recorder.summary();
        let recorded = format!("recorded {} into {summary}", self.record.words());
        Some(ended.map_err(|err| format!("{err} · {recorded}")).map(|_| recorded))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::capture::SourceOptions;
    use crate::engine::gpu::Gpu;
    use crate::recording::Recording;
    use crate::settings::{Origin, Word};
    use crate::ui::WindowOptions;

    fn until(session: &mut Session, what: &str, found: impl Fn(&Session) -> bool) {
        let deadline = Instant::now() + Duration::from_secs(30);
        while !found(session) {
            assert!(Instant::now() < deadline, "waited in vain until {what}: {:?}", session.notices);
            std::thread::sleep(Duration::from_millis(2));
            session.update();
        }
    }

    fn results(session: &Session) -> u64 {
        session.record.running().map_or(0, |status| status.counters.results)
    }

    #[test]
    fn a_recording_goes_on_when_the_device_is_lost_and_another_one_is_there() {
        let (Some(first), Some(second)) = (Gpu::for_test(), Gpu::for_test()) else { return };
        let folder = tempfile::tempdir().unwrap();
        let word = |name: &str, text: &str| Word { name: name.into(), text: text.into(), origin: Origin::Flag };
        let options = WindowOptions {
            words: vec![word("engine", "gpu"), word("num-disparities", "16"), word("threads", "1")],
            source_options: SourceOptions { size: Some((64, 48)), ..WindowOptions::default().source_options },
            folder: folder.path().to_owned(),
            kept: None,
            ..WindowOptions::default()
        };
        let mut session = Session::start(options, Some(first.clone())).unwrap();
        until(&mut session, "there is a result", |session| session.output.is_some());
        session.toggle_recording();
        until(&mut session, "results are recorded", |session| results(session) > 2);
        first.device.destroy();
        session.device_replaced(&second, "a test");
        let before = results(&session);
        until(&mut session, "the other device's results are recorded", |session| {
            let from = session.output.as_ref().is_some_and(|output| output.texture.is_some());
            from && results(session) > before + 5
        });
        session.toggle_recording();
        until(&mut session, "it has ended", |session| matches!(session.record.phase, Phase::Idle));
        let file = session.notices.all().iter().find_map(|notice| notice.file.clone()).unwrap();
        let recording = Recording::open(&file).unwrap();
        assert_eq!(recording.damage(), None);
        assert!(recording.len(crate::recording::topic::DEPTH) > before + 5, "in one file");
    }
}
