//! Preview of a result: left | disparity | depth, with colour bars in px and metres.
//!
//! Disparity is grey with near white; depth has the chosen colours along inverse depth. Without a given range, both span the 2nd to
//! 98th per cent of the valid pixels.

use super::panel::{self, Bar, EMPTY_PANEL, Panel};
use super::scale;
use std::path::Path;
use stereopsis_base::geometry::Geometry;
use stereopsis_base::image::Image;
use stereopsis_frame::Frame;
use stereopsis_images::colormap::{Colormap, DisplayRange};
use stereopsis_images::{ExportError, colormap, colors_of, write_rgb};
use stereopsis_stereo::{DisparityMap, reason};

const NO_DEPTH: &str =
    "no depth: the calibration is missing (--calibration, --rectify auto, or the lens (--fov-deg) and --baseline-m)";

/// Options of a preview.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PreviewOptions {
    /// Colours of the depth view, or of the disparity view without depth.
    pub colormap: Colormap,
    /// Range of the colours; `None` fits it to the data.
    pub range: Option<DisplayRange>,
    /// Whether invalid pixels are coloured by reason, in the view with the chosen colours.
    pub show_reasons: bool,
    /// Line below the images: engine, parameters, time. Empty for none.
    pub note: String,
}

/// Draws the preview of a result. Small images are enlarged by an integer factor.
pub fn preview(frame: &Frame, map: &DisparityMap, options: &PreviewOptions) -> Image<[u8; 3]> {
    let geometry = frame.geometry.as_ref();
    let range = options.range.or_else(|| DisplayRange::fit(map, geometry));
    // grey reasons would be indistinguishable from grey disparities
    let colored = |colormap, geometry, show_reasons| {
        let range = range.unwrap_or(DisplayRange { far_px: 0.0, near_px: 1.0 });
        colormap::color_map(map, geometry, range, colormap, show_reasons)
    };
    let (width, height) = map.size();
    // the shares at the ends of the search range are not shown
    let shares = map.shares(0, 0).to_string();

    let left =
        Panel { title: "left", detail: format!("{width} x {height}"), picture: colors_of(&frame.left), bar: None };
    let disparity_colormap = if geometry.is_some() { Colormap::Grey } else { options.colormap };
    let disparity = Panel {
        title: "disparity",
        detail: shares,
        picture: colored(disparity_colormap, None, options.show_reasons && geometry.is_none()),
        bar: range.map(|range| Bar { colormap: disparity_colormap, unit: "px", ticks: scale::disparity_ticks(range) }),
    };
    let depth = geometry.map(|geometry| Panel {
        title: if geometry.estimated { "depth, estimated" } else { "depth" },
        detail: match median_depth_m(map, geometry) {
            Some(median) => format!("median {} m", scale::metres(median)),
            None => "nowhere".to_owned(),
        },
        picture: colored(options.colormap, Some(geometry), options.show_reasons),
        bar: range.map(|range| Bar {
            colormap: options.colormap,
            unit: "m",
            ticks: scale::depth_ticks(range, geometry),
        }),
    });
    let empty = || Panel {
        title: "depth",
        detail: String::new(),
        picture: Image::filled(width, height, EMPTY_PANEL),
        bar: None,
    };
    let message = geometry.is_none().then_some(NO_DEPTH);
    let legend: Vec<_> = if options.show_reasons {
        // only reasons in this map, because all of them may not fit
        let found = map.reasons.pixels().iter().fold(0, |all, bits| all | bits);
        let found = reason::of_holes().filter(|(bit, ..)| found & bit != 0);
        found.map(|(bit, word, _)| (colormap::reason_color(bit), word)).collect()
    } else {
        Vec::new()
    };
    panel::draw(&[left, disparity, depth.unwrap_or_else(empty)], message, &options.note, &legend)
}

/// Writes [`preview`] to a `.png`, `.jpg`, `.tiff` or `.ppm`.
///
/// # Errors
/// The ending is unknown, or the file cannot be written.
pub fn write_preview(
    path: &Path,
    frame: &Frame,
    map: &DisparityMap,
    options: &PreviewOptions,
) -> Result<(), ExportError> {
    write_rgb(path, &preview(frame, map, options))
}

fn median_depth_m(map: &DisparityMap, geometry: &Geometry) -> Option<f64> {
    let mut depths: Vec<f32> = stereopsis_stereo::depth::depth_map(map, geometry)
        .into_pixels()
        .into_iter()
        .filter(|z| z.is_finite())
        .collect();
    let middle = depths.len() / 2;
    (!depths.is_empty()).then(|| f64::from(*depths.select_nth_unstable_by(middle, f32::total_cmp).1))
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
        let image = preview(&frame(true), &map(), &PreviewOptions::default());
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
        let image = preview(&frame(false), &map(), &PreviewOptions::default());
        assert!(share_of(&image, EMPTY_PANEL) > 0.15);
        let text = |image: &Image<[u8; 3]>| image.row(image.height() / 2)[image.width() - WIDTH..].to_vec();
        assert!(text(&image).iter().any(|&c| c != EMPTY_PANEL && c != BACKGROUND), "no text in the empty panel");
    }

    #[test]
    fn reasons_show_only_when_asked() {
        let color = colormap::reason_color(reason::LEFT_RIGHT);
        let options = PreviewOptions { show_reasons: true, ..PreviewOptions::default() };
        let share = |options| share_of(&preview(&frame(true), &map(), options), color);
        assert!(share(&options) > 0.005);
        assert!(share(&PreviewOptions::default()) < 0.001);
        let not_found = share_of(&preview(&frame(true), &map(), &options), colormap::reason_color(reason::MATCH));
        assert!(not_found < 0.0001, "the legend has what is there: {not_found}");
    }

    #[test]
    fn draws_any_size_and_an_empty_map() {
        for (width, height) in [(1, 1), (7, 300), (300, 1)] {
            let luma = Luma::U8(Image::filled(width, height, 9));
            let mut frame = frame(true);
            frame.left = Picture { luma, rgb: None }.into();
            let values = Image::filled(width, height, INVALID);
            let map = DisparityMap { values, reasons: Image::filled(width, height, 1), confidence: None };
            assert!(preview(&frame, &map, &PreviewOptions::default()).width() > 3 * width);
            frame.geometry = None;
            preview(&frame, &map, &PreviewOptions::default());
        }
    }

    /// Writes both kinds of preview; `STEREOPSIS_PREVIEWS` names a folder in which to keep and view them.
    #[test]
    fn is_written_to_a_file() {
        let folder = tempfile::tempdir().unwrap();
        let folder = std::env::var_os("STEREOPSIS_PREVIEWS").map_or(folder.path().to_owned(), Into::into);
        let options =
            PreviewOptions { note: "census-5x5 · 8 paths · CPU · 12.3 ms".into(), ..PreviewOptions::default() };
        for (name, with_geometry) in [("depth.png", true), ("no-depth.png", false)] {
            let path = folder.join(name);
            let options = PreviewOptions { show_reasons: with_geometry, ..options.clone() };
            write_preview(&path, &frame(with_geometry), &map(), &options).unwrap();
            assert!(image::open(path).unwrap().width() > 900);
        }
    }
}
