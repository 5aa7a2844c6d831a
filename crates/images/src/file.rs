//! Errors of writing a file of results, and choice of the format by the ending of the name.

use std::path::{Path, PathBuf};
use stereopsis_base::files::WriteError;
use stereopsis_base::remedy::option;
use stereopsis_frame::Cause;

/// Reason why a file was not written. The text names the file and the remedy.
#[derive(Debug, thiserror::Error)]
pub enum ExportError {
    /// The ending of the name belongs to no format.
    #[error("{}: cannot tell the format from {}; {wanted}", .path.display(), ending(.path))]
    Ending {
        /// Path of the file.
        path: PathBuf,
        /// Sentence that names the endings.
        wanted: &'static str,
    },
    /// The content cannot be encoded.
    #[error("cannot store the image in {}: {cause}", .path.display())]
    Encode {
        /// Path of the file.
        path: PathBuf,
        /// Error of the encoder.
        cause: Cause,
    },
    /// The disparity in the plane of the screen is not that of any point.
    #[error(
        "a disparity of {screen_px} px cannot lie in the plane of the screen: the images are {width_px} px wide; give a smaller one ({})",
        option("screen-px")
    )]
    Screen {
        /// Disparity in the plane of the screen, px.
        screen_px: i32,
        /// Width of an image, px.
        width_px: usize,
    },
    /// The file cannot be written.
    #[error(transparent)]
    Write(#[from] WriteError),
}

impl ExportError {
    /// Creates the error of an image that cannot be encoded for this file.
    pub fn encode(path: &Path, cause: impl Into<Cause>) -> Self {
        Self::Encode { path: path.to_owned(), cause: cause.into() }
    }
}

/// Endings of a kind of files, in lower case, and a sentence that names them.
pub struct Endings(pub &'static [&'static str], pub &'static str);

impl Endings {
    /// Returns the ending of a name.
    ///
    /// # Errors
    /// The ending is none of these.
    pub fn find(&self, path: &Path) -> Result<&'static str, ExportError> {
        let Self(endings, wanted) = *self;
        let ending = path.extension().unwrap_or_default();
        let known = endings.iter().find(|known| ending.eq_ignore_ascii_case(known)).copied();
        known.ok_or_else(|| ExportError::Ending { path: path.to_owned(), wanted })
    }
}

fn ending(path: &Path) -> String {
    path.extension()
        .map_or_else(|| "a name without an ending".to_owned(), |ending| format!("the ending .{}", ending.display()))
}
