//! The words of `--source`, also used in settings and in the window.

use super::scene::SceneOptions;
use super::webcam::CameraName;
use super::{CameraOptions, CaptureError, MaxPixels, Speed};
use crate::console;
use crate::files;
use std::fmt;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// A source.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SourceSpec {
    /// `scene`: the built-in scene.
    Scene,
    /// `LEFT,RIGHT`: two image files.
    Files {
        /// File of the left view.
        left: PathBuf,
        /// File of the right view.
        right: PathBuf,
    },
    /// `FOLDER`: pairs of image files.
    Folder(PathBuf),
    /// `webcam:L,R`: two cameras by number or port, left one first.
    WebcamPair(CameraName, CameraName),
    /// `webcam:N`: one side-by-side camera.
    WebcamSideBySide(CameraName),
    /// `FILE.mcap`: a recording, of this program or of others.
    Recording(PathBuf),
    /// `-`: a growing recording on standard input.
    Pipe,
}

/// Options of sources beside the words of `--source`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SourceOptions {
    /// Size per view, px: of the scene, or requested from a camera. Files have their own.
    pub size: Option<(usize, usize)>,
    /// Rate, Hz: of scene and files, or requested from a camera. `None` for no limit, or for the camera's default.
    pub rate_hz: Option<f64>,
    /// Files and recordings restart at the end.
    pub looped: bool,
    /// Interactive use: a recording stays open at its end so that the user can seek, and its pairs carry their recorded
    /// results.
    pub watched: bool,
    /// Playback speed of recordings. Standard input has no speed of its own; [`Speed::Max`] reads all of it.
    pub speed: Speed,
    /// Start time of recordings, from their first pair on.
    pub start_at: Duration,
    /// Topics of a foreign recording that hold the views.
    pub topics: TopicChoice,
    /// Limit on the size of pictures from files and recordings.
    pub max_pixels: MaxPixels,
    /// Keep RGB where the source has it.
    pub color: bool,
    /// Options of cameras.
    pub cameras: CameraOptions,
    /// The scene's rig and appearance; [`SourceOptions::size`] takes precedence over its size.
    pub scene: SceneOptions,
}

/// The user's choice of topics for the views.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TopicChoice {
    /// Topic of the left view.
    pub left: Option<String>,
    /// Topic of the right view.
    pub right: Option<String>,
    /// Topic of side-by-side pictures, the left view in the left half.
    pub both: Option<String>,
}

impl TopicChoice {
    /// Whether no topic is chosen.
    pub fn is_default(&self) -> bool {
        *self == Self::default()
    }
}

/// A size such as `640x480`.
///
/// # Errors
/// The text is not a size; the error message gives the reason.
pub fn parse_size(text: &str) -> Result<(usize, usize), String> {
    let parsed = text.split_once('x').and_then(|(w, h)| Some((w.parse().ok()?, h.parse().ok()?)));
    parsed
        .filter(|&(w, h): &(usize, usize)| (1..=16_384).contains(&w) && (1..=16_384).contains(&h))
        .ok_or_else(|| "expected WIDTHxHEIGHT, each from 1 to 16384, such as 640x480".to_owned())
}

/// Description of the grammar.
const GRAMMAR: &str = "give scene, LEFT,RIGHT (two image files), FOLDER, FILE.mcap (a recording), - (one from a pipe), webcam:0,1 (two \
     cameras) or webcam:0 (one, side by side)";

impl SourceSpec {
    /// Parses the words of `--source`.
    ///
    /// # Errors
    /// [`CaptureError::Grammar`] if they are invalid; files are checked when they are opened.
    pub fn parse(words: &str) -> Result<Self, CaptureError> {
        let wrong = || CaptureError::Grammar(format!("'{words}' names no source: {GRAMMAR}"));
        let camera = |text: &str| text.parse::<CameraName>().map_err(|_| wrong());
        if words == "scene" {
            return Ok(Self::Scene);
        }
        if let Some(numbers) = words.strip_prefix("webcam:") {
            return match numbers.split_once(',') {
                Some((left, right)) => match (camera(left)?, camera(right)?) {
                    (left, right) if left == right => Err(CaptureError::Grammar(format!(
                        "'{words}' names one camera twice: for one that gives both pictures side by side write webcam:{left}"
                    ))),
                    (left, right) => Ok(Self::WebcamPair(left, right)),
                },
                None => Ok(Self::WebcamSideBySide(camera(numbers)?)),
            };
        }
        // a folder's name may contain a comma
        if !words.is_empty() && Path::new(words).is_dir() {
            return Ok(Self::Folder(words.into()));
        }
        if words == "-" {
            return Ok(Self::Pipe);
        }
        if is_recording(Path::new(words)) {
            return Ok(Self::Recording(words.into()));
        }
        match words.split_once(',') {
            Some((left, right)) if !left.is_empty() && !right.is_empty() && !right.contains(',') => {
                Ok(Self::Files { left: left.into(), right: right.into() })
            }
            None if !words.is_empty() && !words.starts_with("webcam") => Ok(Self::Folder(words.into())),
            _ => Err(wrong()),
        }
    }

