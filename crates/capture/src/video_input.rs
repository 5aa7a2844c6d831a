//! Names of videos and streams that another program decodes: parsed from and printed as a value of `--source`.
//! The password of an address must never be shown or stored.

use std::fmt;
use std::path::{Path, PathBuf};

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

/// Address of a stream. It may contain a password, which is neither shown nor stored.
#[derive(Clone, PartialEq, Eq)]
pub struct Address(String);

const ENDINGS: [&str; 11] = ["mp4", "avi", "mkv", "mov", "webm", "m4v", "mpg", "mpeg", "ts", "wmv", "flv"];
const SCHEMES: [&str; 8] = ["rtsp", "rtsps", "http", "https", "rtmp", "srt", "udp", "tcp"];
const HIDDEN: &str = "***";

impl VideoInput {
    /// Parses one or two streams; `None` for other sources.
    ///
    /// # Errors
    /// The password of an address was replaced by `***`.
    pub(crate) fn parse(words: &str) -> Result<Option<Vec<Self>>, String> {
        let named = if let Some(numbers) = words.strip_prefix("csi:") {
            numbers.split(',').map(|number| number.parse().ok().map(Self::Csi)).collect()
        } else if let Some(paths) = words.strip_prefix("y4m:") {
            let whole = Path::new(paths);
            let paths: Vec<&str> = if whole.exists() { vec![paths] } else { paths.split(',').collect() };
            paths.into_iter().map(|path| (!path.is_empty()).then(|| Self::Y4m(path.into()))).collect()
        } else {
            Self::of_places(words)
        };
        let Some(inputs) = named.filter(|inputs: &Vec<_>| (1..=2).contains(&inputs.len())) else { return Ok(None) };
        if let Some(hidden) = inputs.iter().find(|input| matches!(input, Self::Address(address) if address.is_hidden()))
        {
            return Err(format!("the password of {hidden} is not kept: give the address with its password again"));
        }
        Ok(Some(inputs))
    }

    /// Parses one or two video files or addresses. A comma separates two if both parts are valid.
    fn of_places(words: &str) -> Option<Vec<Self>> {
        let is_whole = Path::new(words).exists();
        let splits = words.match_indices(',').map(|(at, _)| (&words[..at], &words[at + 1..])).filter(|_| !is_whole);
        let mut pairs = splits.filter_map(|(left, right)| Some(vec![Self::of_place(left)?, Self::of_place(right)?]));
        pairs.next().or_else(|| Self::of_place(words).map(|one| vec![one]))
    }

    fn of_place(word: &str) -> Option<Self> {
        if let Some((scheme, rest)) = word.split_once("://") {
            let is_known = SCHEMES.iter().any(|known| scheme.eq_ignore_ascii_case(known)) && !rest.is_empty();
            return is_known.then(|| Self::Address(Address(word.to_owned())));
        }
        Self::of_path(Path::new(word))
    }

    /// Returns the video of a path with the extension of a video, unless it is a folder.
    pub(crate) fn of_path(path: &Path) -> Option<Self> {
        let ending = path.extension()?.to_str()?.to_ascii_lowercase();
        let input = match &*ending {
            "y4m" => Self::Y4m(path.to_owned()),
            ending if ENDINGS.contains(&ending) => Self::File(path.to_owned()),
            _ => return None,
        };
        (!path.is_dir()).then_some(input)
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

    /// Removes the password of this address from a text.
    pub fn without_password(&self, text: &str) -> String {
        let Self::Address(address) = self else { return text.to_owned() };
        match address.password() {
            Some(password) => text.replace(&address.0, &address.to_string()).replace(password, HIDDEN),
            None => text.to_owned(),
        }
    }
}

impl Address {
    /// Returns the whole address, for the program that reads the stream.
    pub fn with_password(&self) -> &str {
        &self.0
    }

    fn password(&self) -> Option<&str> {
        let (_, rest) = self.0.split_once("://")?;
        let host = rest.find(['/', '?']).unwrap_or(rest.len());
        // a password may hold an @, which a host does not
        let (user, _) = rest[..host].rsplit_once('@').or_else(|| rest.rsplit_once('@'))?;
        let (_, password) = user.split_once(':')?;
        (!password.is_empty()).then_some(password)
    }

    fn is_hidden(&self) -> bool {
        self.password() == Some(HIDDEN)
    }
}

impl fmt::Display for Address {
    /// Formats the address with `***` in place of the password.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Some(password) = self.password() else { return f.write_str(&self.0) };
        f.write_str(&self.0.replacen(&format!(":{password}@"), &format!(":{HIDDEN}@"), 1))
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
    fn hides_passwords() {
        for (address, shown) in [
            ("rtsp://admin:geheim@10.0.0.5/stream1", "rtsp://admin:***@10.0.0.5/stream1"),
            ("rtsp://admin:a@b:c@cam/x", "rtsp://admin:***@cam/x"),
            ("rtsp://u:a/b@cam:554/x", "rtsp://u:***@cam:554/x"),
            ("http://cam:8080/video", "http://cam:8080/video"),
            ("rtsp://admin@cam/x?a=b:c", "rtsp://admin@cam/x?a=b:c"),
        ] {
            let inputs = VideoInput::parse(address).unwrap().unwrap();
            assert_eq!(words(&inputs), shown);
            assert!(!format!("{inputs:?}").contains("geheim"));
        }
        let input = VideoInput::parse("rtsp://admin:geheim@cam/x").unwrap().unwrap().remove(0);
        let said = input.without_password("rtsp://admin:geheim@cam/x: 401, 'geheim' is wrong");
        assert!(!said.contains("geheim") && said.contains("401"), "{said}");
        assert!(VideoInput::parse("rtsp://admin:***@cam/x").unwrap_err().contains("again"));
    }

    #[test]
    fn separates_two_streams_from_one() {
        for (text, count) in [
            ("a b/clip.MP4", 1),
            ("l.mp4,r.mp4", 2),
            ("one, two.mkv", 1),
            ("rtsp://a/x,rtsp://b/y", 2),
            ("rtsp://a/x,y", 1),
            ("csi:0", 1),
            ("csi:0,1", 2),
            ("y4m:-", 1),
            ("y4m:l.y4m,r.y4m", 2),
        ] {
            let inputs = VideoInput::parse(text).unwrap().unwrap_or_else(|| panic!("{text} is no video"));
            assert_eq!((inputs.len(), words(&inputs).as_str()), (count, text));
        }
        for text in ["l.png,r.png", "csi:", "csi:x", "csi:0,1,2", "y4m:", "ftp://a/b", "rtsp://", "scene"] {
            assert_eq!(VideoInput::parse(text), Ok(None), "{text}");
        }
    }
}
