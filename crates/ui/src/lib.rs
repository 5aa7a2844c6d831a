//! The window: a `core` with pipeline, source, matching, views, messages and jobs, `features` that import it, and an `app` that lists them.
//! Panels read and return commands, which the core and the features execute.
//!
//! # Design: images in the middle, docks around them, panels read, commands change
//!
//! ```text
//!  ┌ toolbar: source, preset, engine · record, snapshot, views, menu ─────────────────────┐
//!  │ left dock     │ views: images and maps, one zoom,          │ right dock              │
//!  │ parameters in │ also the points in space                   │ read-outs (pixel, depth,│
//!  │ groups, as    │                                            │ health), or one page:   │
//!  │ the pipeline  │                                            │ Cameras, Rig, Distance, │
//!  │ runs          │                                            │ Measure, Sweep, Suggest,│
//!  │               │                                            │ Explain, Export, Doctor,│
//!  │               │                                            │ Keys, or calibration    │
//!  ├ time line, where the source has one ─────────────────────────────────────────────────┤
//!  ├ messages: one line with remedies, a counter, a list ─────────────────────────────────┤
//!  └ status: rates, latency, shares, engine ──────────────────────────────────────────────┘
//! ```
//!
//! - *Views* (`ui/view`, `ui/render`) share the middle and one zoom. A view, a member of `ViewKind`, shows the pair or one value per pixel;
//!   a page shows numbers of many settings. A view can be shown alone.
//! - The *3-D view* (`ui/space`) has its own camera. `space/drawing` turns settings, pose and geometry into plain data; `space/pass` draws
//!   them in one call from the engine's disparity texture and the left image, without a copy to the host: the number of a vertex is that of
//!   its pixel and corner. A new drawing needs a change of that data or a new result. `space/points` computes the same points on the host
//!   for files; `space/tests` compare both with each other and with the projection. Depth is reversed, 1 near and 0 at infinity.
//! - *Docks* hold panels at the sides, each with a key. A window below 1200 points is narrow and has its own choice of docks and views
//!   (`ViewSettings::arrangement`), initially two views and the parameters. Nothing covers the images.
//! - *Pages* occupy the right dock, one at a time; Escape closes them. A page is for a task with steps, such as the rig, and shows of each
//!   step whether it is done and how well.
//! - The *guide of a calibration* (`ui/features/guide`) is a page whose raw images occupy the middle (`guide/pictures`): unrectified, with
//!   corners, coverage and the next pose painted on them. The calibration receives pairs by a raw tap beside a recorder's
//!   (`core/recording`, `connect_taps`), except while its page is closed; its views stay until they are discarded.
//! - *Messages* (`ui/panels/messages`) have two sources: `core/notices` keeps past events, `live/diagnosis` reports present causes of worse
//!   depth. A message names its cause, offers remedies as buttons, and disappears with its cause. The line has a constant height.
//! - A source is opened by a *request* (`core/opening`) of source, options and calibration together, which become the state once the
//!   source is open; a failure changes nothing. Without a source to stay with, one whose calibration fails is shown uncalibrated.
//!   An estimate of the rig uses pairs of the running source.
//!
//! ```text
//!  results, status ─▶ core ─▶ features ─▶ panels ─▶ commands ─▶ execute: core, then features ─▶ pipeline, jobs
//!                      ▲                                                                          │
//!                      └───────────────────── changes by the results of jobs ◀────────────────────┘
//! ```
//!
//! - The core (`ui/core`) has what several parts of the window read and change: the pipeline and its readings, source, rig and recording,
//!   matching, views, messages, jobs, and the commands that change them. It imports no feature. Within it,
//!   files with plain state import no `Core`, `core/mod` puts them together, and files with the operations of `Core` (`start`, `update`,
//!   `execute`, `opening`, `results`, `readings`, `keep`, `device`, `remote`, the commands of rig, recording and dialog) import both.
//!   `core/awaited` has the work that waits for a result.
//! - A feature (`ui/features`, trait `Feature`), such as measuring or the history, is one folder with a worker, steps and pages of its own.
//!   It imports the core and no other feature; only `app/list` names it. A step is a command that the core only carries
//!   (`Command::Step`). What another part needs of a feature is a fact of the core, or travels as a command (`Core::send`).
//! - `app::Session` is the core with all features and outlives the window: once per frame it updates the core and then each feature, and it
//!   executes commands.
//! - A panel (trait `Panel`; `ui/panels` has the panels of no feature) reads the core and adds commands to a list; `ui/app` lays the
//!   panels out and executes the commands afterwards. A panel may hold view state of its own, such as thumbnails or a drag in progress.
//! - An `Action` is a command without a value; one table has its label, key and help for menus, buttons and the page of keys.
//! - The saved state (`core/store`) is one file, written by a job after changes and at the end. Its estimated calibrations are named by their
//!   content, so that no state finds another one's. A file that cannot be read or has wrong values is set aside and named; keys of later
//!   versions are kept. A marker that the system releases reveals a window that was not closed. Signals
//!   (`app/ending`) end the event loop as closing the window does.
//! - A saved image (`app/picture`) is drawn by the functions of the window in a separate egui context and scale: into a texture
//!   that a job reads and encodes, or into shapes that become SVG. A new figure needs a member of `Figure` and an arm in
//!   `figure::content`.
//! - Files and folders are chosen in `core/dialog`: in the system's dialog, or in a text field where the system has none. The caller
//!   passes the change that follows the answer.
//! - A change that would invalidate a recording (`core/recording`, `unless_recording`) waits for the answer to a question.
//! - Jobs (`core/jobs`) are work that may block: dialogs, cameras, files. A start names the work and the change by its result; the status
//!   line shows the job, with a button to stop it where possible.

