//! The recorder's thread: takes what waits, packs it, writes it; now and then it flushes, syncs, and looks at the disk.

use super::clock::{Clock, Jumps, Moment};
use super::file::{McapFile, Place};
use super::queue::{Item, Next, Queue};
use super::{RecordError, disk};
use crate::process;
use crate::recording::Packet;
use crate::recording::pack::Packer;
use std::collections::VecDeque;
use std::io;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant, SystemTime};

/// A chunk is finished at the latest after this time, so that nothing older than a second is ever lost.
const FLUSH_EVERY: Duration = Duration::from_millis(500);
/// How often counters are written, files synced and disks looked at.
const LOOK_EVERY: Duration = Duration::from_secs(1);
/// After so many bytes the disk is looked at before its time.
const LOOK_AFTER_BYTES: u64 = 16 << 20;
/// Bytes per second are those of so many looks.
const LOOKS: usize = 6;
/// Moments that the clock cannot tell apart are made so much different: readers know pairs by their times.
const STEP: Duration = Duration::from_micros(1);

/// What the thread shares with whoever owns it.
pub(super) struct Shared {
    pub(super) queue: Queue,
    pub(super) clock: Clock,
    pub(super) started: Instant,
    /// Bytes that the system has taken.
    pub(super) written: Arc<AtomicU64>,
    progress: Mutex<Progress>,
}

/// How far it is.
#[derive(Clone, Default)]
pub(super) struct Progress {
    pub(super) bytes_per_s: f64,
    /// Processor time of the thread.
    pub(super) cpu_time: Option<Duration>,
    /// How long the disk lasts, s.
    pub(super) disk_left_s: Option<f64>,
    /// How it ended, and when.
    pub(super) ended: Option<(Result<(), RecordError>, Instant)>,
}

impl Shared {
    pub(super) fn new(queue: Queue, clock: Clock) -> Self {
        let started = clock().steady;
        Self { queue, clock, started, written: Arc::default(), progress: Mutex::default() }
    }

    pub(super) fn progress(&self) -> Progress {
        self.lock().clone()
    }

    fn lock(&self) -> MutexGuard<'_, Progress> {
        self.progress.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The thread's own state.
pub(super) struct Thread {
    shared: Arc<Shared>,
    packer: Packer,
    /// The calibration that is attached at the end.
    calibration: Option<String>,
    place: Place,
    file: McapFile,
    jumps: Jumps,
    /// The last time that a packet got.
    last_wall: Option<SystemTime>,
    flush_due: Instant,
    look_due: Instant,
    /// When how many bytes were written.
    looks: VecDeque<(Instant, u64)>,
    /// How much was written when the disk was looked at.
    room_seen_at: u64,
}

/// Whatever ends the thread, nobody waits for it any more.
struct AbandonOnDrop(Arc<Shared>);

impl Drop for AbandonOnDrop {
    fn drop(&mut self) {
        self.0.queue.abandon();
        let now = (self.0.clock)().steady;
        let panicked = || (Err(RecordError::Pack("the recorder's thread panicked".to_owned())), now);
        self.0.lock().ended.get_or_insert_with(panicked);
    }
}

impl Thread {
    pub(super) fn new(
        shared: Arc<Shared>,
        packer: Packer,
        calibration: Option<String>,
        place: Place,
        file: McapFile,
    ) -> Self {
        let now = shared.started;
        Self {
            shared,
            packer,
            calibration,
            place,
            file,
            jumps: Jumps::default(),
            last_wall: None,
            flush_due: now + FLUSH_EVERY,
            look_due: now + LOOK_EVERY,
            looks: VecDeque::from([(now, 0)]),
            room_seen_at: 0,
        }
    }

    pub(super) fn run(mut self) {
        let guard = AbandonOnDrop(Arc::clone(&self.shared));
        let result = match self.write_all() {
            Err(err @ RecordError::DiskFull { .. }) => {
                self.shared.queue.abandon();
                self.finish("disk", &err.to_string()).and(Err(err))
            }
            Ok(()) => self.finish("end", "stopped"),
            Err(err) => Err(err),
        };
        if let Err(err) = &result {
            log::info!("{}: {err}", self.place.name);
        }
        let now = (self.shared.clock)().steady;
        let mut progress = self.shared.lock();
        progress.cpu_time = process::thread_cpu_time();
        progress.ended = Some((result, now));
        drop(progress);
        drop(guard);
    }

    /// Writes until nothing will come any more.
    fn write_all(&mut self) -> Result<(), RecordError> {
        loop {
            match self.shared.queue.next(self.flush_due.min(self.look_due)) {
                Next::Item(item, moment) => self.write_item(&item, moment)?,
                Next::Idle => {}
                Next::Closed => return Ok(()),
            }
            let now = Instant::now();
            if now >= self.look_due {
                self.look(now)?;
            } else if now >= self.flush_due {
                self.flush_due = now + FLUSH_EVERY;
                self.flush()?;
            }
            if self.written() - self.room_seen_at >= LOOK_AFTER_BYTES {
                self.look_for_room()?;
            }
        }
    }

