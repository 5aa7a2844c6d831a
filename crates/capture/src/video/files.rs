//! Videos of known length as a source, played by the recordings' player with seeking to any frame.

use crate::video::begun_apart::BegunApart;
use crate::video::error::{FilmError, VideoError};
use crate::video::film::Video;
use crate::video::pair_times::PairTimes;
use crate::video::probe::Probe;
use crate::video::program::{Launcher, Programs};
use crate::video::view_layout::{ViewLayout, views};
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, SystemTime};
use stereopsis_base::image::Picture;
use stereopsis_base::remedy::{Remedy, option};
use stereopsis_frame::player::{PairError, Pairs, Player};
use stereopsis_frame::{
    CaptureError, Next, PairSource, RawPair, SourceInfo, SourceOptions, SourceState, Speed, Transport, VideoInput,
};

/// Source that plays one or two videos.
pub(crate) struct VideoFiles {
    info: SourceInfo,
    files: Vec<PathBuf>,
    player: Player,
    remarks: Vec<String>,
    /// Remark on two videos that began apart, once that was found.
    apart: Arc<OnceLock<String>>,
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
        let Opened { videos, views, mut remarks } = Opened::of(&Arc::new(programs), inputs, options)?;
        let times = pair_times(&videos, options, &mut remarks)?;
        let (rate, count) = times.map_or((videos[0].rate, videos[0].count), |times| (times.rate(), times.count));
        let after_first: Arc<[Duration]> = (0..count).map(|k| Duration::from_secs_f64(k as f64 / rate)).collect();
        let transport = Arc::new(Transport::new(after_first, options.speed, options.looped));
        if !options.start_at.is_zero() {
            transport.seek_time(options.start_at);
        }
        let launchers = videos.iter().map(|video| video.launcher.clone()).collect();
        let name = inputs.iter().map(stem).collect::<Vec<_>>().join(", ");
        let apart = Arc::<OnceLock<String>>::default();
        let watch = (videos.len() == 2).then(|| Watch {
            of_pairs: BegunApart::new(rate),
            count,
            shift_s: options.right_shift_s,
            apart: Arc::clone(&apart),
        });
        let keeps_rgb = options.pixels.keeps_rgb();
        let mut pairs = VideoPairs { videos, times, name: name.clone(), rate, views, keeps_rgb, watch, first: None };
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
        Ok(Self { info, files, player, remarks, apart, launchers })
    }
}

/// One video, or a left and a right one, as they are opened.
struct Opened {
    videos: Vec<Video>,
    views: ViewLayout,
    remarks: Vec<String>,
}

impl Opened {
    fn of(programs: &Arc<Programs>, inputs: &[VideoInput], options: &SourceOptions) -> Result<Self, VideoError> {
        let mut opened = Self { videos: Vec::new(), views: ViewLayout::of(options), remarks: Vec::new() };
        for input in inputs {
            opened.add(programs, input, inputs.len() == 1, options)?;
        }
        Ok(opened)
    }

    fn add(
        &mut self,
        programs: &Arc<Programs>,
        input: &VideoInput,
        is_alone: bool,
        options: &SourceOptions,
    ) -> Result<(), VideoError> {
        if matches!(input, VideoInput::Y4m(_)) {
            self.videos.push(Video::open_y4m(programs, input, options.max_pixels)?);
            return Ok(());
        }
        let launcher = Launcher::default();
        let mut film = Probe { programs, launcher: &launcher, input }.film()?;
        if film.is_bare {
            let rate = film.tracks[0].rate;
            self.remarks.push(format!(
                "{input} has no times: it is played at {rate:.4} frames a second; at another rate, make a file that has them (ffmpeg -r RATE \
                 -i FILE -c:v ffv1 out.mkv)"
            ));
        }
        let is_of_two = film.tracks.len() == 2 && film.layout.is_none() && is_alone;
        if is_of_two {
            let told = match options.both_views {
                None => "the first one is the left view, the second one the right view".to_owned(),
                Some(arrangement) => format!("{}, as you say, is taken for the first one", option(arrangement.word())),
            };
            self.remarks.push(format!("{input} holds two videos of one size: {told}"));
        }
        film.tracks.truncate(if is_of_two && options.both_views.is_none() { 2 } else { 1 });
        if options.cameras.swapped_halves {
            film.tracks.reverse();
        }
        if is_alone {
            let refused = |layout| VideoError::NoFilm {
                path: input.path().unwrap_or(Path::new("")).to_owned(),
                cause: FilmError::Layout { layout },
            };
            let (views, remark) = ViewLayout::stated(options, film.layout).map_err(refused)?;
            self.views = views;
            self.remarks.extend(remark);
        }
        for track in film.tracks {
            self.videos.push(Video::open_track(programs, input, options.max_pixels, track)?);
        }
        Ok(())
    }
}

