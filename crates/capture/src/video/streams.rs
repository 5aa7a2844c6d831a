//! Streams without a known length as a source: network cameras, Raspberry Pi cameras, pipes. Each is read on its own thread.
//!
//! Frames of live streams are paired by arrival time, and only the newest is kept; a broken or silent stream is restarted. Frames of pipes
//! are queued, paired by number, and end with the pipe.

use crate::video::error::{PI_STEP, ReadError, VideoError};
use crate::video::probe::film;
use crate::video::program::{Launcher, Programs};
use crate::video::reader::{FrameReader, StreamFormat};
use crate::video::view_layout::{ViewLayout, views};
use crate::video::y4m::Layout;
use crossbeam_channel::{Receiver, RecvTimeoutError, Sender, TryRecvError, TrySendError, bounded};
use parking_lot::Mutex;
use std::collections::VecDeque;
use std::ffi::OsString;
use std::fs::File;
use std::io::Read;
use std::path::Path;
use std::process::Command;
use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime};
use stereopsis_base::console::counted;
use stereopsis_base::image::Picture;
use stereopsis_frame::pairing::Pairing;
use stereopsis_frame::{
    CaptureError, MaxPixels, Next, PairSource, RawPair, Side, SourceInfo, SourceOptions, SourceState, VideoInput,
};

/// Time limit of the question which options ffmpeg has.
const ASK_TIMEOUT: Duration = Duration::from_secs(3);
/// Maximum queued frames of a stream.
const MAX_QUEUED: usize = 2;
/// Rate of streams without one, Hz.
const DEFAULT_RATE: f64 = 30.0;
/// Default size of a Raspberry Pi's images, px.
const PI_SIZE: (usize, usize) = (640, 480);
const PAIRED_BY_ARRIVAL: &str = "the streams have no times of capture: left and right are paired by their arrival, and how far apart they were taken is \
     not known";

/// Source of one or two streams.
pub(crate) struct VideoStreams {
    streams: Vec<Stream>,
    pairing: Pairing<Picture>,
    /// Queued frames of pipes without a partner.
    waiting: Vec<VecDeque<ArrivedFrame>>,
    is_live: bool,
    info: SourceInfo,
    views: ViewLayout,
    given: u64,
    /// Reason why no more frames come after those that are queued.
    failure: Option<CaptureError>,
}

struct ArrivedFrame {
    picture: Picture,
    time: SystemTime,
}

impl VideoStreams {
    /// Opens the streams, and waits for the first frame of each. Fails where a program is missing, or with the reason that it reports.
    pub(crate) fn open(
        programs: &Programs,
        inputs: &[VideoInput],
        options: &SourceOptions,
    ) -> Result<Self, CaptureError> {
        let is_live = inputs.iter().any(VideoInput::is_live);
        let stream_options = StreamOptions::of(programs, inputs, options);
        let mut streams: Vec<Stream> =
            inputs.iter().map(|input| Stream::start(input, &stream_options)).collect::<Result<_, _>>()?;
        let mut firsts = Vec::new();
        for stream in &mut streams {
            firsts.push(stream.first(programs.limits.first)?);
        }
        let rates: Vec<f64> =
            streams.iter().map(|stream| stream.shared.rate_hz.lock().unwrap_or(stream_options.pi_rate_hz)).collect();
        let pairing = Pairing::new(rates[0], *rates.last().unwrap_or(&DEFAULT_RATE));
        let layout = ViewLayout::of(options);
        let (left, _) = views(firsts.iter().map(|first| first.picture.clone()).collect(), layout)?;
        let (width, height) = left.size();
        let name = inputs.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ");
        let info =
            SourceInfo { name, width, height, rate_hz: Some(rates[0]), is_camera: is_live, ..SourceInfo::default() };
        let waiting = streams.iter().map(|_| VecDeque::new()).collect();
        let mut opened = Self { streams, pairing, waiting, is_live, info, views: layout, given: 0, failure: None };
        for (at, first) in firsts.into_iter().enumerate() {
            opened.put(at, first);
        }
        Ok(opened)
    }

    fn put(&mut self, at: usize, arrived: ArrivedFrame) {
        if self.is_live && self.streams.len() == 2 {
            self.pairing.push(Side::ALL[at], arrived.time, arrived.picture);
        } else {
            self.waiting[at].push_back(arrived);
        }
    }

