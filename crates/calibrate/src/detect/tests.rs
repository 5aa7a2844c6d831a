//! Tests of board detection on rendered images with known corners, and on real images.

use super::*;
use calib_targets_charuco::Dictionary;
use glam::{DMat3, DVec3};
use stereopsis_calibration::Distortion;

struct Scene {
    board: Board,
    camera: Camera,
    size: (usize, usize),
    rotation: DMat3,
    translation_m: DVec3,
}

impl Scene {
    /// Places the board in the middle of the image, `distance` board widths away, rolled and tilted.
    fn new(board: &str, roll_deg: f64, tilt_deg: (f64, f64), distance: f64) -> Self {
        let board: Board = board.parse().unwrap();
        let camera =
            Camera { fx: 600.0, fy: 600.0, cx: 320.3, cy: 239.6, skew: 0.0, distortion: Distortion::default() };
        let rotation = DMat3::from_rotation_y(tilt_deg.0.to_radians())
            * DMat3::from_rotation_x(tilt_deg.1.to_radians())
            * DMat3::from_rotation_z(roll_deg.to_radians());
        let size_m = DVec3::new(board.columns as f64, board.rows as f64, 0.0) * board.square_mm * 1e-3;
        let middle = size_m / 2.0 - DVec3::new(1.0, 1.0, 0.0) * board.square_mm * 1e-3;
        let translation_m = DVec3::Z * distance * size_m.x - rotation * middle;
        Self { board, camera, size: (640, 480), rotation, translation_m }
    }

    fn project(&self, point_m: DVec3) -> DVec2 {
        let at = self.rotation * point_m + self.translation_m;
        self.camera.project(at / at.z)
    }

    fn truth(&self, id: usize) -> DVec2 {
        self.project(self.board.point_m(id))
    }

    /// Maps a pixel to the board, in squares from its outer corner.
    fn on_board(&self, pixel: DVec2) -> Option<DVec2> {
        let Camera { fx, fy, cx, cy, distortion, .. } = self.camera;
        let ray = if distortion == Distortion::default() {
            DVec3::new((pixel.x - cx) / fx, (pixel.y - cy) / fy, 1.0)
        } else {
            self.camera.ray(pixel)?
        };
        let (normal, inverse) = (self.rotation.z_axis, self.rotation.transpose());
        let depth = normal.dot(self.translation_m) / normal.dot(ray);
        let point = inverse * (ray * depth - self.translation_m);
        (depth > 0.0).then(|| point.truncate() / (self.board.square_mm * 1e-3) + 1.0)
    }

    /// Renders the image with 64 samples per pixel, a blur, and noise of 2 grey levels.
    fn picture(&self, blur_px: f64) -> Image<u8> {
        let ink = PrintedBoard::new(&self.board);
        let (width, height) = self.size;
        // rays of the pixel corners, interpolated inside a pixel
        let rays = Image::from_fn(width + 1, height + 1, |x, y| self.on_board(DVec2::new(x as f64, y as f64) - 0.5));
        let exact = Image::from_fn(width, height, |x, y| {
            let corners = [rays.at(x, y), rays.at(x + 1, y), rays.at(x, y + 1), rays.at(x + 1, y + 1)];
            let [Some(a), Some(b), Some(c), Some(d)] = corners else { return 30.0 };
            // no two samples share a row or column, so that axis-parallel edges are as smooth as others
            let spots = (0..64).map(|i| (f64::from(i) / 64.0 + 1.0 / 128.0, (f64::from(i) * 0.618_034).fract()));
            let colour = ink.is_white(a);
            if [b, c, d].into_iter().all(|at| ink.is_white(at) == colour) {
                return if colour { 210.0 } else { 30.0 };
            }
            let white = spots.filter(|&(x, y)| ink.is_white(a.lerp(b, x).lerp(c.lerp(d, x), y))).count();
            30.0 + 180.0 * white as f64 / 64.0
        });
        let reach = (3.0 * blur_px).ceil() as isize;
        let weights: Vec<f64> = (-reach..=reach).map(|d| (-0.5 * (d as f64 / blur_px).powi(2)).exp()).collect();
        let total: f64 = weights.iter().sum();
        let sum = |picture: &Image<f64>, x: usize, y: usize, (dx, dy): (isize, isize)| {
            let taps = weights.iter().zip(-reach..=reach);
            taps.map(|(w, d)| w * picture.at_clamped(x as isize + d * dx, y as isize + d * dy)).sum::<f64>() / total
        };
        let across = Image::from_fn(width, height, |x, y| sum(&exact, x, y, (1, 0)));
        let mut random = fastrand::Rng::with_seed(7);
        Image::from_fn(width, height, |x, y| {
            let noise: f64 = (0..12).map(|_| random.f64()).sum::<f64>() - 6.0;
            (sum(&across, x, y, (0, 1)) + 2.0 * noise).round().clamp(0.0, 255.0) as u8
        })
    }

