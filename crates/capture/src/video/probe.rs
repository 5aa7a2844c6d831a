//! Description of a film by ffprobe: its tracks with their rates, lengths and first times, and the layout of both views.

use crate::video::error::{FilmError, ReadError, VideoError};
use crate::video::program::{Launcher, Programs, RunningProgram};
use crate::video::view_layout::StatedLayout;
use std::ffi::OsString;
use std::io::ErrorKind;
use std::path::Path;
use std::process::Command;
use std::time::Duration;
use stereopsis_base::files::plain;
use stereopsis_frame::VideoInput;

/// Containers and streams of films by the names of ffmpeg's demuxers. Formats that only name other files are none of them.
const FILMS: &str = "mov,matroska,avi,mpegts,mpeg,mpegvideo,m4v,asf,flv,ogg,mxf,dv,ivf,nut,h264,hevc,mjpeg,jpeg_pipe";
const NOT_A_FILM: &str = "Format not on whitelist";
/// Streams without a container, to which ffmpeg gives a rate of its own where they have none.
const BARE_STREAMS: [&str; 6] = ["h264", "hevc", "mjpeg", "jpeg_pipe", "mpegvideo", "m4v"];
/// Containers that have no number of frames, and whose length ffprobe estimates by the times at their end.
const WITHOUT_LENGTH: [&str; 4] = ["mpegts", "mpeg", "flv", "ogg"];
/// Kind of side data that ffprobe has for a layout of views, and the words that ffmpeg 5.1 puts before it.
const STEREO_DATA: &str = "Stereo 3D";
const PACKING: &str = "side data - ";
/// Number of packets whose frames are decoded: the first frame in time need not be the first one in the file.
const FIRST_PACKETS: u32 = 16;
/// Number of packets in which a key frame is looked for.
const KEY_PACKETS: u32 = 300;
/// Time limit of the count of frames where the length is known roughly.
const COUNT_TIMEOUT: Duration = Duration::from_secs(5);
/// Rates that are taken for one, Hz.
const RATES: std::ops::RangeInclusive<f64> = 0.001..=10_000.0;

/// Film as ffprobe describes it.
pub(super) struct Film {
    /// First video track, and the other one of its size, if there are two.
    pub(super) tracks: Vec<Track>,
    pub(super) layout: Option<StatedLayout>,
    /// Whether it is a stream without a container.
    pub(super) is_bare: bool,
}

/// Video track of a film.
#[derive(Clone, Debug)]
pub(super) struct Track {
    /// Number among the video tracks.
    pub(super) number: usize,
    /// Mean rate, frames/s.
    pub(super) rate: f64,
    /// Number of frames at this rate.
    pub(super) count: u64,
    /// Time of its first frame, s; `None` where frames have no times.
    pub(super) start_s: Option<f64>,
    /// Begin of the film, from which ffmpeg counts the times of `-ss`, s.
    pub(super) film_start_s: f64,
    /// Projection of its images by its spherical metadata, in ffprobe's words.
    pub(super) projection: Option<String>,
}

/// Returns the words by which ffmpeg and ffprobe open the film of a path, whatever its name looks like.
///
/// # Errors
/// The path is no plain file: a program that opens a pipe waits for its writer.
pub(crate) fn film(path: &Path) -> Result<[OsString; 4], FilmError> {
    plain::open(path).map_err(|cause| match cause.kind() {
        ErrorKind::InvalidInput => FilmError::NoPlainFile(cause),
        _ => FilmError::Open { path: path.to_owned(), cause },
    })?;
    let mut name = OsString::from("file:"); // a word before a colon would be a protocol
    name.push(path);
    Ok(["-format_whitelist".into(), FILMS.into(), "-i".into(), name])
}

/// Asker of one film.
pub(super) struct Probe<'a> {
    pub(super) programs: &'a Programs,
    pub(super) launcher: &'a Launcher,
    pub(super) input: &'a VideoInput,
}

