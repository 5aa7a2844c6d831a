//! Decoder programs `ffmpeg`, `ffprobe` and `rpicam-vid`, which run while their frames are wanted.

use crate::console;
use parking_lot::Mutex;
use std::io::{BufRead as _, BufReader, Read};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdout, Command, Stdio};
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::{Duration, Instant};
use stereopsis_capture::{CaptureError, VideoInput};

/// Paths of the programs.
#[derive(Clone, Debug)]
pub(crate) struct Programs {
    pub(crate) ffmpeg: PathBuf,
    pub(crate) ffprobe: PathBuf,
    /// Path of the Raspberry Pi's camera program.
    pub(crate) rpicam: PathBuf,
}

impl Default for Programs {
    /// Returns the programs by name, found as the shell finds them.
    fn default() -> Self {
        Self { ffmpeg: "ffmpeg".into(), ffprobe: "ffprobe".into(), rpicam: "rpicam-vid".into() }
    }
}

/// Longest kept line of a program's messages, bytes.
const MAX_LINE: usize = 300;
/// Time limit of the last message after a program's output has ended.
const LAST_WORDS: Duration = Duration::from_millis(300);

/// Running program. It ends with the last handle.
#[derive(Clone)]
pub(crate) struct Running(Arc<Inner>);

struct Inner {
    child: Mutex<Child>,
    /// Last message.
    said: Arc<Mutex<String>>,
    /// Thread that reads the messages to their end.
    listener: JoinHandle<()>,
}

impl Running {
    /// Starts a program that outputs frames of this input.
    ///
    /// # Errors
    /// The program is not installed, or cannot be started.
    pub(crate) fn start(mut command: Command, input: &VideoInput) -> Result<(Self, ChildStdout), CaptureError> {
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().map_err(|err| missing(Path::new(command.get_program()), input, &err))?;
        let (Some(stdout), Some(stderr)) = (child.stdout.take(), child.stderr.take()) else {
            return Err(CaptureError::Camera(format!("{input}: its decoder has no output")));
        };
        let said = Arc::<Mutex<String>>::default();
        let (heard, address) = (Arc::clone(&said), input.clone());
        let listen = move || {
            let mut reader = BufReader::new(stderr);
            let mut line = Vec::new();
            // a line without an end is cut, to bound the memory
            while (&mut reader).take(1 << 16).read_until(b'\n', &mut line).is_ok_and(|read| read > 0) {
                let text = address.without_password(String::from_utf8_lossy(&line).trim());
                if !text.is_empty() {
                    *heard.lock() = console::foreign(&text).chars().take(MAX_LINE).collect();
                }
                line.clear();
            }
        };
        let listener = std::thread::Builder::new().name("decoder's messages".into()).spawn(listen);
        let listener = listener.map_err(|err| {
            let _ = child.kill().and_then(|()| child.wait()); // no zombie is left
            CaptureError::Camera(format!("{input}: cannot start a thread: {err}"))
        })?;
        Ok((Self(Arc::new(Inner { child: Mutex::new(child), said, listener })), stdout))
    }

    /// Kills the program, which also ends its output.
    pub(crate) fn kill(&self) {
        let _ = self.0.child.lock().kill(); // it may have ended
    }

    /// Returns the last message as the end of a sentence, or nothing. Waits for it, because the output may end before the messages.
    pub(crate) fn said(&self) -> String {
        let patience = Instant::now() + LAST_WORDS;
        while !self.0.listener.is_finished() && Instant::now() < patience {
            std::thread::sleep(Duration::from_millis(2));
        }
        let said = self.0.said.lock();
        if said.is_empty() { String::new() } else { format!(" ({said})") }
    }
}

impl Drop for Inner {
    fn drop(&mut self) {
        let child = self.child.get_mut();
        let _ = child.kill();
        let _ = child.wait(); // no zombie is left
    }
}

/// Builds the error of a program that cannot be started.
pub(crate) fn missing(program: &Path, input: &VideoInput, err: &std::io::Error) -> CaptureError {
    let name = program.file_name().unwrap_or(program.as_os_str()).to_string_lossy().into_owned();
    let advice = match err.kind() {
        std::io::ErrorKind::NotFound if name.starts_with("rpicam") => {
            "it is not installed; it belongs to Raspberry Pi OS (sudo apt install rpicam-apps)".to_owned()
        }
        std::io::ErrorKind::NotFound => {
            "it is not installed; install ffmpeg (Debian, Ubuntu: sudo apt install ffmpeg; macOS: brew install ffmpeg; Windows: winget \
             install ffmpeg)"
                .to_owned()
        }
        _ => err.to_string(),
    };
    CaptureError::Camera(format!("{input} is decoded by {name}, which cannot be started: {advice}"))
}
