//! Grammar of `--source`: parses and prints the specification of a source, for flags, settings, path arguments and the window.
//! Parsing touches the file system only to decide what a path is; it opens nothing.

mod bag;
mod camera_name;
mod disparity_file;
mod error;
mod film_bytes;
pub mod names;
mod video_input;

pub use bag::bag_files;
pub use camera_name::CameraName;
pub use disparity_file::DisparityFile;
pub use error::{SpecError, UnreadRecording};
pub use video_input::{Address, VideoInput};

use crate::picture_file::{FileOfBoth, UnreadImage};
use crate::{Arrangement, CaptureError};
use names::{EXTENSIONS, has_extension, is_truth_name};
use std::fmt;
use std::path::{Path, PathBuf};
use stereopsis_base::parameter::ValueError;
use stereopsis_base::secrets::Secrets;
use stereopsis_base::{console, files};

/// Specification of a source.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SourceSpec {
    /// Built-in scene: `scene`.
    Scene,
    /// Two image files, with or without the true disparities of the left one: `LEFT,RIGHT`, `LEFT,RIGHT,TRUTH`, `LEFT,RIGHT,TRUTH:SCALE`.
    Files {
        /// File of the left view.
        left: PathBuf,
        /// File of the right view.
        right: PathBuf,
        /// Ground truth that the user names; `None` for the truth in the layout of a data set beside the pair, if any.
        truth: Option<DisparityFile>,
    },
    /// Pairs of image files: `FOLDER`.
    Folder(PathBuf),
    /// Two cameras by number or port, the left one first: `webcam:L,R`.
    WebcamPair(CameraName, CameraName),
    /// One side-by-side camera: `webcam:N`.
    WebcamSideBySide(CameraName),
    /// Recording of this or another program, `FILE.mcap`, or the folder that `ros2 bag record` makes.
    Recording(PathBuf),
    /// One video with both views side by side, or a left and a right one: `clip.mp4`, `rtsp://…`, `y4m:-`, `csi:0,1`.
    Video(Vec<VideoInput>),
    /// Growing recording on standard input: `-`.
    Pipe,
    /// Rig on the network: `zenoh:NAME`, `zenoh:NAME@ROUTER`.
    Rig {
        /// Name of the rig.
        name: String,
        /// Router by which it is reached; `None` for the one on this machine.
        router: Option<String>,
    },
    /// Two heads of one camera each, on two machines: `zenoh:LEFT,RIGHT`, `zenoh:LEFT,RIGHT@ROUTER`.
    RigPair {
        /// Name of the head of the left camera.
        left: String,
        /// Name of the head of the right camera.
        right: String,
        /// Router by which both are reached; `None` for the one on this machine.
        router: Option<String>,
    },
    /// Two topics of images in ROS 2, the left one first: `ros2:LEFT,RIGHT`.
    Ros2 {
        /// Topic of the left view.
        left: String,
        /// Topic of the right view.
        right: String,
    },
}

/// Parses a size such as `640x480`, `(width, height)` in px.
///
/// # Errors
/// The text is not a size.
pub fn parse_size(text: &str) -> Result<(usize, usize), ValueError> {
    let parsed = text.split_once('x').and_then(|(w, h)| Some((w.parse().ok()?, h.parse().ok()?)));
    parsed
        .filter(|&(w, h): &(usize, usize)| (1..=16_384).contains(&w) && (1..=16_384).contains(&h))
        .ok_or(ValueError::Expected("WIDTHxHEIGHT, each from 1 to 16384, such as 640x480"))
}

impl SourceSpec {
    /// Parses the value of `--source`.
    ///
    /// # Errors
    /// [`CaptureError::Grammar`] if they are invalid; files are checked when they are opened.
    pub fn parse(words: &str) -> Result<Self, CaptureError> {
        Ok(Self::parse_words(words)?)
    }

