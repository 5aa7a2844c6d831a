//! Parser of YUV4MPEG2: uncompressed frames, each behind a text line, as `ffmpeg -f yuv4mpegpipe` writes them:
//! <https://wiki.multimedia.cx/index.php/YUV4MPEG2>. A header may claim any size: it is checked before memory is reserved.

use std::io::{self, BufRead, Read as _};
use stereopsis_base::console::foreign;
use stereopsis_base::image::{Image, Luma, Picture};
use stereopsis_frame::decode_camera::rgb_from_yuv;
use stereopsis_frame::{MaxPixels, TooManyPixels};

/// Maximum length of a header line, bytes.
const MAX_LINE: u64 = 1024;
const MAGIC: &str = "YUV4MPEG2";
const FRAME: &str = "FRAME";

/// Reason why a stream is not read as YUV4MPEG2.
#[derive(Debug, thiserror::Error)]
pub enum Y4mError {
    /// The stream is empty.
    #[error("nothing came")]
    Empty,
    /// The stream begins otherwise.
    #[error("it is no YUV4MPEG2: its first word is not {MAGIC}")]
    OtherMagic,
    /// A header has no end.
    #[error("its header has no end: it is no YUV4MPEG2")]
    EndlessHeader,
    /// Frames of two fields.
    #[error(
        "its frames are interlaced, two moments in one image: let the program that writes it take them apart (ffmpeg -vf yadif)"
    )]
    Interlaced,
    /// The header has no size.
    #[error("its header has no size (W and H)")]
    NoSize,
    /// More pixels than the limit.
    #[error(transparent)]
    TooManyPixels(#[from] TooManyPixels),
    /// Sampling of colours that is not read.
    #[error("its sampling '{}' is not read: 420, 422, 444, 411 and mono are, of 8 to 16 bits", foreign(.0))]
    Sampling(String),
    /// Neither a frame nor a stream begins where one should.
    #[error("a frame does not begin with {FRAME}: the stream is damaged")]
    NoFrame,
    /// The stream cannot be read.
    #[error("{0}")]
    Io(#[from] io::Error),
}

/// Layout of a frame's planes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Layout {
    /// Columns of the luma plane.
    pub width: usize,
    /// Rows of the luma plane.
    pub height: usize,
    /// Columns and rows of luma per chroma value; `None` without chroma.
    pub chroma: Option<(usize, usize)>,
    /// Whether an alpha plane follows.
    pub has_alpha: bool,
    /// Bits of a value: 8, or 9 to 16 in two little-endian bytes.
    pub bits: u8,
    /// Whether the range is full, rather than 16 to 235 of 255.
    pub is_full_range: bool,
}

/// Header of a stream.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Header {
    /// Layout of each frame.
    pub layout: Layout,
    /// Rate, frames/s, if known.
    pub rate_hz: Option<f64>,
}

impl Layout {
    /// Returns the layout of 8-bit YUV420.
    pub(crate) fn yuv420(width: usize, height: usize) -> Self {
        Self { width, height, chroma: Some((2, 2)), has_alpha: false, bits: 8, is_full_range: false }
    }

    fn chroma_size(&self) -> Option<(usize, usize)> {
        self.chroma.map(|(columns, rows)| (self.width.div_ceil(columns), self.height.div_ceil(rows)))
    }

    fn value_bytes(&self) -> usize {
        usize::from(self.bits.div_ceil(8))
    }

    /// Returns the size of a frame, bytes.
    pub fn frame_bytes(&self) -> usize {
        let (luma, colors) =
            (self.width * self.height, self.chroma_size().map_or(0, |(width, height)| 2 * width * height));
        (luma * (1 + usize::from(self.has_alpha)) + colors) * self.value_bytes()
    }

    /// Decodes a frame; `None` if there are too few bytes.
    pub fn picture(&self, bytes: &[u8], keeps_rgb: bool) -> Option<Picture> {
        if bytes.len() < self.frame_bytes() {
            return None;
        }
        let value_bytes = self.value_bytes();
        let luma_bytes = self.width * self.height * value_bytes;
        let (luma, rest) = bytes.split_at(luma_bytes);
        let luma = if self.bits == 8 {
            Luma::U8(Image::new(self.width, self.height, luma.to_vec()))
        } else {
            let words = luma.as_chunks::<2>().0.iter().map(|&two| u16::from_le_bytes(two)).collect();
            Luma::U16 { image: Image::new(self.width, self.height, words), bits: self.bits }
        };
        let rgb = self.chroma_size().filter(|_| keeps_rgb).map(|size| self.colors(&luma.to_u8(), rest, size));
        Some(Picture { luma, rgb })
    }

