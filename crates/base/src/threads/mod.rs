//! Threads: two kinds of work on one of its own, the shutdown of those that a device may block, and the error of those that panicked.
//!
//! [`Latest`] answers the newest of many requests, [`Task`] goes on with one work until it ends. Where there are no threads, their caller
//! runs both step by step.

mod latest;
mod task;

pub use latest::{Answers, Latest, Work};
pub use task::{Progress, Running, Task};

use std::fmt;
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// Time after which a stopped thread that is still blocked is detached.
const SHUTDOWN_TIMEOUT: Duration = Duration::from_millis(500);

/// Error of a thread that panicked, by the name of its work.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Panicked(pub String);

impl fmt::Display for Panicked {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{} has died, which is a fault of this program: the lines before this one say where; please report them",
            self.0
        )
    }
}

impl std::error::Error for Panicked {}

/// Checks that a thread without further output has not panicked; it waits for its end.
///
/// # Errors
/// The thread panicked, so that its output is incomplete.
pub fn check_ended(thread: Option<JoinHandle<()>>, what: &str) -> Result<(), Panicked> {
    let panicked = thread.is_some_and(|thread| thread.join().is_err());
    if panicked { Err(Panicked(what.to_owned())) } else { Ok(()) }
}

/// Drops what may block while it ends on a thread of its own.
pub fn drop_elsewhere<T: Send + 'static>(name: &str, ending: T) {
    if let Err(err) = std::thread::Builder::new().name(name.to_owned()).spawn(move || drop(ending)) {
        log::warn!("no thread to end the {name}: {err}");
    }
}

/// Waits at most half a second for a stopped thread, then detaches it.
pub fn join_or_detach(thread: JoinHandle<()>, what: &str) {
    join_until(Instant::now() + SHUTDOWN_TIMEOUT, thread, what);
}

/// Waits at most until `deadline` for a stopped thread, then detaches it.
pub fn join_until(deadline: Instant, thread: JoinHandle<()>, what: &str) {
    while !thread.is_finished() && Instant::now() < deadline {
        std::thread::sleep(Duration::from_millis(2));
    }
    if !thread.is_finished() {
        log::warn!("{what} does not answer and is left behind");
    } else if thread.join().is_err() {
        log::error!("{what} panicked");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_panicked_thread_is_an_error() {
        let named = || std::thread::Builder::new().name("test".into());
        let thread = |panics: bool| named().spawn(move || assert!(!panics, "a fault")).ok();
        assert!(check_ended(thread(false), "it").is_ok() && check_ended(None, "it").is_ok());
        assert!(check_ended(thread(true), "it").unwrap_err().to_string().contains("it has died"));
    }
}
