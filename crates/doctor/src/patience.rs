//! Runs work with a time limit, because a driver or disk may hang.

use crossbeam_channel::{RecvTimeoutError, bounded};
use std::fmt;
use std::process::ExitStatus;
use std::thread;
use std::time::Duration;

/// Reason for a missing answer of a probe.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ProbeFailure {
    /// The time limit passed.
    Late(Duration),
    /// A driver ended the child process.
    Ended(ExitStatus),
    Failed,
    NoThread,
}

impl fmt::Display for ProbeFailure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Late(limit) => write!(f, "there was no answer within {} s", limit.as_secs_f64()),
            Self::Ended(status) => write!(f, "a driver ended the process that asked it ({status})"),
            Self::Failed => f.write_str("the check failed unexpectedly"),
            Self::NoThread => f.write_str("the system starts no more threads for this program"),
        }
    }
}

/// Runs `work` on a named thread. A late thread keeps running; its result is dropped.
pub(super) fn within<T: Send + 'static>(
    limit: Duration,
    name: &str,
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<T, ProbeFailure> {
    let (sender, answer) = bounded(1);
    let spawned = thread::Builder::new().name(format!("check of {name}")).spawn(move || {
        let _ = sender.send(work()); // fails when the limit has passed
    });
    spawned.map_err(|_| ProbeFailure::NoThread)?;
    answer.recv_timeout(limit).map_err(|err| match err {
        RecvTimeoutError::Timeout => ProbeFailure::Late(limit),
        RecvTimeoutError::Disconnected => ProbeFailure::Failed,
    })
}
