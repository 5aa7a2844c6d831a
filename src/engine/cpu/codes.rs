//! Codes of the pixels (brightness, rank or census, one or more bytes each), laid out so that a register of partners of a pixel is
//! contiguous: byte `p` of a row is a row of its own, and right rows are reversed and extended by their ends.
//!
//! Byte `p` of left `(x, y)` is `left[(y * planes + p) * width + x]`. `right[(y * planes + p) * pitch + j]` is right column
//! `width - 1 - min - j`, clamped, so that the partner of `(x, i)` is `j = width - 1 - x + i`.

use super::disparity_windows::DisparityWindow;
use super::input::{OVERHANG, PixelSpan, Range};
use super::lane::Lane;
use super::simd::{SimdLevel, on_level};
use crate::image::{Image, Luma};
use crate::stereo::cost::census::Shape;
use crate::stereo::cost::partner;
use fearless_simd::Simd;
use fearless_simd::prelude::*;
use rayon::prelude::*;

/// Bytes of both pictures.
#[derive(Default)]
pub(super) struct Codes {
    planes: usize,
    width: usize,
    pitch: usize,
    left: Vec<u8>,
    right: Vec<u8>,
}

impl Codes {
    /// Transforms both pictures.
    pub(super) fn set(&mut self, level: SimdLevel, left: &Luma, right: &Luma, transform: Transform, range: Range) {
        let (width, height) = left.size();
        (self.planes, self.width, self.pitch) = (transform.planes(), width, pitch(width, range));
        self.left.resize(self.planes * width * height, 0);
        self.right.resize(self.planes * self.pitch * height, 0);
        match left {
            Luma::U8(image) => left_rows(level, image, transform, &mut self.left),
            Luma::U16 { image, .. } => left_rows(level, image, transform, &mut self.left),
        }
        match right {
            Luma::U8(image) => right_rows(level, image, transform, range, &mut self.right),
            Luma::U16 { image, .. } => right_rows(level, image, transform, range, &mut self.right),
        }
    }

    /// Takes one byte of each pixel of both pictures.
    pub(super) fn set_bytes(&mut self, left: &Image<u8>, right: &Image<u8>, range: Range) {
        let (width, height) = left.size();
        (self.planes, self.width, self.pitch) = (1, width, pitch(width, range));
        self.left.clear();
        self.left.extend_from_slice(left.pixels());
        self.right.resize(self.pitch * height, 0);
        let rows = self.right.par_chunks_mut(self.pitch).zip(right.pixels().par_chunks(width));
        rows.for_each(|(reversed, row)| reverse(row, range, reversed));
    }

    /// Byte 0 of row `y`: of the left pixels, and of the right ones in their order.
    #[inline(always)]
    pub(super) fn bytes_of_row(&self, y: usize) -> (&[u8], &[u8]) {
        let left = &self.left[y * self.planes * self.width..][..self.width];
        (left, &self.right[y * self.planes * self.pitch..][..self.pitch])
    }

    /// Allocated bytes.
    pub(super) fn bytes(&self) -> usize {
        self.left.capacity() + self.right.capacity()
    }

    /// Hamming distances of a span of pixels, the window's candidates of one pixel after the other.
    #[inline(always)]
    pub(super) fn distances<S: Simd, L: Lane>(&self, simd: S, span: PixelSpan, window: DisparityWindow, out: &mut [L]) {
        match self.planes {
            3 => self.hamming::<S, L, 3>(simd, span, window, out),
            4 => self.hamming::<S, L, 4>(simd, span, window, out),
            6 => self.hamming::<S, L, 6>(simd, span, window, out),
            _ => self.hamming::<S, L, 8>(simd, span, window, out),
        }
    }

