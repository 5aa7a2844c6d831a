//! Building blocks of the page: text, tables, drawings and embedded images.

use data_encoding::BASE64;
use image::codecs::png::{CompressionType, FilterType, PngEncoder};
use image::imageops::thumbnail;
use image::{ColorType, GrayImage, ImageEncoder as _};
use std::fmt::Write as _;

use stereopsis_base::console;
use stereopsis_base::image::Image;

/// Escapes foreign text, so that it contains neither markup nor control characters.
pub(super) fn escaped(text: &str) -> String {
    let text = console::shown(text);
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

pub(super) fn section(heading: &str, body: &str) -> String {
    format!("<section>\n<h2>{}</h2>\n{body}</section>\n", escaped(heading))
}

pub(super) fn paragraph(text: &str) -> String {
    format!("<p>{}</p>\n", escaped(text))
}

pub(super) fn list(items: &[impl ToString]) -> String {
    if items.is_empty() {
        return String::new();
    }
    let mut text = String::from("<ul>\n");
    for item in items {
        let _ = writeln!(text, "<li>{}</li>", escaped(&item.to_string()));
    }
    text + "</ul>\n"
}

/// Returns a table with markup in its cells.
pub(super) fn table(head: &[&str], rows: &[Vec<String>]) -> String {
    let mut text = String::from("<table>\n<thead><tr>");
    for name in head {
        let _ = write!(text, "<th>{}</th>", escaped(name));
    }
    text.push_str("</tr></thead>\n<tbody>\n");
    for row in rows {
        text.push_str("<tr>");
        for cell in row {
            let _ = write!(text, "<td>{cell}</td>");
        }
        text.push_str("</tr>\n");
    }
    text.push_str("</tbody>\n</table>\n");
    text
}

pub(super) fn figures(drawings: &[(String, String)]) -> String {
    let figure = |(drawing, caption): &(String, String)| {
        format!("<figure>\n{drawing}<figcaption>{}</figcaption>\n</figure>\n", escaped(caption))
    };
    format!("<div class=\"pair\">\n{}</div>\n", drawings.iter().map(figure).collect::<String>())
}

/// Encodes a grey image as an embedded PNG at most `most` px wide, and returns its size too.
pub(super) fn png(picture: &Image<u8>, most: usize) -> Option<(String, (usize, usize))> {
    let (width, height) = picture.size();
    let grey = GrayImage::from_raw(width as u32, height as u32, picture.pixels().to_vec())?;
    let small = if width > most {
        thumbnail(&grey, most as u32, ((height * most) as f64 / width as f64).round().max(1.0) as u32)
    } else {
        grey
    };
    let mut bytes = Vec::new();
    PngEncoder::new_with_quality(&mut bytes, CompressionType::Best, FilterType::Adaptive)
        .write_image(&small, small.width(), small.height(), ColorType::L8.into())
        .ok()?;
    let size = (small.width() as usize, small.height() as usize);
    Some((format!("data:image/png;base64,{}", BASE64.encode(&bytes)), size))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_of_others_is_no_markup() {
        assert_eq!(escaped("<a href=\"x\">&"), "&lt;a href=&quot;x&quot;&gt;&amp;");
        assert!(!escaped("a\u{1b}[2Jb").contains('\u{1b}'));
    }

    #[test]
    fn pictures_are_made_smaller_and_can_be_read_again() {
        let picture = Image::from_fn(200, 100, |x, _| if x < 100 { 40 } else { 220 });
        let (address, size) = png(&picture, 50).unwrap();
        assert_eq!(size, (50, 25));
        let bytes = BASE64.decode(address.strip_prefix("data:image/png;base64,").unwrap().as_bytes()).unwrap();
        let read = image::load_from_memory(&bytes).unwrap().to_luma8();
        assert_eq!((read.dimensions(), read.get_pixel(5, 5).0, read.get_pixel(45, 5).0), ((50, 25), [40], [220]));
        assert_eq!(png(&picture, 500).unwrap().1, (200, 100));
    }
}
