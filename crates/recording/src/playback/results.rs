//! Search for the pairs of a file that have recorded depth. It reads all chunks, and so runs on a thread of its own.

use crate::ReadError;
use crate::read::Recording;
use crate::topic;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};
use stereopsis_base::threads::join_or_detach;
use stereopsis_frame::{TopicChoice, Transport};

/// Interval at which the transport gets the results of the search.
const REPORT_INTERVAL: Duration = Duration::from_millis(200);
const THREAD: &str = "the thread that looks for recorded depth";

/// Running or finished search; dropping it ends it.
pub(super) struct ResultSearch {
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl ResultSearch {
    /// Starts the search in a file, open as `recording`; `None` if it has neither depth nor disparity, or no thread can be started.
    pub(super) fn start(
        recording: &Recording,
        path: &Path,
        topics: &TopicChoice,
        transport: &Arc<Transport>,
    ) -> Option<Self> {
        if recording.about().is_none()
            || [recording.depth_topic(), topic::DISPARITY].iter().all(|name| recording.len(name) == 0)
        {
            return None;
        }
        transport.set_recorded(Arc::default());
        let stop = Arc::<AtomicBool>::default();
        let (path, topics, transport, stopped) =
            (path.to_owned(), topics.clone(), Arc::clone(transport), Arc::clone(&stop));
        let work = move || {
            let found = Recording::open_with(&path, &topics).and_then(|file| search(file, &transport, &stopped));
            found.unwrap_or_else(|why| log::debug!("the search for recorded depth ends: {why}"));
        };
        let thread = std::thread::Builder::new().name("recorded depth".into()).spawn(work);
        let thread = thread.inspect_err(|err| log::warn!("no thread looks for recorded depth: {err}")).ok()?;
        Some(Self { stop, thread: Some(thread) })
    }
}

/// Reports to the transport for each pair whether it has depth; a damaged pair has none.
fn search(mut file: Recording, transport: &Transport, stop: &AtomicBool) -> Result<(), ReadError> {
    let mut recorded = Vec::with_capacity(file.pairs().len());
    let mut due = Instant::now() + REPORT_INTERVAL;
    for k in 0..file.pairs().len() as u64 {
        if stop.load(Ordering::Relaxed) {
            return Ok(());
        }
        recorded.push(match file.has_depth(k) {
            Err(err @ ReadError::File(_)) => return Err(err),
            has => has.unwrap_or(false),
        });
        if due <= Instant::now() {
            transport.set_recorded(recorded.as_slice().into());
            due = Instant::now() + REPORT_INTERVAL;
        }
    }
    transport.set_recorded(recorded.into());
    Ok(())
}

impl Drop for ResultSearch {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        if let Some(thread) = self.thread.take() {
            join_or_detach(thread, THREAD);
        }
    }
}
