//! What waits to be written, bounded in bytes: frames and results as they came, so that whoever brings them loses no time.

use super::clock::Moment;
use crate::capture::Frame;
use crate::engine::Output;
use crate::image::{Luma, Picture};
use crate::recording::{Counters, Event};
use crate::stereo::StereoParams;
use std::collections::VecDeque;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

/// Something to be written.
pub(super) enum Item {
    Frame(Arc<Frame>),
    Result(Arc<Output>),
    Params(Box<StereoParams>),
    Event(Event),
}

/// What the recorder's thread does next.
pub(super) enum Next {
    /// Write this, which came then.
    Item(Item, Moment),
    /// Nothing came until the time given.
    Idle,
    /// Nothing will come any more.
    Closed,
}

/// Events that may wait; each is a line of text.
const MOST_EVENTS: usize = 1000;
/// Pairs of which the result may be outstanding.
const MOST_UNMATCHED: usize = 1000;

/// The queue.
pub(super) struct Queue {
    state: Mutex<State>,
    /// There is something to write, or nothing will come any more.
    filled: Condvar,
    /// There is room, or nothing is taken any more.
    emptied: Condvar,
    /// How many bytes may wait.
    capacity: usize,
    /// Results are recorded.
    results: bool,
}

struct State {
    items: VecDeque<(Item, Moment, usize)>,
    bytes: usize,
    /// Waiting events and parameters.
    notes: usize,
    open: bool,
    counters: Counters,
    gap: Gap,
    /// Pairs that came and have no result yet, and whether they are recorded.
    unmatched: VecDeque<(u64, bool)>,
    /// The pair that is due if the source drops none.
    expected: Option<u64>,
}

/// What was dropped since there was room the last time.
#[derive(Default)]
struct Gap {
    pairs: u64,
    results: u64,
    /// First and last sequence number.
    range: Option<(u64, u64)>,
}

impl Queue {
    pub(super) fn new(capacity: usize, results: bool) -> Self {
        let state = State {
            items: VecDeque::new(),
            bytes: 0,
            notes: 0,
            open: true,
            counters: Counters::default(),
            gap: Gap::default(),
            unmatched: VecDeque::new(),
            expected: None,
        };
        Self { state: Mutex::new(state), filled: Condvar::new(), emptied: Condvar::new(), capacity, results }
    }

    /// Takes a frame where there is room. Where there is none it waits for it, or gives up results that wait, which can be
    /// computed again from frames; where not even that helps it drops the frame.
    pub(super) fn push_frame(&self, frame: &Arc<Frame>, moment: Moment, waits: bool) {
        let bytes = frame_bytes(frame);
        let mut state = self.lock();
        if waits {
            state = self.wait_for_room(state, bytes, self.capacity);
        }
        if !state.open {
            return;
        }
        let sequence = frame.raw.sequence;
        let missing = state.expected.and_then(|expected| sequence.checked_sub(expected));
        state.counters.dropped_by_source += missing.unwrap_or(0);
        state.expected = Some(sequence + 1);
        let fits = state.has_room(bytes, self.capacity) || state.give_up_results(bytes, self.capacity);
        if self.results {
            if state.unmatched.len() == MOST_UNMATCHED {
                state.pop_unmatched();
            }
            state.unmatched.push_back((sequence, fits));
        }
        if fits {
            self.tell_gap(&mut state, bytes, moment);
            state.push(Item::Frame(Arc::clone(frame)), moment, bytes);
            self.filled.notify_one();
        } else {
            state.counters.dropped_by_disk += 1;
            state.gap.pairs += 1;
            state.gap.reach(sequence);
        }
    }

