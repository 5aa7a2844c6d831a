//! Codes of the pixels (brightness, rank or census, one or more bytes each), in a layout in which the partners of a pixel are
//! contiguous. Byte `p` of the pixels of a row is a row of its own, a plane; right rows are reversed and extended by their ends.
//! Other modules compute indices by the two formulas below.
//!
//! Byte `p` of left `(x, y)` is `left[(y * planes + p) * width + x]`. `right[(y * planes + p) * pitch + j]` is right column
//! `width - 1 - min - j`, clamped, so that the partner of `(x, i)` is `j = width - 1 - x + i`.

use super::disparity_windows::DisparityWindow;
use super::input::{OVERHANG, PixelSpan, Range};
use super::lane::Lane;
use super::memory::prefetch_around;
use super::simd::{SimdLevel, counts_bits, looks_up, on_level};
use fearless_simd::prelude::*;
use fearless_simd::{Simd, u8x16};
use rayon::prelude::*;
use stereopsis_base::image::{Image, Luma};
use stereopsis_stereo::cost::{Shape, partner};

#[derive(Default)]
pub(super) struct Codes {
    planes: usize,
    width: usize,
    pitch: usize,
    left: Vec<u8>,
    right: Vec<u8>,
}

impl Codes {
    pub(super) fn set(&mut self, level: SimdLevel, left: &Luma, right: &Luma, transform: Transform, range: Range) {
        let (width, height) = left.size();
        (self.planes, self.width, self.pitch) = (transform.planes(), width, pitch(width, range));
        resize(&mut self.left, self.planes * width * height);
        resize(&mut self.right, self.planes * self.pitch * height);
        match left {
            Luma::U8(image) => left_rows(level, image, transform, &mut self.left),
            Luma::U16 { image, .. } => left_rows(level, image, transform, &mut self.left),
        }
        match right {
            Luma::U8(image) => right_rows(level, image, transform, range, &mut self.right),
            Luma::U16 { image, .. } => right_rows(level, image, transform, range, &mut self.right),
        }
    }

    /// Takes one byte of each pixel of both images as its code.
    pub(super) fn set_bytes(&mut self, left: &Image<u8>, right: &Image<u8>, range: Range) {
        let (width, height) = left.size();
        (self.planes, self.width, self.pitch) = (1, width, pitch(width, range));
        resize(&mut self.left, width * height);
        self.left.copy_from_slice(left.pixels());
        resize(&mut self.right, self.pitch * height);
        let rows = self.right.par_chunks_mut(self.pitch).zip(right.pixels().par_chunks(width));
        rows.for_each(|(reversed, row)| reverse(row, range, reversed));
    }

    /// Returns byte 0 of row `y`: of the left pixels, and of the right ones in their reversed order.
    #[inline(always)]
    pub(super) fn bytes_of_row(&self, y: usize) -> (&[u8], &[u8]) {
        let left = &self.left[y * self.planes * self.width..][..self.width];
        (left, &self.right[y * self.planes * self.pitch..][..self.pitch])
    }

    pub(super) fn bytes(&self) -> usize {
        self.left.capacity() + self.right.capacity()
    }

    /// Computes the Hamming distances of a span of pixels: the window's candidates, pixel after pixel.
    #[inline(always)]
    pub(super) fn distances<S: Simd, L: Lane>(&self, simd: S, span: PixelSpan, window: DisparityWindow, out: &mut [L]) {
        match self.planes {
            3 => self.hamming::<S, L, 3>(simd, span, window, out),
            4 => self.hamming::<S, L, 4>(simd, span, window, out),
            6 => self.hamming::<S, L, 6>(simd, span, window, out),
            _ => self.hamming::<S, L, 8>(simd, span, window, out),
        }
    }

    /// Computes [`Self::distances`] of `P` planes, in a function of its own that all integer types of sums share.
    #[inline(never)]
    fn hamming<S: Simd, L: Lane, const P: usize>(
        &self,
        simd: S,
        PixelSpan { x, y, pixels, .. }: PixelSpan,
        window: DisparityWindow,
        out: &mut [L],
    ) {
        simd.vectorize(
            #[inline(always)]
            || {
                let len = <S::u8s as SimdBase<S>>::LEN;
                let left = &self.left[y * P * self.width..][..P * self.width];
                let right = &self.right[y * P * self.pitch..][..P * self.pitch];
                // partners of the last pixel come first
                let (start, count) = (self.width - x - pixels + window.first, window.len + pixels - 1);
                let (mut mine, mut theirs) = ([left; P], [right; P]);
                for p in 0..P {
                    let plane = y * P + p;
                    prefetch_around(&self.left, plane * self.width + x, P * self.width);
                    prefetch_around(&self.right, plane * self.pitch + start, P * self.pitch);
                    mine[p] = &left[p * self.width + x..][..pixels];
                    theirs[p] = &right[p * self.pitch + start..][..count];
                }
                let (registers, mut first) = (window.len / len, 0);
                while first < registers {
                    let group = [4, 2, 1].into_iter().find(|group| first + group <= registers).unwrap_or(1);
                    for (t, out) in out.chunks_exact_mut(window.len).take(pixels).enumerate() {
                        let mut codes = [S::u8s::splat(simd, 0); P];
                        for p in 0..P {
                            codes[p] = S::u8s::splat(simd, mine[p][t]);
                        }
                        let at = first * len;
                        let (partners, out) = (pixels - 1 - t + at, &mut out[at..]);
                        match group {
                            4 => distances::<S, L, P, 4>(simd, codes, &theirs, partners, out),
                            2 => distances::<S, L, P, 2>(simd, codes, &theirs, partners, out),
                            _ => distances::<S, L, P, 1>(simd, codes, &theirs, partners, out),
                        }
                    }
                    first += group;
                }
            },
        );
    }

