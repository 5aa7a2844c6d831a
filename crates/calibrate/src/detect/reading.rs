//! Codes of markers and tags, read from an image.

use crate::marker::turned;
use glam::DVec2;
use stereopsis_base::image::Image;

/// Smallest difference between white and black of a readable marker, grey levels.
const MIN_CONTRAST: f64 = 8.0;

/// Cell layout of a marker in a square with known corners.
#[derive(Clone, Copy, Debug)]
pub(super) struct Cells {
    /// Distance from the square's edge to the marker, in squares.
    pub(super) inset: f64,
    /// Distance from the square's edge to the middle of the white margin in squares, negative outside the square.
    pub(super) white: f64,
    /// Number of cells between rim and code.
    pub(super) border: usize,
    /// Number of cells along a side of the code.
    pub(super) bits: usize,
}

impl Cells {
    /// Reads the code in a square with these corners in order, or returns `None` if the border is not black.
    pub(super) fn read(&self, picture: &Image<u8>, corners: [DVec2; 4]) -> Option<u64> {
        let in_picture = perspective(corners);
        let cells = self.bits + 2 * self.border;
        let cell = (1.0 - 2.0 * self.inset) / cells as f64;
        let (mut border, mut inside) = (Vec::new(), Vec::new());
        let code_cells = self.border..cells - self.border;
        for (x, y) in (0..cells).flat_map(|y| (0..cells).map(move |x| (x, y))) {
            // only the inner part of a cell, because of blur
            let spots = [-0.22, 0.0, 0.22];
            let centre = DVec2::new(x as f64 + 0.5, y as f64 + 0.5);
            let all = spots.iter().flat_map(|dy| spots.map(|dx| centre + DVec2::new(dx, *dy)));
            let sum: f64 =
                all.filter_map(|spot| bilinear(picture, in_picture(DVec2::splat(self.inset) + spot * cell))).sum();
            let is_inside = code_cells.contains(&x) && code_cells.contains(&y);
            if is_inside { &mut inside } else { &mut border }.push(sum / 9.0);
        }
        let white_spots = (1..8).flat_map(|step| {
            let along = f64::from(step) / 8.0;
            [(along, self.white), (along, 1.0 - self.white), (self.white, along), (1.0 - self.white, along)]
        });
        let white: Vec<f64> =
            white_spots.filter_map(|(x, y)| bilinear(picture, in_picture(DVec2::new(x, y)))).collect();
        // narrow margins look grey, where the brightest cell is a better white
        let white = median(white)?.max(inside.iter().copied().fold(0.0, f64::max));
        let black = median(border.clone())?;
        let threshold = f64::midpoint(white, black);
        let dark = border.iter().filter(|value| **value < threshold).count();
        if white - black < MIN_CONTRAST || dark * 10 < 8 * border.len() {
            return None;
        }
        Some(inside.iter().enumerate().fold(0, |code, (bit, value)| code | u64::from(*value < threshold) << bit))
    }
}

/// Codes of a dictionary, of which a board uses the first ones.
#[derive(Clone, Debug)]
pub(super) struct Codes {
    pub(super) all: Vec<u64>,
    /// Number of cells along a side of a code.
    pub(super) bits: usize,
}

impl Codes {
    /// Returns the agreement of a code with a number's code, rotated by quarter turns, from -1 to 1 and 0 by chance.
    pub(super) fn agreement(&self, number: usize, turn: usize, code: u64) -> f64 {
        let expected = turned(self.all[number], self.bits, turn);
        1.0 - 2.0 * f64::from((expected ^ code).count_ones()) / (self.bits * self.bits) as f64
    }

    /// Finds number and turn of a code among the first `count` with at most one wrong bit in eight.
    pub(super) fn nearest(&self, count: usize, code: u64) -> Option<(usize, usize)> {
        let bits = self.bits;
        let turns = [0, 1, 2, 3].map(|turn| turned(code, bits, (4 - turn) % 4));
        let codes = self.all.iter().take(count).enumerate();
        let all = codes.flat_map(|(number, known)| {
            turns.iter().enumerate().map(move |(turn, code)| ((known ^ code).count_ones(), number, turn))
        });
        let (wrong, number, turn) = all.min()?;
        (wrong as usize <= bits * bits / 8).then_some((number, turn))
    }

    /// Whether the dictionary contains exactly this code.
    pub(super) fn knows(&self, code: u64) -> bool {
        (0..4).any(|turn| self.all.contains(&turned(code, self.bits, turn)))
    }
}

/// Maps the unit square to four corners in their order around it (Heckbert, "Fundamentals of Texture Mapping and Image Warping", 1989,
/// section 2.2.3).
pub(super) fn perspective([a, b, c, d]: [DVec2; 4]) -> impl Fn(DVec2) -> DVec2 {
    let (sum, along, across) = (a - b + c - d, b - c, d - c);
    let area = along.perp_dot(across);
    let (g, h) = (sum.perp_dot(across) / area, along.perp_dot(sum) / area);
    let (x, y) = (b - a + g * b, d - a + h * d);
    move |spot| (x * spot.x + y * spot.y + a) / (g * spot.x + h * spot.y + 1.0)
}

/// Interpolates the brightness, or returns `None` outside the image.
pub(super) fn bilinear(picture: &Image<u8>, at: DVec2) -> Option<f64> {
    let last = DVec2::new(picture.width() as f64 - 1.0, picture.height() as f64 - 1.0);
    if !(at.cmpge(DVec2::ZERO).all() && at.cmple(last).all()) {
        return None;
    }
    let base = at.floor().min(last - 1.0).max(DVec2::ZERO);
    let (part, x, y) = (at - base, base.x as usize, base.y as usize);
    let pixel = |x: usize, y: usize| f64::from(picture.at(x.min(picture.width() - 1), y.min(picture.height() - 1)));
    let row = |y: usize| pixel(x, y) * (1.0 - part.x) + pixel(x + 1, y) * part.x;
    Some(row(y) * (1.0 - part.y) + row(y + 1) * part.y)
}

pub(super) fn median(mut values: Vec<f64>) -> Option<f64> {
    let middle = values.len() / 2;
    (!values.is_empty()).then(|| *values.select_nth_unstable_by(middle, f64::total_cmp).1)
}
