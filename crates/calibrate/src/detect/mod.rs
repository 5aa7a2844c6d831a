//! Detection of a board's corners in an image.
//!
//! The crates chess-corners and calib-targets find chessboard corners and their lattice. Then each corner is refined to the saddle of
//! its brightness ([`saddle`]), the lattice is extended ([`lattice`]), and a board is recognised by its size ([`chessboard`]), its
//! markers ([`charuco`]) or its tags ([`quads`], [`april`]). For wide lenses an undistorted image is searched too ([`rough`]), but
//! corners are always refined in the original image.

mod april;
mod charuco;
mod chessboard;
mod lattice;
mod mismatch;
mod quads;
mod reading;
mod rough;
mod saddle;
mod sharpness;
#[cfg(test)]
mod tests;

pub use mismatch::Mismatch;
pub(crate) use sharpness::edge_width_px;

use super::error::CalibrateError;
use super::{Board, Corner, Pattern};
use april::Tags;
use calib_targets_chessboard::{
    ChessCorner, ChessboardDetector, ChessboardParams, GrayImageView, default_chess_config, detect_corners,
};
use charuco::Markers;
use glam::{DVec2, IVec2, ivec2};
use lattice::Lattice;
use rough::UndistortedImage;
use stereopsis_base::image::Image;
use stereopsis_calibration::Camera;

/// Number of pixels up to which an image is also searched at twice its size.
const MAX_ENLARGED_PIXELS: usize = 700_000;
/// Smallest side of a searched image, px.
const MIN_SIDE_PX: usize = 32;
/// Smallest number of corners of a lattice.
const MIN_CORNERS: usize = 6;
/// Smallest response of a lattice corner, at full contrast.
const MIN_RESPONSE: f32 = 20.0;
/// Radius of the refinement window in squares, without and with markers.
const WINDOW: (f64, f64) = (0.4, 0.25);

/// Detection result for an image.
#[derive(Clone, Debug, PartialEq)]
pub enum Detection {
    /// Corners of the board, ordered by number: all of a chessboard, at least four of a board with markers.
    Corners(Vec<Corner>),
    /// No such board, with what is seen instead.
    Mismatch(Mismatch),
}

impl Detection {
    /// Returns the corners, if any.
    pub fn corners(&self) -> &[Corner] {
        match self {
            Self::Corners(corners) => corners,
            Self::Mismatch(_) => &[],
        }
    }
}

pub struct Detector {
    board: Board,
    /// Markers of a ChArUco board.
    markers: Option<Markers>,
    /// Tags of an AprilGrid.
    tags: Option<Tags>,
    lattices: ChessboardDetector,
}

impl Detector {
    /// Creates a detector of `board` without state between images.
    ///
    /// # Errors
    /// The board has more markers than its dictionary, or markers too large for its squares.
    pub fn new(board: &Board) -> Result<Self, CalibrateError> {
        let mut parameters = ChessboardParams::default();
        parameters.min_labeled_corners = MIN_CORNERS;
        parameters.max_components = 6;
        parameters.min_corner_strength = MIN_RESPONSE;
        let lattices = ChessboardDetector::new(parameters)
            .map_err(|err| CalibrateError::NoDetector { board: *board, why: err.to_string() })?;
        let tags = match board.pattern {
            Pattern::AprilGrid { gap_mm, tags } => Some(Tags::new(board, gap_mm, &tags)),
            Pattern::Chessboard | Pattern::Charuco { .. } => None,
        };
        let markers = match board.pattern {
            Pattern::Chessboard | Pattern::AprilGrid { .. } => None,
            Pattern::Charuco { marker_mm, dictionary, legacy } => {
                let side = marker_mm / board.square_mm;
                let (needed, has) = ((board.columns * board.rows).div_ceil(2), dictionary.codes().len());
                if !(side > 0.0 && side < 1.0) || needed > has + 1 {
                    return Err(CalibrateError::Markers { board: *board, has, dictionary: dictionary.name() });
                }
                Some(Markers::new(board, side, dictionary, legacy))
            }
        };
        Ok(Self { board: *board, markers, tags, lattices })
    }

