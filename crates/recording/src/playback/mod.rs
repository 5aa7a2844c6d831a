//! Recordings as a source: playback of files, controlled by a transport, and of a recording that arrives through a pipe.

mod info;
mod pipe;
mod results;

pub use info::info_of;
pub use pipe::PipeSource;

use super::Recording;
use super::error::{PlayError, ReadError};
use super::read::StereoTopics;
use super::unpack::{UnpackedResult, Unpacker};
use results::ResultSearch;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;
use stereopsis_base::console;
use stereopsis_calibration::CalibrationNote;
use stereopsis_frame::player::{PairError, Pairs, Player, median_interval};
use stereopsis_frame::{
    Arrangement, CaptureError, Cause, Next, PairSource, RawPair, Skew, SourceInfo, SourceOptions, SourceState, Speed,
    Transport, doubtful_arrangement,
};

/// Source that plays a recording.
pub struct RecordingSource {
    files: Vec<PathBuf>,
    info: SourceInfo,
    calibration: Option<CalibrationNote>,
    player: Player,
    losses: Vec<String>,
    skew: Option<Skew>,
    /// Search for recorded depth, which ends when the source is dropped.
    _search: Option<ResultSearch>,
}

/// Pairs of a file, read for the player.
struct FilePairs {
    recording: Recording,
    unpacker: Unpacker,
    /// Name of the file, for pairs without a name.
    name: String,
    /// Whether pairs get their recorded results.
    with_results: bool,
    /// Number and pair that were read while opening.
    first: Option<(u64, RawPair)>,
}

impl RecordingSource {
    /// Opens a file and decodes its first readable pair.
    ///
    /// # Errors
    /// The file cannot be read, is no recording, or has no readable pair.
    pub fn open(path: &Path, options: &SourceOptions) -> Result<Self, CaptureError> {
        let recording = Recording::open_with(path, &options.topics)?;
        let (files, mut losses) = (recording.files(), recording.losses());
        let skew = recording.skew().map(|skew| skew.skew);
        let calibration = recording.calibration().cloned();
        let arrangement = arrangement(options)?;
        let unpacker =
            Unpacker::of(recording.about(), options.pixels, options.max_pixels).with_arrangement(arrangement);
        let times = times(&recording);
        let transport = Arc::new(Transport::new(times, options.speed, options.looped));
        if !options.start_at.is_zero() {
            transport.seek_time(options.start_at);
        }
        let start = transport.next_pair().map_or(0, |(pair, _)| pair);
        let name = path.file_stem().map_or_else(|| "recording".into(), |name| name.to_string_lossy().into_owned());
        let with_results = options.watched;
        let watched = with_results.then_some(&recording);
        let search = watched.and_then(|recording| ResultSearch::start(recording, path, &options.topics, &transport));
        let mut pairs = FilePairs { recording, unpacker, name: name.clone(), with_results, first: None };
        let (k, first) = pairs.first_readable(path, start)?;
        if let Some(topic) = &options.topics.both {
            let doubt = doubtful_arrangement(first.left.size(), arrangement);
            losses.extend(doubt.map(|doubt| format!("{}: {doubt}", console::foreign(topic))));
        }
        let count = pairs.recording.pairs().len() as u64;
        let are_rectified = pairs.recording.stereo_topics().is_some_and(StereoTopics::are_rectified);
        let num_pairs = (!options.looped).then_some(count);
        let info = info::info(name, &first, num_pairs, pairs.recording.about(), are_rectified);
        pairs.first = Some((k, first));
        let interval = median_interval(&transport.get().times);
        let player = Player::start(Box::new(pairs), transport, interval, options.watched)?;
        Ok(Self { files, info, calibration, player, losses, skew, _search: search })
    }
}

/// Returns the arrangement of both views in one image. Fails where one was given without the topic of such images.
fn arrangement(options: &SourceOptions) -> Result<Arrangement, CaptureError> {
    match (options.both_views, &options.topics.both) {
        (Some(arrangement), None) => Err(CaptureError::Grammar(PlayError::NoTopic(arrangement.word()).into())),
        (arrangement, _) => Ok(arrangement.unwrap_or(Arrangement::SideBySide)),
    }
}

