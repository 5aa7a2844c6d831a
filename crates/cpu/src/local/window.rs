//! Sums over a square window: running sums down the columns, then along the row, all candidates at once.

use super::{LocalAggregation, RowOutput, strips};
use crate::simd::on_level;

impl LocalAggregation<'_> {
    /// Computes exact sums over `window` x `window` pixels, coordinates clamped; at most 33 x 33 x 255.
    pub fn window<R: Send, O: RowOutput<R>>(&self, window: u32, output: &O, rows: Vec<R>) {
        let (width, height) = self.left.size();
        let stride = self.range.stride;
        let r = (window / 2) as isize;
        let row = |y: isize| y.clamp(0, height as isize - 1) as usize;
        let worker = || WindowBuffers::new(width, stride);
        let strip = self.strip_of(2 * window as usize);
        strips(output, rows, strip, worker, |worker, y, is_first, out| {
            let y = y as isize;
            let WindowBuffers { added, removed, columns, sums } = worker;
            if is_first {
                columns.fill(0);
                for y in y - r..=y + r {
                    let added = self.costs_of(row(y), added);
                    on_level!(self.level, _ => add(columns, added));
                }
            } else {
                let (added, removed) = (self.costs_of(row(y + r), added), self.costs_of(row(y - 1 - r), removed));
                on_level!(self.level, _ => slide(columns, added, removed));
            }
            on_level!(self.level, _ => window_row::<R, O>(columns, sums, r, stride, output, out));
        });
    }
}

struct WindowBuffers {
    /// Costs of the row that enters the window, and of the one that leaves it.
    added: Vec<u8>,
    removed: Vec<u8>,
    /// Sums of the costs over the rows of the window; at most 33 x 255.
    columns: Vec<u16>,
    sums: Vec<u32>,
}

impl WindowBuffers {
    fn new(width: usize, stride: usize) -> Self {
        let row = width * stride;
        Self { added: vec![0; row], removed: vec![0; row], columns: vec![0; row], sums: vec![0; stride] }
    }
}

#[inline(always)]
fn window_row<R, O: RowOutput<R>>(
    columns: &[u16],
    sums: &mut [u32],
    r: isize,
    stride: usize,
    output: &O,
    out: &mut [O::Number],
) {
    let width = out.len() / stride;
    let column = |x: isize| x.clamp(0, width as isize - 1) as usize * stride;
    sums.fill(0);
    for x in -r..=r {
        add(sums, &columns[column(x)..][..stride]);
    }
    for (x, out) in (0..).zip(out.chunks_exact_mut(stride)) {
        output.keep(sums, out);
        let (added, removed) = (column(x + 1 + r), column(x - r));
        slide(sums, &columns[added..][..stride], &columns[removed..][..stride]);
    }
}

#[inline(always)]
fn add<S: Copy + From<V> + std::ops::Add<Output = S>, V: Copy>(sums: &mut [S], added: &[V]) {
    for (sum, &added) in sums.iter_mut().zip(added) {
        *sum = *sum + S::from(added);
    }
}

#[inline(always)]
fn slide<S, V: Copy>(sums: &mut [S], added: &[V], removed: &[V])
where
    S: Copy + From<V> + std::ops::Add<Output = S> + std::ops::Sub<Output = S>,
{
    for ((sum, &added), &removed) in sums.iter_mut().zip(added).zip(removed) {
        *sum = *sum + S::from(added) - S::from(removed);
    }
}
