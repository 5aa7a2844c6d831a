//! Gates and smaller images on the CPU, after [`stereopsis_stereo::gating`], rows in parallel. Loops have no branch, so that they
//! become vector instructions; the bits are those of the reference.
//!
//! Extremes are found along rows, and of these along columns.
//!
//! Percentiles come from cumulative histograms, one for each column of the window's rows: entry `b` counts the disparities in
//! bins up to `b`. The sum of the histograms over the window's columns is the window's own; it moves on by one column in and one
//! column out. The disparity at position `n` of the sorted window is then the number of entries that are at most `n`.

use super::simd::{SimdLevel, on_level};
use rayon::prelude::*;
use std::ops::RangeInclusive;
use stereopsis_base::image::{Image, Luma};
use stereopsis_stereo::GateBounds;
use stereopsis_stereo::gating::{Gate, Gates, percentile_skip};
use stereopsis_stereo::map::{INVALID, SUBPIXEL_STEPS};

/// Distance from the centre of the window of [`GateBounds::Percentiles`] to its edge, px.
const RADIUS: usize = GateBounds::Percentiles.radius();
const BLOCK: usize = 32;

const COLUMNS: usize = 2 * RADIUS + 1;
/// Empty columns before the map. With those behind it no window meets a border, nor does the one before the first pixel.
const BEFORE: usize = RADIUS + 1;

/// Smallest number of rows for a thread, because it has to count a window's rows before its first one.
const MIN_STRIP: usize = 16;

/// Computes the gates of images of `size` for a search over `disparities`, from the coarser level's map: whole pixels.
pub(super) fn bounds_from(
    level: SimdLevel,
    map: &Image<i16>,
    size: (usize, usize),
    bounds: GateBounds,
    disparities: &RangeInclusive<i32>,
) -> Gates {
    match bounds {
        GateBounds::Percentiles => percentile_gates(level, map, size, disparities),
        GateBounds::Extremes => extreme_gates(level, map, size, disparities),
    }
}

fn extreme_gates(
    level: SimdLevel,
    map: &Image<i16>,
    (width, height): (usize, usize),
    disparities: &RangeInclusive<i32>,
) -> Gates {
    const BOUNDS: GateBounds = GateBounds::Extremes;
    const RADIUS: usize = BOUNDS.radius();
    let (coarse_width, coarse_height) = map.size();
    let whole = Gate::whole(disparities.clone().count());
    // smallest and largest disparity around each pixel within its row; INVALID, the smallest number, where there is none
    let [mut lows, mut highs] = [(); 2].map(|()| Image::filled(coarse_width, coarse_height, 0_i16));
    let rows = lows.pixels_mut().par_chunks_mut(coarse_width).zip(highs.pixels_mut().par_chunks_mut(coarse_width));
    let padded = || [(); 2].map(|()| vec![0; coarse_width + 2 * RADIUS]);
    rows.enumerate().with_min_len(MIN_STRIP).for_each_init(padded, |[low, high], (y, (lows, highs))| {
        low.fill(i16::MAX);
        high.fill(INVALID);
        for ((low, high), &value) in low[RADIUS..].iter_mut().zip(&mut high[RADIUS..]).zip(map.row(y)) {
            (*low, *high) = (if value == INVALID { i16::MAX } else { value }, value);
        }
        let windows = (0..=2 * RADIUS).map(|first| (&low[first..], &high[first..]));
        on_level!(level, _ => extremes(windows, lows, highs));
    });
    let mut gates = Image::filled(width, height, whole);
    let found = || [(); 2].map(|()| vec![0; coarse_width]);
    let pairs = gates.pixels_mut().par_chunks_mut(2 * width).enumerate().with_min_len(MIN_STRIP);
    pairs.for_each_init(found, |[low, high], (y, pair)| {
        let rows = (y.saturating_sub(RADIUS)..(y + RADIUS + 1).min(coarse_height)).map(|y| (lows.row(y), highs.row(y)));
        on_level!(level, _ => extremes(rows, low, high));
        let found = low.iter().zip(&*high).map(|(&low, &high)| {
            let px = |value: i16| i32::from(value) / SUBPIXEL_STEPS;
            (high != INVALID).then(|| BOUNDS.gate(px(low), px(high), disparities))
        });
        set_gates(pair, width, found);
    });
    gates
}

