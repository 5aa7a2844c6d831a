//! Complete calibration: solution, error estimates, and reasons against its use.

use super::coverage::{Coverage, tilt_deg};
use super::finding::{Advice, Finding, MAX_ROWS_PX, MIN_TILT_DEG, MIN_VIEWS};
use super::judge::{GOOD_PERCENT, Judgement, judge};
use super::solve::agreement::Agreement;
use super::solve::{Solution, solve};
use super::{Board, CalibrateError, LensKind, View};
use std::sync::Arc;
use stereopsis_base::geometry::Axis;
use stereopsis_calibration::{Camera, StereoRig};
use stereopsis_frame::Side;

/// Smallest value of the board's largest width, as a share of the image.
const MIN_WIDTH: f64 = 0.2;
/// Largest relative deviation of the board's size, and of its squares' height from their width.
const MAX_SIZE_DEVIATION: f64 = 0.01;
/// Largest distance of the outermost corner from a border as a share of the image, for a refusal or, with exact depth, a doubt.
const MAX_BORDER: f64 = 0.35;
/// Recommended value of this distance.
const GOOD_BORDER: f64 = 0.15;
/// Largest ratio of the joint to the individual re-projection errors.
const MAX_STEREO_RATIO: f64 = 2.0;
/// Largest share of views in which the cameras contradict each other.
const MAX_SPLIT_SHARE: f64 = 0.25;
/// Largest ratio of held-out errors at which a more complex lens model replaces a simpler one.
const MAX_ERROR_RATIO: f64 = 0.95;

const SIDES: [&str; 2] = ["left", "right"];

/// Prior knowledge for a calibration.
#[derive(Clone, Copy, Debug, Default)]
pub struct CalibrationRequest {
    /// Lens model; `None` selects it by the views.
    pub kind: Option<LensKind>,
    /// Fixed cameras, of which only the relative pose is solved.
    pub kept: Option<[Camera; 2]>,
}

/// Calibration with its quality.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// Calibrated board.
    pub board: Board,
    /// Image size, px.
    pub size: (usize, usize),
    /// Both cameras.
    pub solution: Solution,
    /// Quality of the cameras; `None` with too few views.
    pub judgement: Option<Judgement>,
    /// Held-out errors of each compared lens model, px.
    pub tried: Vec<(LensKind, f64)>,
    /// Coverage of each side's image.
    pub coverage: [Coverage; 2],
    /// Re-projection error with both cameras joint, root mean square over common views, px.
    pub stereo_px: f64,
    /// Re-projection error with each camera alone, root mean square over common views, px.
    pub mono_px: f64,
    /// Height of the board's squares relative to their width.
    pub squares_aspect: f64,
    /// Reasons against the use of this calibration, empty for a good one.
    pub refusals: Vec<Finding>,
    /// Remarks on a usable calibration about image areas that no view covers.
    pub doubts: Vec<Finding>,
    /// Recommended improvements.
    pub advice: Vec<Advice>,
}

impl Outcome {
    /// Whether the calibration is usable and its predicted depth error at 2 m at most 1 %.
    pub fn suffices(&self) -> bool {
        self.refusals.is_empty() && self.doubts.is_empty() && self.is_exact()
    }

    fn is_exact(&self) -> bool {
        self.judgement.as_ref().is_some_and(|judgement| judgement.depth[1].calibration_percent <= GOOD_PERCENT)
    }
}

/// Solves for both cameras and judges the result.
///
/// # Errors
/// The views are insufficient for any solution.
pub fn calibrate(
    board: &Board,
    views: &[View],
    size: (usize, usize),
    request: &CalibrationRequest,
) -> Result<Outcome, CalibrateError> {
    let mut tried: Vec<(Solution, Option<Judgement>)> = Vec::new();
    let mut failure = None;
    for kind in kinds(request) {
        match solve(board, views, size, kind, request.kept) {
            Ok(solution) => {
                let judgement = judge(board, &solution, size);
                tried.push((solution, judgement));
            }
            Err(e) => failure = Some(e),
        }
    }
    let errors: Vec<f64> = tried
        .iter()
        .map(|(solution, judgement)| judgement.as_ref().map_or(solution.sigma_px, |judgement| judgement.left_out_px))
        .collect();
    let mut chosen = 0;
    for (i, error) in errors.iter().enumerate().skip(1) {
        if *error < MAX_ERROR_RATIO * errors[chosen] {
            chosen = i;
        }
    }
    let all = tried.iter().map(|(solution, _)| solution.kind).zip(errors).collect();
    if tried.is_empty() {
        return Err(failure.unwrap_or(CalibrateError::KeptCameras));
    }
    let (solution, judgement) = tried.swap_remove(chosen);
    let coverage = Side::ALL.map(|side| Coverage::of(views, side, size));
    let agreement = solution.agreement(board, size);
    let mut outcome = Outcome {
        board: *board,
        size,
        solution,
        judgement,
        tried: all,
        coverage,
        stereo_px: agreement.stereo_px,
        mono_px: agreement.mono_px,
        squares_aspect: agreement.squares_aspect,
        refusals: Vec::new(),
        doubts: Vec::new(),
        advice: Vec::new(),
    };
    let unseen = if outcome.solution.free.cameras { unseen_borders(&outcome) } else { Vec::new() };
    // the spread includes the lens's extrapolation: if it is small, an uncovered border is only a doubt
    let (doubts, unseen) = if outcome.is_exact() { (unseen, Vec::new()) } else { (Vec::new(), unseen) };
    outcome.doubts = doubts;
    outcome.refusals = refusals(&outcome, &agreement, unseen);
    outcome.advice = advice(&outcome);
    Ok(outcome)
}