    /// Detects the board in an image.
    ///
    /// `lens` is a rough model of a wide lens (px of this image), with which an undistorted image is searched too.
    pub(crate) fn detect(&self, picture: &Image<u8>, lens: Option<&Camera>) -> Detection {
        if picture.width().min(picture.height()) < MIN_SIDE_PX {
            return Detection::Mismatch(Mismatch::Nothing);
        }
        let bright = &stretched(picture);
        let mut found = self.search(picture, bright, &|at| Some(at));
        if !self.is_enough(&found) && picture.width() * picture.height() <= MAX_ENLARGED_PIXELS {
            let enlarged = enlarged(bright);
            let again = self.search(picture, &enlarged, &|at| Some((at + 0.5) / 2.0 - 0.5));
            found = self.better(picture, found, again);
        }
        if let Some(straightened) =
            lens.filter(|_| !self.is_whole(&found)).and_then(|lens| UndistortedImage::new(bright, lens))
        {
            let again = self.search(picture, &straightened.picture, &|at| Some(straightened.original(at)));
            found = self.better(picture, found, again);
        }
        found.seen
    }

    /// Detects the board in `searched` and refines it in `picture`; `original` maps pixels of `searched` to `picture`.
    fn search(
        &self,
        picture: &Image<u8>,
        searched: &Image<u8>,
        original: &dyn Fn(DVec2) -> Option<DVec2>,
    ) -> SearchResult {
        let view = GrayImageView { width: searched.width(), height: searched.height(), data: searched.pixels() };
        let corners = detect_corners(&view, &default_chess_config());
        if let Some(tags) = &self.tags {
            return self.april_grid(picture, searched, tags, &corners, original);
        }
        let mut components = self.lattices.detect_all(&corners);
        components.sort_by_key(|component| std::cmp::Reverse(component.corners.len()));
        let window = if self.markers.is_some() { WINDOW.1 } else { WINDOW.0 };
        let lattices = components.iter().map(|component| {
            let places = component.corners.iter().filter_map(|corner| {
                let at = DVec2::new(f64::from(corner.position.x), f64::from(corner.position.y));
                Some((ivec2(corner.grid.u, corner.grid.v), original(at)?))
            });
            let mut lattice = Lattice::new(places, window);
            lattice.refine(picture);
            lattice.grow(picture, |_| true);
            lattice
        });
        let lattices = lattices.filter(|lattice| lattice.len() >= MIN_CORNERS);
        match &self.markers {
            None => self.chessboard(lattices),
            Some(markers) => {
                let identities = lattices.map(|lattice| markers.identify(picture, &lattice));
                self.of_markers(picture, identities)
            }
        }
    }

    fn chessboard(&self, lattices: impl Iterator<Item = Lattice>) -> SearchResult {
        let (columns, rows) = self.board.inner();
        let mut seen = Mismatch::Nothing;
        for lattice in lattices {
            match chessboard::find(&lattice, ivec2(columns as i32, rows as i32)) {
                Ok(corners) => return SearchResult { seen: Detection::Corners(corners), lattice: None },
                Err(why) => seen = seen.or(why),
            }
        }
        SearchResult { seen: Detection::Mismatch(seen), lattice: None }
    }

    fn april_grid(
        &self,
        picture: &Image<u8>,
        searched: &Image<u8>,
        tags: &Tags,
        corners: &[ChessCorner],
        original: &dyn Fn(DVec2) -> Option<DVec2>,
    ) -> SearchResult {
        let in_picture = |quad: [DVec2; 4]| {
            let [a, b, c, d] = quad.map(original);
            Some([a?, b?, c?, d?])
        };
        let quads: Vec<_> = quads::quads(searched, corners, MIN_RESPONSE).into_iter().filter_map(in_picture).collect();
        self.of_markers(picture, std::iter::once(tags.identify(picture, &quads)))
    }

