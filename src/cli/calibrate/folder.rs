//! Views of pictures that are there: a folder of pairs, a pair, or a recording.

use super::CalibrateArgs;
use crate::calibrate::{Board, Look, Notice, Request, Session, Taken, gather};
use crate::capture::{Capture, CaptureOptions, RawPair, SourceOptions, SourceSpec, Speed};
use crate::console::{self, counted};
use crate::image::Image;
use crate::newest::Policy;
use crate::sources;
use crossbeam_channel::RecvTimeoutError;
use indicatif::{ProgressBar, ProgressStyle};
use std::sync::Arc;
use std::time::Duration;

/// Views of the board in a source that has an end.
///
/// # Errors
/// It cannot be read, or shows no board.
pub(super) fn taken(
    args: &CalibrateArgs,
    spec: &SourceSpec,
    board: &Board,
    request: Request,
) -> anyhow::Result<Vec<Taken>> {
    match spec {
        SourceSpec::Recording(_) | SourceSpec::Pipe => of_recording(args, spec, board, request),
        _ => of_pairs(args, spec, board),
    }
}

/// All pairs of a folder.
fn of_pairs(args: &CalibrateArgs, spec: &SourceSpec, board: &Board) -> anyhow::Result<Vec<Taken>> {
    let mut pairs = Vec::new();
    each_pair(args, spec, |pair, pictures| {
        pairs.push((pair.name.clone(), pictures.map(Arc::new)));
        Ok(true)
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
    board: &Board,
    request: Request,
) -> anyhow::Result<Vec<Taken>> {
    let mut session = Session::new(board, request)?;
    let bar = bar(0, args.json);
    let (mut looked, mut seen) = (0u64, 0u64);
    each_pair(args, spec, |pair, pictures| {
        let notice = session.look(&Look::of(pair, [&pictures[0], &pictures[1]]), false);
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
        Ok(true)
    })?;
    bar.finish_and_clear();
    let views = session.taken().len();
    console::say(format_args!(
        "{spec}: the board is seen in {seen} of {}; {} sharp, still and new",
        counted(looked, "pair"),
        if views == 1 { "1 view is".to_owned() } else { format!("{views} views are") }
    ));
    if views == 0 {
        anyhow::bail!(
            "{spec} has no view of {board} that is sharp and still: hold the board still for a second in each place"
        );
    }
    Ok(session.taken().to_vec())
}

/// Calls `take` with each pair of a source, until it wants no more.
///
/// # Errors
/// The source cannot be read, or `take` fails.
pub(super) fn each_pair(
    args: &CalibrateArgs,
    spec: &SourceSpec,
    mut take: impl FnMut(&RawPair, [Image<u8>; 2]) -> anyhow::Result<bool>,
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
        if !take(pair, pictures)? {
            break;
        }
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