    fn colors(&self, luma: &Image<u8>, planes: &[u8], (width, height): (usize, usize)) -> Image<[u8; 3]> {
        let (columns, rows) = self.chroma.unwrap_or((1, 1));
        let value_bytes = self.value_bytes();
        let (us, vs) = planes.split_at(width * height * value_bytes);
        let value = |plane: &[u8], at: usize| match value_bytes {
            1 => plane[at],
            _ => (u16::from_le_bytes([plane[2 * at], plane[2 * at + 1]]) >> (self.bits - 8)).min(255) as u8,
        };
        Image::from_fn(self.width, self.height, |x, y| {
            let at = y / rows * width + x / columns;
            let (luma, u, v) = (luma.at(x, y), value(us, at), value(vs, at));
            if self.is_full_range { rgb_of_full_range(luma, u, v) } else { rgb_from_yuv(luma, u, v) }
        })
    }
}

/// Converts full-range YUV to RGB by compressing it to the limited range.
fn rgb_of_full_range(y: u8, u: u8, v: u8) -> [u8; 3] {
    let luma = 16 + (i32::from(y) * 219 + 127) / 255;
    let chroma = |value: u8| 128 + (i32::from(value) - 128) * 224 / 255;
    rgb_from_yuv(luma as u8, chroma(u) as u8, chroma(v) as u8)
}

impl Header {
    /// Reads the first line of a stream.
    ///
    /// # Errors
    /// The line is no YUV4MPEG2 header, or its size or sampling is unsupported; the text has the reason.
    pub fn read(reader: &mut impl BufRead, max_pixels: MaxPixels) -> Result<Self, Y4mError> {
        Self::of_line(&line(reader)?.ok_or(Y4mError::Empty)?, max_pixels)
    }

    fn of_line(line: &str, max_pixels: MaxPixels) -> Result<Self, Y4mError> {
        let mut words = line.split(' ');
        if words.next() != Some(MAGIC) {
            return Err(Y4mError::OtherMagic);
        }
        let (mut width, mut height, mut rate_hz, mut sampling, mut is_full_range) = (0, 0, None, "420jpeg", false);
        for word in words {
            let (key, value) = word.split_at_checked(1).unwrap_or((word, ""));
            match key {
                "W" => width = value.parse().unwrap_or(0),
                "H" => height = value.parse().unwrap_or(0),
                "F" => rate_hz = ratio(value),
                "C" => sampling = value,
                "I" if !matches!(value, "p" | "?" | "") => return Err(Y4mError::Interlaced),
                "X" if value == "COLORRANGE=FULL" => is_full_range = true,
                _ => {} // aspect, comments
            }
        }
        if width == 0 || height == 0 {
            return Err(Y4mError::NoSize);
        }
        max_pixels.check(width as u64, height as u64)?;
        let layout = Layout { is_full_range, ..Layout::yuv420(width, height) };
        let layout = sampled(layout, sampling).ok_or_else(|| Y4mError::Sampling(sampling.to_owned()))?;
        Ok(Self { layout, rate_hz })
    }

    /// Reads the line before a frame; `None` at the end of the stream. If another stream follows, the result is its header.
    ///
    /// # Errors
    /// Neither a frame nor a stream begins here.
    pub fn before_frame(self, reader: &mut impl BufRead, max_pixels: MaxPixels) -> Result<Option<Self>, Y4mError> {
        let mut header = self;
        while let Some(line) = line(reader)? {
            match line.split(' ').next() {
                Some(FRAME) => return Ok(Some(header)),
                Some(MAGIC) => header = Self::of_line(&line, max_pixels)?,
                _ => return Err(Y4mError::NoFrame),
            }
        }
        Ok(None)
    }
}

/// Parses a ratio such as `30000:1001`; `None` for the unknown `0:0`.
fn ratio(text: &str) -> Option<f64> {
    let (over, under) = text.split_once(':')?;
    let (over, under): (f64, f64) = (over.parse().ok()?, under.parse().ok()?);
    Some(over / under).filter(|rate| rate.is_finite() && (0.001..=10_000.0).contains(rate))
}

