//! Identification of a ChArUco board's corners by the markers in its white squares, read on a corner lattice.

use super::lattice::Lattice;
use super::mismatch::Mismatch;
use super::reading::{Cells, Codes};
use crate::Board;
use crate::marker::{BORDER, mirrored};
use calib_targets_charuco::{Dictionary, resolve_dictionary};
use glam::{IVec2, ivec2};
use std::collections::HashMap;
use stereopsis_base::image::Image;

/// Smallest mean bit agreement of all markers, from 0 by chance to 1.
const MIN_AGREEMENT: f64 = 0.6;
/// Smallest bit agreement of a recognised board, in standard deviations of chance.
const MIN_CERTAINTY: f64 = 6.5;
/// Largest agreement of the second-best pose as a share of the best.
const MAX_SECOND_AGREEMENT: f64 = 0.7;
/// Largest common dictionary of each family, by which other boards are recognised.
const DICTIONARIES: [&str; 9] = [
    "DICT_4X4_1000",
    "DICT_5X5_1000",
    "DICT_6X6_1000",
    "DICT_7X7_1000",
    "DICT_ARUCO_ORIGINAL",
    "DICT_APRILTAG_16h5",
    "DICT_APRILTAG_25h9",
    "DICT_APRILTAG_36h10",
    "DICT_APRILTAG_36h11",
];

/// Marker layout of a ChArUco board.
#[derive(Clone, Debug)]
pub(super) struct Markers {
    squares: IVec2,
    side: f64,
    dictionary: Dictionary,
    codes: Codes,
    /// Whether markers are in squares with an even sum of column and row.
    even: bool,
    places: Vec<IVec2>,
    /// Marker number of each square, row by row.
    numbers: Vec<Option<usize>>,
}

/// Map from lattice places to board places: `turn` quarter turns, then a shift.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct BoardTransform {
    turn: usize,
    shift: IVec2,
}

struct Reading {
    square: IVec2,
    /// Bits of the code, 1 for black, row by row from the lowest one.
    code: u64,
}

/// Transform with its agreement.
#[derive(Clone, Copy, Debug)]
struct Match {
    pose: BoardTransform,
    /// Bit agreement, from 0 (chance) to 1.
    agreement: f64,
    /// Bit agreement in standard deviations of chance.
    certainty: f64,
}

impl Markers {
    pub(super) fn new(board: &Board, side: f64, dictionary: Dictionary, legacy: bool) -> Self {
        let even = legacy && board.rows.is_multiple_of(2);
        Self::arranged(ivec2(board.columns as i32, board.rows as i32), side, dictionary, even)
    }

    fn arranged(squares: IVec2, side: f64, dictionary: Dictionary, even: bool) -> Self {
        let marked = |square: IVec2| ((square.x + square.y) % 2 == 0) == even;
        let all = (0..squares.y).flat_map(|y| (0..squares.x).map(move |x| ivec2(x, y)));
        let mut places = Vec::new();
        let mut numbers = Vec::new();
        for square in all {
            numbers.push(marked(square).then_some(places.len()));
            if marked(square) {
                places.push(square);
            }
        }
        let codes = Codes { all: dictionary.codes().to_vec(), bits: dictionary.marker_size() };
        Self { squares, side, dictionary, codes, even, places, numbers }
    }

    fn bits(&self) -> usize {
        self.dictionary.marker_size()
    }

    fn number(&self, square: IVec2) -> Option<usize> {
        let inside = square.min_element() >= 0 && square.x < self.squares.x && square.y < self.squares.y;
        let index = square.y * self.squares.x + square.x;
        if inside { self.numbers[index as usize] } else { None }
    }

    pub(super) fn has(&self, place: IVec2) -> bool {
        place.min_element() >= 0 && place.x < self.squares.x - 1 && place.y < self.squares.y - 1
    }

