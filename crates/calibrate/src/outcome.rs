//! Complete calibration: solution, error estimates, and reasons against its use.

use super::coverage::{Coverage, tilt_deg};
use super::judge::{GOOD_PERCENT, Judgement, judge};
use super::solve::agreement::Agreement;
use super::solve::{Solution, solve};
use super::{Board, CalibrateError, LensKind, View};
use stereopsis_base::console::counted;
use stereopsis_calibration::{Camera, StereoRig};
use stereopsis_frame::Side;

/// Smallest number of views with the board in both images.
pub const MIN_VIEWS: usize = 8;
/// Smallest value of the largest tilt, degrees: without tilt focal length and distance are ambiguous.
const MIN_TILT_DEG: f64 = 20.0;
/// Smallest value of the board's largest width, as a share of the image.
const MIN_WIDTH: f64 = 0.2;
/// Largest row distance in held-out views, px.
const MAX_ROWS_PX: f64 = 0.5;
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
    pub refusals: Vec<String>,
    /// Remarks on a usable calibration about image areas that no view covers.
    pub doubts: Vec<String>,
    /// Recommended improvements.
    pub advice: Vec<String>,
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

fn unseen_borders(outcome: &Outcome) -> Vec<String> {
    let sides = ["left", "right"].into_iter().zip(&outcome.coverage);
    let unseen = sides.filter_map(|(side, coverage)| {
        let names = borders(&coverage.unseen_borders(MAX_BORDER))?;
        Some(format!("no corner was seen near the {names} of the {side} image: the lens there is a guess"))
    });
    unseen.collect()
}

fn refusals(outcome: &Outcome, agreement: &Agreement, unseen: Vec<String>) -> Vec<String> {
    let Outcome { solution, size, .. } = outcome;
    let mut reasons = Vec::new();
    let both = solution.views.iter().filter(|fit| fit.errors.iter().all(|errors| errors.len() >= 6)).count();
    let solves_cameras = solution.free.cameras;
    if solves_cameras && both < MIN_VIEWS {
        let shown = if both == 1 { "shows" } else { "show" };
        reasons.push(format!(
            "only {} {shown} the board to both cameras; {MIN_VIEWS} are the least",
            counted(both as u64, "view")
        ));
    }
    reasons.extend(sides(&solution.rig));
    let tilt = solution.views.iter().map(|fit| tilt_deg(&fit.pose)).fold(0.0, f64::max);
    if solves_cameras && tilt < MIN_TILT_DEG {
        reasons.push(format!(
            "the board is tilted by {tilt:.0} degrees at most, and {MIN_TILT_DEG:.0} are needed somewhere: without tilt a longer focal \
             length looks like a larger distance"
        ));
    }
    reasons.extend(unseen);
    for (side, coverage) in ["left", "right"].into_iter().zip(&outcome.coverage) {
        if !solves_cameras {
            continue;
        }
        let widest = coverage.widths.iter().copied().fold(0.0, f64::max);
        if widest < MIN_WIDTH {
            reasons.push(format!(
                "the board fills at most {:.0} % of the {side} image's width: hold it nearer, or print a larger one",
                100.0 * widest
            ));
        }
    }
    let split = solution.views.iter().filter(|fit| fit.is_split).count() / 2;
    let count = solution.views.len() - split;
    if split as f64 > MAX_SPLIT_SHARE * count as f64 {
        reasons.push(format!(
            "in {split} of {count} views the cameras contradict each other: the images are not of the same moment, or not of the same \
             board; hold the board still for each view"
        ));
    }
    if outcome.stereo_px > MAX_STEREO_RATIO * outcome.mono_px && outcome.stereo_px > 0.2 {
        reasons.push(format!(
            "each camera alone explains its corners within {:.2} px, both together within {:.2} px: the rig moved, or images of the two \
             cameras are not of the same moment (skew, rolling shutter); hold the board still",
            outcome.mono_px, outcome.stereo_px
        ));
    }
    let bound = outcome.judgement.as_ref().map_or(f64::INFINITY, |judgement| judgement.focal_percent / 100.0);
    if agreement.focal_change > 0.01 && agreement.focal_change > 3.0 * bound {
        reasons.push(format!(
            "the focal length changed by {:.1} % between the first and the last views: switch the autofocus off, and do not zoom",
            100.0 * agreement.focal_change
        ));
    }
    let aspect = agreement.squares_aspect - 1.0;
    if aspect.abs() > MAX_SIZE_DEVIATION && aspect.abs() > agreement.aspect_bound {
        let percent = 100.0 * aspect.abs();
        let side = if aspect > 0.0 { "higher than they are wide" } else { "wider than they are high" };
        reasons.push(format!(
            "the squares of the board are {percent:.1} % {side}: the printer scaled both directions differently, or the board is bent; \
             print again at 100 % and measure across and down"
        ));
    }
    if let Some(judgement) = &outcome.judgement {
        if judgement.left_out_rows_px > MAX_ROWS_PX {
            reasons.push(format!(
                "in views that the solution has not used, {} differ by {:.2} px; {MAX_ROWS_PX} is the most for good matching",
                outcome.solution.rig.axis().lines(),
                judgement.left_out_rows_px
            ));
        }
        if (judgement.board_size - 1.0).abs() > MAX_SIZE_DEVIATION {
            reasons.push(format!(
                "in views that the solution has not used, the board measures {:.1} % of its size",
                100.0 * judgement.board_size
            ));
        }
    }
    if reasons.is_empty()
        && let Err(e) = solution.rig.rectifier(size.0, size.1, 0.0)
    {
        reasons.push(e.to_string());
    }
    reasons
}

/// Joins the borders' names, if any.
fn borders(names: &[&str]) -> Option<String> {
    let (last, others) = names.split_last()?;
    let plural = if others.is_empty() { "border" } else { "borders" };
    Some(others.iter().rev().fold(format!("{last} {plural}"), |text, other| format!("{other} and {text}")))
}

/// Returns recommendations for the next calibration, the most useful first.
fn advice(outcome: &Outcome) -> Vec<String> {
    let mut advice = Vec::new();
    for (side, coverage) in ["left", "right"].into_iter().zip(&outcome.coverage) {
        if let Some(names) = borders(&coverage.unseen_borders(GOOD_BORDER)) {
            advice.push(format!("show the board nearer to the {names} of the {side} image"));
        }
    }
    if let Some(judgement) = &outcome.judgement {
        let [_, at_2_m, _] = judgement.depth;
        if at_2_m.calibration_percent > at_2_m.matching_percent {
            advice.push("more views, with the board tilted in all directions and in all parts of the images, would lower the error".to_owned());
        } else {
            advice.push(
                "the calibration is better than matching: only a longer baseline or more pixels would lower the error"
                    .to_owned(),
            );
        }
    }
    advice
}

/// Checks that the cameras are not exchanged or upside down.
fn sides(rig: &StereoRig) -> Option<String> {
    // direction of the left camera's upright axis in the right camera
    let up = rig.rotation.y_axis.y;
    if up < 0.0 {
        return Some("one camera is upside down relative to the other: turn its images by 180 degrees".to_owned());
    }
    let along = rig.translation_m;
    let place = if along.y.abs() > along.x.abs() {
        (along.y > 0.0).then_some("above the left one, and of two such cameras the upper one is the left one")
    } else {
        (along.x > 0.0).then_some("to the left of the left one")
    };
    place.map(|place| {
        format!(
            "left and right are exchanged: the right camera stands {place}; give the cameras, or the folders, in the other order"
        )
    })
}
