//! Matches frames in order, with as many jobs in flight as the engine takes.

use super::error::RecomputeError;
use super::input::params_for;
use crossbeam_channel::{Receiver, Sender, TryRecvError};
use std::collections::VecDeque;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;
use stereopsis_frame::Frame;
use stereopsis_frame::engine::{Engine, EngineError, EngineInfo, Job, Output};
use stereopsis_recording::Packet;
use stereopsis_settings::settings::Settings;

/// Pair on its way between the threads.
pub(super) struct PairItem {
    /// Log time by the wall clock, ns since 1970.
    pub(super) log_time_ns: u64,
    pub(super) packets: Vec<Packet>,
    pub(super) frame: Arc<Frame>,
}

/// Pair with its result, if results are recorded.
pub(super) type FinishedPair = (PairItem, Option<Output>);

/// Matches all pairs until either channel is closed, and returns the engine. `part` is the unfinished recording, for messages.
pub(super) fn match_all(
    items: &Receiver<PairItem>,
    finished: &Sender<FinishedPair>,
    settings: &Settings,
    part: &Path,
) -> Result<Option<Arc<EngineInfo>>, RecomputeError> {
    let failed = |error| RecomputeError::Engine { error, part: part.to_owned() };
    let mut engine: Option<Box<dyn Engine>> = None;
    let mut in_flight: VecDeque<PairItem> = VecDeque::new();
    let mut has_more = true;
    while has_more || !in_flight.is_empty() {
        let slots = engine.as_ref().map_or(1, |engine| engine.slots());
        if has_more && in_flight.len() < slots {
            let next = if in_flight.is_empty() {
                items.recv().map_err(|_| TryRecvError::Disconnected)
            } else {
                items.try_recv()
            };
            match next {
                Ok(item) => {
                    submit(&mut engine, &item, settings, failed)?;
                    in_flight.push_back(item);
                    continue;
                }
                Err(TryRecvError::Disconnected) => has_more = false,
                Err(TryRecvError::Empty) => {}
            }
        }
        let Some(running) = &mut engine else { continue };
        match running.collect().map_err(failed)? {
            Some(output) => {
                let Some(item) = in_flight.pop_front() else { continue };
                if finished.send((item, Some(output))).is_err() {
                    break;
                }
            }
            None if in_flight.is_empty() => {}
            None => std::thread::sleep(Duration::from_micros(100)),
        }
    }
    Ok(engine.map(|engine| engine.info()))
}

/// Submits a pair. The first one opens the engine.
fn submit(
    engine: &mut Option<Box<dyn Engine>>,
    item: &PairItem,
    settings: &Settings,
    failed: impl Fn(EngineError) -> RecomputeError,
) -> Result<(), RecomputeError> {
    let frame = &item.frame;
    let params = params_for(settings, frame)?;
    let job = Job { frame: Arc::clone(frame), params: Arc::new(params), read_back: true, wants_right: false };
    let engine = if let Some(engine) = engine {
        engine
    } else {
        let opened = stereopsis_engine::open(&settings.engine_options().into(), Some(&job)).map_err(&failed)?;
        if let Some(why) = opened.why {
            log::info!("{why}");
        }
        engine.insert(opened.engine)
    };
    engine.submit(job).map_err(failed)
}
