//! Streams of a recording, chosen with `--streams`, as a set with its text form.

use std::fmt;
use std::str::FromStr;
use stereopsis_base::parameter::choices;

choices! {
    /// A stream.
    pub enum Stream {
        /// The images as the cameras encoded them, from which everything else can be computed.
        Raw = "raw",
        /// The left and the right view, split and upright, if the raw images are not: for other programs.
        Eyes = "eyes",
        /// The rectified pair at working size.
        Rectified = "rectified",
        /// Disparity of the left image, px.
        Disparity = "disparity",
        /// Depth of the left image, mm.
        Depth = "depth",
    }
}

/// Set of streams.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Streams(u8);

impl Default for Streams {
    fn default() -> Self {
        Self(0).with(Stream::Raw, true).with(Stream::Depth, true)
    }
}

impl Streams {
    /// Empty set.
    pub const NONE: Self = Self(0);

    /// Returns the union of both sets.
    #[must_use]
    pub fn and(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// Returns whether the set contains a stream.
    pub fn has(self, stream: Stream) -> bool {
        self.0 & bit(stream) != 0
    }

    /// Returns the set with or without a stream.
    #[must_use]
    pub fn with(self, stream: Stream, wanted: bool) -> Self {
        Self(if wanted { self.0 | bit(stream) } else { self.0 & !bit(stream) })
    }

    /// Returns whether the set is empty.
    pub fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// Returns whether images from before rectification are recorded.
    pub fn has_unrectified(self) -> bool {
        self.has(Stream::Raw) || self.has(Stream::Eyes)
    }

    /// Returns whether results are recorded.
    pub fn needs_results(self) -> bool {
        self.has(Stream::Disparity) || self.has(Stream::Depth)
    }
}

stereopsis_base::parameter::stands_as_its_word!(Streams);

fn bit(stream: Stream) -> u8 {
    1 << stream as u8
}

impl fmt::Display for Streams {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let words: Vec<_> = Stream::ALL.iter().filter(|&&s| self.has(s)).map(|s| s.word()).collect();
        f.write_str(&words.join(","))
    }
}

/// Text that names no streams, with the word that is none.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{}expected some of {}", .0.as_ref().map_or_else(String::new, |word| format!("'{word}': ")), all())]
pub struct StreamsError(Option<String>);

fn all() -> String {
    Stream::ALL.iter().map(|s| s.word()).collect::<Vec<_>>().join(", ")
}

impl FromStr for Streams {
    type Err = StreamsError;

    fn from_str(words: &str) -> Result<Self, StreamsError> {
        let mut streams = Self(0);
        for word in words.split(',').map(str::trim).filter(|word| !word.is_empty()) {
            let stream = Stream::from_word(word).ok_or_else(|| StreamsError(Some(word.to_owned())))?;
            streams = streams.with(stream, true);
        }
        if streams.is_empty() { Err(StreamsError(None)) } else { Ok(streams) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn round_trips_words_and_rejects_unknown_ones() {
        assert_eq!(Streams::default().to_string(), "raw,depth");
        assert_eq!("depth, rectified".parse::<Streams>().unwrap().to_string(), "rectified,depth");
        assert!(
            "raw,colour".parse::<Streams>().unwrap_err().to_string().contains("'colour': expected some of raw, eyes")
        );
        assert!(",".parse::<Streams>().is_err());
    }
}
