//! A learned choice between the disparities that lie around a pixel, at edges of depth and in holes that were filled.
//!
//! Where surfaces meet, windows and paths take the wrong one of two disparities, and what is filled is a guess; the right one is
//! nearly always found a few pixels away. A small network of integers judges each of them by [`evidence`]: how much of the
//! surface of like colour around the pixel has this disparity, how well the pictures agree there, and what hides what.

mod evidence;
mod net;

pub use evidence::{EVIDENCE, Evidence};
pub use net::{Layer, Net, net};

use super::description::{Filter, Function};
use crate::image::{Guide, Image, PictureRef};
use crate::stereo::map::{DisparityMap, INVALID, SUBPIXEL_STEPS, reason};

/// The learned choice.
pub(super) const CHOICE: Filter =
    Filter { size: |params| params.choice.then_some(0), function: Function::MapOfPair(choose) };

/// A pixel is sure if all disparities within so many pixels are trusted and less than [`STEP`] from its own.
pub const SURE_RADIUS: usize = 2;
/// Disparities that differ by less are one candidate, 1/16 px.
pub const STEP: i32 = SUBPIXEL_STEPS;
/// Most candidates: the pixel's own disparity, and one for each direction.
pub const MAX_CANDIDATES: usize = 1 + DIRECTIONS.len();
/// How far candidates are looked for, px.
pub const REACH: i32 = 48;
/// Pixels whose colours differ by no more levels belong to one surface.
pub const LIKE: u8 = 14;
/// Where candidates are looked for, in this order.
pub const DIRECTIONS: [(i32, i32); 8] = [(-1, 0), (1, 0), (0, -1), (0, 1), (-1, -1), (1, -1), (-1, 1), (1, 1)];

/// The picture that a map belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// The left one: partners lie further left.
    Left,
    /// The right one: partners lie further right.
    Right,
}