#![allow(clippy::result_large_err, reason = "a command that a feature does not know comes back as it is")]

mod app;
mod core;
mod features;
mod panels;
mod render;
mod space;
mod style;
mod view;
mod vocabulary;
mod widgets;

pub use crate::core::options::WindowOptions;
use app::Session;
#[cfg(test)]
use {crate::core::command::Command, app::App, space::Surface};

use anyhow::Context as _;
use std::cell::RefCell;
use std::rc::Rc;
use std::time::{Duration, Instant};
use stereopsis_frame::engine::AdapterChoice;
use stereopsis_gpu::Gpu;

/// Time limit for a driver to provide a device again after a loss.
const REOPEN_TIMEOUT: Duration = Duration::from_secs(10);
const RETRY_INTERVAL: Duration = Duration::from_millis(500);

/// Opens the window and shows the live pipeline until the user closes the window, or the system terminates the program.
///
/// # Errors
/// Wrong flags or settings; no GPU that can draw, with the packages to install; no display; no window on this GPU.
pub fn run(options: WindowOptions) -> anyhow::Result<()> {
    stereopsis_base::remedy::speak(&vocabulary::Window);
    let adapter = options.words.iter().rev().find(|word| word.name == "adapter");
    let ending = app::ending::Termination::listen();
    let icon = options.icon;
    let choice = adapter.map_or(AdapterChoice::Best, |word| AdapterChoice::from_word(&word.text));
    let gpu = Gpu::open(&choice).context("the window draws with the GPU; --headless needs none")?.for_window();
    let session = Rc::new(RefCell::new(Session::start(options, Some(gpu.clone()))?));
    let shown = app::window::show(&session, gpu, icon, &ending, || reopen(&choice));
    session.borrow_mut().core.save();
    let recorded = crate::core::recording::commands::finish(&mut session.borrow_mut().core);
    session.borrow().core.note_closed();
    match recorded {
        Some(Err(why)) => shown.and(Err(why)),
        Some(Ok(said)) => {
            stereopsis_base::console::say(said);
            shown
        }
        None => shown,
    }
}

/// Opens the GPU of the command line, or any.
fn reopen(choice: &AdapterChoice) -> anyhow::Result<Gpu> {
    let lost = Instant::now();
    loop {
        match Gpu::open(choice).or_else(|_| Gpu::open(&AdapterChoice::Best)).map(Gpu::for_window) {
            Err(err) if lost.elapsed() < REOPEN_TIMEOUT => {
                log::warn!("the window lost its GPU: {err}");
                std::thread::sleep(RETRY_INTERVAL);
            }
            opened => {
                return opened.context("the window lost its GPU, and found none to go on with; --headless needs none");
            }
        }
    }
}

#[cfg(test)]
mod tests;
