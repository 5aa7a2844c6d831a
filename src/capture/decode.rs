//! Image files to pictures: PNG, JPEG, TIFF, PGM and PPM, 8 and 16 bits, grey and colour.

use super::CaptureError;
use crate::frame::{Luma, Picture};
use crate::image::Image;
use image::{DynamicImage, ImageReader};
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
    let reader = ImageReader::new(io::Cursor::new(&bytes)).with_guessed_format();
    let reader = reader.map_err(|err| file(format!("cannot read {shown}: {err}")))?;
    if reader.format().is_none() {
        return Err(file(format!("cannot read {shown}: it is no PNG, JPEG, TIFF, PGM or PPM image")));
    }
    let decoded =
        reader.decode().map_err(|err| file(format!("cannot decode {shown}: {}; is it cut off?", err_text(&err))))?;
    Ok(picture_of(decoded, color))
}

fn err_text(err: &image::ImageError) -> String {
    err.to_string().trim_end_matches('.').to_lowercase()
}

fn picture_of(decoded: DynamicImage, color: bool) -> Picture {
    let (width, height) = (decoded.width() as usize, decoded.height() as usize);
    match decoded {
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
        _ => {
            let rgb = Image::new(width, height, decoded.into_rgb8().into_raw().as_chunks::<3>().0.to_vec());
            Picture { luma: Luma::U8(rgb.map(|&p| luma_of(p))), rgb: color.then_some(rgb) }
        }
    }
}
