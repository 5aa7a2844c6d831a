//! Drawing of panels side by side: images with captions, colour bars, a note and a legend.

use super::scale::Tick;
use super::text::Face;
use stereopsis_base::image::Image;
use stereopsis_images::colormap::Colormap;

pub(crate) const BACKGROUND: [u8; 3] = [22, 24, 28];
pub(crate) const EMPTY_PANEL: [u8; 3] = [32, 35, 40];
const TEXT: [u8; 3] = [226, 228, 232];
const QUIET_TEXT: [u8; 3] = [152, 158, 168];

/// Image with a caption and an optional colour bar.
pub(crate) struct Panel {
    pub(crate) title: &'static str,
    /// Texts of which the first one that fits stands beside the title.
    pub(crate) details: Vec<String>,
    /// Pixels; all panels have one size.
    pub(crate) picture: Image<[u8; 3]>,
    pub(crate) bar: Option<Bar>,
}

pub(crate) struct Bar {
    pub(crate) colormap: Colormap,
    pub(crate) unit: &'static str,
    pub(crate) ticks: Vec<Tick>,
}

struct Layout {
    zoom: usize,
    /// Height of a line of text, and the distance of panels.
    line: usize,
    bar_width: usize,
    label_width: usize,
    panel: (usize, usize),
}

/// Draws all panels, and `message` in the middle of the last one.
pub(crate) fn draw(panels: &[Panel], message: Option<&str>) -> Image<[u8; 3]> {
    let (width, height) = panels.first().map_or((1, 1), |panel| panel.picture.size());
    let zoom = (320 / width.max(1)).min(240 / height.max(1)).max(1);
    let panel_height = height * zoom;
    let Some(face) = Face::new((panel_height as f32 / 22.0).clamp(14.0, 34.0)) else {
        return Image::filled(1, 1, BACKGROUND);
    };
    let line = face.line_px();
    let layout = Layout {
        zoom,
        line,
        bar_width: line * 3 / 4,
        label_width: face.width_px("-000.0 px"),
        panel: (width * zoom, panel_height),
    };
    let with_bar = line / 2 + layout.bar_width + line / 4 + layout.label_width;
    let room = |panel: &Panel| layout.panel.0 + line + panel.bar.as_ref().map_or(0, |_| with_bar);
    let total_width = line + panels.iter().map(room).sum::<usize>();
    let top = line / 2 + line * 3 / 2;
    let mut image = Image::filled(total_width, top + layout.panel.1 + line, BACKGROUND);

    let mut x = line;
    for panel in panels {
        draw_panel(&mut image, &face, &layout, panel, (x, top));
        x += room(panel);
    }
    if let Some(message) = message {
        draw_message(&mut image, &face, &layout, (x - line - layout.panel.0, top), message);
    }
    image
}

fn draw_panel(image: &mut Image<[u8; 3]>, face: &Face, layout: &Layout, panel: &Panel, (x, y): (usize, usize)) {
    let caption = y - layout.line * 5 / 4;
    face.draw(image, x, caption, TEXT, panel.title);
    let detail_x = x + face.width_px(panel.title) + layout.line / 2;
    let fits = |detail: &&String| detail_x + face.width_px(detail) <= x + layout.panel.0;
    if let Some(detail) = panel.details.iter().find(fits) {
        face.draw(image, detail_x, caption, QUIET_TEXT, detail);
    }
    for row in 0..layout.panel.1 {
        let source = panel.picture.row(row / layout.zoom);
        for (column, pixel) in image.row_mut(y + row)[x..][..layout.panel.0].iter_mut().enumerate() {
            *pixel = source[column / layout.zoom];
        }
    }
    if let Some(bar) = &panel.bar {
        draw_bar(image, face, layout, bar, (x + layout.panel.0 + layout.line / 2, y));
    }
}

/// Draws a colour bar beside a panel, near at the top. Labels that overlap a more important one are left out.
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
        image.row_mut(y + row)[mark..][..layout.line / 4].fill(QUIET_TEXT);
        // labels at the ends stay beside the bar
        let label_row = row.saturating_sub(layout.line / 2).min((last + 1).saturating_sub(layout.line));
        let label = format!("{} {}", tick.label, bar.unit);
        face.draw(image, mark + layout.line / 4 + layout.line / 8, y + label_row, TEXT, &label);
    }
}

fn draw_message(image: &mut Image<[u8; 3]>, face: &Face, layout: &Layout, (x, y): (usize, usize), text: &str) {
    let lines = face.wrap(text, layout.panel.0.saturating_sub(layout.line));
    let start = y + (layout.panel.1 / 2).saturating_sub(lines.len() * layout.line / 2);
    for (i, line) in lines.iter().enumerate() {
        let indent = layout.panel.0.saturating_sub(face.width_px(line)) / 2;
        face.draw(image, x + indent, start + i * layout.line, TEXT, line);
    }
}
