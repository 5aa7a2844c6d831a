//! Decoder programs `ffmpeg`, `ffprobe` and `rpicam-vid` as child processes. Each has a time limit for every frame, and is killed when its
//! frames are no longer used, and when this program ends, however it ends.

use crate::video::error::{ReadError, VideoError};
use parking_lot::{Condvar, Mutex};
use std::collections::VecDeque;
use std::io::{self, BufRead as _, BufReader, Read, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdout, Command, ExitStatus, Stdio};
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::{Duration, Instant};
use stereopsis_base::console;
use stereopsis_frame::VideoInput;

/// Names of the programs, and limits of their work.
#[derive(Clone, Debug)]
pub(crate) struct Programs {
    pub(crate) ffmpeg: PathBuf,
    pub(crate) ffprobe: PathBuf,
    pub(crate) rpicam: PathBuf,
    pub(crate) limits: Limits,
}

/// Time limits of programs.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Limits {
    /// Limit of a stream's first frame, of each frame of a file, and of the question what a file is: a network camera authenticates, and
    /// waits for a whole image.
    pub(crate) first: Duration,
    /// Maximum time without a frame, after which a live stream is restarted, and the silence of a pipe is reported.
    pub(crate) silence: Duration,
    /// Pause before a live stream is restarted.
    pub(crate) pause: Duration,
}

impl Default for Programs {
    fn default() -> Self {
        let [first, silence, pause] = [20, 10, 1].map(Duration::from_secs);
        let limits = Limits { first, silence, pause };
        Self { ffmpeg: "ffmpeg".into(), ffprobe: "ffprobe".into(), rpicam: "rpicam-vid".into(), limits }
    }
}

/// Maximum length of a kept message, characters.
const MAX_MESSAGE: usize = 300;
/// Maximum number of kept messages.
const MAX_MESSAGES: usize = 64;
/// Maximum length of an answer, bytes.
const MAX_ANSWER: u64 = 1 << 20;
/// Time limit of the last message after a program's output has ended.
const MESSAGE_TIMEOUT: Duration = Duration::from_millis(300);
/// Time limit of a program's end after its output has ended.
const END_TIMEOUT: Duration = Duration::from_secs(5);
const POLL_INTERVAL: Duration = Duration::from_millis(2);

/// Starter of the programs of one input, one at a time.
#[derive(Clone, Default)]
pub(crate) struct Launcher(Arc<Mutex<Launched>>);

#[derive(Default)]
struct Launched {
    is_closed: bool,
    running: Option<RunningProgram>,
}

impl Launcher {
    /// Starts a program that outputs frames of this input, in place of the one before it. Fails where it is not installed, or cannot be
    /// started.
    pub(crate) fn start(
        &self,
        command: Command,
        input: &VideoInput,
    ) -> Result<(RunningProgram, ChildStdout), VideoError> {
        self.end();
        let mut launched = self.0.lock();
        if launched.is_closed {
            return Err(VideoError::Closed(input.clone()));
        }
        let (running, output) = RunningProgram::start(command, input)?;
        launched.running = Some(running.clone());
        Ok((running, output))
    }

    /// Runs a program to its end, and returns what it prints. Fails like [`Self::start`].
    pub(crate) fn ask(
        &self,
        command: Command,
        input: &VideoInput,
        limit: Duration,
    ) -> Result<(RunningProgram, Result<Vec<u8>, ReadError>), VideoError> {
        let (running, output) = self.start(command, input)?;
        let mut answer = Vec::new();
        let read = running.within(limit, || output.take(MAX_ANSWER).read_to_end(&mut answer));
        self.end();
        let read = read.and_then(|read| match read {
            Ok(bytes) if bytes as u64 == MAX_ANSWER => Err(ReadError::Endless),
            read => Ok(read.map(|_| answer)?),
        });
        Ok((running, read))
    }

    /// Kills the program that runs.
    pub(crate) fn end(&self) {
        let running = self.0.lock().running.take();
        if let Some(running) = running {
            running.kill();
        }
    }

    /// Kills the program that runs, and lets no other begin.
    pub(crate) fn close(&self) {
        self.0.lock().is_closed = true;
        self.end();
    }

    pub(crate) fn is_closed(&self) -> bool {
        self.0.lock().is_closed
    }

