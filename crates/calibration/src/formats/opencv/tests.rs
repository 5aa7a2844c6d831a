//! Tests with files of users, and errors of files without a calibration.

use super::*;
use crate::{CalibrationError, LoadOptions, Projection, Rectifier, StereoRig, load};
use glam::{DMat3, DVec3};
use std::fs;
use std::path::{Path, PathBuf};
use stereopsis_base::image::{Image, Luma, Picture};
use stereopsis_frame::RawPair;

const EXAMPLE: &str = include_str!("../../../../../calibration/example-rig.yml");

fn load_text(text: &str) -> Result<StereoRig, CalibrationError> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("rig.yml");
    fs::write(&path, text).unwrap();
    load(&[path], &LoadOptions::default())
}

fn refused(text: &str) -> String {
    let error = load_text(text).unwrap_err().to_string();
    assert!(error.contains("rig.yml"), "{error}");
    error
}

#[test]
fn example_rig_is_read() {
    let rig = load_text(EXAMPLE).unwrap();
    assert_eq!(rig.size, Some((640, 480)));
    assert!((rig.left.fx - 531.4).abs() < 1e-9 && (rig.right.cy - 243.5).abs() < 1e-9);
    assert_eq!(rig.right.distortion.coefficients(), [-0.226, 0.087, -0.0008, 0.0003, -0.012]);
    assert!(
        (rig.rotation * DVec3::X)
            .abs_diff_eq(DVec3::new(0.999_938_750_85, 0.003_499_799_919, 0.010_499_807_064), 1e-12)
    );
    assert!(rig.summary().contains("baseline 0.0799 m"), "{}", rig.summary());
    let geometry = rig.rectifier(640, 480, 0.0).unwrap().geometry();
    assert!((geometry.baseline_m - 0.0799).abs() < 1e-4 && geometry.doffs_px == 0.0);
}

#[test]
fn both_examples_are_the_same_rig() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../calibration");
    let options = LoadOptions::default();
    let toml = load(&[folder.join("example-rig.toml")], &options).unwrap();
    assert_eq!(StereoRig { kind: Kind::OpenCv, ..toml }, load(&[folder.join("example-rig.yml")], &options).unwrap());
}

#[test]
fn unit_scales_the_baseline() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("rig.yml");
    fs::write(&path, EXAMPLE.replace("-0.0799, 0.0006, 0.0011", "-79.9, 0.6, 1.1")).unwrap();
    let rig = load(&[path], &LoadOptions::default()).unwrap();
    assert!((rig.translation_m - load_text(EXAMPLE).unwrap().translation_m).length() < 1e-12);
}

#[test]
fn other_spellings_and_split_files_are_the_same_rig() {
    let whole = load_text(EXAMPLE).unwrap();
    let renamed = EXAMPLE
        .replace("K1:", "cameraMatrix1:")
        .replace("K2:", "cameraMatrix2:")
        .replace("D1:", "dist_coeffs_left:")
        .replace("D2:", "dist_coeffs_right:")
        .replace("T:", "translation_vector:")
        .replace("image_width: 640\nimage_height: 480", "image_size: [ 640, 480 ]");
    assert_eq!(load_text(&renamed).unwrap(), whole);
    let from_zero = EXAMPLE.replace("K1:", "K0:").replace("K2:", "K1:").replace("D1:", "D0:").replace("D2:", "D1:");
    assert_eq!(load_text(&from_zero).unwrap(), whole);

    let folder = tempfile::tempdir().unwrap();
    let (before, after) = EXAMPLE.split_at(EXAMPLE.find("R: ").unwrap());
    let parts = [("intrinsics.yml", before.to_owned()), ("extrinsics.yml", format!("%YAML:1.0\n---\n{after}"))];
    let paths = parts.map(|(name, text)| {
        fs::write(folder.path().join(name), text).unwrap();
        folder.path().join(name)
    });
    assert_eq!(load(&paths, &LoadOptions::default()).unwrap(), whole);
    let text = load(&paths[..1], &LoadOptions::default()).unwrap_err().to_string();
    assert!(text.contains("rotation R between the cameras is missing") && text.contains("found"), "{text}");
    assert!(text.contains("K1 D1 K2 D2") && text.contains("both files"), "{text}");
}