    fn detect(&self, named: &str) -> Detection {
        Detector::new(&named.parse().unwrap()).unwrap().detect(&self.picture(0.7), None)
    }

    fn errors(&self, corners: &[Corner]) -> Vec<f64> {
        corners.iter().map(|corner| corner.at.distance(self.truth(corner.id))).collect()
    }
}

/// Print of a board: white paper with a margin of one square, on a grey table.
struct PrintedBoard {
    board: Board,
    markers: Option<(f64, Dictionary, bool)>,
}

impl PrintedBoard {
    fn new(board: &Board) -> Self {
        let markers = match board.pattern {
            Pattern::Chessboard => None,
            Pattern::Charuco { marker_mm, dictionary, legacy } => {
                Some((marker_mm / board.square_mm, dictionary, legacy))
            }
            Pattern::AprilGrid { .. } => unreachable!("see april/tests.rs"),
        };
        Self { board: *board, markers }
    }

    fn is_white(&self, at: DVec2) -> bool {
        let square = at.floor().as_ivec2();
        let inside = |square: IVec2| {
            square.min_element() >= 0 && square.x < self.board.columns as i32 && square.y < self.board.rows as i32
        };
        if !inside(square) {
            return inside((at - 1.0).floor().as_ivec2()) || inside((at + 1.0).floor().as_ivec2());
        }
        let first_is_white = self.markers.is_some_and(|(_, _, legacy)| legacy && self.board.rows.is_multiple_of(2));
        let is_white = |square: IVec2| ((square.x + square.y) % 2 == 0) == first_is_white;
        let Some((side, dictionary, _)) = self.markers.filter(|_| is_white(square)) else { return is_white(square) };
        let white_before = i32::midpoint(square.y * self.board.columns as i32, i32::from(first_is_white));
        let white_in_row = i32::midpoint(square.x, i32::from(is_white(ivec2(0, square.y))));
        let number = (white_before + white_in_row) as usize;
        let cells = dictionary.marker_size() as i32 + 2;
        let cell = ((at - square.as_dvec2() - (1.0 - side) / 2.0) / side * f64::from(cells)).floor().as_ivec2();
        if cell.min_element() < 0 || cell.max_element() >= cells {
            return true;
        }
        let is_border = cell.min_element() == 0 || cell.max_element() == cells - 1;
        let bit = (cell.y - 1) * (cells - 2) + cell.x - 1;
        !is_border && dictionary.codes()[number] >> bit & 1 == 0
    }
}

fn rms(values: &[f64]) -> f64 {
    (values.iter().map(|value| value * value).sum::<f64>() / values.len() as f64).sqrt()
}

const CHESSBOARD: &str = "chessboard:9x6:25mm";
const CHARUCO: &str = "charuco:9x7:30mm:22mm:DICT_4X4_50";

#[test]
fn corners_lie_where_they_are() {
    for name in [CHESSBOARD, CHARUCO, "charuco-legacy:10x8:30mm:22mm:DICT_5X5_100"] {
        for (roll, tilt, distance) in [(0.0, (0.0, 0.0), 1.3), (20.0, (30.0, -20.0), 1.4), (-35.0, (-25.0, 30.0), 1.6)]
        {
            let scene = Scene::new(name, roll, tilt, distance);
            let seen = scene.detect(name);
            assert_eq!(seen.corners().len(), scene.board.corner_count(), "{name} rolled {roll}: {seen:?}");
            assert!(seen.corners().is_sorted_by_key(|corner| corner.id));
            let errors = scene.errors(seen.corners());
            let worst = errors.iter().copied().fold(0.0, f64::max);
            assert!(rms(&errors) < 0.025 && worst < 0.1, "{name} rolled {roll}: {} px, at most {worst}", rms(&errors));
        }
    }
}

#[test]
fn chessboard_of_odd_and_even_counts_is_numbered_by_colours() {
    for roll in [0.0, 50.0, 90.0, 180.0, -100.0] {
        let scene = Scene::new(CHESSBOARD, roll, (15.0, 10.0), 1.8);
        let seen = scene.detect(CHESSBOARD);
        assert!(seen.corners().len() == 54 && rms(&scene.errors(seen.corners())) < 0.1, "rolled {roll}: {seen:?}");
    }
}

