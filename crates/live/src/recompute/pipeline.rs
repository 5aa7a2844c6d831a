//! Three threads of a run and the channels between them: reader, matcher, writer.

use super::error::RecomputeError;
use super::input::{read, unpacker};
use super::matching::{FinishedPair, PairItem, match_all};
use super::output::Output;
use super::resume::StartedRecording;
use super::summary::Summary;
use crossbeam_channel::{Receiver, Sender, bounded};
use std::path::Path;
use std::sync::Arc;
use stereopsis_frame::Pixels;
use stereopsis_frame::engine::EngineInfo;
use stereopsis_recording::{About, Format, Stream};
use stereopsis_recording::{CalibratedRecording, Progress};
use stereopsis_settings::settings::Settings;

/// Capacity of a channel between two threads, pairs.
const CAPACITY: usize = 3;

/// Numbers of pairs that cannot be read, with the reasons.
type DamagedPairs = Vec<(u64, String)>;

/// Computes the pairs that are missing in `begun`, and finishes the recording.
pub(super) fn run(
    input: CalibratedRecording,
    output: &Path,
    settings: &Settings,
    about: About,
    format: Format,
    begun: StartedRecording,
    progress: &Progress,
) -> Result<Summary, RecomputeError> {
    let (resumed, next) = (begun.pairs, begun.next);
    let needs_results = about.streams.needs_results();
    // images that are not copied are packed anew, and matching uses colours
    let color = needs_results
        || input.recording.about().is_none()
        || [Stream::Eyes, Stream::Rectified].iter().any(|&s| about.streams.has(s));
    let part = begun.part.growing.path().to_owned();
    let (to_matcher, items) = bounded::<PairItem>(CAPACITY);
    let (to_writer, finished) = bounded::<FinishedPair>(CAPACITY);
    let mut writer = Output::new(begun, about, format, &input.recording);
    std::thread::scope(|scope| {
        let named = |name: &str| std::thread::Builder::new().name(name.to_owned());
        let read = move || read_all(input, next, color, &to_matcher, progress);
        let reader = named("recompute-read").spawn_scoped(scope, read);
        let reader = reader.map_err(RecomputeError::NoThread)?;
        let writer = named("recompute-write")
            .spawn_scoped(scope, move || write_all(&mut writer, &finished, progress).map(|()| writer));
        let writer = writer.map_err(RecomputeError::NoThread)?;
        let matched = if needs_results {
            match_all(&items, &to_writer, settings, &part)
        } else {
            let _closed = items.iter().all(|item| to_writer.send((item, None)).is_ok());
            Ok(None)
        };
        // closed channels end the other threads
        drop((items, to_writer));
        let panicked = |_| RecomputeError::Panicked;
        let (damaged, is_stopped) = reader.join().map_err(panicked)?;
        // an error of the writer causes one of the matcher, so it is reported first
        let writer = writer.join().map_err(panicked)??;
        let engine = matched?.map(|info| EngineInfo::clone(&info));
        if is_stopped {
            return Err(writer.stop());
        }
        Ok(Summary { resumed, damaged, engine, ..writer.finish(output)? })
    })
}

/// Reads, decodes and rectifies the pairs from `next` on, until the end, a stop (then it returns true), or a closed channel.
fn read_all(
    mut input: CalibratedRecording,
    next: u64,
    color: bool,
    items: &Sender<PairItem>,
    progress: &Progress,
) -> (DamagedPairs, bool) {
    let unpacker = unpacker(&input, if color { Pixels::Color } else { Pixels::Luma });
    let mut damaged = DamagedPairs::new();
    for k in next..input.recording.pairs().len() as u64 {
        if progress.is_stopped() {
            return (damaged, true);
        }
        let log_time_ns = input.recording.pairs()[k as usize].log_time_ns;
        match read(&mut input, &unpacker, k) {
            Ok((packets, frame)) => {
                if items.send(PairItem { log_time_ns, packets, frame: Arc::new(frame) }).is_err() {
                    break;
                }
            }
            Err(why) => damaged.push((k, why.to_string())),
        }
    }
    (damaged, false)
}

fn write_all(
    writer: &mut Output,
    finished: &Receiver<FinishedPair>,
    progress: &Progress,
) -> Result<(), RecomputeError> {
    for (item, output) in finished {
        writer.write(&item, output.as_ref())?;
        progress.done();
    }
    Ok(())
}