    #[inline(always)]
    fn hamming<S: Simd, L: Lane, const P: usize>(
        &self,
        simd: S,
        span: PixelSpan,
        window: DisparityWindow,
        out: &mut [L],
    ) {
        let len = <S::u8s as SimdBase<S>>::LEN;
        let left = &self.left[span.y * P * self.width..][..P * self.width];
        let right = &self.right[span.y * P * self.pitch..][..P * self.pitch];
        for t in 0..span.pixels {
            let x = span.x + t;
            let out = &mut out[t * window.len..][..window.len];
            let start = self.width - 1 - x + window.first;
            let mut mine = [S::u8s::splat(simd, 0); P];
            let mut theirs = [right; P];
            for p in 0..P {
                mine[p] = S::u8s::splat(simd, left[p * self.width + x]);
                theirs[p] = &right[p * self.pitch + start..][..window.len];
            }
            let mut b = 0;
            while b + len <= window.len {
                let mut cost = (S::u8s::from_slice(simd, &theirs[0][b..b + len]) ^ mine[0]).count_ones();
                for p in 1..P {
                    cost += (S::u8s::from_slice(simd, &theirs[p][b..b + len]) ^ mine[p]).count_ones();
                }
                L::store_costs::<S>(cost, &mut out[b..b + len]);
                b += len;
            }
        }
    }

    /// Differences of the bytes of a span of pixels, the window's candidates of one pixel after the other.
    #[inline(always)]
    pub(super) fn differences<S: Simd, L: Lane>(
        &self,
        simd: S,
        span: PixelSpan,
        window: DisparityWindow,
        out: &mut [L],
    ) {
        let len = <S::u8s as SimdBase<S>>::LEN;
        let left = &self.left[span.y * self.width..][..self.width];
        let right = &self.right[span.y * self.pitch..][..self.pitch];
        for t in 0..span.pixels {
            let x = span.x + t;
            let out = &mut out[t * window.len..][..window.len];
            let mine = S::u8s::splat(simd, left[x]);
            let partners = &right[self.width - 1 - x + window.first..][..window.len];
            let mut b = 0;
            while b + len <= window.len {
                let theirs = S::u8s::from_slice(simd, &partners[b..b + len]);
                L::store_costs::<S>(mine.max(theirs) - mine.min(theirs), &mut out[b..b + len]);
                b += len;
            }
        }
    }
}

/// Distance of the planes of a right row: with room for the range and for the overhang of a register.
fn pitch(width: usize, range: Range) -> usize {
    width + range.stride + OVERHANG
}

/// A transform of a pixel's window.
#[derive(Clone, Copy)]
pub(super) enum Transform {
    /// To a census string.
    Census(Shape),
    /// To a rank.
    Rank {
        /// Pixels from the centre to the window's edge.
        radius: usize,
    },
}

impl Transform {
    /// Bytes for each pixel.
    fn planes(self) -> usize {
        match self {
            Self::Census(shape) => shape.bits().div_ceil(8),
            Self::Rank { .. } => 1,
        }
    }

    /// Pixels from the centre to the window's edges.
    fn radii(self) -> (usize, usize) {
        match self {
            Self::Census(shape) => (shape.width / 2, shape.height / 2),
            Self::Rank { radius } => (radius, radius),
        }
    }
}

fn left_rows<T: Pixel>(level: SimdLevel, image: &Image<T>, transform: Transform, out: &mut [u8]) {
    let padded = Padded::new(image, transform.radii());
    let row_len = image.width() * transform.planes();
    out.par_chunks_mut(row_len).enumerate().for_each(|(y, out)| transform_row(level, &padded, transform, y, out));
}

fn right_rows<T: Pixel>(level: SimdLevel, image: &Image<T>, transform: Transform, range: Range, out: &mut [u8]) {
    let padded = Padded::new(image, transform.radii());
    let width = image.width();
    let scratch = || vec![0; width * transform.planes()];
    let rows = out.par_chunks_mut(pitch(width, range) * transform.planes()).enumerate();
    rows.for_each_init(scratch, |codes, (y, out)| {
        transform_row(level, &padded, transform, y, codes);
        for (plane, out) in codes.chunks_exact(width).zip(out.chunks_exact_mut(pitch(width, range))) {
            reverse(plane, range, out);
        }
    });
}

