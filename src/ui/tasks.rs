//! Work that may take its time: dialogs, looking for cameras, writing snapshots. Each runs on its own named thread
//! and hands its result to the window through one bounded channel.

use super::waker::Waker;
use crate::capture::webcam::controls::{self, OfferedControl};
use crate::capture::webcam::{CameraInfo, cameras};
use crate::capture::{ControlWishes, Frame, SourceInfo, SourceOptions, SourceSpec};
use crate::engine::Output;
use crate::engine::gpu::{AdapterChoice, Gpu};
use crate::export;
use crate::recording::write::{Expected, RecordOptions, RecordSummary, Recorder, Target, expected};
use crate::recording::{About, Streams};
use crate::rig::{Calibrated, CalibrationChoice};
use crate::sources::{self, CalibratedSource};
use crossbeam_channel::{Receiver, Sender, bounded};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// How files of rigs and calibrations end.
pub(crate) const SETUP_ENDINGS: &[&str] = &["yml", "yaml", "xml", "json", "toml", "conf", "txt", "gz"];

/// What can be started.
pub(crate) enum Task {
    /// Ask the user for a recording or pictures.
    ChooseFiles,
    /// Look for cameras.
    FindCameras,
    /// Open a source with its calibration.
    OpenSource(SourceSpec, Box<(SourceOptions, CalibrationChoice)>),
    /// Apply another calibration to the source that is read.
    Calibrate(Box<(CalibrationChoice, SourceInfo)>),
    /// Ask the user for calibration files.
    ChooseCalibration,
    /// Read the controls of these cameras.
    ReadControls(Vec<u32>),
    /// Set the controls of a camera.
    SetControls(u32, ControlWishes),
    /// Switch off what would void a calibration, where nothing else is wished.
    ProtectCalibration(Vec<(u32, ControlWishes)>),
    /// Lock the right camera to what the left one has settled at.
    EqualExposure(u32, u32),
    /// Open a GPU.
    OpenGpu(AdapterChoice),
    /// Begin a recording.
    StartRecording(Target, Box<(About, RecordOptions)>),
    /// End a recording, and wait until all of it is on the disk.
    EndRecording(Arc<Recorder>),
    /// Say how large a recording of such frames in a folder becomes.
    Forecast(PathBuf, Streams, Arc<Frame>, f64),
    /// Ask the user for a folder.
    ChooseFolder,
    /// Write a result, which has its map on the host, into a folder.
    Snapshot(Arc<Output>, PathBuf),
}

/// What came of it.
pub(crate) enum Done {
    /// The chosen files, none if the user thought better of it; or why nothing could be chosen.
    Files(Result<Vec<PathBuf>, String>),
    /// The cameras found.
    Cameras(Result<Vec<CameraInfo>, String>),
    /// The source that was asked for.
    Opened(SourceSpec, Result<CalibratedSource, String>),
    /// The calibration that was asked for, or why it cannot be used.
    Calibrated(Box<(CalibrationChoice, SourceInfo)>, Result<Calibrated, String>),
    /// The calibration files chosen.
    CalibrationFiles(Result<Vec<PathBuf>, String>),
    /// What cameras offer, by number.
    Controls(Vec<(u32, Result<Vec<OfferedControl>, String>)>),
    /// The GPU, or why it cannot be opened.
    Gpu(Result<Gpu, String>),
    /// Something was set; what is to be said of it.
    ControlsSet(Result<Vec<String>, String>),
    /// The recorder, or why nothing can be recorded.
    Recording(Result<Arc<Recorder>, String>),
    /// What was recorded, and why it ended before it was told to.
    Recorded(Box<(RecordSummary, Option<String>)>),
    /// How large a recording becomes.
    Forecast(Expected),
    /// The chosen folder, none if the user thought better of it.
    Folder(Result<Option<PathBuf>, String>),
    /// The files written.
    Snapshot(Result<export::Snapshot, String>),
}

