//! Check of the sides with a hand: the covered camera is the one whose image alone changes.

use std::time::{Duration, Instant};
use stereopsis_base::image::Luma;
use stereopsis_frame::Side;

/// Time limit for the hand.
pub(super) const TIMEOUT: Duration = Duration::from_secs(20);
/// Number of cells along a row and along a column, whose means are compared.
const CELLS: (usize, usize) = (16, 12);
/// Number of sampled pixels along each side of a cell.
const SAMPLES: usize = 8;
/// Smallest change of a covered image, as a share of its brightness.
const MIN_CHANGE: f64 = 0.2;
/// Smallest ratio of this change to that of the other image.
const MIN_RATIO: f64 = 3.0;
/// Smallest number of successive pairs with the same result.
const MIN_PAIRS: u32 = 3;
/// Brightness that noise may change in a dark image, grey levels.
const NOISE: f64 = 4.0;

type Cells = Vec<f64>;

/// State of the check, during which both images are watched until one changes.
pub(crate) struct SidesWatch {
    pub(super) since: Instant,
    /// Cell means of the first images.
    first: [Cells; 2],
    /// Image that changed last, and the number of successive pairs.
    changed: Option<(Side, u32)>,
    pub(super) sequence: Option<u64>,
}

impl SidesWatch {
    /// Starts the check with the present images.
    pub(super) fn begin(left: &Luma, right: &Luma) -> Self {
        Self { since: Instant::now(), first: [left, right].map(cells), changed: None, sequence: None }
    }

    /// Returns the time left in whole seconds.
    pub(crate) fn seconds_left(&self) -> u64 {
        TIMEOUT.saturating_sub(self.since.elapsed()).as_secs()
    }

    /// Examines the next pair and returns the covered side once it is certain.
    pub(super) fn look(&mut self, left: &Luma, right: &Luma) -> Option<Side> {
        let now = [left, right].map(cells);
        let [left, right] = [0, 1].map(|view| change(&self.first[view], &now[view]));
        let changed = if left >= MIN_CHANGE && left >= MIN_RATIO * right {
            Some(Side::Left)
        } else if right >= MIN_CHANGE && right >= MIN_RATIO * left {
            Some(Side::Right)
        } else {
            None
        };
        self.changed = changed.map(|side| match self.changed {
            Some((before, pairs)) if before == side => (side, pairs + 1),
            _ => (side, 1),
        });
        self.changed.filter(|(_, pairs)| *pairs >= MIN_PAIRS).map(|(side, _)| side)
    }
}

/// Returns the mean brightness of each cell in grey levels of 8 bits.
fn cells(luma: &Luma) -> Cells {
    let image = luma.to_u8();
    let (columns, rows) = (CELLS.0 * SAMPLES, CELLS.1 * SAMPLES);
    let mut cells = vec![0.0; CELLS.0 * CELLS.1];
    for y in 0..rows {
        let row = image.row(y * image.height() / rows);
        for x in 0..columns {
            let value = row[x * image.width() / columns];
            cells[y / SAMPLES * CELLS.0 + x / SAMPLES] += f64::from(value) / (SAMPLES * SAMPLES) as f64;
        }
    }
    cells
}

/// Returns the change of an image as a share of its brightness.
fn change(before: &Cells, now: &Cells) -> f64 {
    let sum = |of: fn(f64, f64) -> f64| before.iter().zip(now).map(|(&a, &b)| of(a, b)).sum::<f64>();
    sum(|a, b| ((a - b).abs() - NOISE).max(0.0)) / sum(|a, b| a.max(b) + NOISE)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::LazyLock;
    use stereopsis_base::image::Image;
    use stereopsis_frame::SceneOptions;
    use stereopsis_scene::render;

    fn pair(frame: usize) -> [Luma; 2] {
        static PAIRS: LazyLock<Vec<[Luma; 2]>> = LazyLock::new(|| {
            let options = SceneOptions { width: 320, height: 240, ..SceneOptions::default() };
            let raw = (0..20).map(|frame| render(&options, frame, false));
            raw.map(|raw| [raw.left.luma, raw.right.luma]).collect()
        });
        PAIRS[frame].clone()
    }

    fn changed(luma: &Luma, change: impl Fn(usize, usize, u8) -> u8) -> Luma {
        let image = luma.to_u8();
        Luma::U8(Image::from_fn(image.width(), image.height(), |x, y| change(x, y, image.row(y)[x])))
    }

    /// Returns the result of a check of successive pairs.
    fn result_of(pairs: impl IntoIterator<Item = [Luma; 2]>) -> Option<Side> {
        let mut pairs = pairs.into_iter();
        let [left, right] = pairs.next()?;
        let mut watch = SidesWatch::begin(&left, &right);
        pairs.find_map(|[left, right]| watch.look(&left, &right))
    }

    #[test]
    fn covered_side_is_found_and_a_moving_scene_is_not() {
        assert_eq!(result_of((0..20).map(pair)), None, "what moves is in both images");
        let covered = |luma: &Luma| changed(luma, |x, y, _| 3 + ((x * 7 + y * 3) % 3) as u8);
        let with = |side: Side, cover: &dyn Fn(&Luma) -> Luma| {
            result_of((0..12).map(|frame| {
                let [left, right] = pair(frame);
                match side {
                    _ if frame < 4 => [left, right],
                    Side::Left => [cover(&left), right],
                    Side::Right => [left, cover(&right)],
                }
            }))
        };
        for side in [Side::Left, Side::Right] {
            assert_eq!(with(side, &covered), Some(side), "a dark image");
            // a hand near the lens appears as a bright patch without detail
            let hand = |luma: &Luma| changed(luma, |x, _, value| if x > 80 { 190 } else { value });
            assert_eq!(with(side, &hand), Some(side), "a hand that leaves a part free");
        }
    }

    #[test]
    fn light_that_goes_off_and_noise_name_no_side() {
        let dimmed = |luma: &Luma| changed(luma, |_, _, value| value / 8);
        let light = (0..12).map(|frame| if frame < 4 { pair(0) } else { pair(0).each_ref().map(dimmed) });
        assert_eq!(result_of(light), None);
        let noise = |seed: usize| {
            let dark = |by: usize| Luma::U8(Image::filled(64, 48, (4 + (seed * 5 + by) % 4) as u8));
            [dark(0), dark(2)]
        };
        assert_eq!(result_of((0..40).map(noise)), None, "a dark room");
    }

    #[test]
    fn initially_covered_lens_is_found_once_uncovered() {
        let covered = |luma: &Luma| changed(luma, |_, _, _| 2);
        let pairs = (0..12).map(|frame| {
            let [left, right] = pair(frame);
            if frame < 4 { [left, covered(&right)] } else { [left, right] }
        });
        assert_eq!(result_of(pairs), Some(Side::Right));
    }
}
