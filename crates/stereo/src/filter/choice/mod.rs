//! Learned choice between the disparities around a pixel, at edges of depth and in holes that were filled along their rows.
//!
//! Where surfaces meet, windows and paths often find the wrong one of two disparities; the right one is nearly always found a few pixels
//! away. A small network of integers scores each candidate by its [`evidence`]: the share of the surface of like colour that has this
//! disparity, the agreement of the images, and occlusion. On a slanted surface each row has a disparity of its own, so a candidate is
//! extended along the [`Slope`] at the place where it was found.
//!
//! Pixels that were filled from a plane or a band already follow the whole surface: they are scored, but keep their disparity. Both
//! engines must choose the same bits.

#![allow(clippy::inline_always, reason = "what is not inlined into a loop is not compiled for its vector instructions")]

mod evidence;
mod net;
mod slope;
#[cfg(test)]
mod tests;

pub use evidence::{EVIDENCE, Evidence, MAX_DIFFERENCE, SUPPORTS, Support, WINDOWS, WindowEvidence};
pub use net::{Layer, Net, UNIT, net, numbers};
pub use slope::{CHANGES, MAX_BEND, MAX_CHANGE, MIN_CHANGES, SLOPE_BITS, SPAN, Slope};

use crate::map::{DisparityMap, INVALID, SUBPIXEL_STEPS, reason, rounded_px};
use slope::is_on_plane;
use std::borrow::Cow;
use std::ops::RangeInclusive;
use stereopsis_base::image::{Image, PictureRef};

/// Radius of the window of a sure pixel, px: all its disparities are trusted and less than [`STEP`] from the pixel's own.
pub const SURE_RADIUS: usize = 2;
/// Smallest difference between two candidates, 1/16 px.
pub const STEP: i32 = SUBPIXEL_STEPS;
/// Largest number of candidates: the pixel's own disparity, one for each direction, and that of the pair before.
pub const MAX_CANDIDATES: usize = 2 + DIRECTIONS.len();
/// Largest distance at which candidates are searched, px.
pub const REACH: i32 = 48;
/// Largest difference of colour within one surface, levels.
pub const LIKE: u8 = 14;
/// Directions in which candidates are searched, in this order.
pub const DIRECTIONS: [(i32, i32); 8] = [(-1, 0), (1, 0), (0, -1), (0, 1), (-1, -1), (1, -1), (-1, 1), (1, 1)];

/// Disparities that may be chosen, and what is known beside the map.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChoiceSettings {
    /// Disparities of the search range, 1/16 px.
    pub range: RangeInclusive<i32>,
    /// Smallest chance of a disparity that stays, per cent; 0 keeps all.
    pub min_chance: u32,
    /// Whether the chances are requested.
    pub wants_chance: bool,
    /// Whether the map of the pair before counts.
    pub over_time: bool,
}

/// Replaces each disparity of the left map by the candidate with the highest score, the first one of equals.
///
/// A sure pixel keeps its own, and so does one `ON_PLANE`, whose reason becomes [`reason::FILLED`]. A pixel that is not sure is
/// dropped where the [chance](Net::chance_of) of its best candidate is below `min_chance`. Confidence, if requested, becomes that chance.
/// `last` is the finished left map of the pair before, with the temporal filter: its disparity is a candidate too, and candidates near
/// it get e times the odds.
pub fn choose(
    map: &mut DisparityMap,
    pictures: [PictureRef<'_>; 2],
    last: Option<&DisparityMap>,
    settings: &ChoiceSettings,
) {
    let chooser = Chooser::new(map, pictures, last, settings);
    let (width, height) = map.size();
    let chosen = Image::from_fn(width, height, |x, y| chooser.chosen(x, y));
    map.values = chosen.map(|chosen| chosen.value);
    map.reasons = chosen.map(|chosen| chosen.reasons);
    map.confidence = settings.wants_chance.then(|| chosen.map(|chosen| chosen.chance));
}

/// Result of the choice at a pixel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Chosen {
    /// Disparity, 1/16 px, or [`INVALID`].
    pub value: i16,
    /// Bits of [`reason`].
    pub reasons: u8,
    /// Chance that the disparity is right, in 255ths; 0 unless requested.
    pub chance: u8,
}