/// The row reversed and extended; see above.
pub(super) fn reverse(row: &[u8], range: Range, reversed: &mut [u8]) {
    let width = row.len();
    // place j has column `last - j`; before and behind the picture the ends are repeated
    let last = width as i64 - 1 - i64::from(range.min);
    let before = (last - (width as i64 - 1)).clamp(0, reversed.len() as i64) as usize;
    let behind = (last + 1).clamp(0, reversed.len() as i64) as usize;
    reversed[..before].fill(row[width - 1]);
    reversed[behind..].fill(row[0]);
    if before < behind {
        let first = partner(width - 1, range.min + behind as i32 - 1, width);
        let inside = &row[first..][..behind - before];
        for (slot, &value) in reversed[before..behind].iter_mut().zip(inside.iter().rev()) {
            *slot = value;
        }
    }
}

/// Brightness of 8 or 16 bits.
trait Pixel: Copy + PartialOrd + Default + Send + Sync {}
impl Pixel for u8 {}
impl Pixel for u16 {}

/// A picture with its border repeated, so that no comparison looks outside.
struct Padded<T> {
    data: Vec<T>,
    pitch: usize,
    width: usize,
    rx: usize,
    ry: usize,
}

impl<T: Pixel> Padded<T> {
    fn new(image: &Image<T>, (rx, ry): (usize, usize)) -> Self {
        let (width, height) = image.size();
        let pitch = width + 2 * rx;
        let mut data = vec![T::default(); pitch * (height + 2 * ry)];
        data.par_chunks_mut(pitch).enumerate().for_each(|(y, padded)| {
            let row = image.row(y.saturating_sub(ry).min(height - 1));
            padded[..rx].fill(row[0]);
            padded[rx..][..width].copy_from_slice(row);
            padded[rx + width..].fill(row[width - 1]);
        });
        Self { data, pitch, width, rx, ry }
    }

    /// The row that lies `dy` below row `y`, moved by `dx`.
    #[inline(always)]
    fn row(&self, y: usize, dx: isize, dy: isize) -> &[T] {
        let y = (y + self.ry).wrapping_add_signed(dy);
        &self.data[y * self.pitch + self.rx.wrapping_add_signed(dx)..][..self.width]
    }
}

fn transform_row<T: Pixel>(level: SimdLevel, padded: &Padded<T>, transform: Transform, y: usize, out: &mut [u8]) {
    match transform {
        Transform::Census(shape) => on_level!(level, _ => census_row(padded, y, shape.symmetric, out)),
        Transform::Rank { .. } => on_level!(level, _ => rank_row(padded, y, out)),
    }
}

/// Bit strings of row `y`, eight bits to a plane, in the order of [`crate::stereo::cost::census::transform`].
#[inline(always)]
fn census_row<T: Pixel>(padded: &Padded<T>, y: usize, symmetric: bool, out: &mut [u8]) {
    let (rx, ry) = (padded.rx as isize, padded.ry as isize);
    let width = padded.width;
    let centre = padded.row(y, 0, 0);
    out.fill(0);
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
            let plane = &mut out[place / 8 * width..][..width];
            for x in 0..width {
                plane[x] |= u8::from(low[x] < high[x]) << (place % 8);
            }
            place += 1;
        }
    }
}

/// Ranks of row `y`.
#[inline(always)]
fn rank_row<T: Pixel>(padded: &Padded<T>, y: usize, out: &mut [u8]) {
    let (rx, ry) = (padded.rx as isize, padded.ry as isize);
    let centre = padded.row(y, 0, 0);
    out.fill(0);
    for dy in -ry..=ry {
        for dx in -rx..=rx {
            let neighbour = padded.row(y, dx, dy);
            for x in 0..padded.width {
                out[x] += u8::from(neighbour[x] < centre[x]);
            }
        }
    }
}
