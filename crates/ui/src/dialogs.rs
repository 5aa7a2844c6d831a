//! The system's dialogs for files and folders. A dialog is made on the window's thread and waited for on another one.

use std::path::PathBuf;
use std::time::{Duration, Instant};

/// Extensions of recordings and pictures.
pub(crate) const SOURCE_EXTENSIONS: &[&str] = &[
    "mcap", "png", "jpg", "jpeg", "tif", "tiff", "pgm", "ppm", "pnm", "bmp", "webp", "mp4", "mkv", "mov", "avi",
    "webm", "y4m",
];

/// A dialog that ends sooner was never shown.
const MIN_ANSWER_TIME: Duration = Duration::from_millis(200);
const NO_DIALOG: &str = "no dialog for files came up: install xdg-desktop-portal or zenity, drop the files onto the \
                         window, or name them on the command line";

/// Shows a dialog for files. The closure waits for the chosen ones: none if the user cancels.
pub(crate) fn choose_files(
    title: &str,
    kind: &str,
    extensions: &[&str],
) -> impl FnOnce() -> Result<Vec<PathBuf>, String> + Send + use<> {
    let dialog = rfd::AsyncFileDialog::new().set_title(title).add_filter(kind, extensions);
    let chosen = wait(dialog.pick_files());
    move || Ok(chosen()?.unwrap_or_default().iter().map(|file| file.path().to_owned()).collect())
}

/// Shows a dialog for a folder. The closure waits for it: `None` if the user cancels.
pub(crate) fn choose_folder(title: &str) -> impl FnOnce() -> Result<Option<PathBuf>, String> + Send + use<> {
    let chosen = wait(rfd::AsyncFileDialog::new().set_title(title).pick_folder());
    move || Ok(chosen()?.map(|folder| folder.path().to_owned()))
}

/// Shows a dialog for a file to write, which asks before it gives one that exists. The closure waits for it: `None` if the user cancels.
pub(crate) fn choose_new_file(
    title: &str,
    name: &str,
    kind: &str,
    extensions: &[&str],
) -> impl FnOnce() -> Result<Option<PathBuf>, String> + Send + use<> {
    let dialog = rfd::AsyncFileDialog::new().set_title(title).set_file_name(name).add_filter(kind, extensions);
    let chosen = wait(dialog.save_file());
    move || Ok(chosen()?.map(|file| file.path().to_owned()))
}

fn wait<T>(dialog: impl Future<Output = Option<T>> + Send) -> impl FnOnce() -> Result<Option<T>, String> + Send {
    let opened = Instant::now();
    move || match pollster::block_on(dialog) {
        None if opened.elapsed() < MIN_ANSWER_TIME => Err(NO_DIALOG.to_owned()),
        chosen => Ok(chosen),
    }
}