#[test]
fn rectification_of_the_file_is_taken_and_gives_r_and_t() {
    let whole = load_text(EXAMPLE).unwrap();
    let done = Rectification::compute(&whole, 640, 480, 0.0).unwrap();
    let matrix = |name: &str, rows: usize, data: &[f64]| {
        let data: Vec<_> = data.iter().map(f64::to_string).collect();
        let columns = data.len() / rows;
        format!("{name}: {{ rows: {rows}, cols: {columns}, data: [{}] }}\n", data.join(", "))
    };
    let rotation = |name, r: DMat3| matrix(name, 3, &r.transpose().to_cols_array());
    let projection = |name, p: Projection, shift: f64| {
        matrix(name, 3, &[p.fx, 0.0, p.cx, shift, 0.0, p.fy, p.cy, 0.0, 0.0, 0.0, 1.0, 0.0])
    };
    let own = Projection { cx: done.right.cx + 3.0, ..done.right };
    let rectified = [
        rotation("R1", done.rotation_left),
        rotation("R2", done.rotation_right),
        projection("P1", done.left, 0.0),
        projection("P2", own, -own.fx * done.baseline_m),
    ]
    .concat();
    let (intrinsics, _) = EXAMPLE.split_at(EXAMPLE.find("R: ").unwrap());
    let rig = load_text(&format!("{intrinsics}{rectified}")).unwrap();
    assert!((rig.rectification.unwrap().geometry().doffs_px - 3.0).abs() < 1e-9);
    assert!((rig.baseline_m() - whole.baseline_m()).abs() < 1e-9);
    assert!(rig.translation_m.abs_diff_eq(whole.translation_m, 1e-9));
    assert!(rig.rotation.abs_diff_eq(whole.rotation, 1e-9));

    let swapped = rectified.replace(&format!("{}", -own.fx * done.baseline_m), "42.0");
    assert!(refused(&format!("{intrinsics}{swapped}")).contains("calibration-swap"));
    let torn = rectified.replacen(&done.left.fx.to_string(), "400", 1);
    assert!(refused(&format!("{intrinsics}{torn}")).contains("do not belong together"));
}

/// Replaces R and T of the example.
fn with_pose(pose: &str) -> String {
    let (before, _) = EXAMPLE.split_at(EXAMPLE.find("R: ").unwrap());
    format!("{before}{pose}")
}

fn numbers(matrix: DMat3) -> String {
    matrix.transpose().to_cols_array().map(|number| number.to_string()).join(", ")
}

#[test]
fn the_pose_of_the_right_camera_and_those_of_a_board_give_r_and_t() {
    let whole = load_text(EXAMPLE).unwrap();
    let back = whole.rotation.transpose();
    let at = -(back * whole.translation_m);
    let rows: Vec<_> =
        [0, 1, 2].map(|i| format!("{}, {}", back.row(i).to_array().map(|n| n.to_string()).join(", "), at[i])).into();
    let text = with_pose(&format!("T_LEFT_RIGHT: {{ rows: 4, cols: 4, data: [ {}, 0, 0, 0, 1 ] }}\n", rows.join(", ")));
    let rig = load_text(&text).unwrap();
    assert!(rig.rotation.abs_diff_eq(whole.rotation, 1e-9) && rig.translation_m.abs_diff_eq(whole.translation_m, 1e-9));
    // a board at 0.8 m, turned, in both cameras
    let board = (DMat3::from_rotation_x(0.3) * DMat3::from_rotation_y(-0.2), DVec3::new(-0.1, -0.05, 0.8));
    let in_right = (whole.rotation * board.0, whole.rotation * board.1 + whole.translation_m);
    let pose = |side: &str, (rotation, translation): (DMat3, DVec3)| {
        format!(
            "rot_matrix_{side}: {{ rows: 3, cols: 3, data: [ {} ] }}\nt_{side}: {:?}\n",
            numbers(rotation),
            translation.to_array()
        )
    };
    let text = with_pose(&(pose("left", board) + &pose("right", in_right)));
    let rig = load_text(&text).unwrap();
    assert!(rig.rotation.abs_diff_eq(whole.rotation, 1e-9) && rig.translation_m.abs_diff_eq(whole.translation_m, 1e-9));
    let one = refused(&with_pose(&pose("left", board)));
    assert!(one.contains("rotation R between the cameras is missing"), "{one}");
}

