//! Recording. The recorder outlives window and device; jobs create and complete its file.

use crate::action::Action;
use crate::command::Command;
use crate::features::dialog;
use crate::jobs::Job;
use crate::notices::{Level, Remedy};
use crate::session::{Session, absolute};
use crate::state::{Obstacle, Phase};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime};
use stereopsis_calibration::CalibrationError;
use stereopsis_frame::{FramePreparation, ResultTap, StereoLayout, Taps};
use stereopsis_recording::write::{Begins, RecordOptions, RecordStatus, Recorder, Target, default_name_in, expected};
use stereopsis_recording::{About, Streams};

/// Job that estimates the size, repeated while the estimate is shown and hidden from the status line.
pub(crate) const ESTIMATE: Job = Job::new("estimating the size of a recording");
/// Interval of estimates, which change as the disk fills.
const ESTIMATE_INTERVAL: Duration = Duration::from_secs(1);

/// Change of the session that waits for an answer.
pub(crate) type PendingChange = Box<dyn FnOnce(&mut Session) + Send>;
/// Largest time for the creation of a file after the window was closed.
const START_TIMEOUT: Duration = Duration::from_secs(10);

/// Time and subject of the last estimate of the size of a recording.
#[derive(Default)]
pub(crate) struct SizeEstimate(Option<(Instant, Streams, PathBuf)>);

/// Starts or ends a recording.
pub(crate) fn toggle(session: &mut Session) {
    match session.state.recording.phase {
        Phase::Running(_) => end_recording(session, None),
        Phase::Idle => {
            if let Err(why) = start_recording(session) {
                session.state.notices.error(why);
            }
        }
        Phase::Starting(_) | Phase::Ending(..) => {}
    }
}

/// Lets the user choose the folder of recordings.
pub(crate) fn choose_folder(session: &mut Session) {
    dialog::commands::ask_folder(session, "A folder for recordings", |session, folder| {
        session.state.recording.choices.folder = Some(folder);
    });
}

fn start_recording(session: &mut Session) -> Result<(), String> {
    let streams = session.state.streams();
    if streams.is_empty() {
        return Err("nothing is chosen to be recorded: ▾ beside Record offers what there is".into());
    }
    let output = session.state.output().filter(|_| session.state.status().capture.captured > 0);
    let output = output.ok_or("nothing to record yet: wait for the first pair")?;
    let holds = session.live.transport().is_some_and(|transport| !transport.get().playing);
    if session.state.status().paused || holds {
        return Err("paused: nothing comes that could be recorded. Space goes on".into());
    }
    if session.state.status().source.is_still {
        return Err(format!("{} is one pair: nothing comes that could be recorded", session.state.source.spec));
    }
    if session.state.status().engine.ended {
        return Err(format!("{} has ended: there is nothing more to record", session.state.source.spec));
    }
    let now = SystemTime::now();
    let choices = &session.state.recording.choices;
    let about = About {
        streams,
        filled: choices.filled && streams.needs_results(),
        raw: StereoLayout::of(output.job.frame.raw.original.as_ref()),
        ..session.about(now)
    };
    let options = RecordOptions {
        format: choices.format,
        compression: choices.compression,
        begins: Begins::WithResult,
        split: choices.split,
        ..RecordOptions::default()
    };
    let target = Target::File(default_name_in(&absolute(&session.state.recording_folder()), now));
    session.state.recording.phase = Phase::Starting(None);
    session.state.recording.streams = streams;
    let start = move || Recorder::start(target, about, options).map_err(|err| err.to_string());
    session.jobs.start(Job::new("starting the recording"), start, recording_started);
    Ok(())
}

fn recording_started(session: &mut Session, started: Result<Arc<Recorder>, String>) {
    let Phase::Starting(unwanted) = std::mem::take(&mut session.state.recording.phase) else { return };
    match started {
        Ok(recorder) => {
            // the parameters may have changed while the file was created
            recorder.set_params(&session.state.matching.params);
            session.state.recording.status = Some(recorder.status());
            session.state.recording.phase = Phase::Running(recorder);
            match unwanted {
                None => connect_taps(session),
                Some(why) => end_recording(session, Some(&why)),
            }
        }
        Err(why) => session.state.notices.error(why),
    }
}

/// Connects recorder and live calibration as receivers of pairs and results.
pub(crate) fn connect_taps(session: &Session) {
    let recorder = session.state.recording.recorder();
    let mut taps = recorder.map(Recorder::taps).unwrap_or_default();
    taps.raw.extend(session.guide.tap());
    let results = recorder.map(|recorder| Arc::clone(recorder) as Arc<dyn ResultTap>);
    session.live.set_taps(taps, results.into_iter().collect());
}

