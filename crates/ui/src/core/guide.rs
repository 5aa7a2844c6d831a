//! State of the live calibration with a board: typed board and progress.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};
use stereopsis_calibrate::{Board, BoardError, BoardKind, Outcome, Paper, Pattern, Progress};

/// Time for which the window shows that a view was taken.
const FLASH: Duration = Duration::from_millis(1500);

pub(crate) struct GuideState {
    pub(crate) words: String,
    /// Board of this description, or the error in it.
    pub(crate) board: Result<Board, BoardError>,
    pub(crate) running: Option<RunningCalibration>,
    pub(crate) save_as: String,
    /// Existing file of the chosen name, until the user decides on its replacement.
    pub(crate) asks_to_replace: Option<PathBuf>,
}

impl Default for GuideState {
    /// Returns the state with the board that fills a sheet of A4, which fits on Letter too.
    fn default() -> Self {
        let board = Board::for_paper(Paper::A4, None, BoardKind::default());
        let words = board.map_or_else(|_| String::new(), |board| board.to_string());
        let board = words.parse();
        Self { words, board, running: None, save_as: String::new(), asks_to_replace: None }
    }
}

impl GuideState {
    /// Returns the state with a board that was used before.
    pub(crate) fn with_board(board: Board) -> Self {
        Self { words: board.to_string(), board: Ok(board), ..Self::default() }
    }

    pub(crate) fn set_board(&mut self, words: String) {
        self.board = words.trim().parse();
        self.words = words;
    }

    /// Sets the side of a square in mm; markers and gaps follow to a hundredth of a mm.
    pub(crate) fn set_square_mm(&mut self, square_mm: f64) {
        let Ok(board) = &self.board else { return };
        let mut board = board.with_square_mm(square_mm);
        if let Pattern::Charuco { marker_mm: inner_mm, .. } | Pattern::AprilGrid { gap_mm: inner_mm, .. } =
            &mut board.pattern
        {
            *inner_mm = (*inner_mm * 100.0).round() / 100.0;
        }
        self.set_board(board.to_string());
    }
}

/// Calibration in progress or finished.
pub(crate) struct RunningCalibration {
    pub(crate) progress: Progress,
    /// Whether pairs are examined while the page is open.
    pub(crate) is_looking: bool,
    /// Reason why no further pairs can be examined.
    pub(crate) ended: Option<String>,
    pub(crate) taken_at: Option<Instant>,
    /// Written file, with the names of its views.
    pub(crate) saved: Option<(PathBuf, BTreeSet<String>)>,
}

impl RunningCalibration {
    pub(crate) fn new() -> Self {
        Self { progress: Progress::default(), is_looking: true, ended: None, taken_at: None, saved: None }
    }

    pub(crate) fn update(&mut self, progress: Progress, now: Instant) {
        let newest = |progress: &Progress| progress.taken.last().map(|taken| taken.view.name.clone());
        if progress.taken.len() > self.progress.taken.len() && newest(&progress) != newest(&self.progress) {
            self.taken_at = Some(now);
        }
        self.progress = progress;
    }

    pub(crate) fn count(&self) -> usize {
        self.progress.taken.len()
    }

    pub(crate) fn names(&self) -> BTreeSet<String> {
        self.progress.taken.iter().map(|taken| taken.view.name.clone()).collect()
    }

    pub(crate) fn unsaved(&self) -> usize {
        if self.saved.as_ref().is_some_and(|(_, names)| *names == self.names()) { 0 } else { self.count() }
    }

    /// Returns whether a view was taken just now.
    pub(crate) fn has_just_taken(&self) -> bool {
        self.taken_at.is_some_and(|at| at.elapsed() < FLASH)
    }

    /// Returns the solution that can be written.
    pub(crate) fn outcome(&self) -> Option<&Arc<Outcome>> {
        self.progress.outcome.as_ref()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use stereopsis_base::image::Image;
    use stereopsis_calibrate::{Pictures, TakenView, View};

    #[test]
    fn measured_square_updates_the_board_description() {
        let mut guide = GuideState::default();
        guide.set_square_mm(24.7);
        assert_eq!(guide.words, "charuco:10x7:24.7mm:18.52mm:DICT_5X5_100");
        guide.set_board("aprilgrid:6x6:24mm:7mm".to_owned());
        guide.set_square_mm(24.7);
        assert_eq!(guide.words, "aprilgrid:6x6:24.7mm:7.2mm");
        guide.set_board("charuco:10x7:26mm".to_owned());
        assert!(guide.board.as_ref().unwrap_err().to_string().contains("four parts"));
        guide.set_square_mm(30.0);
        assert_eq!(guide.words, "charuco:10x7:26mm", "there is no board to change");
    }

    #[test]
    fn a_new_view_flashes_and_saved_views_are_not_lost() {
        let taken = |name: &str| TakenView {
            view: View { name: name.to_owned(), corners: [Vec::new(), Vec::new()] },
            pictures: Pictures::Held([0, 1].map(|_| Arc::new(Image::from_fn(1, 1, |_, _| 0)))),
        };
        let progress =
            |names: &[&str]| Progress { taken: names.iter().copied().map(taken).collect(), ..Progress::default() };
        let mut running = RunningCalibration::new();
        assert_eq!((running.unsaved(), running.has_just_taken()), (0, false));
        running.update(progress(&["001", "002"]), Instant::now());
        assert_eq!((running.unsaved(), running.has_just_taken()), (2, true));
        running.saved = Some((PathBuf::new(), running.names()));
        running.taken_at = None;
        running.update(progress(&["002"]), Instant::now());
        assert_eq!((running.unsaved(), running.has_just_taken()), (1, false), "other views than those that were saved");
    }
}
