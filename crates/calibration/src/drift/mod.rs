//! Drift of a calibrated rig: mounts bend, lenses warm up. The relative rotation of the cameras and the ratio of their focal lengths are
//! solved from matches against the calibration, never from one picture: matches of many views are gathered, spread over the image and over
//! distances.
//!
//! Rows tell pitch, roll and the ratio of the focal lengths well. Yaw (toe-in), which moves depth most, shows in the corners alone; it is
//! applied where its own error says that this helps, and its error is part of the expected error of depth.

mod correction;
mod solve;

use crate::matches::Match;
use crate::rows::RowField;
use crate::{CalibrationError, Rectification, Rectifier, StereoRig};
pub use correction::{Corrected, Correction};
use glam::{DMat3, DVec2, DVec3};
use solve::{Change, FOCAL, Point, Solution, YAW, derivatives};
use stereopsis_base::console::counted;
use stereopsis_base::geometry::Axis;
use stereopsis_base::quantile::quantile;

/// Depths for which the expected error is named, m.
const TOLD_DEPTHS_M: [f64; 4] = [1.0, 2.0, 5.0, 10.0];
/// Number of different views from which on a rig is corrected, with this many matches.
pub const MIN_DRIFT_VIEWS: usize = 4;
const MIN_MATCHES: usize = 200;
/// Smallest number of matches that tell anything.
const MIN_MATCHES_AT_ALL: usize = 60;
/// Smallest displacement in the right image that is offered as a correction, px.
const MIN_SHIFT_PX: f64 = 0.15;
/// Smallest change of a lens that is named, %.
const MIN_LENS_PERCENT: f64 = 0.3;

/// Cells of the image, and classes of parallaxes, from each of which the newest matches are kept.
const CELLS: [usize; 2] = [6, 4];
const PARALLAXES: [f64; 3] = [0.01, 0.03, 0.09];
const KEPT_PER_CELL: usize = 32;
/// Largest number of matches in a cell from one view.
const MAX_OF_VIEW: usize = 8;
/// Number of views that a new one is compared with, and of points of each.
const REMEMBERED_VIEWS: usize = 32;
const REMEMBERED_POINTS: usize = 150;
/// Largest distance of points in the image, and difference of their disparities, by which they are the same, px.
const SAME_POINT_PX: [f64; 2] = [3.0, 1.0];

/// Matches of a rig, gathered over minutes and views, with bounded memory.
#[derive(Clone, Debug, Default)]
pub struct DriftGatherer {
    base: Option<Base>,
    cells: Vec<Cell>,
    /// Points of the last views: column, row and disparity, px.
    remembered: Vec<Vec<DVec3>>,
    views: usize,
}

#[derive(Clone, Debug, Default)]
struct Cell {
    points: Vec<Point>,
    next: usize,
}

/// Expected error of depth, %: the root of the mean square over the image.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize)]
pub struct DepthError {
    /// Depth, m.
    pub depth_m: f64,
    /// Error as the rig is calibrated, %.
    pub before_percent: f64,
    /// Error by the correction, %.
    pub after_percent: f64,
}

/// Change of the ratio of the focal lengths since the calibration.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize)]
pub struct LensChange {
    /// How much longer the right lens is than calibrated, against the left one, %.
    pub percent: f64,
    /// Error of depth of what lies at the left and at the right side of the image without a correction, %.
    pub sides_percent: [f64; 2],
}

/// Rig as gathered matches show it.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub struct Drift {
    /// Number of different views.
    pub views: usize,
    /// Number of matches.
    pub matches: usize,
    /// Whether these are enough for a correction.
    pub is_enough: bool,
    /// Correction of the calibration; zero for a rig that stands as calibrated.
    pub correction: Correction,
    /// Correction in force.
    pub in_force: Option<Correction>,
    /// Whether the correction differs from the one in force, or from none, by more than its error and by what shows in images.
    pub is_offered: bool,
    /// Median of the absolute row offsets as calibrated, px.
    pub rows_before_px: f64,
    /// Median of the absolute row offsets by the correction, px.
    pub rows_after_px: f64,
    /// Yaw of the right camera against the left one, degrees: found, and its standard deviation. It is corrected only if it exceeds its own
    /// error.
    pub yaw_deg: [f64; 2],
    /// Expected errors of depth.
    pub depth: [DepthError; 4],
    /// Change of a lens, if it is large enough to be named.
    pub lens: Option<LensChange>,
}

