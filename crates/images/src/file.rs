//! Errors of writing a file of results, and choice of the format by the ending of the name.

use std::path::Path;
use stereopsis_base::files::WriteError;

/// Reason why a file was not written. The text names the file and the remedy.
#[derive(Debug, thiserror::Error)]
pub enum ExportError {
    /// The ending of the name belongs to no format, or the format cannot store the content.
    #[error("{0}")]
    Refused(String),
    /// The file cannot be written.
    #[error(transparent)]
    Write(#[from] WriteError),
}

impl ExportError {
    /// Creates the error of an image that cannot be encoded for this file.
    pub fn encode(path: &Path, cause: &impl ToString) -> Self {
        Self::Refused(format!("cannot store the image in {}: {}", path.display(), cause.to_string()))
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
        endings.iter().find(|known| ending.eq_ignore_ascii_case(known)).copied().ok_or_else(|| {
            let ending = match path.extension() {
                Some(ending) => format!("the ending .{}", ending.display()),
                None => "a name without an ending".to_owned(),
            };
            let path = path.display();
            ExportError::Refused(format!("{path}: cannot tell the format from {ending}; {wanted}"))
        })
    }
}
