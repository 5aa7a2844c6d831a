//! Live calibration with a board: watches the pairs of the running source while its page is open.

use crate::core::{
    Action, Command, Core, Feature, Job, Level, Remedy, RunningCalibration, Step, dialog, recording, rig,
};
use egui::Context;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime};
use stereopsis_base::console::counted;
use stereopsis_base::files;
use stereopsis_base::files::WriteError;
use stereopsis_base::threads::drop_elsewhere;
use stereopsis_calibrate::{CalibrateError, CalibrationRequest, Draft, Paper, PrintFormat, Watch};
use stereopsis_recording::time;

#[derive(Clone, Debug)]
pub(crate) enum GuideStep {
    /// Sets the description of the board, even an invalid one.
    SetBoard(String),
    /// Sets the measured side of a square, mm; markers follow in proportion.
    SetSquare(f64),
    Print(Paper),
    Look,
    Hold,
    Discard,
    /// Forces a view from the next pair that shows the board.
    Take,
    /// Sets whether views are taken automatically.
    SetAutomatic(bool),
    Delete(usize),
    LockCameras,
    NameFile(String),
    ChooseFile,
    /// Writes the calibration, and calibrates the source with it.
    Save {
        /// Whether existing files may be replaced.
        replaces: bool,
    },
    KeepFile,
}

impl Step for GuideStep {}

/// Interval at which a held pair is examined again, like frames of a camera in front of a still scene.
const HELD_INTERVAL: Duration = Duration::from_millis(150);
const PRINT: Job = Job::stoppable("writing the board");
const SAVE: Job = Job::new("writing the calibration");

#[derive(Default)]
pub(crate) struct Guide {
    watch: Option<Watch>,
    /// Time at which the examined source was opened.
    source_since: Option<Instant>,
    /// Time at which a held pair was last examined.
    fed: Option<Instant>,
    /// Number of unsaved views that the user knows would be lost with the window.
    known_unsaved: usize,
}

impl Drop for Guide {
    fn drop(&mut self) {
        end(self.watch.take());
    }
}

/// Ends a calibration on another thread, because it may be examining a pair.
fn end(watch: Option<Watch>) {
    if let Some(watch) = watch {
        drop_elsewhere("old calibration", watch);
    }
}

impl Feature for Guide {
    fn execute(&mut self, core: &mut Core, command: Command, _ctx: &Context) -> Result<(), Command> {
        execute(self, core, command.step()?);
        Ok(())
    }

    /// Reads the calibration's state, and connects the calibration to the pairs while its page is open.
    fn update(&mut self, core: &mut Core, now: Instant) {
        let watching = self;
        if watching.source_since.replace(core.source_since) != Some(core.source_since) {
            hold(watching, core, Some("the source was changed"));
        }
        let is_open = core.is_open(Action::Calibrate);
        if let (Some(watch), Some(running)) = (&watching.watch, &mut core.guide.running) {
            running.update(watch.progress(), now);
            watching.known_unsaved = watching.known_unsaved.min(running.unsaved());
        }
        let wants = is_open && watching.watch.is_some() && core.is_looking();
        if wants != core.raw_tap.is_some() {
            core.raw_tap = watching.watch.as_ref().filter(|_| wants).map(Watch::tap);
            recording::commands::connect_taps(core);
        }
        let status = core.status();
        let is_held = status.source.is_still
            || status.paused
            || status.engine.ended
            || status.capture.ended
            || core.live.transport().is_some_and(|transport| !transport.get().playing);
        // meanwhile depth is hidden and the detector needs the processor, but a recorder and other viewers need the results
        let is_watched = core.recording.recorder().is_some() || !core.live.remotes().is_empty();
        let rests = wants && !is_held || core.search.is_searching();
        core.live.set_suspended(rests && !is_watched);
        if wants && is_held {
            look_at_held(watching, core, now);
        }
    }

    /// Returns whether views would be lost.
    fn keeps_open(&mut self, core: &mut Core) -> bool {
        let watching = self;
        let count = core.guide.running.as_ref().map_or(0, RunningCalibration::unsaved);
        if count <= std::mem::replace(&mut watching.known_unsaved, count) {
            return false;
        }
        core.page = Some(Action::Calibrate);
        let views = counted(count as u64, "view");
        core.notices
            .confirm(format!("{views} of the board would be lost: save the calibration, or close the window again"));
        true
    }
}