/// Returns this layout with the sampling and bits of a word; `None` if unknown.
fn sampled(layout: Layout, word: &str) -> Option<Layout> {
    let (word, bits) = match word.strip_prefix("mono").filter(|bits| !bits.is_empty()) {
        Some(bits) => ("mono", bits),
        None => word
            .split_once('p')
            .filter(|(_, bits)| bits.starts_with(|c: char| c.is_ascii_digit()))
            .unwrap_or((word, "8")),
    };
    let bits = bits.parse().ok().filter(|bits| (8..=16).contains(bits))?;
    let chroma = match word {
        "420" | "420jpeg" | "420mpeg2" | "420paldv" => Some((2, 2)),
        "422" => Some((2, 1)),
        "444" | "444alpha" => Some((1, 1)),
        "411" => Some((4, 1)),
        "mono" => None,
        _ => return None,
    };
    Some(Layout { chroma, bits, has_alpha: word == "444alpha", ..layout })
}

/// Reads a line without its end; `None` at the end of the stream.
fn line(reader: &mut impl BufRead) -> Result<Option<String>, Y4mError> {
    let mut bytes = Vec::new();
    reader.take(MAX_LINE).read_until(b'\n', &mut bytes)?;
    match bytes.pop() {
        None => Ok(None),
        Some(b'\n') => Ok(Some(String::from_utf8_lossy(&bytes).into_owned())),
        Some(_) => Err(Y4mError::EndlessHeader),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn header(text: &str) -> Result<Header, Y4mError> {
        Header::read(&mut format!("{text}\n").as_bytes(), MaxPixels::default())
    }

    #[test]
    fn frame_bytes_match_every_sampling() {
        for (words, bytes) in [
            ("W6 H4 F30:1 Ip A1:1 C420jpeg XYSCSS=420JPEG", 36),
            ("W6 H4", 36),
            ("W5 H3 C420", 5 * 3 + 2 * 3 * 2),
            ("W6 H4 C422", 48),
            ("W6 H4 C444", 72),
            ("W8 H4 C411", 48),
            ("W6 H4 Cmono", 24),
            ("W6 H4 C444alpha", 96),
            ("W6 H4 C420p10", 72),
            ("W6 H4 Cmono12", 48),
        ] {
            let header = header(&format!("YUV4MPEG2 {words}")).unwrap();
            assert_eq!(header.layout.frame_bytes(), bytes, "{words}");
        }
        assert_eq!(header("YUV4MPEG2 W6 H4 F30000:1001").unwrap().rate_hz, Some(30000.0 / 1001.0));
        assert_eq!(header("YUV4MPEG2 W6 H4 F0:0").unwrap().rate_hz, None);
    }

    #[test]
    fn rejects_invalid_headers() {
        for (text, why) in [
            ("RIFF", "no YUV4MPEG2"),
            ("YUV4MPEG2 W6", "no size"),
            ("YUV4MPEG2 W0 H4", "no size"),
            ("YUV4MPEG2 W6 H4 C410", "'410' is not read"),
            ("YUV4MPEG2 W6 H4 C420p7", "'420p7' is not read"),
            ("YUV4MPEG2 W6 H4 It", "interlaced"),
            ("YUV4MPEG2 W9999999 H9999999", "pixels"),
        ] {
            let told = header(text).unwrap_err().to_string();
            assert!(told.contains(why), "{text}: {told}");
        }
        let endless = [b'Y'; 5000];
        let told = Header::read(&mut &endless[..], MaxPixels::default()).unwrap_err().to_string();
        assert!(told.contains("no end"), "{told}");
    }

    #[test]
    fn decodes_luma_and_colours() {
        // red in the left half, in both ranges
        for (full, red) in [(false, [81, 90, 240]), (true, [76, 85, 255])] {
            let layout = Layout { is_full_range: full, ..Layout::yuv420(4, 2) };
            let mut bytes = vec![red[0], red[0], 128, 128, red[0], red[0], 128, 128];
            bytes.extend([red[1], 128, red[2], 128]);
            let picture = layout.picture(&bytes, true).unwrap();
            assert_eq!(picture.luma.to_u8().at(0, 1), red[0]);
            let [r, g, b] = picture.rgb.unwrap().at(1, 1);
            assert!(r > 245 && g < 12 && b < 12, "{full}: {r} {g} {b}");
            assert!(layout.picture(&bytes, false).unwrap().rgb.is_none());
            assert!(layout.picture(&bytes[1..], false).is_none());
        }
        let deep = Layout { bits: 10, chroma: None, ..Layout::yuv420(2, 1) };
        let picture = deep.picture(&[0x00, 0x02, 0xff, 0x03], true).unwrap();
        assert_eq!(picture.luma, Luma::U16 { image: Image::new(2, 1, vec![512, 1023]), bits: 10 });
    }
}
