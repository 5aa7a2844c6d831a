//! Remap of images by a fixed map: bilinear, in integers, equal for all channels and depths. Plain loops, which become vector instructions.

#![allow(
    clippy::inline_always,
    reason = "what is not inlined is not compiled for the vector instructions that are there"
)]

use fearless_simd::{Level, dispatch};
use glam::DVec2;
use stereopsis_base::image::{Image, Luma, Picture};

/// Denominator of the weights.
const ONE: i32 = 128;

/// Weight of a target pixel whose source lies outside.
const OUTSIDE: u8 = u8::MAX;
/// Number of pixels per step, few enough for the cache next to the processor.
const BLOCK: usize = 128;

type ChannelBlocks<const CHANNELS: usize> = [[u16; BLOCK]; CHANNELS];

/// Sources of all target pixels; both images are at least 2x2.
#[derive(Debug)]
pub(super) struct RemapTable {
    size: (usize, usize),
    /// Size of the source image.
    source_size: (usize, usize),
    blocks: Vec<Block>,
    /// Whether some target pixel has no source. Then only such pixels are black: others get at least brightness 1.
    has_border: bool,
}

/// Sources of successive target pixels; places after the last pixel have none.
#[derive(Clone, Debug)]
struct Block {
    /// Index of the upper left of the four source pixels.
    places: [u32; BLOCK],
    /// Weight of the right pixels, in 1/[`ONE`].
    rights: [u8; BLOCK],
    /// Weight of the lower pixels, in 1/[`ONE`]; [`OUTSIDE`] for no source.
    lowers: [u8; BLOCK],
}

/// Size per target pixel, bytes.
pub(super) const BYTES_PER_PIXEL: usize = size_of::<Block>() / BLOCK;

impl RemapTable {
    /// Computes a map from target pixel `(x, y)` to its source position `source(x, y)`, px, in images of one size.
    pub(super) fn new(width: usize, height: usize, source: impl Fn(usize, usize) -> DVec2) -> Self {
        Self::between((width, height), (width, height), source)
    }

    /// Computes a map from target pixel `(x, y)` to its position `source(x, y)`, px, in source images of another size.
    pub(super) fn between(
        (width, height): (usize, usize),
        source_size: (usize, usize),
        source: impl Fn(usize, usize) -> DVec2,
    ) -> Self {
        let none = Block { places: [0; BLOCK], rights: [0; BLOCK], lowers: [OUTSIDE; BLOCK] };
        let mut blocks = vec![none; (width * height).div_ceil(BLOCK)];
        let mut has_border = false;
        for at in 0..width * height {
            let position = source(at % width, at / width);
            if let Some((place, [right, lower])) = quantize(position, source_size) {
                let (block, at) = (&mut blocks[at / BLOCK], at % BLOCK);
                (block.places[at], block.rights[at], block.lowers[at]) = (place, right, lower);
            } else {
                has_border = true;
            }
        }
        Self { size: (width, height), source_size, blocks, has_border }
    }

    pub(super) fn size(&self) -> (usize, usize) {
        self.size
    }

    pub(super) fn source_size(&self) -> (usize, usize) {
        self.source_size
    }

    /// Returns the source position of a target pixel, to 1/128 px; `None` outside.
    pub(super) fn source(&self, x: usize, y: usize) -> Option<DVec2> {
        let at = y * self.size.0 + x;
        let (block, at) = (self.blocks.get(at / BLOCK)?, at % BLOCK);
        let place = block.places[at] as usize;
        let columns = self.source_size.0;
        let whole = DVec2::new((place % columns) as f64, (place / columns) as f64);
        let share = DVec2::new(block.rights[at].into(), block.lowers[at].into()) / f64::from(ONE);
        (block.lowers[at] != OUTSIDE).then_some(whole + share)
    }

    /// Returns the map of images whose target pixel `(x, y)` shows target position `place(x, y)` of this one, moved along x or y. Sources
    /// are interpolated, and continued beyond the last two.
    pub(super) fn seen_through(&self, place: impl Fn(usize, usize) -> DVec2) -> Self {
        let (width, height) = self.size;
        let last = DVec2::new(width as f64 - 2.0, height as f64 - 2.0);
        Self::between(self.size, self.source_size, |x, y| {
            let at = place(x, y);
            let first = at.floor().clamp(DVec2::ZERO, last);
            let share = at - first;
            let source = |dx: usize, dy: usize| self.source(first.x as usize + dx, first.y as usize + dy);
            let mean = |share: f64, one: Option<DVec2>, other: Option<DVec2>| Some(one?.lerp(other?, share));
            let seen = if share.x.fract() == 0.0 {
                let column = share.x as usize;
                mean(share.y, source(column, 0), source(column, 1))
            } else {
                mean(share.x, source(0, share.y as usize), source(1, share.y as usize))
            };
            seen.unwrap_or(DVec2::NAN)
        })
    }