/// Returns the reasons of a pixel that loses its disparity: a filled one gets its original reason back.
#[inline(always)]
fn dropped(reasons: u8) -> u8 {
    if reasons & reason::WITH_DISPARITY == 0 { reason::UNIQUENESS } else { reasons & !reason::WITH_DISPARITY }
}

/// Disparity that a pixel may take.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Candidate {
    /// Disparity, 1/16 px.
    pub value: i16,
    /// Slope of the surface around the pixel.
    pub slope: Slope,
    /// Distance to the first place where it was found, px.
    pub distance: i32,
    /// Number of directions in which it was found.
    pub votes: i32,
}

impl Candidate {
    /// Returns the disparity of the same surface `columns` and `rows` further, 1/16 px.
    #[inline(always)]
    pub fn ahead(self, columns: i32, rows: i32) -> i32 {
        i32::from(self.value) + self.slope.ahead(columns, rows)
    }
}

/// Candidates of a pixel; their number is stored separately.
pub type Candidates = [Candidate; MAX_CANDIDATES];

/// Measurements around a pixel for the learned choice. [`Chooser`] takes them in plain loops, an engine in vector instructions.
pub trait Neighbourhood {
    /// Whether a pixel, which has a disparity, keeps it at any chance.
    fn is_sure(&self, pixel: (usize, usize)) -> bool;
    /// Returns the slope of the disparities around a pixel.
    fn slope(&self, pixel: (usize, usize)) -> Slope;
    /// Returns the distance to the first [other](Chooser::is_other) pixel in a direction, at most [`REACH`], px; `None` without one.
    fn first_other(&self, pixel: (usize, usize), own: Candidate, direction: (i32, i32)) -> Option<i32>;
    /// Measures the candidates of a pixel in the windows around it.
    fn measured(&self, pixel: (usize, usize), candidates: &[Candidate]) -> WindowEvidence;
}

/// Map with all data that the choice depends on.
pub struct Chooser<'a> {
    wants_chance: bool,
    min_chance: u32,
    values: Image<i16>,
    /// Disparities that count as evidence: all but filled ones.
    trusted: Image<i16>,
    /// Disparities that slopes are computed from.
    slanted: Image<i16>,
    range: RangeInclusive<i32>,
    reasons: Image<u8>,
    /// Confidence of each measured disparity; 0 for others.
    clearness: Image<u8>,
    /// Colours, or brightness in all three channels, of the left and the right image.
    colors: [Cow<'a, Image<[u8; 3]>>; 2],
    lumas: [Image<u8>; 2],
    warped: Image<i16>,
    last: Option<&'a Image<i16>>,
}

impl<'a> Chooser<'a> {
    /// Prepares the choices of a map.
    pub fn new(
        map: &DisparityMap,
        pictures: [PictureRef<'a>; 2],
        last: Option<&'a DisparityMap>,
        settings: &ChoiceSettings,
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
            wants_chance: settings.wants_chance,
            min_chance: settings.min_chance,
            values: map.values.clone(),
            trusted,
            slanted: slope::slanted(map),
            range: settings.range.clone(),
            reasons: map.reasons.clone(),
            clearness,
            colors: pictures.map(colors),
            lumas: pictures.map(|picture| picture.luma.to_u8()),
            warped: warped(&map.values),
            last: last.filter(|_| settings.over_time).map(|last| &last.values),
        }
    }

    /// Chooses the disparity of pixel `(x, y)`.
    pub fn chosen(&self, x: usize, y: usize) -> Chosen {
        self.chosen_by((x, y), self)
    }