impl Probe<'_> {
    fn path(&self) -> &Path {
        self.input.path().unwrap_or(Path::new(""))
    }

    fn refused(&self, cause: FilmError) -> VideoError {
        VideoError::NoFilm { path: self.path().to_owned(), cause }
    }

    /// Asks for entries of the video tracks that `tracks` selects.
    fn ask(
        &self,
        tracks: &str,
        words: &[&str],
        limit: Duration,
    ) -> Result<(RunningProgram, Result<ProbeOutput, ReadError>), VideoError> {
        let mut command = Command::new(&self.programs.ffprobe);
        command.args(["-v", "error", "-select_streams", tracks, "-of", "json"]).args(words);
        command.args(film(self.path()).map_err(|cause| self.refused(cause))?);
        let (running, answer) = self.launcher.ask(command, self.input, limit)?;
        Ok((running, answer.map(|answer| serde_json::from_slice(&answer).unwrap_or_default())))
    }

    /// Describes the film. Fails for other files, and where the length of the film is not found.
    pub(super) fn film(&self) -> Result<Film, VideoError> {
        let (mut running, mut probed) = self.describe(FIRST_PACKETS)?;
        if !probed.streams.is_empty() && probed.frames.is_empty() {
            // a film that was cut begins behind a key frame
            (running, probed) = self.describe(KEY_PACKETS)?;
        }
        let Some(stream) = probed.streams.first() else {
            let mut messages = running.messages();
            let other = messages.iter().find(|message| message.contains(NOT_A_FILM));
            return Err(self.refused(match other.and_then(|message| message.strip_prefix('[')?.split_once(" @")) {
                Some((format, _)) => FilmError::NoContainer { format: format.to_owned(), films: FILMS },
                None => messages.pop().map_or(FilmError::NoVideo, FilmError::Probed),
            }));
        };
        let size = (stream.width, stream.height);
        let mut of_size: Vec<_> = probed.streams.iter().enumerate().collect();
        of_size.retain(|(_, other)| (other.width, other.height) == size);
        of_size.truncate(if of_size.len() == 2 { 2 } else { 1 });
        let tracks = of_size.into_iter().map(|(number, stream)| self.track(number, stream, &probed));
        let tracks = tracks.collect::<Result<_, _>>()?;
        let layout = match probed.layout(stream) {
            None if probed.has_packed_frames(stream) => self.packing()?,
            layout => layout,
        };
        Ok(Film { tracks, layout, is_bare: probed.format.is_one_of(&BARE_STREAMS) })
    }

    /// Asks for what is known of all video tracks, and for the frames in the first packets.
    fn describe(&self, packets: u32) -> Result<(RunningProgram, ProbeOutput), VideoError> {
        let interval = format!("%+#{packets}");
        let entries = [
            "stream=index,width,height,avg_frame_rate,r_frame_rate,start_time,duration",
            "stream_tags=DURATION,stereo_mode",
            "stream_side_data=projection,type,inverted",
            "frame=stream_index,best_effort_timestamp_time",
            "frame_tags=stereo_mode",
            "frame_side_data=side_data_type,type,inverted",
            "format=format_name,start_time,duration",
        ];
        // V: no cover and no thumbnail
        let words = ["-read_intervals", &interval, "-show_entries", &entries.join(":")];
        let (running, answer) = self.ask("V", &words, self.programs.limits.first)?;
        Ok((running, answer.map_err(|why| self.refused(FilmError::Probe(why)))?))
    }

    fn track(&self, number: usize, stream: &ProbedStream, probed: &ProbeOutput) -> Result<Track, VideoError> {
        let format = &probed.format;
        let no_length = || self.refused(FilmError::NoLength);
        let rate = [&stream.avg_frame_rate, &stream.r_frame_rate].into_iter().find_map(|text| rate(text));
        let rate = rate.ok_or_else(no_length)?;
        let film_start_s = seconds(&format.start_time).unwrap_or(0.0);
        let mut frames = probed.frames.iter().filter(|frame| frame.stream_index == stream.index).peekable();
        let stated_start_s = seconds(&stream.start_time);
        let start_s = match frames.peek() {
            None => Some(stated_start_s.unwrap_or(film_start_s)),
            Some(_) => {
                frames.map(|frame| seconds(&frame.best_effort_timestamp_time)).reduce(|a, b| Some(a?.min(b?))).flatten()
            }
        };
        // frames in front of the first key frame are not decoded
        let lead_s = start_s.zip(stated_start_s).map_or(0.0, |(first_s, stated_s)| (first_s - stated_s).max(0.0));
        let count_of = |seconds: f64| ((seconds - lead_s) * rate).round().max(0.0) as u64;
        // Matroska has the time at which the track ends
        let until_end = |end_s: f64| end_s - stated_start_s.unwrap_or(0.0).max(0.0);
        let length_s = seconds(&stream.duration).or_else(|| clock(&stream.tags.duration).map(until_end));
        let film_length_s = seconds(&format.duration).map(|length_s| until_end(film_start_s + length_s));
        let stated = length_s.filter(|_| start_s.is_some()).map(count_of);
        let is_exact = stated.is_some() && !format.is_one_of(&WITHOUT_LENGTH);
        let counted = if is_exact { None } else { self.count(number, length_s.or(film_length_s).is_some())? };
        let counted = counted.map(|count| count.saturating_sub((lead_s * rate).round() as u64));
        // frames that are missing in between are repeated: there are as many as fit into the time
        let count = counted.max(stated).or_else(|| film_length_s.map(count_of)).ok_or_else(no_length)?;
        let projection = stream.side_data_list.iter().find_map(|data| data.projection.clone());
        Ok(Track { number, rate, count, start_s, film_start_s, projection })
    }

    /// Returns the frame packing of H.265, which ffprobe 5.1 mentions at a frame without naming it, and ffmpeg names.
    fn packing(&self) -> Result<Option<StatedLayout>, VideoError> {
        let mut command = Command::new(&self.programs.ffmpeg);
        command
            .args(["-nostdin", "-hide_banner", "-nostats"])
            .args(film(self.path()).map_err(|cause| self.refused(cause))?);
        command.args(["-map", "0:V:0", "-frames:v", "1", "-vf", "showinfo", "-f", "null", "-"]);
        let (running, _) = self.launcher.ask(command, self.input, self.programs.limits.first)?;
        Ok(running.messages().iter().find_map(|message| {
            let (_, words) = message.split_once(PACKING)?.1.split_once("type - ")?;
            let right_first = words.contains("inverted");
            StatedLayout::of_type(words.split([',', '(']).next()?.trim(), right_first)
        }))
    }

    /// Counts the frames of a track, for which the whole file is read; `None` where that takes too long.
    fn count(&self, number: usize, is_known_roughly: bool) -> Result<Option<u64>, VideoError> {
        let first = self.programs.limits.first;
        let limit = if is_known_roughly { first.min(COUNT_TIMEOUT) } else { first };
        let words = ["-count_packets", "-show_entries", "stream=nb_read_packets"];
        let (_, answer) = self.ask(&format!("V:{number}"), &words, limit)?;
        let counted = answer.ok().and_then(|answer| answer.streams.first()?.nb_read_packets.parse().ok());
        Ok(counted.filter(|count| *count > 0))
    }

    /// Returns the time of the first key frame that is found from a time on, s: decoding begins there. `None` where none is found.
    pub(super) fn key_frame(&self, track: &Track, from_s: f64) -> Result<Option<f64>, VideoError> {
        let interval = format!("{from_s:.6}%+#{KEY_PACKETS}");
        let words = ["-read_intervals", &interval, "-show_entries", "packet=pts_time,flags"];
        let (_, answer) = self.ask(&format!("V:{}", track.number), &words, self.programs.limits.first)?;
        let packets = answer.map(|answer| answer.packets).unwrap_or_default();
        let mut keys = packets.iter().filter(|packet| packet.flags.starts_with('K'));
        Ok(keys.find_map(|packet| seconds(&packet.pts_time)))
    }
}

