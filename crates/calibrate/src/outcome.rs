//! A whole calibration: the solution, how wrong it is, and the reasons against it.

use super::coverage::{Coverage, tilt_deg};
use super::judge::{GOOD_PERCENT, Judgement, judge};
use super::solve::agreement::Agreement;
use super::solve::{Solution, solve};
use super::{Board, Eye, LensKind, View};
use crate::calibration::{CalibrationError, Camera, StereoRig};
use crate::console::counted;

/// Fewest views that both cameras see.
pub const MIN_VIEWS: usize = 8;
/// Least tilt of the board in some view, degrees: without tilt, focal length and distance are one number.
const MIN_TILT_DEG: f64 = 20.0;
/// Least width of the board in some view, as a share of the picture.
const MIN_WIDTH: f64 = 0.2;
/// Most distance of rows in views that were left out, px.
const MAX_ROWS_PX: f64 = 0.5;
/// Most deviation of the board's size, and of its squares' height from their width.
const MAX_SIZE: f64 = 0.01;
/// Most distance of the outermost corner from a border, as a share of the picture: more is refused, or doubted where depth is exact;
/// the other number is advised.
const MAX_BORDER: f64 = 0.35;
const GOOD_BORDER: f64 = 0.15;
/// Re-projection errors of both cameras together may be so many times those of each alone.
const MAX_STEREO: f64 = 2.0;
/// Most share of the views in which the cameras contradict each other.
const MAX_SPLIT: f64 = 0.25;
/// A more complex lens model is taken if it lowers the errors of views that it has not seen by this factor.
const WORTH: f64 = 0.95;

/// What is known beforehand.
#[derive(Clone, Copy, Debug, Default)]
pub struct Request {
    /// The lens model; otherwise the views choose it.
    pub kind: Option<LensKind>,
    /// Cameras that are kept: only their pose relative to each other is solved for.
    pub kept: Option<[Camera; 2]>,
}

/// A calibration and all that is said of it.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// The board.
    pub board: Board,
    /// Picture size, px.
    pub size: (usize, usize),
    /// Both cameras.
    pub solution: Solution,
    /// How wrong they are; `None` with too few views.
    pub judgement: Option<Judgement>,
    /// Errors of views that were left out, of each lens model that was tried, px.
    pub tried: Vec<(LensKind, f64)>,
    /// Where each eye saw the board.
    pub coverage: [Coverage; 2],
    /// Re-projection errors of both cameras together and of each alone, root mean square over the views that both see, px.
    pub stereo_px: f64,
    /// See [`Self::stereo_px`].
    pub mono_px: f64,
    /// Height of the board's squares relative to their width.
    pub squares_aspect: f64,
    /// Why this calibration is not to be used; empty where it is good.
    pub refusals: Vec<String>,
    /// Remarks on a calibration that may be used: parts of the pictures that no view has covered.
    pub doubts: Vec<String>,
    /// What would make it better.
    pub advice: Vec<String>,
}

impl Outcome {
    /// Whether more views are not worth the trouble: nothing speaks against it, and it puts depth at 2 m wrong by 1 % at most.
    pub fn suffices(&self) -> bool {
        self.refusals.is_empty() && self.doubts.is_empty() && self.is_exact()
    }

    /// Whether solutions that have not used all views put depth at 2 m wrong by 1 % at most.
    fn is_exact(&self) -> bool {
        self.judgement.as_ref().is_some_and(|judgement| judgement.depth[1].calibration_percent <= GOOD_PERCENT)
    }
}

