//! Streams without a known length as a source: network cameras, Raspberry Pi cameras, pipes. Each is read on its own thread.
//!
//! Frames of live streams are paired by arrival time, and only the newest is kept; a broken stream is restarted. Frames of pipes
//! are queued, paired by number, and end with the pipe.

use crate::ViewLayout;
use crate::capture::pairing::{Pairing, Side};
use crate::capture::{
    CaptureError, MaxPixels, Next, PairSource, RawPair, SourceInfo, SourceOptions, SourceState, VideoInput,
};
use crate::console::counted;
use crate::image::Picture;
use crate::program::{Programs, RunningProgram};
use crate::reader::{FrameReader, StreamFormat};
use crate::y4m::Layout;
use crossbeam_channel::{Receiver, RecvTimeoutError, Sender, TryRecvError, TrySendError, bounded};
use parking_lot::Mutex;
use std::collections::VecDeque;
use std::fs::File;
use std::io::Read;
use std::path::Path;
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant, SystemTime};

/// Time limit of the first frame: a network camera authenticates, and waits for a whole image.
const FIRST_TIMEOUT: Duration = Duration::from_secs(20);
/// Maximum time without a frame, after which a live stream is restarted, and the silence of a pipe is reported.
const MAX_SILENCE: Duration = Duration::from_secs(10);
const RESTART_PAUSE: Duration = Duration::from_secs(1);
/// Maximum queued frames of a stream.
const MAX_QUEUED: usize = 2;
/// Rate of streams without one, Hz.
const DEFAULT_RATE: f64 = 30.0;
/// Default size of a Raspberry Pi's images, px.
const PI_SIZE: (usize, usize) = (640, 480);
/// Row alignment of a Raspberry Pi's images, px.
const PI_STEP: usize = 64;
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
        let stream_options = StreamOptions::of(programs, options)?;
        let mut streams: Vec<Stream> =
            inputs.iter().map(|input| Stream::start(input, &stream_options)).collect::<Result<_, _>>()?;
        let mut firsts = Vec::new();
        for stream in &mut streams {
            firsts.push(stream.first()?);
        }
        let rates: Vec<f64> =
            streams.iter().map(|stream| stream.shared.rate_hz.lock().unwrap_or(stream_options.pi_rate_hz)).collect();
        let pairing = Pairing::new(rates[0], *rates.last().unwrap_or(&DEFAULT_RATE));
        let views = ViewLayout::of(options);
        let (left, _) = crate::views(firsts.iter().map(|first| first.picture.clone()).collect(), views)
            .map_err(CaptureError::Camera)?;
        let (width, height) = left.size();
        let name = inputs.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ");
        let info =
            SourceInfo { name, width, height, rate_hz: Some(rates[0]), is_camera: is_live, ..SourceInfo::default() };
        let waiting = streams.iter().map(|_| VecDeque::new()).collect();
        let mut opened = Self { streams, pairing, waiting, is_live, info, views, given: 0 };
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

    /// Takes received frames; returns `false` at the end of a pipe.
    fn drain(&mut self) -> Result<bool, CaptureError> {
        for at in 0..self.streams.len() {
            // neither of two pipes is read far ahead of the other
            while self.waiting[at].len() < MAX_QUEUED {
                match self.streams[at].frames.try_recv() {
                    Ok(arrived) => self.put(at, arrived?),
                    Err(TryRecvError::Empty) => break,
                    Err(TryRecvError::Disconnected) if self.waiting[at].is_empty() => return Ok(false),
                    Err(TryRecvError::Disconnected) => break,
                }
            }
        }
        Ok(true)
    }
}

impl PairSource for VideoStreams {
    fn info(&self) -> SourceInfo {
        self.info.clone()
    }

