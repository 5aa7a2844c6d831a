//! Guidance to the next board pose, the one that lowers the predicted depth error most.

use super::judge::RectifiedRays;
use super::outcome::Outcome;
use super::solve::adjust::{Bundle, FreeParameters, State, inverse, project};
use super::solve::rig_of;
use super::{Board, Corner, LensKind, Pose, View};
use glam::{DMat3, DQuat, DVec2, DVec3};
use nalgebra::{DMatrix, DVector};
use rayon::prelude::*;
use stereopsis_calibration::{Camera, Distortion};
use stereopsis_frame::Side;

/// Distance whose depth error is minimised, m.
const DISTANCE_M: f64 = 2.0;
/// Candidate tilt, degrees.
const TILT_DEG: f64 = 35.0;
/// Candidate widths of the board, as shares of the image.
const WIDTHS: [f64; 2] = [0.35, 0.6];

/// Target pose of the board.
#[derive(Clone, Debug, PartialEq)]
pub struct TargetPose {
    /// Outline of the board in the left and the right image, px: its corners in order.
    pub outline: [Vec<DVec2>; 2],
    /// Description of the pose.
    pub words: String,
}

#[derive(Clone, Copy, Debug)]
struct BoardPlacement {
    /// Third of the image across and down: -1, 0 or 1.
    place: (i32, i32),
    width: f64,
    /// Tilt about the horizontal and the vertical axis, in units of [`TILT_DEG`].
    tilt: (i32, i32),
}

/// Placements of the first views, before a solution exists.
const FIRST: [BoardPlacement; 8] = [
    BoardPlacement { place: (0, 0), width: 0.6, tilt: (0, 0) },
    BoardPlacement { place: (0, 0), width: 0.5, tilt: (0, 1) },
    BoardPlacement { place: (0, 0), width: 0.5, tilt: (1, 0) },
    BoardPlacement { place: (-1, -1), width: 0.45, tilt: (0, -1) },
    BoardPlacement { place: (1, -1), width: 0.45, tilt: (-1, 0) },
    BoardPlacement { place: (1, 1), width: 0.45, tilt: (0, 1) },
    BoardPlacement { place: (-1, 1), width: 0.45, tilt: (1, 0) },
    BoardPlacement { place: (0, 0), width: 0.3, tilt: (0, -1) },
];

impl BoardPlacement {
    fn all() -> impl Iterator<Item = Self> {
        let places = (0..9).map(|i| (i % 3 - 1, i / 3 - 1));
        places.flat_map(|place| {
            WIDTHS.into_iter().flat_map(move |width| {
                [(0, 0), (1, 0), (-1, 0), (0, 1), (0, -1)].into_iter().map(move |tilt| Self { place, width, tilt })
            })
        })
    }

    /// Returns the board's pose for this placement, shifted by `inwards` px, if the camera has a ray there.
    fn pose(&self, board: &Board, camera: &Camera, (width, height): (usize, usize), inwards: DVec2) -> Option<Pose> {
        let (width, height) = (width as f64, height as f64);
        let (across, down) = board.inner();
        let extent = board.point_m(across * down - 1);
        // a third of the image, as far out as the board fits
        let reach =
            DVec2::new(1.0 - self.width, 1.0 - (self.width * extent.y / extent.x * width / height).min(0.9)) / 2.0;
        let place = DVec2::new(f64::from(self.place.0), f64::from(self.place.1)) * reach * 0.95 + 0.5;
        let ray = camera.direction(place * DVec2::new(width, height) - 0.5 + inwards).filter(|ray| ray.z > 0.3)?;
        let distance = extent.x * camera.fx / (self.width * width);
        let tilt = DVec3::new(f64::from(self.tilt.0), f64::from(self.tilt.1), 0.0) * TILT_DEG.to_radians();
        let rotation = DMat3::from_quat(DQuat::from_scaled_axis(tilt));
        Some(Pose { rotation, translation_m: ray / ray.z * distance - rotation * (extent / 2.0) })
    }

    fn words(&self) -> String {
        let place = match self.place {
            (0, 0) => "in the middle".to_owned(),
            (x, y) => {
                let rows = ["upper ", "", "lower "][(y + 1) as usize];
                let side = ["left", "middle", "right"][(x + 1) as usize];
                format!("at the {rows}{side}")
            }
        };
        let near = if self.width >= 0.5 { "near" } else { "farther away" };
        let tilt = match self.tilt {
            (0, 0) => "facing the cameras",
            (1, _) => "its upper edge nearer",
            (-1, _) => "its lower edge nearer",
            (_, 1) => "its right edge nearer",
            _ => "its left edge nearer",
        };
        format!("hold the board {place}, {near}, {tilt}")
    }
}