    fn parse_words(words: &str) -> Result<Self, SpecError> {
        let secrets = Secrets::of_words(words);
        let shown = |text: &str| secrets.removed_from(text);
        let wrong = || SpecError::NoSource(shown(words));
        let camera = |text: &str| text.parse::<CameraName>().map_err(|_| wrong());
        if words == "scene" {
            return Ok(Self::Scene);
        }
        if let Some(numbers) = words.strip_prefix("webcam:") {
            return match numbers.split_once(',') {
                Some((left, right)) => match (camera(left)?, camera(right)?) {
                    (left, right) if left == right => {
                        Err(SpecError::SameCamera { words: shown(words), camera: shown(&left.to_string()) })
                    }
                    (left, right) => Ok(Self::WebcamPair(left, right)),
                },
                None => Ok(Self::WebcamSideBySide(camera(numbers)?)),
            };
        }
        if let Some(rig) = words.strip_prefix("zenoh:") {
            let (name, router) =
                rig.split_once('@').map_or((rig, None), |(name, router)| (name, Some(router.to_owned())));
            if name.is_empty() || router.as_deref() == Some("") {
                return Err(wrong());
            }
            return match name.split_once(',') {
                None => Ok(Self::Rig { name: name.to_owned(), router }),
                Some((left, right)) if left.is_empty() || right.is_empty() => Err(wrong()),
                Some((left, right)) if left == right => Err(SpecError::SameHead(shown(words))),
                Some((left, right)) => Ok(Self::RigPair { left: left.to_owned(), right: right.to_owned(), router }),
            };
        }
        if let Some(topics) = words.strip_prefix("ros2:") {
            let (left, right) = topics.split_once(',').ok_or_else(wrong)?;
            if let Some(name) = [left, right].into_iter().find(|name| !is_topic(name)) {
                return Err(SpecError::NoTopic(shown(name)));
            }
            if left == right {
                return Err(SpecError::SameTopic(shown(words)));
            }
            return Ok(Self::Ros2 { left: left.to_owned(), right: right.to_owned() });
        }
        // a folder's name may contain a comma
        if !words.is_empty() && Path::new(words).is_dir() {
            return Ok(Self::of_folder(words.into()));
        }
        if words == "-" {
            return Ok(Self::Pipe);
        }
        if is_address(words) {
            return VideoInput::parse(words).map(Self::Video).ok_or_else(|| SpecError::NoStream(shown(words)));
        }
        if is_recording(Path::new(words)) {
            return Ok(Self::Recording(words.into()));
        }
        if let Some(videos) = VideoInput::parse(words) {
            return Ok(Self::Video(videos));
        }
        if let Some(unread) = UnreadRecording::of(Path::new(words)) {
            return Err(unread.into());
        }
        // the last part may end with the scale of the truth
        let parts = files::separated(words, |part| DisparityFile::from(part).path.is_file());
        if let Some(cameras) = cameras_of(&parts) {
            return cameras;
        }
        match parts[..] {
            [""] => Err(wrong()),
            [one] if !one.starts_with("webcam") => Ok(Self::Folder(one.into())),
            [left, right, ref truth @ ..] if truth.len() <= 1 && parts.iter().all(|part| !part.is_empty()) => {
                let truth = truth.first().map(|&words| DisparityFile::from(words));
                Ok(Self::Files { left: left.into(), right: right.into(), truth })
            }
            _ => Err(wrong()),
        }
    }

    /// Returns the source of the program's path arguments, or of files dropped on the window: one folder or recording, or a left and a
    /// right image, and their truth, which is recognized by its name ([`is_truth_name`]).
    ///
    /// # Errors
    /// [`CaptureError::Grammar`] for anything else; the text contains the paths and the possible forms.
    pub fn from_paths(paths: &[PathBuf]) -> Result<Self, CaptureError> {
        let words: Option<Vec<&str>> = paths.iter().map(|path| path.to_str()).collect();
        if let Some(cameras) = words.and_then(|words| cameras_of(&words)) {
            return Ok(cameras?);
        }
        let words: Vec<_> = paths.iter().map(|path| path.to_string_lossy()).collect();
        if words.iter().any(|words| is_address(words)) {
            let spec = Self::parse(&words.join(","))?;
            return spec.check_files_exist().map(|()| spec);
        }
        let videos: Option<Vec<_>> = paths.iter().map(|path| VideoInput::of_path(path)).collect();
        if let Some(videos) = videos.filter(|videos| (1..=2).contains(&videos.len())) {
            let spec = Self::Video(videos);
            return spec.check_files_exist().map(|()| spec);
        }
        let truth: Vec<usize> = (0..paths.len()).filter(|&i| is_truth_name(&paths[i])).collect();
        let spec = match paths {
            [] => Ok(Self::Scene),
            [folder] if folder.is_dir() => Ok(Self::of_folder(folder.clone())),
            [one] if is_recording(one) => Ok(Self::Recording(one.clone())),
            [one] if has_extension(one, EXTENSIONS) && FileOfBoth::of_file(one).is_some() => {
                Ok(Self::Folder(one.clone()))
            }
            [one] if one.exists() => Err(match (UnreadRecording::of(one), UnreadImage::of_file(one)) {
                (Some(unread), _) => unread.into(),
                (None, Some(kind)) => SpecError::UnreadImage { path: one.clone(), kind },
                (None, None) if has_extension(one, EXTENSIONS) => SpecError::OneImage(one.clone()),
                (None, None) => SpecError::NoSourceFile(one.clone()),
            }),
            [one] => one.to_str().map_or_else(|| Ok(Self::Folder(one.clone())), Self::parse_words),
            [a, b] if !a.is_dir() && !b.is_dir() && ![a, b].iter().any(|path| is_recording(path)) => {
                Ok(Self::Files { left: a.clone(), right: b.clone(), truth: None })
            }
            [_, _, _] if truth.len() == 1 => {
                let mut pair = paths.to_vec();
                let truth = Some(DisparityFile::new(pair.remove(truth[0])));
                let [left, right] = [0, 1].map(|side| pair[side].clone());
                Ok(Self::Files { left, right, truth })
            }
            _ => {
                paths.iter().try_for_each(|path| Self::check_exists(path))?;
                Err(SpecError::NoGroup(paths.to_vec()))
            }
        }?;
        spec.check_files_exist()?;
        Ok(spec)
    }

