//! Page as PDF, with rectangles and Helvetica, a standard font that needs no embedding.

use super::sheet::Sheet;
use glam::DVec2;
use pdf_writer::{Content, Finish as _, Name, Pdf, Rect, Ref, Str};

const POINTS: f64 = 72.0 / 25.4;
const FONT: Name = Name(b"F1");

pub(super) fn pdf(sheet: &Sheet) -> Vec<u8> {
    let [catalog, pages, page_id, font, content] = [1, 2, 3, 4, 5].map(Ref::new);
    let mut pdf = Pdf::new();
    pdf.set_version(1, 6);
    let mut root = pdf.catalog(catalog);
    root.pages(pages);
    // readers that support it disable "fit to page"
    root.viewer_preferences().insert(Name(b"PrintScaling")).primitive(Name(b"None"));
    root.finish();
    pdf.pages(pages).kids([page_id]).count(1);
    let mut page = pdf.page(page_id);
    page.parent(pages).media_box(Rect::new(0.0, 0.0, (sheet.width * POINTS) as f32, (sheet.height * POINTS) as f32));
    page.contents(content);
    page.resources().fonts().pair(FONT, font);
    page.finish();
    pdf.type1_font(font).base_font(Name(b"Helvetica")).encoding_predefined(Name(b"WinAnsiEncoding"));
    pdf.stream(content, &drawing(sheet));
    pdf.finish()
}

/// Returns the drawing in PDF points, y upwards from the bottom left corner.
fn drawing(sheet: &Sheet) -> Vec<u8> {
    let points = |at: DVec2| (DVec2::new(at.x, sheet.height - at.y) * POINTS).as_vec2();
    let mut content = Content::new();
    content.set_fill_gray(0.0);
    for rect in &sheet.black {
        let at = points(DVec2::new(rect.at.x, rect.at.y + rect.size.y));
        let size = (rect.size * POINTS).as_vec2();
        content.rect(at.x, at.y, size.x, size.y);
    }
    content.fill_nonzero();
    for line in &sheet.lines {
        let at = points(line.at);
        content.begin_text();
        content.set_font(FONT, (sheet.font * POINTS) as f32);
        content.next_line(at.x, at.y);
        content.show(Str(line.text.as_bytes()));
        content.end_text();
    }
    content.finish().into_vec()
}
