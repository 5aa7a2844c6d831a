//! Images to look at as files: a camera's image, a coloured map, errors, confidence.

use super::file::{Endings, ExportError};
use crate::colormap::{self, Colormap, DisplayRange};
use image::{DynamicImage, ImageBuffer, ImageFormat};
use std::io::Cursor;
use std::path::Path;
use stereopsis_base::files;
use stereopsis_base::geometry::Geometry;
use stereopsis_base::image::{Image, Luma, Picture};
use stereopsis_stereo::DisparityMap;

/// Writes an image, in colour if it has any: `.png`, `.tiff` and `.ppm` keep all bits, `.jpg` 8.
///
/// # Errors
/// Another ending, or the file cannot be written.
pub fn write_picture(path: &Path, picture: &Picture) -> Result<(), ExportError> {
    let (width, height) = picture.size();
    let size = (width as u32, height as u32);
    let image = match (&picture.rgb, &picture.luma) {
        (Some(rgb), _) => return write_rgb(path, rgb),
        (None, Luma::U8(luma)) => {
            ImageBuffer::from_raw(size.0, size.1, luma.pixels().to_vec()).map(DynamicImage::ImageLuma8)
        }
        (None, Luma::U16 { image, .. }) => {
            ImageBuffer::from_raw(size.0, size.1, image.pixels().to_vec()).map(DynamicImage::ImageLuma16)
        }
    };
    encode(path, image)
}

/// Writes a colour image: `.png`, `.jpg`, `.tiff` or `.ppm`.
///
/// # Errors
/// Another ending, or the file cannot be written.
pub fn write_rgb(path: &Path, rgb: &Image<[u8; 3]>) -> Result<(), ExportError> {
    let bytes = rgb.pixels().as_flattened().to_vec();
    encode(path, ImageBuffer::from_raw(rgb.width() as u32, rgb.height() as u32, bytes).map(DynamicImage::ImageRgb8))
}

/// Encodes an image as PNG with texts in its metadata: pairs of a keyword of the PNG standard, such as `Title`, and its text.
///
/// # Errors
/// A keyword is empty or longer than 79 characters.
pub fn png_with_texts(rgb: &Image<[u8; 3]>, texts: &[(&str, &str)]) -> Result<Vec<u8>, png::EncodingError> {
    let mut bytes = Vec::new();
    let mut encoder = png::Encoder::new(&mut bytes, rgb.width() as u32, rgb.height() as u32);
    encoder.set_color(png::ColorType::Rgb);
    encoder.set_depth(png::BitDepth::Eight);
    for (keyword, words) in texts {
        encoder.add_itxt_chunk((*keyword).to_owned(), (*words).to_owned())?;
    }
    let mut writer = encoder.write_header()?;
    writer.write_image_data(rgb.pixels().as_flattened())?;
    writer.finish()?;
    Ok(bytes)
}

/// Writes a coloured map, invalid pixels black; without a `range` it spans 2 to 98 per cent of the valid ones.
///
/// # Errors
/// Errors of [`write_rgb`].
pub fn write_color(
    path: &Path,
    map: &DisparityMap,
    geometry: Option<&Geometry>,
    range: Option<DisplayRange>,
    colormap: Colormap,
) -> Result<(), ExportError> {
    let fitted = || DisplayRange::fit(map, geometry).unwrap_or(DisplayRange { far_px: 0.0, near_px: 1.0 });
    write_rgb(path, &colormap::color_map(map, geometry, range.unwrap_or_else(fitted), colormap, false))
}

/// Writes the errors of a map in colours; `truth_px` has the map's size.
///
/// # Errors
/// Errors of [`write_rgb`].
pub fn write_errors(path: &Path, map: &DisparityMap, truth_px: &Image<f32>) -> Result<(), ExportError> {
    write_rgb(path, &colormap::error_map(map, truth_px))
}

/// Writes the confidence of each disparity as an 8-bit grey `.png`: 255 is highest, 0 where nothing was measured.
///
/// # Errors
/// Another ending, or the file cannot be written.
pub fn write_confidence(path: &Path, confidence: &Image<u8>) -> Result<(), ExportError> {
    Endings(&["png"], "confidence is an 8-bit .png").find(path)?;
    write_picture(path, &Picture { luma: Luma::U8(confidence.clone()), rgb: None })
}

