//! Focal length in the Exif data of an image file: a TIFF of tags, in JPEG, PNG and WebP, and in a TIFF itself.
//!
//! `FocalLengthIn35mmFilm` is the focal length that has the same diagonal field of view on film of 36 x 24 mm (CIPA DCG-001-2018, 3.3; Exif
//! 2.32, tag 41989). `FocalLength` with `FocalPlaneXResolution` gives the same by the pitch of the pixels. Both are of the image as it was
//! taken, whose size Exif keeps (`PixelXDimension`, `PixelYDimension`), so that smaller copies and crops are told apart.

use super::{HEADER_BYTES, format_of, jpeg, limits};
use image::{ImageDecoder as _, ImageFormat, ImageReader};
use std::io::{Cursor, Read as _};
use std::path::Path;
use stereopsis_base::files::plain;

/// Diagonal of film of 36 x 24 mm, mm.
const FILM_DIAGONAL_MM: f64 = 43.267;
/// Largest ratio of both focal lengths with which the exact one is taken; a resolution is often that of another image.
const MAX_RATIO: f64 = 1.1;
/// Focal lengths that are plausible, in widths of the longer side.
const PLAUSIBLE: std::ops::Range<f64> = 0.15..100.0;
/// Largest difference of the shapes of an image and a smaller copy.
const SAME_SHAPE: f64 = 0.01;

/// Lens by the Exif data of an image.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct ExifLens {
    /// Focal length, px of the image as it is in the file.
    pub(crate) focal_px: f64,
    /// What the file says, such as "28 mm of 35 mm film".
    pub(crate) words: String,
}

/// Numbers of the tags.
#[derive(Clone, Copy, Debug, Default)]
struct Tags {
    film_mm: Option<f64>,
    focal_mm: Option<f64>,
    /// Pixels along a row for each mm of the sensor.
    pitch_per_mm: Option<f64>,
    taken: Option<[f64; 2]>,
}

impl ExifLens {
    /// Reads the lens of an image file whose image has this size, px; `None` where the file says nothing plausible.
    pub(crate) fn of_file(path: &Path, size: (usize, usize)) -> Option<Self> {
        let mut bytes = Vec::new();
        plain::open(path).ok()?.take(HEADER_BYTES).read_to_end(&mut bytes).ok()?;
        let data = match format_of(&bytes).ok()? {
            ImageFormat::Jpeg => jpeg::exif(&bytes)?,
            ImageFormat::Tiff => bytes,
            format @ (ImageFormat::Png | ImageFormat::WebP) => {
                let mut reader = ImageReader::with_format(Cursor::new(bytes), format);
                reader.limits(limits(0));
                reader.into_decoder().ok()?.exif_metadata().ok()??
            }
            _ => return None,
        };
        Self::of_tags(&Tags::read(&data)?, size)
    }

    fn of_tags(tags: &Tags, (width, height): (usize, usize)) -> Option<Self> {
        let [long, short] = sorted([width as f64, height as f64]);
        // a view of an image of both is no crop of a wide one
        let is_view = |taken: &[f64; 2]| {
            let taken = taken.map(|side| side as usize);
            taken == [2 * width, height] || taken == [width, 2 * height]
        };
        let [taken_long, taken_short] = tags.taken.filter(|taken| !is_view(taken)).map_or([long, short], sorted);
        let is_same_shape = ((long * taken_short) / (short * taken_long) - 1.0).abs() < SAME_SHAPE;
        let (factor, cropped) = match () {
            () if is_same_shape => (long / taken_long, ""),
            () if long <= taken_long && short <= taken_short => (1.0, ", in a crop of the image that was taken"),
            () => return None, // of another image
        };
        let of_film = tags.film_mm.map(|mm| factor * mm / FILM_DIAGONAL_MM * taken_long.hypot(taken_short));
        let of_pitch = tags.focal_mm.zip(tags.pitch_per_mm).map(|(mm, pitch)| factor * mm * pitch);
        let agree = |a: f64, b: f64| (a / b).max(b / a) < MAX_RATIO;
        let exact = of_pitch.filter(|px| of_film.is_none_or(|of_film| agree(*px, of_film)));
        let focal_px = exact.or(of_film).filter(|px| PLAUSIBLE.contains(&(px / long)))?;
        let words = match (exact, tags.film_mm, tags.focal_mm) {
            (None, Some(mm), _) | (_, Some(mm), None) => format!("{mm} mm of 35 mm film"),
            (_, _, mm) => format!("{} mm, {focal_px:.0} px", mm.unwrap_or_default()),
        };
        Some(Self { focal_px, words: words + cropped })
    }
}

