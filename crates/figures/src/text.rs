//! Text drawn into an image.

use ab_glyph::{Font, FontRef, PxScaleFont, ScaleFont};
use stereopsis_base::image::Image;

/// Font face at one size.
pub(crate) struct Face(PxScaleFont<FontRef<'static>>);

impl Face {
    /// Loads the face with lines `size_px` high.
    pub(crate) fn new(size_px: f32) -> Option<Self> {
        let font = FontRef::try_from_slice(epaint_default_fonts::UBUNTU_LIGHT).ok()?;
        Some(Self(font.into_scaled(size_px)))
    }

    pub(crate) fn line_px(&self) -> usize {
        (self.0.height() * 1.15).ceil() as usize
    }

    pub(crate) fn width_px(&self, text: &str) -> usize {
        self.place(text).last().map_or(0, |(_, end)| end.ceil() as usize)
    }

    /// Returns each glyph with its position, and the position of the next one.
    fn place(&self, text: &str) -> impl Iterator<Item = (ab_glyph::Glyph, f32)> {
        let (mut x, mut before) = (0.0, None);
        text.chars().map(move |c| {
            let mut glyph = self.0.scaled_glyph(c);
            x += before.map_or(0.0, |before| self.0.kern(before, glyph.id));
            before = Some(glyph.id);
            glyph.position.x = x;
            x += self.0.h_advance(glyph.id);
            (glyph, x)
        })
    }

    /// Draws `text` with the top left corner of its line at `(left, top)`, clipped to the image.
    pub(crate) fn draw(&self, image: &mut Image<[u8; 3]>, left: usize, top: usize, color: [u8; 3], text: &str) {
        let baseline = top as f32 + self.0.ascent();
        for (glyph, _) in self.place(text) {
            let Some(outline) = self.0.outline_glyph(glyph) else { continue };
            let origin = outline.px_bounds().min;
            outline.draw(|x, y, coverage| {
                let x = left as f32 + origin.x + x as f32;
                let y = baseline + origin.y + y as f32;
                if x >= 0.0 && y >= 0.0 && (x as usize) < image.width() && (y as usize) < image.height() {
                    let under = image.at(x as usize, y as usize);
                    let mix = |i: usize| {
                        let (under, over) = (f32::from(under[i]), f32::from(color[i]));
                        (under + (over - under) * coverage.min(1.0)).round() as u8
                    };
                    image.set(x as usize, y as usize, [mix(0), mix(1), mix(2)]);
                }
            });
        }
    }

    /// Breaks `text` between words into lines at most `width_px` wide; a longer word has its own line.
    pub(crate) fn wrap(&self, text: &str, width_px: usize) -> Vec<String> {
        let mut lines = vec![String::new()];
        for word in text.split_whitespace() {
            let Some(line) = lines.last_mut() else { break };
            let longer = if line.is_empty() { word.to_owned() } else { format!("{line} {word}") };
            if line.is_empty() || self.width_px(&longer) <= width_px {
                *line = longer;
            } else {
                lines.push(word.to_owned());
            }
        }
        lines
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn draws_inside_its_width_and_survives_the_edge() {
        let face = Face::new(18.0).unwrap();
        let width = face.width_px("0.42 m");
        let mut image = Image::filled(width + 20, face.line_px(), [0; 3]);
        face.draw(&mut image, 0, 0, [255; 3], "0.42 m");
        let lit: Vec<usize> =
            (0..image.width()).filter(|&x| (0..image.height()).any(|y| image.at(x, y)[0] > 64)).collect();
        assert!(lit.len() > width / 2 && *lit.last().unwrap() <= width, "{lit:?} in {width}");
        face.draw(&mut image, width, 10, [255; 3], "outside");
    }

    #[test]
    fn face_has_every_sign_that_labels_use() {
        let face = Face::new(18.0).unwrap();
        for c in "0123456789.,−∞·|%()-:".chars() {
            assert_ne!(face.0.glyph_id(c).0, 0, "no glyph for {c}");
        }
    }

    #[test]
    fn wraps_between_words() {
        let face = Face::new(18.0).unwrap();
        let lines = face.wrap("no depth: the calibration is missing", 120);
        assert!(lines.len() > 1 && lines.iter().all(|line| face.width_px(line) <= 120), "{lines:?}");
        assert_eq!(lines.join(" "), "no depth: the calibration is missing");
    }
}