#[test]
fn unknown_files_report_expected_and_found_names() {
    let text = refused("%YAML:1.0\n---\nboard_width: 9\nsquare_size: 0.025\nK9: [1, 2]\n");
    assert!(text.contains("left camera matrix is missing") && text.contains("looked for K1 D1 K2 D2"), "{text}");
    assert!(text.contains("board_width") && text.contains("K9"), "{text}");
    assert!(refused("just words").contains("no kind that is known"));
    let text = load(&[PathBuf::from("no/such.yml")], &LoadOptions::default()).unwrap_err().to_string();
    assert!(text.contains("no/such.yml") && text.contains("the folder no does not exist"), "{text}");
}

#[test]
fn damaged_values_name_their_matrix() {
    let change = |from: &str, to: &str| {
        assert!(EXAMPLE.contains(from), "{from}");
        refused(&EXAMPLE.replace(from, to))
    };
    assert!(change("531.4", ".Nan").contains("K1 holds NaN at place 1"));
    assert!(change("-0.0799", "-.Inf").contains("T holds -inf at place 1"));
    assert!(change("-0.226", "nan").contains("D2 holds NaN"));
    assert!(change("[ 531.4, 0., 322.8,", "[ 531.4, 322.8,").contains("K1 is 3x3 with 8 values, expected 3x3"));
    assert!(
        change("cols: 5\n   dt: d\n   data: [ -0.231,", "cols: 6\n   dt: d\n   data: [ 0., -0.231,")
            .contains("D1 has 6")
    );
    assert!(change("531.4", "0.").contains("left camera matrix is singular"));
    assert!(change("-0.0799, 0.0006, 0.0011", "0., 0., 0.").contains("baseline is 0"));
    assert!(change("0.999984033385", "0.5").contains("R is no rotation"));
    assert!(change("image_width: 640", "distortion_model: equidistant").contains("fisheye"));
}

fn with_lenses(coefficients: Option<&str>) -> String {
    let mut lines = Vec::new();
    let mut skipped = 0;
    for line in EXAMPLE.lines() {
        if line.starts_with("D1:") || line.starts_with("D2:") {
            skipped = 5;
            if let Some(coefficients) = coefficients {
                lines.push(format!("{}: [ {coefficients} ]\n", &line[..2]));
            }
        }
        if skipped == 0 {
            lines.push(format!("{line}\n"));
        }
        skipped = skipped.max(1) - 1;
    }
    lines.concat()
}

#[test]
fn lenses_without_coefficients_are_doubted() {
    let doubts = |text: &str| load_text(text).unwrap().doubts;
    let text = doubts(&with_lenses(None)).join("; ");
    assert!(text.contains("the file has no distortion (D1 and D2)") && text.contains("five zeros"), "{text}");
    assert_eq!(doubts(&format!("{}distortion_model: none\n", with_lenses(None))), [""; 0]);
    assert_eq!(doubts(&with_lenses(Some("0, 0, 0, 0, 0"))), [""; 0]);
    let right = with_lenses(Some("0, 0, 0, 0, 0")).replace("D2: [ 0, 0, 0, 0, 0 ]\n", "");
    assert!(doubts(&right).join("; ").contains("no distortion of the right camera (D2)"), "{:?}", doubts(&right));
}

#[test]
fn a_fisheyes_numbers_without_its_name_are_doubted() {
    let four = with_lenses(Some("-0.1, 0.05, -0.03, 0.006"));
    let text = load_text(&four).unwrap().doubts.join("; ");
    assert!(text.contains("the four numbers of D1 look like a fisheye's"), "{text}");
    for named in ["distortion_model: fisheye", "camera_model: pinhole\ndistortion_model: equidistant"] {
        let rig = load_text(&format!("{four}{named}\n")).unwrap();
        assert!(matches!(rig.left.distortion, Distortion::Fisheye(_)) && rig.doubts.is_empty(), "{:?}", rig.doubts);
    }
    assert_eq!(load_text(&format!("{four}distortion_model: plumb_bob\n")).unwrap().doubts, [""; 0]);
    // an error for a pinhole also has the doubt
    let wide = with_lenses(Some("-0.1, 0.02, 0.6, 0.0")).replace("531.4", "200.").replace("533.1", "200.");
    let refusal = refused(&wide);
    assert!(refusal.contains("folds inside the image"), "{refusal}");
    assert!(refusal.contains("the four numbers of D1 look like a fisheye's"), "{refusal}");
}

