//! `calibrate` with cameras, without a window: instructions are printed as lines, views are taken automatically.

use super::args::CalibrateArgs;
use std::sync::Arc;
use std::time::{Duration, Instant};
use stereopsis_base::console;
use stereopsis_base::console::counted;
use stereopsis_base::geometry::Geometry;
use stereopsis_calibrate::{Board, CalibrationRequest, Draft, Notice, Progress, TakenView, Watch};
use stereopsis_frame::{RawPair, RawTap, SourceInfo, SourceSpec};
use stereopsis_live::capture::CaptureOptions;
use stereopsis_live::headless::RunObserver;
use stereopsis_live::{Status, headless};

/// Smallest number of views of a session that ends automatically.
const MIN_VIEWS: usize = 12;
/// Smallest number of views of such a session where the cameras are kept.
const MIN_VIEWS_KEPT: usize = 3;
/// Interval at which an unchanged notice is repeated.
const REPEAT: Duration = Duration::from_secs(5);

/// Takes views of live images, until there are enough or the user ends it. They are kept in `draft` as they arrive.
///
/// # Errors
/// The cameras cannot be opened, or are lost before a view was taken.
pub(super) fn taken(
    args: &CalibrateArgs,
    spec: &SourceSpec,
    board: &Board,
    request: CalibrationRequest,
    draft: Option<&mut Draft>,
) -> anyhow::Result<Vec<TakenView>> {
    let mut options = args.source_options();
    // a changing focus would be another camera
    options.cameras.calibrated = true;
    options.cameras.equal_exposure |= options.cameras.views.iter().all(|view| view.controls.exposure_ms.is_none());
    let source = stereopsis_sources::open(spec, &options)?;
    let info = source.info();
    console::say(format_args!("{}: show {board} to both cameras; Ctrl-C ends and solves", info.name));
    let watch = Watch::start(board, request, Arc::new(|| {}))?;
    let mut capture = CaptureOptions::default();
    capture.taps.raw.push(if args.swap_pictures { Arc::new(Swapped(watch.tap())) } else { watch.tap() });
    let enough = if request.kept.is_some() { MIN_VIEWS_KEPT } else { MIN_VIEWS };
    let mut observer = Observer { args, board, watch: &watch, draft, enough, said: (None, Instant::now()), views: 0 };
    let end = headless::capture_observed(source, capture, &mut observer)?;
    let Progress { taken, .. } = watch.progress();
    // views of the last moment
    observer.keep(&taken);
    drop(watch);
    if taken.is_empty() {
        let why = if end.status.errors.is_empty() {
            "no view of the board was taken".to_owned()
        } else {
            end.status.errors.join("; ")
        };
        anyhow::bail!("{why}");
    }
    Ok(taken)
}

/// Tap that exchanges the sides of pairs and passes them on.
struct Swapped(Arc<dyn RawTap>);

impl RawTap for Swapped {
    fn pair(&self, pair: &Arc<RawPair>, geometry: Option<Geometry>, source: &SourceInfo) {
        let mut swapped = RawPair::clone(pair);
        std::mem::swap(&mut swapped.left, &mut swapped.right);
        swapped.skew_s = -swapped.skew_s;
        self.0.pair(&Arc::new(swapped), geometry, source);
    }
}

/// Prints instructions, and ends the run when the calibration is good enough.
struct Observer<'a> {
    args: &'a CalibrateArgs,
    board: &'a Board,
    watch: &'a Watch,
    /// Calibration in progress, with the views so far.
    draft: Option<&'a mut Draft>,
    /// Smallest number of views of a session that ends automatically.
    enough: usize,
    said: (Option<Notice>, Instant),
    views: usize,
}

impl Observer<'_> {
    /// Writes the new views, so that they survive any later failure.
    fn keep(&mut self, taken: &[TakenView]) {
        let Some(draft) = &mut self.draft else { return };
        if let Err(why) = draft.keep(self.board, taken) {
            console::say(format_args!("a view is not kept: {why}"));
        }
    }
}

impl RunObserver for Observer<'_> {
    fn poll(&mut self, status: &Status) -> bool {
        let progress = self.watch.progress();
        let count = progress.taken.len();
        if count > self.views {
            self.keep(&progress.taken);
            self.views = count;
            let ghost = progress.ghost.as_ref().map(|ghost| format!("; now {}", ghost.words)).unwrap_or_default();
            console::say(format_args!("{} taken{ghost}", counted(count as u64, "view")));
        }
        let (said, when) = &self.said;
        let kind = |notice: &Option<Notice>| notice.as_ref().map(std::mem::discriminant);
        let is_new =
            kind(said) != kind(&progress.notice) && when.elapsed() > Duration::from_secs(1) || when.elapsed() > REPEAT;
        if let Some(notice) =
            progress.notice.clone().filter(|notice| is_new && !matches!(notice, Notice::Taken(_) | Notice::Ready))
        {
            console::say(format_args!("{notice}"));
            self.said = (Some(notice), Instant::now());
        }
        if let Some(asked) = self.args.views {
            return count as u64 >= asked || status.capture.ended;
        }
        progress.outcome.as_ref().is_some_and(|outcome| outcome.suffices()) && count >= self.enough
            || status.capture.ended
    }

    fn status_parts(&self) -> Vec<String> {
        let progress = self.watch.progress();
        let mut parts = vec![counted(progress.taken.len() as u64, "view")];
        if let Some(outcome) = &progress.outcome {
            parts.push(outcome.verdict());
        }
        parts
    }
}