    /// Remaps an image. It is black, brightness 0, exactly outside the source.
    pub(super) fn apply(&self, picture: &Picture) -> Picture {
        match (&picture.luma, &picture.rgb) {
            (Luma::U8(luma), Some(rgb)) => {
                let (luma, rgb) = self.with_colors(luma, rgb);
                Picture { luma: Luma::U8(luma), rgb: Some(rgb) }
            }
            (Luma::U8(luma), None) => {
                let (luma, mut moved) = (luma.pixels(), self.room());
                let unpack = |[pair]: [u32; 1]| [[pair & 0xff, pair >> 8]];
                let write = |[block]: &ChannelBlocks<1>| moved.extend(block.map(|v| v as u8));
                dispatch!(Level::new(), _ => self.remap(|at| [two(luma, at)], unpack, write));
                Luma::U8(self.image(moved)).into()
            }
            (Luma::U16 { image, bits }, rgb) => {
                let (luma, mut moved) = (image.pixels(), self.room());
                let read = |at: usize| [u32::from(luma[at]) | u32::from(luma[at + 1]) << 16];
                let unpack = |[pair]: [u32; 1]| [[pair & 0xffff, pair >> 16]];
                dispatch!(Level::new(), _ => self.remap(read, unpack, |[block]: &ChannelBlocks<1>| moved.extend(block)));
                let luma = Luma::U16 { image: self.image(moved), bits: *bits };
                Picture { luma, rgb: rgb.as_ref().map(|rgb| self.with_colors(&picture.luma.to_u8(), rgb).1) }
            }
        }
    }

    /// Remaps brightness and colours in one pass, which reads place and weights once for four channels.
    fn with_colors(&self, luma: &Image<u8>, rgb: &Image<[u8; 3]>) -> (Image<u8>, Image<[u8; 3]>) {
        let (luma, rgb) = (luma.pixels(), rgb.pixels().as_flattened());
        let (mut moved, mut colors) = (self.room(), self.room());
        let read = |at: usize| {
            let six = &rgb[3 * at..3 * at + 6];
            let [first, last] = [&six[..4], &six[2..]].map(|four| four.first_chunk().copied().unwrap_or_default());
            [two(luma, at), u32::from_le_bytes(first), u32::from_le_bytes(last)]
        };
        let unpack = |[pair, first, last]: [u32; 3]| {
            let (red, green) = ([first & 0xff, first >> 24], [first >> 8 & 0xff, last >> 16 & 0xff]);
            [[pair & 0xff, pair >> 8], red, green, [first >> 16 & 0xff, last >> 24]]
        };
        let write = |[luma, red, green, blue]: &ChannelBlocks<4>| {
            moved.extend(luma.map(|v| v as u8));
            colors.extend((0..BLOCK).map(|i| [red[i] as u8, green[i] as u8, blue[i] as u8]));
        };
        dispatch!(Level::new(), _ => self.remap(read, unpack, write));
        (self.image(moved), self.image(colors))
    }

    fn room<T>(&self) -> Vec<T> {
        Vec::with_capacity(self.blocks.len() * BLOCK)
    }

    /// Returns the image without the padding of its last block.
    fn image<T>(&self, mut pixels: Vec<T>) -> Image<T> {
        let (width, height) = self.size;
        pixels.truncate(width * height);
        Image::new(width, height, pixels)
    }

    /// Reads a pixel and its right neighbour, unpacks both values of each channel, brightness first, and writes the channels block by
    /// block.
    #[inline(always)]
    fn remap<const WORDS: usize, const CHANNELS: usize>(
        &self,
        read: impl Fn(usize) -> [u32; WORDS],
        unpack: impl Fn([u32; WORDS]) -> [[u32; 2]; CHANNELS],
        mut write: impl FnMut(&ChannelBlocks<CHANNELS>),
    ) {
        let width = self.source_size.0;
        let least = u32::from(self.has_border);
        let mut words = [[[0; BLOCK]; WORDS]; 2];
        let mut moved = [[0; BLOCK]; CHANNELS];
        for Block { places, rights, lowers } in &self.blocks {
            for i in 0..BLOCK {
                let at = places[i] as usize;
                let (upper, lower) = (read(at), read(at + width));
                for word in 0..WORDS {
                    (words[0][word][i], words[1][word][i]) = (upper[word], lower[word]);
                }
            }
            for i in 0..BLOCK {
                let mut rows = [[0; WORDS]; 2];
                for word in 0..WORDS {
                    (rows[0][word], rows[1][word]) = (words[0][word][i], words[1][word][i]);
                }
                let (upper, lower) = (unpack(rows[0]), unpack(rows[1]));
                let is_outside = lowers[i] == OUTSIDE;
                for channel in 0..CHANNELS {
                    let mean = mean([upper[channel], lower[channel]], rights[i].into(), lowers[i].into());
                    let seen = if channel == 0 { mean.max(least) } else { mean };
                    moved[channel][i] = if is_outside { 0 } else { seen as u16 };
                }
            }
            write(&moved);
        }
    }
}

