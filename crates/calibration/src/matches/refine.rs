//! Sub-pixel refinement of a match: the right patch is moved until it equals the left one times a gain plus an offset (Lucas and Kanade
//! 1981, with the left patch's gradients, so that the normal matrix is computed once).

use super::corners::Corner;
use super::point::Match;
use super::pyramid::{Pyramid, SmoothedImage};
use glam::DVec2;

const RADIUS: isize = 5;
const SIDE: usize = 2 * RADIUS as usize + 1;
const AREA: usize = SIDE * SIDE;
/// Step length below which the iteration ends, px.
const MIN_STEP_PX: f64 = 0.005;
/// Largest total movement of the right patch, px; beyond it the match is lost.
const MAX_SHIFT_PX: f64 = 2.5;

/// Refines from the level of the corners to the full image; `None` if the patch is too flat or moves too far.
pub(super) fn refine(levels: &[Pyramid; 2], work: usize, left: Corner, right: Corner) -> Option<Match> {
    let mut at = DVec2::new(left.x.into(), left.y.into());
    let mut to = DVec2::new(right.x.into(), right.y.into());
    let mut score = 0.0;
    for level in (0..=work).rev() {
        let (left, right) = (levels[0].level(level), levels[1].level(level));
        (to, score) = place(left, right, at, to)?;
        if level > 0 {
            let finer = (at + 0.5) * 2.0 - 0.5;
            to = (to + 0.5) * 2.0 - 0.5 + (finer.floor() - finer);
            at = finer.floor();
        }
    }
    Some(Match { left: at, right: to, score })
}

/// Finds the position in the right image of the patch around left pixel `at`, from an initial guess, and its correlation.
fn place(left: &SmoothedImage, right: &SmoothedImage, at: DVec2, guess: DVec2) -> Option<(DVec2, f64)> {
    let inside = |p: DVec2, reach: f64| {
        let last = DVec2::new(left.width() as f64 - 1.0, left.height() as f64 - 1.0);
        p.cmpge(DVec2::splat(reach)).all() && p.cmple(last - reach).all()
    };
    let reach = RADIUS as f64 + 1.0;
    if !inside(at, reach) {
        return None;
    }
    let (template, gradients) = template(left, at);
    let (mut xx, mut xy, mut yy) = (0.0, 0.0, 0.0);
    for g in &gradients {
        (xx, xy, yy) = (xx + g.x * g.x, xy + g.x * g.y, yy + g.y * g.y);
    }
    let determinant = xx * yy - xy * xy;
    let energy = template.iter().map(|v| v * v).sum::<f64>();
    if energy <= 0.0 || determinant <= 1e-3 * (xx + yy) * (xx + yy) * 0.25 {
        return None;
    }
    let mut to = guess;
    for _ in 0..10 {
        if !inside(to, reach) || to.distance(guess) > MAX_SHIFT_PX {
            return None;
        }
        let sample = sample(right, to);
        let gain = sample.iter().zip(&template).map(|(s, t)| s * t).sum::<f64>() / energy;
        if gain <= 0.1 {
            return None;
        }
        let mut b = DVec2::ZERO;
        for ((s, t), g) in sample.iter().zip(&template).zip(&gradients) {
            b += *g * (s / gain - t);
        }
        let step = DVec2::new(yy * b.x - xy * b.y, xx * b.y - xy * b.x) / determinant;
        to -= step;
        if step.length() < MIN_STEP_PX {
            let strength = sample.iter().map(|s| s * s).sum::<f64>();
            return Some((to, gain * (energy / strength).sqrt()));
        }
    }
    None
}

/// Returns the left patch and its gradients, each without its mean.
fn template(left: &SmoothedImage, at: DVec2) -> ([f64; AREA], [DVec2; AREA]) {
    let (mut values, mut gradients) = ([0.0; AREA], [DVec2::ZERO; AREA]);
    let (x, y) = (at.x as isize, at.y as isize);
    let value = |u: isize, v: isize| f64::from(left.at(u as usize, v as usize));
    let places = (y - RADIUS..=y + RADIUS).flat_map(|v| (x - RADIUS..=x + RADIUS).map(move |u| (u, v)));
    for ((u, v), (t, g)) in places.zip(values.iter_mut().zip(&mut gradients)) {
        *t = value(u, v);
        *g = DVec2::new(value(u + 1, v) - value(u - 1, v), value(u, v + 1) - value(u, v - 1)) / 2.0;
    }
    let mean = gradients.iter().sum::<DVec2>() / AREA as f64;
    for g in &mut gradients {
        *g -= mean;
    }
    (without_mean(&values), gradients)
}

/// Interpolates the right patch, without its mean.
fn sample(right: &SmoothedImage, to: DVec2) -> [f64; AREA] {
    let whole = to.floor();
    let part = to - whole;
    let first = (whole.x as usize - RADIUS as usize, whole.y as usize - RADIUS as usize);
    let mut values = [0.0; AREA];
    for (v, row) in values.chunks_exact_mut(SIDE).enumerate() {
        let upper = &right.row(first.1 + v)[first.0..=first.0 + SIDE];
        let lower = &right.row(first.1 + v + 1)[first.0..=first.0 + SIDE];
        for (out, (u, l)) in row.iter_mut().zip(upper.windows(2).zip(lower.windows(2))) {
            let upper = f64::from(u[0]) + (f64::from(u[1]) - f64::from(u[0])) * part.x;
            let lower = f64::from(l[0]) + (f64::from(l[1]) - f64::from(l[0])) * part.x;
            *out = upper + (lower - upper) * part.y;
        }
    }
    without_mean(&values)
}

fn without_mean(values: &[f64; AREA]) -> [f64; AREA] {
    let mean = values.iter().sum::<f64>() / AREA as f64;
    values.map(|v| v - mean)
}