/// Calibrated rig whose drift is looked for, at the size of the raw images.
#[derive(Clone, Debug)]
struct Base {
    calibrated: StereoRig,
    sizes: [(usize, usize); 2],
    side: Sides,
    in_force: Option<Correction>,
}

/// Cameras and rectification of images of one size.
#[derive(Clone, Debug)]
struct Sides {
    rig: StereoRig,
    rectification: Rectification,
    /// Rotation from the axes of the rectified images to those in which the baseline lies along x.
    along_x: DMat3,
}

impl Sides {
    fn of(rig: &StereoRig, rectifier: &Rectifier) -> Result<Self, CalibrationError> {
        let (rig, rectification, _) = rig.at_sizes(rectifier.raw_sizes(), rectifier.crop())?;
        let along_x = match rectification.axis {
            Axis::Horizontal => DMat3::IDENTITY,
            Axis::Vertical => DMat3::from_cols(-DVec3::Y, DVec3::X, DVec3::Z),
        };
        Ok(Self { rig, rectification, along_x })
    }

    /// Returns the raw pixels of rectified ones; `None` where a camera does not see.
    fn raw(&self, [left, right]: [DVec2; 2]) -> [DVec2; 2] {
        let r = &self.rectification;
        [
            self.rig.left.project(r.rotation_left.transpose() * r.left.ray(left.x, left.y)),
            self.rig.right.project(r.rotation_right.transpose() * r.right.ray(right.x, right.y)),
        ]
    }

    /// Returns the rays of two raw pixels.
    fn point(&self, [left, right]: [DVec2; 2], view: usize) -> Option<Point> {
        const H: f64 = 1e-4;
        let (rig, r) = (&self.rig, &self.rectification);
        let mut longer = rig.right;
        (longer.fx, longer.fy) = (longer.fx * (1.0 + H), longer.fy * (1.0 + H));
        let (to_left, to_right) = (self.along_x * r.rotation_left, self.along_x * r.rotation_right);
        let right_ray = rig.right.direction(right)?;
        let size = rig.size.unwrap_or_default();
        let point = Point {
            left: to_left * rig.left.direction(left)?,
            right: to_right * right_ray,
            right_by_focal: to_right * (longer.direction(right)? - right_ray) / H,
            place: left / DVec2::new(size.0 as f64, size.1 as f64),
            view,
        };
        (point.left.z > 0.1 && point.right.z > 0.1).then_some(point)
    }

    fn focal_px(&self) -> f64 {
        self.rectification.left.fx
    }

    fn correction(&self, change: &Change) -> Correction {
        let [pitch, yaw, roll, both_yaw, both_roll, longer] = *change;
        let degrees = |vector: DVec3| (self.along_x.transpose() * vector).to_array().map(f64::to_degrees);
        Correction {
            date: correction::today(),
            right_deg: degrees(DVec3::new(pitch, yaw, roll)),
            both_deg: degrees(DVec3::new(0.0, both_yaw, both_roll)),
            right_focal_percent: 100.0 * longer,
        }
    }

    fn change(&self, correction: &Correction) -> Change {
        let vector = |deg: [f64; 3]| self.along_x * DVec3::from(deg.map(f64::to_radians));
        let (right, both) = (vector(correction.right_deg), vector(correction.both_deg));
        [right.x, right.y, right.z, both.y, both.z, correction.right_focal_percent / 100.0]
    }
}