    /// Returns the last message of the program that runs, like [`RunningProgram::last_message`].
    pub(crate) fn last_message(&self) -> String {
        let running = self.0.lock().running.clone();
        running.as_ref().map(RunningProgram::last_message).unwrap_or_default()
    }
}

/// Running program, which is killed with the last handle.
#[derive(Clone)]
pub(crate) struct RunningProgram(Arc<Process>);

struct Process {
    own: Arc<Mutex<OwnChild>>,
    messages: Arc<Mutex<VecDeque<String>>>,
    /// Thread that reads the messages to their end.
    listener: JoinHandle<()>,
    deadline: Arc<Deadline>,
    guard: Option<Guard>,
}

/// Child process, and how it ended once that was read: its number may belong to another process from then on.
struct OwnChild {
    child: Child,
    ended: Option<ExitStatus>,
}

/// Time by which output must have come.
#[derive(Default)]
struct Deadline {
    wanted: Mutex<Wanted>,
    changed: Condvar,
}

#[derive(Clone, Copy, Default, PartialEq)]
enum Wanted {
    #[default]
    Nothing,
    Output(Instant),
    /// The deadline has passed, and the program is killed.
    Late,
    /// The program is no longer used.
    End,
}

impl RunningProgram {
    fn start(mut command: Command, input: &VideoInput) -> Result<(Self, ChildStdout), VideoError> {
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        in_own_group(&mut command);
        let mut guard = Guard::start();
        let mut child = command.spawn().map_err(|cause| no_program(Path::new(command.get_program()), input, cause))?;
        let output = (child.stdout.take(), child.stderr.take());
        if let Some(guard) = &mut guard {
            guard.watch(child.id());
        }
        let deadline = Arc::<Deadline>::default();
        let own = Arc::new(Mutex::new(OwnChild { child, ended: None }));
        let messages = Arc::<Mutex<VecDeque<String>>>::default();
        let start = || {
            let (stdout, stderr) = (output.0?, output.1?);
            let listen = listen(stderr, Arc::clone(&messages), input.clone());
            let listener = std::thread::Builder::new().name("decoder's messages".into()).spawn(listen).ok()?;
            let watch = watch(Arc::clone(&deadline), Arc::clone(&own));
            std::thread::Builder::new().name("decoder's limit".into()).spawn(watch).ok()?;
            Some((stdout, listener))
        };
        let Some((stdout, listener)) = start() else {
            drop(guard);
            own.lock().end(); // no zombie is left
            return Err(VideoError::NoDecoderThread(input.clone()));
        };
        Ok((Self(Arc::new(Process { own, messages, listener, deadline, guard })), stdout))
    }

    /// Kills the program, which also ends its output.
    pub(crate) fn kill(&self) {
        self.0.own.lock().kill();
    }

    /// Reads output of the program. Fails, and kills the program, where that takes longer than `limit`.
    pub(crate) fn within<T>(&self, limit: Duration, read: impl FnOnce() -> T) -> Result<T, ReadError> {
        self.0.deadline.set(Wanted::Output(Instant::now() + limit));
        let read = read();
        match self.0.deadline.set(Wanted::Nothing) {
            Wanted::Late => Err(ReadError::Silent(limit.as_secs())),
            _ => Ok(read),
        }
    }

    /// Waits for the end of a program whose output has ended, and returns whether it reports no error.
    pub(crate) fn has_succeeded(&self) -> bool {
        let deadline = Instant::now() + END_TIMEOUT;
        loop {
            match self.0.own.lock().try_wait() {
                None if Instant::now() < deadline => {}
                ended => return ended.is_some_and(|ended| ended.success()),
            }
            std::thread::sleep(POLL_INTERVAL);
        }
    }

    /// Returns the last messages, the newest at the end. Waits for them, because the output may end before the messages.
    pub(crate) fn messages(&self) -> Vec<String> {
        let deadline = Instant::now() + MESSAGE_TIMEOUT;
        while !self.0.listener.is_finished() && Instant::now() < deadline {
            std::thread::sleep(POLL_INTERVAL);
        }
        self.0.messages.lock().iter().cloned().collect()
    }

    /// Returns the last message as the end of a sentence, or nothing.
    pub(crate) fn last_message(&self) -> String {
        self.messages().pop().map(|message| format!(" ({message})")).unwrap_or_default()
    }
}

