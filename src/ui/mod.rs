//! The window: reads results, sends intents, owns no pixels that something else needs.

mod app;
mod command;
mod keep;
mod look;
mod notices;
mod options;
mod panels;
mod render;
mod session;
mod style;
mod tasks;
mod view;
mod waker;
mod widgets;
mod window;

pub use app::App;
pub use command::Command;
pub use options::WindowOptions;
pub use session::Session;
pub use view::ViewKind;

use crate::engine::gpu::{AdapterChoice, Gpu};
use anyhow::Context as _;
use std::cell::RefCell;
use std::rc::Rc;

/// Opens the window and shows the live pipeline until the user closes it.
///
/// # Errors
/// Wrong flags or settings; no GPU that can draw, with what to install; no display; no window on this GPU.
pub fn run(options: WindowOptions) -> anyhow::Result<()> {
    let adapter = options.words.iter().rev().find(|word| word.name == "adapter");
    let choice = adapter.map_or(AdapterChoice::Best, |word| AdapterChoice::from_word(&word.text));
    let gpu = Gpu::open(&choice).context("the window draws with the GPU; --headless needs none")?;
    let session = Rc::new(RefCell::new(Session::start(options, Some(gpu.clone()))?));
    let reopen = || Ok(Gpu::open(&choice).or_else(|_| Gpu::open(&AdapterChoice::Best))?);
    let shown = window::show(&session, gpu, reopen);
    session.borrow().keep();
    shown
}