    /// Chooses the disparity of pixel `(x, y)` with the given measurements.
    #[inline(always)]
    pub fn chosen_by(&self, (x, y): (usize, usize), neighbourhood: &impl Neighbourhood) -> Chosen {
        let (own, reasons) = (self.values.at(x, y), self.reasons.at(x, y));
        let is_on_plane = is_on_plane(reasons);
        let kept_reasons = if is_on_plane { reasons & !reason::HELD } else { reasons };
        let kept = Chosen { value: own, reasons: kept_reasons, chance: 0 };
        if own == INVALID {
            return kept;
        }
        let is_sure = neighbourhood.is_sure((x, y));
        let keeps_own = is_sure || is_on_plane;
        let (candidates, count) = self.around((x, y), keeps_own, neighbourhood);
        let is_judged = self.wants_chance || (self.min_chance > 0 && !is_sure);
        if count == 1 && !is_judged {
            return kept;
        }
        let candidates = &candidates[..count];
        let evidence = Evidence::of(self, (x, y), candidates, neighbourhood.measured((x, y), candidates));
        let net = net();
        let (mut best, mut best_score, mut most) = (own, 0, i32::MIN);
        for (n, &Candidate { value, .. }) in candidates.iter().enumerate() {
            let score = net.score(&evidence.about(self, (x, y), candidates, n));
            let weighed = score + if self.is_familiar((x, y), value) { net.unit() } else { 0 };
            if weighed > most {
                (best, best_score, most) = (value, score, weighed);
            }
        }
        let chance = if is_judged { net.chance_of(best_score) } else { 0 };
        if !is_sure && 100 * u32::from(chance) < 255 * self.min_chance {
            return Chosen { value: INVALID, reasons: dropped(reasons), chance: 0 };
        }
        Chosen { value: best, chance: if self.wants_chance { chance } else { 0 }, ..kept }
    }

    /// Returns the candidates of pixel `(x, y)`, which has a disparity, and their number.
    ///
    /// The first one is its own disparity. Unless the pixel is sure or `ON_PLANE`, others follow: in each direction the first trusted
    /// disparity of like colour that lies off the pixel's own slope, extended to the pixel along the slope there; and that of the pair
    /// before. One that is less than [`STEP`] from an earlier candidate adds to the votes of that.
    #[inline(always)]
    pub fn candidates(&self, x: usize, y: usize) -> (Candidates, usize) {
        let keeps_own = self.is_sure((x, y)) || is_on_plane(self.reasons.at(x, y));
        self.around((x, y), keeps_own, self)
    }

    #[inline(always)]
    fn around(
        &self,
        (x, y): (usize, usize),
        keeps_own: bool,
        neighbourhood: &impl Neighbourhood,
    ) -> (Candidates, usize) {
        let own = Candidate { value: self.values.at(x, y), slope: neighbourhood.slope((x, y)), ..Candidate::default() };
        let (mut candidates, mut count) = ([own; MAX_CANDIDATES], 1);
        if keeps_own {
            return (candidates, count);
        }
        for (dx, dy) in DIRECTIONS {
            if let Some(distance) = neighbourhood.first_other((x, y), own, (dx, dy)) {
                let (columns, rows) = (distance * dx, distance * dy);
                let place = ((x as i32 + columns) as usize, (y as i32 + rows) as usize);
                let slope = neighbourhood.slope(place);
                let value = i32::from(self.trusted.at(place.0, place.1)) + slope.ahead(-columns, -rows);
                let value = value.clamp(*self.range.start(), *self.range.end()) as i16;
                add(&mut candidates, &mut count, Candidate { value, slope, distance, votes: 1 });
            }
        }
        if let Some(value) = self.last.map(|last| last.at(x, y)).filter(|&value| value != INVALID) {
            add(&mut candidates, &mut count, Candidate { value, votes: 1, ..own });
        }
        (candidates, count)
    }

    /// Whether pixel `(x, y)` had almost this disparity in the map of the pair before.
    #[inline(always)]
    fn is_familiar(&self, (x, y): (usize, usize), candidate: i16) -> bool {
        self.last.is_some_and(|last| last.at(x, y) != INVALID && is_near(last.at(x, y), candidate))
    }

    /// Returns the evidence for each candidate of pixel `(x, y)`, as [`Self::chosen`] uses it; empty without a disparity.
    pub fn all_evidence(&self, x: usize, y: usize) -> Vec<(i16, [i32; EVIDENCE])> {
        if self.values.at(x, y) == INVALID {
            return Vec::new();
        }
        let (candidates, count) = self.candidates(x, y);
        let candidates = &candidates[..count];
        let evidence = Evidence::of(self, (x, y), candidates, self.measured((x, y), candidates));
        (0..count).map(|n| (candidates[n].value, evidence.about(self, (x, y), candidates, n))).collect()
    }

