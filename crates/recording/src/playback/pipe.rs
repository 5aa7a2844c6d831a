//! Source of a recording that arrives through a pipe while it is made. As with a camera, the newest pair wins.

use super::{info, numbered};
use crate::error::{Damage, FileError, PlayError, ReadError};
use crate::read::{PairSkew, PairStream};
use crate::unpack::Unpacker;
use crossbeam_channel::{Receiver, RecvTimeoutError, Sender, bounded};
use parking_lot::Mutex;
use std::io::{BufReader, Read};
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::{Duration, UNIX_EPOCH};
use stereopsis_base::newest::{self, NewestReceiver, NewestSender, Policy};
use stereopsis_base::threads::{check_ended, join_or_detach};
use stereopsis_calibration::CalibrationNote;
use stereopsis_frame::player::median_interval;
use stereopsis_frame::{
    Arrangement, CaptureError, Cause, Next, PairSource, RawPair, SourceInfo, SourceOptions, SourceState, Speed,
};

const THREAD: &str = "the thread that reads the pipe";
/// Number of pairs whose skew is measured.
const SKEWS: usize = 8;
const FIRST_PAIR_TIMEOUT: Duration = Duration::from_mins(1);

/// Source that reads a recording from a pipe.
pub struct PipeSource {
    info: SourceInfo,
    calibration: Option<CalibrationNote>,
    first: Option<Box<RawPair>>,
    pairs: NewestReceiver<Box<RawPair>>,
    state: Arc<Mutex<State>>,
    thread: Option<JoinHandle<()>>,
}

/// State of the thread that the source reports.
#[derive(Default)]
struct State {
    /// Reason for an early end of the pipe.
    failure: Option<Arc<FileError>>,
    /// Last damage, and the number of damages.
    damage: Option<(Damage, u64)>,
    unpaired: u64,
    /// Sentence on topics that are left out.
    left_out: Option<String>,
    /// Skew of the first pairs.
    skew: Option<PairSkew>,
}

/// Description of the source and its first pair.
type FirstPair = Result<(SourceInfo, Option<CalibrationNote>, RawPair), Cause>;

impl PipeSource {
    /// Starts the thread and waits for the first pair.
    ///
    /// # Errors
    /// The input is no recording, has no pairs, or the first pair does not arrive within a minute.
    pub fn open(reader: impl Read + Send + 'static, options: &SourceOptions) -> Result<Self, CaptureError> {
        let failed = |why: Cause| CaptureError::File(PlayError::Pipe(why).into());
        let policy = if options.speed == Speed::Max { Policy::Lossless } else { Policy::NewestWins };
        let arrangement = super::arrangement(options)?;
        let (sender, pairs) = newest::channel_with(policy);
        let (to_opener, begun) = bounded(1);
        let state = Arc::<Mutex<State>>::default();
        let stream = PairStream::new(BufReader::new(reader), options.topics.clone());
        let pipe_reader =
            PipeReader { stream, options: options.clone(), arrangement, sender, state: Arc::clone(&state) };
        let thread = std::thread::Builder::new().name("pipe".into()).spawn(move || pipe_reader.run(&to_opener));
        let thread = thread.map_err(|err| failed(PlayError::NoThread(err).into()))?;
        match first_pair(&begun) {
            Ok((info, calibration, first)) => {
                Ok(Self { info, calibration, first: Some(Box::new(first)), pairs, state, thread: Some(thread) })
            }
            // not joined: the thread may wait for bytes that never arrive
            Err(why) => Err(failed(why)),
        }
    }
}

fn first_pair(begun: &Receiver<FirstPair>) -> FirstPair {
    match begun.recv_timeout(FIRST_PAIR_TIMEOUT) {
        Ok(begun) => begun,
        Err(RecvTimeoutError::Timeout) => Err(PlayError::Late(FIRST_PAIR_TIMEOUT.as_secs()).into()),
        Err(RecvTimeoutError::Disconnected) => Err(PlayError::Ended.into()),
    }
}

/// Reader of the pipe, on its own thread.
struct PipeReader<R> {
    stream: PairStream<R>,
    options: SourceOptions,
    arrangement: Arrangement,
    sender: NewestSender<Box<RawPair>>,
    state: Arc<Mutex<State>>,
}

