//! Decoder of image files: PNG, JPEG, TIFF, BMP, WebP, PGM and PPM, 8 and 16 bits, grey and colour. Files are untrusted: the header is
//! checked before memory is allocated. A truncated file must be an error, because its partial image would be matched.

mod exif;
mod floats;
mod jpeg;
mod memory_limits;
mod numbers;
mod pfm;
mod turn;

use crate::error::{FileError, PictureError};
use image::{DynamicImage, ImageDecoder as _, ImageFormat, ImageReader};
use std::borrow::Cow;
use std::io::{self, Read as _};
use std::ops::Range;
use std::path::Path;
use stereopsis_base::files::plain;
use stereopsis_base::image::{Image, Luma, Picture};
use stereopsis_base::process::memory;
use stereopsis_frame::picture_file::UnreadImage;
use stereopsis_frame::picture_file::tiff::{self as tiff_tags, Page, Pages, Tiff};
use stereopsis_frame::{CaptureError, MaxPixels};

pub(crate) use exif::ExifLens;
pub(crate) use floats::{NumberTags, Numbers, read_numbers};
pub use jpeg::size as jpeg_size;
use memory_limits::{OVERHEAD_BYTES, limits, taken};
pub(crate) use numbers::{NumberImage, Range as NumberRange, range as number_range};
pub use pfm::decode_pfm;
pub(crate) use pfm::read_pfm;
pub(crate) use turn::Turn;

/// Maximum number of bytes read from a file before its size in pixels is known.
const HEADER_BYTES: u64 = 16 << 20;
/// Maximum number of file bytes per pixel: three numbers of five digits as text.
const MAX_FILE_BYTES_PER_PIXEL: u64 = 24;
/// Maximum memory per pixel of an image and its copy turned by 90 degrees, bytes: four channels of 16 bits, twice.
const MAX_TURNED_BYTES_PER_PIXEL: u64 = 16;

/// Maximum size of a JPEG that is decoded without a check of the free memory, px.
const MAX_UNCHECKED_JPEG_PX: u64 = 4 << 20;

/// Part of a file that is decoded.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Part<'a> {
    /// Image that the file is about.
    Main,
    /// File inside the file, by the place of its bytes.
    Bytes(&'a Range<u64>),
    /// Page of a TIFF, by the place of its directory.
    Page(u64),
}

/// Content of an image file.
#[derive(Debug)]
pub(crate) enum Content {
    Picture(Picture),
    /// Numbers, which a range makes an image.
    Numbers(NumberImage),
}

/// Image of a file.
#[derive(Debug)]
pub(crate) struct ReadImage {
    pub(crate) content: Content,
    pub(crate) turn: Turn,
    /// Number of the images of its size and kind in a TIFF.
    pub(crate) pages: usize,
}

impl ReadImage {
    /// Returns the size of the upright image, px.
    pub(crate) fn size(&self) -> (usize, usize) {
        match &self.content {
            Content::Picture(picture) => picture.size(),
            Content::Numbers(numbers) => numbers.size(),
        }
    }
}

/// Reads an image file and turns it by its orientation tag; `color` keeps the RGB of a colour file (of 16 bits the upper 8).
///
/// # Errors
/// The file is missing, empty, truncated, larger than `max_pixels`, or not an image; the text names it.
pub fn read_picture(path: &Path, color: bool, max_pixels: MaxPixels) -> Result<Picture, CaptureError> {
    match read_part(path, Part::Main, color, max_pixels, None)?.content {
        Content::Picture(picture) => Ok(picture),
        Content::Numbers(numbers) => {
            let cause = PictureError::Numbers(numbers.kind);
            Err(FileError::Picture { path: path.to_owned(), cause }.into())
        }
    }
}

