//! Thread of the recorder: packs and writes the items of the queue, and periodically flushes, syncs, and checks the disk.

use super::clock::{Clock, JumpDetector, Moment};
use super::error::NearlyFull;
use super::files::{Files, Full, NextFile, cannot_write};
use super::queue::{Item, Next, Queue};
use super::{RecordError, disk};
use crate::Packet;
use crate::pack::Packer;
use parking_lot::Mutex;
use std::collections::VecDeque;
use std::io;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant, SystemTime};
use stereopsis_base::process;

/// Maximum age of an open chunk, so that a crash loses at most one second.
const FLUSH_INTERVAL: Duration = Duration::from_millis(500);
/// Interval of counters, syncs and checks of the disk.
const CHECK_INTERVAL: Duration = Duration::from_secs(1);
/// Number of written bytes after which the disk is checked before that.
const CHECK_BYTES: u64 = 16 << 20;
/// Number of intervals over which bytes per second are averaged.
const RATE_INTERVALS: usize = 6;
/// Step between log times where the clock gives the same time twice: readers identify pairs by log time.
const TIME_STEP: Duration = Duration::from_micros(1);

pub(super) struct Shared {
    pub(super) queue: Queue,
    pub(super) clock: Clock,
    pub(super) started: Instant,
    /// Number of bytes that the system took.
    pub(super) written: Arc<AtomicU64>,
    progress: Mutex<ThreadProgress>,
}

#[derive(Clone, Default)]
pub(super) struct ThreadProgress {
    pub(super) bytes_per_s: f64,
    pub(super) cpu_time: Option<Duration>,
    /// Time until the disk is full, s.
    pub(super) disk_left_s: Option<f64>,
    /// Files behind the first one.
    pub(super) further: Vec<PathBuf>,
    /// Reason for further files, unless they were asked for.
    pub(super) split: Option<String>,
    /// Result and time of the end.
    pub(super) ended: Option<(Result<(), RecordError>, Instant)>,
}

impl Shared {
    pub(super) fn new(queue: Queue, clock: Clock) -> Self {
        let started = clock().steady;
        Self { queue, clock, started, written: Arc::default(), progress: Mutex::default() }
    }

    pub(super) fn progress(&self) -> ThreadProgress {
        self.progress.lock().clone()
    }
}

pub(super) struct Thread {
    shared: Arc<Shared>,
    packer: Packer,
    files: Files,
    /// Reason why the recording ends with what waits to be written.
    ends: Option<RecordError>,
    jumps: JumpDetector,
    /// Log time of the last packets.
    last_wall: Option<SystemTime>,
    flush_due: Instant,
    check_due: Instant,
    /// Times with the bytes written until then.
    rate_samples: VecDeque<(Instant, u64)>,
    checked_bytes: u64,
}

/// Guard that closes the queue at the end of the thread, also after a panic.
struct AbandonOnDrop(Arc<Shared>);

impl Drop for AbandonOnDrop {
    fn drop(&mut self) {
        self.0.queue.abandon();
        let now = (self.0.clock)().steady;
        let panicked = || (Err(RecordError::Panicked), now);
        self.0.progress.lock().ended.get_or_insert_with(panicked);
    }
}

impl Thread {
    pub(super) fn new(shared: Arc<Shared>, packer: Packer, files: Files) -> Self {
        let now = shared.started;
        Self {
            shared,
            packer,
            files,
            ends: None,
            jumps: JumpDetector::default(),
            last_wall: None,
            flush_due: now + FLUSH_INTERVAL,
            check_due: now + CHECK_INTERVAL,
            rate_samples: VecDeque::from([(now, 0)]),
            checked_bytes: 0,
        }
    }

    pub(super) fn run(mut self) {
        let guard = AbandonOnDrop(Arc::clone(&self.shared));
        let result = match self.write_all() {
            Err(err @ RecordError::DiskFull { .. }) => {
                self.shared.queue.abandon();
                self.finish("disk", &err.to_string()).and(Err(err))
            }
            Ok(()) => match self.ends.take() {
                Some(err) => self.finish("end", &err.to_string()).and(Err(err)),
                None => self.finish("end", "stopped"),
            },
            Err(err) => Err(err),
        };
        if let Err(err) = &result {
            log::info!("{}: {err}", self.files.place.name);
        }
        let now = (self.shared.clock)().steady;
        let mut progress = self.shared.progress.lock();
        progress.cpu_time = process::thread_cpu_time();
        progress.ended = Some((result, now));
        drop(progress);
        drop(guard);
    }

