//! Local aggregation on the CPU, after [`stereopsis_stereo::local`]. Each kind sums one pixel's candidates after the other and gives the
//! sums to an output, which keeps exact numbers or means in bytes. Strips of rows are summed in parallel; the rows of a strip
//! share intermediate sums.

mod arms;
mod cross;
mod weighted;
mod window;

use super::costs::Costs;
use super::input::Range;
use super::simd::{SimdLevel, on_level};
use rayon::prelude::*;
use stereopsis_base::image::Image;
use stereopsis_stereo::Aggregation;
use stereopsis_stereo::local::Unit;
use stereopsis_stereo::params::StereoParams;

#[derive(Clone, Copy)]
pub(super) struct LocalAggregation<'a> {
    pub(super) level: SimdLevel,
    pub(super) range: Range,
    /// Costs, which weighted kinds need as a volume.
    pub(super) costs: Costs<'a>,
    pub(super) left: &'a Image<u8>,
    pub(super) right: &'a Image<u8>,
    pub(super) params: &'a StereoParams,
}

/// Destination of sums; `R` is its part for a row.
pub(super) trait RowOutput<R>: Sync {
    type Number: Copy + Send;
    type Scratch: Send;
    fn scratch(&self) -> Self::Scratch;
    fn numbers<'a>(&self, row: &'a mut R, scratch: &'a mut Self::Scratch) -> &'a mut [Self::Number];
    /// Stores the sums of a pixel's candidates and their padding; has to be inlined always.
    fn keep(&self, sums: &[u32], out: &mut [Self::Number]);
    fn finish(&self, y: usize, row: &mut R, scratch: &mut Self::Scratch);
}

impl LocalAggregation<'_> {
    /// Computes the sums in the aggregation's units.
    pub(super) fn sums<R: Send, O: RowOutput<R>>(&self, output: &O, rows: Vec<R>) {
        match self.params.aggregation {
            Aggregation::None => {}
            Aggregation::Window => self.window(self.params.window, output, rows),
            Aggregation::Cross => self.cross(output, rows),
            Aggregation::AdaptiveWeight | Aggregation::WeightedCross => self.weighted(output, rows),
        }
    }

    pub(super) fn means(&self, volume: &mut [u8]) {
        let unit = self.params.unit();
        self.sums(&MeanBytes::of(unit), self.rows(volume));
    }

    pub(super) fn means_over_window(&self, window: u32, volume: &mut [u8]) {
        self.window(window, &MeanBytes::of(Unit::Sum(window * window)), self.rows(volume));
    }

    fn rows<'v>(&self, volume: &'v mut [u8]) -> Vec<VolumeRow<'v>> {
        volume.chunks_exact_mut(self.left.width() * self.range.stride).map(VolumeRow).collect()
    }

    /// Returns the rows of a strip that needs `before` more rows for its first one: few strips for each thread, but no short one.
    fn strip_of(&self, before: usize) -> usize {
        let height = self.left.height();
        height.div_ceil(2 * rayon::current_num_threads()).max(before).clamp(1, height.max(1))
    }

    /// Returns the costs of row `y`, computed in `scratch` where they are not stored.
    fn costs_of<'s>(&'s self, y: usize, scratch: &'s mut [u8]) -> &'s [u8] {
        let width = self.left.width();
        on_level!(self.level, simd => self.costs.row(simd, width, y, self.range, scratch))
    }
}

/// Calls `sum(worker, row, is_first_of_strip, numbers)` for each row of each strip.
fn strips<R: Send, O: RowOutput<R>, W>(
    output: &O,
    mut rows: Vec<R>,
    strip: usize,
    worker: impl Fn() -> W + Sync,
    sum: impl Fn(&mut W, usize, bool, &mut [O::Number]) + Sync,
) {
    let scratch = || (worker(), output.scratch());
    rows.par_chunks_mut(strip).enumerate().for_each_init(scratch, |(worker, scratch), (n, rows)| {
        for (k, row) in rows.iter_mut().enumerate() {
            sum(worker, n * strip + k, k == 0, output.numbers(row, scratch));
            output.finish(n * strip + k, row, scratch);
        }
    });
}

/// Output that keeps rounded means as bytes.
pub(super) struct MeanBytes {
    unit: Unit,
}

impl MeanBytes {
    fn of(unit: Unit) -> Self {
        Self { unit }
    }
}

struct VolumeRow<'a>(&'a mut [u8]);

impl RowOutput<VolumeRow<'_>> for MeanBytes {
    type Number = u8;
    type Scratch = ();

    fn scratch(&self) {}

    fn numbers<'a>(&self, row: &'a mut VolumeRow<'_>, (): &'a mut ()) -> &'a mut [u8] {
        row.0
    }

    #[inline(always)]
    fn keep(&self, sums: &[u32], out: &mut [u8]) {
        match self.unit {
            Unit::Sum(count) => mean(sums, count, out),
            Unit::Sixteenth => {
                for (out, &sum) in out.iter_mut().zip(sums) {
                    *out = ((sum + 8) >> 4) as u8;
                }
            }
        }
    }

    fn finish(&self, _: usize, _: &mut VolumeRow<'_>, (): &mut ()) {}
}

/// Computes `(sum + count / 2) / count` without a division: half a unit more than the sum, times `1 / count` as a float, rounded
/// down. This is exact: `(sum + count / 2 + 1 / 2) / count` differs from every whole number by at least 1 / 2178, and is below 257,
/// so that its error is below 1 / 2^14. To round down, half is subtracted; adding a large float then leaves the nearest whole
/// number in the lowest bits.
#[inline(always)]
fn mean(sums: &[u32], count: u32, out: &mut [u8]) {
    const LARGE: f32 = 12_582_912.0; // 1.5 * 2^23: its neighbours are 1 apart
    let (half, share) = ((count / 2) as f32 + 0.5, 1.0 / count as f32);
    for (out, &sum) in out.iter_mut().zip(sums) {
        *out = (((sum as i32 as f32 + half) * share - 0.5) + LARGE).to_bits() as u8;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn means_match_the_reference_for_every_sum() {
        for window in (1..=33_u32).step_by(2) {
            let count = window * window;
            let sums: Vec<u32> = (0..=255 * count).collect();
            let mut means = vec![0; sums.len()];
            mean(&sums, count, &mut means);
            let wrong = sums.iter().zip(&means).find(|&(&sum, &mean)| mean != Unit::Sum(count).mean(sum));
            assert_eq!(wrong, None, "{window} x {window}");
        }
    }
}
