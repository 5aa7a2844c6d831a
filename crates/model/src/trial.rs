//! First opening of a model, and its first pair, in a child process: a file that crashes the runtime, never ends or takes all memory
//! ends that process alone. The child has half the stack of this process, so that what passes has room here, and it ends with its parent
//! however that ends.

use crate::description::Description;
use crate::error::ModelError;
use crate::fit::Fit;
use crate::loaded::{LoadedModel, STACK_BYTES};
use serde::{Deserialize, Serialize};
use std::io::{self, Read};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::sync::OnceLock;
use std::time::{Duration, Instant};
use stereopsis_base::image::{Image, Luma, PictureRef};
use stereopsis_base::process;
use stereopsis_frame::engine::ModelFile;

/// Program of the child process, and its words before the file.
static PROGRAM: OnceLock<(PathBuf, &'static [&'static str])> = OnceLock::new();
/// Time after which a trial is given up.
const TIME_LIMIT: Duration = Duration::from_mins(2);
/// Time after which the child process ends by itself: later than its parent, which says why, ends it.
const OWN_LIMIT: Duration = TIME_LIMIT.saturating_add(Duration::from_secs(10));
/// Stack of a model's thread in the child process, bytes.
const TRIAL_STACK_BYTES: usize = STACK_BYTES / 2;
/// Environment variable with the stack of threads for which a library of Rust states none, bytes: those on which the built-in runtime
/// computes.
const OTHER_STACKS: &str = "RUST_MIN_STACK";
/// Stack of such a thread without the variable, bytes.
const USUAL_OTHER_STACK: usize = 2 << 20;
/// Interval at which the process is polled.
pub(crate) const POLL_INTERVAL: Duration = Duration::from_millis(5);

/// Result of a trial.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct TrialResult {
    /// Largest memory of the process, bytes, where the system tells.
    pub peak_bytes: Option<u64>,
}

/// Trial of a model in a child process, for images of one size.
#[derive(Debug)]
pub struct Trial {
    child: Child,
    file: ModelFile,
    size: (usize, usize),
    started: Instant,
    limit: Duration,
}

impl Trial {
    /// Sets the program and its words, before file, device and size, that call [`run_trial`]. Without it no model is tried first.
    pub fn set_program(program: PathBuf, words: &'static [&'static str]) {
        let _ = PROGRAM.set((program, words));
    }

    /// Starts a trial; `None` without a program, or where the system gives no process.
    pub(crate) fn start(file: &ModelFile, size: (usize, usize)) -> Option<Self> {
        let (program, words) = PROGRAM.get()?;
        let mut command = Command::new(program);
        command.args(*words).arg(&file.path).arg(file.device.word()).arg(format!("{}x{}", size.0, size.1));
        Self::of_command(command, file, size, TIME_LIMIT)
            .inspect_err(|err| log::warn!("no process to try a model: {err}"))
            .ok()
    }

    fn of_command(mut command: Command, file: &ModelFile, size: (usize, usize), limit: Duration) -> io::Result<Self> {
        let here = std::env::var(OTHER_STACKS).ok().and_then(|bytes| bytes.parse().ok()).unwrap_or(USUAL_OTHER_STACK);
        command.env(OTHER_STACKS, (here / 2).to_string());
        // the child ends with its standard input, which the system closes with this process
        let child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn()?;
        Ok(Self { child, file: file.clone(), size, started: Instant::now(), limit })
    }

    /// Tries a model on images of this size, and waits for the result; `None` without a program.
    ///
    /// # Errors
    /// The file is no model, or the process crashed or took too long.
    pub fn run(file: &ModelFile, size: (usize, usize)) -> Result<Option<TrialResult>, ModelError> {
        Self::start(file, size).map(Self::wait).transpose()
    }

    fn wait(mut self) -> Result<TrialResult, ModelError> {
        loop {
            if let Some(result) = self.result() {
                return result;
            }
            std::thread::sleep(POLL_INTERVAL);
        }
    }

    /// Returns the result once the process has ended, or has taken too long.
    pub(crate) fn result(&mut self) -> Option<Result<TrialResult, ModelError>> {
        let of_file = |err: ModelError| Some(Err(err.of_file(&self.file.path)));
        let status = match self.child.try_wait() {
            Ok(Some(status)) => status,
            Ok(None) if self.started.elapsed() <= self.limit => return None,
            _ => {
                let _ = self.child.kill();
                return of_file(ModelError::Late(self.size, self.limit));
            }
        };
        // half an answer is none
        let answer = self.child.stdout.take().and_then(|output| serde_json::from_reader(output).ok());
        let told = |answer: Result<TrialResult, String>| Some(answer.map_err(ModelError::Told));
        answer.map_or_else(|| of_file(ModelError::Crash(status)), told)
    }
}

