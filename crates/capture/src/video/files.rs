//! Videos of known length as a source, played by the recordings' player with seeking to any frame.

use crate::video::error::{FilmError, ReadError, VideoError};
use crate::video::program::{Launcher, Programs};
use crate::video::reader::{FrameReader, StreamFormat};
use crate::video::view_layout::{ViewLayout, views};
use crate::video::y4m::Header;
use std::ffi::OsString;
use std::fs::File;
use std::io::{BufReader, ErrorKind, Seek as _, SeekFrom};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;
use std::time::{Duration, SystemTime};
use stereopsis_base::console;
use stereopsis_base::files::plain;
use stereopsis_base::image::Picture;
use stereopsis_calibration::{Curve, CurvedImages};
use stereopsis_frame::player::{PairError, Pairs, Player};
use stereopsis_frame::{
    CaptureError, MaxPixels, Next, PairSource, RawPair, SourceInfo, SourceOptions, SourceState, Speed, Transport,
    VideoInput,
};
use stereopsis_images::picture_files::curved;

/// Maximum length of a video, frames: a day at 120 frames/s.
const MAX_FRAMES: u64 = 120 * 60 * 60 * 24;
/// Maximum number of frames that are skipped; for more the decoder restarts at the target.
const MAX_SKIP: u64 = 60;
/// Rate of a stream without one, Hz.
const DEFAULT_RATE: f64 = 30.0;

/// Source that plays one or two videos.
pub(crate) struct VideoFiles {
    info: SourceInfo,
    files: Vec<PathBuf>,
    player: Player,
    remarks: Vec<String>,
    /// Starters of the decoders, which are closed with the source: the player's thread may wait for a frame.
    launchers: Vec<Launcher>,
}

impl VideoFiles {
    /// Opens the videos and reads the first pair. Fails for a missing file, no video, an unknown length, or without `ffmpeg`.
    pub(crate) fn open(
        programs: Programs,
        inputs: &[VideoInput],
        options: &SourceOptions,
    ) -> Result<Self, CaptureError> {
        let programs = Arc::new(programs);
        let videos: Result<Vec<_>, _> =
            inputs.iter().map(|input| Video::open(&programs, input, options.max_pixels)).collect();
        let videos = videos?;
        let (count, rate) =
            videos.iter().map(|video| (video.count, video.rate)).reduce(|a, b| (a.0.min(b.0), a.1)).unwrap_or_default();
        let mut remarks = Vec::new();
        if let [left, right] = &videos[..] {
            if (left.rate / right.rate - 1.0).abs() > 0.001 {
                let inputs = [left.input.clone(), right.input.clone()];
                return Err(VideoError::Rates { inputs, rates: [left.rate, right.rate] }.into());
            }
            if left.count != right.count {
                let (left, right) = (left.count, right.count);
                remarks.push(format!(
                    "the left video has {left} and the right one {right} frames: the first {count} of both are pairs"
                ));
            }
        }
        let times: Arc<[Duration]> = (0..count).map(|k| Duration::from_secs_f64(k as f64 / rate)).collect();
        let transport = Arc::new(Transport::new(times, options.speed, options.looped));
        if !options.start_at.is_zero() {
            transport.seek_time(options.start_at);
        }
        let launchers = videos.iter().map(|video| video.launcher.clone()).collect();
        let name = inputs.iter().map(stem).collect::<Vec<_>>().join(", ");
        let views = ViewLayout::of(options);
        let mut pairs =
            VideoPairs { videos, name: name.clone(), rate, views, keeps_rgb: options.pixels.keeps_rgb(), first: None };
        let (start, first) = loop {
            let start = transport.next_pair().map_or(0, |(pair, _)| pair);
            match pairs.read(start) {
                Ok(first) => break (start, first),
                // a time behind the end of a file that is cut
                Err(PairError::Ended { count: count @ 1.., why }) if count <= start => {
                    transport.shorten(count);
                    remarks.push(why.to_string());
                }
                Err(PairError::Damaged(why) | PairError::Lost(why) | PairError::Ended { why, .. }) => {
                    return Err(CaptureError::File(why));
                }
            }
        };
        let (width, height) = first.left.size();
        pairs.first = Some((start, first));
        let curved = pairs.videos.first().and_then(|video| video.curved((width, height)));
        let num_pairs = (!options.looped).then_some(count);
        let info = SourceInfo { name, width, height, num_pairs, curved, ..SourceInfo::default() };
        let interval = Duration::from_secs_f64(1.0 / rate);
        let player = Player::start(Box::new(pairs), transport, interval, options.watched)?;
        let files = inputs.iter().filter_map(VideoInput::path).map(Path::to_owned).collect();
        Ok(Self { info, files, player, remarks, launchers })
    }
}

