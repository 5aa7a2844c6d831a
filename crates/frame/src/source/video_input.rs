//! Names of videos and streams that another program decodes: parsed from and printed as a value of `--source`.
//! The secrets of an address ([`secrets`]) must never be shown or stored.

use super::SpecError;
use super::film_bytes::{FilmBytes, film_bytes};
use super::names::{SCHEMES, has_extension};
use crate::CaptureError;
use std::fmt;
use std::path::{Path, PathBuf};
use stereopsis_base::secrets;
use stereopsis_base::secrets::Secrets;

/// Video, or stream of images.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum VideoInput {
    /// Video file: `clip.mp4`.
    File(PathBuf),
    /// Stream on the network: `rtsp://…`.
    Address(Address),
    /// Uncompressed frames (YUV4MPEG2) from a file or pipe, `y4m:PATH`, or from standard input, `y4m:-`.
    Y4m(PathBuf),
    /// Camera of a Raspberry Pi: `csi:0`.
    Csi(u32),
}

/// Address of a stream. It may contain secrets, which are neither shown nor stored; one that was stored has `***` in their place.
#[derive(Clone, PartialEq, Eq)]
pub struct Address(String);

/// Endings of films. Others are known by their first bytes; these are films also where there is no such file, and where its bytes say
/// nothing.
const ENDINGS: [&str; 24] = [
    "mp4", "avi", "mkv", "mk3d", "mov", "webm", "m4v", "mpg", "mpeg", "ts", "mts", "m2ts", "vob", "wmv", "flv", "3gp",
    "3g2", "mxf", "h264", "h265", "hevc", "264", "mjpeg", "mjpg",
];

impl VideoInput {
    /// Parses one or two streams; `None` for other sources.
    pub(crate) fn parse(words: &str) -> Option<Vec<Self>> {
        let named = if let Some(numbers) = words.strip_prefix("csi:") {
            numbers.split(',').map(|number| number.parse().ok().map(Self::Csi)).collect()
        } else if let Some(paths) = words.strip_prefix("y4m:") {
            let whole = Path::new(paths);
            let paths: Vec<&str> = if whole.exists() { vec![paths] } else { paths.split(',').collect() };
            paths.into_iter().map(|path| (!path.is_empty()).then(|| Self::Y4m(path.into()))).collect()
        } else {
            Self::of_places(words)
        };
        named.filter(|inputs: &Vec<_>| (1..=2).contains(&inputs.len()))
    }

    /// Parses one or two video files or addresses. A comma separates two if both parts are valid, and if it stands in no password.
    fn of_places(words: &str) -> Option<Vec<Self>> {
        let is_whole = Path::new(words).exists();
        let splits = words.match_indices(',').map(|(at, _)| (&words[..at], &words[at + 1..])).filter(|_| !is_whole);
        let mut pairs = splits.filter_map(|(left, right)| {
            let pair = vec![Self::of_place(left)?, Self::of_place(right)?];
            let [hidden_left, hidden_right, hidden] = [left, right, words].map(secrets::hidden_words);
            (hidden == format!("{hidden_left},{hidden_right}")).then_some(pair)
        });
        pairs.next().or_else(|| Self::of_place(words).map(|one| vec![one]))
    }

    fn of_place(word: &str) -> Option<Self> {
        if let Some((scheme, rest)) = word.split_once("://") {
            let scheme = scheme.to_ascii_lowercase(); // ffmpeg knows no other
            let is_known = SCHEMES.contains(&&*scheme) && !rest.is_empty();
            return is_known.then(|| Self::Address(Address(format!("{scheme}://{rest}"))));
        }
        Self::of_path(Path::new(word))
    }

    /// Returns the video of a path with the extension of a video, or whose first bytes are those of a film, unless it is a folder.
    pub(crate) fn of_path(path: &Path) -> Option<Self> {
        if path.is_dir() {
            return None;
        }
        let kind = if has_extension(path, &["y4m"]) {
            FilmBytes::Y4m
        } else if has_extension(path, &ENDINGS) {
            FilmBytes::Coded
        } else {
            film_bytes(path)?
        };
        Some(match kind {
            FilmBytes::Y4m => Self::Y4m(path.to_owned()),
            FilmBytes::Coded => Self::File(path.to_owned()),
        })
    }

    /// Returns the path; `None` for a stream or a camera.
    pub fn path(&self) -> Option<&Path> {
        match self {
            Self::File(path) | Self::Y4m(path) => Some(path),
            Self::Address(_) | Self::Csi(_) => None,
        }
    }

