//! Faults of the words and paths of sources.

use super::disparity_file::DisparityFile;
use super::names::SCHEMES;
use crate::picture_file::{UnreadImage, has_view_in_xmp};
use crate::{Arrangement, CaptureError};
use std::path::{Path, PathBuf};
use stereopsis_base::console;
use stereopsis_base::remedy::{Remedy, option};

/// Forms of the words of a source.
const GRAMMAR: &str = "give scene, LEFT,RIGHT (two image files), FOLDER, FILE.mcap or FILE.db3 (a recording), - (one from a pipe), webcam:0,1 (two \
     cameras), webcam:0 (one, side by side), a video or rtsp:// address (or two), y4m:- (raw frames from a pipe), csi:0,1 (a Raspberry Pi's cameras), zenoh:NAME@ROUTER (a rig on the network), zenoh:LEFT,RIGHT@ROUTER (two heads of one camera each) or ros2:/left/image_raw,/right/image_raw (two topics of ROS 2)";
/// Forms of paths.
const PATHS: &str = "give a left and a right image, with a file of their true disparities if there is one, a folder of pairs, one \
     or two videos, or a recording (.mcap, .db3); in the window also a rig or a calibration, alone";

/// Largest number of files that a message names.
const MAX_NAMED_FILES: usize = 3;

/// Fault of the words or paths of a source. Words in it have no secrets.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum SpecError {
    /// The words have no form of a source.
    #[error("'{0}' names no source: {GRAMMAR}")]
    NoSource(String),
    /// Both cameras are the same.
    #[error("'{words}' names one camera twice: for one that gives both images side by side write webcam:{camera}")]
    SameCamera {
        /// Words of the source.
        words: String,
        /// Name of the camera.
        camera: String,
    },
    /// Both heads are the same.
    #[error("'{0}' names one head twice: give that of the left camera and that of the right one")]
    SameHead(String),
    /// Both topics are the same.
    #[error("'{0}' names one topic twice: give that of each view")]
    SameTopic(String),
    /// A word is no name of a topic.
    #[error("'{0}' is no topic of ROS 2: give the full names of both, such as ros2:/left/image_raw,/right/image_raw")]
    NoTopic(String),
    /// The address has no scheme of a stream.
    #[error("'{}' is no address of a stream: one begins with {}", .0, schemes())]
    NoStream(String),
    /// A stored address lacks its secrets.
    #[error("the address {address} was kept without {missing}, which is a secret: give the whole address again")]
    Hidden {
        /// Address without secrets.
        address: String,
        /// Name of the missing part.
        missing: String,
    },
    /// The recording has a format that is not read.
    #[error(transparent)]
    Unread(#[from] UnreadRecording),
    /// One image alone.
    #[error(
        "{} is one image, and a pair needs two, or {} or {} where it shows both views{}: {PATHS}",
        console::path(.0),
        option(Arrangement::SideBySide.word()),
        option(Arrangement::TopBottom.word()),
        right_in_xmp(.0)
    )]
    OneImage(PathBuf),
    /// Image of a format that is not read.
    #[error("{} is {}", console::path(.path), .kind.words(.path))]
    UnreadImage {
        /// Path of the file.
        path: PathBuf,
        /// Its format.
        kind: UnreadImage,
    },
    /// The file is none of a source.
    #[error("{} is no source: {PATHS}", console::path(.0))]
    NoSourceFile(PathBuf),
    /// The files do not form a source.
    #[error("{} cannot be opened together: {PATHS}", names(.0))]
    NoGroup(Vec<PathBuf>),
    /// There is no such file or folder.
    #[error("cannot open {shown}: {why}{}", if *.is_word { format!("; {GRAMMAR}") } else { String::new() })]
    Missing {
        /// Path without secrets.
        shown: String,
        /// Cause.
        why: String,
        /// Whether the path may have been meant as the word of another source.
        is_word: bool,
    },
    /// Truth for a source that is no pair of files.
    #[error(
        "{} is for one pair of images, and {source_words} is none: give LEFT RIGHT; in folders the truth of a data set is found by its name",
        Remedy::set("truth", .file)
    )]
    TruthOfOther {
        /// File of the truth.
        file: DisparityFile,
        /// Words of the source.
        source_words: String,
    },
    /// Several files whose images show both views.
    #[error(
        "{} says that each image shows both views: give one image, a folder of such images, or a recording with {}",
        option(.0.word()),
        option("topic")
    )]
    ManyOfBothViews(Arrangement),
    /// A shift of the right video for a source without videos.
    #[error("{} is for a left and a right video file, and {source_words} is none", option("right-shift-s"))]
    NoVideos {
        /// Words of the source.
        source_words: String,
    },
    /// A source with images of its own for each view.
    #[error(
        "{} is for images of both views in a file, a folder, a video or a recording, and {source_words} is none of them; a camera that shows both \
         side by side is webcam:0",
        option(.arrangement.word())
    )]
    SeparateViews {
        /// Arrangement of both views in one image.
        arrangement: Arrangement,
        /// Words of the source.
        source_words: String,
    },
}