impl DriftGatherer {
    /// Takes the matches of one pair, rectified by `rectifier`, scaled to `size` and with disparities along its rows, whose right image was
    /// corrected by `applied`. Pairs of another calibration or size begin anew. Returns whether it shows another view than earlier pairs.
    ///
    /// # Errors
    /// The rig of the rectifier cannot be rectified again.
    pub fn add(
        &mut self,
        rectifier: &Rectifier,
        found: &[Match],
        size: (usize, usize),
        applied: &RowField,
    ) -> Result<bool, CalibrationError> {
        let rig = rectifier.rig();
        if rig.estimated {
            *self = Self::default();
            return Ok(false);
        }
        let in_force = rig.corrected_from.as_ref().map(|from| from.correction.clone());
        let (calibrated, sizes) = (rig.as_calibrated(), rectifier.raw_sizes());
        if self.base.as_ref().is_none_or(|base| (&base.calibrated, base.sizes) != (calibrated, sizes)) {
            let side = Sides::of(calibrated, rectifier)?;
            *self = Self {
                base: Some(Base { calibrated: calibrated.clone(), sizes, side, in_force: None }),
                cells: vec![Cell::default(); CELLS[0] * CELLS[1] * (PARALLAXES.len() + 1)],
                ..Self::default()
            };
        }
        let Some(base) = &mut self.base else { return Ok(false) };
        base.in_force = in_force;
        let now = Sides::of(rig, rectifier)?;
        let raw: Vec<_> = found.iter().map(|found| now.raw(upright(found, size, applied, rectifier))).collect();
        if !is_new(&raw, &self.remembered) {
            return Ok(false);
        }
        let view = self.views;
        self.views += 1;
        remember(&raw, &mut self.remembered);
        let mut of_view = vec![0; self.cells.len()];
        for point in raw.into_iter().filter_map(|at| base.side.point(at, view)) {
            let column = ((point.place.x * CELLS[0] as f64) as usize).min(CELLS[0] - 1);
            let row = ((point.place.y * CELLS[1] as f64) as usize).min(CELLS[1] - 1);
            let parallax = point.parallax(&Change::default());
            let class = PARALLAXES.iter().filter(|limit| parallax > **limit).count();
            let cell = (row * CELLS[0] + column) * (PARALLAXES.len() + 1) + class;
            if of_view[cell] < MAX_OF_VIEW {
                of_view[cell] += 1;
                self.cells[cell].push(point);
            }
        }
        Ok(true)
    }

    /// Solves for the drift; `None` with too few matches. With fewer than [`MIN_DRIFT_VIEWS`] views a lens may be named, and nothing is
    /// corrected.
    pub fn drift(&self) -> Option<Drift> {
        let Base { side, in_force, .. } = self.base.as_ref()?;
        let points: Vec<Point> = self.cells.iter().flat_map(|cell| &cell.points).copied().collect();
        if points.len() < MIN_MATCHES_AT_ALL {
            return None;
        }
        let is_enough = self.views >= MIN_DRIFT_VIEWS && points.len() >= MIN_MATCHES;
        let focal_px = side.focal_px();
        let Solution { likely, covariance, mut applied } = solve::solution(&points, focal_px)?;
        let grid = grid(side);
        let shift_px = |from: &Change, to: &Change| {
            let far = grid.iter().map(|point| (point.seen(to)[1] - point.seen(from)[1]).length());
            focal_px * far.fold(0.0, f64::max)
        };
        let none = Change::default();
        let now = in_force.as_ref().map_or(none, |correction| side.change(correction));
        if !is_enough {
            applied = now;
        } else if shift_px(&none, &applied) < MIN_SHIFT_PX {
            applied = none;
        }
        let is_certain =
            (0..now.len()).any(|i| (likely[i] - now[i]).abs() >= solve::MIN_RATIO * covariance[i][i].sqrt());
        let rows_px = |change: &Change| {
            let row = |point: &Point| {
                let [left, right] = point.seen(change);
                focal_px * (right.y - left.y).abs()
            };
            quantile(&mut points.iter().map(row).collect::<Vec<_>>(), 0.5)
        };
        // error of the parallax over the image for a rig that is taken as changed by `assumed`
        let error = |assumed: &Change| {
            let square = |point: &Point| {
                let off = point.parallax(&likely) - point.parallax(assumed);
                let by = derivatives(&likely, |change| point.parallax(change));
                let spread: f64 = (0..by.len())
                    .flat_map(|i| (0..by.len()).map(move |j| (i, j)))
                    .map(|(i, j)| by[i] * covariance[i][j] * by[j])
                    .sum();
                off * off + spread
            };
            (grid.iter().map(square).sum::<f64>() / grid.len() as f64).sqrt()
        };
        let baseline_m = side.rectification.baseline_m.abs();
        let (before, after) = (error(&none), error(&applied));
        let depth = TOLD_DEPTHS_M.map(|depth_m| {
            let percent = |error: f64| 100.0 * error * depth_m / baseline_m;
            DepthError { depth_m, before_percent: percent(before), after_percent: percent(after) }
        });
        let lens_percent = 100.0 * likely[FOCAL];
        let is_sure = lens_percent.abs() >= solve::MIN_RATIO * 100.0 * covariance[FOCAL][FOCAL].sqrt();
        let lens = (is_sure && lens_percent.abs() >= MIN_LENS_PERCENT)
            .then(|| LensChange { percent: lens_percent, sides_percent: sides_percent(&points, &likely) });
        Some(Drift {
            views: self.views,
            matches: points.len(),
            is_enough,
            is_offered: is_certain && shift_px(&now, &applied) >= MIN_SHIFT_PX,
            in_force: in_force.clone(),
            correction: side.correction(&applied),
            rows_before_px: rows_px(&none),
            rows_after_px: rows_px(&applied),
            yaw_deg: [likely[YAW].to_degrees(), covariance[YAW][YAW].sqrt().to_degrees()],
            depth,
            lens,
        })
    }
}