    /// Computes the differences of the bytes of a span of pixels: the window's candidates, pixel after pixel.
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

/// Sets the length, and frees the room of larger codes.
fn resize(bytes: &mut Vec<u8>, len: usize) {
    if bytes.len() > len {
        *bytes = Vec::new();
    }
    bytes.resize(len, 0);
}

const BITS: [u8; 16] = {
    let mut bits = [0; 16];
    let mut i = 0;
    while i < 16 {
        bits[i] = (i as u8).count_ones() as u8;
        i += 1;
    }
    bits
};

/// Computes the distances of a bit string to `R` registers of partners, whose planes begin at `first`.
///
/// Without an instruction that counts bits, three planes are added bit by bit. Two counts then replace three: of the ones and of
/// the twos of their sums.
#[inline(always)]
fn distances<S: Simd, L: Lane, const P: usize, const R: usize>(
    simd: S,
    codes: [S::u8s; P],
    planes: &[&[u8]; P],
    first: usize,
    out: &mut [L],
) {
    let len = <S::u8s as SimdBase<S>>::LEN;
    let mut theirs = [&planes[0][..0]; P];
    for p in 0..P {
        theirs[p] = &planes[p][first..][..R * len];
    }
    let ones = S::u8s::block_splat(u8x16::from_slice(simd, &BITS));
    let out = &mut out[..R * len];
    for r in 0..R {
        let differing = |p: usize| S::u8s::from_slice(simd, &theirs[p][r * len..][..len]) ^ codes[p];
        let mut sum = S::u8s::splat(simd, 0);
        if counts_bits(simd) {
            for p in 0..P {
                sum += differing(p).count_ones();
            }
        } else if looks_up(simd) {
            let twos = ones + ones;
            let count = |table: S::u8s, bits: S::u8s| {
                table.swizzle_dyn_within_blocks(bits & 15) + table.swizzle_dyn_within_blocks(bits >> 4)
            };
            for p in (0..P - P % 3).step_by(3) {
                let (x, y, z) = (differing(p), differing(p + 1), differing(p + 2));
                sum += count(ones, x ^ y ^ z) + count(twos, x ^ ((x ^ y) & (x ^ z)));
            }
            for p in P - P % 3..P {
                sum += count(ones, differing(p));
            }
        } else {
            let mut halves = S::u8s::splat(simd, 0); // counts of half bytes, of up to three planes
            for p in 0..P {
                let bits = differing(p);
                let pairs = bits - ((bits >> 1) & 0x55);
                halves += (pairs & 0x33) + ((pairs >> 2) & 0x33);
                if p % 3 == 2 || p + 1 == P {
                    sum += (halves & 15) + (halves >> 4);
                    halves = S::u8s::splat(simd, 0);
                }
            }
        }
        L::store_costs::<S>(sum, &mut out[r * len..][..len]);
    }
}

/// Returns the distance of the planes of a right row, with room for the range and for the overhang of a register.
fn pitch(width: usize, range: Range) -> usize {
    width + range.stride + OVERHANG
}

#[derive(Clone, Copy)]
pub(super) enum Transform {
    Census(Shape),
    Rank { radius: usize },
}

impl Transform {
    fn planes(self) -> usize {
        match self {
            Self::Census(shape) => shape.bits().div_ceil(8),
            Self::Rank { .. } => 1,
        }
    }