/// Solves for both cameras and judges the result.
///
/// # Errors
/// The views do not suffice for any solution.
pub fn calibrate(
    board: &Board,
    views: &[View],
    size: (usize, usize),
    request: &Request,
) -> Result<Outcome, CalibrationError> {
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
        if *error < WORTH * errors[chosen] {
            chosen = i;
        }
    }
    let all = tried.iter().map(|(solution, _)| solution.kind).zip(errors).collect();
    if tried.is_empty() {
        return Err(failure.unwrap_or_else(|| {
            CalibrationError(
                "the cameras that are to be kept have no lens model in common with --model, or more numbers than any model".to_owned(),
            )
        }));
    }
    let (solution, judgement) = tried.swap_remove(chosen);
    let coverage = Eye::BOTH.map(|eye| Coverage::of(views, eye, size));
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
    // the spread of solutions knows how far a lens is extrapolated: where it is small, a border that was not seen is a doubt alone
    let (doubts, unseen) = if outcome.is_exact() { (unseen, Vec::new()) } else { (Vec::new(), unseen) };
    outcome.doubts = doubts;
    outcome.refusals = refusals(&outcome, &agreement, unseen);
    outcome.advice = advice(&outcome);
    Ok(outcome)
}

/// Lens models that are tried, the simplest first.
fn kinds(request: &Request) -> Vec<LensKind> {
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
        // kept cameras have one model
        kinds.truncate(1);
    }
    kinds
}

/// What is unknown where no view has shown the board.
fn unseen_borders(outcome: &Outcome) -> Vec<String> {
    let sides = ["left", "right"].into_iter().zip(&outcome.coverage);
    let unseen = sides.filter_map(|(side, coverage)| {
        let names = borders(&coverage.unseen_borders(MAX_BORDER))?;
        Some(format!("no corner was seen near the {names} of the {side} picture: the lens there is a guess"))
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
                "the board fills at most {:.0} % of the {side} picture's width: hold it nearer, or print a larger one",
                100.0 * widest
            ));
        }
    }
    let split = solution.views.iter().filter(|fit| fit.is_split).count() / 2;
    let count = solution.views.len() - split;
    if split as f64 > MAX_SPLIT * count as f64 {
        reasons.push(format!(
            "in {split} of {count} views the cameras contradict each other: the pictures are not of the same moment, or not of the same \
             board; hold the board still for each view"
        ));
    }
    if outcome.stereo_px > MAX_STEREO * outcome.mono_px && outcome.stereo_px > 0.2 {
        reasons.push(format!(
            "each camera alone explains its corners within {:.2} px, both together within {:.2} px: the rig moved, or pictures of the two \
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
    if aspect.abs() > MAX_SIZE && aspect.abs() > agreement.aspect_bound {
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
        if (judgement.board_size - 1.0).abs() > MAX_SIZE {
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

/// The borders of a picture in words; `None` of none.
fn borders(names: &[&str]) -> Option<String> {
    let (last, others) = names.split_last()?;
    let plural = if others.is_empty() { "border" } else { "borders" };
    Some(others.iter().rev().fold(format!("{last} {plural}"), |text, other| format!("{other} and {text}")))
}

/// What would make the next calibration better, the most useful first.
fn advice(outcome: &Outcome) -> Vec<String> {
    let mut advice = Vec::new();
    for (side, coverage) in ["left", "right"].into_iter().zip(&outcome.coverage) {
        if let Some(names) = borders(&coverage.unseen_borders(GOOD_BORDER)) {
            advice.push(format!("show the board nearer to the {names} of the {side} picture"));
        }
    }
    if let Some(judgement) = &outcome.judgement {
        let [_, at_2_m, _] = judgement.depth;
        if at_2_m.calibration_percent > at_2_m.matching_percent {
            advice.push("more views, with the board tilted in all directions and in all parts of the pictures, would lower the error".to_owned());
        } else {
            advice.push(
                "the calibration is better than matching: only a longer baseline or more pixels would lower the error"
                    .to_owned(),
            );
        }
    }
    advice
}

/// Whether left is left, and both pictures are the same way up.
fn sides(rig: &StereoRig) -> Option<String> {
    // how the left camera's upright axis stands in the right camera
    let up = rig.rotation.y_axis.y;
    if up < 0.0 {
        return Some("one camera is upside down relative to the other: turn its pictures by 180 degrees".to_owned());
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