/// Reads a part of an image file like [`read_picture`], if its upright size is `wanted`; numbers are returned as such.
pub(crate) fn read_part(
    path: &Path,
    part: Part<'_>,
    color: bool,
    max_pixels: MaxPixels,
    wanted: Option<(usize, usize)>,
) -> Result<ReadImage, CaptureError> {
    let cannot = |cause| FileError::Read { path: path.to_owned(), cause };
    let refused = |cause| FileError::Picture { path: path.to_owned(), cause };
    let mut opened = plain::open(path).map_err(cannot)?;
    let len = opened.metadata().map_err(cannot)?.len();
    if len == 0 {
        return Err(refused(PictureError::Empty).into());
    }
    let mut bytes = Vec::new();
    (&mut opened).take(HEADER_BYTES).read_to_end(&mut bytes).map_err(cannot)?;
    if let Some(numbers) = numbers_of_file(path, &bytes, max_pixels)? {
        check_wanted(numbers.size(), wanted).map_err(refused)?;
        return Ok(ReadImage { content: Content::Numbers(numbers), turn: Turn::NONE, pages: 1 });
    }
    if bytes.len() as u64 == HEADER_BYTES {
        // large or sparse file: check its size before reading the rest
        let format = format_of(&bytes).map_err(refused)?;
        let (size, pages) = match format {
            // the tags of the size may be at the end of the file
            ImageFormat::Tiff => {
                let pages = Tiff::open(plain::open(path).map_err(cannot)?).and_then(|mut tiff| tiff.pages());
                let pages = pages.ok_or(PictureError::Truncated).map_err(refused)?;
                (size_of_page(&pages.main), pages.alike.len().max(1) as u64)
            }
            _ => (size_in(&bytes, format), 1),
        };
        let size = size.map_err(refused)?;
        let pixels = check(size, max_pixels, None).map_err(refused)?;
        let most = MAX_FILE_BYTES_PER_PIXEL.saturating_mul(pixels).saturating_add(OVERHEAD_BYTES).saturating_mul(pages);
        if len > most {
            return Err(refused(PictureError::TooLong { bytes: len, most }).into());
        }
        has_room(size, len).map_err(refused)?;
        opened.take(most - HEADER_BYTES).read_to_end(&mut bytes).map_err(cannot)?;
    }
    if let Part::Bytes(range) = part {
        let [start, end] = [range.start, range.end].map(|at| usize::try_from(at).unwrap_or(usize::MAX));
        let inside = bytes.get(start..end.min(bytes.len())).ok_or(PictureError::Truncated).map_err(refused)?;
        bytes = inside.to_vec();
    }
    let page = if let Part::Page(at) = part { Some(at) } else { None };
    decode_bytes(&bytes, page, color, max_pixels, wanted, true).map_err(|cause| refused(cause).into())
}

/// Reads a file of numbers that is no TIFF; `bytes` are its first ones.
fn numbers_of_file(path: &Path, bytes: &[u8], max_pixels: MaxPixels) -> Result<Option<NumberImage>, CaptureError> {
    let (values, kind) = if bytes.starts_with(b"\x93NUMPY") {
        let Some(numbers) = read_numbers(path, max_pixels)? else { return Ok(None) };
        (numbers.values, if numbers.are_whole { "whole numbers" } else { "floats" })
    } else if bytes.starts_with(b"Pf") {
        (read_pfm(path, max_pixels)?, "floats")
    } else {
        return Ok(None);
    };
    Ok(Some(NumberImage { values, kind, no_data: None, turn: Turn::NONE }))
}

/// Decodes the bytes of an image file like [`read_picture`], without turning the image.
///
/// # Errors
/// The bytes are damaged, truncated, too large or not an image.
pub fn decode_picture(bytes: &[u8], color: bool, max_pixels: MaxPixels) -> Result<Picture, PictureError> {
    match decode_bytes(bytes, None, color, max_pixels, None, false)?.content {
        Content::Picture(picture) => Ok(picture),
        Content::Numbers(numbers) => Err(PictureError::Numbers(numbers.kind)),
    }
}

/// Returns width and height of an image by the header of its file, px.
///
/// # Errors
/// The bytes are not an image, or the header is damaged.
pub fn picture_size(bytes: &[u8]) -> Result<(u32, u32), PictureError> {
    size_by_header(bytes, format_of(bytes)?)
}