/// Returns the log time of each pair since the first one; constant while the clock was set back.
fn times(recording: &Recording) -> Arc<[Duration]> {
    let first = recording.pairs().first().map_or(0, |pair| pair.log_time_ns);
    let mut latest = 0;
    let since = recording.pairs().iter().map(|pair| {
        latest = pair.log_time_ns.saturating_sub(first).max(latest);
        Duration::from_nanos(latest)
    });
    since.collect()
}

impl FilePairs {
    /// Returns the first readable pair from `start` on, else before it.
    fn first_readable(&mut self, path: &Path, start: u64) -> Result<(u64, RawPair), CaptureError> {
        let count = self.recording.pairs().len() as u64;
        let mut why: Cause = match (self.recording.stereo_topics(), self.recording.damage()) {
            (_, Some(damage)) => damage.into(),
            (None, None) => PlayError::NoImages.into(),
            (Some(_), None) => PlayError::NoPairs.into(),
        };
        for k in (start..count).chain(0..start) {
            match self.read(k) {
                Ok(pair) => return Ok((k, pair)),
                Err(PairError::Lost(why) | PairError::Ended { why, .. }) => return Err(CaptureError::File(why)),
                Err(PairError::Damaged(damage)) => why = damage,
            }
        }
        Err(CaptureError::File(PlayError::NoPair { path: path.to_owned(), why }.into()))
    }
}

impl From<ReadError> for CaptureError {
    fn from(err: ReadError) -> Self {
        Self::File(err.into())
    }
}

impl From<ReadError> for PairError {
    fn from(err: ReadError) -> Self {
        match err {
            ReadError::File(why) => Self::Lost(why.into()),
            ReadError::Damaged(why) => Self::Damaged(why.into()),
        }
    }
}

impl Pairs for FilePairs {
    fn collection(&self) -> &'static str {
        "recording"
    }

    fn read(&mut self, k: u64) -> Result<RawPair, PairError> {
        if let Some((_, pair)) = self.first.take_if(|(first, _)| *first == k) {
            return Ok(pair);
        }
        let (_, mut pair) = self.unpacker.read(&mut self.recording, k)?;
        pair.name = if self.recording.about().is_some() { numbered(&pair) } else { format!("{}-{k:06}", self.name) };
        if self.with_results {
            // a pair with a damaged result is played without it
            let result = self.recording.packets_of_result(k).and_then(|packets| Ok(UnpackedResult::of(&packets)?));
            let result = result.inspect_err(|err| log::debug!("{err}"));
            pair.recorded = result.unwrap_or_default().recorded().map(Arc::new);
        }
        Ok(pair)
    }
}

/// Returns the recorded name of a pair, with its number if the name has none.
pub fn numbered(pair: &RawPair) -> String {
    let has_number = pair.name.chars().rev().take_while(char::is_ascii_digit).count() >= 6;
    if has_number { pair.name.clone() } else { format!("{}-{:06}", pair.name, pair.sequence) }
}

impl PairSource for RecordingSource {
    fn info(&self) -> SourceInfo {
        let interval_s = self.player.median_interval().as_secs_f64();
        let rate_hz = match self.player.transport().get().speed {
            Speed::Times(speed) if interval_s > 0.0 => Some(speed / interval_s),
            _ => None,
        };
        SourceInfo { rate_hz, ..self.info.clone() }
    }

    fn files(&self) -> Vec<PathBuf> {
        self.files.clone()
    }

    fn next(&mut self, timeout: Duration) -> Result<Next, CaptureError> {
        let next = self.player.next(timeout)?;
        if let Next::Pair(pair) = &next {
            (self.info.width, self.info.height) = pair.left.size();
        }
        Ok(next)
    }

    fn state(&self) -> SourceState {
        let remarks = self.losses.iter().cloned().chain(self.player.left_out()).chain(self.player.jumps());
        let unreadable = self.player.unreadable();
        SourceState { remarks: remarks.collect(), unreadable, skew: self.skew, ..SourceState::default() }
    }

    fn calibration(&self) -> Option<&CalibrationNote> {
        self.calibration.as_ref()
    }

    fn transport(&self) -> Option<Arc<Transport>> {
        Some(Arc::clone(self.player.transport()))
    }
}