/// Computes the smallest of low rows and the largest of high ones in each column.
#[inline(always)]
fn extremes<'a>(rows: impl Iterator<Item = (&'a [i16], &'a [i16])>, low: &mut [i16], high: &mut [i16]) {
    low.fill(i16::MAX);
    high.fill(INVALID);
    for (lows, highs) in rows {
        for (low, &other) in low.iter_mut().zip(lows) {
            *low = other.min(*low);
        }
        for (high, &other) in high.iter_mut().zip(highs) {
            *high = other.max(*high);
        }
    }
}

/// Sets the gates of two rows, or of the last one, from the gates of a row of coarser pixels. `None` leaves the whole range.
fn set_gates(rows: &mut [Gate], width: usize, found: impl Iterator<Item = Option<Gate>>) {
    let (even, odd) = rows.split_at_mut(width);
    for (pixels, found) in even.chunks_mut(2).zip(found) {
        if let Some(gate) = found {
            pixels.fill(gate);
        }
    }
    odd.copy_from_slice(&even[..odd.len()]);
}

fn percentile_gates(
    level: SimdLevel,
    map: &Image<i16>,
    (width, height): (usize, usize),
    disparities: &RangeInclusive<i32>,
) -> Gates {
    let mut gates = Image::filled(width, height, Gate::whole(disparities.clone().count()));
    let Some(bins) = Bins::of(map) else { return gates };
    let (coarse_width, coarse_height) = map.size();
    let strip = coarse_height.div_ceil(rayon::current_num_threads()).max(MIN_STRIP);
    let scratch = || (ColumnHistograms::new(coarse_width, &bins), vec![0; bins.stride], vec![None; coarse_width]);
    let strips = gates.pixels_mut().par_chunks_mut(2 * strip * width).enumerate();
    strips.for_each_init(scratch, |(columns, window, found), (n, gates)| {
        let first = n * strip;
        columns.start(&bins, first);
        for (y, rows) in (first..).zip(gates.chunks_mut(2 * width)) {
            if y > first {
                columns.step_down_to(level, &bins, y);
            }
            on_level!(level, _ => percentiles(&columns.counts, window, found));
            let px = |bin: u16| bins.min + i32::from(bin);
            let gate = |(low, high)| GateBounds::Percentiles.gate(px(low), px(high), disparities);
            set_gates(rows, width, found.iter().map(|found| found.map(gate)));
        }
    });
    gates
}

struct Bins {
    /// Disparity of bin 0, the smallest one of the map, px.
    min: i32,
    /// Number of bins of a histogram, in whole blocks; only the map's own disparities need one.
    stride: usize,
    /// Bin of each pixel; `stride` for a pixel without a disparity.
    map: Image<u16>,
    empty: Vec<u16>,
    /// `stride` zeros, then `stride` ones: the part from `stride - b` on is the increment of a histogram by a disparity of bin `b`.
    steps: Vec<u8>,
}

impl Bins {
    /// Computes the bins; `None` for a map without disparities.
    fn of(map: &Image<i16>) -> Option<Self> {
        // INVALID is the smallest number there is
        let (mut min, mut max) = (i16::MAX, INVALID);
        for &value in map.pixels() {
            min = min.min(if value == INVALID { i16::MAX } else { value });
            max = max.max(value);
        }
        if max == INVALID {
            return None;
        }
        let px = |value: i16| i32::from(value) / SUBPIXEL_STEPS;
        let (min, max) = (px(min), px(max));
        let stride = ((max - min + 1) as usize).next_multiple_of(BLOCK);
        let bin = |&value: &i16| if value == INVALID { stride as u16 } else { (px(value) - min) as u16 };
        let steps = (0..2 * stride).map(|i| u8::from(i >= stride)).collect();
        Some(Self { min, stride, map: map.map(bin), empty: vec![stride as u16; map.width()], steps })
    }

    /// Returns row `y`, or an empty row outside the map.
    fn row(&self, y: Option<usize>) -> &[u16] {
        y.filter(|&y| y < self.map.height()).map_or(&self.empty, |y| self.map.row(y))
    }
}

/// Cumulative histograms of the columns of a window's rows, one after the other, with empty ones before and behind.
struct ColumnHistograms {
    counts: Vec<u8>,
}

impl ColumnHistograms {
    fn new(width: usize, bins: &Bins) -> Self {
        Self { counts: vec![0; (BEFORE + width + RADIUS) * bins.stride] }
    }