#[test]
fn other_chessboards_are_numbered_from_the_left_of_the_picture() {
    for name in ["chessboard:8x6:25mm", "chessboard:7x5:25mm", "chessboard:6x6:25mm"] {
        let square = name.contains("6x6");
        for roll in [0.0, 40.0, -40.0, if square { 20.0 } else { 100.0 }] {
            let scene = Scene::new(name, roll, (15.0, 10.0), 1.8);
            let (seen, turned) = (scene.detect(name), Scene::new(name, roll + 180.0, (15.0, 10.0), 1.8).detect(name));
            assert!(
                rms(&scene.errors(seen.corners())) < 0.1 && !seen.corners().is_empty(),
                "{name} rolled {roll}: {seen:?}"
            );
            let (first, last) = (turned.corners()[0].at, turned.corners()[turned.corners().len() - 1].at);
            assert!(first.y < last.y || first.x < last.x, "{name} rolled {}", roll + 180.0);
        }
    }
}

#[test]
fn another_chessboard_is_described() {
    let words = |shown: &str| match Scene::new(shown, 5.0, (10.0, 10.0), 1.5).detect(CHESSBOARD) {
        Detection::Mismatch(why) => why.to_string(),
        seen @ Detection::Corners(_) => panic!("{shown}: {seen:?}"),
    };
    assert!(words("chessboard:8x5:25mm").starts_with("8x5 inner corners seen, 9x6 named: show the whole board"));
    assert_eq!(words("chessboard:10x7:25mm"), "10x7 inner corners seen, 9x6 named");
    assert_eq!(words("chessboard:9x7:25mm"), "9x7 inner corners seen, 9x6 named");
}

#[test]
fn half_a_board_suffices_only_with_markers() {
    let mut scene = Scene::new(CHESSBOARD, 0.0, (0.0, 0.0), 1.2);
    scene.size = (400, 480);
    assert!(matches!(scene.detect(CHESSBOARD), Detection::Mismatch(Mismatch::Part { .. })));
    let mut scene = Scene::new(CHARUCO, 150.0, (10.0, -20.0), 1.2);
    scene.size = (350, 480);
    let seen = scene.detect(CHARUCO);
    assert!((15..40).contains(&seen.corners().len()) && rms(&scene.errors(seen.corners())) < 0.06, "{seen:?}");
}

#[test]
fn charuco_boards_may_be_turned() {
    for roll in [90.0, 180.0, -90.0] {
        let scene = Scene::new(CHARUCO, roll, (10.0, 10.0), 1.6);
        let seen = scene.detect(CHARUCO);
        assert!(seen.corners().len() == 48 && rms(&scene.errors(seen.corners())) < 0.05, "rolled {roll}: {seen:?}");
    }
}

/// Returns the words for another board than the named one.
pub(super) fn other(seen: &Detection) -> String {
    match seen {
        Detection::Mismatch(why) if why.rank() == 2 => why.to_string(),
        _ => String::new(),
    }
}

#[test]
fn another_charuco_board_is_described() {
    // with an odd number of columns most markers of both layouts differ only by a shift
    let seen = Scene::new("charuco-legacy:9x8:30mm:22mm:DICT_5X5_100", 0.0, (20.0, 0.0), 1.4)
        .detect("charuco:9x8:30mm:22mm:DICT_5X5_100");
    assert!(other(&seen).contains("a board named charuco-legacy:..."), "{seen:?}");
    let scene = Scene::new("charuco:10x8:30mm:22mm:DICT_5X5_100", 0.0, (20.0, 0.0), 1.4);
    for (named, words) in [
        ("charuco-legacy:10x8:30mm:22mm:DICT_5X5_100", "a board named charuco:..."),
        ("charuco:8x10:30mm:22mm:DICT_5X5_100", "10x8 squares, and 8x10 are named"),
        ("charuco:12x8:30mm:22mm:DICT_5X5_100", "not where a board of 12x8 squares has them"),
        ("charuco:10x8:30mm:22mm:DICT_6X6_100", "they are of DICT_5X5_"),
    ] {
        let seen = scene.detect(named);
        assert!(other(&seen).contains(words), "{named}: {seen:?}");
    }
    let mirrored = scene.picture(0.7).mirrored();
    let seen = Detector::new(&scene.board).unwrap().detect(&mirrored, None);
    assert_eq!(seen, Detection::Mismatch(Mismatch::Mirrored));
}

