//! Live calibration: takes views automatically of a visible, sharp, still board in a new pose, and solves them.

use super::coverage::Coverage;
use super::detect::{Detection, Detector, Mismatch, edge_width_px};
use super::finding::MIN_VIEWS;
use super::guide::{Guide, TargetPose};
use super::outcome::{CalibrationRequest, Outcome, calibrate};
use super::pictures::Pictures;
use super::{Board, CalibrateError, Corner, View};
use glam::DVec2;
use std::fmt;
use std::sync::Arc;
use std::time::SystemTime;
use stereopsis_base::image::Image;
use stereopsis_base::quantile::quantile;
use stereopsis_calibration::Camera;
use stereopsis_frame::{RawPair, Side};

const MAX_MOTION_PX: f64 = 0.2;
/// Largest motion between the exposures of both cameras, px.
const MAX_SKEW_MOTION_PX: f64 = 0.1;
/// Largest time between two images to measure the motion, s.
const MAX_GAP_S: f64 = 1.0;
/// Largest edge width relative to the sharpest image so far.
const MAX_BLUR_RATIO: f64 = 1.6;
/// Smallest mean corner distance of a new view from each earlier one, as a share of the image's width.
const MIN_VIEW_DISTANCE: f64 = 0.07;
/// Number of consecutive good pairs before a view is taken.
const MIN_STEADY_FRAMES: usize = 2;
/// Smallest half field of view of a wide lens, degrees.
const MIN_WIDE_DEG: f64 = 40.0;

/// Left and right image of a pair, with times, in which the board is searched.
#[derive(Clone, Copy, Debug)]
pub struct BoardFrame<'a> {
    /// Left and right image.
    pub pictures: [&'a Image<u8>; 2],
    /// Capture time of the left image from any origin, s.
    pub time_s: f64,
    /// Delay of the right image, s.
    pub skew_s: f64,
}

impl<'a> BoardFrame<'a> {
    /// Creates the frame of a raw pair from its images in 8 bits.
    pub fn of(pair: &RawPair, pictures: [&'a Image<u8>; 2]) -> Self {
        let since = pair.capture_time.duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
        Self { pictures, time_s: since.as_secs_f64(), skew_s: pair.skew_s }
    }
}

/// Notice on the newest pair.
#[derive(Clone, Debug, PartialEq)]
pub enum Notice {
    /// No board in either image.
    NoBoard,
    /// Unusable board.
    Unusable(Mismatch),
    /// Images of another size than the first ones, px.
    OtherSize(usize, usize),
    /// Board visible to one side only, where a view would not be new.
    OneSide(Side),
    /// Board in motion, px between two images.
    Moving(f64),
    /// Board in motion between the exposures of both cameras, px.
    Skewed(f64),
    /// Blurred images.
    Blurred,
    /// View similar to an earlier one.
    Known,
    /// View ready to be taken.
    Ready,
    /// View taken, with the number of views.
    Taken(usize),
}

impl fmt::Display for Notice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoBoard => f.write_str("Show the board to both cameras"),
            Self::Unusable(why) => why.fmt(f),
            Self::OtherSize(width, height) => {
                write!(f, "The images have another size now, {width}x{height}: start again")
            }
            Self::OneSide(Side::Left) => {
                f.write_str("Only the left camera sees the board: hold it farther to the right")
            }
            Self::OneSide(Side::Right) => {
                f.write_str("Only the right camera sees the board: hold it farther to the left")
            }
            Self::Moving(0.0) => f.write_str("Hold still"),
            Self::Moving(px) => write!(f, "Hold still: the board moves by {px:.1} px from image to image"),
            Self::Skewed(px) => {
                write!(f, "Hold still: the board moves by {px:.1} px between the images of the two cameras")
            }
            Self::Blurred => f.write_str("The board is blurred: more light, hold it still, or set the focus"),
            Self::Known => f.write_str("This view is there already: hold the board elsewhere, or tilted"),
            Self::Ready => f.write_str("Hold still"),
            Self::Taken(count) => write!(f, "View {count} taken"),
        }
    }
}

/// View with its images.
#[derive(Clone, Debug)]
pub struct TakenView {
    /// Corners of the view.
    pub view: View,
    /// Images of the view.
    pub pictures: Pictures,
}

/// Returns the views without their images.
pub fn views_of(taken: &[TakenView]) -> Vec<View> {
    taken.iter().map(|taken| taken.view.clone()).collect()
}

/// Live calibration, which examines pairs, takes views and solves.
pub struct CalibrationSession {
    board: Board,
    detector: Detector,
    request: CalibrationRequest,
    size: Option<(usize, usize)>,
    /// Whether views are taken automatically.
    pub is_automatic: bool,
    taken: Vec<TakenView>,
    /// Number of the next view, which no deleted view had.
    next_number: usize,
    before: Option<LastBoard>,
    sharpest_px: f64,
    steady: usize,
    corners: [Vec<Corner>; 2],
    outcome: Option<Arc<Outcome>>,
    ghost: Option<TargetPose>,
}