    /// Returns the corners by their places on the board; 0 is its first inner corner.
    pub(super) fn identify(&self, picture: &Image<u8>, lattice: &Lattice) -> Result<Lattice, Mismatch> {
        let readings = self.read(picture, lattice, self.bits());
        let Some(best) = self.fit(&readings) else { return Err(self.explain(picture, lattice, &readings)) };
        let other = self.other_layout().and_then(|markers| markers.fit(&readings));
        let strangers = readings.iter().filter(|reading| self.is_stranger(reading, best.pose)).count();
        let better = other.is_some_and(|other| other.agreement > best.agreement + 0.1);
        if better || strangers >= 4 && strangers * 25 > readings.len() {
            return Err(self.explain(picture, lattice, &readings));
        }
        let mut doubted: HashMap<IVec2, i32> = HashMap::new();
        for reading in &readings {
            let square = best.pose.square(reading.square);
            let agrees = self
                .number(square)
                .is_some_and(|number| self.codes.agreement(number, best.pose.turn, reading.code) > 0.5);
            for corner in [IVec2::ZERO, IVec2::X, IVec2::Y, IVec2::ONE] {
                *doubted.entry(reading.square + corner).or_default() += if agrees { -1 } else { 1 };
            }
        }
        Ok(lattice.mapped(|place, at| {
            let on_board = best.pose.corner(place);
            let doubted = doubted.get(&place).is_some_and(|doubts| *doubts > 1);
            (self.has(on_board) && !doubted).then_some((on_board, at))
        }))
    }

    /// Returns the pose with the best bit agreement unless it is poor or ambiguous.
    fn fit(&self, readings: &[Reading]) -> Option<Match> {
        let mut votes: HashMap<BoardTransform, usize> = HashMap::new();
        for reading in readings {
            if let Some((number, turn)) = self.codes.nearest(self.places.len(), reading.code) {
                *votes.entry(BoardTransform::of(turn, reading.square, self.places[number])).or_default() += 1;
            }
        }
        let mut poses: Vec<_> = votes.into_iter().collect();
        poses.sort_by_key(|(pose, count)| (std::cmp::Reverse(*count), pose.turn, pose.shift.x, pose.shift.y));
        let mut matches: Vec<_> = poses.iter().take(12).map(|(pose, _)| self.judge(*pose, readings)).collect();
        matches.sort_by(|a, b| b.certainty.total_cmp(&a.certainty));
        let best = *matches.first()?;
        let second = matches.get(1).map_or(0.0, |second| second.certainty);
        let good = best.agreement >= MIN_AGREEMENT
            && best.certainty >= MIN_CERTAINTY
            && second <= MAX_SECOND_AGREEMENT * best.certainty;
        good.then_some(best)
    }

    fn judge(&self, pose: BoardTransform, readings: &[Reading]) -> Match {
        let agreements = readings.iter().filter_map(|reading| {
            let number = self.number(pose.square(reading.square))?;
            Some(self.codes.agreement(number, pose.turn, reading.code))
        });
        let (sum, count) = agreements.fold((0.0, 0), |(sum, count), agreement| (sum + agreement, count + 1));
        let bits = (self.bits() * self.bits() * count) as f64;
        let agreement = sum / f64::from(count as u32).max(1.0);
        Match { pose, agreement, certainty: agreement * bits.sqrt() }
    }

    /// Whether a clearly read marker contradicts the board.
    fn is_stranger(&self, reading: &Reading, pose: BoardTransform) -> bool {
        let square = pose.square(reading.square);
        let agrees = |number| self.codes.agreement(number, pose.turn, reading.code) > 0.5;
        !self.number(square).is_some_and(agrees) && self.codes.knows(reading.code)
    }

    /// Reads the markers in all bright squares; corners that the lattice lacks at its border are predicted.
    fn read(&self, picture: &Image<u8>, lattice: &Lattice, bits: usize) -> Vec<Reading> {
        let corners = [IVec2::ZERO, IVec2::X, IVec2::ONE, IVec2::Y];
        let mut squares: Vec<IVec2> =
            lattice.places().flat_map(|(place, _)| corners.map(|corner| place - corner)).collect();
        squares.sort_unstable_by_key(|square| (square.y, square.x));
        squares.dedup();
        squares.retain(|square| lattice.is_bright(*square));
        let inset = (1.0 - self.side) / 2.0;
        let cells = Cells { inset, white: inset / 2.0, border: BORDER, bits };
        let read = |square: IVec2| {
            let known = corners.iter().filter(|corner| lattice.get(square + **corner).is_some()).count();
            let around =
                corners.map(|corner| lattice.get(square + corner).or_else(|| lattice.predict(square + corner)));
            let [Some(a), Some(b), Some(c), Some(d)] = around else { return None };
            let code = if known < 2 { None } else { cells.read(picture, [a, b, c, d]) };
            Some(Reading { square, code: code? })
        };
        squares.into_iter().filter_map(read).collect()
    }