const FORMATS: &[ImageFormat] =
    &[ImageFormat::Png, ImageFormat::Jpeg, ImageFormat::Tiff, ImageFormat::Bmp, ImageFormat::WebP, ImageFormat::Pnm];

fn format_of(bytes: &[u8]) -> Result<ImageFormat, PictureError> {
    if let Some(unread) = UnreadImage::of_bytes(bytes) {
        return Err(PictureError::Unread(unread));
    }
    match image::guess_format(bytes) {
        Ok(format) if FORMATS.contains(&format) => Ok(format),
        Err(_) if is_tiff(bytes) => Ok(ImageFormat::Tiff),
        Ok(other) => Err(other
            .extensions_str()
            .first()
            .map_or(PictureError::NoImage, |ending| PictureError::Unread(UnreadImage::Other(ending)))),
        Err(_) => Err(PictureError::NoImage),
    }
}

fn is_tiff(bytes: &[u8]) -> bool {
    [b"II*\0", b"MM\0*", b"II+\0", b"MM\0+"].iter().any(|magic| bytes.starts_with(*magic))
}

/// Returns the number of pixels of an image of this size; refuses a size above the maximum or other than `wanted`.
fn check(size: (u32, u32), max_pixels: MaxPixels, wanted: Option<(usize, usize)>) -> Result<u64, PictureError> {
    let (width, height) = size;
    max_pixels.check(width.into(), height.into())?;
    check_wanted((width as usize, height as usize), wanted)?;
    Ok(u64::from(width) * u64::from(height))
}

fn check_wanted(size: (usize, usize), wanted: Option<(usize, usize)>) -> Result<(), PictureError> {
    wanted.filter(|wanted| *wanted != size).map_or(Ok(()), |wanted| Err(PictureError::OtherSize { size, wanted }))
}

/// Returns width and height by the first bytes of a file.
fn size_in(bytes: &[u8], format: ImageFormat) -> Result<(u32, u32), PictureError> {
    match format {
        ImageFormat::Jpeg => jpeg::size(bytes),
        _ => size_of(io::Cursor::new(bytes), format),
    }
}

fn size_of(reader: impl io::BufRead + io::Seek, format: ImageFormat) -> Result<(u32, u32), PictureError> {
    let mut reader = ImageReader::with_format(reader, format);
    reader.limits(limits(0));
    Ok(reader.into_dimensions()?)
}

/// Returns width and height by the header of a whole file.
fn size_by_header(bytes: &[u8], format: ImageFormat) -> Result<(u32, u32), PictureError> {
    match format {
        ImageFormat::Tiff => {
            let pages = Tiff::open(io::Cursor::new(bytes)).and_then(|mut tiff| tiff.pages());
            pages.map_or(Err(PictureError::Truncated), |pages| size_of_page(&pages.main))
        }
        _ => size_in(bytes, format),
    }
}