impl Drop for Trial {
    fn drop(&mut self) {
        let _ = self.child.kill(); // it fails where the process has ended
        let _ = self.child.wait();
    }
}

/// Opens a model and runs it once on images of this size; the text on standard output is the result for [`Trial`]. It is the whole work
/// of a process, which ends with its standard input, and after a time by itself.
pub fn run_trial(file: &ModelFile, size: (usize, usize)) -> String {
    let watched = end_with(io::stdin(), OWN_LIMIT).map_err(|err| ModelError::NoThread("trial", err));
    limit_memory();
    let result = watched.and_then(|()| try_out(file, size));
    serde_json::to_string(&result.map_err(|err| err.of_file(&file.path).to_string())).unwrap_or_default()
}

/// Ends this process when the other side of a pipe is closed, and after `limit`.
fn end_with(mut pipe: impl Read + Send + 'static, limit: Duration) -> io::Result<()> {
    let thread = || std::thread::Builder::new().name("end of the trial".into());
    thread().spawn(move || {
        let _ = io::copy(&mut pipe, &mut io::sink()); // an error ends it too
        end();
    })?;
    thread().spawn(move || {
        std::thread::sleep(limit);
        end();
    })?;
    Ok(())
}

/// Ends this process at once: handlers of a usual end would wait for the threads of a library.
fn end() {
    #[cfg(unix)]
    let _ = rustix::process::kill_process(rustix::process::getpid(), rustix::process::Signal::KILL);
    std::process::exit(1);
}

fn try_out(file: &ModelFile, (width, height): (usize, usize)) -> Result<TrialResult, ModelError> {
    let mut model = LoadedModel::with_stack(TRIAL_STACK_BYTES, file, None)?;
    let description = Description::of_model(&file.path, &model)?;
    let grey = Luma::U8(Image::from_fn(width, height, |x, y| (x * 37 + y * 91) as u8));
    let fit = Fit::new((width, height), &description)?;
    let pair = [PictureRef::from(&grey); 2];
    let output = model.run(fit.inputs(pair, &description), &description.output)?;
    fit.disparities(&output, &description)?;
    Ok(TrialResult { peak_bytes: process::peak_bytes() })
}

/// Limits the memory of this process to the free memory, so that the system ends no other program.
fn limit_memory() {
    #[cfg(target_os = "linux")]
    if let Some(free) = process::memory::Places::usual().free() {
        let limit = rustix::process::Rlimit { current: Some(free.bytes), maximum: Some(free.bytes) };
        let _ = rustix::process::setrlimit(rustix::process::Resource::Data, limit);
    }
}

#[cfg(test)]
#[cfg(unix)]
mod tests {
    use super::*;
    use crate::runtime::Opened;
    use std::fs::{File, TryLockError};
    use std::os::unix::process::ExitStatusExt as _;
    use std::path::Path;
    use stereopsis_frame::engine::ModelDevice;

    /// Longest wait of a test: below the minute after which a process of tests prints that it is slow, and ends if nothing reads that.
    const PATIENT: Duration = Duration::from_secs(40);
    /// Environment variables of the processes of the tests.
    const LOCK: &str = "LOCK_OF_TRIAL";
    const LIMIT_MS: &str = "LIMIT_MS_OF_TRIAL";

    fn trial_of(command: Command, limit: Duration) -> Trial {
        let file = ModelFile { path: "net.onnx".into(), device: ModelDevice::BuiltIn };
        Trial::of_command(command, &file, (8, 8), limit).unwrap()
    }

    fn result_of(script: &str, limit: Duration) -> Result<TrialResult, ModelError> {
        let mut command = Command::new("sh");
        command.args(["-c", script]);
        trial_of(command, limit).wait()
    }

    /// Returns the command of another process of these tests, which runs one of the functions below.
    fn process(function: &str) -> Command {
        let mut command = Command::new(std::env::current_exe().unwrap());
        let name = module_path!().split_once("::").unwrap().1;
        command.args(["--exact", &format!("{name}::{function}"), "--ignored", "--nocapture"]);
        command
    }

