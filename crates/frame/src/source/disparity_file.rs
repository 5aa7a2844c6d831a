//! File of true disparities as words name it.

use std::fmt;
use std::path::PathBuf;

/// File of disparities, left minus right.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct DisparityFile {
    /// Path of a PFM, TIFF of floats or `.npy`, where not finite, 0 and negative are unknown, or of a grey image, where 0 is unknown.
    pub path: PathBuf,
    /// Ratio of the file's numbers to the disparity in px; negative for disparities of right minus left. `None` for the default of the
    /// format: 1 for floats, 256 for 16-bit images (KITTI). Images of 8 bits and integers of `.npy` have no default.
    pub scale: Option<i32>,
}

impl DisparityFile {
    /// Creates a file with the default scale of its format.
    pub fn new(path: impl Into<PathBuf>) -> Self {
        Self { path: path.into(), scale: None }
    }
}

/// Formats `FILE`, or `FILE:SCALE`.
impl fmt::Display for DisparityFile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.scale {
            Some(scale) => write!(f, "{}:{scale}", self.path.display()),
            None => self.path.display().fmt(f),
        }
    }
}

impl From<&str> for DisparityFile {
    fn from(words: &str) -> Self {
        let scale = words.rsplit_once(':').and_then(|(path, scale)| Some((path, scale.parse().ok()?)));
        match scale {
            Some((path, scale)) if !path.is_empty() && scale != 0 => Self { path: path.into(), scale: Some(scale) },
            _ => Self::new(words),
        }
    }
}