    /// Returns the source of a folder: a recording of `ros2 bag record`, or pairs.
    fn of_folder(folder: PathBuf) -> Self {
        if bag_files(&folder).is_some() { Self::Recording(folder) } else { Self::Folder(folder) }
    }

    /// Checks that the files of the source exist, and that its addresses are whole; cameras and the scene have none.
    ///
    /// # Errors
    /// [`CaptureError::Grammar`] for the first missing file, and for an address that was kept without its secrets.
    pub fn check_files_exist(&self) -> Result<(), CaptureError> {
        match self {
            Self::Files { left, right, truth } => {
                let truth = truth.as_ref().map(|truth| &truth.path);
                [left, right].into_iter().chain(truth).try_for_each(|path| Self::check_exists(path))
            }
            Self::Recording(path) | Self::Folder(path) => Self::check_exists(path),
            Self::Video(inputs) => {
                let paths = inputs.iter().filter_map(VideoInput::path).filter(|path| *path != Path::new("-"));
                paths.into_iter().try_for_each(Self::check_exists)?;
                self.check_addresses_whole()
            }
            Self::Scene
            | Self::WebcamPair(..)
            | Self::WebcamSideBySide(_)
            | Self::Pipe
            | Self::Rig { .. }
            | Self::RigPair { .. }
            | Self::Ros2 { .. } => Ok(()),
        }
    }

    /// Checks that the addresses of the source have all their secrets.
    ///
    /// # Errors
    /// [`CaptureError::Grammar`] for the first that was kept without them; the text names what is missing.
    pub fn check_addresses_whole(&self) -> Result<(), CaptureError> {
        let Self::Video(inputs) = self else { return Ok(()) };
        inputs.iter().try_for_each(|input| match input {
            VideoInput::Address(address) => address.with_password().map(drop),
            VideoInput::File(_) | VideoInput::Y4m(_) | VideoInput::Csi(_) => Ok(()),
        })
    }

    /// Sets the truth of a pair of files.
    ///
    /// # Errors
    /// The source is not a pair of files.
    pub fn with_truth(self, file: DisparityFile) -> Result<Self, CaptureError> {
        match self {
            Self::Files { left, right, .. } => Ok(Self::Files { left, right, truth: Some(file) }),
            other => Err(SpecError::TruthOfOther { file, source_words: other.to_string() }.into()),
        }
    }

    /// Returns the source of a path to images of both views: a folder, or one image.
    ///
    /// # Errors
    /// [`CaptureError::Grammar`] for several paths, for one that does not exist, and for a recording.
    pub fn of_both_views(paths: &[PathBuf], arrangement: Arrangement) -> Result<Self, CaptureError> {
        match paths {
            [one] if one.to_str() == Some("-") => Ok(Self::Pipe),
            [one] => {
                Self::check_exists(one)?;
                if let Some(video) = VideoInput::of_path(one) {
                    return Ok(Self::Video(vec![video]));
                }
                let is_recording = is_recording(one) && !one.is_dir();
                Ok(if is_recording { Self::Recording(one.clone()) } else { Self::Folder(one.clone()) })
            }
            _ => Err(SpecError::ManyOfBothViews(arrangement).into()),
        }
    }

    /// Checks that images of this source can show both views.
    ///
    /// # Errors
    /// [`CaptureError::Grammar`] if each view has its own images.
    pub fn check_both_views(&self, arrangement: Arrangement) -> Result<(), CaptureError> {
        match self {
            Self::Folder(_) | Self::Recording(_) | Self::Pipe => return Ok(()),
            Self::Video(inputs) if inputs.len() == 1 => return Ok(()),
            _ => {}
        }
        Err(SpecError::SeparateViews { arrangement, source_words: self.to_string() }.into())
    }

    /// Checks that the right view of this source can be shifted by a time in seconds: it is a video. Opening checks whether it has a right one.
    ///
    /// # Errors
    /// [`CaptureError::Grammar`] for other sources, unless the time is 0.
    pub fn check_right_shift(&self, shift_s: f64) -> Result<(), CaptureError> {
        if shift_s == 0.0 || matches!(self, Self::Video(_)) {
            return Ok(());
        }
        Err(SpecError::NoVideos { source_words: self.to_string() }.into())
    }