/// Parses a ratio of ffprobe such as `30000/1001`; `None` for the unknown `0/0`.
fn rate(text: &str) -> Option<f64> {
    let (over, under) = text.split_once('/')?;
    let rate = over.parse::<f64>().ok()? / under.parse::<f64>().ok()?;
    Some(rate).filter(|rate| RATES.contains(rate))
}

fn seconds(text: &str) -> Option<f64> {
    text.parse().ok().filter(|seconds: &f64| seconds.is_finite())
}

/// Parses a time such as `00:00:00.623000000`.
fn clock(text: &str) -> Option<f64> {
    text.split(':').try_fold(0.0, |sum, part| Some(60.0 * sum + seconds(part)?)).filter(|_| text.contains(':'))
}

/// Output of `ffprobe`.
#[derive(Default, serde::Deserialize)]
#[serde(default)]
struct ProbeOutput {
    streams: Vec<ProbedStream>,
    frames: Vec<ProbedFrame>,
    packets: Vec<ProbedPacket>,
    format: ProbedFormat,
}

impl ProbeOutput {
    /// Returns how a track holds both views: its container decides over its first frame.
    fn layout(&self, stream: &ProbedStream) -> Option<StatedLayout> {
        let of_data = |data: &[SideData]| {
            data.iter().find_map(|data| StatedLayout::of_type(data.kind.as_str()?, data.inverted.as_i64() == Some(1)))
        };
        let frame = self.frames.iter().find(|frame| frame.stream_index == stream.index);
        of_data(&stream.side_data_list)
            .or_else(|| StatedLayout::of_tag(&stream.tags.stereo_mode))
            .or_else(|| of_data(&frame?.side_data_list).or_else(|| StatedLayout::of_tag(&frame?.tags.stereo_mode)))
    }