    /// Returns whether its frames can be counted and sought.
    pub fn has_length(&self) -> bool {
        match self {
            Self::File(_) => true,
            Self::Y4m(path) => path.is_file(),
            Self::Address(_) | Self::Csi(_) => false,
        }
    }

    /// Returns whether frames that are not taken in time are lost.
    pub fn is_live(&self) -> bool {
        matches!(self, Self::Address(_) | Self::Csi(_))
    }

    /// Removes the secrets of this address from a text, and those of other addresses in it.
    pub fn without_password(&self, text: &str) -> String {
        match self {
            Self::Address(address) => address.secrets().removed_from(text),
            Self::File(_) | Self::Y4m(_) | Self::Csi(_) => secrets::hidden(text),
        }
    }
}

impl Address {
    /// Returns the whole address, for the program that reads the stream.
    ///
    /// # Errors
    /// [`CaptureError::Grammar`] if it was kept without its secrets.
    pub fn with_password(&self) -> Result<&str, CaptureError> {
        match self.secrets().missing() {
            Some(missing) => Err(SpecError::Hidden { address: self.to_string(), missing }.into()),
            None => Ok(&self.0),
        }
    }

    fn secrets(&self) -> Secrets {
        Secrets::of_words(&self.0)
    }
}

impl fmt::Display for Address {
    /// Formats the address with `***` in place of its secrets.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&secrets::hidden_words(&self.0))
    }
}

impl fmt::Debug for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Address({self})")
    }
}

impl fmt::Display for VideoInput {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::File(path) => path.display().fmt(f),
            Self::Address(address) => address.fmt(f),
            Self::Y4m(path) => write!(f, "y4m:{}", path.display()),
            Self::Csi(number) => write!(f, "csi:{number}"),
        }
    }
}

/// Formats streams as a value of `--source`.
pub(crate) fn words(inputs: &[VideoInput]) -> String {
    let named = inputs.iter().enumerate().map(|(at, input)| match input {
        VideoInput::Y4m(path) if at > 0 => path.display().to_string(),
        VideoInput::Csi(number) if at > 0 => number.to_string(),
        input => input.to_string(),
    });
    named.collect::<Vec<_>>().join(",")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shows_and_keeps_no_secret_and_opens_no_hidden_address() {
        for (words, shown, missing) in [
            ("rtsp://admin:geheim@10.0.0.5/1", "rtsp://***@10.0.0.5/1", "what stands before the @"),
            ("http://cam/x?user=a&pwd=geheim", "http://cam/x?user=a&pwd=***", "the value of pwd"),
            ("http://u:geheim,b@cam/a.mp4", "http://***@cam/a.mp4", "what stands before the @"),
        ] {
            let input = VideoInput::parse(words).unwrap().remove(0);
            let VideoInput::Address(address) = &input else { panic!("{words} is an address") };
            assert_eq!((input.to_string().as_str(), address.with_password().unwrap()), (shown, words));
            assert!(!format!("{input:?}").contains("geheim"));
            let said = input.without_password(&format!("{words}: 401, 'geheim' is wrong"));
            assert!(!said.contains("geheim") && said.contains("401"), "{said}");
            let kept = VideoInput::parse(shown).unwrap().remove(0);
            let VideoInput::Address(address) = &kept else { panic!("{shown} is an address") };
            let why = address.with_password().unwrap_err().to_string();
            assert!(kept.to_string() == shown && why.contains(missing) && why.contains("again"), "{why}");
        }
        let kept_earlier = VideoInput::parse("rtsp://admin:***@cam/x").unwrap().remove(0);
        assert!(matches!(kept_earlier, VideoInput::Address(address) if address.with_password().is_err()));
    }

    #[test]
    fn separates_two_streams_from_one() {
        for (text, count) in [
            ("a b/clip.MP4", 1),
            ("l.mp4,r.mp4", 2),
            ("one, two.mkv", 1),
            ("rtsp://a/x,rtsp://b/y", 2),
            ("rtsp://a/x,y", 1),
            ("rtsp://a/x,r.mp4", 2),
            ("csi:0", 1),
            ("csi:0,1", 2),
            ("y4m:-", 1),
            ("y4m:l.y4m,r.y4m", 2),
        ] {
            let inputs = VideoInput::parse(text).unwrap_or_else(|| panic!("{text} is no video"));
            assert_eq!((inputs.len(), words(&inputs).as_str()), (count, text));
        }
        for text in ["l.png,r.png", "csi:", "csi:x", "csi:0,1,2", "y4m:", "ftp://a/b", "rtsp://", "scene"] {
            assert_eq!(VideoInput::parse(text), None, "{text}");
        }
    }
}