    fn start(&mut self, bins: &Bins, y: usize) {
        self.counts.fill(0);
        let columns = &mut self.counts[BEFORE * bins.stride..];
        for y in y.saturating_sub(RADIUS)..(y + RADIUS + 1).min(bins.map.height()) {
            for (column, &bin) in columns.chunks_exact_mut(bins.stride).zip(bins.map.row(y)) {
                if let Some(count) = column.get_mut(usize::from(bin)) {
                    *count += 1;
                }
            }
        }
        for column in columns.chunks_exact_mut(bins.stride) {
            let mut sum = 0;
            for count in column {
                sum += *count;
                *count = sum;
            }
        }
    }

    /// Moves from the rows around row `y - 1` to those around row `y`.
    fn step_down_to(&mut self, level: SimdLevel, bins: &Bins, y: usize) {
        let (leaves, enters) = (bins.row(y.checked_sub(RADIUS + 1)), bins.row(Some(y + RADIUS)));
        let columns = &mut self.counts[BEFORE * bins.stride..];
        on_level!(level, _ => step_columns(columns, &bins.steps, leaves, enters));
    }
}

/// Removes the bins of one row from the columns' histograms and adds those of another.
#[inline(always)]
fn step_columns(columns: &mut [u8], steps: &[u8], leaves: &[u16], enters: &[u16]) {
    let stride = steps.len() / 2;
    for ((column, &leaves), &enters) in columns.chunks_exact_mut(stride).zip(leaves).zip(enters) {
        let leaves = steps[stride - usize::from(leaves)..][..stride].as_chunks::<BLOCK>().0;
        let enters = steps[stride - usize::from(enters)..][..stride].as_chunks::<BLOCK>().0;
        for (counts, (leaves, enters)) in column.as_chunks_mut::<BLOCK>().0.iter_mut().zip(leaves.iter().zip(enters)) {
            for i in 0..BLOCK {
                counts[i] = counts[i] - leaves[i] + enters[i];
            }
        }
    }
}

/// Computes the bins of the lower and the upper percentile for each pixel of a row; `None` where the window is empty.
#[inline(always)]
fn percentiles(columns: &[u8], window: &mut [u16], found: &mut [Option<(u16, u16)>]) {
    let stride = window.len();
    // the window one pixel before the first one
    window.fill(0);
    for column in columns.chunks_exact(stride).take(COLUMNS) {
        for (sums, counts) in window.as_chunks_mut::<BLOCK>().0.iter_mut().zip(column.as_chunks::<BLOCK>().0) {
            for i in 0..BLOCK {
                sums[i] += u16::from(counts[i]);
            }
        }
    }
    let mut all = window[stride - 1];
    let pairs = columns.chunks_exact(stride).zip(columns[COLUMNS * stride..].chunks_exact(stride));
    for (found, (leaves, enters)) in found.iter_mut().zip(pairs) {
        all = all + u16::from(enters[stride - 1]) - u16::from(leaves[stride - 1]);
        let skip = percentile_skip(usize::from(all)) as u16;
        let last = all.wrapping_sub(1 + skip);
        let (mut low, mut high) = ([0_u16; BLOCK], [0_u16; BLOCK]);
        let (leaves, enters) = (leaves.as_chunks::<BLOCK>().0, enters.as_chunks::<BLOCK>().0);
        for (sums, (leaves, enters)) in window.as_chunks_mut::<BLOCK>().0.iter_mut().zip(leaves.iter().zip(enters)) {
            for i in 0..BLOCK {
                let sum = sums[i] + u16::from(enters[i]) - u16::from(leaves[i]);
                sums[i] = sum;
                low[i] += u16::from(sum <= skip);
                high[i] += u16::from(sum <= last);
            }
        }
        let (mut low_bin, mut high_bin) = (0, 0);
        for i in 0..BLOCK {
            low_bin += low[i];
            high_bin += high[i];
        }
        *found = if all > 0 { Some((low_bin, high_bin)) } else { None };
    }
}

/// Halves an image as [`stereopsis_stereo::pyramid::halve`] specifies.
pub(super) fn halve(level: SimdLevel, luma: &Luma) -> Luma {
    match luma {
        Luma::U8(image) => Luma::U8(halve_image(level, image)),
        Luma::U16 { image, bits } => Luma::U16 { image: halve_image(level, image), bits: *bits },
    }
}

trait Sample: Copy + Default + Into<u32> + Send + Sync {
    fn narrow(value: u32) -> Self;
}

impl Sample for u8 {
    fn narrow(value: u32) -> Self {
        value as Self
    }
}

impl Sample for u16 {
    fn narrow(value: u32) -> Self {
        value as Self
    }
}