impl OwnChild {
    /// Kills the program with its own children, which may hold its output open.
    fn kill(&mut self) {
        if self.ended.is_some() {
            return;
        }
        #[cfg(unix)]
        if let Some(group) = i32::try_from(self.child.id()).ok().and_then(rustix::process::Pid::from_raw) {
            let _ = rustix::process::kill_process_group(group, rustix::process::Signal::KILL); // it may have ended
        }
        let _ = self.child.kill();
    }

    fn try_wait(&mut self) -> Option<ExitStatus> {
        if self.ended.is_none() {
            self.ended = self.child.try_wait().ok().flatten();
        }
        self.ended
    }

    fn end(&mut self) {
        self.kill();
        let _ = self.child.wait(); // no zombie is left
    }
}

impl Deadline {
    /// Sets what is wanted, and returns what was.
    fn set(&self, wanted: Wanted) -> Wanted {
        let before = std::mem::replace(&mut *self.wanted.lock(), wanted);
        self.changed.notify_all();
        before
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        self.deadline.set(Wanted::End);
        self.guard = None; // before the child, whose number may belong to another process afterwards
        self.own.lock().end();
    }
}

/// Returns the work of a thread that keeps the last messages of a program.
fn listen(stderr: impl Read, messages: Arc<Mutex<VecDeque<String>>>, address: VideoInput) -> impl FnOnce() {
    move || {
        let mut reader = BufReader::new(stderr);
        let mut line = Vec::new();
        // a line without an end is cut, to bound the memory
        while (&mut reader).take(1 << 16).read_until(b'\n', &mut line).is_ok_and(|read| read > 0) {
            let text = address.without_password(String::from_utf8_lossy(&line).trim());
            if !text.is_empty() {
                let mut messages = messages.lock();
                if messages.len() == MAX_MESSAGES {
                    messages.pop_front();
                }
                messages.push_back(console::foreign(&text).chars().take(MAX_MESSAGE).collect());
            }
            line.clear();
        }
    }
}

/// Returns the work of a thread that kills a program which misses its deadline.
fn watch(deadline: Arc<Deadline>, own: Arc<Mutex<OwnChild>>) -> impl FnOnce() {
    move || {
        let mut wanted = deadline.wanted.lock();
        loop {
            match *wanted {
                Wanted::Nothing => deadline.changed.wait(&mut wanted),
                Wanted::Output(until) if Instant::now() < until => {
                    deadline.changed.wait_until(&mut wanted, until);
                }
                Wanted::Output(_) => {
                    *wanted = Wanted::Late;
                    own.lock().kill();
                    return;
                }
                Wanted::Late | Wanted::End => return,
            }
        }
    }
}

/// Lets a program be killed with its own children, and keeps the terminal's Ctrl-C from it: it ends with its source.
fn in_own_group(command: &mut Command) {
    #[cfg(unix)]
    std::os::unix::process::CommandExt::process_group(command, 0);
    #[cfg(not(unix))]
    let _ = command;
}

/// Process that kills a decoder with its children when this program has ended without doing so, which closes the pipe between them. On
/// Windows there is none, and a decoder ends when it next writes.
struct Guard(Child);

impl Guard {
    /// Starts a guard. It begins before the decoder, so that none is left without one.
    fn start() -> Option<Self> {
        if !cfg!(unix) {
            return None;
        }
        let mut command = Command::new("sh");
        command.args(["-c", "read -r group && ! read -r line && kill -9 -\"$group\""]);
        command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null());
        in_own_group(&mut command);
        command.spawn().inspect_err(|err| log::debug!("no guard of a decoder: {err}")).ok().map(Self)
    }

    fn watch(&mut self, group: u32) {
        let written = self.0.stdin.as_mut().map(|stdin| writeln!(stdin, "{group}"));
        written.into_iter().filter_map(Result::err).for_each(|err| log::debug!("no guard of a decoder: {err}"));
    }
}

impl Drop for Guard {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn no_program(program: &Path, input: &VideoInput, cause: io::Error) -> VideoError {
    let name = program.file_name().unwrap_or(program.as_os_str()).to_string_lossy().into_owned();
    VideoError::NoProgram { input: input.clone(), name, cause }
}
