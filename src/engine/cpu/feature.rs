//! Census and rank of one row, for the CPU: one pass over the row for each comparison of the window.
//!
//! The picture is padded by its border first, so that no comparison looks outside.

use crate::image::Image;
use multiversion::multiversion;

/// A picture with its border repeated `rx` times on both sides and `ry` times above and below.
pub(super) struct Padded {
    data: Vec<u16>,
    pitch: usize,
    width: usize,
    rx: usize,
    ry: usize,
}

impl Padded {
    pub(super) fn new(image: &Image<u16>, rx: usize, ry: usize) -> Self {
        let (width, height) = image.size();
        let pitch = width + 2 * rx;
        let mut data = Vec::with_capacity(pitch * (height + 2 * ry));
        for y in 0..height + 2 * ry {
            let row = image.row(y.saturating_sub(ry).min(height - 1));
            data.extend(std::iter::repeat_n(row[0], rx));
            data.extend_from_slice(row);
            data.extend(std::iter::repeat_n(row[width - 1], rx));
        }
        Self { data, pitch, width, rx, ry }
    }

    /// The row that lies `dy` below row `y`, moved by `dx`.
    #[inline(always)]
    fn row(&self, y: usize, dx: isize, dy: isize) -> &[u16] {
        let y = (y + self.ry).wrapping_add_signed(dy);
        &self.data[y * self.pitch + self.rx.wrapping_add_signed(dx)..][..self.width]
    }
}

/// A bit string of 32 or 64 bits.
pub(super) trait Word: Copy + Default + Send + Sync {
    /// A string with one bit.
    fn bit(set: bool, place: u32) -> Self;
    /// Both together.
    fn or(self, other: Self) -> Self;
    /// How many bits differ.
    fn distance(self, other: Self) -> u8;
}

macro_rules! word {
    ($integer:ty) => {
        impl Word for $integer {
            #[inline(always)]
            fn bit(set: bool, place: u32) -> Self {
                Self::from(set) << place
            }
            #[inline(always)]
            fn or(self, other: Self) -> Self {
                self | other
            }
            #[inline(always)]
            fn distance(self, other: Self) -> u8 {
                (self ^ other).count_ones() as u8
            }
        }
    };
}
word!(u32);
word!(u64);

/// Bit strings of row `y`.
#[multiversion(targets(
    "x86_64+avx512f+avx512bw+avx512dq+avx512vl+avx512vpopcntdq+avx512bitalg+avx2+bmi1+bmi2+popcnt+lzcnt",
    "x86_64+avx2+bmi1+bmi2+popcnt+lzcnt",
    "x86_64+sse4.2+popcnt"
))]
pub(super) fn census_row<W: Word>(padded: &Padded, y: usize, symmetric: bool, out: &mut [W]) {
    let (rx, ry) = (padded.rx as isize, padded.ry as isize);
    let centre = padded.row(y, 0, 0);
    out.fill(W::default());
    let mut place = 0;
    'window: for dy in -ry..=ry {
        for dx in -rx..=rx {
            if (dx, dy) == (0, 0) {
                if symmetric {
                    break 'window;
                }
                continue;
            }
            let neighbour = padded.row(y, dx, dy);
            // symmetric: neighbour > mirror, the same as mirror < neighbour
            let (low, high) = if symmetric { (padded.row(y, -dx, -dy), neighbour) } else { (neighbour, centre) };
            for ((bits, low), high) in out.iter_mut().zip(low).zip(high) {
                *bits = bits.or(W::bit(low < high, place));
            }
            place += 1;
        }
    }
}

/// Ranks of row `y`.
#[multiversion(targets(
    "x86_64+avx512f+avx512bw+avx512dq+avx512vl+avx2+bmi1+bmi2",
    "x86_64+avx2+bmi1+bmi2",
    "x86_64+sse4.2"
))]
pub(super) fn rank_row(padded: &Padded, y: usize, out: &mut [u8]) {
    let (rx, ry) = (padded.rx as isize, padded.ry as isize);
    let centre = padded.row(y, 0, 0);
    out.fill(0);
    for dy in -ry..=ry {
        for dx in -rx..=rx {
            for ((rank, neighbour), centre) in out.iter_mut().zip(padded.row(y, dx, dy)).zip(centre) {
                *rank += u8::from(neighbour < centre);
            }
        }
    }
}