/// Map of the raw right image for rectification and correction of rows in one step, so that pixels are interpolated once.
#[derive(Debug)]
pub struct RowRemap {
    pub(super) table: RemapTable,
}

impl RowRemap {
    /// Returns `(width, height)` of the images.
    pub fn size(&self) -> (usize, usize) {
        self.table.size()
    }

    /// Corrects an image, a raw one if the map was made with a rectifier.
    pub fn apply(&self, right: &Picture) -> Picture {
        self.table.apply(right)
    }
}

/// Returns a pixel and its right neighbour, in the upper bits.
#[inline(always)]
fn two(pixels: &[u8], at: usize) -> u32 {
    let pair = &pixels[at..at + 2];
    u16::from_le_bytes([pair[0], pair[1]]).into()
}

/// Returns the index of the upper left source pixel, and the weights of the right and the lower ones; `None` outside.
fn quantize(position: DVec2, (width, height): (usize, usize)) -> Option<(u32, [u8; 2])> {
    let last = DVec2::new(width as f64 - 1.0, height as f64 - 1.0);
    // a pixel extends half a step beyond its centre; NaN is outside too
    let inside = position.cmpge(DVec2::splat(-0.5)).all() && position.cmple(last + 0.5).all();
    if !inside {
        return None;
    }
    let split = |at: f64, last: f64| {
        let steps = (at.clamp(0.0, last) * f64::from(ONE)).round() as i32;
        let whole = (steps / ONE).min(last as i32 - 1);
        (whole as u32, (steps - whole * ONE) as u8)
    };
    let (x, right) = split(position.x, last.x);
    let (y, lower) = split(position.y, last.y);
    Some((y * width as u32 + x, [right, lower]))
}

/// Interpolates four pixels by the weights of the right and of the lower ones in 1/[`ONE`]: along x, then along y. The result is exact
/// until it is rounded, in 31 bits for pixels of 16 bits.
#[inline(always)]
fn mean(pixels: [[u32; 2]; 2], right: i32, lower: i32) -> u32 {
    let [[upper_left, upper_right], [lower_left, lower_right]] = pixels.map(|row| row.map(u32::cast_signed));
    let above = upper_left * ONE + (upper_right - upper_left) * right;
    let below = lower_left * ONE + (lower_right - lower_left) * right;
    let sum = above * ONE + (below - above) * lower + ONE * ONE / 2; // never negative
    sum.cast_unsigned() / (ONE * ONE).cast_unsigned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shifted(dx: f64, dy: f64, image: &Image<u16>) -> Vec<u16> {
        let table = RemapTable::new(image.width(), image.height(), |x, y| DVec2::new(x as f64 + dx, y as f64 + dy));
        let Luma::U16 { image, .. } = table.apply(&Luma::U16 { image: image.clone(), bits: 16 }.into()).luma else {
            panic!()
        };
        image.into_pixels()
    }

    #[test]
    fn standing_still_changes_nothing_to_the_last_pixel() {
        let image = Image::from_fn(5, 4, |x, y| (65_535 - x * 1000 - y * 77) as u16);
        assert_eq!(shifted(0.0, 0.0, &image), image.pixels());
    }

    #[test]
    fn quarter_pixels_are_weighted_and_outside_is_black() {
        let image = Image::new(3, 2, vec![0, 100, 200, 40, 140, 240]);
        assert_eq!(shifted(0.25, 0.5, &image), [45, 145, 220, 65, 165, 240].map(|v| v as u16));
        assert_eq!(shifted(1.0, 0.0, &image), [100, 200, 0, 140, 240, 0]);
        assert_eq!(shifted(f64::NAN, 0.0, &image), [0; 6]);
    }

    #[test]
    fn only_outside_pixels_are_black() {
        let dark = Image::filled(4, 2, 0);
        assert_eq!(shifted(2.0, 0.0, &dark), [1, 1, 0, 0, 1, 1, 0, 0]);
        assert_eq!(shifted(0.0, 0.0, &dark), [0; 8], "where nothing is outside images stay as they are");
    }

    #[test]
    fn every_channel_and_depth_moves_alike() {
        let table = RemapTable::new(2, 2, |_, _| DVec2::new(0.5, 0.5));
        let rgb = Image::new(2, 2, vec![[0, 10, 255], [10, 20, 255], [20, 30, 255], [30, 40, 255]]);
        let luma = Image::new(2, 2, vec![0, 10, 20, 30]);
        let deep = Luma::U16 { image: luma.map(|&v| u16::from(v) * 100), bits: 12 };
        let moved = [Luma::U8(luma), deep].map(|luma| table.apply(&Picture { luma, rgb: Some(rgb.clone()) }));
        assert_eq!(moved[0].luma, Luma::U8(Image::filled(2, 2, 15)));
        assert_eq!(moved[1].luma, Luma::U16 { image: Image::filled(2, 2, 1500), bits: 12 });
        assert!(moved.iter().all(|picture| picture.rgb == Some(Image::filled(2, 2, [15, 25, 255]))));
    }
}