    /// Returns the board in OpenCV's other layout if that differs.
    fn other_layout(&self) -> Option<Self> {
        (self.squares.y % 2 == 0).then(|| Self::arranged(self.squares, self.side, self.dictionary, !self.even))
    }

    fn explain(&self, picture: &Image<u8>, lattice: &Lattice, readings: &[Reading]) -> Mismatch {
        const MIN_OTHER_MARKERS: usize = 4;
        let name = self.dictionary.name();
        let mirrored: Vec<Reading> = readings.iter().map(|reading| reading.mirrored(self.bits())).collect();
        if readings.len() >= MIN_OTHER_MARKERS && self.fit(&mirrored).is_some() {
            return Mismatch::Mirrored;
        }
        if let Some(other) =
            self.other_layout().filter(|other| readings.len() >= MIN_OTHER_MARKERS && other.suits(readings))
        {
            let (is, named) = if other.even { ("charuco-legacy", "charuco") } else { ("charuco", "charuco-legacy") };
            return Mismatch::Layout { is, named };
        }
        let known =
            readings.iter().filter(|reading| self.codes.nearest(self.places.len(), reading.code).is_some()).count();
        if known >= MIN_OTHER_MARKERS && 2 * known > readings.len() {
            let turned = Self::arranged(ivec2(self.squares.y, self.squares.x), self.side, self.dictionary, self.even);
            let named = self.squares;
            return if turned.fit(readings).is_some() {
                Mismatch::Turned(named)
            } else {
                Mismatch::MarkersElsewhere { dictionary: name, named }
            };
        }
        for dictionary in DICTIONARIES.into_iter().filter_map(resolve_dictionary) {
            let family = dictionary.name().trim_end_matches(|c: char| c.is_ascii_digit());
            if family == name.trim_end_matches(|c: char| c.is_ascii_digit())
                && dictionary.codes().len() <= self.dictionary.codes().len()
            {
                continue;
            }
            let bits = dictionary.marker_size();
            let mut others = Self::arranged(self.squares, self.side, dictionary, self.even);
            others.places = vec![IVec2::ZERO; dictionary.codes().len()];
            let readings = self.read(picture, lattice, bits);
            let exact = readings.iter().filter(|reading| others.codes.knows(reading.code)).count();
            if exact >= MIN_OTHER_MARKERS && 3 * exact > 2 * readings.len() {
                return Mismatch::OtherMarkers { named: name, family: Some(family) };
            }
        }
        if readings.len() >= 2 * MIN_OTHER_MARKERS && 4 * known < readings.len() {
            return Mismatch::OtherMarkers { named: name, family: None };
        }
        Mismatch::Unread("square")
    }

    /// Whether the clearly read markers have their places on this board.
    fn suits(&self, readings: &[Reading]) -> bool {
        let strangers = |best: Match| readings.iter().filter(|reading| self.is_stranger(reading, best.pose)).count();
        self.fit(readings).is_some_and(|best| strangers(best) * 25 <= readings.len())
    }
}

impl Reading {
    fn mirrored(&self, bits: usize) -> Self {
        let code = mirrored(self.code, bits);
        Self { square: ivec2(-1 - self.square.x, self.square.y), code }
    }
}

impl BoardTransform {
    /// Creates the pose that maps `square` to `on_board`.
    fn of(turn: usize, square: IVec2, on_board: IVec2) -> Self {
        let origin = Self { turn, shift: IVec2::ZERO };
        Self { turn, shift: on_board - origin.square(square) }
    }

    /// Maps a lattice place to an inner corner of the board.
    fn corner(self, place: IVec2) -> IVec2 {
        rotated(place, self.turn) + self.shift - IVec2::ONE
    }

    /// Maps a lattice square to a square of the board; a square has the coordinates of its first corner.
    fn square(self, square: IVec2) -> IVec2 {
        rotated(square, self.turn).min(rotated(square + IVec2::ONE, self.turn)) + self.shift
    }
}

fn rotated(place: IVec2, turn: usize) -> IVec2 {
    match turn {
        0 => place,
        1 => ivec2(place.y, -place.x),
        2 => -place,
        _ => ivec2(-place.y, place.x),
    }
}
