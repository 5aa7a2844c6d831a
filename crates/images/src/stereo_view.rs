//! Both views of a pair in one image, to be looked at.
//!
//! Rectified images put infinity into the plane of the screen and everything else in front of it. Here the views are moved against each
//! other, so that a chosen disparity lies in that plane, and the columns that one of them lacks are cut off.

use super::file::ExportError;
use super::mpo;
use super::picture::{colors_of, write_rgb};
use image::codecs::jpeg::JpegEncoder;
use std::path::Path;
use stereopsis_base::files;
use stereopsis_base::image::{Image, Picture};

/// Quality of the images in an MPO, 1 to 100.
const QUALITY: u8 = 95;

/// Arrangement of two views in one file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StereoView {
    /// The left view in the left half.
    SideBySide,
    /// The left view in the upper half.
    TopBottom,
    /// The left view's brightness in red, the right view's green and blue, for glasses that are red on the left and cyan on the right.
    Anaglyph,
    /// Two JPEG images in one file, the left one first.
    Mpo,
}

/// Writes both images of a rectified pair, which have one size, with the disparity `screen_px`, px, in the plane of the screen.
///
/// # Errors
/// The disparity is as large as the images are wide, or the file cannot be written.
pub fn write_stereo_view(
    path: &Path,
    view: StereoView,
    pair: [&Picture; 2],
    screen_px: i32,
) -> Result<(), ExportError> {
    let [left, right] =
        on_screen(pair, screen_px).ok_or(ExportError::Screen { screen_px, width_px: pair[0].size().0 })?;
    let (width, height) = left.size();
    match view {
        StereoView::SideBySide => write_rgb(
            path,
            &Image::from_fn(2 * width, height, |x, y| if x < width { left.at(x, y) } else { right.at(x - width, y) }),
        ),
        StereoView::TopBottom => write_rgb(
            path,
            &Image::from_fn(width, 2 * height, |x, y| if y < height { left.at(x, y) } else { right.at(x, y - height) }),
        ),
        StereoView::Anaglyph => write_rgb(
            path,
            &Image::from_fn(width, height, |x, y| {
                let [_, green, blue] = right.at(x, y);
                [stereopsis_base::image::luma_of(left.at(x, y)), green, blue]
            }),
        ),
        StereoView::Mpo => {
            let encode = |image: &Image<[u8; 3]>| {
                let mut bytes = Vec::new();
                let (width, height) = (image.width() as u32, image.height() as u32);
                let encoder = JpegEncoder::new_with_quality(&mut bytes, QUALITY);
                let pixels = image.pixels().as_flattened();
                image::ImageEncoder::write_image(encoder, pixels, width, height, image::ExtendedColorType::Rgb8)
                    .map_err(|err| ExportError::encode(path, err))?;
                Ok::<_, ExportError>(bytes)
            };
            Ok(files::write(path, &mpo::joined(&encode(&left)?, &encode(&right)?))?)
        }
    }
}

/// Returns the columns of both images that show the same part of the screen; `None` without any.
fn on_screen([left, right]: [&Picture; 2], screen_px: i32) -> Option<[Image<[u8; 3]>; 2]> {
    let by = screen_px.unsigned_abs() as usize;
    let (width, height) = left.size();
    let width = width.checked_sub(by).filter(|&width| width > 0)?;
    // left column x shows what right column x - d shows
    let (of_left, of_right) = if screen_px >= 0 { (by, 0) } else { (0, by) };
    let cut = |picture: &Picture, from: usize| {
        let colors = colors_of(picture);
        Image::from_fn(width, height, |x, y| colors.at(x + from, y))
    };
    Some([cut(left, of_left), cut(right, of_right)])
}

#[cfg(test)]
mod tests {
    use super::*;
    use stereopsis_base::image::Luma;

    /// Pair of 9x2 px in which every column is as bright as its number, and 3 px apart.
    fn pair() -> [Picture; 2] {
        let view = |shift: usize| Picture {
            luma: Luma::U8(Image::from_fn(9, 2, |x, y| (10 * (x + shift) + y) as u8)),
            rgb: None,
        };
        [view(0), view(3)]
    }

    fn written(name: &str, view: StereoView, screen_px: i32) -> image::RgbImage {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(name);
        let [left, right] = pair();
        write_stereo_view(&path, view, [&left, &right], screen_px).unwrap();
        image::open(path).unwrap().to_rgb8()
    }

    #[test]
    fn the_chosen_disparity_lies_in_the_plane_of_the_screen() {
        let both = written("a.png", StereoView::SideBySide, 3);
        assert_eq!(both.dimensions(), (12, 2));
        assert!((0..6).all(|x| both.get_pixel(x, 1) == both.get_pixel(x + 6, 1)), "what is 3 px apart falls together");
        assert_eq!(both.get_pixel(0, 0).0, [30; 3]);
        let both = written("a.png", StereoView::TopBottom, 3);
        assert_eq!(both.dimensions(), (6, 4));
        assert!((0..6).all(|x| both.get_pixel(x, 0) == both.get_pixel(x, 2)));
        let red_cyan = written("a.png", StereoView::Anaglyph, 3);
        assert!(
            red_cyan.pixels().all(|pixel| pixel.0[0] == pixel.0[1] && pixel.0[1] == pixel.0[2]),
            "grey without a ghost"
        );
        let behind = written("a.png", StereoView::SideBySide, -2);
        assert_eq!(
            (behind.dimensions(), behind.get_pixel(0, 0).0, behind.get_pixel(7, 0).0),
            ((14, 2), [0; 3], [50; 3])
        );
    }

    #[test]
    fn an_anaglyph_has_the_left_view_in_red() {
        let image = written("a.png", StereoView::Anaglyph, 0);
        assert_eq!(image.get_pixel(1, 0).0, [10, 40, 40]);
    }

    #[test]
    fn a_screen_outside_of_the_images_is_refused() {
        let [left, right] = pair();
        let text = write_stereo_view(Path::new("a.png"), StereoView::Mpo, [&left, &right], 9).unwrap_err().to_string();
        assert!(text.contains("9 px") && text.contains("screen-px"), "{text}");
    }
}
