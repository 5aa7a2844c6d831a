//! Decoder programs `ffmpeg`, `ffprobe` and `rpicam-vid` as child processes, which are killed when their frames are no longer used.

use crate::console;
use parking_lot::Mutex;
use std::io::{BufRead as _, BufReader, Read};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdout, Command, Stdio};
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::{Duration, Instant};
use stereopsis_capture::{CaptureError, VideoInput};

#[derive(Clone, Debug)]
pub(crate) struct Programs {
    pub(crate) ffmpeg: PathBuf,
    pub(crate) ffprobe: PathBuf,
    pub(crate) rpicam: PathBuf,
}

impl Default for Programs {
    fn default() -> Self {
        Self { ffmpeg: "ffmpeg".into(), ffprobe: "ffprobe".into(), rpicam: "rpicam-vid".into() }
    }
}

/// Maximum length of a kept message, characters.
const MAX_MESSAGE: usize = 300;
/// Time limit of the last message after a program's output has ended.
const MESSAGE_TIMEOUT: Duration = Duration::from_millis(300);

/// Running program, which is killed with the last handle.
#[derive(Clone)]
pub(crate) struct RunningProgram(Arc<Process>);

struct Process {
    child: Mutex<Child>,
    last_message: Arc<Mutex<String>>,
    /// Thread that reads the messages to their end.
    listener: JoinHandle<()>,
}

impl RunningProgram {
    /// Starts a program that outputs frames of this input. Fails where it is not installed, or cannot be started.
    pub(crate) fn start(mut command: Command, input: &VideoInput) -> Result<(Self, ChildStdout), CaptureError> {
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().map_err(|err| missing(Path::new(command.get_program()), input, &err))?;
        let (Some(stdout), Some(stderr)) = (child.stdout.take(), child.stderr.take()) else {
            return Err(CaptureError::Camera(format!("{input}: its decoder has no output")));
        };
        let last_message = Arc::<Mutex<String>>::default();
        let (written_message, address) = (Arc::clone(&last_message), input.clone());
        let listen = move || {
            let mut reader = BufReader::new(stderr);
            let mut line = Vec::new();
            // a line without an end is cut, to bound the memory
            while (&mut reader).take(1 << 16).read_until(b'\n', &mut line).is_ok_and(|read| read > 0) {
                let text = address.without_password(String::from_utf8_lossy(&line).trim());
                if !text.is_empty() {
                    *written_message.lock() = console::foreign(&text).chars().take(MAX_MESSAGE).collect();
                }
                line.clear();
            }
        };
        let listener = std::thread::Builder::new().name("decoder's messages".into()).spawn(listen);
        let listener = listener.map_err(|err| {
            let _ = child.kill().and_then(|()| child.wait()); // no zombie is left
            CaptureError::Camera(format!("{input}: cannot start a thread: {err}"))
        })?;
        Ok((Self(Arc::new(Process { child: Mutex::new(child), last_message, listener })), stdout))
    }

    /// Kills the program, which also ends its output.
    pub(crate) fn kill(&self) {
        let _ = self.0.child.lock().kill(); // it may have ended
    }

    /// Returns the last message as the end of a sentence, or nothing. Waits for it, because the output may end before the messages.
    pub(crate) fn last_message(&self) -> String {
        let deadline = Instant::now() + MESSAGE_TIMEOUT;
        while !self.0.listener.is_finished() && Instant::now() < deadline {
            std::thread::sleep(Duration::from_millis(2));
        }
        let last_message = self.0.last_message.lock();
        if last_message.is_empty() { String::new() } else { format!(" ({last_message})") }
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        let child = self.child.get_mut();
        let _ = child.kill();
        let _ = child.wait(); // no zombie is left
    }
}

/// Returns the error of a program that cannot be started.
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