impl TargetPose {
    /// Returns the target of one of the first views for two ordinary cameras.
    pub(super) fn of_start(board: &Board, number: usize, size: (usize, usize)) -> Option<Self> {
        let focal = 0.9 * size.0 as f64;
        let (cx, cy) = ((size.0 as f64 - 1.0) / 2.0, (size.1 as f64 - 1.0) / 2.0);
        let camera = Camera { fx: focal, fy: focal, cx, cy, skew: 0.0, distortion: Distortion::default() };
        let mut hold = FIRST[number % FIRST.len()];
        let last = DVec2::new(size.0 as f64, size.1 as f64) - 1.0;
        // a tall or tilted board at a border is moved inwards and away until it is completely visible
        let mut inwards = DVec2::ZERO;
        for _ in 0..30 {
            let outline = outline(board, &hold.pose(board, &camera, size, inwards)?, &camera);
            let (low, high) = outline
                .iter()
                .fold((DVec2::INFINITY, DVec2::NEG_INFINITY), |(low, high), at| (low.min(*at), high.max(*at)));
            let (below, above) = ((-low).max(DVec2::ZERO), (high - last).max(DVec2::ZERO));
            if outline.len() == 4 && below + above == DVec2::ZERO {
                // the disparity at this distance is unknown, so both images have the same outline
                return Some(Self { outline: [outline.clone(), outline], words: hold.words() });
            }
            inwards += (below - above) * 1.05;
            if (high - low).cmpgt(0.95 * last).any() {
                hold.width *= 0.9;
            }
        }
        None
    }
}

fn outline(board: &Board, pose: &Pose, camera: &Camera) -> Vec<DVec2> {
    let (origin, size) = (board.origin_mm() * 1e-3, board.size_mm() * 1e-3);
    let (width, height) = (size.x, size.y);
    let corners = [(0.0, 0.0), (width, 0.0), (width, height), (0.0, height)];
    corners.iter().filter_map(|&(x, y)| project(camera, pose.at(DVec3::new(x - origin, y - origin, 0.0)))).collect()
}

pub(super) struct Guide<'a> {
    outcome: &'a Outcome,
    /// Information matrix of the shared parameters from the views so far.
    information: DMatrix<f64>,
    /// Gradients of depth by these parameters at positions of the image.
    slopes: Vec<DVector<f64>>,
}

impl<'a> Guide<'a> {
    pub fn of(outcome: &'a Outcome) -> Self {
        let solution = &outcome.solution;
        let views: Vec<&View> = solution.views.iter().map(|fit| &fit.view).collect();
        let bundle = solution.bundle(&outcome.board, outcome.size, &views, FREE);
        Self { outcome, information: bundle.information(&solution.state), slopes: slopes(outcome) }
    }

    /// Returns the view that lowers the predicted depth error most.
    pub fn next(&self) -> Option<TargetPose> {
        let Outcome { board, size, solution, .. } = self.outcome;
        let tried: Vec<(f64, BoardPlacement, Pose)> = BoardPlacement::all()
            .collect::<Vec<_>>()
            .into_par_iter()
            .filter_map(|hold| {
                let pose = hold.pose(board, &solution.rig.left, *size, DVec2::ZERO)?;
                Some((self.variance_with(&pose)?, hold, pose))
            })
            .collect();
        let (_, hold, pose) = tried.into_iter().min_by(|a, b| a.0.total_cmp(&b.0))?;
        let right = Pose { rotation: solution.rig.rotation, translation_m: solution.rig.translation_m }.after(&pose);
        let outline = [outline(board, &pose, &solution.rig.left), outline(board, &right, &solution.rig.right)];
        Some(TargetPose { outline, words: hold.words() })
    }

    /// Predicts the mean depth variance after one more view at a pose, relative to one pixel, if the cameras see the board.
    fn variance_with(&self, pose: &Pose) -> Option<f64> {
        let Outcome { board, size, solution, .. } = self.outcome;
        let view = View { name: String::new(), corners: Side::ALL.map(|side| self.seen(pose, side)) };
        let least = if board.has_markers() { board.corner_count().div_ceil(3) } else { board.corner_count() };
        if view.corners.iter().any(|corners| corners.len() < least) {
            return None;
        }
        let views = [&view];
        let bundle = solution.bundle(board, *size, &views, FREE);
        let state = State { poses: vec![*pose], ..solution.state.clone() };
        let none = State { poses: Vec::new(), ..solution.state.clone() };
        let added = bundle.information(&state) - Bundle { views: &[], ..bundle }.information(&none);
        let covariance = inverse(&self.information + added)?;
        let variances = self.slopes.iter().map(|slope| slope.dot(&(&covariance * slope)));
        Some(variances.sum::<f64>() / self.slopes.len() as f64)
    }