/// Executes a change at once unless a recording prevents it, which requires an answer first.
pub(crate) fn unless_recording(
    session: &mut Session,
    obstacle: Obstacle,
    change: impl FnOnce(&mut Session) + Send + 'static,
) {
    let recording = &mut session.state.recording;
    let is_borne = !matches!(obstacle, Obstacle::Source(_)) && recording.bears_preparation();
    if is_borne || !recording.is_begun() {
        return change(session);
    }
    recording.question = Some(obstacle);
    let older = session.waiting_change.replace(Box::new(change));
    forget(older);
}

/// Executes the waiting change, which ends the recording, or drops it.
pub(crate) fn answer_question(session: &mut Session, ends: bool) {
    session.state.recording.question = None;
    match session.waiting_change.take() {
        Some(change) if ends => change(session),
        other => forget(other),
    }
}

/// Ends the recording; `why` is the reason unless the user ends it.
pub(crate) fn end_recording(session: &mut Session, why: Option<&str>) {
    match std::mem::take(&mut session.state.recording.phase) {
        Phase::Running(recorder) => {
            if let Some(why) = why {
                recorder.event("end", why);
            }
            session.state.recording.phase = Phase::Ending(Arc::clone(&recorder), why.map(str::to_owned));
            connect_taps(session);
            let end = move || {
                let ended = recorder.stop();
                Ok((recorder.status(), ended.err().map(|err| err.to_string())))
            };
            session.start_job(Job::new("finishing the recording"), end, recording_ended);
        }
        Phase::Starting(unwanted) => {
            session.state.recording.phase = Phase::Starting(unwanted.or_else(|| why.map(str::to_owned)));
        }
        other => session.state.recording.phase = other,
    }
}

fn recording_ended(session: &mut Session, (status, error): (RecordStatus, Option<String>)) {
    let Phase::Ending(_, why) = std::mem::take(&mut session.state.recording.phase) else { return };
    session.state.recording.status = None;
    let is_error = error.is_some() || status.counters.pairs == 0;
    let cause = error.or(why).map_or_else(String::new, |cause| format!("{cause} · "));
    let text = format!("{cause}recorded {} into {}", recorded_streams(session), status.summary());
    let level = if is_error { Level::Error } else { Level::Remark };
    let file = status.path.filter(|_| status.counters.pairs > 0);
    let remedies =
        file.into_iter().flat_map(|file| [Remedy::OpenFile(file.clone()), Remedy::ShowInFolder(file)]).collect();
    session.state.notices.add(level, text, remedies);
}

/// Reads the recorder's status and ends a recording that cannot continue; once per frame.
pub(crate) fn update(session: &mut Session) {
    if session.state.recording.question.is_some() && !session.state.recording.is_begun() {
        answer_question(session, true); // the recording has ended by itself, so that nothing prevents the change
    }
    let Some(recorder) = session.state.recording.recorder() else { return };
    recorder.watch(&session.state.status().errors);
    if let Some(why) = session.state.status().no_result() {
        recorder.begin_without_depth(why);
    }
    let status = recorder.status();
    let has_ended = status.ended.is_some();
    let before = session.state.recording.status.replace(status);
    let without = session.state.recording.status.as_ref().and_then(|status| status.without_depth.clone());
    if let Some(why) = without.filter(|_| before.is_some_and(|before| before.without_depth.is_none())) {
        let text = format!("the recording has begun without depth: {why}");
        session.state.notices.add(Level::Warning, text, Vec::new());
    }
    if has_ended {
        session.owned(Some(Command::from(Action::Record).owner()), |session| end_recording(session, None));
    } else if session.state.status().engine.ended {
        let why = format!("{} has ended", session.state.source.spec);
        end_recording(session, Some(&why));
    }
}

pub(crate) fn note_params(session: &Session) {
    if let Some(recorder) = session.state.recording.recorder() {
        recorder.set_params(&session.state.matching.params);
    }
}

/// Changes the preparation of frames, which ends a recording of prepared frames; one of raw pairs records the change.
pub(crate) fn set_preparation(session: &mut Session, preparation: FramePreparation) -> Result<(), CalibrationError> {
    if session.state.recording.bears_preparation() {
        session.live.set_preparation(preparation)?;
        if let Some(recorder) = session.state.recording.recorder() {
            let text = "sides, calibration or working size were changed; pairs are recorded as they come, and described as at \
                        the beginning";
            recorder.event("calibration", text);
            session.state.notices.news("the recording goes on: raw pairs are recorded as they come");
        }
        return Ok(());
    }
    session.live.set_taps(Taps::default(), Vec::new());
    let set = session.live.set_preparation(preparation);
    if set.is_ok() {
        end_recording(session, Some("calibration or working size was changed"));
    }
    connect_taps(session);
    set
}