fn stem(input: &VideoInput) -> String {
    let stem = input.path().and_then(Path::file_stem);
    stem.map_or_else(|| "video".into(), |stem| stem.to_string_lossy().into_owned())
}

impl PairSource for VideoFiles {
    fn info(&self) -> SourceInfo {
        let rate_hz = match self.player.transport().get().speed {
            Speed::Times(speed) => Some(speed / self.player.median_interval().as_secs_f64()),
            Speed::Max => None,
        };
        let num_pairs = self.info.num_pairs.map(|_| self.player.transport().get().num_pairs());
        SourceInfo { rate_hz, num_pairs, ..self.info.clone() }
    }

    fn files(&self) -> Vec<PathBuf> {
        self.files.clone()
    }

    fn next(&mut self, timeout: Duration) -> Result<Next, CaptureError> {
        let mut next = self.player.next(timeout)?;
        if let Next::Pair(pair) = &mut next {
            pair.capture_time = SystemTime::now();
        }
        Ok(next)
    }

    fn state(&self) -> SourceState {
        let remarks = self.remarks.iter().cloned().chain(self.player.left_out()).collect();
        SourceState { remarks, unreadable: self.player.unreadable(), ..SourceState::default() }
    }

    fn transport(&self) -> Option<Arc<Transport>> {
        Some(Arc::clone(self.player.transport()))
    }
}

impl Drop for VideoFiles {
    fn drop(&mut self) {
        self.launchers.iter().for_each(Launcher::close);
    }
}

/// Reader of pairs on the player's thread.
struct VideoPairs {
    videos: Vec<Video>,
    name: String,
    rate: f64,
    views: ViewLayout,
    keeps_rgb: bool,
    /// Number and pair that were read while opening.
    first: Option<(u64, RawPair)>,
}

impl Pairs for VideoPairs {
    fn collection(&self) -> &'static str {
        "video"
    }

    fn read(&mut self, k: u64) -> Result<RawPair, PairError> {
        if let Some((_, pair)) = self.first.take_if(|(first, _)| *first == k) {
            return Ok(pair);
        }
        let keeps_rgb = self.keeps_rgb;
        let pictures: Result<Vec<_>, _> = self.videos.iter_mut().map(|video| video.frame(k, keeps_rgb)).collect();
        let (left, right) = views(pictures?, self.views)?;
        let due = SystemTime::UNIX_EPOCH + Duration::from_secs_f64(k as f64 / self.rate);
        Ok(RawPair::new(format!("{}-{k:06}", self.name), k, due, left, right))
    }
}

