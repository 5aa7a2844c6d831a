//! Film with its decoder, which starts at any frame.

use crate::video::error::{FilmError, ReadError, VideoError};
use crate::video::probe::{Probe, Track, film};
use crate::video::program::{Launcher, Programs};
use crate::video::reader::{FrameReader, StreamFormat};
use crate::video::y4m::Header;
use std::fs::File;
use std::io::{BufReader, Seek as _, SeekFrom};
use std::ops::Range;
use std::path::Path;
use std::process::Command;
use std::sync::Arc;
use stereopsis_base::console;
use stereopsis_base::image::Picture;
use stereopsis_calibration::{Curve, CurvedImages};
use stereopsis_frame::player::PairError;
use stereopsis_frame::{MaxPixels, VideoInput};
use stereopsis_images::picture_files::curved;

/// Maximum length of a video, frames: a day at 120 frames/s.
const MAX_FRAMES: u64 = 120 * 60 * 60 * 24;
/// Maximum number of frames that are skipped; for more the decoder restarts at the target.
const MAX_SKIP: u64 = 60;
/// Rate of a stream without one, Hz.
const DEFAULT_RATE: f64 = 30.0;
/// Time by which a decoder begins earlier where it would begin too late, s; it grows by [`EARLIER_FACTOR`] until it begins in time.
const EARLIER_S: f64 = 2.0;
const EARLIER_FACTOR: f64 = 4.0;

/// Video, or one track of it, with its decoder.
pub(super) struct Video {
    programs: Arc<Programs>,
    pub(super) launcher: Launcher,
    pub(super) input: VideoInput,
    max_pixels: MaxPixels,
    /// Rate, frames/s.
    pub(super) rate: f64,
    /// Number of frames according to its header.
    promised: u64,
    /// Number of frames, as far as known: fewer than promised in a file that is cut.
    pub(super) count: u64,
    /// Number of the first frames that are known to be there.
    found: u64,
    content: Content,
    playing: Option<Decoder>,
}

/// Content of a file.
enum Content {
    /// Uncompressed frames, with the size of the header, bytes.
    Y4m { header_bytes: u64 },
    /// Track that ffmpeg decodes.
    Track(Track),
}

struct Decoder {
    reader: FrameReader,
    first: u64,
    next: u64,
}

/// Size of the line before a frame, bytes.
const FRAME_LINE: u64 = 6;
/// Number of frames in a row from each of which a decoder dies without a frame, which are taken for the end of a film: some versions of
/// ffmpeg end with an error there.
const DEAD_FRAMES: u64 = 3;
/// Returns rate and number of frames of an uncompressed file, and the size of its header, bytes.
fn measure(path: &Path, max_pixels: MaxPixels) -> Result<(f64, u64, u64), FilmError> {
    let file = File::open(path)?;
    let bytes = file.metadata()?.len();
    let mut reader = BufReader::new(file);
    let header = Header::read(&mut reader, max_pixels)?;
    let header_bytes = reader.stream_position()?;
    header.before_frame(&mut reader, max_pixels)?.ok_or(FilmError::NoFrame)?;
    if reader.stream_position()? != header_bytes + FRAME_LINE {
        return Err(FilmError::OwnParameters);
    }
    let count = (bytes - header_bytes) / (FRAME_LINE + header.layout.frame_bytes() as u64);
    Ok((header.rate_hz.unwrap_or(DEFAULT_RATE), count, header_bytes))
}

impl Video {
    /// Opens an uncompressed file.
    pub(super) fn open_y4m(
        programs: &Arc<Programs>,
        input: &VideoInput,
        max_pixels: MaxPixels,
    ) -> Result<Self, VideoError> {
        let path = input.path().unwrap_or(Path::new(""));
        let measured = measure(path, max_pixels).map_err(|cause| VideoError::NoFilm { path: path.to_owned(), cause });
        let (rate, count, header_bytes) = measured?;
        Self::new(programs, input, max_pixels, (rate, count), Content::Y4m { header_bytes })
    }

    /// Opens a track of a film.
    pub(super) fn open_track(
        programs: &Arc<Programs>,
        input: &VideoInput,
        max_pixels: MaxPixels,
        track: Track,
    ) -> Result<Self, VideoError> {
        Self::new(programs, input, max_pixels, (track.rate, track.count), Content::Track(track))
    }

