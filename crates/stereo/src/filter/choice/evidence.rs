//! Evidence for and against the candidates of a pixel: the inputs of the network, integers of about eight bits.

use super::slope::is_on_plane;
use super::{Candidate, Chooser, MAX_CANDIDATES, STEP, color_difference, partner};
use crate::map::{INVALID, reason};

/// Number of inputs for a candidate.
pub const EVIDENCE: usize = 36;
/// Radius and stride of the windows whose pixels may support a candidate: all within 5 px, and every fourth within 24 px.
pub const SUPPORTS: [(i32, i32); 2] = [(5, 1), (24, 4)];
/// Radii of the windows in which the images are compared: all pixels within 2 px, and those of like colour within 3 px.
pub const WINDOWS: [i32; 2] = [2, 3];
/// Number of pixels of the larger window.
const WINDOW_PIXELS: usize = 49;
/// Upper bound of a difference of brightness, 1/16 level.
pub const MAX_DIFFERENCE: i32 = 384;
/// Upper bound of a difference of colour, levels.
pub const MAX_COLOR_DIFFERENCE: i32 = 40;
/// Upper bounds of differences of disparities, 1/16 px: to the pixel's own, and between candidates.
pub const MAX_STEPS: [i32; 2] = [64, 128];

/// Counts of the pixels around that support each candidate.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Support {
    /// Number of pixels of like colour.
    pub like: i32,
    /// Number of trusted pixels among them.
    pub trusted: i32,
    /// Number of trusted pixels at most a step from the surface of each candidate.
    pub supporters: [i32; MAX_CANDIDATES],
    /// Sum of the confidences of these supporters.
    pub clearness: [i32; MAX_CANDIDATES],
}

/// Measurements of the candidates in the windows around a pixel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WindowEvidence {
    /// Supporters in each of [`SUPPORTS`].
    pub supports: [Support; 2],
    /// Mean differences of brightness in each of [`WINDOWS`] for each candidate, 1/16 level.
    pub windows: [[i32; 2]; MAX_CANDIDATES],
}

/// Inputs of the network, computed for all candidates of a pixel together.
pub struct Evidence {
    supports: [Support; 2],
    /// Mean differences of brightness in each window, and the difference of colour, for each candidate.
    differences: [[i32; 3]; MAX_CANDIDATES],
    /// Smallest value of each over the candidates.
    smallest: [i32; 3],
    /// Disparities of the farthest and the nearest candidate.
    range: [i32; 2],
    /// Change of brightness at the pixel, and around it.
    texture: [i32; 2],
}

impl Evidence {
    /// Computes the evidence that the candidates of a pixel share.
    #[inline(always)]
    pub fn of(
        chooser: &Chooser<'_>,
        pixel: (usize, usize),
        candidates: &[Candidate],
        measured: WindowEvidence,
    ) -> Self {
        let WindowEvidence { supports, windows } = measured;
        let mut differences = [[0; 3]; MAX_CANDIDATES];
        let mut smallest = [i32::MAX; 3];
        let mut range = [i32::MAX, i32::MIN];
        for (n, &Candidate { value, .. }) in candidates.iter().enumerate() {
            let [small, large] = windows[n];
            differences[n] = [small, large, chooser.color_difference(pixel, value)];
            for (smallest, &difference) in smallest.iter_mut().zip(&differences[n]) {
                *smallest = difference.min(*smallest);
            }
            range = [range[0].min(value.into()), range[1].max(value.into())];
        }
        Self { supports, differences, smallest, range, texture: chooser.texture(pixel) }
    }