/// Video with its decoder.
struct Video {
    programs: Arc<Programs>,
    launcher: Launcher,
    input: VideoInput,
    max_pixels: MaxPixels,
    /// Rate, frames/s.
    rate: f64,
    /// Number of frames according to its header.
    promised: u64,
    /// Number of frames, as far as known: fewer than promised in a file that is cut.
    count: u64,
    /// Number of the first frames that are known to be there.
    found: u64,
    /// Size of the header of an uncompressed file, bytes; `None` for others.
    header_bytes: Option<u64>,
    /// Projection of its images by its spherical metadata, in ffprobe's words.
    projection: Option<String>,
    playing: Option<Decoder>,
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
/// Containers of films by the names of ffmpeg's demuxers. Formats that only name other files are none of them.
const FILMS: &str = "mov,matroska,avi,mpegts,mpeg,mpegvideo,m4v,asf,flv,ogg,mxf";
const NOT_A_FILM: &str = "Format not on whitelist";

/// Returns the words by which ffmpeg and ffprobe open the film of a path, whatever its name looks like.
///
/// # Errors
/// It is no plain file: a program that opens a pipe waits for its writer.
pub(crate) fn film(path: &Path) -> Result<[OsString; 4], FilmError> {
    plain::open(path).map_err(|cause| match cause.kind() {
        ErrorKind::InvalidInput => FilmError::NoPlainFile(cause),
        _ => FilmError::Open { path: path.to_owned(), cause },
    })?;
    let mut name = OsString::from("file:"); // a word before a colon would be a protocol
    name.push(path);
    Ok(["-format_whitelist".into(), FILMS.into(), "-i".into(), name])
}

impl Video {
    fn open(programs: &Arc<Programs>, input: &VideoInput, max_pixels: MaxPixels) -> Result<Self, VideoError> {
        let path = input.path().unwrap_or(Path::new(""));
        let refused = |cause| VideoError::NoFilm { path: path.to_owned(), cause };
        let mut video = Self {
            programs: Arc::clone(programs),
            launcher: Launcher::default(),
            input: input.clone(),
            max_pixels,
            rate: DEFAULT_RATE,
            promised: 0,
            count: 0,
            found: 0,
            header_bytes: None,
            projection: None,
            playing: None,
        };
        if matches!(input, VideoInput::Y4m(_)) {
            video.measure(path).map_err(refused)?;
        } else {
            video.probe(path)?;
        }
        video.promised = video.count;
        if video.count == 0 || video.count > MAX_FRAMES {
            return Err(refused(FilmError::Count(video.count)));
        }
        Ok(video)
    }

    /// Sets rate and number of frames of an uncompressed file.
    fn measure(&mut self, path: &Path) -> Result<(), FilmError> {
        let file = File::open(path)?;
        let bytes = file.metadata()?.len();
        let mut reader = BufReader::new(file);
        let header = Header::read(&mut reader, self.max_pixels)?;
        let header_bytes = reader.stream_position()?;
        header.before_frame(&mut reader, self.max_pixels)?.ok_or(FilmError::NoFrame)?;
        if reader.stream_position()? != header_bytes + FRAME_LINE {
            return Err(FilmError::OwnParameters);
        }
        self.rate = header.rate_hz.unwrap_or(DEFAULT_RATE);
        self.count = (bytes - header_bytes) / (FRAME_LINE + header.layout.frame_bytes() as u64);
        self.header_bytes = Some(header_bytes);
        Ok(())
    }

    /// Sets rate and number of frames by `ffprobe`.
    fn probe(&mut self, path: &Path) -> Result<(), VideoError> {
        let refused = |cause| VideoError::NoFilm { path: path.to_owned(), cause };
        let mut command = Command::new(&self.programs.ffprobe);
        command.args(["-v", "error", "-select_streams", "v:0", "-of", "json", "-show_entries"]);
        command
            .arg("stream=avg_frame_rate,duration:stream_side_data=projection:format=duration")
            .args(film(path).map_err(refused)?);
        let (running, answer) = self.launcher.ask(command, &self.input, self.programs.limits.first)?;
        let answer = answer.map_err(|why| refused(FilmError::Probe(why)))?;
        let probed: ProbeOutput = serde_json::from_slice(&answer).unwrap_or_default();
        let Some(stream) = probed.streams.first() else {
            let mut messages = running.messages();
            let other = messages.iter().find(|message| message.contains(NOT_A_FILM));
            return Err(refused(match other.and_then(|message| message.strip_prefix('[')?.split_once(" @")) {
                Some((format, _)) => FilmError::NoContainer { format: format.to_owned(), films: FILMS },
                None => messages.pop().map_or(FilmError::NoVideo, FilmError::Probed),
            }));
        };
        let rate = stream.avg_frame_rate.split_once('/').and_then(|(over, under)| {
            let rate = over.parse::<f64>().ok()? / under.parse::<f64>().ok()?;
            Some(rate).filter(|rate| (0.001..=10_000.0).contains(rate))
        });
        let seconds = [&stream.duration, &probed.format.duration].into_iter().find_map(|text| text.parse::<f64>().ok());
        let Some((rate, seconds)) = rate.zip(seconds) else {
            return Err(refused(FilmError::NoLength));
        };
        self.rate = rate;
        self.projection = stream.side_data_list.iter().find_map(|data| data.projection.clone());
        // frames of a variable rate are repeated and dropped to match the mean rate
        self.count = (seconds * rate).round() as u64;
        Ok(())
    }