fn halve_image<T: Sample>(level: SimdLevel, image: &Image<T>) -> Image<T> {
    let (width, height) = image.size();
    let mut half = Image::filled(width.div_ceil(2), height.div_ceil(2), T::default());
    half.pixels_mut().par_chunks_mut(width.div_ceil(2)).with_min_len(MIN_STRIP).enumerate().for_each(|(y, out)| {
        let (above, below) = (image.row(2 * y), image.row((2 * y + 1).min(height - 1)));
        on_level!(level, _ => halve_rows(above, below, out));
        if let (1, Some(last)) = (width % 2, out.last_mut()) {
            *last = mean([above[width - 1], above[width - 1], below[width - 1], below[width - 1]]);
        }
    });
    half
}

/// Computes the means of whole squares; the last pixel of an odd row is left out.
#[inline(always)]
fn halve_rows<T: Sample>(above: &[T], below: &[T], out: &mut [T]) {
    let squares = above.as_chunks::<2>().0.iter().zip(below.as_chunks::<2>().0);
    for (out, (above, below)) in out.iter_mut().zip(squares) {
        *out = mean([above[0], above[1], below[0], below[1]]);
    }
}

#[inline(always)]
fn mean<T: Sample>(square: [T; 4]) -> T {
    let mut sum: u32 = 2;
    for value in square {
        sum += value.into();
    }
    T::narrow(sum >> 2)
}

#[cfg(test)]
mod tests {
    use super::*;
    use fastrand::Rng;
    use stereopsis_stereo::{DisparityMap, StereoParams, gating, pyramid};

    /// Returns a map with disparities of `range`: everywhere, in places or nowhere; any values, or two different ones.
    fn random_map(rng: &mut Rng, (width, height): (usize, usize), (min, max): (i32, i32)) -> DisparityMap {
        let valid = *rng.choice(&[0, 1, 40, 90, 100]).unwrap();
        let few = rng.bool();
        let some = [rng.i32(min..=max), rng.i32(min..=max)];
        let values = Image::from_fn(width, height, |x, _| {
            let px = if few { some[usize::from(x > width / 2 || rng.u8(..9) == 0)] } else { rng.i32(min..=max) };
            if rng.u8(0..100) < valid { (SUBPIXEL_STEPS * px) as i16 } else { INVALID }
        });
        DisparityMap { values, reasons: Image::filled(width, height, 0), confidence: None }
    }

    #[test]
    fn gates_match_the_reference() {
        let rng = &mut Rng::with_seed(21);
        let pools = [1, 3].map(|n| rayon::ThreadPoolBuilder::new().num_threads(n).build().unwrap());
        for round in 0..60 {
            let side = |rng: &mut Rng| [1, 2, 3, rng.usize(4..50), 51, 52, rng.usize(53..260)][rng.usize(..7)];
            let size = (side(rng), side(rng));
            let num_disparities = [1, 2, 63, 64, 65, rng.u32(1..=1024)][rng.usize(..6)];
            let min_disparity = rng.i32(-300..300);
            let gate_bounds = GateBounds::ALL[round % GateBounds::ALL.len()];
            let params = StereoParams { min_disparity, num_disparities, gate_bounds, ..StereoParams::default() };
            let range = pyramid::coarse_range(&params);
            let map = random_map(rng, (size.0.div_ceil(2), size.1.div_ceil(2)), range);
            let disparities = params.disparities();
            let expected = gating::bounds_from(&map, size, gate_bounds, &disparities);
            for pool in &pools {
                let got = pool.install(|| bounds_from(SimdLevel::best(), &map.values, size, gate_bounds, &disparities));
                let differs = (0..size.0 * size.1).find(|&n| got.pixels()[n] != expected.pixels()[n]);
                let place = differs.map(|n| (n % size.0, n / size.0, got.pixels()[n], expected.pixels()[n]));
                assert_eq!(place, None, "round {round}: {size:?}, {num_disparities} from {min_disparity} px");
            }
        }
    }

    #[test]
    fn halves_match_the_reference() {
        let rng = &mut Rng::with_seed(22);
        for size in [(1, 1), (1, 2), (2, 1), (2, 2), (3, 5), (64, 33), (129, 70)] {
            let eight = Luma::U8(Image::from_fn(size.0, size.1, |_, _| rng.u8(..)));
            let image = Image::from_fn(size.0, size.1, |_, _| rng.u16(..));
            for luma in [eight, Luma::U16 { image, bits: 16 }] {
                assert_eq!(halve(SimdLevel::best(), &luma), pyramid::halve(&luma), "{size:?}, {} bits", luma.bits());
            }
        }
    }
}
