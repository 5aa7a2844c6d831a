//! Decoders of disparity files that are no images: TIFF of floats, which this program writes too, or of signed integers, and NumPy's
//! `.npy`. Files are untrusted: sizes are checked before memory is allocated.

use super::memory_limits::OVERHEAD_BYTES;
use super::numbers::floats;
use crate::error::{FileError, PictureError};
use std::io::{self, BufReader, Read as _};
use std::path::Path;
use stereopsis_base::files::plain;
use stereopsis_base::image::Image;
use stereopsis_base::process::memory;
use stereopsis_frame::{CaptureError, MaxPixels};
use tiff::tags::{SampleFormat, Tag};

/// Numbers of a file, one per pixel.
#[derive(Debug)]
pub(crate) struct Numbers {
    pub(crate) values: Image<f32>,
    /// Whether the file contains integers, whose scale is unknown.
    pub(crate) are_whole: bool,
    /// What a TIFF says of them.
    pub(crate) tags: NumberTags,
}

/// What GDAL's tags in a TIFF say of its numbers (GDAL 3.10, GeoTIFF driver).
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct NumberTags {
    /// Number that stands for "no value".
    pub(crate) no_value: Option<f64>,
    /// Scale and offset: a value is a number times the one, and the other more.
    pub(crate) scale_and_offset: Option<(f64, f64)>,
    /// Whether a mask in the file says which numbers are values; it is not read.
    pub(crate) has_mask: bool,
}

impl NumberTags {
    /// Reads the tags of a file; none of one that is no TIFF.
    pub(crate) fn of(path: &Path) -> Self {
        let decoder =
            plain::open(path).ok().map(BufReader::new).and_then(|file| tiff::decoder::Decoder::new(file).ok());
        decoder.map(|mut decoder| Self::read(&mut decoder)).unwrap_or_default()
    }

    /// Reads the tags of the present image; the decoder then is at the end of the file.
    fn read(decoder: &mut tiff::decoder::Decoder<impl io::Read + io::Seek>) -> Self {
        let text = |decoder: &mut tiff::decoder::Decoder<_>, tag| decoder.get_tag_ascii_string(tag).ok();
        let no_value = text(decoder, Tag::GdalNodata).and_then(|text| text.trim_matches(['\0', ' ']).parse().ok());
        let metadata = text(decoder, Tag::Unknown(GDAL_METADATA)).unwrap_or_default();
        let item = |role: &str| {
            let behind = metadata.split_once(&format!("role=\"{role}\""))?.1.split_once('>')?.1;
            behind.split_once('<')?.0.trim().parse::<f64>().ok().filter(|number| number.is_finite())
        };
        let (scale, offset) = (item("scale").unwrap_or(1.0), item("offset").unwrap_or(0.0));
        let scale_and_offset = Some((scale, offset)).filter(|&both| both != (1.0, 0.0) && scale != 0.0);
        let mut has_mask = false;
        while decoder.more_images() && decoder.next_image().is_ok() {
            let kind = decoder.find_tag_unsigned::<u32>(Tag::NewSubfileType).ok().flatten();
            has_mask |= kind.is_some_and(|kind| kind & MASK != 0 && kind & REDUCED == 0);
        }
        Self { no_value, scale_and_offset, has_mask }
    }
}

/// Tag with XML of GDAL.
const GDAL_METADATA: u16 = 42_112;
/// Flags of a subfile's type: a mask of another image, a smaller copy of one.
const MASK: u32 = 4;
const REDUCED: u32 = 1;

const MAGIC_BYTES: u64 = 8;
const NUMPY_MAGIC: &[u8] = b"\x93NUMPY";
const MAX_NUMPY_HEADER_BYTES: u64 = 1 << 16;
/// Maximum ratio of uncompressed to compressed bytes: LZW of equal bytes.
const MAX_COMPRESSION: u64 = 4096;

