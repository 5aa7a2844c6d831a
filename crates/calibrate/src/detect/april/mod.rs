//! Identification of an AprilGrid's corners: its tags are read, and missed ones searched beside them.

use super::lattice::{Lattice, aligned_saddle, square_px};
use super::mismatch::Mismatch;
use super::reading::{Cells, Codes, median, perspective};
use crate::Board;
use crate::marker::{BORDER, TAG_BORDER, mirrored, tag_codes};
use calib_targets_charuco::{Dictionary, resolve_dictionary};
use glam::{DVec2, IVec2, ivec2};
use std::collections::BTreeMap;
use stereopsis_base::image::Image;

/// Largest movement of a corner by its refinement, in gaps.
const MAX_MOVED: f64 = 1.0 / 3.0;
/// Largest distance between a tag's centre and its prediction by a neighbour, in tag sides.
const MAX_OFFSET: f64 = 0.25;
/// Smallest bit agreement of a tag with neighbours, and of an isolated one (at most one wrong bit).
const MIN_AGREEMENT: (f64, f64) = (0.5, 0.9);
/// Largest difference between expected and measured gaps, in tag sides.
const MAX_GAP_DIFFERENCE: f64 = 0.06;
/// Smallest ratio of right to wrong neighbours of tags.
const MIN_NEIGHBOUR_RATIO: usize = 4;
/// Smallest number of tags that identify another board.
const MIN_OTHER_TAGS: usize = 3;
const FAMILIES: [&str; 3] = ["DICT_APRILTAG_36h10", "DICT_APRILTAG_25h9", "DICT_APRILTAG_16h5"];
/// Corners of a tag of side 1, clockwise from the top left one.
const CORNERS: [IVec2; 4] = [IVec2::ZERO, IVec2::X, IVec2::ONE, IVec2::Y];
const NEIGHBOURS: [IVec2; 4] = [IVec2::X, IVec2::Y, IVec2::NEG_X, IVec2::NEG_Y];

#[derive(Clone, Debug)]
pub(super) struct Tags {
    /// Numbers of tags across and down.
    size: IVec2,
    gap: f64,
    codes: Codes,
}

/// Corners of a tag in an image, clockwise; from the printed top left one if its code is known.
type Corners = [DVec2; 4];

impl Tags {
    pub(super) fn new(board: &Board, gap_mm: f64, tags: &Dictionary) -> Self {
        let codes = Codes { all: tag_codes(tags).collect(), bits: tags.marker_size() };
        Self { size: ivec2(board.columns as i32, board.rows as i32), gap: gap_mm / board.square_mm, codes }
    }

    /// Returns the radius of the refinement window in tag sides: within gaps, and within the black border.
    pub(super) fn window(&self) -> f64 {
        (0.4 * self.gap).min(0.18)
    }

    fn count(&self) -> usize {
        (self.size.x * self.size.y) as usize
    }

    fn cells(&self, bits: usize, border: usize) -> Cells {
        Cells { inset: 0.0, white: -self.gap / 2.0, border, bits }
    }

    /// Returns column and row of a tag from the top left; the first tag is at the lower left.
    fn place(&self, number: usize) -> IVec2 {
        let number = number as i32;
        ivec2(number % self.size.x, self.size.y - 1 - number / self.size.x)
    }

    fn number(&self, place: IVec2) -> Option<usize> {
        let is_inside = place.min_element() >= 0 && place.cmplt(self.size).all();
        is_inside.then(|| ((self.size.y - 1 - place.y) * self.size.x + place.x) as usize)
    }