    fn next(&mut self, timeout: Duration) -> Result<Next, CaptureError> {
        let deadline = Instant::now() + timeout;
        loop {
            let goes_on = self.drain()?;
            if let Some((pictures, time)) = self.take() {
                let (left, right) = crate::views(pictures, self.views).map_err(CaptureError::Camera)?;
                (self.info.width, self.info.height) = left.size();
                let number = self.given;
                self.given += 1;
                return Ok(Next::Pair(Box::new(RawPair::new(format!("video-{number:06}"), number, time, left, right))));
            }
            if !goes_on {
                return Ok(Next::End);
            }
            self.streams.iter().filter(|stream| stream.input.is_live()).for_each(Stream::watch);
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
        SourceState { remarks, unpaired: self.pairing.unpaired(), ..SourceState::default() }
    }
}

#[derive(Clone)]
struct StreamOptions {
    programs: Programs,
    max_pixels: MaxPixels,
    keeps_rgb: bool,
    pi_size: (usize, usize),
    pi_rate_hz: f64,
}

impl StreamOptions {
    fn of(programs: &Programs, options: &SourceOptions) -> Result<Self, CaptureError> {
        Ok(Self {
            programs: programs.clone(),
            max_pixels: options.max_pixels,
            keeps_rgb: options.pixels.keeps_rgb(),
            pi_size: options.size.unwrap_or(PI_SIZE),
            pi_rate_hz: options.rate_hz.unwrap_or(DEFAULT_RATE),
        })
    }

    /// Opens a stream, and its program if it has one.
    fn open(&self, input: &VideoInput) -> Result<(FrameReader, Option<RunningProgram>), CaptureError> {
        let (command, form) = match input {
            VideoInput::Y4m(path) => {
                let stream: Box<dyn Read + Send> = if path == Path::new("-") {
                    Box::new(std::io::stdin())
                } else {
                    Box::new(File::open(path).map_err(|err| CaptureError::File(format!("cannot open {input}: {err}")))?)
                };
                let reader = FrameReader::new(stream, StreamFormat::Y4m, self.max_pixels);
                return Ok((reader.map_err(|why| CaptureError::File(format!("cannot read {input}: {why}")))?, None));
            }
            VideoInput::Csi(number) => {
                (self.rpicam_command(*number)?, StreamFormat::Planes(Layout::yuv420(self.pi_size.0, self.pi_size.1)))
            }
            VideoInput::Address(address) => (self.ffmpeg_command(address.with_password()?), StreamFormat::Y4m),
            VideoInput::File(path) => (self.ffmpeg_command(&path.to_string_lossy()), StreamFormat::Y4m),
        };
        let (running, output) = RunningProgram::start(command, input)?;
        let reader = FrameReader::new(Box::new(output), form, self.max_pixels);
        let reader = reader
            .map_err(|why| CaptureError::Camera(format!("cannot read {input}: {why}{}", running.last_message())))?;
        Ok((reader, Some(running)))
    }

    fn ffmpeg_command(&self, address: &str) -> Command {
        let mut command = Command::new(&self.programs.ffmpeg);
        command.args(["-nostdin", "-v", "error", "-fflags", "nobuffer", "-flags", "low_delay"]);
        if address.starts_with("rtsp") {
            command.args(["-rtsp_transport", "tcp"]); // over UDP, lost packets smear images
        }
        command.args(["-i", address, "-map", "0:v:0", "-pix_fmt", "yuv420p", "-f", "yuv4mpegpipe", "-"]);
        command
    }