    /// Returns the distances from the centre to the window's edges, px.
    fn radii(self) -> (usize, usize) {
        match self {
            Self::Census(shape) => (shape.width / 2, shape.height / 2),
            Self::Rank { radius } => (radius, radius),
        }
    }
}

fn left_rows<T: Pixel>(level: SimdLevel, image: &Image<T>, transform: Transform, out: &mut [u8]) {
    let padded = PaddedImage::new(image, transform.radii());
    let row_len = image.width() * transform.planes();
    out.par_chunks_mut(row_len).enumerate().for_each(|(y, out)| transform_row(level, &padded, transform, y, out));
}

fn right_rows<T: Pixel>(level: SimdLevel, image: &Image<T>, transform: Transform, range: Range, out: &mut [u8]) {
    let padded = PaddedImage::new(image, transform.radii());
    let (width, pitch) = (image.width(), pitch(image.width(), range));
    let scratch = || vec![0; width * transform.planes()];
    out.par_chunks_mut(pitch * transform.planes()).enumerate().for_each_init(scratch, |codes, (y, out)| {
        transform_row(level, &padded, transform, y, codes);
        for (plane, out) in codes.chunks_exact(width).zip(out.chunks_exact_mut(pitch)) {
            reverse(plane, range, out);
        }
    });
}

/// Reverses and extends a row as the file's head describes.
pub(super) fn reverse(row: &[u8], range: Range, reversed: &mut [u8]) {
    let width = row.len();
    // place j has column `last - j`; before and behind the image the ends are repeated
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

trait Pixel: Copy + PartialOrd + Default + Send + Sync {}
impl Pixel for u8 {}
impl Pixel for u16 {}

/// Pixels that are compared at a time: a constant, so that the compiler keeps all in registers.
const CHUNK: usize = 64;

/// Image with its border repeated, so that no comparison reads outside.
struct PaddedImage<T> {
    data: Vec<T>,
    pitch: usize,
    width: usize,
    rx: usize,
    ry: usize,
}

impl<T: Pixel> PaddedImage<T> {
    fn new(image: &Image<T>, (rx, ry): (usize, usize)) -> Self {
        let (width, height) = image.size();
        let pitch = width + 2 * rx;
        let rows = pitch * (height + 2 * ry);
        let mut data = vec![T::default(); rows + CHUNK];
        data[..rows].par_chunks_mut(pitch).enumerate().for_each(|(y, padded)| {
            let row = image.row(y.saturating_sub(ry).min(height - 1));
            padded[..rx].fill(row[0]);
            padded[rx..][..width].copy_from_slice(row);
            padded[rx + width..].fill(row[width - 1]);
        });
        Self { data, pitch, width, rx, ry }
    }

    /// Returns the pixels from column `x` of row `y` on, moved by `(dx, dy)`; their values behind the row's end are undefined.
    #[inline(always)]
    fn chunk(&self, x: usize, y: usize, dx: isize, dy: isize) -> &[T; CHUNK] {
        let y = (y + self.ry).wrapping_add_signed(dy);
        let at = y * self.pitch + x + self.rx.wrapping_add_signed(dx);
        self.data[at..].first_chunk().expect("the last row has room for a chunk")
    }

    #[inline(always)]
    fn row(&self, y: usize, dx: isize, dy: isize) -> &[T] {
        let y = (y + self.ry).wrapping_add_signed(dy);
        &self.data[y * self.pitch + self.rx.wrapping_add_signed(dx)..][..self.width]
    }
}

fn transform_row<T: Pixel>(level: SimdLevel, padded: &PaddedImage<T>, transform: Transform, y: usize, out: &mut [u8]) {
    match transform {
        Transform::Census(shape) => on_level!(level, _ => census_row(padded, y, shape.symmetric, out)),
        Transform::Rank { .. } => on_level!(level, _ => rank_row(padded, y, out)),
    }
}

/// Computes the bit strings of row `y`, eight bits to a plane, in the order of [`stereopsis_stereo::cost::census::transform`].
#[inline(always)]
fn census_row<T: Pixel>(padded: &PaddedImage<T>, y: usize, symmetric: bool, out: &mut [u8]) {
    let width = padded.width;
    for first in (0..width).step_by(CHUNK) {
        let pixels = CHUNK.min(width - first);
        let mut place = 0;
        for plane in out.chunks_exact_mut(width) {
            let mut bits = [0; CHUNK];
            for bit in 0..8 {
                let Some((dx, dy)) = comparison((padded.rx, padded.ry), symmetric, place) else { break };
                let neighbour = padded.chunk(first, y, dx, dy);
                // symmetric: neighbour > mirror, the same as mirror < neighbour
                let (low, high) = if symmetric {
                    (padded.chunk(first, y, -dx, -dy), neighbour)
                } else {
                    (neighbour, padded.chunk(first, y, 0, 0))
                };
                for x in 0..CHUNK {
                    bits[x] |= u8::from(low[x] < high[x]) << bit;
                }
                place += 1;
            }
            plane[first..first + pixels].copy_from_slice(&bits[..pixels]);
        }
    }
}

/// Returns the neighbour that a bit of a census string compares, counted from the window's upper left, without the centre.
/// Symmetric strings end before the centre.
#[inline(always)]
fn comparison((rx, ry): (usize, usize), symmetric: bool, place: usize) -> Option<(isize, isize)> {
    let (width, height) = (2 * rx + 1, 2 * ry + 1);
    let centre = width * height / 2;
    let place = if place < centre { place } else { place + 1 };
    let (rx, ry) = (rx as isize, ry as isize);
    let exists = place < if symmetric { centre } else { width * height };
    exists.then(|| ((place % width) as isize - rx, (place / width) as isize - ry))
}

#[inline(always)]
fn rank_row<T: Pixel>(padded: &PaddedImage<T>, y: usize, out: &mut [u8]) {
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
