//! Remaps pixels by a fixed map: bilinear, in integers, equal for all pixel types.

use crate::image::Image;
use glam::DVec2;

/// Denominator of the weights.
const ONE: i32 = 128;

/// Source of one target pixel.
#[derive(Clone, Copy, Debug)]
struct Source {
    /// Index of the upper left of the four source pixels; [`OUTSIDE`] for none.
    index: u32,
    /// Weight of the right pixels, in 1/[`ONE`].
    right: u16,
    /// Weight of the lower pixels, in 1/[`ONE`].
    lower: u16,
}

const OUTSIDE: u32 = u32::MAX;

/// Sources of all target pixels; both pictures have the same size, at least 2x2.
#[derive(Debug)]
pub(super) struct RemapTable {
    size: (usize, usize),
    sources: Vec<Source>,
    /// Whether a target pixel has no source: others are not black then, so that a border ends where the picture begins.
    has_border: bool,
}

/// Bytes of each target pixel.
pub(super) const BYTES_PER_PIXEL: usize = size_of::<Source>();

impl RemapTable {
    /// A map from target pixel `(x, y)` to its source position `source(x, y)`, px.
    pub(super) fn new(width: usize, height: usize, source: impl Fn(usize, usize) -> DVec2) -> Self {
        let mut sources = Vec::with_capacity(width * height);
        for y in 0..height {
            sources.extend((0..width).map(|x| quantize(source(x, y), width, height)));
        }
        let has_border = sources.iter().any(|source| source.index == OUTSIDE);
        Self { size: (width, height), sources, has_border }
    }

    pub(super) fn size(&self) -> (usize, usize) {
        self.size
    }

    /// Source position of a target pixel, to 1/128 px; `None` outside.
    pub(super) fn source(&self, x: usize, y: usize) -> Option<DVec2> {
        let Source { index, right, lower } = *self.sources.get(y * self.size.0 + x)?;
        let whole = DVec2::new((index as usize % self.size.0) as f64, (index as usize / self.size.0) as f64);
        (index != OUTSIDE).then(|| whole + DVec2::new(right.into(), lower.into()) / f64::from(ONE))
    }

    /// The map of pictures whose target pixel `(x, y)` shows what target position `place(x, y)` of this one shows, which is moved along
    /// x or along y: sources in between are interpolated, and beyond the last two continued.
    pub(super) fn seen_through(&self, place: impl Fn(usize, usize) -> DVec2) -> Self {
        let (width, height) = self.size;
        let last = DVec2::new(width as f64 - 2.0, height as f64 - 2.0);
        Self::new(width, height, |x, y| {
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

    /// The remapped picture; black outside the source, where brightness is 0 and nowhere else.
    pub(super) fn apply<T: Pixel>(&self, image: &Image<T>) -> Image<T> {
        let width = self.size.0;
        let pixels = image.pixels();
        let moved = self.sources.iter().map(|source| {
            if source.index == OUTSIDE {
                return T::default();
            }
            let index = source.index as usize;
            // two slices, so that bounds are checked twice and not four times
            let (upper, lower) = (&pixels[index..index + 2], &pixels[index + width..index + width + 2]);
            let mixed = T::mix([upper[0], upper[1], lower[0], lower[1]], [source.right, source.lower].map(i32::from));
            if self.has_border { mixed.seen() } else { mixed }
        });
        Image::new(width, self.size.1, moved.collect())
    }
}

fn quantize(position: DVec2, width: usize, height: usize) -> Source {
    let last = DVec2::new(width as f64 - 1.0, height as f64 - 1.0);
    // a pixel extends half a step beyond its centre; NaN is outside too
    let inside = position.cmpge(DVec2::splat(-0.5)).all() && position.cmple(last + 0.5).all();
    if !inside {
        return Source { index: OUTSIDE, right: 0, lower: 0 };
    }
    let split = |at: f64, last: f64| {
        let steps = (at.clamp(0.0, last) * f64::from(ONE)).round() as i32;
        let whole = (steps / ONE).min(last as i32 - 1);
        (whole as u32, (steps - whole * ONE) as u16)
    };
    let (x, right) = split(position.x, last.x);
    let (y, lower) = split(position.y, last.y);
    Source { index: y * width as u32 + x, right, lower }
}

/// A pixel type that can be interpolated.
pub(super) trait Pixel: Copy + Default {
    /// Mean of the upper left, upper right, lower left and lower right pixel, weighted by the shares of the right and of the lower
    /// ones in 1/[`ONE`], and rounded.
    fn mix(pixels: [Self; 4], shares: [i32; 2]) -> Self;

    /// The least brightness that is not black, if it was less; colours as they are.
    fn seen(self) -> Self {
        self
    }
}

/// Along x, then along y; exact until it is rounded, in 31 bits for pixels of 16 bits.
fn mean([upper_left, upper_right, lower_left, lower_right]: [i32; 4], [right, lower]: [i32; 2]) -> u32 {
    let above = upper_left * ONE + (upper_right - upper_left) * right;
    let below = lower_left * ONE + (lower_right - lower_left) * right;
    let sum = above * ONE + (below - above) * lower + ONE * ONE / 2; // never negative
    sum.cast_unsigned() / (ONE * ONE).cast_unsigned()
}

impl Pixel for u8 {
    fn mix(pixels: [Self; 4], shares: [i32; 2]) -> Self {
        mean(pixels.map(i32::from), shares) as u8
    }

    fn seen(self) -> Self {
        self.max(1)
    }
}

impl Pixel for u16 {
    fn mix(pixels: [Self; 4], shares: [i32; 2]) -> Self {
        mean(pixels.map(i32::from), shares) as u16
    }

    fn seen(self) -> Self {
        self.max(1)
    }
}

impl Pixel for [u8; 3] {
    fn mix(pixels: [Self; 4], shares: [i32; 2]) -> Self {
        std::array::from_fn(|channel| mean(pixels.map(|pixel| pixel[channel].into()), shares) as u8)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shifted(dx: f64, dy: f64, image: &Image<u16>) -> Vec<u16> {
        let table = RemapTable::new(image.width(), image.height(), |x, y| DVec2::new(x as f64 + dx, y as f64 + dy));
        table.apply(image).into_pixels()
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
    fn only_what_lies_outside_has_no_brightness() {
        let dark = Image::filled(4, 2, 0);
        assert_eq!(shifted(2.0, 0.0, &dark), [1, 1, 0, 0, 1, 1, 0, 0]);
        assert_eq!(shifted(0.0, 0.0, &dark), [0; 8], "where nothing is outside pictures stay as they are");
    }

    #[test]
    fn every_channel_and_depth_moves_alike() {
        let table = RemapTable::new(2, 2, |_, _| DVec2::new(0.5, 0.5));
        let rgb = Image::new(2, 2, vec![[0, 10, 255], [10, 20, 255], [20, 30, 255], [30, 40, 255]]);
        assert_eq!(table.apply(&rgb).pixels(), [[15, 25, 255]; 4]);
        assert_eq!(table.apply(&Image::new(2, 2, vec![0u8, 10, 20, 30])).pixels(), [15; 4]);
    }
}
