//! Videos of known length as a source, played by the recordings' player with seeking to any frame.

use crate::ViewLayout;
use crate::capture::player::{PairError, Pairs, Player};
use crate::capture::{
    CaptureError, MaxPixels, Next, PairSource, RawPair, SourceInfo, SourceOptions, SourceState, Speed, Transport,
    VideoInput,
};
use crate::console;
use crate::image::Picture;
use crate::program::{Programs, RunningProgram, missing};
use crate::reader::{FrameReader, StreamFormat};
use crate::y4m::Header;
use std::fs::File;
use std::io::{BufReader, Seek as _, SeekFrom};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

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
                let text = format!(
                    "{} has {:.2} and {} {:.2} frames a second: frames of one number are not of one time; give both the same rate (ffmpeg -r)",
                    left.input, left.rate, right.input, right.rate
                );
                return Err(CaptureError::File(text));
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
        let start = transport.next_pair().map_or(0, |(pair, _)| pair);
        let name = inputs.iter().map(stem).collect::<Vec<_>>().join(", ");
        let views = ViewLayout::of(options);
        let mut pairs =
            VideoPairs { videos, name: name.clone(), rate, views, keeps_rgb: options.pixels.keeps_rgb(), first: None };
        let first = pairs.read(start).map_err(|err| match err {
            PairError::Damaged(why) | PairError::Lost(why) => CaptureError::File(why),
        })?;
        let (width, height) = first.left.size();
        pairs.first = Some((start, first));
        let info =
            SourceInfo { name, width, height, num_pairs: (!options.looped).then_some(count), ..SourceInfo::default() };
        let interval = Duration::from_secs_f64(1.0 / rate);
        let player = Player::start(Box::new(pairs), transport, interval, options.watched)?;
        let files = inputs.iter().filter_map(VideoInput::path).map(Path::to_owned).collect();
        Ok(Self { info, files, player, remarks })
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
        SourceInfo { rate_hz, ..self.info.clone() }
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
        SourceState { remarks, ..SourceState::default() }
    }

    fn transport(&self) -> Option<Arc<Transport>> {
        Some(Arc::clone(self.player.transport()))
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
        let (left, right) = crate::views(pictures?, self.views).map_err(PairError::Lost)?;
        let due = SystemTime::UNIX_EPOCH + Duration::from_secs_f64(k as f64 / self.rate);
        Ok(RawPair::new(format!("{}-{k:06}", self.name), k, due, left, right))
    }
}

/// Video with its decoder.
struct Video {
    programs: Arc<Programs>,
    input: VideoInput,
    max_pixels: MaxPixels,
    /// Rate, frames/s.
    rate: f64,
    count: u64,
    /// Size of the header of an uncompressed file, bytes; `None` for others.
    header_bytes: Option<u64>,
    playing: Option<Decoder>,
}

struct Decoder {
    reader: FrameReader,
    next: u64,
    running: Option<RunningProgram>,
}

/// Size of the line before a frame, bytes.
const FRAME_LINE: u64 = 6;

impl Video {
    fn open(programs: &Arc<Programs>, input: &VideoInput, max_pixels: MaxPixels) -> Result<Self, CaptureError> {
        let path = input.path().unwrap_or(Path::new(""));
        let refused = |why: String| CaptureError::File(format!("cannot read the video {}: {why}", console::path(path)));
        let mut video = Self {
            programs: Arc::clone(programs),
            input: input.clone(),
            max_pixels,
            rate: DEFAULT_RATE,
            count: 0,
            header_bytes: None,
            playing: None,
        };
        if matches!(input, VideoInput::Y4m(_)) {
            video.measure(path).map_err(refused)?;
        } else {
            video.probe(path)?;
        }
        if video.count == 0 || video.count > MAX_FRAMES {
            return Err(refused(format!("it has {} frames", video.count)));
        }
        Ok(video)
    }

    /// Sets rate and number of frames of an uncompressed file.
    fn measure(&mut self, path: &Path) -> Result<(), String> {
        let file = File::open(path).map_err(|err| err.to_string())?;
        let bytes = file.metadata().map_err(|err| err.to_string())?.len();
        let mut reader = BufReader::new(file);
        let header = Header::read(&mut reader, self.max_pixels)?;
        let header_bytes = reader.stream_position().map_err(|err| err.to_string())?;
        header.before_frame(&mut reader, self.max_pixels)?.ok_or("it has no frame")?;
        if reader.stream_position().map_err(|err| err.to_string())? != header_bytes + FRAME_LINE {
            return Err("its frames have parameters of their own: send it through a pipe (y4m:- < FILE)".to_owned());
        }
        self.rate = header.rate_hz.unwrap_or(DEFAULT_RATE);
        self.count = (bytes - header_bytes) / (FRAME_LINE + header.layout.frame_bytes() as u64);
        self.header_bytes = Some(header_bytes);
        Ok(())
    }

