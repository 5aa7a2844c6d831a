//! Pairs of cameras as an iterator.

use std::time::Duration;
use stereopsis_base::process::ProcessLocal;
use stereopsis_capture::webcam;
use stereopsis_capture::webcam::{CameraViews, ModeRequest};
use stereopsis_frame::{CameraOptions, CaptureError, Next, PairSource, RawPair, SourceSpec};

/// Longest wait for the cameras' threads in one poll; a pair ends it at once.
const LOOK: Duration = Duration::from_secs(1);

/// Raw pairs of two cameras, or of one that gives both images side by side, as an iterator that waits for the next pair. A pair that is
/// not taken in time is lost, and its number is missing in [`RawPair::sequence`]. An unplugged camera is opened again when it returns.
/// In a process that was forked from this one the iterator ends with an error: the cameras stay here.
pub struct CameraPairs {
    /// Source; `None` behind the end.
    source: Option<ProcessLocal<Box<dyn PairSource>>>,
    size: (usize, usize),
}

impl CameraPairs {
    /// Opens cameras by the words of `--source`: `webcam:0,1` for two, left one first, or `webcam:0` for one. `size` is `(width,
    /// height)` of one view in px; without it 640x480.
    ///
    /// # Errors
    /// The words name no camera, or a camera is missing, busy, inaccessible, or has no such mode; the text contains the remedy.
    pub fn open(cameras: &str, size: Option<(usize, usize)>) -> Result<Self, CaptureError> {
        let mode = ModeRequest { size, ..ModeRequest::default() };
        let spec = SourceSpec::parse(cameras)?;
        let source = webcam::open(&spec, CameraViews::BothViews, &mode, &CameraOptions::default())?;
        Ok(Self::of(source))
    }

    fn of(source: Box<dyn PairSource>) -> Self {
        let info = source.info();
        Self { source: Some(ProcessLocal::new(source)), size: (info.width, info.height) }
    }

    /// Returns `(width, height)` of one view, px.
    pub fn size(&self) -> (usize, usize) {
        self.size
    }
}

/// Use of the cameras in another process than the one that opened them.
#[derive(Debug, thiserror::Error)]
#[error(
    "the cameras belong to the process that opened them, and this one was forked from that: open them in this process"
)]
struct Forked;

impl Iterator for CameraPairs {
    type Item = Result<RawPair, CaptureError>;

    fn next(&mut self) -> Option<Self::Item> {
        let Some(source) = self.source.as_mut()?.get() else {
            self.source = None;
            return Some(Err(CaptureError::Camera(Forked.into())));
        };
        loop {
            match source.next(LOOK) {
                Ok(Next::Pair(pair)) => return Some(Ok(*pair)),
                Ok(Next::Waiting) => {}
                Ok(Next::End) => return None,
                Err(lost) => return Some(Err(lost)),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use stereopsis_capture::scene::SceneSource;
    use stereopsis_frame::SceneOptions;

    #[test]
    fn cameras_of_another_process_end_with_an_error() {
        let options = SceneOptions { width: 32, height: 24, ..SceneOptions::default() };
        let scene = || Box::new(SceneSource::new(options, None, false).unwrap());
        let mut here = CameraPairs::of(scene());
        assert_eq!(here.size(), (32, 24));
        assert!(here.next().unwrap().is_ok());
        let mut elsewhere = CameraPairs { source: Some(ProcessLocal::elsewhere(scene())), size: (32, 24) };
        let why = elsewhere.next().unwrap().unwrap_err().to_string();
        assert!(why.contains("this one was forked") && why.contains("open them in this process"), "{why}");
        assert!(elsewhere.next().is_none());
    }
}
