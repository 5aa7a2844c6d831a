//! Playback control: position, seek target and speed, shared between the source and its user interface.

use parking_lot::Mutex;
use std::sync::Arc;
use std::time::Duration;

/// Playback speed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Speed {
    /// Multiple of the recorded speed; above 0.
    Times(f64),
    /// Highest speed: every pair as soon as the reader takes it.
    Max,
}

impl Default for Speed {
    fn default() -> Self {
        Self::Times(1.0)
    }
}

/// State of playback.
#[derive(Clone, Debug, PartialEq)]
pub struct Playing {
    /// Whether playback runs.
    pub playing: bool,
    /// Speed of playback.
    pub speed: Speed,
    /// Whether playback restarts at the end; otherwise it stops there, and the source stays open.
    pub looped: bool,
    /// Last delivered pair, counted from 0 in the order of the recording; `None` before the first one.
    pub position: Option<u64>,
    /// Recorded times of all pairs, relative to the first one, in order.
    pub times: Arc<[Duration]>,
    /// Names of all pairs, if the source shows them; else empty.
    pub names: Arc<[String]>,
    /// Whether each pair has recorded depth, as far as searched; `None` if the source records none.
    pub recorded: Option<Arc<[bool]>>,
    /// Seek target: the pair to deliver next, also while paused.
    seek: Option<u64>,
}

/// Playback control; the source reads it before each pair.
#[derive(Debug)]
pub struct Transport(Mutex<Playing>);

impl Transport {
    /// Starts at the first pair of a recording whose pairs have these times.
    pub fn new(times: Arc<[Duration]>, speed: Speed, looped: bool) -> Self {
        let (names, recorded) = (Arc::default(), None);
        Self(Mutex::new(Playing { playing: true, speed, looped, position: None, times, names, recorded, seek: None }))
    }

    /// Sets the names of the pairs.
    #[must_use]
    pub fn with_names(mut self, names: Arc<[String]>) -> Self {
        self.0.get_mut().names = names;
        self
    }

    /// Returns a copy of the state.
    pub fn get(&self) -> Playing {
        self.0.lock().clone()
    }

    /// Starts playback; restarts it from the beginning if the end was reached.
    pub fn play(&self) {
        let mut playing = self.0.lock();
        if playing.seek.is_none() && playing.next_position().is_none() && !playing.times.is_empty() {
            playing.seek = Some(0);
        }
        playing.playing = true;
    }

    /// Pauses playback.
    pub fn pause(&self) {
        self.0.lock().playing = false;
    }

    /// Pauses and steps by this number of pairs, backwards if negative; stops at both ends.
    pub fn step(&self, by: i64) {
        let mut playing = self.0.lock();
        playing.playing = false;
        let from = playing.target().unwrap_or(0);
        playing.seek_to(from.saturating_add_signed(by));
    }

    /// Seeks to this pair, or to the last one.
    pub fn seek(&self, pair: u64) {
        self.0.lock().seek_to(pair);
    }

    /// Seeks to the last pair at or before this time after the first one.
    pub fn seek_time(&self, time: Duration) {
        let mut playing = self.0.lock();
        let pair = playing.pair_at(time);
        playing.seek_to(pair);
    }

    /// Seeks by this number of seconds, backwards if negative, and at least by one pair, to cross gaps in the recording.
    pub fn skip(&self, seconds: f64) {
        let mut playing = self.0.lock();
        let from = playing.target().unwrap_or(0);
        let here_s = playing.time(from).map_or(0.0, |time| time.as_secs_f64());
        let there = Duration::try_from_secs_f64(here_s + seconds).unwrap_or(Duration::ZERO);
        let pair = playing.pair_at(there);
        playing.seek_to(if seconds < 0.0 { pair.min(from.saturating_sub(1)) } else { pair.max(from + 1) });
    }

    /// Pauses and seeks to the next or the previous pair with recorded depth; stays without one.
    pub fn step_recorded(&self, forward: bool) {
        let mut playing = self.0.lock();
        playing.playing = false;
        if let Some(pair) = playing.next_recorded(forward) {
            playing.seek_to(pair);
        }
    }

    /// Sets which of the first pairs have recorded depth; called by the source.
    pub fn set_recorded(&self, recorded: Arc<[bool]>) {
        self.0.lock().recorded = Some(recorded);
    }

    /// Ends after the first `count` pairs, because no more are there; called by the source.
    pub fn shorten(&self, count: u64) {
        let mut playing = self.0.lock();
        let count = usize::try_from(count).unwrap_or(usize::MAX).min(playing.times.len());
        playing.times = playing.times[..count].into();
        playing.names = playing.names.iter().take(count).cloned().collect();
        playing.position = playing.position.map(|position| position.min((count as u64).saturating_sub(1)));
        if let Some(seek) = playing.seek {
            playing.seek_to(seek);
        }
    }

    /// Sets the speed.
    pub fn set_speed(&self, speed: Speed) {
        self.0.lock().speed = speed;
    }

    /// Sets whether playback restarts at the end.
    pub fn set_looped(&self, looped: bool) {
        self.0.lock().looped = looped;
    }

    /// Returns the pair to deliver now, and whether it is a seek target (due at once); `None` while paused. Called by the source.
    pub fn next_pair(&self) -> Option<(u64, bool)> {
        let playing = self.0.lock();
        match playing.seek {
            Some(pair) => Some((pair, true)),
            None if playing.playing => playing.next_position().map(|pair| (pair, false)),
            None => None,
        }
    }

    /// Records that this pair is delivered; called by the source.
    pub fn delivered(&self, pair: u64) {
        let mut playing = self.0.lock();
        playing.position = Some(pair);
        if playing.seek == Some(pair) {
            playing.seek = None;
        }
    }
}