struct LastBoard {
    corners: [Vec<Corner>; 2],
    time_s: f64,
}

pub struct SolverInput {
    board: Board,
    views: Vec<View>,
    size: (usize, usize),
    request: CalibrationRequest,
}

/// Solution with the next target pose.
pub type SolverResult = Result<(Arc<Outcome>, Option<TargetPose>), CalibrateError>;

impl SolverInput {
    /// Solves, which takes up to some seconds.
    pub fn solve(self) -> SolverResult {
        let Self { board, views, size, request } = self;
        let outcome = calibrate(&board, &views, size, &request)?;
        let ghost = Guide::of(&outcome).next();
        Ok((Arc::new(outcome), ghost))
    }
}

impl CalibrationSession {
    /// Creates a session without views.
    ///
    /// # Errors
    /// The board cannot be detected.
    pub fn new(board: &Board, request: CalibrationRequest) -> Result<Self, CalibrateError> {
        Ok(Self {
            board: *board,
            detector: Detector::new(board)?,
            request,
            size: None,
            is_automatic: true,
            taken: Vec::new(),
            next_number: 1,
            before: None,
            sharpest_px: f64::INFINITY,
            steady: 0,
            corners: [Vec::new(), Vec::new()],
            outcome: None,
            ghost: None,
        })
    }

    /// Examines a pair, and takes it if it is good, or if `take` is set and it contains the board.
    pub fn look(&mut self, look: &BoardFrame<'_>, take: bool) -> Notice {
        let size = look.pictures[0].size();
        if self.size.is_some_and(|before| before != size) {
            return Notice::OtherSize(size.0, size.1);
        }
        self.size = Some(size);
        let lenses = self.lenses();
        let (left, right) = rayon::join(
            || self.detector.detect(look.pictures[0], lenses[0].as_ref()),
            || self.detector.detect(look.pictures[1], lenses[1].as_ref()),
        );
        let seen = [left, right];
        self.corners = [seen[0].corners().to_vec(), seen[1].corners().to_vec()];
        let notice = self.judged(look, &seen, size);
        self.before = Some(LastBoard { corners: self.corners.clone(), time_s: look.time_s });
        self.steady = if notice == Notice::Ready { self.steady + 1 } else { 0 };
        let is_possible = self.corners.iter().any(|corners| corners.len() >= 6);
        if is_possible && (take || self.is_automatic && self.steady >= MIN_STEADY_FRAMES) {
            self.steady = 0;
            return self.take(look);
        }
        notice
    }

    fn take(&mut self, look: &BoardFrame<'_>) -> Notice {
        let view = View { name: format!("{:03}", self.next_number), corners: self.corners.clone() };
        self.next_number += 1;
        let pictures = look.pictures.map(|picture| Arc::new(picture.clone()));
        self.taken.push(TakenView { view, pictures: Pictures::Held(pictures) });
        Notice::Taken(self.taken.len())
    }

    /// Returns the reason against this pair, or its readiness.
    fn judged(&mut self, look: &BoardFrame<'_>, seen: &[Detection; 2], size: (usize, usize)) -> Notice {
        if self.corners.iter().all(Vec::is_empty) {
            let reason = seen.iter().find_map(|seen| match seen {
                Detection::Mismatch(why) if *why != Mismatch::Nothing => Some(why.clone()),
                Detection::Mismatch(_) | Detection::Corners(_) => None,
            });
            return reason.map_or(Notice::NoBoard, Notice::Unusable);
        }
        for side in Side::ALL {
            let width = edge_width_px(look.pictures[side as usize], &self.corners[side as usize], &self.board);
            let Some(width) = width else { continue };
            self.sharpest_px = self.sharpest_px.min(width);
            if width > MAX_BLUR_RATIO * self.sharpest_px.max(1.5) {
                return Notice::Blurred;
            }
        }
        let before = self.before.as_ref().filter(|before| (look.time_s - before.time_s).abs() <= MAX_GAP_S);
        // the first image of the board has no motion
        let Some(before) = before else { return Notice::Moving(0.0) };
        let moved_px = Side::ALL
            .into_iter()
            .filter_map(|side| moved(&before.corners[side as usize], &self.corners[side as usize]))
            .fold(None, |most: Option<f64>, moved| Some(most.map_or(moved, |most| most.max(moved))));
        let Some(moved_px) = moved_px else { return Notice::Moving(0.0) };
        if moved_px > MAX_MOTION_PX {
            return Notice::Moving(moved_px);
        }
        let passed_s = (look.time_s - before.time_s).max(1e-3);
        let skewed_px = moved_px / passed_s * look.skew_s.abs();
        if skewed_px > MAX_SKEW_MOTION_PX {
            return Notice::Skewed(skewed_px);
        }
        if !self.is_new(size) {
            return match Side::ALL.into_iter().find(|&side| self.corners[1 - side as usize].is_empty()) {
                Some(side) => Notice::OneSide(side),
                None => Notice::Known,
            };
        }
        Notice::Ready
    }

