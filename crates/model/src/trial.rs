//! First opening of a model, and its first pair, in a child process: a file that crashes the runtime, never ends or takes all memory
//! ends that process alone.

use crate::description::Description;
use crate::error::ModelError;
use crate::fit::Fit;
use crate::loaded::LoadedModel;
use serde::{Deserialize, Serialize};
use std::io::Read as _;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::sync::OnceLock;
use std::time::{Duration, Instant};
use stereopsis_base::image::{Image, Luma, PictureRef};
use stereopsis_base::process::{self, memory};
use stereopsis_frame::engine::ModelFile;

/// Program of the child process, and its words before the file.
static PROGRAM: OnceLock<(PathBuf, &'static [&'static str])> = OnceLock::new();
/// Time after which a trial is given up.
const TIME_LIMIT: Duration = Duration::from_mins(2);
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

    fn of_command(
        mut command: Command,
        file: &ModelFile,
        size: (usize, usize),
        limit: Duration,
    ) -> std::io::Result<Self> {
        let child = command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn()?;
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
        let ended = self.child.try_wait();
        let is_late = self.started.elapsed() > self.limit;
        if let Ok(None) = ended
            && !is_late
        {
            return None;
        }
        let of_file = |why: String| Err(ModelError::new(why).of_file(&self.file.path));
        let Ok(Some(status)) = ended else {
            let _ = self.child.kill();
            let ((width, height), seconds) = (self.size, self.limit.as_secs());
            return Some(of_file(format!(
                "the first pair of {width}x{height} px took longer than {seconds} s: use smaller images (--scale), or a smaller model"
            )));
        };
        let mut answer = String::new();
        if let Some(mut output) = self.child.stdout.take() {
            let _ = output.read_to_string(&mut answer); // half an answer is none
        }
        if let Ok(answer) = serde_json::from_str::<Result<TrialResult, String>>(&answer) {
            return Some(answer.map_err(ModelError::new));
        }
        Some(of_file(format!(
            "the process that opened it first ended without a result ({status}): it crashes the runtime, or takes more memory than is \
             free; use smaller images (--scale), or another export of the model"
        )))
    }
}

impl Drop for Trial {
    fn drop(&mut self) {
        let _ = self.child.kill(); // it fails where the process has ended
        let _ = self.child.wait();
    }
}

/// Opens a model and runs it once on images of this size; the text on standard output is the result for [`Trial`].
pub fn run_trial(file: &ModelFile, size: (usize, usize)) -> String {
    limit_memory();
    let result = try_out(file, size).map_err(|err| err.of_file(&file.path).to_string());
    serde_json::to_string(&result).unwrap_or_default()
}

fn try_out(file: &ModelFile, (width, height): (usize, usize)) -> Result<TrialResult, ModelError> {
    let mut model = LoadedModel::open(file, None)?;
    let description = Description::of_model(&file.path, &model)?;
    let grey = Luma::U8(Image::from_fn(width, height, |x, y| (x * 37 + y * 91) as u8));
    let fit = Fit::new((width, height), &description);
    let pair = [PictureRef::from(&grey); 2];
    let output = model.run(fit.inputs(pair, &description), &description.output)?;
    fit.disparities(&output, &description)?;
    Ok(TrialResult { peak_bytes: process::peak_bytes() })
}

/// Limits the memory of this process to the free memory, so that the system ends no other program.
fn limit_memory() {
    #[cfg(target_os = "linux")]
    if let Some(free) = memory::Places::usual().free() {
        let limit = rustix::process::Rlimit { current: Some(free.bytes), maximum: Some(free.bytes) };
        let _ = rustix::process::setrlimit(rustix::process::Resource::Data, limit);
    }
}

#[cfg(test)]
#[cfg(unix)]
mod tests {
    use super::*;
    use stereopsis_frame::engine::ModelDevice;

    fn result_of(script: &str, limit: Duration) -> Result<TrialResult, ModelError> {
        let file = ModelFile { path: "net.onnx".into(), device: ModelDevice::BuiltIn };
        let mut command = Command::new("sh");
        command.args(["-c", script]);
        Trial::of_command(command, &file, (8, 8), limit).unwrap().wait()
    }

    #[test]
    fn tells_results_errors_crashes_and_endless_work() {
        let patient = Duration::from_secs(20);
        assert_eq!(result_of(r#"echo '{"Ok":{"peak_bytes":7}}'"#, patient).unwrap().peak_bytes, Some(7));
        assert_eq!(result_of(r#"echo '{"Err":"no model"}'"#, patient).unwrap_err().to_string(), "no model");
        let crash = result_of("kill -SEGV $$", patient).unwrap_err().to_string();
        assert!(crash.starts_with("model net.onnx: the process") && crash.contains("signal: 11"), "{crash}");
        let endless = result_of("exec sleep 60", Duration::from_millis(50)).unwrap_err().to_string();
        assert!(endless.contains("the first pair of 8x8 px took longer"), "{endless}");
    }
}
