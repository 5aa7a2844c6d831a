//! One picture that shows a result to a person: left | disparity | depth, with scales in px and in metres.
//!
//! Disparity is grey, near is white; depth has the chosen colours along inverse depth. Both span 2 to 98 per cent of the
//! valid pixels unless told otherwise.

use super::file::ExportError;
use super::picture::write_rgb;
use super::scale::{self, Tick};
use super::text::Face;
use crate::colormap::{self, Colormap, DisplayRange};
use crate::frame::{Frame, Geometry, Picture};
use crate::image::Image;
use crate::stereo::DisparityMap;
use std::path::Path;

const BACKGROUND: [u8; 3] = [22, 24, 28];
const EMPTY_PANEL: [u8; 3] = [32, 35, 40];
const TEXT: [u8; 3] = [226, 228, 232];
const QUIET_TEXT: [u8; 3] = [152, 158, 168];
const NO_DEPTH: &str = "no depth: the calibration is missing (--calibration, or --focal-px and --baseline-m)";

/// How a preview looks.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PreviewOptions {
    /// Colours of the depth view, and of the disparity view where there is no depth.
    pub colormap: Colormap,
    /// What the colours span; `None` fits it.
    pub range: Option<DisplayRange>,
    /// Colours invalid pixels by reason.
    pub show_reasons: bool,
    /// A line below the pictures: engine, parameters, time. Empty for none.
    pub note: String,
}