    fn new(
        programs: &Arc<Programs>,
        input: &VideoInput,
        max_pixels: MaxPixels,
        (rate, count): (f64, u64),
        content: Content,
    ) -> Result<Self, VideoError> {
        if count == 0 || count > MAX_FRAMES {
            let path = input.path().unwrap_or(Path::new("")).to_owned();
            return Err(VideoError::NoFilm { path, cause: FilmError::Count(count) });
        }
        let (programs, input) = (Arc::clone(programs), input.clone());
        let (launcher, playing) = (Launcher::default(), None);
        Ok(Self { programs, launcher, input, max_pixels, rate, promised: count, count, found: 0, content, playing })
    }

    /// Returns the time of its first frame in its file, s.
    pub(super) fn start_s(&self) -> f64 {
        match &self.content {
            Content::Track(track) => track.start_s.unwrap_or(0.0),
            Content::Y4m { .. } => 0.0,
        }
    }

    /// Returns what tells that the images are not flat: spherical metadata, or the name; `size` is that of one view, px.
    pub(super) fn curved(&self, size: (usize, usize)) -> Option<CurvedImages> {
        let curve = |projection: &String| match projection {
            words if words.contains("fisheye") => Some(Curve::Fisheye),
            words if words.contains("equirectangular") => Some(Curve::of_shape(size).unwrap_or(Curve::Equirectangular)),
            _ => None,
        };
        let projection = match &self.content {
            Content::Track(track) => track.projection.as_ref(),
            Content::Y4m { .. } => None,
        };
        let found = projection.and_then(|projection| curve(projection).zip(Some(projection)));
        let by_metadata = found.map(|(curve, projection)| CurvedImages {
            curve,
            why: format!("the spherical metadata of {} say ({})", self.input, console::foreign(projection)),
        });
        by_metadata.or_else(|| curved(self.input.path()?, size))
    }

    /// Decodes frame `k`. Where the data end before it, the film ends there.
    pub(super) fn frame(&mut self, k: u64, keeps_rgb: bool) -> Result<Picture, PairError> {
        if k >= self.count {
            return Err(self.ended(String::new()));
        }
        let is_near = |playing: &Decoder| playing.next <= k && k - playing.next <= MAX_SKIP;
        let mut playing = match self.playing.take().filter(is_near) {
            Some(playing) => playing,
            None => self.start(k)?,
        };
        let mut picture = playing.read(k, keeps_rgb);
        if playing.first < k && matches!(picture, Ok(None)) && !playing.reader.has_succeeded() {
            // it died on the way
            self.found = self.found.max(playing.next);
            playing = self.start(k)?;
            picture = playing.read(k, keeps_rgb);
        }
        let has_begun = playing.next > playing.first;
        if has_begun {
            self.found = self.found.max(playing.next);
        }
        let wrong = |cause| VideoError::Frame {
            input: self.input.clone(),
            frame: k,
            cause,
            said: playing.reader.last_message(),
        };
        match picture {
            Ok(Some(picture)) => {
                self.playing = Some(playing);
                return Ok(picture);
            }
            Ok(None) => {}
            // a decoder gives whole frames, or says nothing
            Err(why) if matches!(self.content, Content::Track(_)) => return Err(wrong(why).into()),
            Err(why) => return Err(PairError::Damaged(wrong(why).into())),
        }
        let has_died = !playing.reader.has_succeeded();
        if has_died && self.gives_one_of(k + 1..k + DEAD_FRAMES)? {
            return Err(PairError::Damaged(wrong(ReadError::Missing).into()));
        }
        let said = if has_died { playing.reader.last_message() } else { String::new() };
        self.count = if has_begun { playing.next } else { self.end_before(k)? };
        Err(self.ended(said))
    }

    /// Returns the number of frames in front of one that is not there, by halving.
    fn end_before(&self, missing: u64) -> Result<u64, PairError> {
        let (mut found, mut missing) = (self.found.min(missing), missing);
        while found < missing {
            let middle = found.midpoint(missing);
            if self.gives_one_of(middle..middle + 1)? {
                found = middle + 1;
            } else {
                missing = middle;
            }
        }
        Ok(found)
    }

    /// Returns whether a decoder that starts at one of these frames gives it.
    fn gives_one_of(&self, mut frames: Range<u64>) -> Result<bool, PairError> {
        let gives = |k| Ok::<_, VideoError>(self.start(k)?.read(k, false)?.is_some());
        frames.try_fold(false, |has_one, k| Ok(has_one || gives(k)?))
    }