impl<R: Read> PipeReader<R> {
    fn run(mut self, to_opener: &Sender<FirstPair>) {
        let mut unpacker = None;
        let mut sequence = 0;
        let (mut taken, mut skews_s) = (Vec::new(), Vec::new());
        loop {
            let packets = match self.stream.next_pair() {
                Ok(Some(packets)) => packets,
                Ok(None) => break,
                Err(ReadError::Damaged(why)) => {
                    self.damaged(why);
                    continue;
                }
                Err(ReadError::File(why)) => {
                    let why = Arc::new(why);
                    let _ = to_opener.try_send(Err(Arc::clone(&why).into()));
                    self.state.lock().failure = Some(why);
                    break;
                }
            };
            self.state.lock().unpaired = self.stream.incomplete();
            let SourceOptions { pixels, max_pixels, .. } = self.options;
            let begin = || Unpacker::of(self.stream.about(), pixels, max_pixels).with_arrangement(self.arrangement);
            let pair = match unpacker.get_or_insert_with(begin).pair(&packets) {
                Ok(pair) => {
                    let skew_s = self.stream.skew_s().unwrap_or(pair.skew_s);
                    RawPair { sequence, name: numbered(&pair), skew_s, ..pair }
                }
                Err(err) => {
                    self.damaged(err);
                    continue;
                }
            };
            sequence += 1;
            if skews_s.len() < SKEWS {
                taken.push(pair.capture_time.duration_since(UNIX_EPOCH).unwrap_or_default());
                skews_s.push(pair.skew_s);
                self.state.lock().left_out = self.stream.left_out();
                self.state.lock().skew =
                    PairSkew::of(&skews_s, median_interval(&taken)).filter(|_| skews_s.len() == SKEWS);
            }
            if sequence == 1 {
                let about = self.stream.about();
                let are_rectified = about.is_some_and(|about| !about.streams.has_unrectified());
                let info = info::info("pipe".to_owned(), &pair, None, about, are_rectified);
                let info = SourceInfo { is_camera: true, ..info };
                let calibration = about.map(|about| about.calibration.clone());
                let _ = to_opener.try_send(Ok((info, calibration, pair)));
            } else if self.sender.send(Box::new(pair)).is_err() {
                break;
            }
        }
        if sequence == 0 {
            let damage = self.state.lock().damage.take();
            let why = damage.map_or_else(|| PlayError::PipeWithoutPairs.into(), |(why, _)| why.into());
            let _ = to_opener.try_send(Err(why));
        }
    }

    fn damaged(&self, why: Damage) {
        let mut state = self.state.lock();
        let before = state.damage.take().map_or(0, |(_, count)| count);
        state.damage = Some((why, before + 1));
    }
}

impl PairSource for PipeSource {
    fn info(&self) -> SourceInfo {
        self.info.clone()
    }

    fn next(&mut self, timeout: Duration) -> Result<Next, CaptureError> {
        let pair = match self.first.take() {
            Some(first) => first,
            None => match self.pairs.recv_timeout(timeout) {
                Ok(pair) => pair,
                Err(RecvTimeoutError::Timeout) => return Ok(Next::Waiting),
                Err(RecvTimeoutError::Disconnected) => {
                    let failure = self.state.lock().failure.take();
                    check_ended(self.thread.take(), THREAD)?;
                    return failure.map_or(Ok(Next::End), |why| Err(CaptureError::File(why.into())));
                }
            },
        };
        (self.info.width, self.info.height) = pair.left.size();
        Ok(Next::Pair(pair))
    }

    fn state(&self) -> SourceState {
        let state = self.state.lock();
        let damage = state.damage.as_ref().map(|(why, count)| match count {
            1 => why.to_string(),
            count => format!("{why} ({count} times)"),
        });
        let skew = state.skew.as_ref();
        let remarks = damage.into_iter().chain(state.left_out.clone()).chain(skew.and_then(PairSkew::remark)).collect();
        SourceState { unpaired: state.unpaired, remarks, skew: skew.map(|skew| skew.skew), ..SourceState::default() }
    }

    fn calibration(&self) -> Option<&CalibrationNote> {
        self.calibration.as_ref()
    }
}

impl Drop for PipeSource {
    fn drop(&mut self) {
        self.pairs.close();
        if let Some(thread) = self.thread.take() {
            join_or_detach(thread, THREAD);
        }
    }
}
