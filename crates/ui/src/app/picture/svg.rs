//! Drawing as SVG: lines stay lines, and text stays text.

use egui::epaint::{ClippedShape, ColorMode, Mesh, PathStroke, TextShape};
use egui::{Color32, FontFamily, Rect, Shape, Stroke, StrokeKind, Vec2};
use std::fmt::Write as _;

/// Writes shapes in points as SVG text, without images and GPU callbacks, which figures lack.
pub(crate) fn svg(shapes: &[ClippedShape], size: Vec2, background: Color32, title: &str, description: &str) -> String {
    let Vec2 { x: width, y: height } = size;
    let mut text = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" viewBox=\"0 0 {width} {height}\">\n\
         <title>{}</title>\n<desc>{}</desc>\n<rect width=\"{width}\" height=\"{height}\"{}/>\n",
        escaped(title),
        escaped(description),
        filled(background)
    );
    let whole = Rect::from_min_size(egui::Pos2::ZERO, size);
    for (number, ClippedShape { clip_rect, shape, .. }) in shapes.iter().enumerate() {
        let clips = !clip_rect.contains_rect(shape.visual_bounding_rect()) && !clip_rect.contains_rect(whole);
        if clips {
            let Rect { min, .. } = clip_rect;
            let clip = clip_rect.size();
            let _ = writeln!(
                text,
                "<clipPath id=\"c{number}\"><rect x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\"/></clipPath>\n<g clip-path=\"url(#c{number})\">",
                min.x, min.y, clip.x, clip.y
            );
        }
        add(&mut text, shape);
        if clips {
            text.push_str("</g>\n");
        }
    }
    text.push_str("</svg>\n");
    text
}

fn add(text: &mut String, shape: &Shape) {
    match shape {
        Shape::Vec(shapes) => shapes.iter().for_each(|shape| add(text, shape)),
        Shape::Circle(circle) => {
            let attributes = format!("{}{}", filled(circle.fill), stroked(circle.stroke));
            let (x, y, radius) = (circle.center.x, circle.center.y, circle.radius);
            let _ = writeln!(text, "<circle cx=\"{x}\" cy=\"{y}\" r=\"{radius}\"{attributes}/>");
        }
        Shape::LineSegment { points: [from, to], stroke } => {
            let (x1, y1, x2, y2) = (from.x, from.y, to.x, to.y);
            let _ = writeln!(text, "<line x1=\"{x1}\" y1=\"{y1}\" x2=\"{x2}\" y2=\"{y2}\"{}/>", stroked(*stroke));
        }
        Shape::Path(path) => {
            let points: Vec<_> = path.points.iter().map(|point| format!("{},{}", point.x, point.y)).collect();
            let name = if path.closed { "polygon" } else { "polyline" };
            let attributes = format!("{}{}", filled(path.fill), stroked(solid(&path.stroke)));
            let _ = writeln!(text, "<{name} points=\"{}\"{attributes}/>", points.join(" "));
        }
        Shape::Rect(rect) => {
            let outset = match rect.stroke_kind {
                StrokeKind::Inside => -rect.stroke.width / 2.0,
                StrokeKind::Middle => 0.0,
                StrokeKind::Outside => rect.stroke.width / 2.0,
            };
            let outset = if rect.stroke.is_empty() { 0.0 } else { outset };
            let drawn = rect.rect.expand(outset);
            if drawn.is_positive() && !(rect.fill == Color32::TRANSPARENT && rect.stroke.is_empty()) {
                let attributes = format!("{}{}", filled(rect.fill), stroked(rect.stroke));
                let (x, y, width, height) = (drawn.left(), drawn.top(), drawn.width(), drawn.height());
                let radius = rect.corner_radius.nw;
                let _ = writeln!(
                    text,
                    "<rect x=\"{x}\" y=\"{y}\" width=\"{width}\" height=\"{height}\" rx=\"{radius}\"{attributes}/>"
                );
            }
        }
        Shape::Text(shape) => add_text(text, shape),
        Shape::Mesh(mesh) => add_mesh(text, mesh),
        Shape::Noop
        | Shape::Ellipse(_)
        | Shape::Band(_)
        | Shape::QuadraticBezier(_)
        | Shape::CubicBezier(_)
        | Shape::Callback(_) => {}
    }
}

/// Adds each row of a text as one element.
fn add_text(text: &mut String, shape: &TextShape) {
    let format = shape.galley.job.sections.first().map(|section| &section.format);
    let Some(format) = format else { return };
    let colour = shape.override_text_color.unwrap_or(format.color);
    let colour = if colour == Color32::PLACEHOLDER { shape.fallback_color } else { colour };
    let colour = colour.gamma_multiply(shape.opacity_factor);
    let family = if format.font_id.family == FontFamily::Monospace { "monospace" } else { "sans-serif" };
    let turned = if shape.angle == 0.0 {
        String::new()
    } else {
        format!(" transform=\"rotate({} {} {})\"", shape.angle.to_degrees(), shape.pos.x, shape.pos.y)
    };
    for row in &shape.galley.rows {
        let Some(first) = row.row.glyphs.first() else { continue };
        let at = shape.pos + row.pos.to_vec2() + first.pos.to_vec2();
        let words: String = row.row.glyphs.iter().map(|glyph| glyph.chr).collect();
        let _ = writeln!(
            text,
            "<text x=\"{}\" y=\"{}\" font-family=\"{family}\" font-size=\"{}\" textLength=\"{}\"{}{turned}>{}</text>",
            at.x,
            at.y,
            format.font_id.size,
            row.row.glyphs.iter().map(|glyph| glyph.advance_width).sum::<f32>(),
            filled(colour),
            escaped(words.trim_end())
        );
    }
}

/// Adds triangles of one colour each, as in bars and swatches.
fn add_mesh(text: &mut String, mesh: &Mesh) {
    for triangle in mesh.indices.chunks_exact(3) {
        let corners: Vec<_> = triangle.iter().map(|&index| &mesh.vertices[index as usize]).collect();
        let points: Vec<_> = corners.iter().map(|corner| format!("{},{}", corner.pos.x, corner.pos.y)).collect();
        // crisp edges, since antialiasing would show a line between neighbours
        let _ = writeln!(
            text,
            "<polygon points=\"{}\"{} shape-rendering=\"crispEdges\"/>",
            points.join(" "),
            filled(corners[0].color)
        );
    }
}

fn solid(stroke: &PathStroke) -> Stroke {
    match stroke.color {
        ColorMode::Solid(color) => Stroke::new(stroke.width, color),
        ColorMode::UV(_) => Stroke::NONE,
    }
}

fn filled(colour: Color32) -> String {
    attribute("fill", colour)
}

fn stroked(stroke: Stroke) -> String {
    if stroke.is_empty() {
        return String::new();
    }
    format!("{} stroke-width=\"{}\"", attribute("stroke", stroke.color), stroke.width)
}

fn attribute(name: &str, colour: Color32) -> String {
    let [r, g, b, a] = colour.to_srgba_unmultiplied();
    match a {
        0 => format!(" {name}=\"none\""),
        255 => format!(" {name}=\"#{r:02x}{g:02x}{b:02x}\""),
        _ => format!(" {name}=\"#{r:02x}{g:02x}{b:02x}\" {name}-opacity=\"{:.3}\"", f32::from(a) / 255.0),
    }
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}
