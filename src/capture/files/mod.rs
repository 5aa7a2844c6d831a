//! Image files as a source: one pair, or a folder of pairs in natural order, once or looped, at a fixed rate or
//! without a limit. A thread decodes the next pair in advance.

mod folder;

pub use folder::{FilePair, FolderPairs, list_pairs};

use super::decode::read_picture;
use super::pace::Pace;
use super::threads::{check_ended, join_or_detach};
use super::{CaptureError, MaxPixels, Next, PairSource, SourceInfo, SourceOptions, SourceState};
use crate::capture::RawPair;
use crate::console;
use crossbeam_channel::{Receiver, RecvTimeoutError, bounded};
use std::path::{Path, PathBuf};
use std::thread::JoinHandle;
use std::time::{Duration, SystemTime};

/// Name of the thread in messages.
const THREAD: &str = "the thread that reads files";

type Decoded = Result<Box<RawPair>, CaptureError>;

/// Plays image files.
pub struct FileSource {
    info: SourceInfo,
    files: Vec<PathBuf>,
    pace: Pace,
    sequence: u64,
    decoded: Option<Receiver<Decoded>>,
    thread: Option<JoinHandle<()>>,
    waiting: Option<Decoded>,
    losses: Vec<String>,
}

impl FilePair {
    /// Reads both pictures; `color` keeps RGB where the files have it.
    ///
    /// # Errors
    /// One of them cannot be read, or their sizes differ.
    pub fn read(&self, color: bool, max_pixels: MaxPixels) -> Result<RawPair, CaptureError> {
        let read = |path: &Path| read_picture(path, color, max_pixels);
        let (left, right) = (read(&self.left)?, read(&self.right)?);
        if left.size() != right.size() {
            let ((wl, hl), (wr, hr)) = (left.size(), right.size());
            return Err(CaptureError::File(format!(
                "the pictures of a pair have one size, but {} has {wl}x{hl} and {} has {wr}x{hr} pixels",
                console::path(&self.left),
                console::path(&self.right)
            )));
        }
        if left.luma.bits() != right.luma.bits() {
            return Err(CaptureError::File(format!(
                "the pictures of a pair have one depth, but {} has {} and {} has {} bits",
                console::path(&self.left),
                left.luma.bits(),
                console::path(&self.right),
                right.luma.bits()
            )));
        }
        let capture_time = SystemTime::now();
        Ok(RawPair::new(self.name.clone(), 0, capture_time, left, right))
    }
}

impl FileSource {
    /// Opens a left and a right file; looped, the same pair is repeated.
    ///
    /// # Errors
    /// As [`FilePair::read`].
    pub fn pair(left: &Path, right: &Path, options: &SourceOptions) -> Result<Self, CaptureError> {
        let name = stem(left);
        let found = FolderPairs {
            pairs: vec![FilePair { left: left.into(), right: right.into(), name: name.clone() }],
            ..FolderPairs::default()
        };
        Self::open(name, found, false, options)
    }

    /// Opens all pairs of a folder.
    ///
    /// # Errors
    /// As [`list_pairs`], and as [`FilePair::read`] for the first pair; errors of later pairs appear when they are played.
    pub fn folder(folder: &Path, options: &SourceOptions) -> Result<Self, CaptureError> {
        let found = list_pairs(folder)?;
        let is_rectified = found.pairs.iter().all(FilePair::is_rectified);
        let name = folder.canonicalize().unwrap_or_else(|_| folder.into());
        Self::open(stem(&name), found, is_rectified, options)
    }

    fn open(
        name: String,
        FolderPairs { pairs, losses }: FolderPairs,
        is_rectified: bool,
        options: &SourceOptions,
    ) -> Result<Self, CaptureError> {
        let SourceOptions { color, looped, max_pixels, .. } = *options;
        let first = pairs[0].read(color, max_pixels)?;
        let (width, height) = first.left.size();
        let pace = Pace::new(options.rate_hz);
        let info = SourceInfo {
            name,
            width,
            height,
            rate_hz: pace.rate_hz(),
            num_pairs: (!looped).then_some(pairs.len() as u64),
            is_rectified,
            ..SourceInfo::default()
        };
        let files = pairs.iter().flat_map(|pair| [pair.left.clone(), pair.right.clone()]).collect();
        let (sender, decoded) = bounded(1);
        let work = move || {
            let mut first = Some(first);
            loop {
                for pair in &pairs {
                    // a single pair is decoded once
                    let kept = if pairs.len() == 1 { first.clone() } else { first.take() };
                    let pair = kept.map_or_else(|| pair.read(color, max_pixels), Ok).map(Box::new);
                    let failed = pair.is_err();
                    if sender.send(pair).is_err() || failed {
                        return;
                    }
                }
                if !looped {
                    return;
                }
            }
        };
        let thread = std::thread::Builder::new().name("files".into()).spawn(work);
        let thread = thread.map_err(|err| CaptureError::File(format!("cannot start {THREAD}: {err}")))?;
        Ok(Self { info, files, pace, sequence: 0, decoded: Some(decoded), thread: Some(thread), waiting: None, losses })
    }
}

