//! Shutdown of the sources' threads, and the errors of threads that have panicked.

use super::CaptureError;
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// Time to wait for a stopped thread; a thread that a device blocks longer is detached.
const SHUTDOWN_TIMEOUT: Duration = Duration::from_millis(500);

/// Returns the error message of a thread that has panicked: a fault of this program, whatever its input.
pub fn panic_message(what: &str) -> String {
    format!(
        "{what} has died, which is a fault of this program: the lines before this one say where; please report them"
    )
}

/// Checks how a thread without further output ended.
///
/// # Errors
/// It has panicked, so that its output is incomplete.
pub fn check_ended(thread: Option<JoinHandle<()>>, what: &str) -> Result<(), CaptureError> {
    let panicked = thread.is_some_and(|thread| thread.join().is_err());
    if panicked { Err(CaptureError::File(panic_message(what))) } else { Ok(()) }
}

/// Waits half a second for a stopped thread, then detaches it: a blocked camera does not block others.
pub fn join_or_detach(thread: JoinHandle<()>, what: &str) {
    join_until(Instant::now() + SHUTDOWN_TIMEOUT, thread, what);
}

/// Waits for a stopped thread until `deadline`, then detaches it.
pub(super) fn join_until(deadline: Instant, thread: JoinHandle<()>, what: &str) {
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
    fn a_thread_that_panicked_is_an_error_and_one_that_ended_is_none() {
        let named = || std::thread::Builder::new().name("test".into());
        let thread = |panics: bool| named().spawn(move || assert!(!panics, "a fault")).ok();
        assert!(check_ended(thread(false), "it").is_ok() && check_ended(None, "it").is_ok());
        assert!(check_ended(thread(true), "it").unwrap_err().to_string().contains("it has died"));
    }
}