    #[test]
    fn tells_results_errors_crashes_and_endless_work() {
        assert_eq!(result_of(r#"echo '{"Ok":{"peak_bytes":7}}'"#, PATIENT).unwrap().peak_bytes, Some(7));
        assert_eq!(result_of(r#"echo '{"Err":"no model"}'"#, PATIENT).unwrap_err().to_string(), "no model");
        let crash = result_of("kill -SEGV $$", PATIENT).unwrap_err().to_string();
        assert!(crash.starts_with("model net.onnx: the process") && crash.contains("signal: 11"), "{crash}");
        let endless = result_of("exec sleep 60", Duration::from_millis(50)).unwrap_err().to_string();
        assert!(endless.contains("the first pair of 8x8 px took longer"), "{endless}");
    }

    #[test]
    fn threads_of_a_trial_have_half_the_stack() {
        let here = std::env::var(OTHER_STACKS).map_or(2 << 20, |bytes| bytes.parse().unwrap());
        let there = result_of(&format!(r#"echo "{{\"Ok\":{{\"peak_bytes\":${OTHER_STACKS}}}}}""#), PATIENT);
        assert_eq!(there.unwrap().peak_bytes, Some(here / 2));
        assert_eq!(2 * TRIAL_STACK_BYTES, STACK_BYTES);
    }

    #[test]
    fn a_model_deeper_than_the_stack_is_refused_in_words() {
        let text = trial_of(process("too_deep"), PATIENT).wait().unwrap_err().to_string();
        assert!(text.contains("deeper than the stack") && text.contains("another export"), "{text}");
    }

    #[test]
    #[ignore = "is run by the test above in a process of its own, which it ends"]
    fn too_deep() {
        let open = || -> Opened { Err(ModelError::Told(depth(TRIAL_STACK_BYTES).to_string())) };
        LoadedModel::on_thread(TRIAL_STACK_BYTES, open).err().unwrap();
    }

    /// Takes at least so many bytes of the stack.
    fn depth(bytes: usize) -> usize {
        let taken = std::hint::black_box([0_u8; 4096]);
        if bytes < taken.len() {
            0
        } else {
            1 + depth(bytes - taken.len()) + usize::from(std::hint::black_box(taken)[0])
        }
    }

    #[test]
    fn a_trial_ends_when_its_parent_is_killed() {
        let folder = tempfile::tempdir().unwrap();
        let lock = folder.path().join("lock");
        let parent = process("parent").env(LOCK, &lock).env(LIMIT_MS, "100000").status().unwrap();
        assert_eq!(parent.signal(), Some(9), "{parent}");
        assert!(within_patience(|| !is_held(&lock)), "the trial goes on without its parent");
    }

    #[test]
    fn a_trial_ends_by_itself_after_a_time() {
        let folder = tempfile::tempdir().unwrap();
        let lock = folder.path().join("lock");
        let mut command = process("sleeps");
        let mut child = command.env(LOCK, &lock).env(LIMIT_MS, "300").stdin(Stdio::piped()).spawn().unwrap();
        assert!(within_patience(|| child.try_wait().unwrap().is_some()), "it is endless");
        assert!(lock.exists());
    }

    #[test]
    #[ignore = "is run by a test above in a process of its own"]
    fn parent() {
        let lock = PathBuf::from(std::env::var_os(LOCK).unwrap());
        let _trial = trial_of(process("sleeps"), PATIENT);
        assert!(within_patience(|| is_held(&lock)));
        end();
    }

    #[test]
    #[ignore = "is run by a test above in a process of its own, which it ends"]
    fn sleeps() {
        let lock = File::create(std::env::var_os(LOCK).unwrap()).unwrap();
        lock.lock().unwrap();
        let limit_ms = std::env::var(LIMIT_MS).unwrap().parse().unwrap();
        end_with(io::stdin(), Duration::from_millis(limit_ms)).unwrap();
        std::thread::sleep(2 * PATIENT);
    }

    /// Whether a process has the lock of this file, which the system takes back with the end of that process.
    fn is_held(lock: &Path) -> bool {
        File::open(lock).is_ok_and(|file| matches!(file.try_lock(), Err(TryLockError::WouldBlock)))
    }

    fn within_patience(mut is_so: impl FnMut() -> bool) -> bool {
        let end = Instant::now() + PATIENT;
        while !is_so() {
            if Instant::now() > end {
                return false;
            }
            std::thread::sleep(POLL_INTERVAL);
        }
        true
    }
}
