//! Lattice of chessboard corners in an image, which is refined, checked and extended.

use super::saddle::{self, Saddle};
use glam::{DVec2, IVec2};
use std::collections::HashMap;
use stereopsis_base::image::Image;

/// Largest movement of a corner by its refinement, in squares.
const MAX_MOVED: f64 = 1.0 / 3.0;
/// Largest distance between a new corner and its prediction, in squares.
const MAX_OFFSET: f64 = 0.2;
/// Smallest contrast of a new corner, as a share of its neighbours'.
const MIN_CONTRAST: f64 = 0.35;
/// Smallest share of the brightness variance explained by the saddle.
const MIN_EXPLAINED: f64 = 0.35;
/// Smallest alignment of corners with the lines of the pattern ([`Saddle::brightness_between`]).
const MIN_ALIGNMENT: f64 = 0.5;

const NEIGHBOURS: [IVec2; 4] = [IVec2::X, IVec2::Y, IVec2::NEG_X, IVec2::NEG_Y];

/// Corners by place, where x counts along a row of the pattern and y from row to row.
#[derive(Clone, Debug, Default)]
pub(super) struct Lattice {
    corners: HashMap<IVec2, Node>,
    /// Radius of the refinement window, in squares.
    window: f64,
    /// Whether the square with the corners 0 and 1 is bright.
    bright: bool,
}

#[derive(Clone, Copy, Debug)]
struct Node {
    at: DVec2,
    /// Saddle in the image, once refined.
    saddle: Option<Saddle>,
}

impl Lattice {
    /// Creates a lattice of detected corners, refined in windows of `window` squares.
    pub(super) fn new(corners: impl IntoIterator<Item = (IVec2, DVec2)>, window: f64) -> Self {
        let corners = corners.into_iter().map(|(place, at)| (place, Node { at, saddle: None })).collect();
        Self { corners, window, bright: false }
    }

    pub(super) fn len(&self) -> usize {
        self.corners.len()
    }

    pub(super) fn get(&self, place: IVec2) -> Option<DVec2> {
        self.corners.get(&place).map(|node| node.at)
    }

