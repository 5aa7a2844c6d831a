//! Queries of GPU drivers in a child process: a driver that hangs or crashes does not affect a window that may be recording.

use super::adapters::{self, GpuContext};
use super::patience::ProbeFailure;
use super::report::Check;
use super::self_test;
use super::variables::{Variables, has_display, variables};
use crossbeam_channel::{Receiver, RecvTimeoutError, bounded};
use std::io::{self, BufRead as _, BufReader, PipeReader};
use std::process::{Command, Stdio};
use std::thread;
use std::time::Duration;
use stereopsis_gpu::Gpu;

/// Arguments with which the program prints each check of the drivers as a line of JSON.
pub(super) const QUERY: [&str; 2] = ["doctor", "--drivers"];

/// Queries the drivers in this process, and reports each check as soon as it is known.
pub fn ask(mut tell: impl FnMut(Check)) {
    let (adapters, variables) = (Gpu::list(), variables());
    let context = GpuContext { has_display: has_display(&variables), has_loader: has_vulkan_loader(&variables) };
    adapters::checks(&adapters, &context).into_iter().for_each(&mut tell);
    if adapters.iter().any(|adapter| adapter.misfit().is_none()) {
        self_test::gpu().into_iter().for_each(tell);
    }
}

/// Runs the child process and reports its checks. The outer error is that of starting it; the inner one is the reason for an early
/// end: `limit` passed without a check, or the process ended.
pub(super) fn query_in_child(
    mut process: Command,
    limit: Duration,
    mut tell: impl FnMut(Check),
) -> io::Result<Result<(), ProbeFailure>> {
    let (answers, output) = io::pipe()?;
    let lines = lines_of(answers)?;
    let mut child = process.stdin(Stdio::null()).stdout(output).spawn()?;
    drop(process); // holds a write end, without which the pipe closes when the child ends
    let ended = loop {
        match lines.recv_timeout(limit) {
            // drivers may print lines too
            Ok(line) => serde_json::from_slice(&line).into_iter().for_each(&mut tell),
            Err(ended) => break ended,
        }
    };
    if ended == RecvTimeoutError::Timeout {
        let _ = child.kill(); // it fails when the process has just ended
        // a process that waits for a device ends late, or never
        thread::Builder::new().name("end of drivers".into()).spawn(move || child.wait())?;
        return Ok(Err(ProbeFailure::Late(limit)));
    }
    let status = child.wait()?;
    Ok(if status.success() { Ok(()) } else { Err(ProbeFailure::Ended(status)) })
}

/// Reads the lines of a pipe on a thread until it closes; they need not be text.
fn lines_of(pipe: PipeReader) -> io::Result<Receiver<Vec<u8>>> {
    let (sender, lines) = bounded(0);
    thread::Builder::new().name("answers of drivers".into()).spawn(move || {
        let _ = BufReader::new(pipe).split(b'\n').map_while(Result::ok).try_for_each(|line| sender.send(line));
    })?;
    Ok(lines)
}

/// Returns whether the Vulkan loader is installed; systems other than Linux have their own.
#[cfg(target_os = "linux")]
fn has_vulkan_loader(variables: &Variables) -> bool {
    crate::libraries::Libraries::of(std::path::Path::new("/"), variables).has("libvulkan.so.1")
}

#[cfg(not(target_os = "linux"))]
fn has_vulkan_loader(_: &Variables) -> bool {
    true
}

#[cfg(test)]
#[cfg(unix)]
mod tests {
    use super::*;
    use crate::State;

    /// Runs shell commands as the child process; returns its checks and its end.
    fn asked(script: &str, limit: Duration) -> (Vec<String>, Result<(), ProbeFailure>) {
        let mut texts = Vec::new();
        let mut process = Command::new("sh");
        process.args(["-c", script]);
        let end = query_in_child(process, limit, |check| {
            assert_eq!((check.area.as_ref(), check.state), ("gpu", State::Ok));
            texts.push(check.text);
        });
        (texts, end.unwrap())
    }

    const CHECK: &str =
        r#"echo '{"area": "gpu", "state": "ok", "text": "0: a GPU", "todo": null}'; printf 'from a \377 driver\n'; "#;

    #[test]
    fn keeps_the_checks_of_drivers_that_hang_or_crash() {
        let patient = Duration::from_secs(20);
        let one = vec!["0: a GPU".to_owned()];
        assert_eq!(asked(CHECK, patient), (one.clone(), Ok(())));
        let (texts, end) = asked(&format!("{CHECK} kill -SEGV $$"), patient);
        assert_eq!(texts, one);
        let why = end.unwrap_err().to_string();
        assert!(why.starts_with("a driver ended the process that asked it (signal: 11"), "{why}");
        let short = Duration::from_millis(300);
        assert_eq!(asked(&format!("{CHECK} exec sleep 20"), short), (one, Err(ProbeFailure::Late(short))));
    }
}