    /// Returns what tells that the images are not flat: spherical metadata, or the name; `size` is that of one view, px.
    fn curved(&self, size: (usize, usize)) -> Option<CurvedImages> {
        let curve = |projection: &String| match projection {
            words if words.contains("fisheye") => Some(Curve::Fisheye),
            words if words.contains("equirectangular") => Some(Curve::of_shape(size).unwrap_or(Curve::Equirectangular)),
            _ => None,
        };
        let found = self.projection.as_ref().and_then(|projection| curve(projection).zip(Some(projection)));
        let by_metadata = found.map(|(curve, projection)| CurvedImages {
            curve,
            why: format!("the spherical metadata of {} say ({})", self.input, console::foreign(projection)),
        });
        by_metadata.or_else(|| curved(self.input.path()?, size))
    }

    /// Decodes frame `k`. Where the data end before it, the film ends there.
    fn frame(&mut self, k: u64, keeps_rgb: bool) -> Result<Picture, PairError> {
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
            Err(why) if self.header_bytes.is_none() => return Err(wrong(why).into()),
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

    /// Starts to decode at frame `k`.
    fn start(&self, k: u64) -> Result<Decoder, VideoError> {
        let path = self.input.path().unwrap_or(Path::new(""));
        let cannot = |cause| VideoError::Unreadable { path: path.to_owned(), cause };
        if let Some(header_bytes) = self.header_bytes {
            let mut file = File::open(path).map_err(|err| cannot(err.into()))?;
            let header = Header::read(&mut BufReader::new(&file), self.max_pixels).map_err(ReadError::Y4m)?;
            let at = header_bytes + k * (FRAME_LINE + header.layout.frame_bytes() as u64);
            file.seek(SeekFrom::Start(at)).map_err(|err| cannot(err.into()))?;
            let reader = FrameReader::after_header(Box::new(file), header, self.max_pixels);
            return Ok(Decoder { reader, first: k, next: k });
        }
        let mut command = Command::new(&self.programs.ffmpeg);
        command.args(["-nostdin", "-v", "error"]);
        if k > 0 {
            // a quarter of a frame earlier: times are rounded to 1 ms, and `fps` takes the nearest frame
            command.arg("-ss").arg(format!("{:.6}", (k as f64 - 0.25) / self.rate));
        }
        command.args(film(path).map_err(cannot)?);
        command.args(["-map", "0:v:0", "-pix_fmt", "yuv420p", "-vf"]).arg(format!("fps={}", self.rate));
        command.args(["-f", "yuv4mpegpipe", "-"]);
        let program = self.launcher.start(command, &self.input)?;
        let limit = self.programs.limits.first;
        let reader = FrameReader::of_program(program, StreamFormat::Y4m, self.max_pixels, limit);
        Ok(Decoder { reader, first: k, next: k })
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

/// Output of `ffprobe`.
#[derive(Default, serde::Deserialize)]
#[serde(default)]
struct ProbeOutput {
    streams: Vec<ProbedStream>,
    format: ProbedFormat,
}

#[derive(Default, serde::Deserialize)]
#[serde(default)]
struct ProbedStream {
    avg_frame_rate: String,
    duration: String,
    side_data_list: Vec<SideData>,
}

#[derive(Default, serde::Deserialize)]
#[serde(default)]
struct SideData {
    projection: Option<String>,
}

#[derive(Default, serde::Deserialize)]
#[serde(default)]
struct ProbedFormat {
    duration: String,
}