    /// Whether no earlier view is similar; a view of one side must fill new cells of this side's coverage.
    fn is_new(&self, size: (usize, usize)) -> bool {
        if let Some(blind) = Side::ALL.into_iter().find(|&side| self.corners[side as usize].is_empty()) {
            let side = Side::ALL[1 - blind as usize];
            let covered = Coverage::of(&views_of(&self.taken), side, size).cells;
            let alone = View { name: String::new(), corners: self.corners.clone() };
            let now = Coverage::of(&[alone], side, size).cells;
            return self.taken.len() >= 3
                && covered.iter().zip(now).filter(|(before, now)| **before == 0 && *now >= 2).count() >= 2;
        }
        let limit = MIN_VIEW_DISTANCE * size.0 as f64;
        self.taken.iter().all(|taken| {
            Side::ALL.into_iter().all(|side| {
                mean_distance(taken.view.of(side), &self.corners[side as usize]).is_none_or(|px| px > limit)
            })
        })
    }

    /// Returns rough models of wide lenses, whose boards are found only in undistorted images.
    fn lenses(&self) -> [Option<Camera>; 2] {
        let Some((outcome, (width, height))) = self.outcome.as_ref().zip(self.size) else { return [None, None] };
        [outcome.solution.rig.left, outcome.solution.rig.right]
            .map(|camera| is_wide(&camera, (width, height)).then_some(camera))
    }

    /// Returns the views to solve once they suffice.
    pub fn work(&self) -> Option<SolverInput> {
        let both =
            self.taken.iter().filter(|taken| taken.view.corners.iter().all(|corners| corners.len() >= 6)).count();
        // fixed cameras need only one view
        let least = if self.request.kept.is_some() { 1 } else { MIN_VIEWS };
        let size = self.size.filter(|_| both >= least)?;
        let mut request = self.request;
        // many views have already selected the lens model
        if self.taken.len() > 2 * MIN_VIEWS {
            request.kind = request.kind.or_else(|| self.outcome.as_ref().map(|outcome| outcome.solution.kind));
        }
        Some(SolverInput { board: self.board, views: views_of(&self.taken), size, request })
    }

    /// Adopts a solution.
    ///
    /// # Errors
    /// The views have no solution.
    pub fn solved(&mut self, solved: SolverResult) -> Result<(), CalibrateError> {
        let (outcome, ghost) = solved?;
        (self.outcome, self.ghost) = (Some(outcome), ghost);
        Ok(())
    }

    /// Deletes a view by index.
    pub fn delete(&mut self, place: usize) {
        if place < self.taken.len() {
            self.taken.remove(place);
        }
        if self.work().is_none() {
            (self.outcome, self.ghost) = (None, None);
        }
    }

    /// Returns the views with their images.
    pub fn taken(&self) -> &[TakenView] {
        &self.taken
    }

    /// Returns the corners of the newest pair.
    pub fn corners(&self) -> &[Vec<Corner>; 2] {
        &self.corners
    }

    /// Returns the newest solution.
    pub fn outcome(&self) -> Option<&Arc<Outcome>> {
        self.outcome.as_ref()
    }

    /// Returns the coverage of each side's image.
    pub fn coverage(&self) -> Option<[Coverage; 2]> {
        let views = views_of(&self.taken);
        self.size.map(|size| Side::ALL.map(|side| Coverage::of(&views, side, size)))
    }

    /// Returns the next target pose.
    pub fn ghost(&self) -> Option<TargetPose> {
        let size = self.size?;
        self.ghost
            .clone()
            .filter(|_| self.outcome.is_some())
            .or_else(|| TargetPose::of_start(&self.board, self.taken.len(), size))
    }
}

/// Computes the median distance in px of the common corners of two images, at least 4.
fn moved(before: &[Corner], now: &[Corner]) -> Option<f64> {
    let mut distances = distances(before, now);
    (distances.len() >= 4).then(|| quantile(&mut distances, 0.5))
}

fn mean_distance(before: &[Corner], now: &[Corner]) -> Option<f64> {
    let distances = distances(before, now);
    (distances.len() >= 4).then(|| distances.iter().sum::<f64>() / distances.len() as f64)
}

fn distances(before: &[Corner], now: &[Corner]) -> Vec<f64> {
    let in_before = |id: usize| before.iter().find(|corner| corner.id == id);
    now.iter().filter_map(|corner| Some(in_before(corner.id)?.at.distance(corner.at))).collect()
}

/// Whether a lens is so wide that boards must be searched in undistorted images.
pub fn is_wide(camera: &Camera, (width, height): (usize, usize)) -> bool {
    let ends = [DVec2::new(0.0, height as f64 / 2.0), DVec2::new(width as f64, height as f64 / 2.0)];
    ends.into_iter().any(|end| {
        camera.direction(end).is_none_or(|ray| ray.angle_between(glam::DVec3::Z).to_degrees() > MIN_WIDE_DEG)
    })
}
