//! Preview of a result: left | disparity | depth, with colour bars in px and metres.
//!
//! Disparity is grey with near white where there is depth beside it; depth, or else disparity, has colours, depth along its inverse. Both
//! span the 2nd to 98th per cent of the valid pixels.

use super::panel::{self, Bar, EMPTY_PANEL, Panel};
use super::scale;
use std::path::Path;
use stereopsis_base::geometry::Geometry;
use stereopsis_base::image::Image;
use stereopsis_base::remedy::{Remedy, option};
use stereopsis_frame::Frame;
use stereopsis_images::colormap::{Colormap, DisplayRange};
use stereopsis_images::{ExportError, colormap, colors_of, write_rgb};
use stereopsis_stereo::{DisparityMap, depth};

/// Draws the preview of a result. Small images are enlarged by an integer factor.
pub fn preview(frame: &Frame, map: &DisparityMap) -> Image<[u8; 3]> {
    let geometry = frame.geometry.as_ref();
    let range = DisplayRange::fit(map, geometry);
    let colored = |colors, geometry| {
        let range = range.unwrap_or(DisplayRange { far_px: 0.0, near_px: 1.0 });
        colormap::color_map(map, geometry, range, colors, false)
    };
    let (width, height) = map.size();

    let left = Panel {
        title: "left",
        details: vec![format!("{width} x {height}")],
        picture: colors_of(&frame.left),
        bar: None,
    };
    let colors = if geometry.is_some() { Colormap::Grey } else { Colormap::default() };
    let disparity = Panel {
        title: "disparity",
        // the shares at the ends of the search range are not shown
        details: vec![map.shares(0, 0).to_string()],
        picture: colored(colors, None),
        bar: range.map(|range| Bar { colormap: colors, unit: "px", ticks: scale::disparity_ticks(range) }),
    };
    let depth = geometry.map_or_else(
        || Panel { title: "depth", details: Vec::new(), picture: Image::filled(width, height, EMPTY_PANEL), bar: None },
        |geometry| Panel {
            title: if geometry.estimated { "depth, estimated" } else { "depth" },
            details: median_words(map, geometry),
            picture: colored(Colormap::default(), Some(geometry)),
            bar: range.map(|range| Bar {
                colormap: Colormap::default(),
                unit: "m",
                ticks: scale::depth_ticks(range, geometry),
            }),
        },
    );
    let message = geometry.is_none().then(no_depth);
    panel::draw(&[left, disparity, depth], message.as_deref())
}

/// Returns why there is no depth, and what to do.
fn no_depth() -> String {
    format!(
        "no depth: the calibration is missing ({}, {}, or the lens ({}) and {})",
        option("calibration"),
        Remedy::set("rectify", "auto"),
        option("fov-deg"),
        option("baseline-m")
    )
}

/// Writes [`preview`] to a `.png`, `.jpg`, `.tiff` or `.ppm`.
///
/// # Errors
/// The ending is unknown, or the file cannot be written.
pub fn write_preview(path: &Path, frame: &Frame, map: &DisparityMap) -> Result<(), ExportError> {
    write_rgb(path, &preview(frame, map))
}

/// Describes the middle one of the depths, in words of which the first ones need more room.
fn median_words(map: &DisparityMap, geometry: &Geometry) -> Vec<String> {
    let Some(median_px) = depth::median_px(map, geometry) else { return vec!["nowhere".to_owned()] };
    let median = geometry.depth_m(median_px).map_or_else(String::new, scale::metres);
    match geometry.depth_interval_m(median_px) {
        None => vec![format!("median {median} m")],
        Some(interval_m) => {
            let [near, far] = interval_m.map(scale::metres);
            let words = geometry.depth_words(median_px).unwrap_or_default();
            vec![format!("median {words}"), words, format!("{median} m ({near} to {far})")]
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::panel::BACKGROUND;
    use super::*;
    use stereopsis_base::image::{Luma, Picture};
    use stereopsis_images::fixture::{HEIGHT, WIDTH, frame, map};
    use stereopsis_stereo::INVALID;

    fn share_of(image: &Image<[u8; 3]>, color: [u8; 3]) -> f64 {
        image.pixels().iter().filter(|&&c| c == color).count() as f64 / image.pixels().len() as f64
    }

    #[test]
    fn shows_the_near_box_in_red_and_labels() {
        let image = preview(&frame(true), &map());
        assert!(image.width() > 3 * WIDTH && image.height() > HEIGHT);
        let near = Colormap::Turbo.color(1.0);
        let red = share_of(&image, near);
        assert!(red > 0.02, "no red box");
        assert!(red < 0.05, "more than the box is red: the range does not fit");
        // right of the bar there are only labels
        let labels = (0..image.height()).flat_map(|y| &image.row(y)[image.width() - 60..]);
        assert!(labels.filter(|color| color[0] > 150).count() > 50, "no labels");
    }

    #[test]
    fn shows_the_reason_for_missing_depth() {
        let image = preview(&frame(false), &map());
        assert!(share_of(&image, EMPTY_PANEL) > 0.15);
        let text = |image: &Image<[u8; 3]>| image.row(image.height() / 2)[image.width() - WIDTH..].to_vec();
        assert!(text(&image).iter().any(|&c| c != EMPTY_PANEL && c != BACKGROUND), "no text in the empty panel");
    }

    #[test]
    fn draws_any_size_and_an_empty_map() {
        for (width, height) in [(1, 1), (7, 300), (300, 1)] {
            let luma = Luma::U8(Image::filled(width, height, 9));
            let mut frame = frame(true);
            frame.left = Picture { luma, rgb: None }.into();
            let values = Image::filled(width, height, INVALID);
            let map = DisparityMap { values, reasons: Image::filled(width, height, 1), confidence: None };
            assert!(preview(&frame, &map).width() > 3 * width);
            frame.geometry = None;
            preview(&frame, &map);
        }
    }

    /// Writes both kinds of preview; `STEREOPSIS_PREVIEWS` names a folder in which to keep and view them.
    #[test]
    fn is_written_to_a_file() {
        let folder = tempfile::tempdir().unwrap();
        let folder = std::env::var_os("STEREOPSIS_PREVIEWS").map_or(folder.path().to_owned(), Into::into);
        for (name, with_geometry) in [("depth.png", true), ("no-depth.png", false)] {
            let path = folder.join(name);
            write_preview(&path, &frame(with_geometry), &map()).unwrap();
            assert!(image::open(path).unwrap().width() > 900);
        }
    }
}
