//! Runs the window as a process: signals, kills, and the next start. The tests need Xvfb; without it they print so and return.

use super::start::{in_folder, stereopsis};
use std::io::{BufRead as _, BufReader, Read as _};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};
use stereopsis::inside::Recording;
use stereopsis_base::testing::found as until;

/// Display of Xvfb, which ends with it.
struct Display {
    server: Child,
    name: String,
}

impl Display {
    fn open() -> Option<Self> {
        let mut server = Command::new("Xvfb");
        server.args(["-displayfd", "1", "-screen", "0", "1024x700x24", "-nolisten", "tcp"]);
        let Ok(mut server) = server.stdout(Stdio::piped()).stderr(Stdio::null()).spawn() else {
            eprintln!("skipped: there is no Xvfb");
            return None;
        };
        let mut number = String::new();
        BufReader::new(server.stdout.take().unwrap()).read_line(&mut number).unwrap();
        Some(Self { server, name: format!(":{}", number.trim()) })
    }

    /// Starts the window in this folder, which is also its home.
    fn window(&self, folder: &Path, flags: &[&str]) -> Child {
        let settings = ["live", "--engine", "cpu", "--num-disparities", "16"];
        let mut command = stereopsis(folder, &[&settings, flags].concat());
        command.env("DISPLAY", &self.name).env("RUST_LOG", "stereopsis=info");
        command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap()
    }

    /// Presses a key in the window. Returns `false` without a program for that.
    fn press(&self, folder: &Path, key: &str) -> bool {
        let mut xdotool = in_folder(folder, Command::new("xdotool"));
        xdotool.env("DISPLAY", &self.name).args([
            "search",
            "--sync",
            "--name",
            "Stereopsis",
            "windowfocus",
            "key",
            key,
        ]);
        xdotool.stdout(Stdio::null()).stderr(Stdio::null()).status().is_ok_and(|status| status.success())
    }
}

impl Drop for Display {
    fn drop(&mut self) {
        let _ = self.server.kill();
        let _ = self.server.wait();
    }
}

fn send(signal: &str, child: &Child) {
    let sent = Command::new("kill").args([&format!("-{signal}"), &child.id().to_string()]).status().unwrap();
    assert!(sent.success());
}

/// Returns the exit code, and the text of standard error.
fn end(mut child: Child) -> (Option<i32>, String) {
    let mut said = String::new();
    child.stderr.take().unwrap().read_to_string(&mut said).unwrap();
    (child.wait().unwrap().code(), said)
}

fn files(folder: &Path, ending: &str) -> Vec<PathBuf> {
    let Ok(entries) = std::fs::read_dir(folder) else { return Vec::new() };
    let paths = entries.map(|entry| entry.unwrap().path());
    paths.filter(|path| path.extension().is_some_and(|extension| extension == ending)).collect()
}

#[test]
fn signals_end_the_window_as_closing_it_does() {
    let Some(display) = Display::open() else { return };
    for signal in ["TERM", "HUP", "INT"] {
        let folder = tempfile::tempdir().unwrap();
        let config = folder.path().join("stereopsis");
        let child = display.window(folder.path(), &["--p1", "9", "--size", "160x120"]);
        until("the state", || config.join("window.toml").exists().then_some(()));
        let is_there =
            |bytes: u64| files(folder.path(), "mcap").iter().any(|file| file.metadata().unwrap().len() > bytes);
        // the first results may not exist yet
        let records = (0..20).any(|_| {
            let is_pressed = display.press(folder.path(), "shift+r");
            let end = Instant::now() + Duration::from_secs(if is_pressed { 4 } else { 0 });
            while Instant::now() < end && !is_there(0) {
                std::thread::sleep(Duration::from_millis(50));
            }
            !is_pressed || is_there(0)
        }) && is_there(0);
        if records {
            until("some pairs", || is_there(200_000).then_some(()));
        }
        send(signal, &child);
        let (code, said) = end(child);
        assert_eq!(code, Some(0), "{signal}: {said}");
        assert!(!said.contains("panicked"), "{said}");
        assert!(files(&config, "running").is_empty(), "{signal}");
        let state = std::fs::read_to_string(config.join("window.toml")).unwrap();
        assert!(state.contains("p1 = \"9\""), "{signal}: {state}");
        if records {
            assert!(said.contains("recorded raw, depth into "), "{signal}: {said}");
            let recording = Recording::open(&files(folder.path(), "mcap")[0]).unwrap();
            assert!(recording.damage().is_none() && !recording.pairs().is_empty(), "{signal}");
        }
    }
}

#[test]
fn window_after_a_kill_reports_what_it_continues() {
    let Some(display) = Display::open() else { return };
    let folder = tempfile::tempdir().unwrap();
    let config = folder.path().join("stereopsis");
    let mut child = display.window(folder.path(), &["--p1", "9"]);
    until("the state", || config.join("window.toml").exists().then_some(()));
    child.kill().unwrap();
    child.wait().unwrap();
    assert_eq!(files(&config, "running").len(), 1);
    for is_first in [true, false] {
        let child = display.window(folder.path(), &[]);
        until("its marker", || {
            files(&config, "running")
                .iter()
                .any(|file| file.display().to_string().contains(&format!("-{}-", child.id())))
                .then_some(())
        });
        std::thread::sleep(Duration::from_secs(2));
        send("TERM", &child);
        let (code, said) = end(child);
        assert_eq!(code, Some(0), "{said}");
        let words = if is_first {
            "the window was not closed the last time, and goes on with what it had"
        } else {
            "settings of last time"
        };
        assert!(said.contains(words) && said.contains("p1 9"), "{said}");
        assert!(files(&config, "running").is_empty());
    }
}
