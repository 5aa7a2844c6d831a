//! Inputs of the targets: the limit of images, and files of bytes.

use std::cell::OnceCell;
use std::path::PathBuf;
use stereopsis_frame::MaxPixels;

/// Largest image, above which images are refused for speed, px.
pub(crate) const MOST_PIXELS: MaxPixels = MaxPixels(1 << 22);

/// Writes the bytes to a file in this thread's folder, which the next call may overwrite.
pub(crate) fn file(name: &str, bytes: &[u8]) -> PathBuf {
    thread_local! {
        static FOLDER: OnceCell<tempfile::TempDir> = const { OnceCell::new() };
    }
    FOLDER.with(|folder| {
        let path = folder.get_or_init(|| tempfile::tempdir().expect("a folder for files")).path().join(name);
        std::fs::write(&path, bytes).expect("room for a file");
        path
    })
}
