//! Sums over a square window: running sums down the columns, then along the row, all candidates at once.

use super::{Local, Output, strips};
use crate::engine::cpu::simd::on_level;

impl Local<'_> {
    /// Exact sums over `window` x `window` pixels, coordinates clamped; at most 33 x 33 x 255.
    pub(in crate::engine::cpu) fn window<R: Send, O: Output<R>>(&self, window: u32, output: &O, rows: Vec<R>) {
        let (width, height) = self.left.size();
        let stride = self.range.stride;
        let r = (window / 2) as isize;
        let row = |y: isize| y.clamp(0, height as isize - 1) as usize;
        let worker = || Worker::new(width, stride);
        let strip = self.strip_of(2 * window as usize);
        strips(output, rows, strip, worker, |worker, y, is_first, out| {
            let y = y as isize;
            let Worker { enters, leaves, columns, sums } = worker;
            if is_first {
                columns.fill(0);
                for y in y - r..=y + r {
                    let enters = self.costs_of(row(y), enters);
                    on_level!(self.level, _ => add(columns, enters));
                }
            } else {
                let (enters, leaves) = (self.costs_of(row(y + r), enters), self.costs_of(row(y - 1 - r), leaves));
                on_level!(self.level, _ => replace(columns, enters, leaves));
            }
            on_level!(self.level, _ => window_row::<R, O>(columns, sums, r, stride, output, out));
        });
    }
}

/// What one thread needs.
struct Worker {
    /// Costs of the row that comes into the window, and of the one that leaves it.
    enters: Vec<u8>,
    leaves: Vec<u8>,
    /// Sums of the costs over the rows of the window; at most 33 x 255.
    columns: Vec<u16>,
    /// Sums over the whole window of one pixel.
    sums: Vec<u32>,
}

impl Worker {
    fn new(width: usize, stride: usize) -> Self {
        let row = width * stride;
        Self { enters: vec![0; row], leaves: vec![0; row], columns: vec![0; row], sums: vec![0; stride] }
    }
}

/// Window sums of one row from the sums down its columns.
#[inline(always)]
fn window_row<R, O: Output<R>>(
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
        enter(sums, &columns[column(x)..][..stride]);
    }
    for (x, out) in (0..).zip(out.chunks_exact_mut(stride)) {
        output.keep(sums, out);
        let (enters, leaves) = (column(x + 1 + r), column(x - r));
        slide(sums, &columns[enters..][..stride], &columns[leaves..][..stride]);
    }
}

#[inline(always)]
fn add(columns: &mut [u16], enters: &[u8]) {
    for (column, &enters) in columns.iter_mut().zip(enters) {
        *column += u16::from(enters);
    }
}

#[inline(always)]
fn replace(columns: &mut [u16], enters: &[u8], leaves: &[u8]) {
    for ((column, &enters), &leaves) in columns.iter_mut().zip(enters).zip(leaves) {
        *column = *column + u16::from(enters) - u16::from(leaves);
    }
}

#[inline(always)]
fn enter(sums: &mut [u32], enters: &[u16]) {
    for (sum, &enters) in sums.iter_mut().zip(enters) {
        *sum += u32::from(enters);
    }
}

#[inline(always)]
fn slide(sums: &mut [u32], enters: &[u16], leaves: &[u16]) {
    for ((sum, &enters), &leaves) in sums.iter_mut().zip(enters).zip(leaves) {
        *sum = *sum + u32::from(enters) - u32::from(leaves);
    }
}
