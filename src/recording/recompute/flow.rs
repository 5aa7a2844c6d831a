//! The three threads of a run and what passes between them.

use super::matching::{Finished, Item, Stopped, match_all};
use super::output::Output;
use super::part::Taken;
use super::{Input, Method, Progress, RecomputeError, Summary};
use crate::recording::unpack::Unpacker;
use crate::recording::{About, Format, Stream};
use crossbeam_channel::{Receiver, Sender, bounded};
use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

/// Pairs that wait between two threads: enough that none waits for a moment's work of another.
const WAITING: usize = 3;

/// A pair that cannot be read, by its place, and why.
type Damaged = Vec<(u64, String)>;

/// Computes what is missing behind what is `taken` from a run before, and finishes the file.
pub(super) fn run(
    input: Input,
    output: &Path,
    method: &Method,
    about: About,
    format: Format,
    taken: Taken,
    progress: &dyn Progress,
) -> Result<Summary, RecomputeError> {
    let (resumed, next) = (taken.pairs, taken.next);
    let needs_results = about.streams.needs_results();
    // what is not copied is packed anew
    let color =
        input.recording.about().is_none() || [Stream::Eyes, Stream::Rectified].iter().any(|&s| about.streams.has(s));
    let part_path = taken.part.path().to_owned();
    let (to_matcher, items) = bounded::<Item>(WAITING);
    let (to_writer, finished) = bounded::<Finished>(WAITING);
    let mut writer = Output::new(taken, about, format, &input.recording);
    std::thread::scope(|scope| {
        let named = |name: &str| std::thread::Builder::new().name(name.to_owned());
        let no_thread = |err: std::io::Error| RecomputeError::Refused(format!("the system gave no thread: {err}"));
        let reader = named("recompute-read").spawn_scoped(scope, move || read_all(input, next, color, &to_matcher));
        let reader = reader.map_err(no_thread)?;
        let writer = named("recompute-write")
            .spawn_scoped(scope, move || write_all(&mut writer, &finished, progress).map(|()| writer));
        let writer = writer.map_err(no_thread)?;
        let matched = if needs_results {
            match_all(&items, &to_writer, method)
        } else {
            while let Ok(item) = items.recv() {
                if to_writer.send((item, None)).is_err() {
                    break;
                }
            }
            Ok(None)
        };
        // whoever still sends or waits stops now
        drop((items, to_writer));
        let panicked = |_| RecomputeError::Refused("a thread of the computation panicked".to_owned());
        let damaged = reader.join().map_err(panicked)?;
        let written = writer.join().map_err(panicked)?;
        let engine = matched.map_err(|why| match why {
            Stopped::Engine(error) => RecomputeError::Engine { error, part: part_path },
            Stopped::Params(text) => RecomputeError::Params(text),
        });
        // a disk that is full is why the matcher stopped
        let (writer, engine) = (written?, engine?);
        let engine = engine.map(|info| format!("{} ({})", info.kind, info.adapter));
        let summary = writer.finish(output)?;
        Ok(Summary { resumed, damaged, engine, ..summary })
    })
}

/// Reads, decodes and rectifies from this place on, until the end or until nobody takes it any more.
fn read_all(input: Input, next: u64, color: bool, items: &Sender<Item>) -> Damaged {
    let Input { mut recording, info, calibrated, max_pixels, .. } = input;
    let unpacker = Unpacker::of(recording.about(), color).with_max_pixels(max_pixels);
    let is_ours = recording.about().is_some();
    let mut damaged = Damaged::new();
    for place in next..recording.pairs().len() as u64 {
        let log_time_ns = recording.pairs()[place as usize].log_time_ns;
        let item = recording.packets_of_pair(place).map_err(|err| err.to_string()).and_then(|packets| {
            let mut raw = unpacker.pair(&packets).map_err(|err| err.to_string())?;
            // others do not number their pairs
            raw.sequence = if is_ours { raw.sequence } else { place };
            let raw = Arc::new(raw);
            let frame = calibrated.recipe.make(&raw, info, Instant::now()).map_err(|err| err.to_string())?;
            Ok(Item { log_time_ns, packets, frame: Arc::new(frame) })
        });
        match item {
            Ok(item) => {
                if items.send(item).is_err() {
                    break;
                }
            }
            Err(why) => damaged.push((place, why)),
        }
    }
    damaged
}

fn write_all(
    writer: &mut Output,
    finished: &Receiver<Finished>,
    progress: &dyn Progress,
) -> Result<(), RecomputeError> {
    while let Ok((item, output)) = finished.recv() {
        writer.write(&item, output.as_ref())?;
        progress.done();
    }
    Ok(())
}