fn sorted([a, b]: [f64; 2]) -> [f64; 2] {
    [a.max(b), a.min(b)]
}

impl Tags {
    /// Reads the tags of Exif data, which begins with a TIFF header; `None` for other bytes.
    fn read(data: &[u8]) -> Option<Self> {
        const EXIF: u16 = 0x8769;
        let tiff = Tiff { data, is_big_endian: data.starts_with(b"MM\0*") };
        if !tiff.is_big_endian && !data.starts_with(b"II*\0") {
            return None;
        }
        let first = tiff.number(4, 4)? as usize;
        let exif = tiff.values(first).find(|(tag, _)| *tag == EXIF)?.1 as usize;
        let mut tags = Self::default();
        let (mut width, mut height, mut resolution, mut unit_mm) = (None, None, None, 25.4);
        for (tag, value) in tiff.values(exif) {
            let above_0 = Some(value).filter(|value| *value > 0.0);
            match tag {
                0x920A => tags.focal_mm = above_0,
                0xA002 => width = above_0,
                0xA003 => height = above_0,
                0xA20E => resolution = above_0,
                // 2 is an inch, 3 a centimetre; 4 and 5 are common, though not in Exif: mm and um
                0xA210 => unit_mm = [25.4, 10.0, 1.0, 1e-3].get((value as usize).wrapping_sub(2)).copied()?,
                0xA405 => tags.film_mm = above_0,
                _ => (),
            }
        }
        tags.taken = width.zip(height).map(|(width, height)| [width, height]);
        tags.pitch_per_mm = resolution.map(|resolution| resolution / unit_mm);
        Some(tags)
    }
}

/// Bytes of a TIFF.
#[derive(Clone, Copy)]
struct Tiff<'a> {
    data: &'a [u8],
    is_big_endian: bool,
}

impl<'a> Tiff<'a> {
    /// Returns the number of `count` bytes at `at`.
    fn number(self, at: usize, count: usize) -> Option<u32> {
        let bytes = self.data.get(at..at.checked_add(count)?)?;
        let join = |number, byte: &u8| number << 8 | u32::from(*byte);
        Some(if self.is_big_endian { bytes.iter().fold(0, join) } else { bytes.iter().rev().fold(0, join) })
    }

