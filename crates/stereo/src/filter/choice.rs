//! A learned choice between the disparities that lie around a pixel, at edges of depth and in holes that were filled.
//!
//! Where surfaces meet, windows and paths take the wrong one of two disparities, and what is filled is a guess; the right one is
//! nearly always found a few pixels away. A small network of integers judges each of them by [`evidence`]: how much of the
//! surface of like colour around the pixel has this disparity, how well the pictures agree there, and what hides what.

#![allow(clippy::inline_always, reason = "what is not inlined into a loop is not compiled for its vector instructions")]

mod evidence;
mod net;

pub use evidence::{EVIDENCE, Evidence, MAX_DIFFERENCE, Measured, SUPPORTS, Support, WINDOWS};
pub use net::{Layer, Net, UNIT, net, numbers};

use super::description::{Filter, Function};
use crate::image::{Image, PictureRef};
use crate::map::{DisparityMap, INVALID, SUBPIXEL_STEPS, reason};
use crate::params::StereoParams;
use std::borrow::Cow;

/// The learned choice.
pub(super) const CHOICE: Filter =
    Filter { size: |params| params.choice.then_some(0), function: Function::LeftMap(choose) };

/// A pixel is sure if all disparities within so many pixels are trusted and less than [`STEP`] from its own.
pub const SURE_RADIUS: usize = 2;
/// Disparities that differ by less are one candidate, 1/16 px.
pub const STEP: i32 = SUBPIXEL_STEPS;
/// Most candidates: the pixel's own disparity, one for each direction, and that of the pair before.
pub const MAX_CANDIDATES: usize = 2 + DIRECTIONS.len();
/// How far candidates are looked for, px.
pub const REACH: i32 = 48;
/// Pixels whose colours differ by no more levels belong to one surface.
pub const LIKE: u8 = 14;
/// Where candidates are looked for, in this order.
pub const DIRECTIONS: [(i32, i32); 8] = [(-1, 0), (1, 0), (0, -1), (0, 1), (-1, -1), (1, -1), (-1, 1), (1, 1)];

/// Each pixel of the left map with a disparity takes that of its candidates which the network likes best, the first one of equals.
/// A sure pixel keeps its own. Another one loses it where the best one's [chance](Net::chance_of) to be right is less than `min_chance`.
/// Confidence, where it is requested, becomes that chance. `last` is the finished left map of the pair before in a sequence with the
/// temporal filter, if there is one: its disparity is a candidate too, and the odds of what it had count e times as much.
pub fn choose(
    map: &mut DisparityMap,
    pictures: [PictureRef<'_>; 2],
    last: Option<&DisparityMap>,
    params: &StereoParams,
) {
    let chooser = Chooser::new(map, pictures, last, params);
    let (width, height) = map.size();
    let chosen = Image::from_fn(width, height, |x, y| chooser.chosen(x, y));
    map.values = chosen.map(|chosen| chosen.value);
    map.reasons = chosen.map(|chosen| chosen.reasons);
    map.confidence = params.confidence.then(|| chosen.map(|chosen| chosen.chance));
}

/// What becomes of a pixel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Chosen {
    /// Its disparity, 1/16 px, or [`INVALID`].
    pub value: i16,
    /// Bits of [`reason`].
    pub reasons: u8,
    /// The chance that the disparity is right, in 255ths; 0 where it is not wanted.
    pub chance: u8,
}

/// Reasons of a pixel that loses its disparity: one that was put in has its own reason again.
#[inline(always)]
fn dropped(reasons: u8) -> u8 {
    if reasons & reason::WITH_DISPARITY == 0 { reason::UNIQUENESS } else { reasons & !reason::WITH_DISPARITY }
}

/// What a choice finds around a pixel. [`Chooser`] finds it in plain loops; an engine finds the same sooner.
pub trait Surroundings {
    /// Whether pixel `(x, y)`, which has a disparity, keeps it without a choice.
    fn is_sure(&self, pixel: (usize, usize)) -> bool;
    /// The first of the pixels in a direction, at most [`REACH`] away, that is an [other one](Chooser::other).
    fn first_other(&self, pixel: (usize, usize), direction: (i32, i32)) -> Option<i16>;
    /// What the windows around a pixel say of its candidates.
    fn measured(&self, pixel: (usize, usize), candidates: &[i16]) -> Measured;
}