    /// Returns the board corners visible to a side.
    fn seen(&self, pose: &Pose, side: Side) -> Vec<Corner> {
        let Outcome { board, size, solution, .. } = self.outcome;
        let state = &solution.state;
        let camera = solution.kind.camera(&state.cameras[side as usize]);
        let last = DVec2::new(size.0 as f64, size.1 as f64) - 1.0;
        let seen = |id: usize| {
            let in_left = pose.at(board.point_m(id));
            let at = project(&camera, if side == Side::Left { in_left } else { state.between.at(in_left) })?;
            let is_inside = at.cmpge(DVec2::ZERO).all() && at.cmple(last).all();
            is_inside.then_some(Corner { id, at })
        };
        (0..board.corner_count()).filter_map(seen).collect()
    }
}

/// Parameters that a pose of the board helps to determine.
const FREE: FreeParameters = FreeParameters { cameras: true, between: true, aspect: false };

/// Computes the gradients of inverse depth by each shared parameter at 5 x 4 positions of the image.
fn slopes(outcome: &Outcome) -> Vec<DVector<f64>> {
    let Outcome { size, solution, .. } = outcome;
    let Some(rays) = RectifiedRays::of(&solution.rig, *size) else { return Vec::new() };
    let pairs = super::judge::pixel_pairs(&rays, *size, DISTANCE_M);
    let count = solution.kind.count();
    let all = 2 * count + 7;
    let mut slopes = vec![DVector::zeros(all); pairs.len()];
    for number in 0..all - 1 {
        let step = step_of(solution.kind, number, size.0);
        let changed = |step: f64| {
            let mut state = solution.state.clone();
            match number {
                i if i < 2 * count => state.cameras[i / count][i % count] += step,
                i => {
                    let mut six = [0.0; 6];
                    six[i - 2 * count] = step;
                    state.between = state.between.moved(DVec3::from_slice(&six[..3]), DVec3::from_slice(&six[3..]));
                }
            }
            rig_of(solution.kind, &state, *size)
        };
        let (more, less) = (changed(step), changed(-step));
        let Some((more, less)) = RectifiedRays::of(&more, *size).zip(RectifiedRays::of(&less, *size)) else { continue };
        for (slope, &(left, right)) in slopes.iter_mut().zip(&pairs) {
            if let Some((high, low)) = more.nearness(left, right).zip(less.nearness(left, right)) {
                slope[number] = (high - low) / (2.0 * step);
            }
        }
    }
    slopes
}

fn step_of(kind: LensKind, number: usize, width: usize) -> f64 {
    let count = kind.count();
    match number {
        i if i < 2 * count && i % count < 4 => 1e-5 * width as f64,
        _ => 1e-6,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_ghosts_are_inside_the_picture() {
        for words in ["charuco:10x7:24mm:18mm:DICT_5X5_100", "chessboard:9x6:25mm", "chessboard:5x10:25mm"] {
            let board: Board = words.parse().unwrap();
            for size in [(640, 480), (1280, 720), (640, 360)] {
                for number in 0..FIRST.len() {
                    let ghost = TargetPose::of_start(&board, number, size)
                        .unwrap_or_else(|| panic!("{words} {size:?} {number}"));
                    let last = DVec2::new(size.0 as f64, size.1 as f64) - 1.0;
                    let is_inside = |at: &DVec2| at.cmpge(DVec2::ZERO).all() && at.cmple(last).all();
                    assert!(ghost.outline.iter().flatten().all(is_inside), "{words} {size:?} {number}: {ghost:?}");
                    // nearer edges look longer
                    let [a, b, c, d] = ghost.outline[0][..] else { panic!("{ghost:?}") };
                    let nearer = [
                        (a.distance(b), "upper"),
                        (c.distance(d), "lower"),
                        (a.distance(d), "left"),
                        (b.distance(c), "right"),
                    ];
                    let said = nearer.iter().find(|(_, side)| ghost.words.contains(&format!("its {side} edge nearer")));
                    let opposite = |side: &str| match side {
                        "upper" => 1,
                        "lower" => 0,
                        "left" => 3,
                        _ => 2,
                    };
                    if let Some((length, side)) = said {
                        assert!(*length > 1.05 * nearer[opposite(side)].0, "{ghost:?}");
                    }
                }
            }
        }
    }
}