/// Each pixel with a disparity takes that of its candidates which the network likes best, the first one of equals. A sure pixel
/// keeps its own. `pictures` are the map's own and the other one.
pub fn choose(map: &mut DisparityMap, pictures: [PictureRef<'_>; 2], side: Side) {
    let chooser = Chooser::new(map, pictures, side);
    let (width, height) = map.size();
    map.values = Image::from_fn(width, height, |x, y| chooser.chosen(x, y));
}

/// A map with all that a choice depends on.
pub struct Chooser<'a> {
    net: &'static Net,
    side: Side,
    values: Image<i16>,
    /// Disparities that count as evidence: those that were not filled in.
    trusted: Image<i16>,
    reasons: Image<u8>,
    /// Guides and eight bits of brightness, of the map's own picture and of the other one.
    guides: [Guide<'a>; 2],
    lumas: [Image<u8>; 2],
    /// The map seen from the other camera: the nearest of the disparities that land on a pixel.
    warped: Image<i16>,
}

impl<'a> Chooser<'a> {
    /// For the choices of a map.
    pub fn new(map: &DisparityMap, pictures: [PictureRef<'a>; 2], side: Side) -> Self {
        let (width, height) = map.size();
        let trusted = Image::from_fn(width, height, |x, y| {
            if map.reasons.at(x, y) & reason::FILLED == 0 { map.values.at(x, y) } else { INVALID }
        });
        Self {
            net: net(),
            side,
            values: map.values.clone(),
            trusted,
            reasons: map.reasons.clone(),
            guides: pictures.map(PictureRef::guide),
            lumas: pictures.map(|picture| picture.luma.to_u8()),
            warped: warped(&map.values, side),
        }
    }

    /// The disparity that pixel `(x, y)` takes.
    #[inline(always)]
    pub fn chosen(&self, x: usize, y: usize) -> i16 {
        let own = self.values.at(x, y);
        if own == INVALID || self.is_sure(x, y) {
            return own;
        }
        let (candidates, count) = self.candidates(x, y);
        if count == 1 {
            return own;
        }
        let candidates = &candidates[..count];
        let evidence = Evidence::of(self, (x, y), candidates);
        let (mut best, mut best_score) = (own, i32::MIN);
        for (n, &candidate) in candidates.iter().enumerate() {
            let score = self.net.score(&evidence.about(self, (x, y), candidates, n));
            if score > best_score {
                (best, best_score) = (candidate, score);
            }
        }
        best
    }

    /// Whether pixel `(x, y)`, which has a disparity, keeps it without a choice.
    #[inline(always)]
    pub fn is_sure(&self, x: usize, y: usize) -> bool {
        let (width, height) = self.values.size();
        let own = i32::from(self.trusted.at(x, y));
        let rows = y.saturating_sub(SURE_RADIUS)..(y + SURE_RADIUS + 1).min(height);
        let columns = x.saturating_sub(SURE_RADIUS)..(x + SURE_RADIUS + 1).min(width);
        for row in rows {
            for &other in &self.trusted.row(row)[columns.clone()] {
                if other == INVALID || (i32::from(other) - own).abs() >= STEP {
                    return false;
                }
            }
        }
        true
    }

    /// Candidates of pixel `(x, y)`, which has a disparity, and their number: its own, and in each direction the first trusted one of
    /// a pixel of like colour that differs from its own. Those that are not [`STEP`] from an earlier candidate do not count.
    #[inline(always)]
    pub fn candidates(&self, x: usize, y: usize) -> ([i16; MAX_CANDIDATES], usize) {
        let (width, height) = self.values.size();
        let own = self.values.at(x, y);
        let mut candidates = [own; MAX_CANDIDATES];
        let mut count = 1;
        for (dx, dy) in DIRECTIONS {
            for k in 1..=REACH {
                let (other_x, other_y) = (x as i32 + k * dx, y as i32 + k * dy);
                if other_x < 0 || other_y < 0 || other_x >= width as i32 || other_y >= height as i32 {
                    break;
                }
                let other = (other_x as usize, other_y as usize);
                let value = self.trusted.at(other.0, other.1);
                let is_other = value != INVALID && (i32::from(value) - i32::from(own)).abs() >= STEP;
                if is_other && self.guides[0].difference((x, y), other) <= LIKE {
                    let is_near = |&earlier: &i16| (i32::from(earlier) - i32::from(value)).abs() < STEP;
                    if !candidates[..count].iter().any(is_near) {
                        candidates[count] = value;
                        count += 1;
                    }
                    break;
                }
            }
        }
        (candidates, count)
    }

    /// Evidence for each candidate of pixel `(x, y)`, as [`Self::chosen`] weighs it; empty where it keeps its own.
    pub fn all_evidence(&self, x: usize, y: usize) -> Vec<(i16, [i32; EVIDENCE])> {
        if self.values.at(x, y) == INVALID || self.is_sure(x, y) {
            return Vec::new();
        }
        let (candidates, count) = self.candidates(x, y);
        let candidates = &candidates[..count];
        let evidence = Evidence::of(self, (x, y), candidates);
        (0..count).map(|n| (candidates[n], evidence.about(self, (x, y), candidates, n))).collect()
    }

    /// The column of the partner at a disparity; it may lie outside the other picture.
    #[inline(always)]
    fn partner(&self, x: usize, value: i16) -> i32 {
        partner(x, value, self.side)
    }
}

/// The column of the partner at a disparity, rounded.
#[inline(always)]
fn partner(x: usize, value: i16, side: Side) -> i32 {
    let px = (i32::from(value) + SUBPIXEL_STEPS / 2) >> 4;
    if side == Side::Left { x as i32 - px } else { x as i32 + px }
}

/// The map as the other camera would see it: of all disparities whose partner is a pixel the largest, [`INVALID`] where there is none.
fn warped(values: &Image<i16>, side: Side) -> Image<i16> {
    let (width, height) = values.size();
    let mut warped = Image::filled(width, height, INVALID);
    for y in 0..height {
        let row = warped.row_mut(y);
        for (x, &value) in values.row(y).iter().enumerate() {
            let to = usize::try_from(partner(x, value, side)).ok().filter(|&to| value != INVALID && to < width);
            if let Some(to) = to {
                row[to] = row[to].max(value);
            }
        }
    }
    warped
}