    /// Returns the inputs of the network for candidate `n`.
    #[inline(always)]
    pub fn about(
        &self,
        chooser: &Chooser<'_>,
        (x, y): (usize, usize),
        candidates: &[Candidate],
        n: usize,
    ) -> [i32; EVIDENCE] {
        let Candidate { value, slope, distance, votes } = candidates[n];
        let candidate = i32::from(value);
        let own = i32::from(candidates[0].value);
        let flag = |is_set: bool| if is_set { 255 } else { 0 };
        let [near, far] = self.supports;
        let of_window = [121, 169];
        let support = |support: Support, window: i32| {
            let most = support.supporters.iter().copied().max().unwrap_or(0);
            let here = support.supporters[n];
            [
                share(here, support.like),
                share(here, support.trusted),
                share(support.trusted, support.like),
                share(support.like, window),
                share(most - here, support.like),
            ]
        };
        let clearness = |support: Support| support.clearness[n] / support.supporters[n].max(1);
        let [near, far] = [support(near, of_window[0]), support(far, of_window[1])];
        let [small, large, color] = self.differences[n];
        let [least_small, least_large, least_color] = self.smallest;
        let to = partner(x, value);
        let is_inside = to >= 0 && to < chooser.values.width() as i32;
        let seen = if is_inside { chooser.warped.at(to as usize, y) } else { INVALID };
        let [step, range] = MAX_STEPS;
        let behind = if seen == INVALID { 0 } else { (candidate - i32::from(seen)).clamp(-step, step) };
        let unlike = if seen == INVALID { step } else { behind.abs() };
        let reasons = chooser.reasons.at(x, y);
        let [nn, nv, tn, wn, mn] = near;
        let [nf, vf, tf, wf, mf] = far;
        [
            nn,
            nv,
            tn,
            wn,
            mn,
            nf,
            vf,
            tf,
            wf,
            mf,
            small,
            large,
            4 * color,
            small - least_small,
            large - least_large,
            4 * (color - least_color),
            (candidate - own).abs().min(step),
            flag(chooser.trusted.at(x, y) == INVALID),
            flag(!is_inside),
            unlike,
            behind,
            flag(reasons & reason::LEFT_RIGHT != 0),
            flag(reasons & reason::SPECKLE != 0),
            self.texture[0],
            self.texture[1],
            (candidate - self.range[0]).min(range),
            (self.range[1] - candidate).min(range),
            16 * candidates.len() as i32,
            chooser.clearness.at(x, y).into(),
            clearness(self.supports[0]),
            clearness(self.supports[1]),
            24 * votes,
            4 * distance,
            i32::from(slope.across).abs().min(255),
            i32::from(slope.down).abs().min(255),
            flag(is_on_plane(reasons)),
        ]
    }
}

/// Returns `part` of `whole` in 255ths, rounded down.
#[inline(always)]
fn share(part: i32, whole: i32) -> i32 {
    255 * part / whole.max(1)
}