    /// Returns the tags of the directory at `at` with their values, without those that are no single number.
    fn values(self, at: usize) -> impl Iterator<Item = (u16, f64)> + use<'a> {
        let count = self.number(at, 2).unwrap_or(0) as usize;
        (0..count).filter_map(move |index| {
            let entry = at.checked_add(2 + 12 * index)?;
            let tag = self.number(entry, 2)? as u16;
            let value = match self.number(entry + 2, 2)? {
                3 => f64::from(self.number(entry + 8, 2)?),
                4 => f64::from(self.number(entry + 8, 4)?),
                5 => {
                    let place = self.number(entry + 8, 4)? as usize;
                    f64::from(self.number(place, 4)?) / f64::from(self.number(place.checked_add(4)?, 4)?)
                }
                _ => return None,
            };
            (self.number(entry + 4, 4)? == 1 && value.is_finite()).then_some((tag, value))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns Exif data with these tags: of 16 bits, or as fractions.
    fn exif(shorts: &[(u16, u16)], fractions: &[(u16, u32, u32)]) -> Vec<u8> {
        let mut data = b"II*\0\x08\0\0\0\x01\0\x69\x87\x04\0\x01\0\0\0\x1a\0\0\0\0\0\0\0".to_vec();
        let count = shorts.len() + fractions.len();
        data.extend((count as u16).to_le_bytes());
        for (tag, value) in shorts {
            data.extend([tag.to_le_bytes(), [3, 0], [1, 0], [0, 0], value.to_le_bytes(), [0, 0]].concat());
        }
        for (index, (tag, ..)) in fractions.iter().enumerate() {
            let place = (26 + 2 + 12 * count + 8 * index) as u32;
            data.extend([&tag.to_le_bytes()[..], &[5, 0, 1, 0, 0, 0], &place.to_le_bytes()].concat());
        }
        for (_, numerator, denominator) in fractions {
            data.extend([numerator.to_le_bytes(), denominator.to_le_bytes()].concat());
        }
        data
    }

    fn lens(data: &[u8], size: (usize, usize)) -> Option<ExifLens> {
        ExifLens::of_tags(&Tags::read(data)?, size)
    }

    #[test]
    fn film_has_the_same_diagonal_in_copies_crops_and_turned_images() {
        const FILM: (u16, u16) = (0xA405, 28);
        let near = |found: Option<ExifLens>, px: f64| {
            let found = found.unwrap();
            assert!((found.focal_px / px - 1.0).abs() < 1e-4, "{found:?} {px}");
            found.words
        };
        let taken = exif(&[FILM, (0xA002, 6000), (0xA003, 4000)], &[]);
        // 65.5 degrees along the rows of 3:2
        assert_eq!(near(lens(&exif(&[FILM], &[]), (6000, 4000)), 4666.7), "28 mm of 35 mm film");
        near(lens(&taken, (6000, 4000)), 4666.7);
        near(lens(&taken, (1500, 1000)), 1166.7);
        near(lens(&taken, (1000, 1500)), 1166.7);
        // of 4:3 the diagonal counts, and not the width
        near(lens(&exif(&[FILM], &[]), (4000, 3000)), 3235.7);
        assert!(near(lens(&taken, (4000, 4000)), 4666.7).contains("crop"));
        near(lens(&taken, (3000, 4000)), 28.0 / FILM_DIAGONAL_MM * 5000.0);
        assert_eq!(lens(&taken, (7000, 4000)), None, "no copy and no crop");
    }

    #[test]
    fn pixels_for_each_mm_are_more_exact_if_they_agree_with_the_film() {
        let data = |film: u16, resolution: u32| {
            exif(&[(0xA405, film), (0xA210, 3), (0xA002, 6000)], &[(0x920A, 187, 10), (0xA20E, resolution, 1)])
        };
        // pixels of 4 um: 18.7 mm are 4675 px
        let found = lens(&data(28, 2500), (6000, 4000)).unwrap();
        assert_eq!((found.focal_px, found.words.as_str()), (4675.0, "18.7 mm, 4675 px"));
        let found = lens(&data(28, 500), (6000, 4000)).unwrap();
        assert_eq!(found.words, "28 mm of 35 mm film", "a resolution of another image");
        assert_eq!(lens(&data(0, 2500), (6000, 4000)).unwrap().words, "18.7 mm, 4675 px");
        assert_eq!(lens(&data(0, 25), (6000, 4000)), None, "no lens is that short");
    }

    #[test]
    fn damaged_data_has_no_lens() {
        let data = exif(&[(0xA405, 28)], &[(0x920A, 1, 0)]);
        assert!(lens(&data, (600, 400)).is_some());
        for end in 0..data.len() {
            let _ = Tags::read(&data[..end]);
        }
        for at in 0..data.len() {
            let mut data = data.clone();
            data[at] = 0xff;
            let _ = lens(&data, (600, 400));
        }
        assert_eq!(lens(b"no TIFF", (600, 400)), None);
    }
}