/// Estimates the size of a recording unless the last estimate is recent.
pub(crate) fn estimate(session: &mut Session) {
    let Some(output) = session.state.output().cloned() else { return };
    let (streams, folder) = (session.state.streams(), session.state.recording_folder());
    let is_fresh = session.estimate.0.as_ref().is_some_and(|(at, of_streams, of_folder)| {
        at.elapsed() < ESTIMATE_INTERVAL && (*of_streams, of_folder) == (streams, &folder)
    });
    if is_fresh || session.jobs.is_running(ESTIMATE) {
        return;
    }
    let status = session.state.status();
    let rate_hz = status.source.rate_hz.unwrap_or(status.capture.rate_hz);
    session.estimate.0 = Some((Instant::now(), streams, folder.clone()));
    let estimate = move || Ok(expected(&folder, streams, &output.job.frame, rate_hz));
    session.start_job(ESTIMATE, estimate, |session, expected| session.state.recording.expected = Some(expected));
}

fn recorded_streams(session: &Session) -> String {
    session.state.recording.streams.to_string().replace(',', ", ")
}

/// Waits for the start of a recording and ends it.
fn end_recording_at_start(session: &mut Session, why: &str) {
    let deadline = Instant::now() + START_TIMEOUT;
    while matches!(session.state.recording.phase, Phase::Starting(_)) && Instant::now() < deadline {
        end_recording(session, Some(why));
        session.finish_jobs();
        std::thread::sleep(Duration::from_millis(2));
    }
}

/// Ends a recording after the window was closed, and waits for its end.
///
/// # Errors
/// The recording had ended with an error; the text contains the file's name.
pub(crate) fn finish(session: &mut Session) -> Option<Result<String, String>> {
    // also closes a file that is being created
    end_recording_at_start(session, "the window was closed");
    session.live.set_taps(Taps::default(), Vec::new());
    let (Phase::Running(recorder) | Phase::Ending(recorder, _)) = std::mem::take(&mut session.state.recording.phase)
    else {
        return None;
    };
    let ended = recorder.stop();
    let recorded = format!("recorded {} into {}", recorded_streams(session), recorder.status().summary());
    Some(ended.map_err(|err| format!("{err} · {recorded}")).map(|_| recorded))
}

/// Drops a pending change on another thread, because it may hold a source, which takes time to close.
fn forget(change: Option<PendingChange>) {
    if let Some(change) = change {
        let _ = std::thread::Builder::new().name("old change".into()).spawn(move || drop(change));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::WindowOptions;
    use stereopsis_frame::SourceOptions;
    use stereopsis_gpu::Gpu;
    use stereopsis_recording::Recording;
    use stereopsis_settings::settings::{Origin, Word};

    fn until(session: &mut Session, what: &str, found: impl Fn(&Session) -> bool) {
        let deadline = Instant::now() + Duration::from_secs(30);
        while !found(session) {
            assert!(Instant::now() < deadline, "waited in vain until {what}: {:?}", session.state.notices);
            std::thread::sleep(Duration::from_millis(2));
            session.update();
        }
    }

    fn results(session: &Session) -> u64 {
        session.state.recording.running().map_or(0, |status| status.counters.results)
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
            saved_state: None,
            ..WindowOptions::default()
        };
        let mut session = Session::start(options, Some(first.clone())).unwrap();
        until(&mut session, "there is a result", |session| session.state.output().is_some());
        toggle(&mut session);
        until(&mut session, "results are recorded", |session| results(session) > 2);
        first.device.destroy();
        session.device_replaced(&second, "a test");
        let before = results(&session);
        until(&mut session, "the other device's results are recorded", |session| {
            let from = session.state.output().is_some_and(|output| output.texture.is_some());
            from && results(session) > before + 5
        });
        toggle(&mut session);
        until(&mut session, "it has ended", |session| matches!(session.state.recording.phase, Phase::Idle));
        let file = session.state.notices.all().iter().find_map(|notice| {
            notice
                .remedies
                .iter()
                .find_map(|remedy| if let Remedy::OpenFile(file) = remedy { Some(file.clone()) } else { None })
        });
        let file = file.unwrap();
        let recording = Recording::open(&file).unwrap();
        assert_eq!(recording.damage(), None);
        assert!(recording.len(stereopsis_recording::topic::DEPTH) > before + 5, "in one file");
    }
}