/// Returns the lens models to compare, the simplest first.
fn kinds(request: &CalibrationRequest) -> Vec<LensKind> {
    let fits = |kind: &LensKind| match request.kept {
        Some(kept) => kept.iter().all(|camera| kind.vector(camera).is_some()),
        None => true,
    };
    let all = match (request.kind, request.kept) {
        (Some(kind), _) => vec![kind],
        (None, Some(_)) => LensKind::ALL.to_vec(),
        (None, None) => LensKind::COMPARED.to_vec(),
    };
    let mut kinds: Vec<LensKind> = all.into_iter().filter(fits).collect();
    if request.kept.is_some() {
        // fixed cameras have one model
        kinds.truncate(1);
    }
    kinds
}

fn unseen_borders(outcome: &Outcome) -> Vec<Finding> {
    let sides = SIDES.into_iter().zip(&outcome.coverage);
    let unseen = sides.map(|(side, coverage)| (side, coverage.unseen_borders(MAX_BORDER)));
    let unseen = unseen.filter(|(_, borders)| !borders.is_empty());
    unseen.map(|(side, borders)| Finding::Unseen { side, borders }).collect()
}

fn refusals(outcome: &Outcome, agreement: &Agreement, unseen: Vec<Finding>) -> Vec<Finding> {
    let Outcome { solution, size, .. } = outcome;
    let mut reasons = Vec::new();
    let both = solution.views.iter().filter(|fit| fit.errors.iter().all(|errors| errors.len() >= 6)).count();
    let solves_cameras = solution.free.cameras;
    if solves_cameras && both < MIN_VIEWS {
        reasons.push(Finding::FewViews(both));
    }
    reasons.extend(sides(&solution.rig));
    let tilt = solution.views.iter().map(|fit| tilt_deg(&fit.pose)).fold(0.0, f64::max);
    if solves_cameras && tilt < MIN_TILT_DEG {
        reasons.push(Finding::Tilt(tilt));
    }
    reasons.extend(unseen);
    for (side, coverage) in SIDES.into_iter().zip(&outcome.coverage).filter(|_| solves_cameras) {
        let width = coverage.widths.iter().copied().fold(0.0, f64::max);
        if width < MIN_WIDTH {
            reasons.push(Finding::Small { side, width });
        }
    }
    let split = solution.views.iter().filter(|fit| fit.is_split).count() / 2;
    let views = solution.views.len() - split;
    if split as f64 > MAX_SPLIT_SHARE * views as f64 {
        reasons.push(Finding::Contradiction { split, views });
    }
    let (alone_px, together_px) = (outcome.mono_px, outcome.stereo_px);
    if together_px > MAX_STEREO_RATIO * alone_px && together_px > 0.2 {
        reasons.push(Finding::Moved { alone_px, together_px });
    }
    let bound = outcome.judgement.as_ref().map_or(f64::INFINITY, |judgement| judgement.focal_percent / 100.0);
    if agreement.focal_change > 0.01 && agreement.focal_change > 3.0 * bound {
        reasons.push(Finding::FocalLength(agreement.focal_change));
    }
    let aspect = agreement.squares_aspect - 1.0;
    if aspect.abs() > MAX_SIZE_DEVIATION && aspect.abs() > agreement.aspect_bound {
        reasons.push(Finding::Squares(aspect));
    }
    if let Some(judgement) = &outcome.judgement {
        if judgement.left_out_rows_px > MAX_ROWS_PX {
            reasons.push(Finding::Rows { axis: solution.rig.axis(), px: judgement.left_out_rows_px });
        }
        if (judgement.board_size - 1.0).abs() > MAX_SIZE_DEVIATION {
            reasons.push(Finding::BoardSize(judgement.board_size));
        }
    }
    if reasons.is_empty()
        && let Err(why) = solution.rig.rectifier(size.0, size.1, 0.0)
    {
        reasons.push(Finding::Rectification(Arc::new(why)));
    }
    reasons
}

/// Returns recommendations for the next calibration, the most useful first.
fn advice(outcome: &Outcome) -> Vec<Advice> {
    let mut advice = Vec::new();
    for (side, coverage) in SIDES.into_iter().zip(&outcome.coverage) {
        let borders = coverage.unseen_borders(GOOD_BORDER);
        if !borders.is_empty() {
            advice.push(Advice::Nearer { side, borders });
        }
    }
    if let Some(judgement) = &outcome.judgement {
        let [_, at_2_m, _] = judgement.depth;
        let is_worse = at_2_m.calibration_percent > at_2_m.matching_percent;
        advice.push(if is_worse { Advice::MoreViews } else { Advice::OtherRig });
    }
    advice
}

/// Checks that the cameras are not exchanged or upside down.
fn sides(rig: &StereoRig) -> Option<Finding> {
    // direction of the left camera's upright axis in the right camera
    let up = rig.rotation.y_axis.y;
    if up < 0.0 {
        return Some(Finding::UpsideDown);
    }
    let along = rig.translation_m;
    let (axis, place) =
        if along.y.abs() > along.x.abs() { (Axis::Vertical, along.y) } else { (Axis::Horizontal, along.x) };
    (place > 0.0).then_some(Finding::Exchanged(axis))
}