const PICTURE: Endings =
    Endings(&["png", "jpg", "jpeg", "tif", "tiff", "ppm", "pgm", "pnm"], "name it .png, .jpg, .tiff or .ppm");

fn encode(path: &Path, image: Option<DynamicImage>) -> Result<(), ExportError> {
    let format = ImageFormat::from_extension(PICTURE.find(path)?);
    let image = image.ok_or_else(|| ExportError::encode(path, "its size is not that of its pixels"))?;
    let mut bytes = Cursor::new(Vec::new());
    let written = match (format, image) {
        // JPEG has 8 bits only
        (Some(ImageFormat::Jpeg), image @ DynamicImage::ImageLuma16(_)) => {
            DynamicImage::ImageLuma8(image.to_luma8()).write_to(&mut bytes, ImageFormat::Jpeg)
        }
        (format, image) => image.write_to(&mut bytes, format.unwrap_or(ImageFormat::Png)),
    };
    written.map_err(|err| ExportError::encode(path, err))?;
    Ok(files::write(path, &bytes.into_inner())?)
}

/// Returns the colours of an image; grey if it has none.
pub fn colors_of(picture: &Picture) -> Image<[u8; 3]> {
    picture.rgb.clone().unwrap_or_else(|| picture.luma.to_u8().map(|&v| [v; 3]))
}

#[cfg(test)]
mod tests {
    use super::*;
    use stereopsis_stereo::INVALID;

    #[test]
    fn pictures_keep_their_depth_and_colour() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.png");
        let deep = Image::new(2, 1, vec![1000u16, 4095]);
        write_picture(&path, &Picture { luma: Luma::U16 { image: deep, bits: 12 }, rgb: None }).unwrap();
        assert_eq!(image::open(&path).unwrap().as_luma16().unwrap().as_raw(), &[1000, 4095]);

        let luma = Luma::U8(Image::new(1, 1, vec![9u8]));
        write_picture(&path, &Picture { luma: luma.clone(), rgb: None }).unwrap();
        assert_eq!(image::open(&path).unwrap().as_luma8().unwrap().as_raw(), &[9]);
        write_picture(&path, &Picture { luma, rgb: Some(Image::new(1, 1, vec![[1, 2, 3]])) }).unwrap();
        assert_eq!(image::open(&path).unwrap().as_rgb8().unwrap().as_raw(), &[1, 2, 3]);
    }

    #[test]
    fn confidence_is_always_a_grey_png() {
        let folder = tempfile::tempdir().unwrap();
        let confidence = Image::new(3, 1, vec![0u8, 90, 255]);
        let path = folder.path().join("a.png");
        write_confidence(&path, &confidence).unwrap();
        assert_eq!(image::open(&path).unwrap().as_luma8().unwrap().as_raw(), &[0, 90, 255]);
        let text = write_confidence(&folder.path().join("a.jpg"), &confidence).unwrap_err().to_string();
        assert!(text.contains("a.jpg") && text.contains("8-bit .png"), "{text}");
    }

    #[test]
    fn writes_every_format_and_rejects_others() {
        let folder = tempfile::tempdir().unwrap();
        let deep = Luma::U16 { image: Image::filled(8, 8, 700u16), bits: 10 };
        let picture = Picture { luma: deep, rgb: None };
        for ending in ["png", "jpg", "tiff", "pgm"] {
            let path = folder.path().join("a").with_extension(ending);
            write_picture(&path, &picture).unwrap();
            assert_eq!(image::open(path).unwrap().width(), 8);
        }
        let text = write_picture(Path::new("a.gif"), &picture).unwrap_err().to_string();
        assert!(text.contains(".gif") && text.contains(".png"), "{text}");
    }

    #[test]
    fn coloured_map_spans_its_own_range() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.png");
        let values = Image::new(3, 1, vec![16, 160, INVALID]);
        let map = DisparityMap { values, reasons: Image::filled(3, 1, 0), confidence: None };
        write_color(&path, &map, None, None, Colormap::Turbo).unwrap();
        let stored = image::open(path).unwrap().into_rgb8();
        assert_eq!(stored.get_pixel(0, 0).0, Colormap::Turbo.color(0.0));
        assert_eq!(stored.get_pixel(1, 0).0, Colormap::Turbo.color(1.0));
        assert_eq!(stored.get_pixel(2, 0).0, [0, 0, 0]);
    }
}
