//! Views from existing images: a folder of pairs, a pair, or a recording.

use super::args::CalibrateArgs;
use indicatif::{ProgressBar, ProgressStyle};
use std::fmt::Display;
use stereopsis_base::console;
use stereopsis_base::console::counted;
use stereopsis_base::image::Image;
use stereopsis_base::newest::Policy;
use stereopsis_calibrate::{
    BatchViews, Board, BoardFrame, CalibrationRequest, CalibrationSession, Draft, Notice, PairFiles, TakenView, gather,
};
use stereopsis_frame::{RawPair, SourceOptions, SourceSpec, Speed};
use stereopsis_images::picture_files::{FilePair, list_pairs, list_pictures_of_both};
use stereopsis_live::capture::{Capture, CaptureOptions};

/// Largest number of pairs whose faults are printed one by one.
const MAX_NAMED: usize = 5;

/// Takes the views of the board from a source that has an end. Those of a recording are kept in `draft`; images of a folder exist already.
///
/// # Errors
/// The source cannot be read, or shows no board.
pub(super) fn taken(
    args: &CalibrateArgs,
    spec: &SourceSpec,
    board: &Board,
    request: CalibrationRequest,
    draft: Option<&mut Draft>,
) -> anyhow::Result<Vec<TakenView>> {
    if let Some(pairs) = pairs_of(args, spec)? {
        return of_pairs(args, pairs, board);
    }
    let taken = of_recording(args, spec, board, request)?;
    if let Some(draft) = draft {
        draft.keep(board, &taken)?;
    }
    Ok(taken)
}

/// Returns the pairs of image files of a source; `None` for a source without files. Prints remarks on files that are left out.
fn pairs_of(args: &CalibrateArgs, spec: &SourceSpec) -> anyhow::Result<Option<Vec<FilePair>>> {
    Ok(match spec {
        SourceSpec::Folder(folder) => {
            let found = match args.source_options().both_views {
                Some(arrangement) => list_pictures_of_both(folder, arrangement)?,
                None => list_pairs(folder)?,
            };
            found.losses.iter().for_each(console::say);
            Some(found.pairs)
        }
        SourceSpec::Files { left, right, .. } => Some(vec![FilePair::of_two(left, right)]),
        _ => None,
    })
}

fn of_pairs(args: &CalibrateArgs, pairs: Vec<FilePair>, board: &Board) -> anyhow::Result<Vec<TakenView>> {
    let count = pairs.len() as u64;
    let max_pixels = args.source_options().max_pixels;
    let pairs = pairs.into_iter().map(|pair| PairFiles::of(pair, args.swap_pictures, max_pixels)).collect();
    let bar = bar(2 * count, args.json);
    let gathered = gather(board, pairs, &|_| bar.inc(1));
    bar.finish_and_clear();
    let BatchViews { taken, unusable, left_out } = gathered?;
    say_left_out(&left_out);
    for (reason, pictures) in &unusable {
        console::say(format_args!("{}: {reason}", counted(*pictures as u64, "image")));
    }
    let both = taken.iter().filter(|taken| taken.view.corners.iter().all(|corners| !corners.is_empty())).count();
    console::say(format_args!("{both} of {} show the board to both cameras", counted(count, "pair")));
    Ok(taken)
}

fn say_left_out(why: &[impl Display]) {
    for why in &why[..why.len().min(MAX_NAMED)] {
        console::say(format_args!("{why}; the pair is left out"));
    }
    if let Some(more @ 1..) = why.len().checked_sub(MAX_NAMED) {
        console::say(format_args!("{} more are left out for such reasons", counted(more as u64, "pair")));
    }
}

/// Takes the sharp, still and new views of a recording.
fn of_recording(
    args: &CalibrateArgs,
    spec: &SourceSpec,
    board: &Board,
    request: CalibrationRequest,
) -> anyhow::Result<Vec<TakenView>> {
    let mut session = CalibrationSession::new(board, request)?;
    let bar = bar(0, args.json);
    let (mut looked, mut seen) = (0u64, 0u64);
    each_pair(args, spec, |pair, pictures| {
        let notice = session.look(&BoardFrame::of(pair, [&pictures[0], &pictures[1]]), false);
        looked += 1;
        seen += u64::from(!matches!(notice, Notice::NoBoard | Notice::Unusable(_) | Notice::OtherSize(..)));
        bar.set_message(format!("{looked} pairs, {} taken: {notice}", counted(session.taken().len() as u64, "view")));
        bar.inc(1);
        // after the first solution wide lenses are known, and their boards are found
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

/// Calls `take` with each pair of a source until it returns false. Skips a pair of files that cannot be read.
///
/// # Errors
/// The source cannot be read, or `take` fails.
pub(super) fn each_pair(
    args: &CalibrateArgs,
    spec: &SourceSpec,
    mut take: impl FnMut(&RawPair, [Image<u8>; 2]) -> anyhow::Result<bool>,
) -> anyhow::Result<()> {
    let mut take = |pair: &RawPair| {
        let mut pictures = [pair.left.luma.to_u8(), pair.right.luma.to_u8()];
        if args.swap_pictures {
            pictures.reverse();
        }
        take(pair, pictures)
    };
    let options = SourceOptions { speed: Speed::Max, rate_hz: None, ..args.source_options() };
    if let Some(pairs) = pairs_of(args, spec)? {
        let (mut left_out, count) = (Vec::new(), pairs.len());
        for pair in pairs {
            match pair.read(false, options.max_pixels) {
                Ok(pair) if take(&pair)? => {}
                Ok(_) => break,
                Err(why) => left_out.push(why.to_string()),
            }
        }
        if left_out.len() == count {
            anyhow::bail!("no pair of images can be read: {}", left_out.swap_remove(0));
        }
        say_left_out(&left_out);
        return Ok(());
    }
    let source = stereopsis_sources::open(spec, &options)?;
    let mut capture = Capture::start(source, CaptureOptions { policy: Policy::Lossless, ..CaptureOptions::default() });
    for frame in capture.frames.channel() {
        if !take(&frame.raw)? {
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