/// Reads a TIFF of floats or signed integers, or an `.npy`; `None` for other files.
///
/// # Errors
/// The file is missing, truncated, larger than `max_pixels`, or of an unsupported kind; the text names it.
pub(crate) fn read_numbers(path: &Path, max_pixels: MaxPixels) -> Result<Option<Numbers>, CaptureError> {
    let cannot = |cause| FileError::Numbers { path: path.to_owned(), cause };
    let failed = |cause| FileError::Read { path: path.to_owned(), cause };
    let mut magic = Vec::new();
    plain::open(path).map_err(failed)?.take(MAGIC_BYTES).read_to_end(&mut magic).map_err(failed)?;
    let file = plain::open(path).map_err(failed)?;
    let len = file.metadata().map_err(failed)?.len();
    if magic.starts_with(NUMPY_MAGIC) {
        let (mut bytes, mut file) = (Vec::new(), file);
        (&mut file).take(MAX_NUMPY_HEADER_BYTES).read_to_end(&mut bytes).map_err(failed)?;
        let array = NpyHeader::parse(&bytes).map_err(cannot)?;
        max_pixels.check(array.width as u64, array.height as u64).map_err(|err| cannot(err.into()))?;
        if len < array.bytes() {
            return Err(cannot(PictureError::Short { got: len, bytes: array.bytes(), of_pixels: false }).into());
        }
        let rest = array.bytes().saturating_sub(bytes.len() as u64);
        file.take(rest).read_to_end(&mut bytes).map_err(failed)?;
        return Ok(array.numbers(&bytes).map(Some).map_err(cannot)?);
    }
    if !super::is_tiff(&magic) {
        return Ok(None);
    }
    let numbers = number_tiff(BufReader::new(file), len, max_pixels).map_err(cannot)?;
    Ok(numbers.map(|numbers| Numbers { tags: NumberTags::of(path), ..numbers }))
}

/// Decodes a TIFF with one float or signed integer per pixel; `None` for other TIFFs.
fn number_tiff(
    file: impl io::Read + io::Seek,
    len: u64,
    max_pixels: MaxPixels,
) -> Result<Option<Numbers>, PictureError> {
    let mut decoder = tiff::decoder::Decoder::new(file)?;
    let formats = decoder.find_tag_unsigned_vec::<u16>(Tag::SampleFormat)?.unwrap_or_default();
    if ![SampleFormat::IEEEFP, SampleFormat::Int].iter().any(|format| formats[..] == [format.to_u16()]) {
        return Ok(None);
    }
    let tiff::ColorType::Gray(bits) = decoder.colortype()? else { return Ok(None) };
    let (width, height) = decoder.dimensions()?;
    max_pixels.check(width.into(), height.into())?;
    let bytes = u64::from(width) * u64::from(height) * u64::from(bits / 8);
    if bytes > len.saturating_mul(MAX_COMPRESSION) {
        return Err(PictureError::TooFewBytes { bytes: len, size: (width, height) });
    }
    memory::check(2 * bytes).map_err(|free| PictureError::NumbersMemory { bytes: 2 * bytes, free })?;
    let mut limits = tiff::decoder::Limits::default();
    limits.decoding_buffer_size = usize::try_from(bytes.saturating_add(OVERHEAD_BYTES)).unwrap_or(usize::MAX);
    let values = floats(decoder.with_limits(limits).read_image()?);
    let are_whole = formats[..] != [SampleFormat::IEEEFP.to_u16()];
    if values.len() as u64 != u64::from(width) * u64::from(height) {
        return Err(PictureError::Count { numbers: values.len(), size: (width, height) });
    }
    Ok(Some(Numbers {
        values: Image::new(width as usize, height as usize, values),
        are_whole,
        tags: NumberTags::default(),
    }))
}

/// Header of an `.npy`, as described in NumPy's documentation (`numpy.lib.format`).
#[derive(Debug)]
struct NpyHeader {
    /// Number of bytes before the numbers.
    start: usize,
    width: usize,
    height: usize,
    is_big_endian: bool,
    kind: char,
    /// Size of a number, bytes.
    size: usize,
    /// Whether the numbers are stored column by column.
    by_columns: bool,
}