    fn write_all(&mut self) -> Result<(), RecordError> {
        loop {
            match self.shared.queue.next(self.flush_due.min(self.check_due)) {
                Next::Item(item, moment) => self.write_item(&item, moment)?,
                Next::Idle => {}
                Next::Closed => return Ok(()),
            }
            let now = Instant::now();
            if now >= self.check_due {
                self.check(now)?;
            } else if now >= self.flush_due {
                self.flush_due = now + FLUSH_INTERVAL;
                self.flush()?;
            }
            if self.written().saturating_sub(self.checked_bytes) >= CHECK_BYTES {
                self.check_disk()?;
            }
        }
    }

    fn write_item(&mut self, item: &Item, moment: Moment) -> Result<(), RecordError> {
        if let Some(text) = self.jumps.check(moment) {
            let event = self.shared.queue.event("clock", &text);
            self.write_note(moment.wall, |packer, wall| packer.event(&event, wall))?;
        }
        match item {
            Item::Pair(pair) => {
                let wall = self.distinct(moment.wall);
                let packets = self.packer.pair(pair, wall)?;
                self.write(packets, Some(moment.steady))?;
                self.shared.queue.count_pair(pair.sequence());
            }
            Item::Result(output) => {
                let wall = self.distinct(moment.wall);
                let packets = self.packer.result(output, wall)?;
                self.write(packets, Some(moment.steady))?;
                self.shared.queue.count_result(self.packer.depth_loss());
            }
            Item::Params(params) => self.write_note(moment.wall, |packer, wall| packer.parameters(params, wall))?,
            Item::Event(event) => self.write_note(moment.wall, |packer, wall| packer.event(event, wall))?,
        }
        Ok(())
    }

    fn write_note(
        &mut self,
        wall: SystemTime,
        pack: impl FnOnce(&mut Packer, SystemTime) -> Packet,
    ) -> Result<(), RecordError> {
        let wall = self.distinct(wall);
        let packet = pack(&mut self.packer, wall);
        self.write(vec![packet], None)
    }

    /// Writes counters, syncs the file, and checks the disk.
    fn check(&mut self, now: Instant) -> Result<(), RecordError> {
        (self.flush_due, self.check_due) = (now + FLUSH_INTERVAL, now + CHECK_INTERVAL);
        self.write_counters()?;
        self.flush()?;
        self.files.sync().map_err(|err| self.cannot_write(err))?;
        let bytes = self.written();
        self.rate_samples.push_back((now, bytes));
        let (first, before) = if self.rate_samples.len() > RATE_INTERVALS {
            self.rate_samples.pop_front()
        } else {
            self.rate_samples.front().copied()
        }
        .unwrap_or((now, bytes));
        let mut progress = self.shared.progress.lock();
        progress.cpu_time = process::thread_cpu_time();
        progress.bytes_per_s = bytes.saturating_sub(before) as f64 / now.duration_since(first).as_secs_f64().max(1e-3);
        drop(progress);
        self.check_disk()
    }

    /// Fails if the disk is nearly full.
    fn check_disk(&mut self) -> Result<(), RecordError> {
        self.checked_bytes = self.written();
        let free = (self.files.place.free_bytes)();
        let mut progress = self.shared.progress.lock();
        let bytes_per_s = progress.bytes_per_s;
        let reserve = disk::reserve(bytes_per_s);
        progress.disk_left_s =
            free.filter(|_| bytes_per_s > 0.0).map(|free| free.saturating_sub(reserve) as f64 / bytes_per_s);
        match free.filter(|&free| free < reserve) {
            Some(left_bytes) => {
                Err(RecordError::DiskFull(NearlyFull { disk: self.files.place.disk.clone(), left_bytes }))
            }
            None => Ok(()),
        }
    }

    fn flush(&mut self) -> Result<(), RecordError> {
        let flushed = self.files.flush();
        self.or_go_on(flushed)
    }

