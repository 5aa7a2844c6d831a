//! Recording. The recorder outlives window and device; jobs create and complete its file.

use crate::core::{Action, Command, Core, Job, Level, Obstacle, PendingChange, Phase, Remedy, absolute, dialog};
use std::convert::Infallible;
use std::fmt::Display;
use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime};
use stereopsis_base::threads::drop_elsewhere;
use stereopsis_calibration::CalibrationError;
use stereopsis_frame::{FramePreparation, ResultTap, SourceSpec, StereoLayout, Taps};
use stereopsis_recording::About;
use stereopsis_recording::write::{Begins, RecordOptions, RecordStatus, Recorder, Target, default_name, expected};

/// Job that estimates the size, repeated while the estimate is shown and hidden from the status line.
pub(crate) const ESTIMATE: Job = Job::hidden("estimating the size of a recording");
/// Interval of estimates, which change as the disk fills.
const ESTIMATE_INTERVAL: Duration = Duration::from_secs(1);

/// Largest time for the creation of a file after the window was closed.
const START_TIMEOUT: Duration = Duration::from_secs(10);

/// Starts or ends a recording.
pub(crate) fn toggle(core: &mut Core) {
    match core.recording.phase {
        Phase::Running(_) => end_recording(core, None),
        Phase::Idle => {
            if let Err(why) = start_recording(core) {
                core.notices.error(why);
            }
        }
        Phase::Starting(_) | Phase::Ending(..) => {}
    }
}

/// Lets the user choose the folder of recordings.
pub(crate) fn choose_folder(core: &mut Core) {
    dialog::commands::ask_folder(core, "A folder for recordings", |core, folder| {
        core.recording.choices.folder = Some(folder);
    });
}

/// Reason why nothing can be recorded.
#[derive(Debug, thiserror::Error)]
enum CannotRecord {
    #[error("nothing is chosen to be recorded: ▾ beside Record offers what there is")]
    NoStream,
    #[error("nothing to record yet: wait for the first pair")]
    NoPair,
    #[error("paused: nothing comes that could be recorded. Space goes on")]
    Paused,
    #[error("{0} is one pair: nothing comes that could be recorded")]
    Still(SourceSpec),
    #[error("{0} has ended: there is nothing more to record")]
    Ended(SourceSpec),
}

fn start_recording(core: &mut Core) -> Result<(), CannotRecord> {
    let streams = core.streams();
    if streams.is_empty() {
        return Err(CannotRecord::NoStream);
    }
    let output = core.output().filter(|_| core.status().capture.captured > 0);
    let output = output.ok_or(CannotRecord::NoPair)?;
    let holds = core.live.transport().is_some_and(|transport| !transport.get().playing);
    if core.status().paused || holds {
        return Err(CannotRecord::Paused);
    }
    if core.status().source.is_still {
        return Err(CannotRecord::Still(core.source.spec.clone()));
    }
    if core.status().engine.ended {
        return Err(CannotRecord::Ended(core.source.spec.clone()));
    }
    let now = SystemTime::now();
    let choices = &core.recording.choices;
    let about = About {
        streams,
        filled: choices.filled && streams.needs_results(),
        raw: StereoLayout::of(output.job.frame.raw.original.as_ref()),
        ..core.about(now)
    };
    let options = RecordOptions {
        format: choices.format,
        compression: choices.compression,
        begins: Begins::WithResult,
        split: choices.split,
        ..RecordOptions::default()
    };
    let target = Target::File(default_name(&absolute(&core.recording_folder()), now));
    core.recording.phase = Phase::Starting(None);
    core.recording.streams = streams;
    let start = move || Recorder::start(target, about, options);
    core.jobs.start(Job::new("starting the recording"), start, recording_started);
    Ok(())
}

fn recording_started(core: &mut Core, started: Result<Arc<Recorder>, impl Display>) {
    let Phase::Starting(unwanted) = std::mem::take(&mut core.recording.phase) else { return };
    match started {
        Ok(recorder) => {
            // the parameters may have changed while the file was created
            recorder.set_params(&core.matching.params);
            core.recording.status = Some(recorder.status());
            core.recording.phase = Phase::Running(recorder);
            match unwanted {
                None => connect_taps(core),
                Some(why) => end_recording(core, Some(&why)),
            }
        }
        Err(why) => core.notices.error(why),
    }
}