/// Returns the errors of depth by the change of the lens alone, %: the medians of the outermost fifth of the points on the left, and on the
/// right.
fn sides_percent(points: &[Point], change: &Change) -> [f64; 2] {
    let mut longer = Change::default();
    longer[FOCAL] = change[FOCAL];
    let mut from_left: Vec<&Point> = points.iter().collect();
    from_left.sort_by(|a, b| a.place.x.total_cmp(&b.place.x));
    let fifth = points.len() / 5;
    let percent = |point: &&Point| {
        let (taken, true_one) = (point.parallax(&Change::default()), point.parallax(&longer));
        100.0 * (true_one / taken - 1.0)
    };
    let middle = |side: &[&Point]| quantile(&mut side.iter().map(percent).collect::<Vec<_>>(), 0.5);
    [middle(&from_left[..fifth]), middle(&from_left[points.len() - fifth..])]
}

impl Cell {
    /// Adds a point, in place of the oldest one of a full cell.
    fn push(&mut self, point: Point) {
        if self.points.len() < KEPT_PER_CELL {
            self.points.push(point);
        } else {
            self.points[self.next] = point;
            self.next = (self.next + 1) % KEPT_PER_CELL;
        }
    }
}

/// Number of points of the grid along each side.
const GRID: usize = 7;

/// Returns far points all over the rectified images.
fn grid(side: &Sides) -> Vec<Point> {
    let (width, height) = side.rig.size.unwrap_or_default();
    let last = DVec2::new(width as f64, height as f64) - 1.0;
    let Rectification { left, right, .. } = side.rectification;
    let doffs = DVec2::new(right.cx - left.cx, right.cy - left.cy);
    let at = |column: usize, row: usize| {
        let pixel = (DVec2::new(column as f64, row as f64) + 0.5) / GRID as f64 * last;
        let rays = [left.ray(pixel.x, pixel.y), right.ray(pixel.x + doffs.x, pixel.y + doffs.y)];
        let of_raw = side.point(side.raw([pixel, pixel + doffs]), 0);
        // beyond what a camera sees the change of the lens is that without distortion
        of_raw.unwrap_or_else(|| Point {
            left: side.along_x * rays[0],
            right: side.along_x * rays[1],
            right_by_focal: -(side.along_x * rays[1]).truncate().extend(0.0),
            place: pixel / last,
            view: 0,
        })
    };
    (0..GRID * GRID).map(|n| at(n % GRID, n / GRID)).collect()
}