    pub(super) fn places(&self) -> impl Iterator<Item = (IVec2, DVec2)> + '_ {
        self.corners.iter().map(|(place, node)| (*place, node.at))
    }

    pub(super) fn contrast(&self, place: IVec2) -> Option<f64> {
        self.corners.get(&place)?.saddle.map(|saddle| saddle.contrast)
    }

    pub(super) fn add(&mut self, other: &Self) {
        for (place, node) in &other.corners {
            self.corners.entry(*place).or_insert(*node);
        }
    }

    /// Maps places and positions, and drops corners for which `map` returns `None`.
    pub(super) fn mapped(&self, map: impl Fn(IVec2, DVec2) -> Option<(IVec2, DVec2)>) -> Self {
        Self::new(self.places().filter_map(|(place, at)| map(place, at)), self.window)
    }

    /// Returns the steps to the next corner along a row and a column of the pattern, px.
    pub(super) fn steps(&self, place: IVec2) -> Option<[DVec2; 2]> {
        let along = |axis: IVec2| {
            let here = self.get(place);
            let (ahead, behind) = (self.get(place + axis), self.get(place - axis));
            match (behind, here, ahead) {
                (Some(behind), _, Some(ahead)) => Some((ahead - behind) / 2.0),
                (_, Some(here), Some(ahead)) => Some(ahead - here),
                (Some(behind), Some(here), _) => Some(here - behind),
                _ => None,
            }
        };
        // a corner at the end of a line uses its neighbours' steps
        let near = |axis: IVec2, across: IVec2| {
            along(axis).or_else(|| {
                [across, -across].into_iter().find_map(|side| {
                    let from = self.get(place + side)?;
                    let ahead = self.get(place + side + axis).map(|to| to - from);
                    ahead.or_else(|| self.get(place + side - axis).map(|to| from - to))
                })
            })
        };
        Some([near(IVec2::X, IVec2::Y)?, near(IVec2::Y, IVec2::X)?])
    }

    /// Moves each corner to its saddle and drops those without one.
    pub(super) fn refine(&mut self, picture: &Image<u8>) {
        let refined = self.places().filter_map(|(place, at)| {
            let steps = self.steps(place)?;
            let saddle = self.saddle(picture, at, steps, MAX_MOVED)?;
            Some((place, Node { at: saddle.at, saddle: Some(saddle) }))
        });
        self.corners = refined.collect();
        self.drop_wrong_colours();
        self.drop_strays();
    }

    fn saddle(&self, picture: &Image<u8>, at: DVec2, steps: [DVec2; 2], most: f64) -> Option<Saddle> {
        aligned_saddle(picture, at, steps, self.window, most)
    }

    /// Returns the corner's estimate for the square between corners 0 and 1, positive for bright and negative for dark.
    fn brightness(&self, place: IVec2) -> f64 {
        let parity = if (place.x + place.y).rem_euclid(2) == 0 { 1.0 } else { -1.0 };
        let node = self.corners.get(&place).and_then(|node| node.saddle).zip(self.steps(place));
        node.map_or(0.0, |(saddle, [u, v])| parity * saddle.brightness_between(u, v).signum())
    }

    /// Whether the square between the corners `place` and `place + 1` was bright at the last refinement.
    pub(super) fn is_bright(&self, place: IVec2) -> bool {
        self.bright == ((place.x + place.y).rem_euclid(2) == 0)
    }

    /// Drops corners of the wrong colour, decided by the majority because squares alternate.
    fn drop_wrong_colours(&mut self) {
        self.bright = self.corners.keys().map(|place| self.brightness(*place)).sum::<f64>() > 0.0;
        let even = if self.bright { 1.0 } else { -1.0 };
        let wrong: Vec<_> =
            self.corners.keys().filter(|place| self.brightness(**place) * even < 0.0).copied().collect();
        for place in wrong {
            self.corners.remove(&place);
        }
    }

    /// Drops corners without neighbours or far from their mean.
    fn drop_strays(&mut self) {
        let strays: Vec<_> =
            self.places().filter(|(place, at)| self.is_stray(*place, *at)).map(|(place, _)| place).collect();
        for place in strays {
            self.corners.remove(&place);
        }
    }

    fn is_stray(&self, place: IVec2, at: DVec2) -> bool {
        let Some(steps) = self.steps(place) else { return true };
        let middle = |axis| Some((self.get(place + axis)? + self.get(place - axis)?) / 2.0);
        let far = |middle: DVec2| middle.distance(at) > MAX_OFFSET * square_px(steps);
        let middles = [middle(IVec2::X), middle(IVec2::Y)];
        let measured = middles.iter().flatten().count();
        measured > 0 && middles.into_iter().flatten().filter(|middle| far(*middle)).count() == measured
    }

    /// Adds corners beside the found ones at permitted places (`may`) until none are left.
    pub(super) fn grow(&mut self, picture: &Image<u8>, may: impl Fn(IVec2) -> bool) {
        let mut failed: HashMap<IVec2, usize> = HashMap::new();
        loop {
            let mut free: Vec<IVec2> =
                self.corners.keys().flat_map(|place| NEIGHBOURS.map(|step| *place + step)).collect();
            free.sort_unstable_by_key(|place| (place.y, place.x));
            free.dedup();
            // a failed place is tried again once it has more neighbours
            let around =
                |place: IVec2| NEIGHBOURS.iter().filter(|step| self.corners.contains_key(&(place + **step))).count();
            free.retain(|place| {
                may(*place) && !self.corners.contains_key(place) && failed.get(place) != Some(&around(*place))
            });
            let found: Vec<_> =
                free.iter().map(|place| (*place, around(*place), self.look_for(picture, *place))).collect();
            let mut grown = false;
            for (place, neighbours, node) in found {
                if let Some(node) = node {
                    self.corners.insert(place, node);
                    grown = true;
                } else {
                    failed.insert(place, neighbours);
                }
            }
            if !grown {
                return;
            }
        }
    }

    fn look_for(&self, picture: &Image<u8>, place: IVec2) -> Option<Node> {
        let predicted = self.predict(place)?;
        let steps = self.steps_around(place)?;
        let saddle = self.saddle(picture, predicted, steps, MAX_OFFSET)?;
        let [u, v] = steps;
        let colour = (saddle.brightness_between(u, v) > 0.0) == self.is_bright(place);
        let near = NEIGHBOURS.iter().filter_map(|step| self.contrast(place + *step));
        let least = MIN_CONTRAST * near.fold(f64::INFINITY, f64::min);
        (colour && saddle.contrast > least).then_some(Node { at: saddle.at, saddle: Some(saddle) })
    }

    /// Estimates the steps at a free place from its neighbours.
    fn steps_around(&self, place: IVec2) -> Option<[DVec2; 2]> {
        let near: Vec<_> = NEIGHBOURS
            .iter()
            .filter(|step| self.corners.contains_key(&(place + **step)))
            .filter_map(|step| self.steps(place + *step))
            .collect();
        let mean = |axis: usize| near.iter().map(|steps| steps[axis]).sum::<DVec2>() / near.len() as f64;
        (!near.is_empty()).then(|| [mean(0), mean(1)])
    }

    /// Predicts the corner at a free place by interpolation, or else by extrapolation.
    pub(super) fn predict(&self, place: IVec2) -> Option<DVec2> {
        let mut predictions = Vec::new();
        for axis in [IVec2::X, IVec2::Y] {
            if let (Some(a), Some(b)) = (self.get(place + axis), self.get(place - axis)) {
                predictions.push((a + b) / 2.0);
            }
        }
        if predictions.is_empty() {
            for step in NEIGHBOURS {
                let side = IVec2::new(step.y, step.x);
                let line = [1, 2, 3].map(|count| self.get(place + step * count));
                if let [Some(a), Some(b), Some(c)] = line {
                    predictions.push(3.0 * (a - b) + c);
                } else if let [Some(a), Some(b), _] = line {
                    predictions.push(2.0 * a - b);
                }
                for side in [side, -side] {
                    let square = [step, side, step + side].map(|offset| self.get(place + offset));
                    if let [Some(a), Some(b), Some(c)] = square {
                        predictions.push(a + b - c);
                    }
                }
            }
        }
        (!predictions.is_empty()).then(|| predictions.iter().sum::<DVec2>() / predictions.len() as f64)
    }
}

/// Finds the saddle near `at` between edges along both steps; window and largest movement are in squares of these sides.
pub(super) fn aligned_saddle(
    picture: &Image<u8>,
    at: DVec2,
    [u, v]: [DVec2; 2],
    window: f64,
    most: f64,
) -> Option<Saddle> {
    let size = square_px([u, v]);
    let saddle = saddle::refine(picture, at, window * size, most * size)?;
    let aligned = saddle.brightness_between(u, v).abs() > MIN_ALIGNMENT;
    (saddle.explained > MIN_EXPLAINED && aligned).then_some(saddle)
}

/// Returns the smallest extent of a square with these sides, px.
pub(super) fn square_px([u, v]: [DVec2; 2]) -> f64 {
    u.perp_dot(v).abs() / u.length().max(v.length()).max(1e-9)
}