    fn write_item(&mut self, item: &Item, moment: Moment) -> Result<(), RecordError> {
        if let Some(text) = self.jumps.look(moment) {
            let event = self.shared.queue.event("clock", &text);
            let wall = self.distinct(moment.wall);
            let packet = self.packer.event(&event, wall);
            self.write(&[packet])?;
        }
        let wall = self.distinct(moment.wall);
        match item {
            Item::Pair(pair) => {
                let packets = self.packer.pair(pair, wall).map_err(|err| RecordError::Pack(err.to_string()))?;
                self.write(&packets)?;
                self.shared.queue.count(|counters| counters.pairs += 1);
            }
            Item::Result(output) => {
                let packets = self.packer.result(output, wall).map_err(|err| RecordError::Pack(err.to_string()))?;
                self.write(&packets)?;
                self.shared.queue.count(|counters| counters.results += 1);
            }
            Item::Params(params) => {
                let packet = self.packer.parameters(params, wall);
                self.write(&[packet])?;
            }
            Item::Event(event) => {
                let packet = self.packer.event(event, wall);
                self.write(&[packet])?;
            }
        }
        Ok(())
    }

    /// Once a second: counters, everything to the disk, and how much room that has.
    fn look(&mut self, now: Instant) -> Result<(), RecordError> {
        (self.flush_due, self.look_due) = (now + FLUSH_EVERY, now + LOOK_EVERY);
        self.write_counters()?;
        self.flush()?;
        let bytes = self.written();
        if let Some(sync) = &self.place.sync {
            sync(bytes).map_err(|err| self.cannot_write(err))?;
        }
        self.looks.push_back((now, bytes));
        let (first, before) =
            if self.looks.len() > LOOKS { self.looks.pop_front() } else { self.looks.front().copied() }
                .unwrap_or((now, bytes));
        let mut progress = self.shared.lock();
        progress.cpu_time = process::thread_cpu_time();
        progress.bytes_per_s = (bytes - before) as f64 / now.duration_since(first).as_secs_f64().max(1e-3);
        drop(progress);
        self.look_for_room()
    }

    /// Ends the recording where the disk is nearly full.
    fn look_for_room(&mut self) -> Result<(), RecordError> {
        self.room_seen_at = self.written();
        let free = (self.place.free_bytes)();
        let mut progress = self.shared.lock();
        let bytes_per_s = progress.bytes_per_s;
        let reserve = disk::reserve(bytes_per_s);
        progress.disk_left_s =
            free.filter(|_| bytes_per_s > 0.0).map(|free| free.saturating_sub(reserve) as f64 / bytes_per_s);
        match free.filter(|&free| free < reserve) {
            Some(left_bytes) => Err(RecordError::DiskFull { disk: self.place.disk.clone(), left_bytes }),
            None => Ok(()),
        }
    }

    fn flush(&mut self) -> Result<(), RecordError> {
        self.file.flush().map_err(|err| self.cannot_write(err))
    }

    /// Ends the file.
    fn finish(&mut self, kind: &str, text: &str) -> Result<(), RecordError> {
        let wall = self.distinct((self.shared.clock)().wall);
        let event = self.shared.queue.event(kind, text);
        let packet = self.packer.event(&event, wall);
        self.write(&[packet])?;
        self.write_counters()?;
        let end = self.end_file(wall);
        end.map_err(|err| self.cannot_write(err))
    }

    fn end_file(&mut self, now: SystemTime) -> io::Result<()> {
        if let Some(calibration) = &self.calibration {
            self.file.attach("calibration.toml", "application/toml", calibration.as_bytes(), now)?;
        }
        self.file.finish()?;
        self.place.sync.as_ref().map_or(Ok(()), |sync| sync(self.written()))
    }

    fn write_counters(&mut self) -> Result<(), RecordError> {
        let wall = self.distinct((self.shared.clock)().wall);
        let packet = self.packer.counters(&self.shared.queue.counters(), wall);
        self.write(&[packet])
    }

    fn write(&mut self, packets: &[Packet]) -> Result<(), RecordError> {
        let written = packets.iter().try_for_each(|packet| self.file.write(packet));
        written.map_err(|err| self.cannot_write(err))
    }

    fn cannot_write(&self, err: io::Error) -> RecordError {
        RecordError::Write { target: self.place.name.clone(), error: Arc::new(err) }
    }

    fn written(&self) -> u64 {
        self.shared.written.load(Ordering::Relaxed)
    }

    /// A time like this one that no packet had just before.
    fn distinct(&mut self, wall: SystemTime) -> SystemTime {
        let wall = if self.last_wall == Some(wall) { wall + STEP } else { wall };
        self.last_wall = Some(wall);
        wall
    }
}
