//! Arms of the crosses of both images, as bytes for vector instructions: a row for each kind of arm of each row of pixels.

use super::LocalAggregation;
use crate::codes::reverse;
use crate::simd::{SimdLevel, on_level};
use rayon::prelude::*;
use stereopsis_base::image::Image;

/// Kinds of arms, in the order of their rows.
pub(super) const LEFT: usize = 0;
pub(super) const RIGHT: usize = 1;
pub(super) const UP: usize = 2;
pub(super) const DOWN: usize = 3;

/// Lengths of the arms, px, after [`stereopsis_stereo::local::arms`]. Rows of the right image are in the order of those of
/// [`crate::codes`].
pub(super) struct Arms {
    width: usize,
    pitch: usize,
    left: Vec<u8>,
    right: Vec<u8>,
}

impl Arms {
    pub(super) fn of(local: &LocalAggregation<'_>) -> Self {
        let LocalAggregation { level, range, left, right, params, .. } = *local;
        let (width, height) = left.size();
        let pitch = width + range.stride;
        let mut arms = Self { width, pitch, left: vec![0; 4 * width * height], right: vec![0; 4 * pitch * height] };
        let limits = (params.tau.min(255) as u8, params.arms as usize);
        arms.left.par_chunks_exact_mut(4 * width).enumerate().for_each_init(Vec::new, |alive, (y, out)| {
            arms_of_row(level, left, y, limits, alive, out);
        });
        let scratch = || (Vec::new(), vec![0; 4 * width]);
        arms.right.par_chunks_exact_mut(4 * pitch).enumerate().for_each_init(scratch, |(alive, arms), (y, out)| {
            arms_of_row(level, right, y, limits, alive, arms);
            for (arms, out) in arms.chunks_exact(width).zip(out.chunks_exact_mut(pitch)) {
                reverse(arms, range, out);
            }
        });
        arms
    }

    #[inline(always)]
    pub(super) fn left(&self, kind: usize, y: usize) -> &[u8] {
        &self.left[(4 * y + kind) * self.width..][..self.width]
    }

    /// Returns the arms of the right pixels of row `y`: those of the partners of `x` begin at `width - 1 - x`.
    #[inline(always)]
    pub(super) fn right(&self, kind: usize, y: usize) -> &[u8] {
        &self.right[(4 * y + kind) * self.pitch..][..self.pitch]
    }
}

fn arms_of_row(
    level: SimdLevel,
    picture: &Image<u8>,
    y: usize,
    (tau, longest): (u8, usize),
    alive: &mut Vec<u8>,
    out: &mut [u8],
) {
    let (width, height) = picture.size();
    let own = picture.row(y);
    out.fill(0);
    for (kind, out) in out.chunks_exact_mut(width).enumerate() {
        alive.clear();
        alive.resize(width, 1);
        for k in 1..=longest {
            let (from, to, others) = match kind {
                LEFT if k < width => (k, width, own),
                RIGHT if k < width => (0, width - k, &own[k..]),
                UP if k <= y => (0, width, picture.row(y - k)),
                DOWN if y + k < height => (0, width, picture.row(y + k)),
                _ => break,
            };
            on_level!(level, _ => grow(&own[from..to], others, tau, &mut alive[from..to], &mut out[from..to]));
        }
    }
}

/// Lengthens the arms that are alive where the next pixel is similar.
#[inline(always)]
fn grow(own: &[u8], others: &[u8], tau: u8, alive: &mut [u8], arms: &mut [u8]) {
    let others = &others[..own.len()];
    let (alive, arms) = (&mut alive[..own.len()], &mut arms[..own.len()]);
    for x in 0..own.len() {
        alive[x] &= u8::from(own[x].abs_diff(others[x]) <= tau);
        arms[x] += alive[x];
    }
}