/// A map with all that a choice depends on.
pub struct Chooser<'a> {
    wants_chance: bool,
    /// Per cent; 0 keeps every disparity.
    min_chance: u32,
    values: Image<i16>,
    /// Disparities that count as evidence: those that were not filled in.
    trusted: Image<i16>,
    reasons: Image<u8>,
    /// How clearly each measured disparity won; 0 for others.
    clearness: Image<u8>,
    /// Colours, or brightness in all three channels, and eight bits of brightness, of the left and the right picture.
    colors: [Cow<'a, Image<[u8; 3]>>; 2],
    lumas: [Image<u8>; 2],
    /// The map seen from the right camera: the nearest of the disparities that land on a pixel.
    warped: Image<i16>,
    /// The finished map of the pair before.
    last: Option<&'a Image<i16>>,
}

impl<'a> Chooser<'a> {
    /// For the choices of a map.
    pub fn new(
        map: &DisparityMap,
        pictures: [PictureRef<'a>; 2],
        last: Option<&'a DisparityMap>,
        params: &StereoParams,
    ) -> Self {
        let (width, height) = map.size();
        let trusted = Image::from_fn(width, height, |x, y| {
            if map.reasons.at(x, y) & reason::FILLED == 0 { map.values.at(x, y) } else { INVALID }
        });
        let clearness = map.confidence.as_ref().map_or_else(
            || Image::filled(width, height, 0),
            |confidence| {
                Image::from_fn(width, height, |x, y| if map.reasons.at(x, y) == 0 { confidence.at(x, y) } else { 0 })
            },
        );
        Self {
            wants_chance: params.confidence,
            min_chance: params.min_chance.unwrap_or(0),
            values: map.values.clone(),
            trusted,
            reasons: map.reasons.clone(),
            clearness,
            colors: pictures.map(colors),
            lumas: pictures.map(|picture| picture.luma.to_u8()),
            warped: warped(&map.values),
            last: last.filter(|_| params.chooses_from_last()).map(|last| &last.values),
        }
    }

    /// What becomes of pixel `(x, y)`.
    pub fn chosen(&self, x: usize, y: usize) -> Chosen {
        self.chosen_by((x, y), self)
    }

    /// What becomes of pixel `(x, y)` with these surroundings.
    #[inline(always)]
    pub fn chosen_by(&self, (x, y): (usize, usize), surroundings: &impl Surroundings) -> Chosen {
        let (own, reasons) = (self.values.at(x, y), self.reasons.at(x, y));
        let kept = Chosen { value: own, reasons, chance: 0 };
        if own == INVALID {
            return kept;
        }
        let is_sure = surroundings.is_sure((x, y));
        let (candidates, count) = if is_sure { ([own; MAX_CANDIDATES], 1) } else { self.around((x, y), surroundings) };
        let is_judged = self.wants_chance || (self.min_chance > 0 && !is_sure);
        if count == 1 && !is_judged {
            return kept;
        }
        let candidates = &candidates[..count];
        let evidence = Evidence::of(self, (x, y), candidates, surroundings.measured((x, y), candidates));
        let net = net();
        let (mut best, mut best_score, mut most) = (own, 0, i32::MIN);
        for (n, &candidate) in candidates.iter().enumerate() {
            let score = net.score(&evidence.about(self, (x, y), candidates, n));
            let weighed = score + if self.is_familiar((x, y), candidate) { net.unit() } else { 0 };
            if weighed > most {
                (best, best_score, most) = (candidate, score, weighed);
            }
        }
        let chance = if is_judged { net.chance_of(best_score) } else { 0 };
        if !is_sure && 100 * u32::from(chance) < 255 * self.min_chance {
            return Chosen { value: INVALID, reasons: dropped(reasons), chance: 0 };
        }
        Chosen { value: best, chance: if self.wants_chance { chance } else { 0 }, ..kept }
    }

    /// Candidates of pixel `(x, y)`, which has a disparity, and their number: its own, and unless it is sure, in each direction the
    /// first trusted one of a pixel of like colour that differs from its own, and that of the pair before. Those that are not [`STEP`]
    /// from an earlier candidate do not count.
    #[inline(always)]
    pub fn candidates(&self, x: usize, y: usize) -> ([i16; MAX_CANDIDATES], usize) {
        if self.is_sure((x, y)) { ([self.values.at(x, y); MAX_CANDIDATES], 1) } else { self.around((x, y), self) }
    }

    /// The candidates of a pixel that is not sure.
    #[inline(always)]
    fn around(&self, pixel: (usize, usize), surroundings: &impl Surroundings) -> ([i16; MAX_CANDIDATES], usize) {
        let (x, y) = pixel;
        let mut candidates = [self.values.at(x, y); MAX_CANDIDATES];
        let mut count = 1;
        for direction in DIRECTIONS {
            if let Some(value) = surroundings.first_other(pixel, direction) {
                add(&mut candidates, &mut count, value);
            }
        }
        if let Some(last) = self.last {
            add(&mut candidates, &mut count, last.at(x, y));
        }
        (candidates, count)
    }

    /// Whether pixel `(x, y)` had this disparity in the map of the pair before.
    #[inline(always)]
    fn is_familiar(&self, (x, y): (usize, usize), candidate: i16) -> bool {
        self.last.is_some_and(|last| last.at(x, y) != INVALID && is_near(last.at(x, y), candidate))
    }

    /// Evidence for each candidate of pixel `(x, y)`, as [`Self::chosen`] weighs it; empty without a disparity.
    pub fn all_evidence(&self, x: usize, y: usize) -> Vec<(i16, [i32; EVIDENCE])> {
        if self.values.at(x, y) == INVALID {
            return Vec::new();
        }
        let (candidates, count) = self.candidates(x, y);
        let candidates = &candidates[..count];
        let evidence = Evidence::of(self, (x, y), candidates, self.measured((x, y), candidates));
        (0..count).map(|n| (candidates[n], evidence.about(self, (x, y), candidates, n))).collect()
    }

    /// The disparity at `other` if it is trusted, [`STEP`] from that of `pixel`, and the colours are alike.
    #[inline(always)]
    pub fn other(&self, pixel: (usize, usize), other: (usize, usize)) -> Option<i16> {
        let (value, own) = (self.trusted.at(other.0, other.1), self.values.at(pixel.0, pixel.1));
        let is_other = value != INVALID && !is_near(value, own);
        (is_other && self.is_like(pixel, other)).then_some(value)
    }

    /// The disparity of pixel `(x, y)` before the choice, 1/16 px.
    #[inline(always)]
    pub fn value(&self, x: usize, y: usize) -> i16 {
        self.values.at(x, y)
    }

    /// Disparities that count as evidence, [`INVALID`] elsewhere.
    pub fn trusted(&self) -> &Image<i16> {
        &self.trusted
    }

    /// How clearly each of them won.
    pub fn clearness(&self) -> &Image<u8> {
        &self.clearness
    }

    /// Colours of the left picture, or brightness in all three channels.
    pub fn left_colors(&self) -> &Image<[u8; 3]> {
        &self.colors[0]
    }

    /// Eight bits of brightness of the left and the right picture.
    pub fn lumas(&self) -> &[Image<u8>; 2] {
        &self.lumas
    }

    /// Whether two pixels of the left picture have like colours.
    #[inline(always)]
    fn is_like(&self, one: (usize, usize), other: (usize, usize)) -> bool {
        let colors = &*self.colors[0];
        color_difference(colors.at(one.0, one.1), colors.at(other.0, other.1)) <= LIKE
    }
}

impl Surroundings for Chooser<'_> {
    fn is_sure(&self, (x, y): (usize, usize)) -> bool {
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

    fn first_other(&self, pixel: (usize, usize), (dx, dy): (i32, i32)) -> Option<i16> {
        let (width, height) = self.values.size();
        for k in 1..=REACH {
            let (x, y) = (pixel.0 as i32 + k * dx, pixel.1 as i32 + k * dy);
            if x < 0 || y < 0 || x >= width as i32 || y >= height as i32 {
                return None;
            }
            if let Some(value) = self.other(pixel, (x as usize, y as usize)) {
                return Some(value);
            }
        }
        None
    }

    fn measured(&self, pixel: (usize, usize), candidates: &[i16]) -> Measured {
        let likes = self.likes(pixel);
        let mut windows = [[0; 2]; MAX_CANDIDATES];
        for (differences, &candidate) in windows.iter_mut().zip(candidates) {
            *differences = self.differences(pixel, candidate, &likes);
        }
        Measured { supports: SUPPORTS.map(|size| self.support(pixel, candidates, size)), windows }
    }
}

/// Whether two disparities count as one candidate.
#[inline(always)]
fn is_near(one: i16, other: i16) -> bool {
    (i32::from(one) - i32::from(other)).abs() < STEP
}

/// Adds a disparity to the candidates unless one of them is near.
#[inline(always)]
fn add(candidates: &mut [i16; MAX_CANDIDATES], count: &mut usize, value: i16) {
    if value != INVALID && !candidates[..*count].iter().any(|&earlier| is_near(earlier, value)) {
        candidates[*count] = value;
        *count += 1;
    }
}

/// The colours of a picture, or its brightness in all three channels.
fn colors(picture: PictureRef<'_>) -> Cow<'_, Image<[u8; 3]>> {
    picture.rgb.map_or_else(|| Cow::Owned(picture.luma.to_u8().map(|&luma| [luma; 3])), Cow::Borrowed)
}

/// The largest difference of a channel, levels.
#[inline(always)]
fn color_difference(one: [u8; 3], other: [u8; 3]) -> u8 {
    let [red, green, blue] = [0, 1, 2].map(|channel| one[channel].abs_diff(other[channel]));
    red.max(green).max(blue)
}

/// The column of the partner at a disparity, rounded; it may lie outside the right picture.
#[inline(always)]
fn partner(x: usize, value: i16) -> i32 {
    x as i32 - ((i32::from(value) + SUBPIXEL_STEPS / 2) >> 4)
}

/// The map as the right camera would see it: of all disparities whose partner is a pixel the largest, [`INVALID`] where there is none.
fn warped(values: &Image<i16>) -> Image<i16> {
    let (width, height) = values.size();
    let mut warped = Image::filled(width, height, INVALID);
    for y in 0..height {
        let row = warped.row_mut(y);
        for (x, &value) in values.row(y).iter().enumerate() {
            let to = usize::try_from(partner(x, value)).ok().filter(|&to| value != INVALID && to < width);
            if let Some(to) = to {
                row[to] = row[to].max(value);
            }
        }
    }
    warped
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::image::{Luma, Picture};

    /// Two surfaces of two colours; the nearer one, at 20 px, is `edge` columns wide on the map, the other lies at 10 px.
    fn map(edge: usize) -> DisparityMap {
        let values = Image::from_fn(60, 30, |x, _| if x < edge { 320 } else { 160 });
        let confidence = Some(values.map(|&value| if value == 320 { 204 } else { 51 }));
        DisparityMap { values, reasons: Image::filled(60, 30, 0), confidence }
    }

    fn with_chances() -> StereoParams {
        StereoParams { confidence: true, ..StereoParams::default() }
    }

    fn picture() -> Picture {
        let rgb = Image::from_fn(60, 30, |x, y| {
            let grain = ((37 * x + 91 * y + x * y) % 9) as u8;
            if x < 30 { [180 + grain, 40, 40] } else { [60, 110 + grain, 60] }
        });
        Picture { luma: Luma::U8(rgb.map(|color| color[0])), rgb: Some(rgb) }
    }

    #[test]
    fn candidates_are_other_disparities_of_like_colour() {
        let picture = picture();
        let pictures = [PictureRef::from(&picture); 2];
        let chooser = Chooser::new(&map(33), pictures, None, &with_chances());
        // a pixel of the far surface that has the near one's disparity finds its own surface's, and no other
        assert_eq!(chooser.candidates(31, 15).0[..2], [320, 160]);
        assert_eq!(chooser.candidates(31, 15).1, 2);
        assert_eq!(chooser.candidates(20, 15).1, 1, "the near surface has one disparity");
        assert!(chooser.is_sure((10, 15)) && !chooser.is_sure((31, 15)));
        let mut holes = map(33);
        holes.reasons.set(40, 15, reason::FILLED);
        let chooser = Chooser::new(&holes, pictures, None, &with_chances());
        assert!(!chooser.is_sure((40, 15)) && !chooser.is_sure((42, 15)) && chooser.is_sure((43, 15)));
        assert_eq!(chooser.chosen(10, 15).value, 320, "a sure pixel keeps its own");
    }

    #[test]
    fn evidence_counts_supporters_and_says_what_hides_what() {
        let picture = picture();
        let chooser = Chooser::new(&map(33), [PictureRef::from(&picture); 2], None, &with_chances());
        let evidence = chooser.all_evidence(31, 15);
        let &[(own, near), (other, far)] = &evidence[..] else { panic!("{evidence:?}") };
        assert_eq!((own, other), (320, 160));
        // of the window's columns 30 to 36 are of like colour, 30 to 32 have its own disparity
        assert_eq!((near[0], far[0]), (255 * 33 / 77, 255 * 44 / 77));
        assert_eq!((near[4], far[4]), (255 * 11 / 77, 0));
        // the right camera sees 20 px at the partner of the first candidate, and no disparity at that of the second one
        assert_eq!(([near[19], near[20]], [far[19], far[20]]), ([0, 0], [64, 0]));
        let hidden = chooser.all_evidence(23, 15);
        assert_eq!((hidden.len(), hidden[0].1[20]), (1, 0), "a sure pixel has its own disparity alone");
        assert_eq!((near[28], near[29], far[29], far[30]), (204, 204, 51, 51));
    }

    #[test]
    fn what_the_pair_before_had_is_a_candidate_and_counts_more_over_time_alone() {
        let picture = picture();
        let pictures = [PictureRef::from(&picture); 2];
        let over_time = StereoParams { choice: true, temporal: true, ..StereoParams::default() };
        let last = |value| DisparityMap { values: Image::filled(60, 30, value), ..map(33) };
        let candidates = |last: &DisparityMap, params: &StereoParams| {
            let (candidates, count) = Chooser::new(&map(33), pictures, Some(last), params).candidates(31, 15);
            candidates[..count].to_vec()
        };
        assert_eq!(candidates(&last(700), &over_time), [320, 160, 700]);
        assert_eq!(candidates(&last(700), &StereoParams { temporal: false, ..over_time.clone() }), [320, 160]);
        assert_eq!(candidates(&last(150), &over_time), [320, 160], "near one that is there");
        assert_eq!(candidates(&last(INVALID), &over_time), [320, 160]);
        // the more pixels take a disparity, the more of them had it before
        let count = |last: Option<&DisparityMap>| {
            let mut map = map(33);
            choose(&mut map, pictures, last, &over_time);
            map.values.pixels().iter().filter(|&&value| value == 320).count()
        };
        let [far, near] = [160, 320].map(|value| count(Some(&last(value))));
        assert!(far <= count(None) && count(None) <= near && far < near, "{far} {} {near}", count(None));
    }

    #[test]
    fn what_is_unlikely_is_dropped_with_its_reason_and_nothing_else_changes() {
        let picture = picture();
        let pictures = [PictureRef::from(&picture); 2];
        let mut before = map(33);
        before.reasons.set(40, 15, reason::LEFT_RIGHT | reason::FILLED);
        let chosen = |params: &StereoParams| {
            let mut map = before.clone();
            choose(&mut map, pictures, None, params);
            map
        };
        let all = chosen(&with_chances());
        let chances = all.confidence.as_ref().unwrap();
        let chooser = Chooser::new(&before, pictures, None, &with_chances());
        let unsure: Vec<_> =
            (0..60 * 30).map(|n| (n % 60, n / 60)).filter(|&(x, y)| !chooser.is_sure((x, y))).collect();
        // a limit above that of the filled pixel and of some others
        let most = unsure.iter().map(|&(x, y)| chances.at(x, y)).max().unwrap();
        let percent = (100 * u32::from(most) / 255).clamp(1, 99);
        for confidence in [false, true] {
            let some = chosen(&StereoParams { confidence, min_chance: Some(percent), ..with_chances() });
            let mut count = 0;
            for (x, y) in (0..60 * 30).map(|n| (n % 60, n / 60)) {
                let is_dropped = !chooser.is_sure((x, y)) && 100 * u32::from(chances.at(x, y)) < 255 * percent;
                count += usize::from(is_dropped);
                assert_eq!(some.values.at(x, y), if is_dropped { INVALID } else { all.values.at(x, y) }, "{x} {y}");
                let reasons = match before.reasons.at(x, y) {
                    0 if is_dropped => reason::UNIQUENESS,
                    reasons if is_dropped => reasons & !reason::FILLED,
                    reasons => reasons,
                };
                assert_eq!(some.reasons.at(x, y), reasons, "{x} {y}");
            }
            assert!(count > 0 && count < unsure.len(), "{count} of {}", unsure.len());
        }
        let none = chosen(&StereoParams { confidence: false, min_chance: Some(1), ..with_chances() });
        assert_eq!(none.reasons.at(10, 15), 0, "a sure pixel is never dropped");
    }

    #[test]
    fn a_map_without_disparities_stays_empty() {
        let picture = picture();
        let mut empty = map(33);
        empty.values = Image::filled(60, 30, INVALID);
        let before = empty.clone();
        choose(&mut empty, [PictureRef::from(&picture); 2], None, &StereoParams::default());
        assert_eq!(empty.values, before.values);
    }

    #[test]
    fn the_shader_has_room_for_the_network() {
        let sizes: Vec<_> = net().layers.iter().map(|layer| (layer.inputs, layer.outputs)).collect();
        assert_eq!(sizes, [(EVIDENCE, 32), (32, 16), (16, 1)], "shaders/filter/choice.wgsl has these numbers");
    }
}