impl Playing {
    /// Returns the number of pairs.
    pub fn num_pairs(&self) -> u64 {
        self.times.len() as u64
    }

    /// Returns the seek target, or else the last delivered pair.
    pub fn target(&self) -> Option<u64> {
        self.seek.or(self.position)
    }

    /// Returns the recorded time of a pair, relative to the first one.
    pub fn time(&self, pair: u64) -> Option<Duration> {
        self.times.get(usize::try_from(pair).ok()?).copied()
    }

    /// Returns the name of a pair, if the source shows names.
    pub fn name(&self, pair: u64) -> Option<&str> {
        self.names.get(usize::try_from(pair).ok()?).map(String::as_str)
    }

    /// Returns the next or the previous pair with recorded depth, as far as searched.
    pub fn next_recorded(&self, forward: bool) -> Option<u64> {
        let recorded = self.recorded.as_deref()?;
        let here = usize::try_from(self.target()?).ok()?;
        let found = if forward {
            recorded.iter().skip(here + 1).position(|&has| has).map(|behind| here + 1 + behind)
        } else {
            recorded.iter().take(here).rposition(|&has| has)
        };
        found.map(|pair| pair as u64)
    }

    fn pair_at(&self, time: Duration) -> u64 {
        (self.times.partition_point(|&t| t <= time) as u64).saturating_sub(1)
    }

    /// Whether the last pair was delivered and no pair follows.
    pub fn at_end(&self) -> bool {
        self.seek.is_none() && self.next_position().is_none()
    }

    fn next_position(&self) -> Option<u64> {
        let next = self.position.map_or(0, |position| position + 1);
        match self.num_pairs() {
            0 => None,
            len if next < len => Some(next),
            _ if self.looped => Some(0),
            _ => None,
        }
    }

    fn seek_to(&mut self, pair: u64) {
        self.seek = self.num_pairs().checked_sub(1).map(|last| pair.min(last));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn transport(pairs: u64, looped: bool) -> Transport {
        let times: Vec<_> = (0..pairs).map(|k| Duration::from_millis(100 * k)).collect();
        Transport::new(times.into(), Speed::Times(1.0), looped)
    }

    fn give(transport: &Transport) -> Option<u64> {
        let (pair, _) = transport.next_pair()?;
        transport.delivered(pair);
        Some(pair)
    }

    #[test]
    fn pairs_go_on_until_the_end_or_begin_again() {
        let once = transport(3, false);
        assert_eq!([(); 4].map(|()| give(&once)), [Some(0), Some(1), Some(2), None]);
        assert!(once.get().at_end());
        once.play();
        assert_eq!(give(&once), Some(0));
        let looped = transport(2, true);
        assert_eq!([(); 4].map(|()| give(&looped)), [Some(0), Some(1), Some(0), Some(1)]);
        assert_eq!(give(&transport(0, true)), None);
    }

    #[test]
    fn steps_go_both_ways_and_hold() {
        let transport = transport(5, false);
        give(&transport);
        transport.step(1);
        transport.step(1);
        assert_eq!((give(&transport), give(&transport)), (Some(2), None));
        transport.step(-1);
        assert_eq!((give(&transport), give(&transport)), (Some(1), None));
        transport.step(-9);
        assert_eq!(give(&transport), Some(0));
        transport.step(99);
        assert_eq!(give(&transport), Some(4));
        transport.play();
        assert_eq!(give(&transport), Some(0), "from the start again");
    }

    #[test]
    fn seeking_by_time_finds_the_last_earlier_pair() {
        let transport = transport(5, false);
        for (ms, pair) in [(0, 0), (99, 0), (100, 1), (250, 2), (9999, 4)] {
            transport.seek_time(Duration::from_millis(ms));
            assert_eq!(transport.next_pair(), Some((pair, true)));
        }
    }

    #[test]
    fn recorded_depth_is_found_both_ways_as_far_as_it_was_searched() {
        let transport = transport(9, false);
        give(&transport);
        transport.step_recorded(true);
        assert_eq!(transport.next_pair(), None, "nothing is known: it holds");
        transport.set_recorded([false, true, true, false, false, true].into());
        let step = |forward| {
            transport.step_recorded(forward);
            give(&transport)
        };
        assert_eq!([step(true), step(true), step(true), step(true)], [Some(1), Some(2), Some(5), None]);
        assert_eq!([step(false), step(false), step(false)], [Some(2), Some(1), None]);
    }

    #[test]
    fn a_shortened_source_ends_at_its_new_last_pair() {
        let transport = transport(9, false).with_names((0..9).map(|k| k.to_string()).collect());
        transport.seek(7);
        transport.shorten(4);
        assert_eq!((give(&transport), give(&transport)), (Some(3), None));
        let playing = transport.get();
        assert!(playing.at_end() && playing.num_pairs() == 4 && playing.names.len() == 4);
    }

    #[test]
    fn seconds_are_skipped_both_ways_and_over_gaps() {
        let times = [0, 400, 800, 1200, 9000, 9100].map(Duration::from_millis);
        let transport = Transport::new(times.into(), Speed::Times(1.0), false);
        let skip = |seconds| {
            transport.skip(seconds);
            give(&transport)
        };
        assert_eq!(skip(1.0), Some(2));
        assert_eq!([skip(1.0), skip(1.0), skip(1.0)], [Some(3), Some(4), Some(5)]);
        assert_eq!([skip(1.0), skip(-1.0), skip(-1.0)], [Some(5), Some(3), Some(0)]);
        assert_eq!(skip(-1.0), Some(0));
    }
}