fn execute(watching: &mut Guide, core: &mut Core, step: GuideStep) {
    match step {
        GuideStep::SetBoard(words) => core.guide.set_board(words),
        GuideStep::SetSquare(square_mm) => core.guide.set_square_mm(square_mm),
        GuideStep::Print(paper) => print_board(core, paper),
        GuideStep::Look => look(watching, core),
        GuideStep::Hold => hold(watching, core, None),
        GuideStep::Discard => discard_views(watching, core),
        GuideStep::Take => with_watch(watching, Watch::take),
        GuideStep::SetAutomatic(is_automatic) => with_watch(watching, |watch| watch.set_automatic(is_automatic)),
        GuideStep::Delete(place) => with_watch(watching, |watch| watch.delete(place)),
        GuideStep::LockCameras => rig::controls::lock_cameras(core),
        GuideStep::NameFile(name) => {
            core.guide.save_as = name;
            core.guide.asks_to_replace = None;
        }
        GuideStep::ChooseFile => choose_calibration_to_write(core),
        GuideStep::Save { replaces } => save_calibration(core, replaces),
        GuideStep::KeepFile => core.guide.asks_to_replace = None,
    }
}

fn with_watch(watching: &Guide, order: impl FnOnce(&Watch)) {
    if let Some(watch) = &watching.watch {
        order(watch);
    }
}

fn look(watching: &mut Guide, core: &mut Core) {
    if let Some(running) = core.guide.running.as_mut().filter(|running| running.ended.is_none()) {
        running.is_looking = true;
        return;
    }
    if core.guide.running.as_ref().is_some_and(|running| running.unsaved() > 0) {
        return; // the views are saved or discarded first
    }
    let board = match &core.guide.board {
        Ok(board) => *board,
        Err(why) => return core.notices.error(why),
    };
    let wake = core.waker.clone();
    match Watch::start(&board, CalibrationRequest::default(), Arc::new(move || wake.wake())) {
        Ok(watch) => {
            discard_views(watching, core);
            watching.watch = Some(watch);
            let guide = &mut core.guide;
            guide.running = Some(RunningCalibration::new());
            if guide.save_as.is_empty() {
                guide.save_as = format!("rig_{}.toml", today());
            }
            rig::controls::protect_cameras(core);
        }
        Err(why) => core.notices.error(why),
    }
}

/// Stops the examination and keeps the views; `why` is the reason where it cannot be resumed.
fn hold(watching: &mut Guide, core: &mut Core, why: Option<&str>) {
    let Some(running) = core.guide.running.as_mut().filter(|running| running.ended.is_none()) else { return };
    running.is_looking = false;
    let Some(why) = why else {
        if running.count() == 0 {
            discard_views(watching, core); // nothing is lost
        }
        return;
    };
    let kept = match running.unsaved() {
        0 => String::new(),
        count => format!("; its {} can still be saved on the page Calibrate", counted(count as u64, "view")),
    };
    running.ended = Some(why.to_owned());
    let is_empty = running.count() == 0;
    core.notices.add(Level::Remark, format!("the calibration has ended: {why}{kept}"), Vec::new());
    if is_empty {
        discard_views(watching, core);
    }
}

fn discard_views(watching: &mut Guide, core: &mut Core) {
    end(watching.watch.take());
    watching.known_unsaved = 0;
    core.guide.running = None;
    core.guide.asks_to_replace = None;
}

/// Passes the held pair to the calibration, since the source sends no other one.
fn look_at_held(watching: &mut Guide, core: &mut Core, now: Instant) {
    let status = core.status();
    if watching.fed.is_some_and(|fed| now.saturating_duration_since(fed) < HELD_INTERVAL) {
        return;
    }
    let held = core.output().filter(|output| output.job.frame.arrived >= core.source_since);
    if let (Some(output), Some(watch)) = (held, &watching.watch) {
        watch.tap().pair(&output.job.frame.raw, None, &status.source);
        watching.fed = Some(now);
    }
}