impl Task {
    /// What the status line says while it runs; also the thread's name.
    fn name(&self) -> &'static str {
        match self {
            Self::ChooseFiles => "choosing files",
            Self::FindCameras => "looking for cameras",
            Self::OpenSource(..) => "opening the source",
            Self::Calibrate(..) => "applying the calibration",
            Self::ChooseCalibration => "choosing a calibration",
            Self::ReadControls(..) => "reading controls",
            Self::SetControls(..) | Self::ProtectCalibration(..) => "setting controls",
            Self::EqualExposure(..) => "equalising exposure",
            Self::OpenGpu(..) => "looking for the GPU",
            Self::StartRecording(..) => "starting the recording",
            Self::EndRecording(..) => "finishing the recording",
            Self::Forecast(..) => FORECAST,
            Self::ChooseFolder => "choosing a folder",
            Self::Snapshot(..) => "writing snapshot",
        }
    }

    /// A closure that does the work. A dialog has to be made on the window's thread, but is waited for elsewhere.
    fn into_work(self) -> Box<dyn FnOnce() -> Done + Send> {
        match self {
            Self::ChooseFiles => {
                let endings = &["mcap", "png", "jpg", "jpeg", "tif", "tiff", "pgm", "ppm", "pnm"];
                let chosen = choose("A recording, or a left and a right picture", "Recordings and pictures", endings);
                Box::new(|| Done::Files(chosen()))
            }
            Self::ChooseCalibration => {
                let title = "A rig, or a stereo calibration: one file, or two that belong together";
                let chosen = choose(title, "Rigs and calibrations", SETUP_ENDINGS);
                Box::new(|| Done::CalibrationFiles(chosen()))
            }
            Self::FindCameras => Box::new(|| Done::Cameras(cameras().map_err(|err| err.to_string()))),
            Self::OpenSource(spec, how) => Box::new(move || {
                let opened = sources::open_calibrated(&spec, &how.0, &how.1).map_err(|err| err.to_string());
                Done::Opened(spec, opened)
            }),
            Self::Calibrate(how) => Box::new(move || {
                let (choice, info) = &*how;
                let calibrated = choice.apply(info).map_err(|err| err.to_string());
                Done::Calibrated(how, calibrated)
            }),
            Self::ReadControls(numbers) => Box::new(move || {
                let read = |&number: &u32| (number, controls::offered(number).map_err(|err| err.to_string()));
                Done::Controls(numbers.iter().map(read).collect())
            }),
            Self::SetControls(number, wishes) => {
                Box::new(move || Done::ControlsSet(Ok(controls::apply(number, &wishes))))
            }
            Self::ProtectCalibration(cameras) => Box::new(move || {
                let protect = |(number, wishes): &(u32, ControlWishes)| controls::protect_calibration(*number, wishes);
                Done::ControlsSet(Ok(cameras.iter().flat_map(protect).collect()))
            }),
            Self::EqualExposure(left, right) => Box::new(move || {
                let set = controls::equalise(left, right).map(|said| vec![said]);
                Done::ControlsSet(set.map_err(|err| err.to_string()))
            }),
            Self::OpenGpu(adapter) => {
                Box::new(move || Done::Gpu(Gpu::open(&adapter).map(Gpu::for_window).map_err(|err| err.to_string())))
            }
            Self::StartRecording(target, how) => Box::new(move || {
                let (about, options) = *how;
                Done::Recording(Recorder::start(target, about, options).map_err(|err| err.to_string()))
            }),
            Self::EndRecording(recorder) => Box::new(move || {
                let ended = recorder.stop();
                Done::Recorded(Box::new((recorder.summary(), ended.err().map(|err| err.to_string()))))
            }),
            Self::Forecast(folder, streams, frame, rate_hz) => {
                Box::new(move || Done::Forecast(expected(&folder, streams, &frame, rate_hz)))
            }
            Self::ChooseFolder => {
                let dialog = rfd::AsyncFileDialog::new().set_title("A folder for recordings");
                let chosen = answer(dialog.pick_folder());
                Box::new(|| Done::Folder(chosen().map(|folder| folder.map(|folder| folder.path().to_owned()))))
            }
            Self::Snapshot(output, folder) => Box::new(move || Done::Snapshot(write(&output, &folder))),
        }
    }
}