    fn rpicam_command(&self, number: u32) -> Result<Command, CaptureError> {
        let (width, height) = self.pi_size;
        if width % PI_STEP != 0 {
            return Err(CaptureError::Grammar(format!(
                "csi:{number} gives rows of a multiple of {PI_STEP} px, and {width} is none: choose another --size"
            )));
        }
        let mut command = Command::new(&self.programs.rpicam);
        command.args(["--nopreview", "--timeout", "0", "--codec", "yuv420", "--flush", "--output", "-", "--camera"]);
        command.arg(number.to_string()).arg("--width").arg(width.to_string()).arg("--height").arg(height.to_string());
        command.arg("--framerate").arg(self.pi_rate_hz.to_string());
        Ok(command)
    }
}

/// State shared with a stream's thread.
#[derive(Default)]
struct Shared {
    stop: AtomicBool,
    running: Mutex<Option<RunningProgram>>,
    rate_hz: Mutex<Option<f64>>,
    /// Arrival of the newest frame, or start of the stream.
    newest: Mutex<Option<Instant>>,
    /// Number of restarts, and the reason of the last one.
    breaks: Mutex<(u64, String)>,
}

/// Stream that is read on its own thread.
struct Stream {
    input: VideoInput,
    frames: Receiver<Result<ArrivedFrame, CaptureError>>,
    shared: Arc<Shared>,
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
        thread.map_err(|err| CaptureError::Camera(format!("{input}: cannot start a thread: {err}")))?;
        Ok(Self { input: input.clone(), frames, shared })
    }

    fn first(&self) -> Result<ArrivedFrame, CaptureError> {
        match self.frames.recv_timeout(FIRST_TIMEOUT) {
            Ok(first) => first,
            Err(RecvTimeoutError::Disconnected) => Err(CaptureError::Camera(format!("{} has no frame", self.input))),
            Err(RecvTimeoutError::Timeout) => {
                let last_message =
                    self.shared.running.lock().as_ref().map(RunningProgram::last_message).unwrap_or_default();
                let seconds = FIRST_TIMEOUT.as_secs();
                Err(CaptureError::Camera(format!("no frame of {} came in {seconds} s{last_message}", self.input)))
            }
        }
    }

    fn silent_for(&self) -> Duration {
        self.shared.newest.lock().map_or(Duration::ZERO, |newest| newest.elapsed())
    }

    /// Kills a program that has stopped sending; its thread restarts it.
    fn watch(&self) {
        if self.silent_for() > MAX_SILENCE {
            *self.shared.newest.lock() = Some(Instant::now());
            if let Some(running) = &*self.shared.running.lock() {
                running.kill();
            }
        }
    }

    fn remark(&self) -> Option<String> {
        let silent_s = self.silent_for().as_secs();
        if !self.input.is_live() && silent_s > MAX_SILENCE.as_secs() {
            return Some(format!("no frame of {} has come for more than {} s", self.input, MAX_SILENCE.as_secs()));
        }
        let breaks = self.shared.breaks.lock();
        let (times, why) = &*breaks;
        (*times > 0).then(|| format!("{} broke and was begun again {}: {why}", self.input, counted(*times, "time")))
    }
}

impl Drop for Stream {
    fn drop(&mut self) {
        self.shared.stop.store(true, Ordering::Release);
        if let Some(running) = self.shared.running.lock().take() {
            running.kill(); // its thread reads the end
        }
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
            *self.shared.running.lock() = None;
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
        std::thread::sleep(RESTART_PAUSE);
    }

    /// Reads the stream to its end; returns the reason of the end.
    fn read(&self, has_begun: &mut bool) -> Result<String, CaptureError> {
        let (mut reader, running) = self.stream_options.open(&self.input)?;
        self.shared.running.lock().clone_from(&running);
        if self.is_stopped() {
            return Ok(String::new());
        }
        *self.shared.rate_hz.lock() = reader.header().rate_hz;
        *self.shared.newest.lock() = Some(Instant::now());
        loop {
            let picture = reader.next(self.stream_options.keeps_rgb);
            let last_message = || running.as_ref().map(RunningProgram::last_message).unwrap_or_default();
            let damaged = |why| CaptureError::Camera(format!("cannot read {}: {why}{}", self.input, last_message()));
            let Some(picture) = picture.map_err(damaged)? else {
                if !*has_begun {
                    return Err(damaged("it ends before its first frame does".to_owned()));
                }
                return Ok(format!("it ended{}", last_message()));
            };
            *has_begun = true;
            *self.shared.newest.lock() = Some(Instant::now());
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
        self.shared.stop.load(Ordering::Acquire)
    }
}