impl PairSource for FileSource {
    fn info(&self) -> SourceInfo {
        self.info.clone()
    }

    fn files(&self) -> Vec<PathBuf> {
        self.files.clone()
    }

    fn next(&mut self, timeout: Duration) -> Result<Next, CaptureError> {
        let Some(decoded) = &self.decoded else { return Ok(Next::End) };
        if self.waiting.is_none() {
            match decoded.recv_timeout(timeout) {
                Ok(pair) => self.waiting = Some(pair),
                Err(RecvTimeoutError::Timeout) => return Ok(Next::Waiting),
                Err(RecvTimeoutError::Disconnected) => {
                    return check_ended(self.thread.take(), THREAD).map(|()| Next::End);
                }
            }
        }
        if !self.pace.wait(timeout) {
            return Ok(Next::Waiting);
        }
        let Some(pair) = self.waiting.take() else { return Ok(Next::Waiting) };
        let mut pair = pair?;
        self.pace.taken();
        pair.sequence = self.sequence;
        pair.capture_time = SystemTime::now();
        self.sequence += 1;
        (self.info.width, self.info.height) = pair.left.size();
        Ok(Next::Pair(pair))
    }

    fn state(&self) -> SourceState {
        SourceState { remarks: self.losses.clone(), ..SourceState::default() }
    }
}

impl Drop for FileSource {
    fn drop(&mut self) {
        self.decoded = None;
        if let Some(thread) = self.thread.take() {
            join_or_detach(thread, THREAD);
        }
    }
}

fn stem(path: &Path) -> String {
    path.file_stem().map_or_else(|| "pair".into(), |name| name.to_string_lossy().into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::image::Luma;

    fn write_grey(path: &Path, width: u32, height: u32, value: u8) {
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        image::GrayImage::from_pixel(width, height, image::Luma([value])).save(path).unwrap();
    }

    fn sequence_of(count: u8) -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        for k in 0..count {
            write_grey(&folder.path().join(format!("left{k}.png")), 4, 3, k);
            write_grey(&folder.path().join(format!("right{k}.png")), 4, 3, k);
        }
        folder
    }

    fn next(source: &mut FileSource) -> Option<Box<RawPair>> {
        loop {
            match source.next(Duration::from_secs(5)).unwrap() {
                Next::Pair(pair) => return Some(pair),
                Next::Waiting => {}
                Next::End => return None,
            }
        }
    }

    #[test]
    fn a_folder_is_played_in_order_and_ends() {
        let folder = sequence_of(12);
        let mut source = FileSource::folder(folder.path(), &SourceOptions::default()).unwrap();
        assert_eq!((source.info().num_pairs, source.info().width, source.info().height), (Some(12), 4, 3));
        for k in 0..12_u8 {
            let pair = next(&mut source).unwrap();
            assert_eq!((pair.sequence, pair.name.as_str()), (u64::from(k), format!("left{k}").as_str()));
            assert_eq!(pair.left.luma, Luma::U8(crate::image::Image::filled(4, 3, k)));
        }
        assert!(next(&mut source).is_none());
    }

    #[test]
    fn looped_it_starts_again() {
        for count in [1, 2] {
            let folder = sequence_of(count);
            let options = SourceOptions { looped: true, ..SourceOptions::default() };
            let mut source = FileSource::folder(folder.path(), &options).unwrap();
            assert_eq!(source.info().num_pairs, None);
            let pairs: Vec<_> = (0..5).map(|_| next(&mut source).unwrap()).collect();
            assert_eq!(pairs[4].sequence, 4);
            assert_eq!(pairs[4].name, "left0");
        }
    }

    #[test]
    fn two_sizes_are_refused_with_both() {
        let folder = tempfile::tempdir().unwrap();
        let (left, right): (PathBuf, PathBuf) = (folder.path().join("l.png"), folder.path().join("r.png"));
        write_grey(&left, 4, 3, 0);
        write_grey(&right, 5, 3, 0);
        let err = FileSource::pair(&left, &right, &SourceOptions::default()).err().unwrap().to_string();
        assert!(err.contains("4x3") && err.contains("5x3") && err.contains("r.png"), "{err}");
    }

    #[test]
    fn a_bad_file_in_the_middle_ends_the_stream_with_its_name() {
        let folder = sequence_of(3);
        std::fs::write(folder.path().join("right1.png"), "").unwrap();
        let mut source = FileSource::folder(folder.path(), &SourceOptions::default()).unwrap();
        assert!(next(&mut source).is_some());
        let err = loop {
            match source.next(Duration::from_secs(5)) {
                Ok(Next::Waiting) => {}
                Ok(other) => panic!("{other:?}"),
                Err(err) => break err.to_string(),
            }
        };
        assert!(err.contains("right1.png") && err.contains("empty"), "{err}");
    }
}