    fn take(&mut self) -> Option<(Vec<Picture>, SystemTime)> {
        if let Some(paired) = self.pairing.pop() {
            return Some((vec![paired.left, paired.right], paired.time));
        }
        if self.waiting.iter().any(VecDeque::is_empty) {
            return None;
        }
        let arrived: Vec<_> = self.waiting.iter_mut().filter_map(VecDeque::pop_front).collect();
        let time = arrived.first()?.time;
        Some((arrived.into_iter().map(|arrived| arrived.picture).collect(), time))
    }

    /// Takes received frames; returns `false` at the end of a pipe, and where a stream has failed.
    fn drain(&mut self) -> bool {
        for at in 0..self.streams.len() {
            // neither of two pipes is read far ahead of the other
            while self.waiting[at].len() < MAX_QUEUED && self.failure.is_none() {
                match self.streams[at].frames.try_recv() {
                    Ok(Ok(arrived)) => self.put(at, arrived),
                    Ok(Err(err)) => self.failure = Some(err),
                    Err(TryRecvError::Empty) => break,
                    Err(TryRecvError::Disconnected) if self.waiting[at].is_empty() => return false,
                    Err(TryRecvError::Disconnected) => break,
                }
            }
        }
        self.failure.is_none()
    }
}

impl PairSource for VideoStreams {
    fn info(&self) -> SourceInfo {
        self.info.clone()
    }

    fn next(&mut self, timeout: Duration) -> Result<Next, CaptureError> {
        let deadline = Instant::now() + timeout;
        loop {
            let goes_on = self.drain();
            if let Some((pictures, time)) = self.take() {
                let (left, right) = views(pictures, self.views)?;
                (self.info.width, self.info.height) = left.size();
                let number = self.given;
                self.given += 1;
                let pair = RawPair::new(format!("video-{number:06}"), number, time, left, right);
                return Ok(Next::Pair(Box::new(RawPair { is_cut: self.streams.len() == 1, ..pair })));
            }
            if !goes_on {
                return self.failure.take().map_or(Ok(Next::End), Err);
            }
            let now = Instant::now();
            if now >= deadline {
                return Ok(Next::Waiting);
            }
            std::thread::sleep((deadline - now).min(Duration::from_millis(2)));
        }
    }

    fn state(&self) -> SourceState {
        let mut remarks: Vec<String> = self.streams.iter().filter_map(Stream::remark).collect();
        if self.is_live && self.streams.len() == 2 {
            remarks.push(PAIRED_BY_ARRIVAL.to_owned());
        }
        SourceState {
            remarks,
            unpaired: self.pairing.unpaired(),
            begun_again: self.streams.iter().map(|stream| stream.shared.breaks.lock().0).sum(),
            unreadable: self.streams.iter().find_map(Stream::silence),
            ..SourceState::default()
        }
    }
}

#[derive(Clone)]
struct StreamOptions {
    programs: Programs,
    max_pixels: MaxPixels,
    keeps_rgb: bool,
    pi_size: (usize, usize),
    pi_rate_hz: f64,
    /// Option of this ffmpeg that limits the silence of RTSP, if it has one.
    rtsp_limit: Option<&'static str>,
}

impl StreamOptions {
    fn of(programs: &Programs, inputs: &[VideoInput], options: &SourceOptions) -> Self {
        let is_rtsp =
            |input: &&VideoInput| matches!(input, VideoInput::Address(address) if is_rtsp(&address.to_string()));
        let rtsp = inputs.iter().find(is_rtsp);
        Self {
            programs: programs.clone(),
            max_pixels: options.max_pixels,
            keeps_rgb: options.pixels.keeps_rgb(),
            pi_size: options.size.unwrap_or(PI_SIZE),
            pi_rate_hz: options.rate_hz.unwrap_or(DEFAULT_RATE),
            rtsp_limit: rtsp.and_then(|input| rtsp_limit(programs, input)),
        }
    }

    /// Opens a stream, and starts its program if it has one. Nothing is read yet.
    fn open(&self, input: &VideoInput, launcher: &Launcher) -> Result<FrameReader, CaptureError> {
        let (command, form) = match input {
            VideoInput::Y4m(path) => {
                let stream: Box<dyn Read + Send> = if path == Path::new("-") {
                    Box::new(std::io::stdin())
                } else {
                    let opened = File::open(path);
                    Box::new(opened.map_err(|cause| VideoError::NoStream { input: input.clone(), cause })?)
                };
                return Ok(FrameReader::new(stream, StreamFormat::Y4m, self.max_pixels));
            }
            VideoInput::Csi(number) => {
                (self.rpicam_command(*number)?, StreamFormat::Planes(Layout::yuv420(self.pi_size.0, self.pi_size.1)))
            }
            VideoInput::Address(address) => {
                (self.ffmpeg_command(self.of_address(address.with_password()?)), StreamFormat::Y4m)
            }
            VideoInput::File(path) => {
                let cannot = |cause| VideoError::Unreadable { path: path.clone(), cause };
                (self.ffmpeg_command(film(path).map_err(cannot)?.into()), StreamFormat::Y4m)
            }
        };
        let program = launcher.start(command, input)?;
        Ok(FrameReader::of_program(program, form, self.max_pixels, self.programs.limits.first))
    }