#[test]
fn swapped_cameras_are_told_and_swapped() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("rig.yml");
    fs::write(&path, EXAMPLE.replace("-0.0799", "0.0799")).unwrap();
    let text = load(std::slice::from_ref(&path), &LoadOptions::default()).unwrap_err().to_string();
    assert!(text.contains("calibration-swap"), "{text}");
    let rig = load(&[path], &LoadOptions { swapped: true, ..LoadOptions::default() }).unwrap();
    assert!((rig.left.fx - 533.1).abs() < 1e-9 && rig.exchanged && rig.translation_m.x < 0.0);
}

fn data() -> Option<PathBuf> {
    let folder = std::env::var_os("STEREOPSIS_DATA").map(PathBuf::from);
    if folder.is_none() {
        eprintln!("skipped: STEREOPSIS_DATA is not set");
    }
    folder
}

fn picture(path: &Path) -> Picture {
    let image = ::image::open(path).unwrap_or_else(|e| panic!("{}: {e}", path.display())).into_luma8();
    let size = (image.width() as usize, image.height() as usize);
    Picture { luma: Luma::U8(Image::new(size.0, size.1, image.into_raw())), rgb: None }
}

fn pair(left: &Path, right: &Path) -> RawPair {
    let capture_time = std::time::SystemTime::UNIX_EPOCH;
    let (left, right) = (picture(left), picture(right));
    RawPair::new("pair", 0, capture_time, left, right)
}

#[test]
fn computed_rotations_and_baseline_are_those_of_opencv() {
    let Some(data) = data() else { return };
    for (files, size, tolerance) in [
        (vec!["calib/opencv_chessboard/intrinsics.yml", "calib/opencv_chessboard/extrinsics.yml"], (640, 480), 1e-9),
        (vec!["parsers/opencv_yaml/intrinsics.yml", "parsers/opencv_yaml/extrinsics.yml"], (640, 480), 1e-9),
        // another release wrote it, which turns both cameras by 0.007 degrees more about the baseline
        (vec!["parsers/opencv_yaml/aliyasineser_stereo_cam.yml"], (752, 480), 2e-4),
    ] {
        let paths: Vec<_> = files.iter().map(|file| data.join(file)).collect();
        let rig = load(&paths, &LoadOptions::default()).unwrap();
        let own = rig.rectification.unwrap();
        let computed = Rectification::compute(&StereoRig { rectification: None, ..rig }, size.0, size.1, 0.0).unwrap();
        assert!(computed.rotation_left.abs_diff_eq(own.rotation_left, tolerance), "R1 of {files:?}");
        assert!(computed.rotation_right.abs_diff_eq(own.rotation_right, tolerance), "R2 of {files:?}");
        assert!((computed.baseline_m / own.baseline_m - 1.0).abs() < 1e-9, "baseline of {files:?}");
    }
}

/// Sums the squared differences of two patches, each without its mean.
fn difference(a: &Image<u8>, (ax, ay): (isize, isize), b: &Image<u8>, (bx, by): (isize, isize)) -> f64 {
    const R: isize = 7;
    let (mut sum, mut squares, mut count) = (0.0, 0.0, 0.0);
    for (dx, dy) in (-R..=R).flat_map(|dy| (-R..=R).map(move |dx| (dx, dy))) {
        let v = f64::from(a.at_clamped(ax + dx, ay + dy)) - f64::from(b.at_clamped(bx + dx, by + dy));
        sum += v;
        squares += v * v;
        count += 1.0;
    }
    (squares - sum * sum / count) / count
}

