//! The window: reads results, sends intents, owns no pixels that something else needs.

mod app;
mod command;
mod dialogs;
mod jobs;
mod keep;
mod look;
mod notices;
mod options;
mod panels;
mod render;
mod session;
mod style;
mod view;
mod waker;
mod widgets;
mod window;

pub use app::App;
pub use command::Command;
pub use options::WindowOptions;
pub use session::Session;
pub use view::ViewKind;

use crate::console;
use crate::engine::gpu::{AdapterChoice, Gpu};
use anyhow::{Context as _, bail};
use std::cell::RefCell;
use std::rc::Rc;
use std::time::{Duration, Instant};

/// How long a driver may take to give a device again after one was lost.
const PATIENCE: Duration = Duration::from_secs(10);

/// Opens the window and shows the live pipeline until the user closes it.
///
/// # Errors
/// Wrong flags or settings; no GPU that can draw, with what to install; no display; no window on this GPU.
pub fn run(options: WindowOptions) -> anyhow::Result<()> {
    let adapter = options.words.iter().rev().find(|word| word.name == "adapter");
    let choice = adapter.map_or(AdapterChoice::Best, |word| AdapterChoice::from_word(&word.text));
    let gpu = Gpu::open(&choice).context("the window draws with the GPU; --headless needs none")?.for_window();
    let session = Rc::new(RefCell::new(Session::start(options, Some(gpu.clone()))?));
    let shown = window::show(&session, gpu, || reopen(&choice));
    session.borrow().keep();
    let recorded = session.borrow_mut().finish_recording();
    match recorded {
        Some(Err(why)) => shown.and_then(|()| bail!(why)),
        Some(Ok(said)) => {
            console::say(said);
            shown
        }
        None => shown,
    }
}

/// The GPU that was asked for, or else any.
fn reopen(choice: &AdapterChoice) -> anyhow::Result<Gpu> {
    let lost = Instant::now();
    loop {
        match Gpu::open(choice).or_else(|_| Gpu::open(&AdapterChoice::Best)).map(Gpu::for_window) {
            Err(err) if lost.elapsed() < PATIENCE => {
                log::warn!("the window lost its GPU: {err}");
                std::thread::sleep(Duration::from_millis(500));
            }
            opened => {
                return opened.context("the window lost its GPU, and found none to go on with; --headless needs none");
            }
        }
    }
}
