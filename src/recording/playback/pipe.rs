//! A recording that comes through a pipe while it is made: like a camera, the newest pair wins.

use super::numbered;
use super::unpacking::Unpacking;
use crate::calibration::CalibrationNote;
use crate::capture::threads::{ended, join_or_leave};
use crate::capture::{CaptureError, Next, PairSource, RawPair, SourceInfo, SourceOptions, SourceState, Speed};
use crate::newest::{self, NewestReceiver, NewestSender, Policy, RecvError};
use crate::recording::read::{PairStream, ReadError};
use crossbeam_channel::{Receiver, RecvTimeoutError, Sender, bounded};
use std::io::{BufReader, Read};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

/// For words.
const THREAD: &str = "the thread that reads the pipe";
/// How long the first pair may take to come.
const PATIENCE: Duration = Duration::from_mins(1);

/// Reads a recording from a pipe.
pub struct PipeSource {
    info: SourceInfo,
    calibration: Option<CalibrationNote>,
    first: Option<Box<RawPair>>,
    pairs: NewestReceiver<Box<RawPair>>,
    shared: Arc<Shared>,
    thread: Option<JoinHandle<()>>,
}

/// What goes on behind the source.
#[derive(Default)]
struct Shared {
    /// Why the pipe ended before its time.
    failure: Mutex<Option<String>>,
    /// What is odd, the newest one, and how often.
    damage: Mutex<Option<(String, u64)>>,
    /// Pictures without a partner.
    unpaired: AtomicU64,
}

/// What is known when the first pair is there.
type Begun = Result<(SourceInfo, Option<CalibrationNote>, RawPair), String>;

impl PipeSource {
    /// Waits for the first pair of what is read.
    ///
    /// # Errors
    /// It is no recording, has no pairs, or nothing comes for a minute.
    pub fn open(reader: impl Read + Send + 'static, options: &SourceOptions) -> Result<Self, CaptureError> {
        let failed = |why: String| CaptureError::File(format!("cannot read a recording from standard input: {why}"));
        let policy = if options.speed == Speed::Max { Policy::Lossless } else { Policy::NewestWins };
        let (sender, pairs) = newest::channel_with(policy);
        let (tell, told) = bounded(1);
        let shared = Arc::new(Shared::default());
        let stream = PairStream::new(BufReader::new(reader), options.topics.clone());
        let work = Work { stream, options: options.clone(), sender, shared: Arc::clone(&shared) };
        let thread = std::thread::Builder::new().name("pipe".into()).spawn(move || work.run(&tell));
        let thread = thread.map_err(|err| failed(format!("no thread: {err}")))?;
        match begun(&told) {
            Ok((info, calibration, first)) => {
                Ok(Self { info, calibration, first: Some(Box::new(first)), pairs, shared, thread: Some(thread) })
            }
            // the thread may wait for bytes that never come: it is left to itself
            Err(why) => Err(failed(why)),
        }
    }
}

fn begun(told: &Receiver<Begun>) -> Begun {
    match told.recv_timeout(PATIENCE) {
        Ok(begun) => begun,
        Err(RecvTimeoutError::Timeout) => {
            Err(format!("no pair came within {} s: does the program before it run?", PATIENCE.as_secs()))
        }
        Err(RecvTimeoutError::Disconnected) => Err("it ended before its first pair".to_owned()),
    }
}

/// The thread's own state.
struct Work<R> {
    stream: PairStream<R>,
    options: SourceOptions,
    sender: NewestSender<Box<RawPair>>,
    shared: Arc<Shared>,
}

impl<R: Read> Work<R> {
    fn run(mut self, tell: &Sender<Begun>) {
        let mut unpacking = None;
        let mut sequence = 0;
        loop {
            let packets = match self.stream.next_pair() {
                Ok(Some(packets)) => packets,
                Ok(None) => break,
                Err(ReadError::Damaged(why)) => {
                    self.damaged(why);
                    continue;
                }
                Err(ReadError::File(why)) => {
                    let _ = tell.try_send(Err(why.clone()));
                    *self.shared.failure.lock().unwrap_or_else(PoisonError::into_inner) = Some(why);
                    break;
                }
            };
            self.shared.unpaired.store(self.stream.incomplete(), Ordering::Relaxed);
            let how = unpacking.get_or_insert_with(|| Unpacking::of_stream(&self.stream, &self.options));
            let pair = match how.pair(&packets) {
                Ok(pair) => RawPair { sequence, name: numbered(&pair), ..pair },
                Err(why) => {
                    self.damaged(why);
                    continue;
                }
            };
            sequence += 1;
            if sequence == 1 {
                let info = SourceInfo { is_camera: true, ..how.info("pipe".to_owned(), &pair, None) };
                let calibration = self.stream.about().map(|about| about.calibration.clone());
                let _ = tell.try_send(Ok((info, calibration, pair)));
            } else if self.sender.send(Box::new(pair)).is_err() {
                break;
            }
        }
        if sequence == 0 {
            let damage = self.shared.damage.lock().unwrap_or_else(PoisonError::into_inner).take();
            let why = damage.map_or_else(|| "it has no pairs".to_owned(), |(why, _)| why);
            let _ = tell.try_send(Err(why));
        }
    }

    fn damaged(&self, why: String) {
        let mut damage = self.shared.damage.lock().unwrap_or_else(PoisonError::into_inner);
        let before = damage.take().map_or(0, |(_, count)| count);
        *damage = Some((why, before + 1));
    }
}

impl PairSource for PipeSource {
    fn info(&self) -> SourceInfo {
        self.info.clone()
    }

    fn next(&mut self, patience: Duration) -> Result<Next, CaptureError> {
        let pair = match self.first.take() {
            Some(first) => first,
            None => match self.pairs.recv_timeout(patience) {
                Ok(pair) => pair,
                Err(RecvError::Timeout) => return Ok(Next::Waiting),
                Err(RecvError::Closed) => {
                    let failure = self.shared.failure.lock().unwrap_or_else(PoisonError::into_inner).take();
                    ended(self.thread.take(), THREAD)?;
                    return failure.map_or(Ok(Next::End), |why| Err(CaptureError::File(why)));
                }
            },
        };
        (self.info.width, self.info.height) = pair.left.size();
        Ok(Next::Pair(pair))
    }

    fn state(&self) -> SourceState {
        let damage = self.shared.damage.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let remark = damage.map(|(why, count)| if count > 1 { format!("{why} ({count} times)") } else { why });
        let unpaired = self.shared.unpaired.load(Ordering::Relaxed);
        SourceState { unpaired, remarks: remark.into_iter().collect(), ..SourceState::default() }
    }

    fn calibration(&self) -> Option<&CalibrationNote> {
        self.calibration.as_ref()
    }
}

impl Drop for PipeSource {
    fn drop(&mut self) {
        self.pairs.close();
        if let Some(thread) = self.thread.take() {
            join_or_leave(thread, THREAD);
        }
    }
}