/// Measures the row offset at points with texture, px: the median, the median distance from it, and the number of points. Searches
/// `rows` up and down and `columns` to the left.
fn row_offset(left: &Picture, right: &Picture, rows: isize, columns: isize) -> (f64, f64, usize) {
    let (left, right) = (left.luma.to_u8(), right.luma.to_u8());
    let (width, height) = (left.width() as isize, left.height() as isize);
    let best = |from: &Image<u8>, to: &Image<u8>, (x, y): (isize, isize), sign: isize| {
        let all = (0..columns).flat_map(|d| (-rows..=rows).map(move |dy| (x - sign * d, y + dy)));
        let inside = all.filter(|&(x, _)| x >= 8 && x < width - 8);
        inside.map(|to_at| (difference(from, (x, y), to, to_at), to_at)).min_by(|a, b| a.0.total_cmp(&b.0)).unwrap()
    };
    let mut offsets = Vec::new();
    for y in (40..height - 40).step_by(20) {
        for x in (60..width - 20).step_by(20) {
            // a corner differs from its surroundings along x, y and both diagonals
            let moves = [(2, 0), (0, 2), (2, 2), (2, -2)];
            if moves.iter().any(|&(dx, dy)| difference(&left, (x, y), &left, (x + dx, y + dy)) < 80.0) {
                continue;
            }
            let (here, (xr, yr)) = best(&left, &right, (x, y), 1);
            let (_, back) = best(&right, &left, (xr, yr), -1);
            let [above, below] = [-1, 1].map(|s| difference(&left, (x, y), &right, (xr, yr + s)));
            let is_valley = above > here && below > here;
            if back == (x, y) && is_valley && here < 100.0 {
                offsets.push((yr - y) as f64 + (above - below) / (2.0 * (above + below - 2.0 * here)));
            }
        }
    }
    offsets.sort_by(f64::total_cmp);
    let middle = offsets[offsets.len() / 2];
    let mut spread: Vec<_> = offsets.iter().map(|v| (v - middle).abs()).collect();
    spread.sort_by(f64::total_cmp);
    (middle, spread[spread.len() / 2], offsets.len())
}

#[test]
fn real_pairs_come_out_in_equal_rows() {
    let Some(data) = data() else { return };
    let folder = data.join("calib/opencv_chessboard");
    let paths = [folder.join("intrinsics.yml"), folder.join("extrinsics.yml")];
    let rig = load(&paths, &LoadOptions { unit: Some(LengthUnit::Metres(0.025)), ..LoadOptions::default() }).unwrap();
    assert!(rig.summary().contains("baseline 0.0836 m"), "{}", rig.summary());
    let computed = StereoRig { rectification: None, ..rig.clone() };
    for rectifier in [rig.rectifier(640, 480, 0.0).unwrap(), computed.rectifier(640, 480, 0.0).unwrap()] {
        let raw = pair(&folder.join("left/left01.jpg"), &folder.join("right/right01.jpg"));
        let (left, right) = rectifier.apply(&raw.left, &raw.right).unwrap();
        let (middle, spread, count) = row_offset(&left, &right, 6, 180);
        eprintln!("chessboard: {middle:.3} px, half within {spread:.3} px, {count} points");
        assert!(count >= 10 && middle.abs() < 0.3 && spread < 0.5, "{middle} {spread} {count}");
    }
}

#[test]
fn euroc_rows_are_12_px_apart_raw_and_equal_rectified() {
    let Some(data) = data() else { return };
    let folder = data.join("sequence/euroc_raw");
    let files = ["cam0_sensor.yaml", "cam1_sensor.yaml"].map(|name| folder.join(name));
    let rectifier = load(&files, &LoadOptions::default()).unwrap().rectifier(752, 480, 0.0).unwrap();
    assert!((rectifier.geometry().baseline_m - 0.110_08).abs() < 1e-4);
    let name = "1403715273262142976.png";
    let raw = pair(&folder.join("cam0").join(name), &folder.join("cam1").join(name));
    let (middle, _, _) = row_offset(&raw.left, &raw.right, 20, 60);
    assert!((middle.abs() - 12.9).abs() < 1.0, "raw: {middle} px");
    let (left, right) = rectifier.apply(&raw.left, &raw.right).unwrap();
    let (middle, spread, count) = row_offset(&left, &right, 20, 60);
    eprintln!("euroc: {middle:.3} px, half within {spread:.3} px, {count} points");
    assert!(count > 30 && middle.abs() < 0.1 && spread < 0.2, "{middle} {spread} {count}");
}

// no benchmark: detects only a slowdown by an order of magnitude
#[test]
fn a_pair_is_rectified_in_little_time() {
    let rectifier: Rectifier = load_text(EXAMPLE).unwrap().rectifier(640, 480, 0.0).unwrap();
    let luma = Luma::U8(Image::from_fn(640, 480, |x, y| (x ^ y) as u8));
    let side = Picture { luma, rgb: None };
    let capture_time = std::time::SystemTime::UNIX_EPOCH;
    let raw = RawPair::new(String::new(), 0, capture_time, side.clone(), side);
    let time = || {
        let start = std::time::Instant::now();
        rectifier.apply(&raw.left, &raw.right).unwrap();
        start.elapsed()
    };
    let best = (0..9).map(|_| time()).min().unwrap();
    eprintln!("640x480 pair: {best:?}");
    assert!(best < std::time::Duration::from_millis(100), "{best:?}");
}