#[test]
fn a_rough_lens_helps_at_the_rim() {
    let name = "charuco:21x15:20mm:15mm:DICT_4X4_250";
    let mut scene = Scene::new(name, 0.0, (0.0, 0.0), 0.42);
    let distortion = Distortion::from_fisheye("D1", &[-0.02, 0.003, 0.0, 0.0]).unwrap();
    scene.camera = Camera { fx: 260.0, fy: 260.0, distortion, ..scene.camera };
    let detector = Detector::new(&scene.board).unwrap();
    let picture = scene.picture(0.7);
    // lens with an approximate focal length only, 4 % wrong
    let distortion = Distortion::from_fisheye("D1", &[0.0; 4]).unwrap();
    let rough = Camera { fx: 270.0, fy: 270.0, distortion, ..scene.camera };
    let straight = UndistortedImage::new(&picture, &rough).unwrap();
    let differs = |at: DVec2| {
        let shown = reading::bilinear(&picture, straight.original(at));
        shown.map_or(0.0, |shown| (reading::bilinear(&straight.picture, at).unwrap() - shown).abs())
    };
    let spots = (0..40).flat_map(|y| (0..40).map(move |x| DVec2::new(f64::from(x), f64::from(y)).floor() * 10.0));
    let worst = spots.map(differs).fold(0.0, f64::max);
    assert!(worst < 1.0, "the straightened image is {worst} grey levels off");
    let (without, with) = (detector.detect(&picture, None), detector.detect(&picture, Some(&rough)));
    assert!(with.corners().len() >= without.corners().len() && with.corners().len() > 250, "{}", with.corners().len());
    assert!(rms(&scene.errors(with.corners())) < 0.1, "{}", rms(&scene.errors(with.corners())));
}

#[test]
fn pictures_without_a_board_have_none() {
    let detector = Detector::new(&CHARUCO.parse().unwrap()).unwrap();
    for (width, height) in [(0, 0), (1, 1), (5, 3), (64, 64), (320, 240)] {
        let mut random = fastrand::Rng::with_seed(1);
        let noise = Image::from_fn(width, height, |_, _| random.u8(..));
        assert_eq!(detector.detect(&noise, None), Detection::Mismatch(Mismatch::Nothing), "{width}x{height}");
        assert_eq!(detector.detect(&Image::filled(width, height, 128), None), Detection::Mismatch(Mismatch::Nothing));
    }
}

#[test]
fn a_board_with_more_markers_than_its_dictionary_is_refused() {
    let mut board: Board = CHARUCO.parse().unwrap();
    (board.columns, board.rows) = (30, 30);
    assert!(Detector::new(&board).is_err_and(|err| err.to_string().contains("DICT_4X4_50")));
}

#[test]
fn blurred_edges_are_wide() {
    for name in [CHESSBOARD, CHARUCO] {
        let scene = Scene::new(name, 10.0, (10.0, 10.0), 1.3);
        let detector = Detector::new(&scene.board).unwrap();
        let width = |blur_px| {
            let picture = scene.picture(blur_px);
            edge_width_px(&picture, detector.detect(&picture, None).corners(), &scene.board).unwrap()
        };
        // 10-90 % rise of the combined blur: 2.56 sigma
        let (sharp, blurred) = (width(0.7), width(1.6));
        assert!((1.7..2.5).contains(&sharp) && (3.2..4.9).contains(&blurred), "{name}: {sharp} {blurred}");
        assert_eq!(edge_width_px(&scene.picture(0.7), &[], &scene.board), None);
    }
}

/// Checks smallest numbers of detections on real images: whole chessboards, and corners of ChArUco boards.
#[test]
fn boards_of_real_cameras_are_found() {
    let Some(data) = std::env::var_os("STEREOPSIS_DATA") else {
        eprintln!("skipped: STEREOPSIS_DATA names no folder with test data");
        return;
    };
    for (set, board, least) in [
        ("charuco_1280x800", "charuco-legacy:31x16:49.33mm:38.46mm:DICT_4X4_250", 5500),
        ("opencv_chessboard", CHESSBOARD, 26 * 54),
        ("stereopi_320x240", CHESSBOARD, 28 * 54),
        ("webcam_640x360", "chessboard:9x6:24.23mm", 58 * 54),
    ] {
        let detector = Detector::new(&board.parse().unwrap()).unwrap();
        let mut found = 0;
        for side in ["left", "right"] {
            let folder = std::path::Path::new(&data).join("calib").join(set).join(side);
            for entry in std::fs::read_dir(&folder).unwrap_or_else(|err| panic!("{}: {err}", folder.display())) {
                let picture = ::image::open(entry.unwrap().path()).unwrap().to_luma8();
                let picture = Image::new(picture.width() as usize, picture.height() as usize, picture.into_raw());
                found += detector.detect(&picture, None).corners().len();
            }
        }
        assert!(found >= least, "{set}: {found} of {least} corners");
    }
}
