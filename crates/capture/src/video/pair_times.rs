//! Frames of two videos that are nearest in time.

/// Times of the frames of two videos, of which the slower one gives the pairs.
#[derive(Clone, Copy, Debug)]
pub(super) struct PairTimes {
    rates: [f64; 2],
    /// Time of the first frame of each, s.
    starts_s: [f64; 2],
    /// Number of the video that gives the pairs, and of its first frame that has a partner.
    base: (usize, u64),
    pub(super) count: u64,
    /// Whether both rates are taken for one.
    pub(super) has_one_rate: bool,
}

impl PairTimes {
    /// Pairs videos of these rates (frames/s) and numbers of frames, of which the right one begins `shift_s` after the left one; `None` where
    /// they have no time in common. Rates by which frames of one number stay nearest to each other are taken for equal.
    pub(super) fn new([left, right]: [(f64, u64); 2], shift_s: f64) -> Option<Self> {
        let (rates, counts) = ([left.0, right.0], [left.1, right.1]);
        let drift_frames = (left.0 / right.0 - 1.0).abs() * left.1.min(right.1) as f64;
        let has_one_rate = drift_frames < 0.5;
        let rates = if has_one_rate { [left.0; 2] } else { rates };
        let base = usize::from(rates[1] < rates[0]);
        let other = 1 - base;
        let mut times = Self { rates, starts_s: [0.0, shift_s], base: (base, 0), count: counts[base], has_one_rate };
        // the other one has begun, at most half of its interval earlier
        let lead = (times.starts_s[other] - 0.5 / rates[other] - times.starts_s[base]) * rates[base];
        times.base.1 = lead.ceil().max(0.0) as u64;
        times.count = counts[base].saturating_sub(times.base.1);
        let end_s = times.starts_s[other] + (counts[other] as f64 - 0.5) / rates[other];
        let until_end = ((end_s - times.time_s(0)) * rates[base]).ceil().max(0.0);
        times.count = times.count.min(until_end as u64);
        (times.count > 0).then_some(times)
    }

    /// Returns the time of a pair, s.
    fn time_s(&self, pair: u64) -> f64 {
        let (base, first) = self.base;
        self.starts_s[base] + (first + pair) as f64 / self.rates[base]
    }

    /// Returns the numbers of the frames of a pair, left and right.
    pub(super) fn frames(&self, pair: u64) -> [u64; 2] {
        let (base, first) = self.base;
        let mut frames = [first + pair; 2];
        let other = 1 - base;
        frames[other] = ((self.time_s(pair) - self.starts_s[other]) * self.rates[other]).round().max(0.0) as u64;
        frames
    }

    /// Returns the number of the first pairs whose frame of one video, 0 for the left one, has a number below `count`.
    pub(super) fn pairs_before(&self, side: usize, count: u64) -> u64 {
        let (mut before, mut after) = (0, self.count);
        while before < after {
            let middle = before.midpoint(after);
            if self.frames(middle)[side] < count { before = middle + 1 } else { after = middle }
        }
        before
    }

    /// Returns the rate of the pairs, Hz.
    pub(super) fn rate(&self) -> f64 {
        self.rates[self.base.0]
    }

    /// Returns the most by which the frames of a pair are apart, ms.
    pub(super) fn apart_ms(&self) -> f64 {
        500.0 / self.rates[1 - self.base.0]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pairs(videos: [(f64, u64); 2], shift_s: f64) -> Vec<[u64; 2]> {
        let times = PairTimes::new(videos, shift_s);
        times.map_or_else(Vec::new, |times| (0..times.count).map(|pair| times.frames(pair)).collect())
    }

    #[test]
    fn frames_of_one_time_are_pairs() {
        assert_eq!(pairs([(30.0, 3), (30.0, 4)], 0.0), [[0, 0], [1, 1], [2, 2]]);
        assert_eq!(pairs([(30.0, 5), (30.0, 5)], 0.1), [[3, 0], [4, 1]]);
        assert_eq!(pairs([(30.0, 5), (30.0, 5)], -0.1), [[0, 3], [1, 4]]);
        assert_eq!(pairs([(30.0, 4), (30.0, 4)], 0.011), [[0, 0], [1, 1], [2, 2], [3, 3]], "a third of an interval");
        assert_eq!(pairs([(20.0, 5), (10.0, 3)], 0.0), [[0, 0], [2, 1], [4, 2]], "the slower one gives the pairs");
        assert_eq!(pairs([(10.0, 3), (20.0, 5)], -0.1), [[0, 2], [1, 4]]);
        assert_eq!(pairs([(30.0, 5), (30.0, 5)], 1.0), [[0; 2]; 0]);
    }

    #[test]
    fn rates_that_differ_a_little_are_paired_by_time_once_that_matters() {
        let short = PairTimes::new([(29.99, 900), (30.0, 900)], 0.0).unwrap();
        assert!(short.has_one_rate && short.frames(899) == [899, 899]);
        let long = PairTimes::new([(29.99, 30_000), (30.0, 30_000)], 0.0).unwrap();
        assert!(!long.has_one_rate && long.apart_ms() < 17.0);
        // after 1000 s the drift would be 0.33 s
        assert_eq!((long.frames(29_980), long.count), ([29_980, 29_990], 29_990));
    }
}