impl NpyHeader {
    fn parse(head: &[u8]) -> Result<Self, PictureError> {
        let cut = || PictureError::Header("is cut off");
        let (length, before) = match head.get(6).ok_or_else(cut)? {
            1 => (head.get(8..10).ok_or_else(cut)?.iter().rev().fold(0, |sum, &b| sum << 8 | usize::from(b)), 10),
            _ => (head.get(8..12).ok_or_else(cut)?.iter().rev().fold(0, |sum, &b| sum << 8 | usize::from(b)), 12),
        };
        let start = before + length;
        let text = head.get(before..start).ok_or_else(cut)?;
        let text = std::str::from_utf8(text).map_err(|_| PictureError::Header("is no text"))?;
        let value = |key: &str| {
            let behind = text.split_once(&format!("'{key}'"))?.1;
            Some(behind.trim_start().strip_prefix(':')?.trim_start())
        };
        let descr = value("descr").and_then(|text| text.strip_prefix('\'')?.split('\'').next());
        let descr = descr.ok_or(PictureError::Header("has no descr"))?;
        let mut letters = descr.chars();
        let (order, kind) = (letters.next().unwrap_or(' '), letters.next().unwrap_or(' '));
        let size = letters.as_str().parse().unwrap_or(0);
        if !matches!((order, kind, size), ('<' | '>' | '|', 'f', 4 | 8) | ('<' | '>' | '|', 'i' | 'u', 1 | 2 | 4)) {
            return Err(PictureError::NumberType(descr.to_owned()));
        }
        let by_columns =
            value("fortran_order").ok_or(PictureError::Header("has no fortran_order"))?.starts_with("True");
        let shape = value("shape").and_then(|text| text.strip_prefix('(')?.split_once(')'));
        let (shape, _) = shape.ok_or(PictureError::Header("has no shape"))?;
        let sizes: Option<Vec<usize>> =
            shape.split(',').map(str::trim).filter(|part| !part.is_empty()).map(|part| part.parse().ok()).collect();
        let sizes: Vec<usize> = sizes.unwrap_or_default().into_iter().filter(|&size| size != 1).collect();
        let [height, width] = sizes[..] else {
            return Err(PictureError::Shape(shape.to_owned()));
        };
        Ok(Self { start, width, height, is_big_endian: order == '>', kind, size, by_columns })
    }

    /// Returns the size of the whole file, bytes.
    fn bytes(&self) -> u64 {
        let pixels = (self.width as u64).saturating_mul(self.height as u64);
        pixels.saturating_mul(self.size as u64).saturating_add(self.start as u64)
    }

    fn numbers(&self, bytes: &[u8]) -> Result<Numbers, PictureError> {
        let data = bytes.get(self.start..).unwrap_or_default();
        let values: Vec<f32> = data.chunks_exact(self.size).map(|bytes| self.number(bytes)).collect();
        let (width, height) = (self.width, self.height);
        let short = PictureError::Short { got: bytes.len() as u64, bytes: self.bytes(), of_pixels: false };
        let values = values.get(..width * height).ok_or(short)?;
        let values = if self.by_columns {
            Image::from_fn(width, height, |x, y| values[x * height + y])
        } else {
            Image::new(width, height, values.to_vec())
        };
        Ok(Numbers { values, are_whole: self.kind != 'f', tags: NumberTags::default() })
    }

