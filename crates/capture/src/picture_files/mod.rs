//! Image files as a source: one pair, or a folder of pairs in natural order. A watched pair is delivered once; a watched folder is
//! paused at its start, and played, stepped and sought like a recording. Otherwise pairs are delivered once or looped, at a fixed rate
//! or without a limit, and the first unreadable pair ends the source.
//!
//! It plays pairs through the player that also plays recordings, with the truth and the calibration beside them. Files are read on the
//! player's thread, never by [`PairSource::next`].

use parking_lot::Mutex;
use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, SystemTime};
use stereopsis_base::geometry::Geometry;
use stereopsis_calibration::{Kind, LoadOptions, load};
use stereopsis_frame::pace::period;
use stereopsis_frame::player::{PairError, Pairs, Player};
use stereopsis_frame::source::DisparityFile;
use stereopsis_frame::{
    CaptureError, MaxPixels, Next, PairSource, RawPair, SourceInfo, SourceOptions, SourceState, Speed, Transport,
};
use stereopsis_images::picture_files::truth::{calib_txt, files_beside};
use stereopsis_images::picture_files::{FilePair, FolderPairs, list_pairs, list_pictures_of_both};

const DEFAULT_INTERVAL: Duration = Duration::from_nanos(1_000_000_000 / 30);

/// Source that plays image files.
pub struct FileSource {
    info: SourceInfo,
    files: Vec<PathBuf>,
    player: Player,
    mode: PlaybackMode,
    given: u64,
    geometries: Vec<Option<SizedGeometry>>,
    losses: Vec<String>,
    pair_remarks: PairRemarks,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum PlaybackMode {
    /// Every pair is delivered; an error ends the stream.
    Stream,
    /// A single watched pair is delivered once.
    Still,
    /// A watched folder is paused; the user steps, seeks or plays.
    Held,
}

/// Remarks on changed pixels and on unusable truth, by the number of the pair; written by the reading thread.
type PairRemarks = Arc<Mutex<BTreeMap<u64, String>>>;

/// Geometry of a rectified pair, and the size of its images, px.
type SizedGeometry = (Geometry, (usize, usize));

impl FileSource {
    /// Opens a left and a right file, with the truth that the user names or the truth beside them.
    ///
    /// # Errors
    /// Errors of [`FilePair::read`] and [`FilePair::read_truth`].
    pub fn pair(
        left: &Path,
        right: &Path,
        truth: Option<&DisparityFile>,
        options: &SourceOptions,
    ) -> Result<Self, CaptureError> {
        let pair = FilePair::of_two(left, right);
        let name = pair.name.clone();
        let found = FolderPairs { pairs: vec![pair], ..FolderPairs::default() };
        Self::open(name, found, truth.cloned(), options)
    }

    /// Opens all pairs of a folder. With `both_views`, opens one file or the images of a folder, each with both views.
    ///
    /// # Errors
    /// Errors of [`list_pairs`], and of [`FilePair::read`] for the first pair; in a watched folder only if no pair can be read. Errors of
    /// other pairs appear when they are played.
    pub fn folder(folder: &Path, options: &SourceOptions) -> Result<Self, CaptureError> {
        let name = folder.canonicalize().unwrap_or_else(|_| folder.into());
        let pairs = match options.both_views {
            Some(arrangement) => list_pictures_of_both(folder, arrangement)?,
            None => list_pairs(folder)?,
        };
        Self::open(stem(&name), pairs, None, options)
    }

