//! `stereopsis calibrate`: print a board, calibrate two cameras with it, check a rig.

mod args;
mod check;
mod folder;
mod live;
mod print;

pub(super) use args::CalibrateArgs;

use super::error::refuse;
use super::values::print_json;
use stereopsis_base::console;
use stereopsis_calibrate::{Board, CalibrationRequest, Draft, SavedCalibration, TakenView, calibrate, views_of};
use stereopsis_frame::SourceSpec;

/// Runs `calibrate`.
///
/// # Errors
/// No board is seen, a calibration is refused, or files cannot be read or written.
pub(super) fn run(args: &CalibrateArgs) -> anyhow::Result<()> {
    if let Some(path) = &args.board.print_board {
        return print::run(args, path);
    }
    let spec = args.spec()?;
    args.check_output()?;
    if !args.check.is_empty() {
        return check::run(args, &spec);
    }
    calibrated(args, &spec)
}

/// Solves, prints the calibration, and writes it where it is good, or forced.
fn calibrated(args: &CalibrateArgs, spec: &SourceSpec) -> anyhow::Result<()> {
    if spec.is_live() && args.output.is_none() {
        return refuse(
            "where shall the calibration go? Name a file, such as -o rig.toml; the views are kept beside it",
        );
    }
    let mut draft = None;
    if let Some(output) = &args.output {
        let (begun, remarks) = Draft::begin(output)?;
        remarks.iter().for_each(console::say);
        draft = Some(begun);
    }
    let done = solved(args, spec, draft.as_mut());
    let Some(draft) = draft else { return done.map(drop) };
    // views may not come again: they are kept, whatever the calibration
    let kept = match &done {
        Ok(saved) => saved.as_ref().map(|saved| saved.folder.join("views")).filter(|_| draft.has_views()),
        Err(_) => draft.refuse().unwrap_or_else(|why| {
            console::say(why);
            None
        }),
    };
    if let Some(views) = kept {
        let views = views.display().to_string();
        let word = console::quoted(&views);
        console::say(format_args!("the views are kept in {views}: `stereopsis calibrate {word}` solves them again"));
    }
    done.map(drop)
}

/// Takes views, solves them, and writes the calibration.
fn solved(
    args: &CalibrateArgs,
    spec: &SourceSpec,
    mut draft: Option<&mut Draft>,
) -> anyhow::Result<Option<SavedCalibration>> {
    let request = args.request()?;
    let (board, taken) = taken(args, spec, request, draft.as_deref_mut())?;
    let outcome = calibrate(&board, &views_of(&taken), taken[0].pictures.size()?, &request)?;
    if args.json {
        print_json(&outcome.to_json())?;
    } else {
        console::print(&outcome.to_string())?;
    }
    let reasons: Vec<_> = outcome.refusals.iter().map(ToString::to_string).collect();
    let refused = || format!("the calibration is not to be used: {}", reasons.join("; "));
    let is_refused = !outcome.refusals.is_empty();
    let Some(draft) = draft else {
        console::say("nothing was written: -o rig.toml writes the calibration");
        anyhow::ensure!(!is_refused, refused());
        return Ok(None);
    };
    anyhow::ensure!(
        args.force || !is_refused,
        "{}; it was not written (--force writes it, marked as an estimate)",
        refused()
    );
    let saved = draft.save(&outcome, &taken)?;
    for reason in &saved.left_out {
        console::say(format_args!("not written: {reason}"));
    }
    console::say(format_args!(
        "wrote {} and {} (the same for OpenCV, ROS and Kalibr; report.html)",
        saved.rig.display(),
        saved.folder.display()
    ));
    Ok(Some(saved))
}

/// Returns the board, and its views in a source; at least one. Views that cannot be taken again are kept in `draft`.
///
/// # Errors
/// The source cannot be read, or shows no board.
fn taken(
    args: &CalibrateArgs,
    spec: &SourceSpec,
    request: CalibrationRequest,
    draft: Option<&mut Draft>,
) -> anyhow::Result<(Board, Vec<TakenView>)> {
    let folder = if let SourceSpec::Folder(folder) = spec { Some(folder.as_path()) } else { None };
    let board = args.board.board(folder)?;
    let taken = if spec.is_live() {
        live::taken(args, spec, &board, request, draft)?
    } else {
        folder::taken(args, spec, &board, request, draft)?
    };
    anyhow::ensure!(!taken.is_empty(), "{spec} has no pair of images");
    Ok((board, taken))
}
