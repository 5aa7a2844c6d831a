//! The window. `panels` read the state and return commands, `session` executes them, `state` holds the data in groups.

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
