//! Time by which one of two videos began after the other, found by what moves.
//!
//! Both views of a pair share their rows. The sum of changes from frame to frame in each band of rows is the same signal in both videos, and the
//! shift by which both signals correlate best is the one by which they began apart. What moves evenly (a conveyor), moves periodically (a
//! fan) or stands still has no clear best shift, and then none is found.

use stereopsis_base::image::{Luma, Picture};

/// Bands of rows, and cells of each.
const BANDS: usize = 24;
const CELLS: usize = 64;
/// Rows and columns of a cell that are read: their mean has less noise than a pixel.
const SAMPLES: usize = 4;
/// Change of a cell that noise and coding make, grey levels.
const NOISE: f32 = 1.0;
/// Numbers of pairs after which the shift is sought; later again after as many as the last.
const CHECKS: [usize; 4] = [60, 150, 300, 600];
/// Minimum number of pairs of a film that is shorter.
const MIN_PAIRS: usize = 30;
/// Maximum shift, s.
const MAX_SHIFT_S: f64 = 10.0;
/// Minimum deviation of the signal in the band that changes most, grey levels.
const MIN_CHANGE: f32 = 0.05;
/// Minimum correlation at the best shift, and by how much it is above that of the present one and of any other but its neighbours.
const MIN_CORRELATION: f64 = 0.6;
const MIN_LEAD: f64 = 0.2;
const NEIGHBOURS: i64 = 4;

/// Changes of one video from pair to pair, in bands of rows.
type Signal = Vec<[f32; BANDS]>;

/// Watcher of two videos' pairs in a row.
pub(super) struct BegunApart {
    rate: f64,
    last: Option<u64>,
    previous: [Vec<f32>; 2],
    signals: [Signal; 2],
}

impl BegunApart {
    /// Creates a watcher of pairs that come with this rate, Hz.
    pub(super) fn new(rate: f64) -> Self {
        Self { rate, last: None, previous: [const { Vec::new() }; 2], signals: [const { Vec::new() }; 2] }
    }

    /// Adds the pair of this number; returns by how much later than now assumed the right video began, s, once that is clear.
    pub(super) fn add(&mut self, number: u64, is_last: bool, pair: [&Picture; 2]) -> Option<f64> {
        let now = pair.map(cells);
        if self.last.is_none_or(|last| last + 1 != number) {
            self.signals.iter_mut().for_each(Vec::clear);
        } else {
            for (signal, (previous, now)) in self.signals.iter_mut().zip(self.previous.iter().zip(&now)) {
                signal.push(changes(previous, now));
            }
        }
        self.last = Some(number);
        self.previous = now;
        let len = self.signals[0].len();
        if !(CHECKS.contains(&len) || is_last && len + 1 >= MIN_PAIRS) {
            return None;
        }
        let max_shift = (MAX_SHIFT_S * self.rate) as i64;
        let found = best_shift(&self.signals[0], &self.signals[1], max_shift.min(len as i64 / 2));
        if len == CHECKS[CHECKS.len() - 1] {
            let half = len / 2;
            self.signals.iter_mut().for_each(|signal| drop(signal.drain(..half)));
        }
        found.filter(|shift| *shift != 0).map(|shift| -shift as f64 / self.rate)
    }
}

/// Returns the mean brightness of each cell, row by row.
fn cells(picture: &Picture) -> Vec<f32> {
    let (width, height) = picture.size();
    let value = |x: usize, y: usize| match &picture.luma {
        Luma::U8(image) => f32::from(image.at(x, y)),
        Luma::U16 { image, bits } => f32::from(image.at(x, y) >> (bits - 8)),
    };
    let place = |of: usize, parts: usize, sample: usize| of * (2 * sample + 1) / (2 * parts * SAMPLES);
    let mean = |row: usize, column: usize| {
        let mut sum = 0.0;
        for y in 0..SAMPLES {
            for x in 0..SAMPLES {
                let (x, y) = (place(width, CELLS, column * SAMPLES + x), place(height, BANDS, row * SAMPLES + y));
                sum += value(x, y);
            }
        }
        sum / (SAMPLES * SAMPLES) as f32
    };
    (0..BANDS)
        .flat_map(|row| (0..CELLS).map(move |column| (row, column)))
        .map(|(row, column)| mean(row, column))
        .collect()
}

fn changes(before: &[f32], now: &[f32]) -> [f32; BANDS] {
    let (before, now) = (before.as_chunks::<CELLS>().0, now.as_chunks::<CELLS>().0);
    std::array::from_fn(|band| {
        let changed = before[band].iter().zip(&now[band]).map(|(a, b)| ((a - b).abs() - NOISE).max(0.0));
        changed.sum::<f32>() / CELLS as f32
    })
}

