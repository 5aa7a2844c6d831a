//! Queue of the recorder, bounded in bytes. It holds shared frames and results, so that a push is quick.

use super::clock::Moment;
use crate::pack::PairParts;
use crate::{Counters, Event};
use parking_lot::{Condvar, Mutex, MutexGuard};
use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Instant;
use stereopsis_base::console::counted;
use stereopsis_frame::engine::{Job, Output};
use stereopsis_stereo::StereoParams;

pub(super) enum Item {
    Pair(Box<PairParts>),
    Result(Arc<Output>),
    Params(Box<StereoParams>),
    Event(Event),
}

/// Result of [`Queue::next`].
pub(super) enum Next {
    /// Item, with the time at which it was pushed.
    Item(Item, Moment),
    /// No item came until the deadline.
    Idle,
    /// The queue is closed and empty.
    Closed,
}

/// Maximum number of waiting events; each is a line of text.
const MAX_EVENTS: usize = 1000;
/// Maximum number of remembered pairs without a result.
const MAX_UNMATCHED: usize = 1000;

pub(super) struct Queue {
    state: Mutex<QueueState>,
    /// Signals a push or the close.
    filled: Condvar,
    /// Signals a taken item or the close.
    emptied: Condvar,
    /// Capacity, bytes.
    capacity: usize,
    /// Whether results are recorded.
    results: bool,
}

#[derive(Default)]
struct QueueState {
    items: VecDeque<(Item, Moment, usize)>,
    bytes: usize,
    /// Number of waiting events and parameters.
    notes: usize,
    closed: bool,
    counters: Counters,
    /// Sentence on depth so far that its format does not hold.
    depth_loss: Option<String>,
    /// Number of pairs taken so far, written or not.
    taken: u64,
    /// Sequence numbers of pairs that wait to be written and are counted as not matched.
    waiting_unmatched: VecDeque<u64>,
    gap: Gap,
    /// Sequence numbers of pairs without a result, and whether they are recorded.
    unmatched: VecDeque<(u64, bool)>,
    /// Sequence number of the next pair, if the source drops none.
    expected: Option<u64>,
}

/// Numbers of items dropped since the last event about drops.
#[derive(Default)]
struct Gap {
    pairs: u64,
    results: u64,
    /// First and last sequence number.
    range: Option<(u64, u64)>,
}

impl Queue {
    pub(super) fn new(capacity: usize, results: bool) -> Self {
        Self { state: Mutex::default(), filled: Condvar::new(), emptied: Condvar::new(), capacity, results }
    }

    /// Pushes a pair. Without room it waits, or drops waiting results, which can be computed again from pairs, or else drops the pair.
    pub(super) fn push_pair(&self, pair: PairParts, moment: Moment, waits: bool) {
        let (sequence, bytes) = (pair.sequence(), pair.bytes());
        let mut state = self.state.lock();
        if waits {
            self.wait_for_room(&mut state, bytes, self.capacity);
        }
        if state.closed {
            return;
        }
        let missing = state.expected.and_then(|expected| sequence.checked_sub(expected));
        state.counters.dropped_by_source += missing.unwrap_or(0);
        state.expected = Some(sequence + 1);
        let fits = state.has_room(bytes, self.capacity) || state.give_up_results(bytes, self.capacity);
        if self.results {
            if state.unmatched.len() == MAX_UNMATCHED {
                state.pop_unmatched();
            }
            state.unmatched.push_back((sequence, fits));
        }
        if fits {
            self.report_gap(&mut state, bytes, moment);
            state.taken += 1;
            state.push(Item::Pair(Box::new(pair)), moment, bytes);
            self.filled.notify_one();
        } else {
            state.counters.dropped_by_disk += 1;
            state.gap.pairs += 1;
            state.gap.reach(sequence);
        }
    }

    /// Pushes the result of a pushed frame, if it fits. A quarter of the capacity is reserved for frames.
    pub(super) fn push_result(&self, output: &Arc<Output>, moment: Moment, waits: bool) {
        let sequence = output.job.frame.raw.sequence;
        let bytes = result_bytes(output);
        let capacity = self.capacity / 4 * 3;
        let mut state = self.state.lock();
        if waits {
            self.wait_for_room(&mut state, bytes, capacity);
        }
        // a result of another source, or of a pair from before the recording
        if state.closed || !state.unmatched.iter().any(|&(pair, _)| pair == sequence) {
            return;
        }
        while state.unmatched.front().is_some_and(|&(pair, _)| pair != sequence) {
            state.pop_unmatched();
        }
        state.unmatched.pop_front();
        if state.has_room(bytes, capacity) {
            self.report_gap(&mut state, bytes, moment);
            // only numbers are recorded: release the images and the memory of a device
            let job = Job { frame: Arc::new(output.job.frame.without_pictures()), ..output.job.clone() };
            let numbers = Output { job, texture: None, right_map: None, ..(**output).clone() };
            state.push(Item::Result(Arc::new(numbers)), moment, bytes);
            self.filled.notify_one();
        } else {
            state.drop_result(sequence);
        }
    }

    /// Pushes parameters, or replaces parameters at the end of the queue.
    pub(super) fn push_params(&self, params: &StereoParams, moment: Moment) {
        let mut state = self.state.lock();
        match state.items.back_mut() {
            Some((Item::Params(waiting), ..)) => **waiting = params.clone(),
            _ => state.push_note(Item::Params(Box::new(params.clone())), moment),
        }
        self.filled.notify_one();
    }