    fn number(&self, bytes: &[u8]) -> f32 {
        let mut low = [0; 8];
        let ordered = bytes.iter().take(8);
        if self.is_big_endian {
            low.iter_mut().zip(ordered.rev()).for_each(|(to, from)| *to = *from);
        } else {
            low.iter_mut().zip(ordered).for_each(|(to, from)| *to = *from);
        }
        let whole = u64::from_le_bytes(low);
        let unused_bits = 64 - 8 * self.size as u32;
        match (self.kind, self.size) {
            ('f', 4) => f32::from_bits(whole as u32),
            ('f', _) => f64::from_bits(whole) as f32,
            ('i', _) => ((whole << unused_bits) as i64 >> unused_bits) as f32,
            _ => whole as f32,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tiff::encoder::{TiffEncoder, colortype};

    fn read(bytes: &[u8]) -> Result<Option<Numbers>, CaptureError> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("truth.bin");
        std::fs::write(&path, bytes).unwrap();
        read_numbers(&path, MaxPixels(100))
    }

    fn npy(descr: &str, order: &str, shape: &str, data: &[u8]) -> Vec<u8> {
        let header = format!("{{'descr': '{descr}', 'fortran_order': {order}, 'shape': {shape}, }}\n");
        let length = (header.len() as u16).to_le_bytes();
        [NUMPY_MAGIC, &[1, 0], &length, header.as_bytes(), data].concat()
    }

    #[test]
    fn reads_arrays_of_each_type_and_order() {
        let floats: Vec<u8> = [1.5_f32, 2.0, -3.0, 4.0, 5.0, 6.25].iter().flat_map(|v| v.to_le_bytes()).collect();
        let rows = read(&npy("<f4", "False", "(2, 3)", &floats)).unwrap().unwrap();
        assert_eq!((rows.values.size(), rows.values.at(2, 0), rows.values.at(0, 1)), ((3, 2), -3.0, 4.0));
        let columns = read(&npy("<f4", "True", "(2, 3, 1)", &floats)).unwrap().unwrap();
        assert_eq!((columns.values.at(1, 0), columns.values.at(0, 1), columns.are_whole), (-3.0, 2.0, false));
        let deep: Vec<u8> = [7.5_f64, 8.0, 1.0, 2.0].iter().flat_map(|v| v.to_be_bytes()).collect();
        let deep = read(&npy(">f8", "False", "(1, 2, 2)", &deep)).unwrap().unwrap().values;
        assert_eq!(deep.pixels(), [7.5, 8.0, 1.0, 2.0]);
        let whole = read(&npy(">i2", "False", "(2, 2)", &[0xff, 0xfe, 0, 5, 1, 0, 0, 0])).unwrap().unwrap();
        assert_eq!((whole.values.pixels(), whole.are_whole), (&[-2.0, 5.0, 256.0, 0.0][..], true));
    }

    #[test]
    fn rejects_damaged_and_unsupported_arrays() {
        for (bytes, why) in [
            (npy("<f4", "False", "(2, 3)", &[0; 23]), "is it cut off"),
            (npy("<f4", "False", "(2, 3, 4)", &[0; 96]), "rows and columns"),
            (npy("<c8", "False", "(2, 2)", &[0; 32]), "type <c8 is not read"),
            (npy("<f4", "False", "(99999999999, 99999999999)", &[]), "max-pixels"),
            (npy("<f4", "False", "(20, 20)", &[0; 1600]), "max-pixels"),
            (NUMPY_MAGIC.to_vec(), "cut off"),
            ([NUMPY_MAGIC, &[1, 0, 0xff, 0xff]].concat(), "cut off"),
        ] {
            let text = read(&bytes).unwrap_err().to_string();
            assert!(text.contains("truth.bin") && text.contains(why), "{text}");
        }
        assert!(read(b"P5 1 1 255\n\0").unwrap().is_none());
    }

    #[test]
    fn reads_only_tiffs_of_floats() {
        let mut bytes = io::Cursor::new(Vec::new());
        let mut encoder = TiffEncoder::new(&mut bytes).unwrap();
        encoder.write_image::<colortype::Gray32Float>(3, 1, &[2.25, f32::NAN, -1.0]).unwrap();
        let bytes = bytes.into_inner();
        let values = read(&bytes).unwrap().unwrap().values;
        assert_eq!((values.at(0, 0), values.at(1, 0).is_nan(), values.at(2, 0)), (2.25, true, -1.0));
        for cut in 0..bytes.len() {
            assert!(!matches!(read(&bytes[..cut]), Ok(Some(_))), "{cut}");
        }
        let mut grey = io::Cursor::new(Vec::new());
        TiffEncoder::new(&mut grey).unwrap().write_image::<colortype::Gray16>(1, 1, &[7]).unwrap();
        assert!(read(&grey.into_inner()).unwrap().is_none());
    }
}