    pub(super) fn identify(&self, picture: &Image<u8>, quads: &[Corners]) -> Result<Lattice, Mismatch> {
        let quads: Vec<Corners> = quads.iter().filter_map(|quad| self.refined(picture, quad)).collect();
        // a duplicate elsewhere has no right neighbours there
        let mut tags: BTreeMap<usize, Corners> = BTreeMap::new();
        for quad in &quads {
            let known = self.read(picture, quad).filter_map(|code| {
                let (number, turn) = self.codes.nearest(self.codes.all.len(), code)?;
                Some((self.codes.agreement(number, turn, code), number, turn))
            });
            if let Some((_, number, turn)) = known.max_by(|a, b| a.0.total_cmp(&b.0)) {
                tags.entry(number).or_insert([0, 1, 2, 3].map(|corner| quad[(corner + turn) % 4]));
            }
        }
        if tags.is_empty() {
            return Err(self.explain(picture, &quads));
        }
        if let Some(why) = self.contradicts(&tags) {
            return Err(why);
        }
        let neighbours = |number: usize| {
            let seen = NEIGHBOURS.iter().filter_map(|step| Some((step, self.beside(&tags, number, *step)?)));
            let (right, wrong): (Vec<_>, Vec<_>) =
                seen.partition(|(step, found)| self.number(self.place(number) + **step) == Some(*found));
            (right.len(), wrong.len())
        };
        let on_board: Vec<_> = tags.keys().filter(|n| **n < self.count()).map(|n| (*n, neighbours(*n))).collect();
        let among = |is_trusted: &dyn Fn(usize, (usize, usize)) -> bool| -> Vec<(usize, Corners)> {
            let trusted = on_board.iter().filter(|(number, seen)| is_trusted(*number, *seen));
            trusted.map(|(number, _)| (*number, tags[number])).collect()
        };
        let is_alone = |number: usize, seen: (usize, usize)| {
            seen == (0, 0) && self.shows(picture, &tags[&number], number, MIN_AGREEMENT.1)
        };
        // an isolated tag counts only without tags that have neighbours
        let (right, wrong) = on_board.iter().fold((0, 0), |sum, (_, seen)| (sum.0 + seen.0, sum.1 + seen.1));
        let trusted = [among(&|_, (right, wrong)| right > wrong), among(&is_alone)];
        match trusted.into_iter().find(|trusted| !trusted.is_empty()) {
            Some(trusted) if MIN_NEIGHBOUR_RATIO * wrong <= right => Ok(self.lattice(trusted.into_iter())),
            _ if on_board.len() >= MIN_OTHER_TAGS => Err(Mismatch::TagsElsewhere(self.size)),
            _ => Err(Mismatch::Unread("tag")),
        }
    }