    fn finish(&mut self, kind: &str, text: &str) -> Result<(), RecordError> {
        let last = self.last_notes(kind, text);
        let written = self.files.write(last, None).and_then(|()| self.files.flush());
        self.or_go_on(written)?;
        let ended = self.files.finish(false, (self.shared.clock)().wall);
        ended.map_err(|err| self.cannot_write(err))
    }

    /// Returns the notes at the end of a file: an event and the counters.
    fn last_notes(&mut self, kind: &str, text: &str) -> Vec<Packet> {
        let wall = (self.shared.clock)().wall;
        let (event, counters) = (self.shared.queue.event(kind, text), self.shared.queue.counters_and_taken().0);
        let times = [self.distinct(wall), self.distinct(wall)];
        vec![self.packer.event(&event, times[0]), self.packer.counters(&counters, times[1])]
    }

    fn write_counters(&mut self) -> Result<(), RecordError> {
        let (wall, counters) = ((self.shared.clock)().wall, self.shared.queue.counters_and_taken().0);
        self.write_note(wall, |packer, wall| packer.counters(&counters, wall))
    }

    /// Writes the packets of an item or a note into the file, or into the next one if it is full. `item_time` is the time of a pair or
    /// result.
    fn write(&mut self, packets: Vec<Packet>, item_time: Option<Instant>) -> Result<(), RecordError> {
        if let Some(full) = self.files.full(&packets, item_time) {
            self.go_on(full)?;
        }
        let written = self.files.write(packets, item_time);
        self.or_go_on(written)
    }

    /// Ends the file as a whole one and goes on in the next one. Where that cannot be made, the recording ends in this one, with what waits.
    fn go_on(&mut self, full: Full) -> Result<(), RecordError> {
        // the next file comes first, so that there is one whenever this one says so
        let next = match self.files.create_next() {
            Ok(next) => next,
            Err(err) => {
                self.files.stop_splitting();
                self.shared.queue.close((self.shared.clock)());
                self.ends = Some(err);
                return Ok(());
            }
        };
        let name = next.path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let last = self.last_notes("split", &format!("goes on in {name}"));
        let written = self.files.write(last, None).and_then(|()| self.files.flush());
        let rest = match written {
            Err(err) if self.files.can_be_cut(&err) => self.files.cut(),
            written => written.and_then(|()| self.files.finish(true, (self.shared.clock)().wall)).map(|()| Vec::new()),
        };
        let rest = rest.map_err(|err| self.cannot_write(err))?;
        self.begin_next(next, full, rest)
    }

    /// Goes on in the next file where the system took no more bytes of this one.
    fn or_go_on(&mut self, written: io::Result<()>) -> Result<(), RecordError> {
        match written {
            Err(err) if self.files.can_be_cut(&err) => {
                let rest = self.files.cut().map_err(|err| self.cannot_write(err))?;
                let next = self.files.create_next()?;
                self.begin_next(next, Full::Refused(self.files.bytes()), rest)
            }
            written => written.map_err(|err| self.cannot_write(err)),
        }
    }

    /// Begins the next file with a description of the recording, and with packets that the last one did not take.
    fn begin_next(&mut self, next: NextFile, full: Full, rest: Vec<Packet>) -> Result<(), RecordError> {
        let path = next.path.clone();
        log::info!("{}: goes on in {}", self.files.place.name, path.display());
        self.files.begin_next(next)?;
        let wall = self.last_wall.unwrap_or_else(|| (self.shared.clock)().wall);
        let (head, since) = (self.packer.head(wall), (!rest.is_empty()).then(Instant::now));
        let begun = self.files.write(head, None).and_then(|()| self.files.write(rest, since));
        begun.and_then(|()| self.files.flush()).map_err(|err| self.cannot_write(err))?;
        let mut progress = self.shared.progress.lock();
        progress.further.push(path);
        progress.split = progress.split.take().or(full.text());
        Ok(())
    }

    fn cannot_write(&self, err: io::Error) -> RecordError {
        cannot_write(&self.files.place, err)
    }

    fn written(&self) -> u64 {
        self.shared.written.load(Ordering::Relaxed)
    }

    /// Returns the time, made different from that of the last packets.
    fn distinct(&mut self, wall: SystemTime) -> SystemTime {
        let wall = if self.last_wall == Some(wall) { wall + TIME_STEP } else { wall };
        self.last_wall = Some(wall);
        wall
    }
}