/// Decodes the bytes of a file, of a TIFF the main page or the one at `page`, and makes the image upright if `turns`.
fn decode_bytes(
    bytes: &[u8],
    page: Option<u64>,
    color: bool,
    max_pixels: MaxPixels,
    wanted: Option<(usize, usize)>,
    turns: bool,
) -> Result<ReadImage, PictureError> {
    let format = format_of(bytes)?;
    let tiff = if format == ImageFormat::Tiff { TiffImage::of(bytes, page)? } else { None };
    let turn_of = |bytes: &[u8]| if turns { Turn::of_file(bytes, format) } else { Turn::NONE };
    // a DNG has the tag at its first page alone
    let own = tiff.as_ref().map_or(Turn::NONE, |tiff| turn_of(&tiff.bytes));
    let turn = if own == Turn::NONE { turn_of(bytes) } else { own };
    let pages = tiff.as_ref().map_or(1, |tiff| tiff.pages.alike.len().max(1));
    let bytes = tiff.as_ref().map_or(bytes, |tiff| &tiff.bytes);
    let size = match &tiff {
        Some(tiff) => size_of_page(&tiff.pages.main)?,
        None => size_by_header(bytes, format)?,
    };
    let pixels = check(turn.size(size), max_pixels, wanted)?;
    if let Some((tiff, kind)) = tiff.as_ref().and_then(|tiff| Some((tiff, tiff.pages.main.numbers()?))) {
        let values = numbers::of_tiff(bytes, size)?;
        let numbers = NumberImage { values, kind, no_data: tiff.pages.main.no_data, turn };
        return Ok(ReadImage { content: Content::Numbers(numbers), turn, pages });
    }
    if turn.is_quarter() && pixels > MAX_UNCHECKED_JPEG_PX {
        has_room(size, MAX_TURNED_BYTES_PER_PIXEL.saturating_mul(pixels))?;
    }
    let mut decoded = match format {
        ImageFormat::Jpeg => {
            if pixels > MAX_UNCHECKED_JPEG_PX {
                has_room(size, jpeg::taken(bytes, pixels))?;
            }
            jpeg::decode(bytes)?
        }
        ImageFormat::Tiff if tiff.as_ref().is_some_and(|tiff| !tiff.pages.main.palette.is_empty()) => {
            let palette = tiff.as_ref().map(|tiff| &tiff.pages.main.palette[..]).unwrap_or_default();
            of_palette(bytes, palette, pixels)?
        }
        ImageFormat::Png if !is_whole_png(bytes) => return Err(PictureError::Truncated),
        _ => match decode_with(bytes, format, pixels) {
            Err(err @ PictureError::Image(image::ImageError::Unsupported(_))) if format == ImageFormat::Tiff => {
                tiff_with_alpha(bytes, pixels).ok_or(err)??
            }
            decoded => decoded?,
        },
    };
    turn.apply(&mut decoded);
    Ok(ReadImage { content: Content::Picture(picture_of(decoded, color)?), turn, pages })
}

/// TIFF that begins with the image to decode.
struct TiffImage<'a> {
    bytes: Cow<'a, [u8]>,
    /// Pages, the main one of which is that image.
    pages: Pages,
}

impl<'a> TiffImage<'a> {
    /// Finds the main page, or takes the one at `page`; `None` for damaged tags, which the decoder names.
    fn of(bytes: &'a [u8], page: Option<u64>) -> Result<Option<Self>, PictureError> {
        let pages = |bytes: &[u8]| Tiff::open(io::Cursor::new(bytes)).and_then(|mut tiff| tiff.pages());
        let Some(found) = pages(bytes) else { return Ok(None) };
        let begin = page.or((!found.is_first).then_some(found.main.at));
        let (bytes, found) = match begin {
            None => (Cow::from(bytes), found),
            Some(at) => {
                let mut bytes = bytes.to_vec();
                tiff_tags::begin_with(&mut bytes, at);
                let Some(first) = pages(&bytes) else { return Err(PictureError::Truncated) };
                (bytes.into(), Pages { main: first.main, ..found })
            }
        };
        let main = &found.main;
        match () {
            () if main.is_raw() => Err(PictureError::Unread(UnreadImage::Raw)),
            () if main.is_reduced => Err(PictureError::Reduced(main.size)),
            () if main.is_reversed => Err(PictureError::Reversed),
            () if !READ_PACKINGS.contains(&main.packing) => Err(PictureError::Packing(main.packing)),
            () => Ok(Some(Self { bytes, pages: found })),
        }
    }
}

/// Numbers of the packings of TIFF that are read: none, CCITT, LZW, JPEG, deflate (two numbers), packed bits, zstd, WebP.
const READ_PACKINGS: [u64; 11] = [1, 2, 3, 4, 5, 7, 8, 32_773, 32_946, 50_000, 50_001];

fn size_of_page(page: &Page) -> Result<(u32, u32), PictureError> {
    let (width, height) = page.size;
    let size = u32::try_from(width).ok().zip(u32::try_from(height).ok());
    size.filter(|size| *size != (0, 0)).ok_or(PictureError::NoSize)
}