/// Draws the preview of a result. Small pictures are enlarged by a whole factor.
pub fn preview(frame: &Frame, map: &DisparityMap, options: &PreviewOptions) -> Image<[u8; 3]> {
    let geometry = frame.geometry.as_ref();
    let range = options.range.or_else(|| DisplayRange::fit(map, geometry));
    let colored = |colormap, geometry| {
        let range = range.unwrap_or(DisplayRange { far_px: 0.0, near_px: 1.0 });
        colormap::color_map(map, geometry, range, colormap, options.show_reasons)
    };
    let (width, height) = map.size();
    let valid = format!("{:.1} % valid", map.valid_share() * 100.0);

    let left = Panel { title: "left", detail: format!("{width} x {height}"), picture: rgb_of(&frame.left), bar: None };
    let disparity_colormap = if geometry.is_some() { Colormap::Grey } else { options.colormap };
    let disparity = Panel {
        title: "disparity",
        detail: valid,
        picture: colored(disparity_colormap, None),
        bar: range.map(|range| Bar { colormap: disparity_colormap, unit: "px", ticks: scale::disparity_ticks(range) }),
    };
    let depth = geometry.map(|geometry| Panel {
        title: "depth",
        detail: match median_depth_m(map, geometry) {
            Some(median) => format!("median {} m", scale::metres(median)),
            None => "nowhere".to_owned(),
        },
        picture: colored(options.colormap, Some(geometry)),
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
    draw(&[left, disparity, depth.unwrap_or_else(empty)], message, &options.note)
}

/// Writes [`preview`] to a `.png`, `.jpg`, `.tiff` or `.ppm`.
///
/// # Errors
/// Another ending, or the file cannot be written.
pub fn write_preview(
    path: &Path,
    frame: &Frame,
    map: &DisparityMap,
    options: &PreviewOptions,
) -> Result<(), ExportError> {
    write_rgb(path, &preview(frame, map, options))
}

struct Panel {
    title: &'static str,
    detail: String,
    picture: Image<[u8; 3]>,
    bar: Option<Bar>,
}

struct Bar {
    colormap: Colormap,
    unit: &'static str,
    ticks: Vec<Tick>,
}

/// Every length of the layout, px.
struct Layout {
    zoom: usize,
    margin: usize,
    line: usize,
    bar_width: usize,
    label_width: usize,
    panel: (usize, usize),
}

fn draw(panels: &[Panel], message: Option<&str>, note: &str) -> Image<[u8; 3]> {
    let (width, height) = panels.first().map_or((1, 1), |panel| panel.picture.size());
    let zoom = (320 / width.max(1)).min(240 / height.max(1)).max(1);
    let panel_height = height * zoom;
    let Some(face) = Face::new((panel_height as f32 / 22.0).clamp(14.0, 34.0)) else {
        return Image::filled(1, 1, BACKGROUND);
    };
    let line = face.line_px();
    let layout = Layout {
        zoom,
        margin: line,
        line,
        bar_width: line * 3 / 4,
        label_width: face.width_px("-000.0 px"),
        panel: (width * zoom, panel_height),
    };
    let with_bar = layout.margin / 2 + layout.bar_width + layout.margin / 4 + layout.label_width;
    let room = |panel: &Panel| layout.panel.0 + layout.margin + panel.bar.as_ref().map_or(0, |_| with_bar);
    let total_width = layout.margin + panels.iter().map(room).sum::<usize>();
    let note_height = if note.is_empty() { 0 } else { line };
    let total_height = layout.margin / 2 + line * 3 / 2 + layout.panel.1 + layout.margin + note_height;
    let mut image = Image::filled(total_width, total_height, BACKGROUND);

    let top = layout.margin / 2 + line * 3 / 2;
    let mut x = layout.margin;
    for panel in panels {
        draw_panel(&mut image, &face, &layout, panel, (x, top));
        x += room(panel);
    }
    if let Some(message) = message {
        draw_message(&mut image, &face, &layout, (x - layout.margin - layout.panel.0, top), message);
    }
    face.draw(&mut image, layout.margin, top + layout.panel.1 + layout.margin / 2, QUIET_TEXT, note);
    image
}

fn draw_panel(image: &mut Image<[u8; 3]>, face: &Face, layout: &Layout, panel: &Panel, (x, y): (usize, usize)) {
    let caption = y - layout.line * 5 / 4;
    face.draw(image, x, caption, TEXT, panel.title);
    let detail_x = x + face.width_px(panel.title) + layout.margin / 2;
    if detail_x + face.width_px(&panel.detail) <= x + layout.panel.0 {
        face.draw(image, detail_x, caption, QUIET_TEXT, &panel.detail);
    }
    for row in 0..layout.panel.1 {
        let source = panel.picture.row(row / layout.zoom);
        for (column, pixel) in image.row_mut(y + row)[x..][..layout.panel.0].iter_mut().enumerate() {
            *pixel = source[column / layout.zoom];
        }
    }
    if let Some(bar) = &panel.bar {
        draw_bar(image, face, layout, bar, (x + layout.panel.0 + layout.margin / 2, y));
    }
}

/// A bar beside a panel, near at the top; labels keep clear of each other, the most important ones first.
fn draw_bar(image: &mut Image<[u8; 3]>, face: &Face, layout: &Layout, bar: &Bar, (x, y): (usize, usize)) {
    let last = layout.panel.1 - 1;
    for row in 0..=last {
        let color = bar.colormap.color(1.0 - row as f32 / last.max(1) as f32);
        image.row_mut(y + row)[x..][..layout.bar_width].fill(color);
    }
    let mut taken: Vec<usize> = Vec::new();
    for tick in &bar.ticks {
        let row = ((1.0 - tick.position.clamp(0.0, 1.0)) * last as f32).round() as usize;
        if taken.iter().any(|&other| other.abs_diff(row) < layout.line * 5 / 4) {
            continue;
        }
        taken.push(row);
        let mark = x + layout.bar_width;
        image.row_mut(y + row)[mark..][..layout.margin / 4].fill(QUIET_TEXT);
        // labels at the ends stay beside the bar
        let label_row = row.saturating_sub(layout.line / 2).min((last + 1).saturating_sub(layout.line));
        let label = format!("{} {}", tick.label, bar.unit);
        face.draw(image, mark + layout.margin / 4 + layout.margin / 8, y + label_row, TEXT, &label);
    }
}

fn draw_message(image: &mut Image<[u8; 3]>, face: &Face, layout: &Layout, (x, y): (usize, usize), text: &str) {
    let lines = face.wrap(text, layout.panel.0.saturating_sub(layout.margin));
    let start = y + (layout.panel.1 / 2).saturating_sub(lines.len() * layout.line / 2);
    for (i, line) in lines.iter().enumerate() {
        let indent = layout.panel.0.saturating_sub(face.width_px(line)) / 2;
        face.draw(image, x + indent, start + i * layout.line, TEXT, line);
    }
}

fn rgb_of(picture: &Picture) -> Image<[u8; 3]> {
    match &picture.rgb {
        Some(rgb) => rgb.clone(),
        None => picture.luma.to_u8().map(|&v| [v; 3]),
    }
}

fn median_depth_m(map: &DisparityMap, geometry: &Geometry) -> Option<f64> {
    let mut depths: Vec<f32> =
        crate::stereo::depth::depth_map(map, geometry).into_pixels().into_iter().filter(|z| z.is_finite()).collect();
    let middle = depths.len() / 2;
    (!depths.is_empty()).then(|| f64::from(*depths.select_nth_unstable_by(middle, f32::total_cmp).1))
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use crate::frame::{Luma, RawPair};
    use crate::stereo::{INVALID, reason};
    use std::sync::Arc;
    use std::time::{Duration, Instant, SystemTime};

    const WIDTH: usize = 320;
    const HEIGHT: usize = 240;

    /// A ground from 2 to 40 px with a box at 64 px and the shadow of the box.
    pub(in super::super) fn map() -> DisparityMap {
        let inside = |x: usize, y: usize| (120..200).contains(&x) && (80..180).contains(&y);
        let shadow = |x: usize, y: usize| (96..120).contains(&x) && (80..180).contains(&y);
        let values = Image::from_fn(WIDTH, HEIGHT, |x, y| match () {
            () if inside(x, y) => 64 * 16,
            () if shadow(x, y) => INVALID,
            () => 32 + (y * 38 * 16 / HEIGHT) as i16,
        });
        let reasons = Image::from_fn(WIDTH, HEIGHT, |x, y| if shadow(x, y) { reason::LEFT_RIGHT } else { 0 });
        DisparityMap { values, reasons }
    }

    pub(in super::super) fn frame(with_geometry: bool) -> Frame {
        let luma = Image::from_fn(WIDTH, HEIGHT, |x, y| ((x * 7) ^ (y * 5)) as u8);
        let picture = Picture { luma: Luma::U8(luma), rgb: None };
        let raw = RawPair {
            left: picture.clone(),
            right: picture.clone(),
            sequence: 12,
            capture_time: SystemTime::UNIX_EPOCH + Duration::from_secs(1_700_000_000),
            skew_s: 0.0,
            name: "scene-000012".into(),
            truth: None,
        };
        let geometry = Geometry { focal_px: 300.0, baseline_m: 0.12, doffs_px: 0.0, cx_px: 159.5, cy_px: 119.5 };
        Frame {
            left: picture.clone(),
            right: picture,
            raw: Arc::new(raw),
            truth: None,
            geometry: with_geometry.then_some(geometry),
            arrived: Instant::now(),
            rectify_time: Duration::ZERO,
        }
    }

    fn share_of(image: &Image<[u8; 3]>, color: [u8; 3]) -> f64 {
        image.pixels().iter().filter(|&&c| c == color).count() as f64 / image.pixels().len() as f64
    }

    #[test]
    fn shows_the_near_box_in_red_and_labels() {
        let image = preview(&frame(true), &map(), &PreviewOptions::default());
        assert!(image.width() > 3 * WIDTH && image.height() > HEIGHT);
        let near = Colormap::Turbo.color(1.0);
        assert!(share_of(&image, near) > 0.02, "no red box");
        // right of the bar there are labels only
        let labels = (0..image.height()).flat_map(|y| &image.row(y)[image.width() - 60..]);
        assert!(labels.filter(|color| color[0] > 150).count() > 50, "no labels");
    }

    #[test]
    fn without_a_geometry_it_says_why_there_is_no_depth() {
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
        assert!(share(&options) > 0.01);
        assert!(share(&PreviewOptions::default()) < 0.001);
    }

    #[test]
    fn any_size_and_an_empty_map_are_drawn() {
        for (width, height) in [(1, 1), (7, 300), (300, 1)] {
            let luma = Luma::U8(Image::filled(width, height, 9));
            let mut frame = frame(true);
            frame.left = Picture { luma, rgb: None };
            let values = Image::filled(width, height, INVALID);
            let map = DisparityMap { values, reasons: Image::filled(width, height, 1) };
            assert!(preview(&frame, &map, &PreviewOptions::default()).width() > 3 * width);
            frame.geometry = None;
            preview(&frame, &map, &PreviewOptions::default());
        }
    }

    /// Writes the two kinds of preview where somebody wants to look at them.
    #[test]
    fn is_written_to_a_file() {
        let folder = tempfile::tempdir().unwrap();
        let folder = std::env::var_os("STEREOPSIS_PREVIEWS").map_or(folder.path().to_owned(), Into::into);
        let options =
            PreviewOptions { note: "census-5x5 · 8 paths · CPU · 12.3 ms".into(), ..PreviewOptions::default() };
        for (name, with_geometry) in [("depth.png", true), ("no-depth.png", false)] {
            let path = folder.join(name);
            write_preview(&path, &frame(with_geometry), &map(), &options).unwrap();
            assert!(image::open(path).unwrap().width() > 900);
        }
    }
}