    /// Checks that a path exists; opening checks whether it can be read.
    ///
    /// # Errors
    /// [`CaptureError::Grammar`] if it does not.
    pub fn check_exists(path: &Path) -> Result<(), CaptureError> {
        files::missing(path).map_or(Ok(()), |why| {
            let shown = console::path(path);
            let secrets = Secrets::of_words(&shown);
            let [shown, why] = [shown, why].map(|text| secrets.removed_from(&text));
            // a word may have been meant for another kind of source
            let is_word = path.extension().is_none() && path.components().count() == 1;
            Err(SpecError::Missing { shown, why, is_word }.into())
        })
    }

    /// Returns whether pairs that are not taken in time are lost: the source does not wait for its reader.
    pub fn is_live(&self) -> bool {
        match self {
            Self::Rig { .. } | Self::RigPair { .. } | Self::Ros2 { .. } => true,
            Self::Video(inputs) => inputs.iter().any(VideoInput::is_live),
            other => other.is_camera(),
        }
    }

    /// Returns whether it is a camera of this machine.
    pub fn is_camera(&self) -> bool {
        matches!(self, Self::WebcamPair(..) | Self::WebcamSideBySide(_))
    }
}

impl fmt::Display for SourceSpec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Scene => f.write_str("scene"),
            Self::Files { left, right, truth } => {
                write!(f, "{},{}", left.display(), right.display())?;
                truth.as_ref().map_or(Ok(()), |truth| write!(f, ",{truth}"))
            }
            Self::Folder(folder) => folder.display().fmt(f),
            Self::WebcamPair(left, right) => write!(f, "webcam:{left},{right}"),
            Self::WebcamSideBySide(camera) => write!(f, "webcam:{camera}"),
            Self::Recording(file) => file.display().fmt(f),
            Self::Video(inputs) => f.write_str(&video_input::words(inputs)),
            Self::Pipe => f.write_str("-"),
            Self::Rig { name, router } => {
                write!(f, "zenoh:{name}")?;
                router.as_ref().map_or(Ok(()), |router| write!(f, "@{router}"))
            }
            Self::RigPair { left, right, router } => {
                write!(f, "zenoh:{left},{right}")?;
                router.as_ref().map_or(Ok(()), |router| write!(f, "@{router}"))
            }
            Self::Ros2 { left, right } => write!(f, "ros2:{left},{right}"),
        }
    }
}

impl std::str::FromStr for SourceSpec {
    type Err = CaptureError;

    fn from_str(words: &str) -> Result<Self, CaptureError> {
        Self::parse(words)
    }
}

/// Returns the cameras that a text names in the form of OpenCV and V4L2, `0,2` or `/dev/video0,/dev/video2`. A number that is also the
/// name of a file is not a camera.
fn cameras_of(parts: &[&str]) -> Option<Result<SourceSpec, SpecError>> {
    let number = |part: &&str| {
        let is_number = !part.is_empty() && part.chars().all(|c| c.is_ascii_digit()) && !Path::new(part).exists();
        part.strip_prefix("/dev/video").or(is_number.then_some(part))?.parse::<u32>().ok()
    };
    let numbers: Vec<u32> = parts.iter().map(number).collect::<Option<_>>()?;
    let names: Vec<String> = numbers.iter().map(u32::to_string).collect();
    (1..=2).contains(&names.len()).then(|| SourceSpec::parse_words(&format!("webcam:{}", names.join(","))))
}

/// Returns whether words are addresses, which have a scheme or a secret, and no paths.
fn is_address(words: &str) -> bool {
    let is_path = |words: &str| Path::new(words).exists();
    let has_scheme = words.contains("://");
    (has_scheme || !Secrets::of_words(words).is_empty() && !words.split(',').any(is_path)) && !is_path(words)
}

fn is_topic(name: &str) -> bool {
    let is_part = |part: &str| {
        part.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
            && part.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
    };
    name.len() <= MAX_TOPIC_BYTES && name.strip_prefix('/').is_some_and(|name| name.split('/').all(is_part))
}

const MAX_TOPIC_BYTES: usize = 240;

const RECORDING_EXTENSIONS: &[&str] = &["mcap", "db3"];
/// Extensions of compressed recordings, after the recording's own.
const PACKED_EXTENSIONS: &[&str] = &["zstd", "zst"];

fn is_recording(path: &Path) -> bool {
    let is_packed = has_extension(path, PACKED_EXTENSIONS);
    has_extension(if is_packed { Path::new(path.file_stem().unwrap_or_default()) } else { path }, RECORDING_EXTENSIONS)
}

#[cfg(test)]
mod tests;