/// Connects recorder and live calibration as receivers of pairs and results.
pub(crate) fn connect_taps(core: &Core) {
    let recorder = core.recording.recorder();
    let mut taps = recorder.map(Recorder::taps).unwrap_or_default();
    taps.raw.extend(core.raw_tap.clone());
    let results = recorder.map(|recorder| Arc::clone(recorder) as Arc<dyn ResultTap>);
    core.live.set_taps(taps, results.into_iter().collect());
}

/// Executes a change at once unless a recording prevents it, which requires an answer first.
pub(crate) fn unless_recording(core: &mut Core, obstacle: Obstacle, change: impl FnOnce(&mut Core) + Send + 'static) {
    let recording = &mut core.recording;
    let is_borne = !matches!(obstacle, Obstacle::Source(_)) && recording.bears_preparation();
    if is_borne || !recording.is_begun() {
        return change(core);
    }
    recording.question = Some(obstacle);
    let older = core.waiting_change.replace(Box::new(change));
    forget(older);
}

/// Executes the waiting change, which ends the recording, or drops it.
pub(crate) fn answer_question(core: &mut Core, ends: bool) {
    core.recording.question = None;
    match core.waiting_change.take() {
        Some(change) if ends => change(core),
        other => forget(other),
    }
}

/// Ends the recording; `why` is the reason unless the user ends it.
pub(crate) fn end_recording(core: &mut Core, why: Option<&str>) {
    match std::mem::take(&mut core.recording.phase) {
        Phase::Running(recorder) => {
            if let Some(why) = why {
                recorder.event("end", why);
            }
            core.recording.phase = Phase::Ending(Arc::clone(&recorder), why.map(str::to_owned));
            connect_taps(core);
            let end = move || {
                let ended = recorder.stop();
                Ok::<_, Infallible>((recorder.status(), ended.err().map(|err| err.to_string())))
            };
            core.start_job(Job::new("finishing the recording"), end, recording_ended);
        }
        Phase::Starting(unwanted) => {
            core.recording.phase = Phase::Starting(unwanted.or_else(|| why.map(str::to_owned)));
        }
        other => core.recording.phase = other,
    }
}

fn recording_ended(core: &mut Core, (status, error): (RecordStatus, Option<String>)) {
    let Phase::Ending(_, why) = std::mem::take(&mut core.recording.phase) else { return };
    core.recording.status = None;
    let is_error = error.is_some() || status.counters.pairs == 0;
    let cause = error.or(why).map_or_else(String::new, |cause| format!("{cause} · "));
    let text = format!("{cause}recorded {} into {}", recorded_streams(core), status.summary());
    let level = if is_error { Level::Error } else { Level::Remark };
    let file = status.path.filter(|_| status.counters.pairs > 0);
    let remedies =
        file.into_iter().flat_map(|file| [Remedy::OpenFile(file.clone()), Remedy::ShowInFolder(file)]).collect();
    core.notices.add(level, text, remedies);
}

/// Reads the recorder's status and ends a recording that cannot continue; once per frame.
pub(crate) fn update(core: &mut Core) {
    if core.recording.question.is_some() && !core.recording.is_begun() {
        answer_question(core, true); // the recording has ended by itself, so that nothing prevents the change
    }
    let Some(recorder) = core.recording.recorder() else { return };
    recorder.watch(&core.status().errors);
    if let Some(why) = core.status().no_result() {
        recorder.begin_without_depth(why);
    }
    let status = recorder.status();
    let has_ended = status.ended.is_some();
    let before = core.recording.status.replace(status);
    let without = core.recording.status.as_ref().and_then(|status| status.without_depth.clone());
    if let Some(why) = without.filter(|_| before.is_some_and(|before| before.without_depth.is_none())) {
        let text = format!("the recording has begun without depth: {why}");
        core.notices.add(Level::Warning, text, Vec::new());
    }
    if has_ended {
        core.owned(Some(Command::from(Action::Record).owner()), |core| end_recording(core, None));
    } else if core.status().engine.ended {
        let why = format!("{} has ended", core.source.spec);
        end_recording(core, Some(&why));
    }
}

pub(crate) fn note_params(core: &Core) {
    if let Some(recorder) = core.recording.recorder() {
        recorder.set_params(&core.matching.params);
    }
}