/// Decodes a TIFF whose pixels are numbers of colours.
fn of_palette(bytes: &[u8], palette: &[[u8; 3]], pixels: u64) -> Result<DynamicImage, PictureError> {
    let mut bytes = bytes.to_vec();
    tiff_tags::make_grey(&mut bytes);
    let numbers = decode_with(&bytes, ImageFormat::Tiff, pixels)?.into_luma8();
    let color = |number: u8| image::Rgb(palette.get(usize::from(number)).copied().unwrap_or_default());
    Ok(image::RgbImage::from_fn(numbers.width(), numbers.height(), |x, y| color(numbers.get_pixel(x, y).0[0])).into())
}

/// Decodes with `image`, after a check of the free memory.
fn decode_with(bytes: &[u8], format: ImageFormat, pixels: u64) -> Result<DynamicImage, PictureError> {
    let mut reader = ImageReader::with_format(io::Cursor::new(bytes), format);
    reader.limits(limits(pixels));
    let mut decoder = reader.into_decoder()?;
    has_room(decoder.dimensions(), taken(decoder.color_type(), pixels))?;
    let mut room = limits(pixels);
    room.reserve(decoder.total_bytes())?;
    decoder.set_limits(room)?;
    Ok(DynamicImage::from_decoder(decoder)?)
}

fn has_room(size: (u32, u32), bytes: u64) -> Result<(), PictureError> {
    memory::check(bytes).map_err(|free| PictureError::NoMemory { size, bytes, free })
}

/// Returns whether a PNG file has all chunks up to and including IEND; later bytes are ignored.
fn is_whole_png(bytes: &[u8]) -> bool {
    const SIGNATURE: usize = 8;
    // a chunk is length, name, data, checksum
    let mut rest = bytes.get(SIGNATURE..).unwrap_or_default();
    while let Some(head) = rest.first_chunk::<8>() {
        let [a, b, c, d, name @ ..] = *head;
        let length = u32::from_be_bytes([a, b, c, d]) as usize;
        let Some(behind) = rest.get(length.saturating_add(12)..) else { return false };
        if &name == b"IEND" {
            return true;
        }
        rest = behind;
    }
    false
}

/// Decodes a grey TIFF with transparency, which the crate `image` does not read; `None` for other files.
fn tiff_with_alpha(bytes: &[u8], pixels: u64) -> Option<Result<DynamicImage, tiff::TiffError>> {
    let mut room = tiff::decoder::Limits::default();
    room.decoding_buffer_size = usize::try_from(limits(pixels).max_alloc?).ok()?;
    let mut decoder = tiff::decoder::Decoder::new(io::Cursor::new(bytes)).ok()?.with_limits(room);
    let (width, height) = decoder.dimensions().ok()?;
    let tiff::ColorType::Multiband { num_samples: 2, .. } = decoder.colortype().ok()? else { return None };
    let samples = match decoder.read_image() {
        Ok(samples) => samples,
        Err(tiff::TiffError::UnsupportedError(_)) => return None,
        Err(err) => return Some(Err(err)),
    };
    let count = 2 * width as usize * height as usize;
    let grey = match samples {
        tiff::decoder::DecodingResult::U8(samples) if samples.len() == count => {
            image::GrayImage::from_vec(width, height, samples.into_iter().step_by(2).collect())?.into()
        }
        tiff::decoder::DecodingResult::U16(samples) if samples.len() == count => {
            let grey = samples.into_iter().step_by(2).collect();
            image::ImageBuffer::<image::Luma<u16>, _>::from_vec(width, height, grey)?.into()
        }
        _ => return None,
    };
    Some(Ok(grey))
}