    fn open(
        name: String,
        FolderPairs { pairs, mut losses }: FolderPairs,
        truth: Option<DisparityFile>,
        options: &SourceOptions,
    ) -> Result<Self, CaptureError> {
        let mode = match (options.watched, pairs.len()) {
            (false, _) => PlaybackMode::Stream,
            (true, 0..=1) => PlaybackMode::Still,
            (true, _) => PlaybackMode::Held,
        };
        let looped = options.looped && mode != PlaybackMode::Still;
        let period = period(options.rate_hz);
        let interval = period.unwrap_or(DEFAULT_INTERVAL);
        let times: Arc<[Duration]> = (0..pairs.len() as u32).map(|k| interval.saturating_mul(k)).collect();
        let speed = match period {
            None => Speed::Max,
            Some(_) if mode == PlaybackMode::Stream => Speed::Times(1.0),
            Some(_) => options.speed,
        };
        let names = pairs.iter().map(|pair| pair.name.clone()).collect();
        let transport = Transport::new(Arc::clone(&times), speed, looped).with_names(names);

        let (geometries, unused) = geometries(&pairs);
        losses.extend(unused);
        let pair_remarks = PairRemarks::default();
        let is_rectified = pairs.iter().all(FilePair::is_rectified);
        let camera_numbers = pairs.first().and_then(FilePair::camera_numbers);
        let camera_numbers = camera_numbers.filter(|first| pairs.iter().all(|p| p.camera_numbers() == Some(*first)));
        let files = pairs.iter().flat_map(files_of).chain(truth.as_ref().map(|truth| truth.path.clone())).collect();
        let count = pairs.len() as u64;
        let mut pictures = PictureFiles {
            pairs,
            truth,
            times,
            color: options.pixels.keeps_rgb(),
            max_pixels: options.max_pixels,
            two_sizes: options.two_sizes,
            leaves_out: mode == PlaybackMode::Held,
            first: None,
            pair_remarks: Arc::clone(&pair_remarks),
        };
        let (start, first) = pictures.first_readable()?;
        if mode == PlaybackMode::Held {
            transport.pause();
            transport.seek(start);
        }
        let (width, height) = first.left.size();
        pictures.first = Some((start, first));
        let pair = &pictures.pairs[start as usize];
        let (lens, curved) = (pair.lens((width, height)), pair.curved((width, height)));
        losses.extend(lens.as_ref().err().map(ToString::to_string));
        let info = SourceInfo {
            name,
            width,
            height,
            is_still: mode == PlaybackMode::Still,
            num_pairs: (!looped).then_some(count),
            is_rectified,
            geometry: geometry_of(&geometries, start, (width, height)),
            camera_numbers,
            lens: lens.unwrap_or_default(),
            curved,
            ..SourceInfo::default()
        };
        let player = Player::start(Box::new(pictures), Arc::new(transport), interval, options.watched)?;
        Ok(Self { info, files, player, mode, given: 0, geometries, losses, pair_remarks })
    }
}

impl PairSource for FileSource {
    fn info(&self) -> SourceInfo {
        let rate_hz = match self.player.transport().get().speed {
            Speed::Times(speed) if self.mode != PlaybackMode::Still => {
                Some(speed / self.player.median_interval().as_secs_f64())
            }
            _ => None,
        };
        SourceInfo { rate_hz, ..self.info.clone() }
    }

    fn files(&self) -> Vec<PathBuf> {
        self.files.clone()
    }

    fn next(&mut self, timeout: Duration) -> Result<Next, CaptureError> {
        if self.mode == PlaybackMode::Still && self.given > 0 {
            std::thread::sleep(timeout);
            return Ok(Next::Waiting);
        }
        let mut next = self.player.next(timeout)?;
        if let Next::Pair(pair) = &mut next {
            let size = pair.left.size();
            (self.info.width, self.info.height) = size;
            self.info.geometry = geometry_of(&self.geometries, pair.sequence, size);
            pair.capture_time = SystemTime::now();
            if self.mode == PlaybackMode::Stream {
                pair.sequence = self.given; // must keep rising in a loop
            }
            self.given += 1;
        }
        Ok(next)
    }

    fn state(&self) -> SourceState {
        let of_pairs = self.pair_remarks.lock();
        let of_pairs = of_pairs.values().next().map(|first| match of_pairs.len() {
            1 => first.clone(),
            many => format!("{first}; so it is with {} more pairs", many - 1),
        });
        let remarks = self.losses.iter().cloned().chain(of_pairs).chain(self.player.left_out()).collect();
        SourceState { remarks, unreadable: self.player.unreadable(), ..SourceState::default() }
    }

