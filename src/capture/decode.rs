//! Image files to pictures: PNG, JPEG, TIFF, PGM and PPM, 8 and 16 bits, grey and colour.

use super::CaptureError;
use crate::frame::{Luma, Picture};
use crate::image::Image;
use image::{DynamicImage, ImageError, ImageFormat, ImageReader};
use std::io;
use std::path::Path;

/// Brightness of a colour (Rec. 601 in 1/256).
pub fn luma_of([r, g, b]: [u8; 3]) -> u8 {
    ((77 * u32::from(r) + 150 * u32::from(g) + 29 * u32::from(b) + 128) >> 8) as u8
}

/// Brightness of a colour at full depth.
fn luma_of_deep([r, g, b]: [u16; 3]) -> u16 {
    ((77 * u32::from(r) + 150 * u32::from(g) + 29 * u32::from(b) + 128) >> 8) as u16
}

/// Reads an image file; `color` keeps RGB where the file has it (of 16 bits the upper 8).
///
/// # Errors
/// The file is missing, empty, cut off or no image; the text names it.
pub fn read_picture(path: &Path, color: bool) -> Result<Picture, CaptureError> {
    let shown = path.display();
    let file = |text: String| CaptureError::File(text);
    let bytes = std::fs::read(path).map_err(|err| match err.kind() {
        io::ErrorKind::NotFound => file(format!("cannot read {shown}: there is no such file")),
        _ => file(format!("cannot read {shown}: {err}")),
    })?;
    if bytes.is_empty() {
        return Err(file(format!("cannot read {shown}: the file is empty")));
    }
    match decode_bytes(&bytes, color) {
        Ok(picture) => Ok(picture),
        Err(Undecoded::Unknown(why)) => Err(file(format!("cannot read {shown}: {why}"))),
        Err(Undecoded::Damaged(why)) => Err(file(format!("cannot decode {shown}: {why}"))),
        Err(Undecoded::Unusable(why)) => Err(file(format!("cannot use {shown}: {why}; {SAVE_AS}"))),
    }
}

/// The picture in the bytes of an image file, as [`read_picture`].
///
/// # Errors
/// What is wrong with it, in words.
pub fn decode_picture(bytes: &[u8], color: bool) -> Result<Picture, String> {
    decode_bytes(bytes, color).map_err(|err| match err {
        Undecoded::Unknown(why) | Undecoded::Damaged(why) | Undecoded::Unusable(why) => why,
    })
}

/// Why bytes are no picture.
enum Undecoded {
    Unknown(String),
    Damaged(String),
    Unusable(String),
}

fn decode_bytes(bytes: &[u8], color: bool) -> Result<Picture, Undecoded> {
    let reader = ImageReader::new(io::Cursor::new(bytes)).with_guessed_format();
    let reader = reader.map_err(|err| Undecoded::Unknown(err.to_string()))?;
    if reader.format().is_none() {
        return Err(Undecoded::Unknown("it is no PNG, JPEG, TIFF, PGM or PPM image".to_owned()));
    }
    let is_tiff = reader.format() == Some(ImageFormat::Tiff);
    let decoded = match reader.decode() {
        Err(ImageError::Unsupported(err)) => {
            let beside = if is_tiff { tiff_with_alpha(bytes) } else { None };
            let refused = || Err(format!("{}; {SAVE_AS}", err_text(&err)));
            beside.map_or_else(refused, |read| read.map_err(|err| format!("{}; {CUT_OFF}", err_text(&err))))
        }
        decoded => decoded.map_err(|err| format!("{}; {CUT_OFF}", err_text(&err))),
    };
    picture_of(decoded.map_err(Undecoded::Damaged)?, color).map_err(Undecoded::Unusable)
}

const CUT_OFF: &str = "is it cut off?";
/// What to do about a picture of a kind that cannot be read.
const SAVE_AS: &str = "save it with 8 or 16 bits, grey or RGB";

