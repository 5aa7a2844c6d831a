//! The system's dialogs for files and folders: made on the window's thread, waited for on another one.

use super::state::{AnswerKind, Question};
use rfd::{AsyncFileDialog, FileHandle};
use std::path::PathBuf;
use std::time::{Duration, Instant};

/// Extensions of recordings, images and models.
pub(crate) const SOURCE_EXTENSIONS: &[&str] = &[
    "mcap", "db3", "png", "jpg", "jpeg", "tif", "tiff", "pgm", "ppm", "pnm", "bmp", "webp", "mpo", "jps", "pfm", "npy",
    "mp4", "mkv", "mk3d", "mov", "avi", "webm", "ts", "mts", "m2ts", "mpg", "3gp", "h264", "h265", "mjpeg", "y4m",
    "onnx",
];

/// Shortest time of a real dialog; one that ends sooner was never shown.
const MIN_ANSWER_TIME: Duration = Duration::from_millis(200);

pub(super) enum Answer {
    Chosen(Vec<PathBuf>),
    Cancelled,
    NoDialog,
}

/// Shows a dialog and returns a closure that waits for its answer.
pub(super) fn show(question: &Question) -> Box<dyn FnOnce() -> Answer + Send> {
    if cfg!(test) {
        return Box::new(|| Answer::NoDialog); // nobody would answer it
    }
    let dialog = AsyncFileDialog::new().set_title(question.title);
    match &question.asked {
        AnswerKind::Address { .. } => Box::new(|| Answer::NoDialog), // it has files alone
        AnswerKind::Files { kind, endings } => {
            let chosen = dialog.add_filter(*kind, endings).pick_files();
            wait(async { chosen.await.unwrap_or_default() })
        }
        AnswerKind::Folder => {
            let chosen = dialog.pick_folder();
            wait(async { chosen.await.into_iter().collect() })
        }
        AnswerKind::NewFile { name, kind, endings } => {
            let chosen = dialog.set_file_name(name).add_filter(*kind, endings).save_file();
            wait(async { chosen.await.into_iter().collect() })
        }
    }
}

fn wait(chosen: impl Future<Output = Vec<FileHandle>> + Send + 'static) -> Box<dyn FnOnce() -> Answer + Send> {
    let opened = Instant::now();
    Box::new(move || {
        let files = pollster::block_on(chosen);
        match files.is_empty() {
            true if opened.elapsed() < MIN_ANSWER_TIME => Answer::NoDialog,
            true => Answer::Cancelled,
            false => Answer::Chosen(files.iter().map(|file| file.path().to_owned()).collect()),
        }
    })
}