    /// Source of the program's path arguments: one folder or recording, or a left and a right image.
    ///
    /// # Errors
    /// [`CaptureError::Grammar`] for anything else.
    pub fn from_paths(paths: &[PathBuf]) -> Result<Self, CaptureError> {
        let spec = match paths {
            [] => Ok(Self::Scene),
            [folder] if folder.is_dir() => Ok(Self::Folder(folder.clone())),
            [one] if is_recording(one) => Ok(Self::Recording(one.clone())),
            [one] if one.exists() => {
                let text = format!(
                    "{} is one picture, and a pair needs two: give the left and the right one, a folder of pairs, or a \
                     recording (.mcap)",
                    console::path(one)
                );
                return Err(CaptureError::Grammar(text));
            }
            [one] => one.to_str().map_or_else(|| Ok(Self::Folder(one.clone())), Self::parse),
            [left, right] => Ok(Self::Files { left: left.clone(), right: right.clone() }),
            _ => {
                paths.iter().try_for_each(|path| Self::check_exists(path))?;
                return Err(CaptureError::Grammar(format!(
                    "{} paths are given, and a pair is two pictures, left one first: put more of them into a folder; a \
                     calibration goes with --calibration",
                    paths.len()
                )));
            }
        }?;
        spec.check_files_exist()?;
        Ok(spec)
    }

    /// Checks that the files which the words name exist; cameras and the scene have none.
    ///
    /// # Errors
    /// [`CaptureError::Grammar`] with the first that does not.
    pub fn check_files_exist(&self) -> Result<(), CaptureError> {
        match self {
            Self::Files { left, right } => Self::check_exists(left).and_then(|()| Self::check_exists(right)),
            Self::Recording(path) | Self::Folder(path) => Self::check_exists(path),
            Self::Scene | Self::WebcamPair(..) | Self::WebcamSideBySide(_) | Self::Pipe => Ok(()),
        }
    }

    /// Checks that a path exists; whether it can be read is found when it is opened.
    ///
    /// # Errors
    /// [`CaptureError::Grammar`] if it does not.
    pub fn check_exists(path: &Path) -> Result<(), CaptureError> {
        files::missing(path).map_or(Ok(()), |why| {
            Err(CaptureError::Grammar(format!("cannot open {}: {why}; {GRAMMAR}", console::path(path))))
        })
    }

    /// True for cameras.
    pub fn is_camera(&self) -> bool {
        matches!(self, Self::WebcamPair(..) | Self::WebcamSideBySide(_))
    }
}

impl fmt::Display for SourceSpec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Scene => f.write_str("scene"),
            Self::Files { left, right } => write!(f, "{},{}", left.display(), right.display()),
            Self::Folder(folder) => folder.display().fmt(f),
            Self::WebcamPair(left, right) => write!(f, "webcam:{left},{right}"),
            Self::WebcamSideBySide(camera) => write!(f, "webcam:{camera}"),
            Self::Recording(file) => file.display().fmt(f),
            Self::Pipe => f.write_str("-"),
        }
    }
}

impl std::str::FromStr for SourceSpec {
    type Err = CaptureError;

    fn from_str(words: &str) -> Result<Self, CaptureError> {
        Self::parse(words)
    }
}

/// Whether a file is a recording, by its extension.
fn is_recording(path: &Path) -> bool {
    path.extension().is_some_and(|ending| ending.eq_ignore_ascii_case("mcap"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_come_back_as_they_were() {
        for words in [
            "scene",
            "a/l.png,b/r.png",
            "some/folder",
            "webcam:0,1",
            "webcam:12",
            "webcam:usb-0:1.2:1.0,usb-0:1.3:1.0",
            "a/b, c.MCAP",
            "-",
        ] {
            assert_eq!(SourceSpec::parse(words).unwrap().to_string(), words);
        }
        let (left, right) = (CameraName::Number(3), CameraName::Number(2));
        assert_eq!(SourceSpec::parse("webcam:3,2").unwrap(), SourceSpec::WebcamPair(left, right));
        assert_eq!(SourceSpec::parse("a.mcap").unwrap(), SourceSpec::Recording("a.mcap".into()));
    }

    #[test]
    fn nonsense_is_answered_with_the_grammar() {
        for words in ["", ",", "a.png,", "a,b,c", "webcam:", "webcam:x", "webcam:0,1,2", "webcam"] {
            let text = SourceSpec::parse(words).unwrap_err().to_string();
            assert!(text.contains("LEFT,RIGHT"), "{words}: {text}");
        }
        let text = SourceSpec::parse("webcam:1,1").unwrap_err().to_string();
        assert!(text.contains("side by side"), "{text}");
    }

    #[test]
    fn paths_are_a_folder_or_two_images() {
        let folder = tempfile::tempdir().unwrap();
        let image = folder.path().join("one.png");
        std::fs::write(&image, "x").unwrap();
        let spec = |paths: &[&Path]| SourceSpec::from_paths(&paths.iter().map(PathBuf::from).collect::<Vec<_>>());
        assert_eq!(spec(&[folder.path()]).unwrap(), SourceSpec::Folder(folder.path().into()));
        assert_eq!(spec(&[&image, &image]).unwrap(), SourceSpec::Files { left: image.clone(), right: image.clone() });
        assert!(spec(&[&image]).unwrap_err().to_string().contains("one picture, and a pair needs two"));
        assert!(spec(&[&image, &image, &image]).is_err());
        assert_eq!(spec(&[]).unwrap(), SourceSpec::Scene);
        let recording = folder.path().join("a.mcap");
        std::fs::write(&recording, "x").unwrap();
        assert_eq!(spec(&[&recording]).unwrap(), SourceSpec::Recording(recording.clone()));
        for gone in [&[Path::new("gone.mcap")][..], &[&image, Path::new("gone.png")], &[Path::new("gone/a"), &image]] {
            let text = spec(gone).unwrap_err().to_string();
            assert!(text.contains("cannot open gone") && !text.contains("os error"), "{text}");
        }
    }
}