fn picture_of(decoded: DynamicImage, color: bool) -> Result<Picture, PictureError> {
    let (width, height) = (decoded.width() as usize, decoded.height() as usize);
    Ok(match decoded {
        DynamicImage::ImageLuma8(_) | DynamicImage::ImageLumaA8(_) => {
            Picture { luma: Luma::U8(Image::new(width, height, decoded.into_luma8().into_raw())), rgb: None }
        }
        DynamicImage::ImageLuma16(_) | DynamicImage::ImageLumaA16(_) => {
            let image = Image::new(width, height, decoded.into_luma16().into_raw());
            Luma::of_words(image).into()
        }
        DynamicImage::ImageRgb16(_) | DynamicImage::ImageRgba16(_) => {
            let deep = decoded.into_rgb16().into_raw();
            let deep = Image::new(width, height, deep.as_chunks::<3>().0.to_vec());
            Picture::of_deep_colors(&deep, color)
        }
        DynamicImage::ImageRgb8(_) | DynamicImage::ImageRgba8(_) => {
            let rgb = Image::new(width, height, decoded.into_rgb8().into_raw().as_chunks::<3>().0.to_vec());
            Picture::of_colors(rgb, color)
        }
        // floating-point TIFFs have no defined white level
        other => return Err(PictureError::Pixels(other.color())),
    })
}

#[cfg(test)]
mod damaged;
#[cfg(test)]
mod tiff_files;
#[cfg(test)]
mod turned;

#[cfg(test)]
mod tests {
    use super::*;
    use image::{ImageBuffer, Rgb};