/// Returns the places of a match in the rectified images of full size, upright and without the row correction.
fn upright(found: &Match, size: (usize, usize), applied: &RowField, rectifier: &Rectifier) -> [DVec2; 2] {
    let in_rows = DVec2::new(size.0 as f64, size.1 as f64);
    let right = found.right + DVec2::new(0.0, applied.offset_px(found.right, in_rows));
    let is_turned = rectifier.geometry().axis == Axis::Vertical;
    let width = if is_turned { size.1 } else { size.0 };
    let factor = rectifier.size().0 as f64 / width as f64;
    [found.left, right].map(|at| {
        let at = if is_turned { DVec2::new(in_rows.y - 1.0 - at.y, at.x) } else { at };
        (at + 0.5) * factor - 0.5
    })
}

/// Whether more than half of the points lie elsewhere than in each earlier view.
fn is_new(raw: &[[DVec2; 2]], earlier: &[Vec<DVec3>]) -> bool {
    if raw.len() < REMEMBERED_POINTS / 5 {
        return false;
    }
    let some = some_of(raw);
    earlier.iter().all(|view| {
        let is_same = |point: &&DVec3| {
            view.iter().any(|other| {
                let apart = (**point - *other).abs();
                apart.x.max(apart.y) <= SAME_POINT_PX[0] && apart.z <= SAME_POINT_PX[1]
            })
        };
        2 * some.iter().filter(is_same).count() < some.len()
    })
}

fn some_of(raw: &[[DVec2; 2]]) -> Vec<DVec3> {
    let step = raw.len().div_ceil(REMEMBERED_POINTS).max(1);
    raw.iter().step_by(step).map(|[left, right]| left.extend(left.x - right.x)).collect()
}

fn remember(raw: &[[DVec2; 2]], views: &mut Vec<Vec<DVec3>>) {
    if views.len() == REMEMBERED_VIEWS {
        views.remove(0);
    }
    // all points: those of a new view need not be the same ones
    views.push(raw.iter().take(4 * REMEMBERED_POINTS).map(|[left, right]| left.extend(left.x - right.x)).collect());
}

impl LensChange {
    /// Returns the change in words.
    pub fn words(&self) -> String {
        let Self { percent, sides_percent: [left, right] } = self;
        let which = if *percent > 0.0 { "longer" } else { "shorter" };
        format!(
            "the right lens is {:.1} % {which} than calibrated (against the left one): depth is off by {left:+.0} % towards the left \
             and {right:+.0} % towards the right side",
            percent.abs()
        )
    }
}

impl Drift {
    /// Returns the state of the rig in words.
    pub fn words(&self) -> String {
        let from = format!("{} of {}", counted(self.matches as u64, "match"), counted(self.views as u64, "view"));
        match (self.is_offered, &self.in_force) {
            _ if !self.is_enough => {
                format!("{from} so far: the rig is judged by {MIN_DRIFT_VIEWS} different views and more")
            }
            (true, _) => format!(
                "the rig has changed since: rows differ by {:.2} px as calibrated, by {:.2} px corrected; {from}",
                self.rows_before_px, self.rows_after_px
            ),
            (false, Some(correction)) => format!("the rig stands as corrected on {}; {from}", correction.date),
            (false, None) => format!("the rig stands as calibrated; {from}"),
        }
    }

    /// Returns the expected errors of depth in words.
    pub fn depth_words(&self) -> String {
        let each = self.depth.map(|DepthError { depth_m, before_percent, after_percent }| {
            let [before, after] = [before_percent, after_percent].map(percent_words);
            if self.correction.is_zero() {
                format!("{after} at {depth_m:.0} m")
            } else {
                format!("{before} as calibrated, {after} corrected at {depth_m:.0} m")
            }
        });
        format!("expected error of depth: {}", each.join(", "))
    }
}

fn percent_words(percent: f64) -> String {
    match percent {
        _ if percent >= 100.0 => "over 100 %".to_owned(),
        _ if percent >= 10.0 => format!("{percent:.0} %"),
        _ => format!("{percent:.1} %"),
    }
}

#[cfg(test)]
mod random_rigs;
#[cfg(test)]
mod tests;