/// Returns the times by which two videos are paired; `None` for one video.
fn pair_times(
    videos: &[Video],
    options: &SourceOptions,
    remarks: &mut Vec<String>,
) -> Result<Option<PairTimes>, VideoError> {
    let [left, right] = videos else {
        return if options.right_shift_s == 0.0 {
            Ok(None)
        } else {
            Err(VideoError::ShiftOfOne { input: videos[0].input.clone() })
        };
    };
    let is_one_file = left.input == right.input;
    // tracks of one file share its times, and files begin with their first frames
    let begun_later_s = if is_one_file { right.start_s() - left.start_s() } else { 0.0 };
    let shift_s = begun_later_s + options.right_shift_s;
    let times = PairTimes::new([left, right].map(|video| (video.rate, video.count)), shift_s);
    let times = times.ok_or(VideoError::NoCommonTime { shift_s })?;
    let count = times.count;
    if !times.has_one_rate {
        remarks.push(format!(
            "the left video has {:.4} and the right one {:.4} frames a second: frames nearest in time are pairs, up to {:.0} ms apart",
            left.rate,
            right.rate,
            times.apart_ms()
        ));
    } else if left.count != right.count && shift_s == 0.0 {
        let (left, right) = (left.count, right.count);
        remarks.push(format!(
            "the left video has {left} and the right one {right} frames: the first {count} of both are pairs"
        ));
    }
    Ok(Some(times))
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
        let remarks = self.remarks.iter().chain(self.apart.get()).cloned().chain(self.player.left_out()).collect();
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

/// Watcher of the motion in two videos.
struct Watch {
    of_pairs: BegunApart,
    /// Number of pairs.
    count: u64,
    /// Time by which the right video is taken to have begun later, s.
    shift_s: f64,
    apart: Arc<OnceLock<String>>,
}

impl Watch {
    fn add(&mut self, number: u64, left: &Picture, right: &Picture) {
        if self.apart.get().is_some() {
            return;
        }
        if let Some(later_s) = self.of_pairs.add(number, number + 1 == self.count, [left, right]) {
            let shift_s = self.shift_s + later_s;
            let (more_s, when) = (shift_s.abs(), if shift_s < 0.0 { "before" } else { "after" });
            let _ = self.apart.set(format!(
                "what moves fits best where the right video began {more_s:.2} s {when} the left one ({})",
                Remedy::set("right-shift-s", format!("{shift_s:.3}"))
            ));
        }
    }
}

/// Reader of pairs on the player's thread.
struct VideoPairs {
    videos: Vec<Video>,
    /// Times by which two videos are paired.
    times: Option<PairTimes>,
    name: String,
    rate: f64,
    views: ViewLayout,
    keeps_rgb: bool,
    /// Watcher of two videos.
    watch: Option<Watch>,
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
        let times = self.times;
        let frames = times.map_or([k; 2], |times| times.frames(k));
        let pictures: Result<Vec<_>, _> = (self.videos.iter_mut().zip(frames).enumerate())
            .map(|(side, (video, frame))| {
                video.frame(frame, keeps_rgb).map_err(|err| match (err, times) {
                    (PairError::Ended { count, why }, Some(times)) => {
                        PairError::Ended { count: times.pairs_before(side, count), why }
                    }
                    (err, _) => err,
                })
            })
            .collect();
        let (left, right) = views(pictures?, self.views)?;
        if let Some(watch) = &mut self.watch {
            watch.add(k, &left, &right);
        }
        let due = SystemTime::UNIX_EPOCH + Duration::from_secs_f64(k as f64 / self.rate);
        let pair = RawPair::new(format!("{}-{k:06}", self.name), k, due, left, right);
        Ok(RawPair { is_cut: self.videos.len() == 1, ..pair })
    }
}