    fn read(name: &str, bytes: &[u8]) -> Result<Picture, CaptureError> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(name);
        std::fs::write(&path, bytes).unwrap();
        read_picture(&path, true, MaxPixels::default())
    }

    #[test]
    fn grey_and_colour_of_8_and_16_bits() {
        let grey = read("a.pgm", b"P5 2 1 255\n\x07\xfe").unwrap();
        assert_eq!(grey, Picture { luma: Luma::U8(Image::new(2, 1, vec![7, 254])), rgb: None });
        let deep = read("a.pgm", b"P5 2 1 65535\n\x01\x02\xff\xff").unwrap();
        let image = Image::new(2, 1, vec![0x0102, 0xffff]);
        assert_eq!(deep, Picture { luma: Luma::U16 { image, bits: 16 }, rgb: None });
        let of_ten_bits = read("a.pgm", b"P5 2 1 1023\n\x00\x00\x03\xff").unwrap();
        let image = Image::new(2, 1, vec![0, 0xffff]);
        assert_eq!(of_ten_bits.luma, Luma::U16 { image, bits: 16 }, "the file's white is white");
        let color = read("a.ppm", b"P6 2 1 255\n\xff\x00\x00\x0a\x14\x1e").unwrap();
        assert_eq!(color.luma, Luma::U8(Image::new(2, 1, vec![77, 18])));
        assert_eq!(color.rgb.unwrap().pixels(), [[255, 0, 0], [10, 20, 30]]);
    }

    #[test]
    fn every_format_and_deep_colour() {
        let folder = tempfile::tempdir().unwrap();
        let deep = ImageBuffer::from_pixel(3, 2, Rgb([0x8001_u16, 0x4002, 0x2003]));
        for name in ["a.png", "a.tiff", "a.ppm"] {
            let path = folder.path().join(name);
            deep.save(&path).unwrap();
            let picture = read_picture(&path, true, MaxPixels::default()).unwrap();
            let luma = (77 * 0x8001_u32 + 150 * 0x4002 + 29 * 0x2003 + 128) >> 8;
            assert_eq!(picture.luma, Luma::U16 { image: Image::filled(3, 2, luma as u16), bits: 16 }, "{name}");
            assert_eq!(picture.rgb.unwrap().at(2, 1), [0x80, 0x40, 0x20], "{name}");
            assert!(read_picture(&path, false, MaxPixels::default()).unwrap().rgb.is_none());
        }
        let path = folder.path().join("a.jpg");
        image::GrayImage::from_pixel(9, 5, image::Luma([90])).save(&path).unwrap();
        let Luma::U8(image) = read_picture(&path, true, MaxPixels::default()).unwrap().luma else {
            panic!("8 bits expected")
        };
        assert!(image.size() == (9, 5) && image.pixels().iter().all(|v| v.abs_diff(90) <= 1));
    }

    #[test]
    fn detects_the_format_by_bytes_not_by_name() {
        assert!(read("a.png", b"P5 1 1 255\n\x07").is_ok());
    }

    #[test]
    fn refuses_unsupported_formats_with_a_conversion() {
        for (bytes, name, command) in [
            (&b"GIF89a\x01\0\x01\0\0\0\0"[..], "GIF", "`convert "),
            (b"\0\0\0\x18ftypheic\0\0\0\0", "HEIC", "`heif-convert "),
        ] {
            let text = read("a.png", bytes).unwrap_err().to_string();
            assert!(text.contains(name) && text.contains(command), "{text}");
            assert!(!text.contains("8 or 16 bits"), "{text}");
        }
    }

    /// imagecodecs 2026.3.6 writes such files: their frame headers are SOF1 with 12 bits, SOF3, SOF9 and SOF55.
    #[test]
    fn kinds_of_jpeg_that_are_not_read_are_named() {
        for (marker, bits, kind) in [
            (0xc1, 12, "of 12 bits"),
            (0xc3, 8, "without loss"),
            (0xc9, 8, "arithmetic coding"),
            (0xf7, 8, "of the kind JPEG-LS"),
        ] {
            let header = [0xff, marker, 0, 11, bits, 0, 8, 0, 8, 1, 1, 0x11, 0];
            let bytes = [&b"\xff\xd8\xff\xe0\0\x04JF"[..], &header, b"\xff\xd9"].concat();
            let text = read("a.jpg", &bytes).unwrap_err().to_string();
            assert!(text.contains("it is a JPEG") && text.contains(kind) && !text.contains("cut off"), "{text}");
        }
    }

    #[test]
    fn bmp_webp_and_big_tiff_are_read() {
        let rgb = image::RgbImage::from_fn(7, 5, |x, y| Rgb([(x * 30) as u8, (y * 40) as u8, (x * y) as u8]));
        for format in [ImageFormat::Bmp, ImageFormat::WebP] {
            let mut bytes = io::Cursor::new(Vec::new());
            rgb.write_to(&mut bytes, format).unwrap();
            let picture = read("a", &bytes.into_inner()).unwrap();
            assert_eq!(picture.rgb.unwrap().pixels().as_flattened(), rgb.as_raw().as_slice(), "{format:?}");
        }
        let mut bytes = io::Cursor::new(Vec::new());
        let mut encoder = tiff::encoder::TiffEncoder::new_big(&mut bytes).unwrap();
        encoder.write_image::<tiff::encoder::colortype::Gray8>(3, 2, &[1, 2, 3, 4, 5, 6]).unwrap();
        let grey = Image::new(3, 2, vec![1, 2, 3, 4, 5, 6]);
        assert_eq!(read("a.tif", &bytes.into_inner()).unwrap().luma, Luma::U8(grey));
    }

    #[test]
    fn errors_name_the_file_and_the_cause() {
        let text = read_picture(Path::new("no/such.png"), false, MaxPixels::default()).unwrap_err().to_string();
        assert!(text.contains("no/such.png") && text.contains("the folder no does not exist"), "{text}");
        let animation = [&b"RIFF\x80\0\0\0WEBPVP8X\x0a\0\0\0\x02"[..], &[0; 20]].concat();
        let text = read("a.webp", &animation).unwrap_err().to_string();
        assert!(text.contains("a.webp") && text.contains("it is an animation"), "{text}");
        let text = read("e.png", b"").unwrap_err().to_string();
        assert!(text.contains("e.png") && text.contains("empty"), "{text}");
        let text = read("t.png", b"what is this?").unwrap_err().to_string();
        assert!(text.contains("t.png") && text.contains("no PNG"), "{text}");

        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("cut.png");
        image::GrayImage::from_fn(40, 40, |x, y| image::Luma([(x * 7 + y * 13) as u8])).save(&path).unwrap();
        let whole = std::fs::read(&path).unwrap();
        let text = read("cut.png", &whole[..whole.len() / 2]).unwrap_err().to_string();
        assert!(text.contains("cut.png") && text.contains("cut off"), "{text}");
    }
}