/// Changes the preparation of frames, which ends a recording of prepared frames; one of raw pairs records the change.
pub(crate) fn set_preparation(core: &mut Core, preparation: FramePreparation) -> Result<(), CalibrationError> {
    if core.recording.bears_preparation() {
        core.live.set_preparation(preparation)?;
        if let Some(recorder) = core.recording.recorder() {
            let text = "sides, calibration or working size were changed; pairs are recorded as they come, and described as at \
                        the beginning";
            recorder.event("calibration", text);
            core.notices.news("the recording goes on: raw pairs are recorded as they come");
        }
        return Ok(());
    }
    core.live.set_taps(Taps::default(), Vec::new());
    let set = core.live.set_preparation(preparation);
    if set.is_ok() {
        end_recording(core, Some("calibration or working size was changed"));
    }
    connect_taps(core);
    set
}

/// Estimates the size of a recording unless the last estimate is recent.
pub(crate) fn estimate(core: &mut Core) {
    let Some(output) = core.output().cloned() else { return };
    let (streams, folder) = (core.streams(), core.recording_folder());
    let is_fresh = core.recording.estimated.as_ref().is_some_and(|(at, of_streams, of_folder)| {
        at.elapsed() < ESTIMATE_INTERVAL && (*of_streams, of_folder) == (streams, &folder)
    });
    if is_fresh || core.jobs.is_running(ESTIMATE) {
        return;
    }
    let status = core.status();
    let rate_hz = status.source.rate_hz.unwrap_or(status.capture.rate_hz);
    core.recording.estimated = Some((Instant::now(), streams, folder.clone()));
    let estimate = move || Ok::<_, Infallible>(expected(&folder, streams, &output.job.frame, rate_hz));
    core.start_job(ESTIMATE, estimate, |core, expected| core.recording.expected = Some(expected));
}

fn recorded_streams(core: &Core) -> String {
    core.recording.streams.to_string().replace(',', ", ")
}

/// Waits for the start of a recording and ends it.
fn end_recording_at_start(core: &mut Core, why: &str) {
    let deadline = Instant::now() + START_TIMEOUT;
    while matches!(core.recording.phase, Phase::Starting(_)) && Instant::now() < deadline {
        end_recording(core, Some(why));
        core.finish_jobs();
        std::thread::sleep(Duration::from_millis(2));
    }
}

/// Ends a recording after the window was closed, and waits for its end.
///
/// # Errors
/// The recording had ended with an error; the text contains the file's name.
pub(crate) fn finish(core: &mut Core) -> Option<anyhow::Result<String>> {
    // also closes a file that is being created
    end_recording_at_start(core, "the window was closed");
    core.live.set_taps(Taps::default(), Vec::new());
    let (Phase::Running(recorder) | Phase::Ending(recorder, _)) = std::mem::take(&mut core.recording.phase) else {
        return None;
    };
    let ended = recorder.stop();
    let recorded = format!("recorded {} into {}", recorded_streams(core), recorder.status().summary());
    Some(match ended {
        Ok(_) => Ok(recorded),
        Err(err) => Err(anyhow::anyhow!("{err} · {recorded}")),
    })
}

/// Drops a pending change on another thread, because it may hold a source, which takes time to close.
fn forget(change: Option<PendingChange>) {
    if let Some(change) = change {
        drop_elsewhere("old change", change);
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

    fn until(core: &mut Core, what: &str, found: impl Fn(&Core) -> bool) {
        let deadline = Instant::now() + Duration::from_secs(30);
        while !found(core) {
            assert!(Instant::now() < deadline, "waited in vain until {what}: {:?}", core.notices);
            std::thread::sleep(Duration::from_millis(2));
            core.finish_jobs();
            core.update(Instant::now());
        }
    }

    fn results(core: &Core) -> u64 {
        core.recording.running().map_or(0, |status| status.counters.results)
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
        let mut core = Core::start(options, Some(first.clone())).unwrap();
        until(&mut core, "there is a result", |core| core.output().is_some());
        toggle(&mut core);
        until(&mut core, "results are recorded", |core| results(core) > 2);
        first.device.destroy();
        core.device_replaced(&second, "a test");
        let before = results(&core);
        until(&mut core, "the other device's results are recorded", |core| {
            let from = core.output().is_some_and(|output| output.texture.is_some());
            from && results(core) > before + 5
        });
        toggle(&mut core);
        until(&mut core, "it has ended", |core| matches!(core.recording.phase, Phase::Idle));
        let file = core.notices.all().iter().find_map(|notice| {
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