    pub(super) fn push_event(&self, kind: &str, text: &str, moment: Moment) {
        let mut state = self.state.lock();
        let event = state.event(kind, text);
        state.push_note(Item::Event(event), moment);
        self.filled.notify_one();
    }

    /// Resets the sequence numbers for another source.
    pub(super) fn begin_source(&self) {
        let mut state = self.state.lock();
        state.expected = None;
        while !state.unmatched.is_empty() {
            state.pop_unmatched();
        }
    }

    pub(super) fn next(&self, deadline: Instant) -> Next {
        let mut state = self.state.lock();
        loop {
            if let Some((item, moment, bytes)) = state.items.pop_front() {
                state.bytes -= bytes;
                state.notes -= usize::from(matches!(item, Item::Params(_) | Item::Event(_)));
                self.emptied.notify_all();
                return Next::Item(item, moment);
            }
            if state.closed {
                return Next::Closed;
            }
            let timeout = deadline.saturating_duration_since(Instant::now());
            if timeout.is_zero() {
                return Next::Idle;
            }
            self.filled.wait_for(&mut state, timeout);
        }
    }

    /// Closes the queue for pushing; waiting items can still be taken.
    pub(super) fn close(&self, moment: Moment) {
        let mut state = self.state.lock();
        if !state.closed {
            state.report_gap(moment);
            while !state.unmatched.is_empty() {
                state.pop_unmatched();
            }
        }
        state.closed = true;
        self.filled.notify_all();
        self.emptied.notify_all();
    }

    /// Closes the queue and drops all waiting items.
    pub(super) fn abandon(&self) {
        let mut state = self.state.lock();
        state.closed = true;
        for (item, ..) in std::mem::take(&mut state.items) {
            match item {
                Item::Pair(_) => {
                    state.counters.dropped_by_disk += 1;
                    state.taken -= 1;
                }
                Item::Result(_) => state.counters.results_dropped_by_disk += 1,
                Item::Params(_) | Item::Event(_) => {}
            }
        }
        // `not_matched` counts only recorded pairs
        state.counters.not_matched -= std::mem::take(&mut state.waiting_unmatched).len() as u64;
        (state.bytes, state.notes) = (0, 0);
        self.emptied.notify_all();
    }

    pub(super) fn is_open(&self) -> bool {
        !self.state.lock().closed
    }

    /// Returns the counters and, at the same moment, the number of pairs taken so far, written or not.
    pub(super) fn counters_and_taken(&self) -> (Counters, u64) {
        let state = self.state.lock();
        (state.counters, state.taken)
    }

    pub(super) fn count_pair(&self, sequence: u64) {
        let mut state = self.state.lock();
        state.counters.pairs += 1;
        state.waiting_unmatched.retain(|waiting| *waiting != sequence);
    }

    /// Counts a result; `depth_loss` is the sentence on depth so far that its format does not hold.
    pub(super) fn count_result(&self, depth_loss: Option<String>) {
        let mut state = self.state.lock();
        state.counters.results += 1;
        state.depth_loss = depth_loss;
    }

    pub(super) fn depth_loss(&self) -> Option<String> {
        self.state.lock().depth_loss.clone()
    }

    pub(super) fn event(&self, kind: &str, text: &str) -> Event {
        self.state.lock().event(kind, text)
    }

    /// Pushes an event about drops once half of the capacity is free again, so that a slightly slow disk causes few events.
    fn report_gap(&self, state: &mut QueueState, bytes: usize, moment: Moment) {
        if state.has_room(bytes, self.capacity / 2) {
            state.report_gap(moment);
        }
    }

    fn wait_for_room(&self, state: &mut MutexGuard<'_, QueueState>, bytes: usize, capacity: usize) {
        self.emptied.wait_while(state, |state| !state.closed && !state.has_room(bytes, capacity));
    }
}

impl QueueState {
    fn has_room(&self, bytes: usize, capacity: usize) -> bool {
        has_room(self.bytes, bytes, capacity)
    }

    fn push(&mut self, item: Item, moment: Moment, bytes: usize) {
        self.bytes += bytes;
        self.items.push_back((item, moment, bytes));
    }

    /// Drops waiting results, the last first, until this many bytes fit; none if that is not enough. Returns whether they fit.
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
        if self.closed {
            return;
        }
        if self.notes == MAX_EVENTS {
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

    fn report_gap(&mut self, moment: Moment) {
        if let Some(text) = std::mem::take(&mut self.gap).text() {
            let event = self.event("dropped", &text);
            self.push_note(Item::Event(event), moment);
        }
    }

    /// Counts the oldest pair without a result as not matched.
    fn pop_unmatched(&mut self) {
        if let Some((sequence, true)) = self.unmatched.pop_front() {
            self.counters.not_matched += 1;
            let waits =
                |(item, ..): &(Item, Moment, usize)| matches!(item, Item::Pair(pair) if pair.sequence() == sequence);
            if self.items.iter().any(waits) {
                self.waiting_unmatched.push_back(sequence);
            }
        }
    }
}

/// Returns whether more bytes fit; an item above the capacity fits an empty queue.
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
            "{} and {} of pairs {first} to {last}, dropped: what is written could not be taken in time",
            counted(*pairs, "pair"),
            counted(*results, "result")
        ))
    }
}

/// Returns the memory of a result's maps, bytes.
fn result_bytes(output: &Output) -> usize {
    output.map.as_ref().map_or(0, |map| {
        let (width, height) = map.size();
        (3 + usize::from(map.confidence.is_some())) * width * height
    })
}
