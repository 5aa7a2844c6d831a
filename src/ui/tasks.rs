//! Work that may take its time: dialogs, looking for cameras, writing snapshots. Each runs on its own named thread
//! and hands its result to the window through one bounded channel.

use super::options::CaptureFor;
use super::session::open_blocking;
use super::waker::Waker;
use crate::capture::webcam::{CameraInfo, CameraName, cameras};
use crate::capture::{CaptureOptions, PairSource, SourceOptions, SourceSpec};
use crate::engine::Output;
use crate::export;
use crossbeam_channel::{Receiver, Sender, bounded};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// What can be started.
pub(crate) enum Task {
    /// Ask the user for pictures.
    ChooseFiles,
    /// Look for cameras.
    FindCameras,
    /// Open a source.
    OpenSource(SourceSpec, Box<SourceOptions>, CaptureFor),
    /// Write a result, which has its map on the host, into a folder.
    Snapshot(Arc<Output>, PathBuf),
}

/// What came of it.
pub(crate) enum Done {
    /// The chosen files, none if the user thought better of it; or why nothing could be chosen.
    Files(Result<Vec<PathBuf>, String>),
    /// The cameras found.
    Cameras(CamerasFound),
    /// The source that was asked for.
    Opened(SourceSpec, Result<Opened, String>),
    /// The files written.
    Snapshot(Result<export::Snapshot, String>),
}

/// An open source and how its frames are made.
pub(crate) struct Opened {
    pub(crate) source: Box<dyn PairSource>,
    pub(crate) capture: CaptureOptions,
    /// What a person should confirm, such as the baseline.
    pub(crate) note: Option<String>,
}

/// Sources that the cameras make, each with a name, or why nobody can look for them.
pub(crate) type CamerasFound = Result<Vec<(SourceSpec, String)>, String>;

impl Task {
    /// What the status line says while it runs; also the thread's name.
    fn name(&self) -> &'static str {
        match self {
            Self::ChooseFiles => "choosing files",
            Self::FindCameras => "looking for cameras",
            Self::OpenSource(..) => "opening the source",
            Self::Snapshot(..) => "writing snapshot",
        }
    }

    /// A closure that does the work. A dialog has to be made on the window's thread, but is waited for elsewhere.
    fn into_work(self) -> Box<dyn FnOnce() -> Done + Send> {
        match self {
            Self::ChooseFiles => {
                let dialog = rfd::AsyncFileDialog::new()
                    .set_title("A left and a right picture")
                    .add_filter("Pictures", &["png", "jpg", "jpeg", "tif", "tiff", "pgm", "ppm", "pnm"]);
                let files = dialog.pick_files();
                let asked = Instant::now();
                Box::new(move || match pollster::block_on(files) {
                    Some(files) => Done::Files(Ok(files.iter().map(|f| f.path().to_owned()).collect())),
                    // nobody cancels that fast: there is nothing that could show a dialog
                    None if asked.elapsed() < Duration::from_millis(200) => Done::Files(Err(NO_DIALOG.to_owned())),
                    None => Done::Files(Ok(Vec::new())),
                })
            }
            Self::FindCameras => Box::new(|| Done::Cameras(find_cameras())),
            Self::OpenSource(spec, options, capture) => Box::new(move || {
                let opened = open_blocking(&spec, &options, &capture);
                Done::Opened(spec, opened)
            }),
            Self::Snapshot(output, folder) => Box::new(move || Done::Snapshot(write(&output, &folder))),
        }
    }
}

const NO_DIALOG: &str = "no dialog for files came up: install xdg-desktop-portal or zenity, drop the pictures onto the \
                         window, or name them on the command line";

/// Each camera by itself (side by side), and every two of them.
fn find_cameras() -> CamerasFound {
    let cameras = cameras().map_err(|err| err.to_string())?;
    let name = |camera: &CameraInfo| match &camera.problem {
        Some(problem) => format!("{} ({problem})", camera.name),
        None => camera.name.clone(),
    };
    let mut found = Vec::new();
    for left in &cameras {
        for right in cameras.iter().filter(|right| right.index != left.index) {
            let text = format!("left {}: {} · right {}: {}", left.index, name(left), right.index, name(right));
            found.push((SourceSpec::WebcamPair(CameraName::Number(left.index), CameraName::Number(right.index)), text));
        }
    }
    found.extend(cameras.iter().map(|camera| {
        (
            SourceSpec::WebcamSideBySide(CameraName::Number(camera.index)),
            format!("{}: {} · side by side", camera.index, name(camera)),
        )
    }));
    Ok(found)
}

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

    /// What is running, in words.
    pub(crate) fn running(&self) -> &[&'static str] {
        &self.running
    }
}