/// Recording in a format that is not read, with the command of another program that converts it.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum UnreadRecording {
    /// Bag of ROS 1.
    #[error("{} is a bag of ROS 1, which is not read: convert it to a folder with {} (`pip install rosbags`)", console::path(.0), conversion(.0))]
    Ros1(PathBuf),
    /// Recording of a ZED camera.
    #[error(
        "{} is a recording of a ZED camera, which only its SDK reads: export both views as a folder of images with the SDK's sample, \
         `mkdir pairs && python3 svo_export.py --mode 2 --input_svo_file {} --output_path_dir pairs`, and open that folder",
        console::path(.0),
        quoted(.0)
    )]
    Zed(PathBuf),
}

impl UnreadRecording {
    /// Returns the kind of a recording that is not read, by its name; `None` for other files.
    pub fn of(path: &Path) -> Option<Self> {
        let name = path.file_name()?.to_string_lossy().to_lowercase();
        Some(match name.rsplit_once('.')?.1 {
            "bag" => Self::Ros1(path.to_owned()),
            "svo" | "svo2" => Self::Zed(path.to_owned()),
            _ => return None,
        })
    }
}

impl From<SpecError> for CaptureError {
    fn from(err: SpecError) -> Self {
        Self::Grammar(err.into())
    }
}

fn quoted(path: &Path) -> String {
    console::quoted(&path.to_string_lossy())
}

/// Returns the end of a sentence on a photo of VR180, whose right view decoders of JPEG do not see.
fn right_in_xmp(path: &Path) -> String {
    if !has_view_in_xmp(path) {
        return String::new();
    }
    let right = path.with_file_name(format!("{}_right.jpg", path.file_stem().unwrap_or_default().to_string_lossy()));
    format!(
        "; its right view lies in its XMP: `exiftool -b -XMP-GImage:ImageData {} > {}`",
        quoted(path),
        quoted(&right)
    )
}

fn conversion(path: &Path) -> String {
    format!("`rosbags-convert --src {} --dst {} --dst-storage mcap`", quoted(path), quoted(&path.with_extension("")))
}

fn schemes() -> String {
    SCHEMES.map(|scheme| format!("{scheme}://")).join(", ")
}

fn names(paths: &[PathBuf]) -> String {
    let named = |path: &PathBuf| console::path(Path::new(path.file_name().unwrap_or(path.as_os_str())));
    let text = paths.iter().take(MAX_NAMED_FILES).map(named).collect::<Vec<_>>().join(", ");
    match paths.len().checked_sub(MAX_NAMED_FILES) {
        Some(more @ 1..) => format!("{text} and {more} more"),
        _ => text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_the_command_that_converts_a_recording() {
        for (name, what, command) in [
            ("a/walk.BAG", "a bag of ROS 1", "`rosbags-convert --src a/walk.BAG --dst a/walk --dst-storage mcap`"),
            ("my run.bag", "ROS 1", "`rosbags-convert --src 'my run.bag' --dst 'my run' --dst-storage mcap`"),
            ("zed/hall.svo2", "a ZED camera", "--input_svo_file zed/hall.svo2 "),
        ] {
            let text = UnreadRecording::of(Path::new(name)).unwrap().to_string();
            assert!(text.contains(what) && text.contains(command), "{name}: {text}");
        }
        assert_eq!(
            [".", "a.mcap", "bag", "db3.png"].map(|name| UnreadRecording::of(Path::new(name))),
            [const { None }; 4]
        );
    }
}