    /// Whether the disparity at `other` is trusted and at least [`STEP`] from the `expected` one, and both pixels have like colours.
    #[inline(always)]
    pub fn is_other(&self, pixel: (usize, usize), expected: i32, other: (usize, usize)) -> bool {
        let value = self.trusted.at(other.0, other.1);
        value != INVALID && (i32::from(value) - expected).abs() >= STEP && self.is_like(pixel, other)
    }

    /// Returns the disparity of pixel `(x, y)` before the choice, 1/16 px.
    #[inline(always)]
    pub fn value(&self, x: usize, y: usize) -> i16 {
        self.values.at(x, y)
    }

    /// Returns the disparities that count as evidence, [`INVALID`] elsewhere.
    pub fn trusted(&self) -> &Image<i16> {
        &self.trusted
    }

    /// Returns the disparities that slopes are computed from, [`INVALID`] elsewhere.
    pub fn slanted(&self) -> &Image<i16> {
        &self.slanted
    }

    /// Returns the confidence of each measured disparity; 0 elsewhere.
    pub fn clearness(&self) -> &Image<u8> {
        &self.clearness
    }

    /// Returns the colours of the left image, or brightness in all three channels.
    pub fn left_colors(&self) -> &Image<[u8; 3]> {
        &self.colors[0]
    }

    /// Returns the brightness of the left and the right image, in eight bits.
    pub fn lumas(&self) -> &[Image<u8>; 2] {
        &self.lumas
    }

    #[inline(always)]
    fn is_like(&self, one: (usize, usize), other: (usize, usize)) -> bool {
        let colors = &*self.colors[0];
        color_difference(colors.at(one.0, one.1), colors.at(other.0, other.1)) <= LIKE
    }
}

impl Neighbourhood for Chooser<'_> {
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

    fn slope(&self, pixel: (usize, usize)) -> Slope {
        slope::slope_at(&self.slanted, pixel)
    }

    fn first_other(&self, pixel: (usize, usize), own: Candidate, (dx, dy): (i32, i32)) -> Option<i32> {
        let (width, height) = self.values.size();
        for k in 1..=REACH {
            let (x, y) = (pixel.0 as i32 + k * dx, pixel.1 as i32 + k * dy);
            if x < 0 || y < 0 || x >= width as i32 || y >= height as i32 {
                return None;
            }
            if self.is_other(pixel, own.ahead(k * dx, k * dy), (x as usize, y as usize)) {
                return Some(k);
            }
        }
        None
    }

    fn measured(&self, pixel: (usize, usize), candidates: &[Candidate]) -> WindowEvidence {
        let likes = self.likes(pixel);
        let mut windows = [[0; 2]; MAX_CANDIDATES];
        for (differences, &Candidate { value, .. }) in windows.iter_mut().zip(candidates) {
            *differences = self.differences(pixel, value, &likes);
        }
        WindowEvidence { supports: SUPPORTS.map(|size| self.support(pixel, candidates, size)), windows }
    }
}

#[inline(always)]
fn is_near(one: i16, other: i16) -> bool {
    (i32::from(one) - i32::from(other)).abs() < STEP
}

/// Adds a candidate; if an earlier one is near, that one gets a vote instead.
#[inline(always)]
fn add(candidates: &mut Candidates, count: &mut usize, candidate: Candidate) {
    let earlier = candidates[..*count].iter_mut().find(|earlier| is_near(earlier.value, candidate.value));
    if let Some(earlier) = earlier {
        earlier.votes += 1;
    } else {
        candidates[*count] = candidate;
        *count += 1;
    }
}

fn colors(picture: PictureRef<'_>) -> Cow<'_, Image<[u8; 3]>> {
    picture.rgb.map_or_else(|| Cow::Owned(picture.luma.to_u8().map(|&luma| [luma; 3])), Cow::Borrowed)
}

#[inline(always)]
fn color_difference(one: [u8; 3], other: [u8; 3]) -> u8 {
    let [red, green, blue] = [0, 1, 2].map(|channel| one[channel].abs_diff(other[channel]));
    red.max(green).max(blue)
}

/// Returns the column of the partner at a disparity, rounded; it may lie outside the right image.
#[inline(always)]
fn partner(x: usize, value: i16) -> i32 {
    x as i32 - rounded_px(i32::from(value))
}

/// Warps the map to the right camera: of all disparities whose partner is a pixel the largest, [`INVALID`] where there is none.
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