    fn ffmpeg_command(&self, input: Vec<OsString>) -> Command {
        let mut command = Command::new(&self.programs.ffmpeg);
        command.args(["-nostdin", "-v", "error", "-fflags", "nobuffer", "-flags", "low_delay"]).args(input);
        command.args(["-map", "0:v:0", "-pix_fmt", "yuv420p", "-f", "yuv4mpegpipe", "-"]);
        command
    }

    /// Returns ffmpeg's words for the stream of an address, which ends where nothing comes for too long.
    fn of_address(&self, address: &str) -> Vec<OsString> {
        let limit = match address.split_once("://") {
            _ if is_rtsp(address) => self.rtsp_limit,
            Some(("udp", _)) => Some("-timeout"), // it knows the other option without heeding it
            _ => Some("-rw_timeout"),
        };
        let limit_us = self.programs.limits.silence.as_micros().to_string();
        let mut words: Vec<OsString> = Vec::new();
        if is_rtsp(address) {
            words.extend(["-rtsp_transport", "tcp"].map(Into::into)); // over UDP, lost packets smear images
        }
        words.extend(limit.into_iter().flat_map(|limit| [limit.into(), limit_us.clone().into()]));
        words.extend(["-i", address].map(Into::into));
        words
    }

    fn rpicam_command(&self, number: u32) -> Result<Command, VideoError> {
        let (width, height) = self.pi_size;
        if width % PI_STEP != 0 {
            return Err(VideoError::PiWidth { number, width });
        }
        let mut command = Command::new(&self.programs.rpicam);
        command.args(["--nopreview", "--timeout", "0", "--codec", "yuv420", "--flush", "--output", "-", "--camera"]);
        command.arg(number.to_string()).arg("--width").arg(width.to_string()).arg("--height").arg(height.to_string());
        command.arg("--framerate").arg(self.pi_rate_hz.to_string());
        Ok(command)
    }
}

fn is_rtsp(address: &str) -> bool {
    address.starts_with("rtsp")
}

/// Asks ffmpeg for its option that limits the silence of RTSP. Before version 5 it has another name, and `timeout` is the time for which a
/// server waits.
fn rtsp_limit(programs: &Programs, input: &VideoInput) -> Option<&'static str> {
    let mut command = Command::new(&programs.ffmpeg);
    command.args(["-hide_banner", "-h", "demuxer=rtsp"]);
    // where it cannot be started, the stream says why
    let (_, answer) = Launcher::default().ask(command, input, ASK_TIMEOUT.min(programs.limits.first)).ok()?;
    let answer = answer.inspect_err(|why| log::warn!("{input}: ffmpeg does not tell its options: {why}")).ok()?;
    let answer = String::from_utf8_lossy(&answer);
    let has =
        |name: &str| answer.lines().any(|line| line.trim_start().starts_with(name) && line.contains("microseconds"));
    ["-stimeout", "-timeout"].into_iter().find(|name| has(&format!("{name} ")))
}

/// State shared with a stream's thread.
#[derive(Default)]
struct Shared {
    launcher: Launcher,
    rate_hz: Mutex<Option<f64>>,
    /// Arrival of the newest frame.
    newest: Mutex<Option<Instant>>,
    /// Number of restarts, and the reason of the last one.
    breaks: Mutex<(u64, String)>,
}

/// Stream that is read on its own thread.
struct Stream {
    input: VideoInput,
    frames: Receiver<Result<ArrivedFrame, CaptureError>>,
    shared: Arc<Shared>,
    max_silence: Duration,
}

impl Stream {
    fn start(input: &VideoInput, stream_options: &StreamOptions) -> Result<Self, CaptureError> {
        let (sender, frames) = bounded(MAX_QUEUED);
        let shared = Arc::<Shared>::default();
        let worker = Worker {
            input: input.clone(),
            stream_options: stream_options.clone(),
            sender,
            oldest: frames.clone(),
            shared: Arc::clone(&shared),
        };
        let thread = std::thread::Builder::new().name("video".into()).spawn(move || worker.run());
        thread.map_err(|cause| VideoError::NoThread { input: input.clone(), cause })?;
        Ok(Self { input: input.clone(), frames, shared, max_silence: stream_options.programs.limits.silence })
    }