    /// Takes the result of a frame that came, in the same way; a quarter of the room is kept for frames.
    pub(super) fn push_result(&self, output: &Arc<Output>, moment: Moment, waits: bool) {
        let sequence = output.job.frame.raw.sequence;
        let bytes = result_bytes(output);
        let capacity = self.capacity / 4 * 3;
        let mut state = self.lock();
        if waits {
            state = self.wait_for_room(state, bytes, capacity);
        }
        // of a pair from before the recording, or of another source
        if !state.open || !state.unmatched.iter().any(|&(pair, _)| pair == sequence) {
            return;
        }
        while state.unmatched.front().is_some_and(|&(pair, _)| pair != sequence) {
            state.pop_unmatched();
        }
        state.unmatched.pop_front();
        if state.has_room(bytes, capacity) {
            self.tell_gap(&mut state, bytes, moment);
            // what a device keeps of it is not recorded
            let on_host = Output { texture: None, ..(**output).clone() };
            state.push(Item::Result(Arc::new(on_host)), moment, bytes);
            self.filled.notify_one();
        } else {
            state.drop_result(sequence);
        }
    }

    /// Takes parameters. Of those that wait behind each other the last ones are enough.
    pub(super) fn push_params(&self, params: &StereoParams, moment: Moment) {
        let mut state = self.lock();
        match state.items.back_mut() {
            Some((Item::Params(waiting), ..)) => **waiting = params.clone(),
            _ => state.push_note(Item::Params(Box::new(params.clone())), moment),
        }
        self.filled.notify_one();
    }

    /// Takes an event.
    pub(super) fn push_event(&self, kind: &str, text: &str, moment: Moment) {
        let mut state = self.lock();
        let event = state.event(kind, text);
        state.push_note(Item::Event(event), moment);
        self.filled.notify_one();
    }

    /// Forgets numbers and pairs of the source before.
    pub(super) fn begin_source(&self) {
        let mut state = self.lock();
        state.expected = None;
        while !state.unmatched.is_empty() {
            state.pop_unmatched();
        }
    }

    /// The next thing to do, waiting for it until then.
    pub(super) fn next(&self, until: Instant) -> Next {
        let mut state = self.lock();
        loop {
            if let Some((item, moment, bytes)) = state.items.pop_front() {
                state.bytes -= bytes;
                state.notes -= usize::from(matches!(item, Item::Params(_) | Item::Event(_)));
                self.emptied.notify_all();
                return Next::Item(item, moment);
            }
            if !state.open {
                return Next::Closed;
            }
            let patience = until.saturating_duration_since(Instant::now());
            if patience.is_zero() {
                return Next::Idle;
            }
            state = self.filled.wait_timeout(state, patience).unwrap_or_else(PoisonError::into_inner).0;
        }
    }

    /// Takes nothing more; what waits is still given.
    pub(super) fn close(&self, moment: Moment) {
        let mut state = self.lock();
        if state.open {
            state.tell_gap(moment);
            while !state.unmatched.is_empty() {
                state.pop_unmatched();
            }
        }
        state.open = false;
        self.filled.notify_all();
        self.emptied.notify_all();
    }

    /// Takes and gives nothing more; what waits counts as dropped.
    pub(super) fn abandon(&self) {
        let mut state = self.lock();
        state.open = false;
        for (item, ..) in std::mem::take(&mut state.items) {
            match item {
                Item::Frame(_) => state.counters.dropped_by_disk += 1,
                Item::Result(_) => state.counters.results_dropped_by_disk += 1,
                Item::Params(_) | Item::Event(_) => {}
            }
        }
        (state.bytes, state.notes) = (0, 0);
        self.emptied.notify_all();
    }

    /// Whether anything is taken.
    pub(super) fn is_open(&self) -> bool {
        self.lock().open
    }

    /// Pairs and results so far.
    pub(super) fn counters(&self) -> Counters {
        self.lock().counters
    }

    /// Counts what was written.
    pub(super) fn count(&self, count: impl FnOnce(&mut Counters)) {
        count(&mut self.lock().counters);
    }

    /// An event of this moment.
    pub(super) fn event(&self, kind: &str, text: &str) -> Event {
        self.lock().event(kind, text)
    }

    /// Once half of the room is free again, what was dropped is told: where the disk is just too slow, not each time.
    fn tell_gap(&self, state: &mut State, bytes: usize, moment: Moment) {
        if state.has_room(bytes, self.capacity / 2) {
            state.tell_gap(moment);
        }
    }