impl Chooser<'_> {
    pub(super) fn support(
        &self,
        (x, y): (usize, usize),
        candidates: &[Candidate],
        (radius, stride): (i32, i32),
    ) -> Support {
        let (width, height) = self.values.size();
        let mut support = Support::default();
        let mut dy = -radius;
        while dy <= radius {
            let row = y as i32 + dy;
            let mut dx = -radius;
            while dx <= radius && row >= 0 && row < height as i32 {
                let column = x as i32 + dx;
                if column >= 0 && column < width as i32 {
                    let other = (column as usize, row as usize);
                    if self.is_like((x, y), other) {
                        let value = self.trusted.at(other.0, other.1);
                        support.like += 1;
                        support.trusted += i32::from(value != INVALID);
                        for (n, &candidate) in candidates.iter().enumerate() {
                            // an invalid pixel differs from every candidate by more than a step
                            let apart = (i32::from(value) - candidate.ahead(dx, dy)).abs();
                            let is_supporter = i32::from(apart <= STEP);
                            support.supporters[n] += is_supporter;
                            support.clearness[n] += is_supporter * i32::from(self.clearness.at(other.0, other.1));
                        }
                    }
                }
                dx += stride;
            }
            dy += stride;
        }
        support
    }

    pub(super) fn likes(&self, (x, y): (usize, usize)) -> [bool; WINDOW_PIXELS] {
        let (width, height) = self.values.size();
        let radius = WINDOWS[1];
        let side = 2 * radius + 1;
        let mut likes = [false; WINDOW_PIXELS];
        for n in 0..side * side {
            let (column, row) = (x as i32 + n % side - radius, y as i32 + n / side - radius);
            let is_inside = column >= 0 && row >= 0 && column < width as i32 && row < height as i32;
            likes[n as usize] = is_inside && self.is_like((x, y), (column as usize, row as usize));
        }
        likes
    }

    pub(super) fn differences(&self, pixel: (usize, usize), candidate: i16, likes: &[bool; WINDOW_PIXELS]) -> [i32; 2] {
        let all = &[true; WINDOW_PIXELS];
        [self.difference(pixel, candidate, WINDOWS[0], all), self.difference(pixel, candidate, WINDOWS[1], likes)]
    }

    /// Computes the mean difference of brightness between the pixels of a window selected by `counts` and their partners, each minus the
    /// mean of its side, 1/16 level; [`MAX_DIFFERENCE`] where all partners lie outside.
    fn difference(&self, (x, y): (usize, usize), candidate: i16, radius: i32, counts: &[bool; WINDOW_PIXELS]) -> i32 {
        let (width, height) = self.values.size();
        let [own, other] = &self.lumas;
        let mut differences = [0; WINDOW_PIXELS];
        let (mut count, mut sum) = (0, 0);
        for row in (y as i32 - radius).max(0)..=(y as i32 + radius).min(height as i32 - 1) {
            for column in (x as i32 - radius).max(0)..=(x as i32 + radius).min(width as i32 - 1) {
                let pixel = (column as usize, row as usize);
                let at = 16 * column - i32::from(candidate);
                let is_inside = at >= 0 && at <= 16 * (width as i32 - 1);
                let place = (row - y as i32 + radius) * (2 * radius + 1) + column - x as i32 + radius;
                if is_inside && counts[place as usize] {
                    let (first, part) = ((at >> 4) as usize, at & 15);
                    let [first, second] = [first, (first + 1).min(width - 1)].map(|x| i32::from(other.at(x, pixel.1)));
                    let difference = 16 * i32::from(own.at(pixel.0, pixel.1)) - (16 - part) * first - part * second;
                    differences[count] = difference;
                    sum += difference;
                    count += 1;
                }
            }
        }
        if count == 0 {
            return MAX_DIFFERENCE;
        }
        let mean = sum.div_euclid(count as i32);
        let from_mean = differences[..count].iter().map(|difference| (difference - mean).abs().min(MAX_DIFFERENCE));
        from_mean.sum::<i32>() / count as i32
    }

    #[inline(always)]
    fn color_difference(&self, (x, y): (usize, usize), candidate: i16) -> i32 {
        let to = partner(x, candidate);
        if to < 0 || to >= self.values.width() as i32 {
            return MAX_COLOR_DIFFERENCE;
        }
        let [own, other] = &self.colors;
        i32::from(color_difference(own.at(x, y), other.at(to as usize, y))).min(MAX_COLOR_DIFFERENCE)
    }

    /// Returns the change of brightness across the pixel, and the mean change from column to column around it.
    #[inline(always)]
    fn texture(&self, (x, y): (usize, usize)) -> [i32; 2] {
        let luma = &self.lumas[0];
        let (width, height) = luma.size();
        let change = |from: usize, to: usize, y: usize| i32::from(luma.at(from, y).abs_diff(luma.at(to, y)));
        let here = change(x.saturating_sub(1), (x + 1).min(width - 1), y);
        let (mut sum, mut count) = (0, 0);
        for row in y.saturating_sub(3)..(y + 4).min(height) {
            for column in x.saturating_sub(3)..(x + 3).min(width - 1) {
                sum += change(column, column + 1, row);
                count += 1;
            }
        }
        [(8 * here).min(255), (16 * sum / count.max(1)).min(255)]
    }
}