    fn first(&self, limit: Duration) -> Result<ArrivedFrame, CaptureError> {
        match self.frames.recv_timeout(limit) {
            Ok(first) => first,
            Err(RecvTimeoutError::Disconnected) => Err(VideoError::NoFrame(self.input.clone()).into()),
            Err(RecvTimeoutError::Timeout) => {
                let (input, said) = (self.input.clone(), self.shared.launcher.last_message());
                Err(VideoError::Late { input, seconds: limit.as_secs(), said }.into())
            }
        }
    }

    fn is_silent(&self) -> bool {
        self.shared.newest.lock().is_some_and(|newest| newest.elapsed() > self.max_silence)
    }

    fn silent(&self) -> String {
        format!("no frame of {} has come for more than {} s", self.input, self.max_silence.as_secs())
    }

    /// Returns the error of a live stream that sends nothing; it is restarted again and again.
    fn silence(&self) -> Option<String> {
        (self.input.is_live() && self.is_silent()).then(|| format!("{}; waiting for it", self.silent()))
    }

    fn remark(&self) -> Option<String> {
        if !self.input.is_live() && self.is_silent() {
            return Some(self.silent());
        }
        let breaks = self.shared.breaks.lock();
        let (times, why) = &*breaks;
        (*times > 0).then(|| format!("{} broke and was begun again {}: {why}", self.input, counted(*times, "time")))
    }
}

impl Drop for Stream {
    fn drop(&mut self) {
        self.shared.launcher.close(); // its thread reads the end
        // not joined: a thread blocked on a pipe cannot be woken
    }
}

struct Worker {
    input: VideoInput,
    stream_options: StreamOptions,
    sender: Sender<Result<ArrivedFrame, CaptureError>>,
    /// Receiving end of the queue, to drop the oldest frame.
    oldest: Receiver<Result<ArrivedFrame, CaptureError>>,
    shared: Arc<Shared>,
}

impl Worker {
    fn run(self) {
        let mut has_begun = false;
        while !self.is_stopped() {
            let end = self.read(&mut has_begun);
            self.shared.launcher.end();
            match end {
                // a live stream restarts at its end
                Ok(why) if self.input.is_live() && has_begun => self.pause_after_break(why),
                Err(err) if self.input.is_live() && has_begun => self.pause_after_break(err.to_string()),
                Ok(_) => return,
                Err(err) => {
                    let _ = self.sender.send(Err(err)); // the source may be gone
                    return;
                }
            }
        }
    }

    fn pause_after_break(&self, why: String) {
        let mut breaks = self.shared.breaks.lock();
        *breaks = (breaks.0 + 1, why);
        drop(breaks);
        std::thread::sleep(self.stream_options.programs.limits.pause);
    }

    /// Reads the stream to its end; returns the reason of the end.
    fn read(&self, has_begun: &mut bool) -> Result<String, CaptureError> {
        let mut reader = self.stream_options.open(&self.input, &self.shared.launcher)?;
        loop {
            let picture = reader.next(self.stream_options.keeps_rgb);
            let damaged = |cause| VideoError::Stream { input: self.input.clone(), cause, said: reader.last_message() };
            let Some(picture) = picture.map_err(damaged)? else {
                if !*has_begun {
                    return Err(damaged(ReadError::NoFirstFrame).into());
                }
                return Ok(format!("it ended{}", reader.last_message()));
            };
            *has_begun = true;
            *self.shared.rate_hz.lock() = reader.rate_hz();
            *self.shared.newest.lock() = Some(Instant::now());
            if self.input.is_live() {
                reader.set_limit(self.stream_options.programs.limits.silence);
            }
            if !self.send(ArrivedFrame { picture, time: SystemTime::now() }) {
                return Ok(String::new());
            }
        }
    }

    /// Sends a frame: a live stream replaces the oldest one, others wait for room. Returns `false` if the source is dropped.
    fn send(&self, arrived: ArrivedFrame) -> bool {
        if !self.input.is_live() {
            return self.sender.send(Ok(arrived)).is_ok() && !self.is_stopped();
        }
        let mut frame = Ok(arrived);
        while !self.is_stopped() {
            match self.sender.try_send(frame) {
                Ok(()) => return true,
                Err(TrySendError::Full(unsent)) => {
                    frame = unsent;
                    let _ = self.oldest.try_recv(); // it may have been taken
                }
                Err(TrySendError::Disconnected(_)) => return false,
            }
        }
        false
    }

    fn is_stopped(&self) -> bool {
        self.shared.launcher.is_closed()
    }
}
