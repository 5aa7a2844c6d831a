//! Chessboards of known size in a lattice, and the numbering of their corners.

use super::lattice::Lattice;
use super::mismatch::Mismatch;
use crate::Corner;
use glam::{DVec2, IVec2, ivec2};

/// Largest contrast of a row beside the board, as a share of the board's, at which the row does not belong to the board.
const MAX_FAINT_CONTRAST: f64 = 0.5;

/// Rotated rectangle in a lattice: first corner, and the steps along rows and columns.
#[derive(Clone, Copy)]
struct Placement {
    first: IVec2,
    along: IVec2,
    down: IVec2,
}

impl Placement {
    fn at(self, x: i32, y: i32) -> IVec2 {
        self.first + self.along * x + self.down * y
    }
}

/// Finds a board of `inner` corners (columns, rows) in a lattice oriented like the image: x right, y down.
///
/// The numbering assumes a black top left square, which is unique only if one count is even and the other odd.
/// With two possible numberings, x lies between 60 degrees counterclockwise and 120 degrees clockwise of the image's right, so that both
/// cameras number upright and lying boards identically; with four, x is nearest to the right.
pub(super) fn find(lattice: &Lattice, inner: IVec2) -> Result<Vec<Corner>, Mismatch> {
    let placements = upright(inner).into_iter().flat_map(|extent| rectangles(lattice, extent));
    let mut whole: Vec<(IVec2, IVec2, f64)> =
        placements.map(|(first, extent)| (first, extent, faintest(lattice, first, extent))).collect();
    whole.sort_by(|a, b| b.2.total_cmp(&a.2));
    let seen = match whole[..] {
        [] => largest(lattice, inner),
        [_, second, ..] if second.2 > MAX_FAINT_CONTRAST * whole[0].2 => largest(lattice, inner),
        [(first, extent, _), ..] => return Ok(numbered(lattice, first, extent, inner)),
    };
    Err(if 4 * seen.element_product() < inner.element_product() {
        // keyboards and curtains contain smaller lattices
        Mismatch::Nothing
    } else if whole.is_empty() && seen.cmple(inner).all() {
        Mismatch::Part { seen, named: inner }
    } else {
        Mismatch::Larger { seen, named: inner }
    })
}

/// Returns both orientations of a board's extent.
fn upright(inner: IVec2) -> Vec<IVec2> {
    if inner.x == inner.y { vec![inner] } else { vec![inner, ivec2(inner.y, inner.x)] }
}

/// Returns the full rectangles of this extent by their first places.
fn rectangles(lattice: &Lattice, extent: IVec2) -> impl Iterator<Item = (IVec2, IVec2)> + '_ {
    let full = move |first: IVec2| places(first, extent).all(|place| lattice.get(place).is_some());
    lattice.places().map(|(first, _)| first).filter(move |first| full(*first)).map(move |first| (first, extent))
}

fn places(first: IVec2, extent: IVec2) -> impl Iterator<Item = IVec2> {
    (0..extent.y).flat_map(move |y| (0..extent.x).map(move |x| first + ivec2(x, y)))
}

/// Computes the contrast of the faintest outer row in grey levels.
fn faintest(lattice: &Lattice, first: IVec2, extent: IVec2) -> f64 {
    let last = first + extent - 1;
    let mean = |on: &dyn Fn(IVec2) -> bool| {
        let all: Vec<f64> =
            places(first, extent).filter(|place| on(*place)).filter_map(|place| lattice.contrast(place)).collect();
        all.iter().sum::<f64>() / all.len().max(1) as f64
    };
    let sides: [&dyn Fn(IVec2) -> bool; 4] =
        [&|p| p.x == first.x, &|p| p.x == last.x, &|p| p.y == first.y, &|p| p.y == last.y];
    sides.into_iter().map(mean).fold(f64::INFINITY, f64::min)
}

/// Finds the extent of the largest full rectangle, with its longer side along that of `inner`.
fn largest(lattice: &Lattice, inner: IVec2) -> IVec2 {
    let all = || lattice.places().map(|(place, _)| place);
    let (low, high) = all().fold((IVec2::MAX, IVec2::MIN), |(low, high), place| (low.min(place), high.max(place)));
    let mut best = IVec2::ZERO;
    if lattice.len() == 0 {
        return best;
    }
    let width = (high.x - low.x + 1) as usize;
    // number of unbroken corners above each place
    let mut heights = vec![0; width];
    for y in low.y..=high.y {
        for (x, height) in heights.iter_mut().enumerate() {
            *height = if lattice.get(ivec2(low.x + x as i32, y)).is_some() { *height + 1 } else { 0 };
        }
        for from in 0..width {
            let mut height = i32::MAX;
            for (x, tall) in heights.iter().enumerate().skip(from) {
                height = height.min(*tall);
                let extent = ivec2((x - from) as i32 + 1, height);
                if extent.x * extent.y > best.x * best.y {
                    best = extent;
                }
            }
        }
    }
    let (long, short) = (best.max_element(), best.min_element());
    if inner.x >= inner.y { ivec2(long, short) } else { ivec2(short, long) }
}

fn numbered(lattice: &Lattice, first: IVec2, extent: IVec2, inner: IVec2) -> Vec<Corner> {
    let (x, y) = (IVec2::X, IVec2::Y);
    let (right, below) = (x * (extent.x - 1), y * (extent.y - 1));
    let ways = [(first, x, y), (first + right, y, -x), (first + right + below, -x, -y), (first + below, -y, x)];
    let ways = ways.map(|(first, along, down)| Placement { first, along, down });
    let fits = |way: &Placement| {
        lattice.get(way.at(inner.x - 1, inner.y - 1)).is_some() && lies_within(way, inner, first, extent)
    };
    let fitting: Vec<Placement> = ways.into_iter().filter(fits).collect();
    // square before the first corner; a square has the coordinates of its first corner
    let is_black = |way: &Placement| !lattice.is_bright(way.at(-1, -1).min(way.first));
    let black: Vec<Placement> = fitting.iter().copied().filter(is_black).collect();
    let ways = if black.is_empty() { fitting } else { black };
    let preferred = DVec2::from_angle(if ways.len() == 2 { 30f64.to_radians() } else { 0.0 });
    let direction = |way: &Placement| -> f64 {
        let ends = (0..inner.y).filter_map(|y| Some(lattice.get(way.at(inner.x - 1, y))? - lattice.get(way.at(0, y))?));
        ends.sum::<DVec2>().normalize_or_zero().dot(preferred)
    };
    let best = ways.into_iter().max_by(|a, b| direction(a).total_cmp(&direction(b)));
    let all = |way: Placement| {
        let places = (0..inner.y).flat_map(move |y| (0..inner.x).map(move |x| way.at(x, y)));
        places.enumerate().filter_map(|(id, place)| Some(Corner { id, at: lattice.get(place)? })).collect()
    };
    best.map_or(Vec::new(), all)
}

fn lies_within(way: &Placement, inner: IVec2, first: IVec2, extent: IVec2) -> bool {
    let end = way.at(inner.x - 1, inner.y - 1);
    end.cmpge(first).all() && end.cmplt(first + extent).all()
}
