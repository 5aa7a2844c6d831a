//! Decoder of image files: PNG, JPEG, TIFF, BMP, WebP, PGM and PPM, 8 and 16 bits, grey and colour. Files are untrusted: the header is
//! checked before memory is allocated. A truncated file must be an error, because its partial image would be matched.

mod exif;
mod floats;
mod jpeg;
mod memory_limits;
mod pfm;
mod turn;

use crate::error::{FileError, PictureError};
use image::{DynamicImage, ImageDecoder as _, ImageFormat, ImageReader};
use std::io::{self, Read as _};
use std::path::Path;
use stereopsis_base::files::plain;
use stereopsis_base::image::{Image, Luma, Picture};
use stereopsis_base::process::memory;
use stereopsis_frame::{CaptureError, MaxPixels};

pub(crate) use exif::ExifLens;
pub(crate) use floats::{NumberTags, Numbers, read_numbers};
pub use jpeg::size as jpeg_size;
use memory_limits::{OVERHEAD_BYTES, limits, taken};
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

/// Reads an image file and turns it by its orientation tag; `color` keeps the RGB of a colour file (of 16 bits the upper 8).
///
/// # Errors
/// The file is missing, empty, truncated, larger than `max_pixels`, or not an image; the text names it.
pub fn read_picture(path: &Path, color: bool, max_pixels: MaxPixels) -> Result<Picture, CaptureError> {
    read_turned(path, color, max_pixels, None).map(|(picture, _)| picture)
}

/// Reads an image file like [`read_picture`], if its upright size is `wanted`, and returns its turn.
pub(crate) fn read_turned(
    path: &Path,
    color: bool,
    max_pixels: MaxPixels,
    wanted: Option<(usize, usize)>,
) -> Result<(Picture, Turn), CaptureError> {
    let cannot = |cause| FileError::Read { path: path.to_owned(), cause };
    let refused = |cause| FileError::Picture { path: path.to_owned(), cause };
    let mut opened = plain::open(path).map_err(cannot)?;
    let len = opened.metadata().map_err(cannot)?.len();
    if len == 0 {
        return Err(refused(PictureError::Empty).into());
    }
    let mut bytes = Vec::new();
    (&mut opened).take(HEADER_BYTES).read_to_end(&mut bytes).map_err(cannot)?;
    if bytes.len() as u64 == HEADER_BYTES {
        // large or sparse file: check its size before reading the rest
        let format = format_of(&bytes).map_err(refused)?;
        let size = match format {
            // the tags of the size may be at the end of the file
            ImageFormat::Tiff => {
                let second = plain::open(path).map_err(cannot)?;
                size_of(io::BufReader::new(second), format)
            }
            _ => size_in(&bytes, format),
        };
        let size = size.map_err(refused)?;
        let pixels = check(size, max_pixels, None).map_err(refused)?;
        let most = MAX_FILE_BYTES_PER_PIXEL.saturating_mul(pixels).saturating_add(OVERHEAD_BYTES);
        if len > most {
            return Err(refused(PictureError::TooLong { bytes: len, most }).into());
        }
        has_room(size, len).map_err(refused)?;
        opened.take(most - HEADER_BYTES).read_to_end(&mut bytes).map_err(cannot)?;
    }
    let format = format_of(&bytes).map_err(refused)?;
    let turn = Turn::of_file(&bytes, format);
    let picture = decode_bytes(&bytes, color, max_pixels, wanted, turn).map_err(refused)?;
    Ok((picture, turn))
}

/// Decodes the bytes of an image file like [`read_picture`], without turning the image.
///
/// # Errors
/// The bytes are damaged, truncated, too large or not an image.
pub fn decode_picture(bytes: &[u8], color: bool, max_pixels: MaxPixels) -> Result<Picture, PictureError> {
    decode_bytes(bytes, color, max_pixels, None, Turn::NONE)
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
    match image::guess_format(bytes) {
        Ok(ImageFormat::WebP) if is_animated_webp(bytes) => Err(PictureError::Animation),
        Ok(format) if FORMATS.contains(&format) => Ok(format),
        Err(_) if is_tiff(bytes) => Ok(ImageFormat::Tiff),
        Ok(other) => Err(other
            .extensions_str()
            .first()
            .map_or(PictureError::NoImage, |ending| PictureError::OtherFormat(ending))),
        // ISO base media file, the container of HEIC and AVIF
        Err(_) if bytes.get(4..8) == Some(b"ftyp") => Err(PictureError::Heic),
        Err(_) => Err(PictureError::NoImage),
    }
}

fn is_animated_webp(bytes: &[u8]) -> bool {
    const ANIMATION: u8 = 1 << 1;
    bytes.get(12..16) == Some(b"VP8X") && bytes.get(20).is_some_and(|flags| flags & ANIMATION != 0)
}

fn is_tiff(bytes: &[u8]) -> bool {
    [b"II*\0", b"MM\0*", b"II+\0", b"MM\0+"].iter().any(|magic| bytes.starts_with(*magic))
}

/// Returns the number of pixels of an image of this size; refuses a size above the maximum or other than `wanted`.
fn check(size: (u32, u32), max_pixels: MaxPixels, wanted: Option<(usize, usize)>) -> Result<u64, PictureError> {
    let (width, height) = size;
    max_pixels.check(width.into(), height.into())?;
    if let Some(wanted) = wanted.filter(|wanted| *wanted != (width as usize, height as usize)) {
        return Err(PictureError::OtherSize { size, wanted });
    }
    Ok(u64::from(width) * u64::from(height))
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
    match (size_in(bytes, format), format) {
        // the crate `image` does not read every variant of TIFF
        (Err(err), ImageFormat::Tiff) => tiff_size(bytes).ok_or(err),
        (size, _) => size,
    }
}

fn decode_bytes(
    bytes: &[u8],
    color: bool,
    max_pixels: MaxPixels,
    wanted: Option<(usize, usize)>,
    turn: Turn,
) -> Result<Picture, PictureError> {
    let format = format_of(bytes)?;
    let size = size_by_header(bytes, format)?;
    let pixels = check(turn.size(size), max_pixels, wanted)?;
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
        ImageFormat::Png if !is_whole_png(bytes) => return Err(PictureError::Truncated),
        _ => match decode_with(bytes, format, pixels) {
            Err(err @ PictureError::Image(image::ImageError::Unsupported(_))) if format == ImageFormat::Tiff => {
                tiff_with_alpha(bytes, pixels).ok_or(err)??
            }
            decoded => decoded?,
        },
    };
    turn.apply(&mut decoded);
    picture_of(decoded, color)
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

fn tiff_size(bytes: &[u8]) -> Option<(u32, u32)> {
    tiff::decoder::Decoder::new(io::Cursor::new(bytes)).ok()?.dimensions().ok()
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
        for (bytes, name, command) in
            [(&b"GIF89a\x01\0\x01\0\0\0\0"[..], "GIF", "*.gif"), (b"\0\0\0\x18ftypheic\0\0\0\0", "HEIC", "*.heic")]
        {
            let text = read("a.png", bytes).unwrap_err().to_string();
            assert!(
                text.contains(name) && text.contains("magick mogrify -format png") && text.contains(command),
                "{text}"
            );
            assert!(!text.contains("8 or 16 bits"), "{text}");
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