    /// Combines the results for all lattices into a board with markers.
    fn of_markers(
        &self,
        picture: &Image<u8>,
        identities: impl Iterator<Item = Result<Lattice, Mismatch>>,
    ) -> SearchResult {
        let mut board: Option<Lattice> = None;
        let mut seen = Mismatch::Nothing;
        for identity in identities {
            match (identity, &mut board) {
                (Ok(part), None) => board = Some(part),
                (Ok(part), Some(board)) => board.add(&part),
                (Err(why), _) => seen = seen.or(why),
            }
        }
        let seen = Detection::Mismatch(seen);
        board.map_or(SearchResult { seen, lattice: None }, |board| self.completed(picture, board))
    }

    /// Adds missed corners to a board with markers.
    fn completed(&self, picture: &Image<u8>, mut board: Lattice) -> SearchResult {
        if let Some(tags) = &self.tags {
            board = tags.completed(picture, &board);
        } else {
            let has = |place: IVec2| self.markers.as_ref().is_some_and(|markers| markers.has(place));
            board.refine(picture);
            board.grow(picture, has);
        }
        let (across, _) = self.board.inner();
        let mut corners: Vec<Corner> =
            board.places().map(|(place, at)| Corner { id: place.y as usize * across + place.x as usize, at }).collect();
        corners.sort_unstable_by_key(|corner| corner.id);
        if corners.len() < 4 {
            SearchResult { seen: Detection::Mismatch(Mismatch::Nothing), lattice: None }
        } else {
            SearchResult { seen: Detection::Corners(corners), lattice: Some(board) }
        }
    }

    fn better(&self, picture: &Image<u8>, one: SearchResult, other: SearchResult) -> SearchResult {
        match (&one.lattice, &other.lattice) {
            (Some(first), Some(second)) => {
                let mut both = first.clone();
                both.add(second);
                self.completed(picture, both)
            }
            _ if other.rank() > one.rank() => other,
            _ => one,
        }
    }

    fn is_whole(&self, found: &SearchResult) -> bool {
        found.seen.corners().len() == self.board.corner_count()
    }

    /// Whether the search at twice the size can be omitted.
    fn is_enough(&self, found: &SearchResult) -> bool {
        let least = if self.board.has_markers() { self.board.corner_count() / 3 } else { self.board.corner_count() };
        found.seen.corners().len() >= least
    }
}

struct SearchResult {
    seen: Detection,
    /// Corners of a board with markers by their places.
    lattice: Option<Lattice>,
}

impl SearchResult {
    fn rank(&self) -> usize {
        match &self.seen {
            Detection::Mismatch(why) => why.rank(),
            Detection::Corners(corners) => 3 + corners.len(),
        }
    }
}

/// Stretches the contrast to the range of a byte, so that the detector's thresholds fit dark images.
fn stretched(picture: &Image<u8>) -> Image<u8> {
    let mut counts = [0usize; 256];
    for pixel in picture.pixels() {
        counts[usize::from(*pixel)] += 1;
    }
    // one pixel in 200 is clipped at each end
    let few = picture.pixels().len() / 200;
    let (mut low, mut high) = (0, 255);
    let mut beyond = counts[0];
    while beyond <= few && low < 255 {
        low += 1;
        beyond += counts[low];
    }
    beyond = counts[255];
    while beyond <= few && high > low {
        high -= 1;
        beyond += counts[high];
    }
    let factor: f64 = (255.0 / (high - low).max(1) as f64).clamp(1.0, 6.0);
    let table: Vec<u8> =
        (0..256).map(|value| ((f64::from(value) - low as f64) * factor).round().clamp(0.0, 255.0) as u8).collect();
    if factor < 1.25 { picture.clone() } else { picture.map(|pixel| table[usize::from(*pixel)]) }
}

fn enlarged(picture: &Image<u8>) -> Image<u8> {
    let (width, height) = picture.size();
    Image::from_fn(2 * width, 2 * height, |x, y| {
        let near = |v: usize| (v / 2) as isize;
        let next = |v: usize| if v.is_multiple_of(2) { near(v) - 1 } else { near(v) + 1 };
        let at = |x, y| u32::from(picture.at_clamped(x, y));
        let sum = 9 * at(near(x), near(y)) + 3 * (at(next(x), near(y)) + at(near(x), next(y))) + at(next(x), next(y));
        ((sum + 8) / 16) as u8
    })
}