/// Returns the number of pairs by which the right signal is later than the left one; `None` where no shift stands out.
fn best_shift(left: &Signal, right: &Signal, most: i64) -> Option<i64> {
    if ![left, right].into_iter().all(changes_enough) {
        return None;
    }
    // steps have sharper peaks than how much moves; of four pairs, they also fit where the best shift lies between two frames
    let [left, right] = [left, right].map(|signal| {
        let step = |pairs: &[[f32; BANDS]]| {
            std::array::from_fn(|band| pairs[3][band] + pairs[2][band] - pairs[1][band] - pairs[0][band])
        };
        signal.windows(4).map(step).collect::<Signal>()
    });
    let scores: Vec<(i64, f64)> = (-most..=most).map(|shift| (shift, correlation(&left, &right, shift))).collect();
    let (best, score) = scores.iter().copied().max_by(|a, b| a.1.total_cmp(&b.1))?;
    let others = scores.iter().filter(|(shift, _)| *shift == 0 && best != 0 || (shift - best).abs() > NEIGHBOURS);
    let second = others.map(|(_, score)| *score).fold(0.0, f64::max);
    (score >= MIN_CORRELATION && score - second >= MIN_LEAD).then_some(best)
}

fn changes_enough(signal: &Signal) -> bool {
    let count = signal.len() as f32;
    let deviation = |band: usize| {
        let values = || signal.iter().map(|bands| bands[band]);
        let mean = values().sum::<f32>() / count;
        (values().map(|value| (value - mean).powi(2)).sum::<f32>() / count).sqrt()
    };
    (0..BANDS).any(|band| deviation(band) >= MIN_CHANGE)
}

fn correlation(left: &Signal, right: &Signal, shift: i64) -> f64 {
    let skipped = shift.unsigned_abs() as usize;
    let (left, right) = if shift < 0 {
        (&left[skipped.min(left.len())..], &right[..])
    } else {
        (&left[..], &right[skipped.min(right.len())..])
    };
    let (mut both, mut of_left, mut of_right) = (0.0, 0.0, 0.0);
    for (a, b) in left.iter().flatten().zip(right.iter().flatten()) {
        both += f64::from(a * b);
        of_left += f64::from(a * a);
        of_right += f64::from(b * b);
    }
    let scale = (of_left * of_right).sqrt();
    if scale > 0.0 { both / scale } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use stereopsis_base::image::Image;

    const RATE: f64 = 30.0;

    /// Returns the view of a textured wall 8 px off, before which a textured square stands at a place, 20 px off in the right view.
    fn view(is_right: bool, (x, y): (f64, f64), seed: u64) -> Picture {
        let (mut noise, texture) = (fastrand::Rng::with_seed(seed), |x: i64, y: i64| {
            let hash = (x.wrapping_mul(73_856_093) ^ y.wrapping_mul(19_349_663)) as u64;
            fastrand::Rng::with_seed(hash).u8(20..230)
        });
        let (wall_px, square_px) = if is_right { (8, 20) } else { (0, 0) };
        let image = Image::from_fn(160, 120, |column, row| {
            let (column, row) = (column as i64, row as i64);
            let (in_x, in_y) = (column + square_px - x as i64, row - y as i64);
            let is_square = (0..40).contains(&in_x) && (0..40).contains(&in_y);
            let value =
                if is_square { texture(in_x / 4 + 1000, in_y / 4) } else { texture((column + wall_px) / 4, row / 4) };
            value.saturating_add(noise.u8(0..6))
        });
        Picture { luma: Luma::U8(image), rgb: None }
    }

    /// Returns what is found in pairs whose right view is `later` frames late.
    fn found(count: u64, later: u64, place: impl Fn(u64) -> (f64, f64)) -> Option<f64> {
        let mut watch = BegunApart::new(RATE);
        let mut pair = |number: u64| {
            let left = view(false, place(number), number);
            let right = view(true, place(number + later), 5000 + number);
            watch.add(number, number + 1 == count, [&left, &right])
        };
        (0..count).filter_map(&mut pair).last()
    }

    /// Returns a place that wanders.
    fn wander(frame: u64) -> (f64, f64) {
        let t = frame as f64;
        (60.0 + 30.0 * (0.31 * t).sin() + 10.0 * (0.13 * t).sin(), 40.0 + 25.0 * (0.23 * t).cos())
    }

    #[test]
    fn a_shift_is_found_by_what_moves() {
        assert_eq!(found(61, 6, wander), Some(0.2));
        assert_eq!(found(40, 6, wander), Some(0.2), "at the end of a short film");
        // the left video began later
        let mut watch = BegunApart::new(RATE);
        let pair = |number: u64| {
            let (left, right) = (view(false, wander(number + 9), number), view(true, wander(number), 5000 + number));
            watch.add(number, false, [&left, &right])
        };
        assert_eq!((0..61).filter_map(pair).last(), Some(-0.3));
    }

    #[test]
    fn no_shift_is_found_where_none_is_clear() {
        assert_eq!(found(61, 0, wander), None, "the videos began together");
        assert_eq!(found(61, 6, |_| (60.0, 40.0)), None, "nothing moves");
        let around = |frame: u64| if frame % 6 < 3 { (40.0, 30.0) } else { (80.0, 50.0) };
        assert_eq!(found(61, 2, around), None, "one shift is as good as the next");
        let even = |frame: u64| (2.0 * frame as f64, 40.0);
        assert_eq!(found(61, 6, even), None, "an even motion");
    }
}