    /// Sets rate and number of frames by `ffprobe`.
    fn probe(&mut self, path: &Path) -> Result<(), CaptureError> {
        let refused = |why: &str| CaptureError::File(format!("cannot read the video {}: {why}", console::path(path)));
        let mut command = Command::new(&self.programs.ffprobe);
        command.args(["-v", "error", "-select_streams", "v:0", "-of", "json", "-show_entries"]);
        command.arg("stream=avg_frame_rate,duration:format=duration").arg("-i").arg(path);
        let output = command.output().map_err(|err| missing(&self.programs.ffprobe, &self.input, &err))?;
        let probed: ProbeOutput = serde_json::from_slice(&output.stdout).unwrap_or_default();
        let Some(stream) = probed.streams.first() else {
            let last_message = String::from_utf8_lossy(&output.stderr);
            let last_message = console::foreign(last_message.lines().last().unwrap_or("it holds no video"));
            return Err(refused(&last_message));
        };
        let rate = stream.avg_frame_rate.split_once('/').and_then(|(over, under)| {
            let rate = over.parse::<f64>().ok()? / under.parse::<f64>().ok()?;
            Some(rate).filter(|rate| (0.001..=10_000.0).contains(rate))
        });
        let seconds = [&stream.duration, &probed.format.duration].into_iter().find_map(|text| text.parse::<f64>().ok());
        let Some((rate, seconds)) = rate.zip(seconds) else {
            return Err(refused(
                "its length is not known: put it into another file (ffmpeg -i FILE -c copy out.mkv), or send it through a pipe (ffmpeg -i \
                 FILE -f yuv4mpegpipe - | stereopsis live --source y4m:-)",
            ));
        };
        self.rate = rate;
        // frames of a variable rate are repeated and dropped to match the mean rate
        self.count = (seconds * rate).round() as u64;
        Ok(())
    }

    fn frame(&mut self, k: u64, keeps_rgb: bool) -> Result<Picture, PairError> {
        let is_near = |playing: &Decoder| playing.next <= k && k - playing.next <= MAX_SKIP;
        let mut playing = match self.playing.take().filter(is_near) {
            Some(playing) => playing,
            None => self.start(k).map_err(PairError::Lost)?,
        };
        let damaged = |playing: &Decoder, why: &str| {
            let last_message = playing.running.as_ref().map(RunningProgram::last_message).unwrap_or_default();
            PairError::Damaged(format!("{}: frame {k} {why}{last_message}", self.input))
        };
        while playing.next < k {
            playing.next += 1;
            if !playing.reader.skip().map_err(|why| damaged(&playing, &why))? {
                return Err(damaged(&playing, "is not there"));
            }
        }
        let picture = playing.reader.next(keeps_rgb).map_err(|why| damaged(&playing, &why))?;
        let picture = picture.ok_or_else(|| damaged(&playing, "is not there"))?;
        playing.next += 1;
        self.playing = Some(playing);
        Ok(picture)
    }

    /// Starts to decode at frame `k`.
    fn start(&self, k: u64) -> Result<Decoder, String> {
        let path = self.input.path().unwrap_or(Path::new(""));
        if let Some(header_bytes) = self.header_bytes {
            let cannot = |err: std::io::Error| format!("cannot read {}: {err}", console::path(path));
            let mut file = File::open(path).map_err(cannot)?;
            let header = Header::read(&mut BufReader::new(&file), self.max_pixels)?;
            let at = header_bytes + k * (FRAME_LINE + header.layout.frame_bytes() as u64);
            file.seek(SeekFrom::Start(at)).map_err(cannot)?;
            let reader = FrameReader::after_header(Box::new(file), header, self.max_pixels);
            return Ok(Decoder { reader, next: k, running: None });
        }
        let mut command = Command::new(&self.programs.ffmpeg);
        command.args(["-nostdin", "-v", "error"]);
        if k > 0 {
            // a quarter of a frame earlier: times are rounded to 1 ms, and `fps` takes the nearest frame
            command.arg("-ss").arg(format!("{:.6}", (k as f64 - 0.25) / self.rate));
        }
        command
            .arg("-i")
            .arg(path)
            .args(["-map", "0:v:0", "-pix_fmt", "yuv420p", "-vf"])
            .arg(format!("fps={}", self.rate));
        command.args(["-f", "yuv4mpegpipe", "-"]);
        let (running, output) = RunningProgram::start(command, &self.input).map_err(|err| err.to_string())?;
        let reader = FrameReader::new(Box::new(output), StreamFormat::Y4m, self.max_pixels)
            .map_err(|why| format!("cannot decode {}: {why}{}", self.input, running.last_message()))?;
        Ok(Decoder { reader, next: k, running: Some(running) })
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
}

#[derive(Default, serde::Deserialize)]
#[serde(default)]
struct ProbedFormat {
    duration: String,
}