    /// Returns whether the first frames of a track hold both views in a way that is not named.
    fn has_packed_frames(&self, stream: &ProbedStream) -> bool {
        let mut of_track = self.frames.iter().filter(|frame| frame.stream_index == stream.index);
        of_track.any(|frame| frame.side_data_list.iter().any(|data| data.side_data_type == STEREO_DATA))
    }
}

#[derive(Default, serde::Deserialize)]
#[serde(default)]
struct ProbedStream {
    index: u32,
    width: u32,
    height: u32,
    avg_frame_rate: String,
    r_frame_rate: String,
    start_time: String,
    duration: String,
    nb_read_packets: String,
    tags: Tags,
    side_data_list: Vec<SideData>,
}

#[derive(Default, serde::Deserialize)]
#[serde(default)]
struct ProbedFrame {
    stream_index: u32,
    best_effort_timestamp_time: String,
    tags: Tags,
    side_data_list: Vec<SideData>,
}

#[derive(Default, serde::Deserialize)]
#[serde(default)]
struct ProbedPacket {
    pts_time: String,
    flags: String,
}

#[derive(Default, serde::Deserialize)]
#[serde(default)]
struct Tags {
    #[serde(rename = "DURATION")]
    duration: String,
    stereo_mode: String,
}

#[derive(Default, serde::Deserialize)]
#[serde(default)]
struct SideData {
    side_data_type: String,
    projection: Option<String>,
    #[serde(rename = "type")]
    kind: serde_json::Value,
    inverted: serde_json::Value,
}

#[derive(Default, serde::Deserialize)]
#[serde(default)]
struct ProbedFormat {
    format_name: String,
    start_time: String,
    duration: String,
}

impl ProbedFormat {
    fn is_one_of(&self, names: &[&str]) -> bool {
        self.format_name.split(',').any(|name| names.contains(&name))
    }
}