/// A grey TIFF with transparency, which `image` takes for two bands; `None` for others.
fn tiff_with_alpha(bytes: &[u8]) -> Option<Result<DynamicImage, tiff::TiffError>> {
    let mut decoder = tiff::decoder::Decoder::new(io::Cursor::new(bytes)).ok()?;
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

fn err_text(err: &impl ToString) -> String {
    err.to_string().trim_end_matches('.').to_lowercase()
}

fn picture_of(decoded: DynamicImage, color: bool) -> Result<Picture, String> {
    let (width, height) = (decoded.width() as usize, decoded.height() as usize);
    Ok(match decoded {
        DynamicImage::ImageLuma8(grey) => {
            Picture { luma: Luma::U8(Image::new(width, height, grey.into_raw())), rgb: None }
        }
        DynamicImage::ImageLumaA8(_) => {
            Picture { luma: Luma::U8(Image::new(width, height, decoded.to_luma8().into_raw())), rgb: None }
        }
        DynamicImage::ImageLuma16(_) | DynamicImage::ImageLumaA16(_) => {
            let image = Image::new(width, height, decoded.into_luma16().into_raw());
            Picture { luma: Luma::U16 { image, bits: 16 }, rgb: None }
        }
        DynamicImage::ImageRgb16(_) | DynamicImage::ImageRgba16(_) => {
            let deep = decoded.into_rgb16().into_raw();
            let deep = Image::new(width, height, deep.as_chunks::<3>().0.to_vec());
            let rgb = color.then(|| deep.map(|p| p.map(|v| (v >> 8) as u8)));
            Picture { luma: Luma::U16 { image: deep.map(|&p| luma_of_deep(p)), bits: 16 }, rgb }
        }
        DynamicImage::ImageRgb8(_) | DynamicImage::ImageRgba8(_) => {
            let rgb = Image::new(width, height, decoded.into_rgb8().into_raw().as_chunks::<3>().0.to_vec());
            Picture { luma: Luma::U8(rgb.map(|&p| luma_of(p))), rgb: color.then_some(rgb) }
        }
        // which number is white in floats, nobody knows
        other => return Err(format!("its pixels are {:?}", other.color())),
    })
}

#[cfg(test)]
mod tiff_files;

#[cfg(test)]
mod tests {
    use super::*;
    use image::{ImageBuffer, Rgb};

    fn read(name: &str, bytes: &[u8]) -> Result<Picture, String> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(name);
        std::fs::write(&path, bytes).unwrap();
        read_picture(&path, true).map_err(|err| err.to_string())
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
            let picture = read_picture(&path, true).unwrap();
            let luma = (77 * 0x8001_u32 + 150 * 0x4002 + 29 * 0x2003 + 128) >> 8;
            assert_eq!(picture.luma, Luma::U16 { image: Image::filled(3, 2, luma as u16), bits: 16 }, "{name}");
            assert_eq!(picture.rgb.unwrap().at(2, 1), [0x80, 0x40, 0x20], "{name}");
            assert!(read_picture(&path, false).unwrap().rgb.is_none());
        }
        let path = folder.path().join("a.jpg");
        image::GrayImage::from_pixel(9, 5, image::Luma([90])).save(&path).unwrap();
        let Luma::U8(image) = read_picture(&path, true).unwrap().luma else { panic!("8 bits expected") };
        assert!(image.size() == (9, 5) && image.pixels().iter().all(|v| v.abs_diff(90) <= 1));
    }

    #[test]
    fn the_kind_is_told_by_the_bytes_not_by_the_name() {
        assert!(read("a.png", b"P5 1 1 255\n\x07").is_ok());
    }

    #[test]
    fn bad_files_are_named_with_what_is_wrong() {
        let text = read_picture(Path::new("no/such.png"), false).unwrap_err().to_string();
        assert!(text.contains("no/such.png") && text.contains("no such file"), "{text}");
        let text = read("e.png", b"").unwrap_err();
        assert!(text.contains("e.png") && text.contains("empty"), "{text}");
        let text = read("t.png", b"what is this?").unwrap_err();
        assert!(text.contains("t.png") && text.contains("no PNG"), "{text}");

        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("cut.png");
        image::GrayImage::from_fn(40, 40, |x, y| image::Luma([(x * 7 + y * 13) as u8])).save(&path).unwrap();
        let whole = std::fs::read(&path).unwrap();
        let text = read("cut.png", &whole[..whole.len() / 2]).unwrap_err();
        assert!(text.contains("cut.png") && text.contains("cut off"), "{text}");
    }
}
