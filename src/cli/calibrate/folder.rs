//! `calibrate` of pictures that are there: a folder of pairs, a pair, or a recording.

use super::CalibrateArgs;
use crate::calibrate::{Board, Look, Notice, Request, Session, Taken, calibrate, gather};
use crate::capture::{Capture, CaptureOptions, RawPair, SourceOptions, SourceSpec, Speed};
use crate::console::{self, counted};
use crate::image::Image;
use crate::newest::Policy;
use crate::sources;
use crossbeam_channel::RecvTimeoutError;
use indicatif::{ProgressBar, ProgressStyle};
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

/// Calibrates by pictures.
///
/// # Errors
/// They cannot be read, show no board, or too little of it; or the calibration is refused.
pub(super) fn run(args: &CalibrateArgs, spec: &SourceSpec) -> anyhow::Result<()> {
    let folder = if let SourceSpec::Folder(folder) = spec { Some(folder.as_path()) } else { None };
    let (board, request) = (args.board.board(folder)?, args.request()?);
    let taken = taken(args, spec, &board, request)?;
    let views: Vec<_> = taken.iter().map(|taken| taken.view.clone()).collect();
    let Some(size) = taken.first().map(|taken| taken.pictures[0].size()) else { anyhow::bail!("no view was found") };
    let outcome = calibrate(&board, &views, size, &request)?;
    // pictures of a folder are there already
    args.finish(&outcome, &taken, folder.is_none())
}

/// Views of the board in a source.
pub(super) fn taken(
    args: &CalibrateArgs,
    spec: &SourceSpec,
    board: &Board,
    request: Request,
) -> anyhow::Result<Vec<Taken>> {
    match spec {
        SourceSpec::Recording(path) => of_recording(args, spec, path, board, request),
        _ => of_pairs(args, spec, board),
    }
}

/// All pairs of a folder.
fn of_pairs(args: &CalibrateArgs, spec: &SourceSpec, board: &Board) -> anyhow::Result<Vec<Taken>> {
    let mut pairs = Vec::new();
    each_pair(args, spec, |pair, pictures| {
        pairs.push((pair.name.clone(), pictures.map(Arc::new)));
        Ok(())
    })?;
    let count = pairs.len();
    let bar = bar(count as u64, args.json);
    let gathered = gather(board, pairs, &|| bar.inc(1))?;
    bar.finish_and_clear();
    for (reason, pictures) in &gathered.unusable {
        console::say(format_args!("{}: {reason}", counted(*pictures as u64, "picture")));
    }
    let both =
        gathered.taken.iter().filter(|taken| taken.view.corners.iter().all(|corners| !corners.is_empty())).count();
    console::say(format_args!("{both} of {} show the board to both cameras", counted(count as u64, "pair")));
    Ok(gathered.taken)
}

/// The views of a recording that are sharp, still and new.
fn of_recording(
    args: &CalibrateArgs,
    spec: &SourceSpec,
    path: &Path,
    board: &Board,
    request: Request,
) -> anyhow::Result<Vec<Taken>> {
    let mut session = Session::new(board, request)?;
    let bar = bar(0, args.json);
    let (mut looked, mut seen) = (0u64, 0u64);
    each_pair(args, spec, |pair, pictures| {
        let since = pair.capture_time.duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
        let look = Look { pictures: [&pictures[0], &pictures[1]], time_s: since.as_secs_f64(), skew_s: pair.skew_s };
        let notice = session.look(&look, false);
        looked += 1;
        seen += u64::from(!matches!(notice, Notice::NoBoard | Notice::Unusable(_)));
        bar.set_message(format!("{looked} pairs, {} taken: {notice}", counted(session.taken().len() as u64, "view")));
        bar.inc(1);
        // with the first solution wide lenses are known, and their boards are found
        if matches!(notice, Notice::Taken(_))
            && session.outcome().is_none()
            && let Some(work) = session.work()
        {
            session.solved(work.solve())?;
        }
        Ok(())
    })?;
    bar.finish_and_clear();
    let views = session.taken().len();
    console::say(format_args!(
        "{}: the board is seen in {seen} of {}; {} sharp, still and new",
        path.display(),
        counted(looked, "pair"),
        if views == 1 { "1 view is".to_owned() } else { format!("{views} views are") }
    ));
    if views == 0 {
        anyhow::bail!(
            "{} has no view of {board} that is sharp and still: hold the board still for a second in each place",
            path.display()
        );
    }
    Ok(session.taken().to_vec())
}

/// Calls `take` with each pair of a source.
///
/// # Errors
/// The source cannot be read, or `take` fails.
pub(super) fn each_pair(
    args: &CalibrateArgs,
    spec: &SourceSpec,
    mut take: impl FnMut(&RawPair, [Image<u8>; 2]) -> anyhow::Result<()>,
) -> anyhow::Result<()> {
    let options = SourceOptions { speed: Speed::Max, rate_hz: None, ..args.source_options() };
    let source = sources::open(spec, &options)?;
    let mut capture = Capture::start(source, CaptureOptions { policy: Policy::Lossless, ..CaptureOptions::default() });
    loop {
        let frame = match capture.frames.recv_timeout(Duration::from_millis(100)) {
            Ok(frame) => frame,
            Err(RecvTimeoutError::Timeout) => continue,
            Err(RecvTimeoutError::Disconnected) => break,
        };
        let pair = &frame.raw;
        let mut pictures = [pair.left.luma.to_u8(), pair.right.luma.to_u8()];
        if args.swap_pictures {
            pictures.reverse();
        }
        take(pair, pictures)?;
    }
    let stats = capture.stats();
    capture.state().remarks.iter().for_each(console::say);
    capture.stop();
    if let Some(reason) = stats.last_error {
        anyhow::bail!("{reason}");
    }
    Ok(())
}

fn bar(length: u64, is_hidden: bool) -> ProgressBar {
    if is_hidden {
        return ProgressBar::hidden();
    }
    let style = if length > 0 { "looking for the board {pos}/{len} {bar:30}" } else { "{msg}" };
    let bar = ProgressBar::new(length);
    bar.set_style(ProgressStyle::with_template(style).unwrap_or_else(|_| ProgressStyle::default_bar()));
    bar
}