    fn ended(&self, said: String) -> PairError {
        let (input, count, promised) = (self.input.clone(), self.count, self.promised);
        let why = match count {
            0 => VideoError::NoFrames { input, said },
            _ => VideoError::EndsEarly { input, count, promised, said },
        };
        PairError::Ended { count, why: why.into() }
    }

    /// Starts to decode at frame `k`, or before it where a film cannot be entered there.
    fn start(&self, k: u64) -> Result<Decoder, VideoError> {
        let path = self.input.path().unwrap_or(Path::new(""));
        let cannot = |cause| VideoError::Unreadable { path: path.to_owned(), cause };
        let track = match &self.content {
            Content::Track(track) => track,
            Content::Y4m { header_bytes } => {
                let mut file = File::open(path).map_err(|err| cannot(err.into()))?;
                let header = Header::read(&mut BufReader::new(&file), self.max_pixels).map_err(ReadError::Y4m)?;
                let at = header_bytes + k * (FRAME_LINE + header.layout.frame_bytes() as u64);
                file.seek(SeekFrom::Start(at)).map_err(|err| cannot(err.into()))?;
                let reader = FrameReader::after_header(Box::new(file), header, self.max_pixels);
                return Ok(Decoder { reader, first: k, next: k });
            }
        };
        let rate = track.rate;
        let entry = match track.start_s {
            Some(start_s) => self.entry(track, start_s, k)?.map(|from_s| (start_s, from_s)),
            None => None,
        };
        let mut command = Command::new(&self.programs.ffmpeg);
        command.args(["-nostdin", "-v", "error"]);
        let (first, filter) = match (entry, track.start_s) {
            // the times of the file decide which frame is k, wherever decoding begins; the last filter lets the output begin at 0
            (Some((start_s, from_s)), _) => {
                let from_s = (from_s - track.film_start_s).max(0.0);
                command.args(["-ss", &format!("{from_s:.6}"), "-noaccurate_seek", "-copyts"]);
                let begin_s = k as f64 / rate;
                (k, format!("setpts=PTS-({start_s})/TB,fps={rate}:start_time={begin_s:.9},setpts=PTS-STARTPTS"))
            }
            // the output would be filled up from time 0 to a first frame that comes later
            (None, Some(_)) => (0, format!("setpts=PTS-STARTPTS,fps={rate}")),
            (None, None) => (0, format!("setpts=N/({rate}*TB),fps={rate}")),
        };
        command.args(film(path).map_err(cannot)?);
        command.args(["-map", &format!("0:V:{}", track.number), "-pix_fmt", "yuv420p", "-vf", &filter]);
        command.args(["-f", "yuv4mpegpipe", "-"]);
        let program = self.launcher.start(command, &self.input)?;
        let limit = self.programs.limits.first;
        let reader = FrameReader::of_program(program, StreamFormat::Y4m, self.max_pixels, limit);
        Ok(Decoder { reader, first, next: first })
    }

    /// Returns the time from which frame `k` is decoded, s: one from which a key frame in front of it is found, because many containers are
    /// entered behind the time that is sought. `None` for the beginning of the film.
    fn entry(&self, track: &Track, start_s: f64, k: u64) -> Result<Option<f64>, VideoError> {
        let probe = Probe { programs: &self.programs, launcher: &self.launcher, input: &self.input };
        let wanted_s = start_s + k as f64 / track.rate;
        // times are rounded to 1 ms in some containers, and `fps` takes the nearest frame
        let latest_s = wanted_s + 0.25 / track.rate;
        let mut earlier_s = 0.75 / track.rate;
        while wanted_s - earlier_s > start_s {
            let from_s = wanted_s - earlier_s;
            if probe.key_frame(track, from_s)?.is_some_and(|key_s| key_s <= latest_s) {
                return Ok(Some(from_s));
            }
            earlier_s = (EARLIER_FACTOR * earlier_s).max(EARLIER_S);
        }
        Ok(None)
    }
}

impl Decoder {
    /// Reads frame `k`, and skips those before it; `None` where the data end.
    fn read(&mut self, k: u64, keeps_rgb: bool) -> Result<Option<Picture>, ReadError> {
        while self.next < k {
            if !self.reader.skip()? {
                return Ok(None);
            }
            self.next += 1;
        }
        let picture = self.reader.next(keeps_rgb)?;
        self.next += u64::from(picture.is_some());
        Ok(picture)
    }
}
