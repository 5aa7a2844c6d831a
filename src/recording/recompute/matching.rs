//! Frames in, results out, in order, with as many at once as the engine takes.

use super::Method;
use crate::capture::Frame;
use crate::engine::{self, Engine, EngineError, EngineInfo, Job, Output};
use crate::recording::Packet;
use crossbeam_channel::{Receiver, Sender, TryRecvError};
use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

/// A pair on its way.
pub(super) struct Item {
    /// When it was recorded: the wall clock, ns since 1970.
    pub(super) log_time_ns: u64,
    /// What was recorded of it.
    pub(super) packets: Vec<Packet>,
    /// The pair, rectified.
    pub(super) frame: Arc<Frame>,
}

/// A pair with its result, where one is wanted.
pub(super) type Finished = (Item, Option<Output>);

/// Why matching stopped.
pub(super) enum Stopped {
    /// The engine cannot.
    Engine(EngineError),
    /// The parameters do not fit.
    Params(String),
}

/// Matches all that comes, until nothing comes or nobody takes it any more. Returns what computed.
pub(super) fn match_all(
    items: &Receiver<Item>,
    finished: &Sender<Finished>,
    method: &Method,
) -> Result<Option<Arc<EngineInfo>>, Stopped> {
    let mut engine: Option<Box<dyn Engine>> = None;
    let mut in_flight: VecDeque<Item> = VecDeque::new();
    let mut has_more = true;
    while has_more || !in_flight.is_empty() {
        let slots = engine.as_ref().map_or(1, |engine| engine.slots());
        if has_more && in_flight.len() < slots {
            // with nothing in flight there is nothing to do but to wait
            let next = if in_flight.is_empty() {
                items.recv().map_err(|_| TryRecvError::Disconnected)
            } else {
                items.try_recv()
            };
            match next {
                Ok(item) => {
                    submit(&mut engine, &item, method)?;
                    in_flight.push_back(item);
                    continue;
                }
                Err(TryRecvError::Disconnected) => has_more = false,
                Err(TryRecvError::Empty) => {}
            }
        }
        let Some(running) = &mut engine else { continue };
        match running.collect().map_err(Stopped::Engine)? {
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

/// Hands a pair to the engine; the first one decides which engine.
fn submit(engine: &mut Option<Box<dyn Engine>>, item: &Item, method: &Method) -> Result<(), Stopped> {
    let frame = &item.frame;
    let params = (method.params)(frame).map_err(Stopped::Params)?;
    let job = Job { frame: Arc::clone(frame), params: Arc::new(params), read_back: true, wants_right: false };
    let engine = if let Some(engine) = engine {
        engine
    } else {
        let opened = engine::open(&method.engine, Some(&job)).map_err(Stopped::Engine)?;
        if let Some(why) = opened.why {
            log::info!("{why}");
        }
        engine.insert(opened.engine)
    };
    engine.submit(job).map_err(Stopped::Engine)
}