    fn wait_for_room<'a>(
        &self,
        mut state: MutexGuard<'a, State>,
        bytes: usize,
        capacity: usize,
    ) -> MutexGuard<'a, State> {
        while state.open && !state.has_room(bytes, capacity) {
            state = self.emptied.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
        state
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn has_room(&self, bytes: usize, capacity: usize) -> bool {
        has_room(self.bytes, bytes, capacity)
    }

    fn push(&mut self, item: Item, moment: Moment, bytes: usize) {
        self.bytes += bytes;
        self.items.push_back((item, moment, bytes));
    }

    /// Drops waiting results, the last first, until so many bytes have room; none where that would not be enough. Gives
    /// whether there is room.
    fn give_up_results(&mut self, bytes: usize, capacity: usize) -> bool {
        let of_result = |(item, _, bytes): &(Item, Moment, usize)| match item {
            Item::Result(output) => Some((output.job.frame.raw.sequence, *bytes)),
            _ => None,
        };
        let all: usize = self.items.iter().filter_map(of_result).map(|(_, bytes)| bytes).sum();
        if !has_room(self.bytes - all, bytes, capacity) {
            return false;
        }
        let mut at = self.items.len();
        while !self.has_room(bytes, capacity) {
            at -= 1; // ends before the first one: without results there is room
            if let Some((sequence, freed)) = of_result(&self.items[at]) {
                self.items.remove(at);
                self.bytes -= freed;
                self.drop_result(sequence);
            }
        }
        true
    }

    fn drop_result(&mut self, sequence: u64) {
        self.counters.results_dropped_by_disk += 1;
        self.gap.results += 1;
        self.gap.reach(sequence);
    }

    fn push_note(&mut self, item: Item, moment: Moment) {
        if !self.open {
            return;
        }
        if self.notes == MOST_EVENTS {
            log::warn!("too many events wait for the disk; one is not recorded");
            return;
        }
        self.notes += 1;
        self.push(item, moment, 0);
    }

    fn event(&self, kind: &str, text: &str) -> Event {
        let sequence = self.expected.and_then(|expected| expected.checked_sub(1));
        Event { kind: kind.to_owned(), text: text.to_owned(), sequence }
    }

    /// Puts what was dropped behind what waits.
    fn tell_gap(&mut self, moment: Moment) {
        if let Some(text) = std::mem::take(&mut self.gap).text() {
            let event = self.event("dropped", &text);
            self.push_note(Item::Event(event), moment);
        }
    }

    /// The oldest pair will have no result any more.
    fn pop_unmatched(&mut self) {
        if let Some((_, true)) = self.unmatched.pop_front() {
            self.counters.not_matched += 1;
        }
    }
}

/// Whether some more bytes fit; what exceeds the queue by itself still goes through an empty one.
fn has_room(waiting: usize, bytes: usize, capacity: usize) -> bool {
    waiting == 0 || waiting + bytes <= capacity
}

impl Gap {
    fn reach(&mut self, sequence: u64) {
        let (first, last) = self.range.unwrap_or((sequence, sequence));
        self.range = Some((first.min(sequence), last.max(sequence)));
    }

    fn text(&self) -> Option<String> {
        let (first, last) = self.range?;
        let Self { pairs, results, .. } = self;
        Some(format!(
            "{pairs} pairs and {results} results of pairs {first} to {last} were dropped: what is written could not be taken in time"
        ))
    }
}

/// Memory that a frame keeps.
fn frame_bytes(frame: &Frame) -> usize {
    let raw = &frame.raw;
    let originals: usize = raw.original.iter().flat_map(|original| &original.shots).map(|shot| shot.bytes.len()).sum();
    [&frame.left, &frame.right, &raw.left, &raw.right].into_iter().map(picture_bytes).sum::<usize>() + originals
}

/// Memory that a result keeps, with its frame: that may have left the queue already.
fn result_bytes(output: &Output) -> usize {
    let map = output.map.as_ref().map_or(0, |map| {
        let (width, height) = map.size();
        (3 + usize::from(map.confidence.is_some())) * width * height
    });
    map + frame_bytes(&output.job.frame)
}

fn picture_bytes(picture: &Picture) -> usize {
    let (width, height) = picture.size();
    let luma = if matches!(picture.luma, Luma::U8(_)) { 1 } else { 2 };
    (luma + 3 * usize::from(picture.rgb.is_some())) * width * height
}
