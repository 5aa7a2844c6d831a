//! The window. `panels` read the state and return commands, `session` executes them, `state` holds the data in groups.
//!
//! # Design: images in the middle, docks around them, panels read, commands change
//!
//! ```text
//!  ┌ toolbar: source, preset, engine · record, snapshot, views, menu ─────────────────────┐
//!  │ left dock     │ views: images and maps, one zoom,        │ right dock              │
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
//! - *Views* (`ui/view`, `ui/render`) share the middle and one zoom. What shows the pair, or something for each of its pixels, is a view, a member of
//!   `ViewKind`; what shows numbers of many settings is a page. A view can be shown alone.
//! - The *3-D view* (`ui/space`) has a camera of its own. `space/drawing` turns settings, pose and geometry into plain data; `space/pass` draws them in one
//!   call from the engine's disparity texture and the left image: the number of a vertex is that of its pixel and corner, and nothing passes through the host. It is drawn
//!   again only after a change of that data or a new result. `space/points` is the shader's twin on the host, for files; `space/tests` compare both, and both with the projection.
//!   Depth is reversed, 1 near and 0 at infinity.
//! - *Docks* hold panels at the sides. Each has a key; a window below 1200 points is narrow and has its own choice of docks and views
//!   (`ViewSettings::arrangement`), at first two views and no dock. Nothing lies over the images.
//! - *Pages* take the right dock, one at a time; Escape closes them. A page is for a task with steps, such as the rig; each step says whether it is done
//!   and how well.
//! - The *guide of a calibration* (`ui/features/guide`) is a page whose raw images take the middle while it looks (`guide/pictures`): they are not
//!   rectified, and have corners, coverage and the next pose painted on them. The calibration receives pairs by a raw tap, beside a recorder's
//!   (`recording::commands::connect_taps`); it has none while its page is closed, and its views stay until they are discarded. What it writes is opened like any calibration file.
//! - *Messages* (`ui/panels/messages`) come from two places: `ui/notices` keeps what has happened, `live/diagnosis` says what makes depth worse now.
//!   A message names its cause and offers its remedies as buttons; it goes when its cause is gone. The line has one height.
//! - A source is opened as a *request* (`ui/session/source`): source, options and calibration together. They become the state when the source is there; if it fails,
//!   nothing has changed. Where there is nothing to stay with, a source whose calibration fails is shown as it comes. An estimate of the rig uses pairs of the running source.
//!
//! ```text
//!  results, status ─▶ session ─▶ state ─▶ panels ─▶ commands ─▶ session: execute ─▶ state, pipeline, jobs
//!                        ▲                                                            │
//!                        └────────────── changes by the results of jobs ◀─────────────┘
//! ```
//!
//! - A feature (`ui/features`), such as measuring, recording or the rig, has one folder: `state` is its data and the steps that change them, `commands` carries these
//!   out on the session, `panel` draws its page or strip. `Session` itself has the pipeline, the source, the device and the dispatch; work that waits for a
//!   result is `session/awaited`.
//! - `ui/state` holds all data that panels show, in groups of what changes together: pipeline, source, matching, view settings, pointer, rig, recording,
//!   conversion, notices. Only the session and the features' commands change it: once per frame in `Session::update`, by commands in `execute`, and by the results of jobs.
//! - A panel (trait `Panel`; those that belong to no feature are in `ui/panels`) gets the state read-only and adds commands to a list; `ui/app` lays the panels out and has the commands executed
//!   after them. A panel may hold view state of its own, such as thumbnails or a drag in progress.
//! - An `Action` is a command without a value: one table has its label, key and help for menus, buttons and the page of keys.
//! - What the next start finds (`ui/store`) is one file, written by a job when it changes and at the end. It names estimated calibrations by their content, so no state finds another one's. A marker that the
//!   system lets go of tells of a window that was not closed. Signals (`ui/ending`) end the event loop as closing the window does.
//! - An image to take along (`ui/features/picture`) is drawn by the functions that draw the window, in an egui context of its own and at its own scale: into a texture that a job reads
//!   back and encodes, or into shapes that become SVG. A figure joins by a member of `Figure` and an arm in `figure::content`.
//! - Files and folders are chosen in `ui/features/dialog`: in the system's dialog, or in a text field for a path where the system has none. The caller passes the change that the answer makes.
//! - A change that a recording cannot go on with (`recording::commands::unless_recording`) waits for the answer to a question.
//! - Jobs (`ui/jobs`) are work that may block: dialogs, cameras, files. Starting one names its work and the change that its result makes; the status line shows
//!   it, with a button to stop it where that is possible.

use stereopsis_base::parameter::choices;
#[cfg(test)]
use stereopsis_base::process;
use stereopsis_base::{console, files, geometry, image, parameter, rate};
use stereopsis_calibrate as calibrate;
use stereopsis_calibration as calibration;
use stereopsis_capture as capture;
use stereopsis_doctor as doctor;
use stereopsis_engine as engine;
use stereopsis_export as export;
use stereopsis_export::{colormap, reach};
use stereopsis_live as live;
use stereopsis_metrics as metrics;
#[cfg(feature = "zenoh")]
use stereopsis_network as network;
use stereopsis_recording as recording;
use stereopsis_search as search;
use stereopsis_settings::{rig, settings};
use stereopsis_sources as sources;
use stereopsis_stereo as stereo;

mod action;
mod app;
mod command;
mod ending;
mod features;
mod jobs;
mod notices;
mod options;
mod panels;
mod render;
mod saved;
mod session;
mod space;
mod state;
mod store;
mod style;
mod view;
mod waker;
mod widgets;
mod window;

#[cfg(test)]
use app::App;
pub use options::WindowOptions;
use session::Session;
#[cfg(test)]
use {command::Command, space::Surface, state::Conversion};

use crate::engine::gpu::{AdapterChoice, Gpu};
use anyhow::{Context as _, bail};
use std::cell::RefCell;
use std::rc::Rc;
use std::time::{Duration, Instant};

/// Time that a driver has to provide a device again after one was lost.
const REOPEN_TIMEOUT: Duration = Duration::from_secs(10);
const RETRY_INTERVAL: Duration = Duration::from_millis(500);

/// Opens the window and shows the live pipeline until the user closes it, or the system asks the program to end.
///
/// # Errors
/// Wrong flags or settings; no GPU that can draw, with the packages to install; no display; no window on this GPU.
pub fn run(options: WindowOptions) -> anyhow::Result<()> {
    let adapter = options.words.iter().rev().find(|word| word.name == "adapter");
    let ending = ending::Termination::listen();
    let icon = options.icon;
    let choice = adapter.map_or(AdapterChoice::Best, |word| AdapterChoice::from_word(&word.text));
    let gpu = Gpu::open(&choice).context("the window draws with the GPU; --headless needs none")?.for_window();
    let session = Rc::new(RefCell::new(Session::start(options, Some(gpu.clone()))?));
    let shown = window::show(&session, gpu, icon, &ending, || reopen(&choice));
    session.borrow_mut().save();
    let recorded = features::recording::commands::finish(&mut session.borrow_mut());
    session.borrow().note_closed();
    match recorded {
        Some(Err(why)) => shown.and_then(|()| bail!(why)),
        Some(Ok(said)) => {
            console::say(said);
            shown
        }
        None => shown,
    }
}

/// Opens the GPU of the command line, or else any.
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