/// Shows a dialog for files; what it gives waits for the answer, on another thread.
fn choose(title: &str, what: &str, endings: &[&str]) -> impl FnOnce() -> Result<Vec<PathBuf>, String> + Send + use<> {
    let dialog = rfd::AsyncFileDialog::new().set_title(title).add_filter(what, endings);
    let chosen = answer(dialog.pick_files());
    move || Ok(chosen()?.unwrap_or_default().iter().map(|file| file.path().to_owned()).collect())
}

/// Waits for what a dialog gives.
fn answer<T>(dialog: impl Future<Output = Option<T>> + Send) -> impl FnOnce() -> Result<Option<T>, String> + Send {
    let asked = Instant::now();
    move || match pollster::block_on(dialog) {
        // nobody cancels that fast: there is nothing that could show a dialog
        None if asked.elapsed() < Duration::from_millis(200) => Err(NO_DIALOG.to_owned()),
        chosen => Ok(chosen),
    }
}

/// Asked again and again while somebody looks at it: nothing to be told.
pub(crate) const FORECAST: &str = "reckoning the size of a recording";
const NO_DIALOG: &str = "no dialog for files came up: install xdg-desktop-portal or zenity, drop the files onto the \
                         window, or name them on the command line";

fn write(output: &Output, folder: &std::path::Path) -> Result<export::Snapshot, String> {
    let map = output.map.as_ref().ok_or("the result has no numbers on the host")?;
    export::snapshot(folder, &output.job.frame, map, &export::describe(output)).map_err(|err| err.to_string())
}

/// What is going on.
pub(crate) struct Tasks {
    sender: Sender<(&'static str, Done)>,
    receiver: Receiver<(&'static str, Done)>,
    running: Vec<&'static str>,
    waker: Waker,
}

impl Tasks {
    pub(crate) fn new(waker: Waker) -> Self {
        let (sender, receiver) = bounded(8);
        Self { sender, receiver, running: Vec::new(), waker }
    }

    /// Starts a task, unless one of its kind is still running; several sources may be on their way at once.
    ///
    /// # Errors
    /// The system has no thread left.
    pub(crate) fn start(&mut self, task: Task) -> Result<(), String> {
        let name = task.name();
        if self.running.contains(&name) && !matches!(task, Task::OpenSource(..)) {
            return Ok(());
        }
        let (work, sender, waker) = (task.into_work(), self.sender.clone(), self.waker.clone());
        let thread = std::thread::Builder::new().name(name.to_owned()).spawn(move || {
            // a full channel or a closed window: nobody wants to know any more
            let _ = sender.try_send((name, work()));
            waker.wake();
        });
        thread.map_err(|err| format!("{name}: no thread could be started ({err})"))?;
        self.running.push(name);
        Ok(())
    }

    /// Results that have come in since.
    pub(crate) fn finished(&mut self) -> Vec<Done> {
        let all: Vec<_> = self.receiver.try_iter().collect();
        for (done, _) in &all {
            if let Some(index) = self.running.iter().position(|name| name == done) {
                self.running.remove(index);
            }
        }
        all.into_iter().map(|(_, done)| done).collect()
    }

    /// Whether a task of this name is running.
    pub(crate) fn is_running(&self, name: &str) -> bool {
        self.running.contains(&name)
    }

    /// What is running, in words.
    pub(crate) fn running(&self) -> impl Iterator<Item = &'static str> + '_ {
        self.running.iter().copied().filter(|name| *name != FORECAST)
    }
}
