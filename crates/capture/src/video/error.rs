//! Faults of videos, of their streams, and of the programs that decode them. None shows the secrets of an address.

use crate::video::view_layout::StatedLayout;
use crate::video::y4m::Y4mError;
use std::io;
use std::path::PathBuf;
use stereopsis_base::console;
use stereopsis_base::files::read_cause;
use stereopsis_base::remedy::option;
use stereopsis_frame::player::PairError;
use stereopsis_frame::{Arrangement, CaptureError, VideoInput};

/// Row alignment of a Raspberry Pi's images, px.
pub(super) const PI_STEP: usize = 64;
/// Words for a shell, which are the same in every face.
const SEND_IT: &str = "send it through a pipe (ffmpeg -i FILE -f yuv4mpegpipe - | stereopsis live --source y4m:-)";

/// Fault of videos. What is `said` is the end of the sentence: the last message of the program that decodes, if any.
#[derive(Debug, thiserror::Error)]
pub(super) enum VideoError {
    // programs and threads
    #[error("{0} is closed")]
    Closed(VideoInput),
    #[error("{input} is decoded by {name}, which cannot be started: {}", advice(.name, .cause))]
    NoProgram { input: VideoInput, name: String, cause: io::Error },
    #[error("{0}: its decoder cannot be read: the system gives no thread")]
    NoDecoderThread(VideoInput),
    #[error("{input}: cannot start a thread: {cause}")]
    NoThread { input: VideoInput, cause: io::Error },

    // opening
    #[error("cannot read the video {}: {cause}", console::path(.path))]
    NoFilm { path: PathBuf, cause: FilmError },
    #[error("cannot read {}: {cause}", console::path(.path))]
    Unreadable { path: PathBuf, cause: FilmError },
    #[error("cannot open {input}: {cause}")]
    NoStream { input: VideoInput, cause: io::Error },
    #[error(
        "{} shifts the right one of two videos, and {input} is one: give a left and a right file",
        option("right-shift-s")
    )]
    ShiftOfOne { input: VideoInput },
    #[error("{} shifts video files, and {input} is none: its frames come when they are taken", option("right-shift-s"))]
    ShiftOfStream { input: VideoInput },
    #[error(
        "the videos have no time in common: the right one would begin {shift_s:.2} s after the left one: choose another {}",
        option("right-shift-s")
    )]
    NoCommonTime { shift_s: f64 },
    #[error(
        "csi:{number} gives rows of a multiple of {PI_STEP} px, and {width} is none: choose another {size}", size = option("size")
    )]
    PiWidth { number: u32, width: usize },

    // images
    #[error("no video")]
    NoVideo,
    #[error(
        "the left video has {}x{} and the right one {}x{} pixels: scale one of them", .left.0, .left.1, .right.0, .right.1
    )]
    Sizes { left: (usize, usize), right: (usize, usize) },
    #[error("a video of {}x{} pixels cannot be halved into two views ({arrangement})", .size.0, .size.1)]
    Halves { size: (usize, usize), arrangement: Arrangement },
    #[error("{0} has no frame")]
    NoFrame(VideoInput),
    #[error("no frame of {input} came in {seconds} s{said}")]
    Late { input: VideoInput, seconds: u64, said: String },
    #[error("cannot read {input}: {cause}{said}")]
    Stream { input: VideoInput, cause: ReadError, said: String },
    #[error("{input}: frame {frame} {cause}{said}")]
    Frame { input: VideoInput, frame: u64, cause: ReadError, said: String },
    #[error(transparent)]
    Read(#[from] ReadError),
    #[error("{input} has no frame that can be decoded{said}")]
    NoFrames { input: VideoInput, said: String },
    #[error("{input} ends after frame {count} of {promised}{said}")]
    EndsEarly { input: VideoInput, count: u64, promised: u64, said: String },
}

/// Reason why a file is no film that can be played.
#[derive(Debug, thiserror::Error)]
pub(super) enum FilmError {
    #[error("{0}, or {SEND_IT}")]
    NoPlainFile(io::Error),
    #[error("{}", read_cause(.path, .cause))]
    Open { path: PathBuf, cause: io::Error },
    #[error("{0}")]
    Io(#[from] io::Error),
    #[error(transparent)]
    Y4m(#[from] Y4mError),
    #[error("it has no frame")]
    NoFrame,
    #[error("its frames have parameters of their own: send it through a pipe (y4m:- < FILE)")]
    OwnParameters,
    #[error("it has {0} frames")]
    Count(u64),
    #[error("ffprobe does not tell what it is: {0}")]
    Probe(ReadError),
    #[error(
        "its content is '{format}', no container of films ({films}): give the film itself, make one of it (ffmpeg -i FILE -c:v ffv1 \
         out.mkv), or {SEND_IT}"
    )]
    NoContainer { format: String, films: &'static str },
    /// Fault in the words of ffprobe.
    #[error("{0}")]
    Probed(String),
    #[error("it holds no video")]
    NoVideo,
    #[error("its length is not known: make another file of it (ffmpeg -i FILE -c:v ffv1 out.mkv), or {SEND_IT}")]
    NoLength,
    #[error("it says that it holds {layout}, {}", cure(.layout))]
    Layout { layout: StatedLayout },
}

/// Reason why the output of a program, or a stream, is not read.
#[derive(Debug, thiserror::Error)]
pub(super) enum ReadError {
    #[error("nothing came for {0} s")]
    Silent(u64),
    #[error("its answer has no end")]
    Endless,
    #[error("it ends before its first frame does")]
    NoFirstFrame,
    #[error("is not there")]
    Missing,
    #[error(transparent)]
    Y4m(#[from] Y4mError),
    #[error("{0}")]
    Io(#[from] io::Error),
}

impl From<VideoError> for CaptureError {
    fn from(err: VideoError) -> Self {
        match err {
            VideoError::PiWidth { .. } | VideoError::ShiftOfOne { .. } | VideoError::ShiftOfStream { .. } => {
                Self::Grammar(err.into())
            }
            VideoError::NoFilm { .. }
            | VideoError::Unreadable { .. }
            | VideoError::NoStream { .. }
            | VideoError::NoCommonTime { .. } => Self::File(err.into()),
            _ => Self::Camera(err.into()),
        }
    }
}

impl From<VideoError> for PairError {
    fn from(err: VideoError) -> Self {
        Self::Lost(err.into())
    }
}

/// Returns what to do about a film whose images hold both views otherwise than in halves.
fn cure(layout: &StatedLayout) -> String {
    match layout.filter() {
        Some(filter) => format!(
            "which are not read: bring them side by side (ffmpeg -i FILE -vf \"{filter}\" -c:v ffv1 -metadata:s:v:0 \
             stereo_mode=left_right out.mkv), or say that the file is wrong ({}, {})",
            option(Arrangement::SideBySide.word()),
            option(Arrangement::TopBottom.word())
        ),
        None => "in which the views cannot be told apart".to_owned(),
    }
}

/// Returns what to do about a program that cannot be started.
fn advice(name: &str, cause: &io::Error) -> String {
    match cause.kind() {
        io::ErrorKind::NotFound if name.starts_with("rpicam") => {
            "it is not installed; it belongs to Raspberry Pi OS (sudo apt install rpicam-apps)".to_owned()
        }
        io::ErrorKind::NotFound => {
            "it is not installed; install ffmpeg (Debian, Ubuntu: sudo apt install ffmpeg; macOS: brew install ffmpeg; Windows: winget \
             install ffmpeg)"
                .to_owned()
        }
        _ => cause.to_string(),
    }
}