    /// Reads the possible codes of a quadrilateral, one per border width in use.
    fn read<'a>(&'a self, picture: &'a Image<u8>, quad: &'a Corners) -> impl Iterator<Item = u64> + 'a {
        [TAG_BORDER, BORDER].into_iter().filter_map(|border| self.cells(self.codes.bits, border).read(picture, *quad))
    }

    /// Whether a quadrilateral matches a tag's code in more than this share of bits.
    fn shows(&self, picture: &Image<u8>, corners: &Corners, number: usize, least: f64) -> bool {
        self.read(picture, corners).any(|code| self.codes.agreement(number, 0, code) > least)
    }

    fn lattice(&self, tags: impl Iterator<Item = (usize, Corners)>) -> Lattice {
        let corners = tags.flat_map(|(number, corners)| {
            let first = 2 * self.place(number);
            CORNERS.into_iter().zip(corners).map(move |(corner, at)| (first + corner, at))
        });
        Lattice::new(corners, self.window())
    }

    /// Returns the corners of the found tags and of missed ones beside them.
    pub(super) fn completed(&self, picture: &Image<u8>, found: &Lattice) -> Lattice {
        let whole = |number: usize| {
            let first = 2 * self.place(number);
            let [Some(a), Some(b), Some(c), Some(d)] = CORNERS.map(|corner| found.get(first + corner)) else {
                return None;
            };
            Some((number, [a, b, c, d]))
        };
        let mut tags: BTreeMap<usize, Corners> = (0..self.count()).filter_map(whole).collect();
        loop {
            let missed = (0..self.count()).filter(|number| !tags.contains_key(number));
            let look = |number: usize| {
                let corners = self.refined(picture, &self.predict(&tags, number)?)?;
                self.shows(picture, &corners, number, MIN_AGREEMENT.0).then_some((number, corners))
            };
            let more: Vec<_> = missed.filter_map(look).collect();
            if more.is_empty() {
                return self.lattice(tags.into_iter());
            }
            tags.extend(more);
        }
    }

    fn predict(&self, tags: &BTreeMap<usize, Corners>, number: usize) -> Option<Corners> {
        let place = self.place(number);
        let say = |step: &IVec2| {
            let from = tags.get(&self.number(place - *step)?)?;
            let in_picture = perspective(*from);
            Some(CORNERS.map(|corner| in_picture(self.across(*step) + corner.as_dvec2())))
        };
        let all: Vec<Corners> = NEIGHBOURS.iter().filter_map(say).collect();
        let mean = |corner: usize| all.iter().map(|corners| corners[corner]).sum::<DVec2>() / all.len() as f64;
        (!all.is_empty()).then(|| [0, 1, 2, 3].map(mean))
    }

    /// Returns the offset between two tags in tag sides.
    fn across(&self, step: IVec2) -> DVec2 {
        step.as_dvec2() * (1.0 + self.gap)
    }

    /// Refines the corners of a quadrilateral to saddles, if all have one.
    fn refined(&self, picture: &Image<u8>, quad: &Corners) -> Option<Corners> {
        let corner = |number: usize| {
            let at = quad[number];
            let steps = [quad[(number + 1) % 4] - at, quad[(number + 3) % 4] - at];
            let saddle = aligned_saddle(picture, at, steps, self.window(), MAX_MOVED * self.gap)?;
            (saddle.brightness_between(steps[0], steps[1]) < 0.0).then_some(saddle.at)
        };
        Some([corner(0)?, corner(1)?, corner(2)?, corner(3)?])
    }

    fn beside(&self, tags: &BTreeMap<usize, Corners>, number: usize, step: IVec2) -> Option<usize> {
        let from = tags.get(&number)?;
        let predicted = perspective(*from)(self.across(step) + 0.5);
        let most = MAX_OFFSET * square_px([from[1] - from[0], from[3] - from[0]]);
        let middle = |corners: &Corners| perspective(*corners)(DVec2::splat(0.5));
        tags.iter().find(|(_, corners)| middle(corners).distance(predicted) < most).map(|(found, _)| *found)
    }

    /// Explains by numbers or gaps why tags belong to another board.
    fn contradicts(&self, tags: &BTreeMap<usize, Corners>) -> Option<Mismatch> {
        let named = self.size;
        let (mut rises, mut gaps) = (BTreeMap::<i64, usize>::new(), Vec::new());
        for (number, corners) in tags {
            if let Some(above) = self.beside(tags, *number, IVec2::NEG_Y) {
                *rises.entry(above as i64 - *number as i64).or_default() += 1;
            }
            if let Some(right) = self.beside(tags, *number, IVec2::X).map(|right| tags[&right]) {
                let sides = corners[0].distance(corners[1]) + right[0].distance(right[1]);
                gaps.push(2.0 * corners[1].distance(right[0]) / sides);
            }
        }
        let all: usize = rises.values().sum();
        if let Some((rise, count)) = rises.into_iter().max_by_key(|(_, count)| *count)
            && rise > 0
            && rise != i64::from(named.x)
            && count >= MIN_OTHER_TAGS
            && 2 * count > all
        {
            return Some(Mismatch::TagsAlongRow { numbered: rise, named: named.x });
        }
        // another board may lie beside the expected one
        let goes_on = |number: &usize| {
            let seen = |step: &IVec2| self.beside(tags, *number, *step);
            *number >= self.count() && NEIGHBOURS.iter().filter_map(seen).any(|found| found < self.count())
        };
        let beyond: Vec<usize> = tags.keys().copied().filter(goes_on).collect();
        if beyond.len() >= MIN_OTHER_TAGS {
            return Some(Mismatch::TagBeyond { tag: beyond[beyond.len() - 1], named });
        }
        let gap = if gaps.len() >= MIN_OTHER_TAGS { median(gaps)? } else { self.gap };
        let is_other = (gap - self.gap).abs() > MAX_GAP_DIFFERENCE;
        is_other.then_some(Mismatch::Gap { measured: gap, named: self.gap })
    }

    fn explain(&self, picture: &Image<u8>, quads: &[Corners]) -> Mismatch {
        let read = |bits: usize| -> Vec<u64> {
            let all = [TAG_BORDER, BORDER].map(|border| self.cells(bits, border));
            // all cells of a square are black
            let is_code = |code: &u64| code.count_ones() < (bits * bits) as u32;
            quads
                .iter()
                .flat_map(|quad| all.iter().filter_map(|cells| cells.read(picture, *quad)))
                .filter(is_code)
                .collect()
        };
        let bits = self.codes.bits;
        let tags = read(bits);
        if tags.iter().filter(|code| self.codes.knows(mirrored(**code, bits))).count() >= MIN_OTHER_TAGS {
            return Mismatch::Mirrored;
        }
        for family in FAMILIES.into_iter().filter_map(resolve_dictionary) {
            let codes = Codes { all: family.codes().to_vec(), bits: family.marker_size() };
            if read(codes.bits).iter().filter(|code| codes.knows(**code)).count() >= MIN_OTHER_TAGS {
                return Mismatch::OtherTags(family.name());
            }
        }
        if tags.is_empty() { Mismatch::Nothing } else { Mismatch::Unread("tag") }
    }
}

#[cfg(test)]
mod tests;
