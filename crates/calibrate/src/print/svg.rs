//! Page as SVG, in mm, or in px for a screen.

use super::sheet::Sheet;
use std::fmt::Write as _;

pub(super) fn svg(sheet: &Sheet) -> Vec<u8> {
    let Sheet { width, height, .. } = *sheet;
    let unit = if sheet.is_screen { "" } else { "mm" };
    let mut text = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}{unit}\" height=\"{height}{unit}\" viewBox=\"0 0 {width} {height}\">\n\
         <rect width=\"{width}\" height=\"{height}\" fill=\"#fff\"/>\n<path fill=\"#000\" d=\""
    );
    // one path, so that shared edges of rectangles leave no grey line
    for rect in &sheet.black {
        let [x, y, w, h] = [rect.at.x, rect.at.y, rect.size.x, rect.size.y].map(short);
        let _ = writeln!(text, "M{x} {y}h{w}v{h}h-{w}z");
    }
    let _ = writeln!(
        text,
        "\"/>\n<g font-family=\"Helvetica, Arial, sans-serif\" font-size=\"{}\" fill=\"#000\">",
        sheet.font
    );
    for line in &sheet.lines {
        let _ = writeln!(
            text,
            "<text x=\"{}\" y=\"{}\">{}</text>",
            short(line.at.x),
            short(line.at.y),
            escaped(&line.text)
        );
    }
    text.push_str("</g>\n</svg>\n");
    text.into_bytes()
}

/// Rounds a length to 0.1 µm.
fn short(length: f64) -> f64 {
    (length * 1e4).round() / 1e4
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;")
}