    fn transport(&self) -> Option<Arc<Transport>> {
        (self.mode == PlaybackMode::Held).then(|| Arc::clone(self.player.transport()))
    }
}

/// Pairs of files as the player's thread reads them.
struct PictureFiles {
    pairs: Vec<FilePair>,
    /// Truth that the user names.
    truth: Option<DisparityFile>,
    /// Times at which the pairs are due, from the first one.
    times: Arc<[Duration]>,
    color: bool,
    max_pixels: MaxPixels,
    two_sizes: bool,
    /// Whether a pair that cannot be read is skipped.
    leaves_out: bool,
    /// Number of the pair that was read when the source was opened, and the pair.
    first: Option<(u64, RawPair)>,
    pair_remarks: PairRemarks,
}

impl PictureFiles {
    /// Reads the first pair; if pairs may be skipped, the first readable one.
    fn first_readable(&self) -> Result<(u64, RawPair), CaptureError> {
        let later = |err| {
            let mut others = if self.leaves_out { 1..self.pairs.len() as u64 } else { 0..0 };
            others.find_map(|k| Some((k, self.read_files(k).ok()?))).ok_or(err)
        };
        self.read_files(0).map(|pair| (0, pair)).or_else(later)
    }

    fn read_files(&self, k: u64) -> Result<RawPair, CaptureError> {
        let files = &self.pairs[k as usize];
        let (mut pair, mut remarks) = files.read_and_remark(self.color, self.max_pixels, self.two_sizes)?;
        remarks.extend(files.read_truth(&mut pair, self.truth.as_ref(), self.max_pixels)?);
        if !remarks.is_empty() {
            self.pair_remarks.lock().insert(k, remarks.join("; "));
        }
        let due = SystemTime::UNIX_EPOCH.checked_add(self.times[k as usize]);
        pair.capture_time = due.unwrap_or(SystemTime::UNIX_EPOCH);
        Ok(pair)
    }
}

impl Pairs for PictureFiles {
    fn collection(&self) -> &'static str {
        "files"
    }

    fn read(&mut self, k: u64) -> Result<RawPair, PairError> {
        // a single pair is decoded once
        let kept =
            if self.pairs.len() == 1 { self.first.clone() } else { self.first.take_if(|(first, _)| *first == k) };
        if let Some((_, pair)) = kept {
            return Ok(pair);
        }
        let failed = if self.leaves_out { PairError::Damaged } else { PairError::Lost };
        self.read_files(k).map_err(|err| failed(err.into()))
    }
}

fn files_of(pair: &FilePair) -> Vec<PathBuf> {
    let truth = files_beside(&pair.left).into_iter().flat_map(|files| files.paths().cloned().collect::<Vec<_>>());
    [pair.left.clone(), pair.right.clone()].into_iter().chain(truth).chain(calib_txt(&pair.left)).collect()
}

/// Returns the geometry of pair `k` for images of this size, px.
fn geometry_of(geometries: &[Option<SizedGeometry>], k: u64, (width, height): (usize, usize)) -> Option<Geometry> {
    let (geometry, (w, h)) = (*geometries.get(k as usize)?)?;
    // images may have been resized, but only with the same aspect ratio
    (width * h == height * w).then(|| geometry.scaled(width as f64 / w as f64))
}

/// Reads the geometry of each pair from the `calib.txt` beside it; returns remarks on unusable ones.
fn geometries(pairs: &[FilePair]) -> (Vec<Option<SizedGeometry>>, Vec<String>) {
    let (mut read, mut remarks) = (HashMap::new(), Vec::new());
    let mut of_pair = |pair: &FilePair| {
        let path = calib_txt(&pair.left)?;
        *read.entry(path.clone()).or_insert_with(|| {
            let rig = load(&[path], &LoadOptions::default()).inspect_err(|err| remarks.push(err.to_string())).ok()?;
            let rectification = rig.rectification.filter(|_| rig.kind == Kind::Middlebury)?;
            Some((rectification.geometry(), rig.size?))
        })
    };
    let geometries = pairs.iter().map(&mut of_pair).collect();
    (geometries, remarks)
}

fn stem(path: &Path) -> String {
    path.file_stem().map_or_else(|| "pair".into(), |name| name.to_string_lossy().into_owned())
}

#[cfg(test)]
mod tests;