/// Writes the board as a page to print.
fn print_board(core: &mut Core, paper: Paper) {
    let Ok(board) = core.guide.board else { return };
    if core.jobs.is_running(PRINT) {
        return;
    }
    let words = board.to_string().replace([':', '.'], "-");
    let name = format!("{words}-{}.pdf", paper.to_string().to_lowercase());
    let page = match stereopsis_calibrate::page(&board, paper, PrintFormat::Pdf) {
        Ok(page) => page,
        Err(why) => return core.notices.error(why),
    };
    let write = move |core: &mut Core, path: PathBuf, replaces: bool| {
        let work = move || {
            files::write_or_keep(&path, &page, replaces)?;
            Ok::<_, WriteError>(path)
        };
        core.start_job(PRINT, work, |core, path: PathBuf| {
            let text = format!("board written: {}; print it at 100 %, and measure a square", path.display());
            core.notices.add(Level::Remark, text, vec![Remedy::ShowInFolder(path)]);
        });
    };
    dialog::commands::ask_new_file(core, "A file for the board", name, ("PDF", &["pdf"]), write);
}

fn choose_calibration_to_write(core: &mut Core) {
    let name = &core.guide.save_as;
    let name = Path::new(name).file_name().map_or_else(|| name.clone(), |name| name.to_string_lossy().into_owned());
    let kind: (_, &[_]) = ("Calibrations", &["toml", "yml", "xml"]);
    dialog::commands::ask_new_file(core, "A file for the calibration", name, kind, |core, path, _| {
        core.guide.save_as = path.display().to_string();
        core.guide.asks_to_replace = None;
    });
}

/// Reason why a calibration is not written.
#[derive(Debug, thiserror::Error)]
enum NotSaved {
    #[error(transparent)]
    Failed(#[from] CalibrateError),
    #[error("{why}; the views are kept in {}", views.display())]
    ViewsKept { why: CalibrateError, views: PathBuf },
    /// Writing failed, and then giving it up.
    #[error("{0}; {1}")]
    Twice(CalibrateError, CalibrateError),
}

/// Writes the calibration and calibrates the source with it; a file is replaced only after a confirmation.
fn save_calibration(core: &mut Core, replaces: bool) {
    let guide = &mut core.guide;
    guide.asks_to_replace = None;
    let Some(running) = &mut guide.running else { return };
    let Some(outcome) = running.outcome().cloned() else { return };
    running.is_looking = false; // a view that is taken meanwhile would not be written
    let (taken, names) = (running.progress.taken.clone(), running.names());
    let path = crate::core::absolute(&core.options.folder.join(guide.save_as.trim()));
    let path = if path.extension().is_none() { path.with_extension("toml") } else { path };
    let write = move || {
        let mut files = stereopsis_calibrate::paths_of(&path);
        files.push(stereopsis_calibrate::folder_of(&path));
        if let Some(there) = files.into_iter().find(|file| file.symlink_metadata().is_ok()).filter(|_| !replaces) {
            return Ok(Err(there));
        }
        // views cannot be repeated: they are written first, and stay if writing the rest fails
        let (mut draft, mut remarks) = Draft::begin(&path)?;
        let saved = draft.keep(&outcome.board, &taken).and_then(|()| draft.save(&outcome, &taken));
        let saved = saved.map_err(|why| match draft.refuse() {
            Ok(None) => NotSaved::Failed(why),
            Ok(Some(views)) => NotSaved::ViewsKept { why, views },
            Err(err) => NotSaved::Twice(why, err),
        })?;
        remarks.extend(saved.left_out.iter().map(|left_out| format!("not written: {left_out}")));
        Ok::<_, NotSaved>(Ok((saved, remarks)))
    };
    core.start_job(SAVE, write, move |core, saved| match saved {
        Ok((saved, remarks)) => {
            use_saved(core, saved, names);
            for remark in remarks {
                core.notices.news(remark);
            }
        }
        Err(there) => core.guide.asks_to_replace = Some(there),
    });
}

/// Calibrates the source with the written file, as if it had been opened.
fn use_saved(
    core: &mut Core,
    saved: stereopsis_calibrate::SavedCalibration,
    names: std::collections::BTreeSet<String>,
) {
    let text = format!("calibration written: {}, and more about it in {}", saved.rig.display(), saved.folder.display());
    core.notices.add(Level::Remark, text, vec![Remedy::ShowInFolder(saved.rig.clone())]);
    let Some(running) = &mut core.guide.running else { return };
    running.saved = Some((saved.rig.clone(), names));
    if running.ended.is_none() {
        rig::commands::use_setup_files(core, vec![saved.rig]);
    }
}

/// Returns the date, as `2026-11-23`.
fn today() -> String {
    time::for_file_name(SystemTime::now()).chars().take("2026-11-23".len()).collect()
}
