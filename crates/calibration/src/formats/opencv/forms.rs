//! Tests of the forms of OpenCV's files: compressed, in other encodings, transposed, with an axis skew, and with two projections alone.

use super::super::{LoadOptions, Output, read, write};
use crate::{CalibrationError, Distortion, StereoRig};
use flate2::{Compression, write::GzEncoder};
use glam::{DMat3, DVec2, DVec3};
use std::io::Write as _;

const EXAMPLE: &str = include_str!("../../../../../calibration/example-rig.yml");

fn load(name: &str, bytes: &[u8]) -> Result<StereoRig, CalibrationError> {
    read(&[(name.into(), bytes.to_vec())], &LoadOptions::default())
}

fn load_text(text: &str) -> Result<StereoRig, CalibrationError> {
    load("rig.yml", text.as_bytes())
}

fn refused(text: &str) -> String {
    load_text(text).unwrap_err().to_string()
}

fn example() -> StereoRig {
    load_text(EXAMPLE).unwrap()
}

fn replaced(text: &str, from: &str, to: &str) -> String {
    assert!(text.contains(from), "{from}");
    text.replace(from, to)
}

fn with_skew(skew: f64) -> String {
    replaced(EXAMPLE, "531.4, 0., 322.8", &format!("531.4, {skew:?}, 322.8"))
}

#[test]
fn toml_with_the_same_names_is_the_same_rig() {
    // the form of rtoml 0.14.0
    let toml = "image_width = 640\nimage_height = 480\nK1 = [[600.5, 0.0, 320.5], [0.0, 601.5, 240.5], [0.0, 0.0, 1.0]]\nD1 = [-0.1, 0.05, 1e-7, \
                -3e-8, 0]\nK2 = [[602.5, 0.0, 318.5], [0.0, 603.5, 242.5], [0.0, 0.0, 1.0]]\nD2 = [-0.11, 0.06, 4e-9, 1e-7, 0]\nR = [[1.0, 0.0, \
                0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]]\nT = [-0.065, 0, 1e-7]\n";
    assert_eq!(load_text(toml).unwrap(), load_text(&toml.replace(" =", ":")).unwrap());
    assert!(refused(&toml.replace("K2", "other")).contains("the right camera matrix is missing"));
}

#[test]
fn two_cameras_without_a_pose_are_told_to_be_calibrated_together() {
    // the form of OpenCV 5's calibrate_camera_charuco
    let camera = |name: &str| {
        let text = "%YAML 1.2\n---\nimage_width: 640\nimage_height: 480\ncamera_matrix: !!opencv-matrix\n   rows: 3\n   cols: 3\n   dt: d\n   data: \
                    [ 600.5, 0., 320., 0., 601.5, 240., 0., 0., 1. ]\ndistortion_coefficients: !!opencv-matrix\n   rows: 1\n   cols: 5\n   dt: d\n   \
                    data: [ -0.1, 0.05, 0., 0., 0. ]\n";
        (name.into(), text.as_bytes().to_vec())
    };
    let refusal = read(&[camera("left.yml"), camera("right.yml")], &LoadOptions::default()).unwrap_err().to_string();
    assert!(refusal.contains("does not say how the cameras stand to each other, by R and T"), "{refusal}");
    assert!(refusal.contains("calibrate both together") && !refusal.contains("give both files"), "{refusal}");
}

#[test]
fn an_axis_skew_moves_pixels_as_the_camera_matrix_says() {
    let rig = load_text(&with_skew(-2.25)).unwrap();
    assert_eq!((rig.left.skew, rig.right.skew, rig.doubts.len()), (-2.25, 0.0, 0));
    // OpenCV's formula for plumb_bob and the camera matrix, written independently
    let (x, y, r2) = (0.4, -0.3, 0.25);
    let radial = 1.0 + r2 * (-0.231 + r2 * (0.094 + r2 * -0.017));
    let (p1, p2) = (0.0006, -0.0004);
    let xd = x * radial + 2.0 * p1 * x * y + p2 * (r2 + 2.0 * x * x);
    let yd = y * radial + p1 * (r2 + 2.0 * y * y) + 2.0 * p2 * x * y;
    let expected = DVec2::new(531.4 * xd - 2.25 * yd + 322.8, 530.9 * yd + 237.6);
    let ray = DVec3::new(x, y, 1.0);
    assert!((rig.left.project(ray) - expected).length() < 1e-9);
    assert!((rig.left.ray(expected).unwrap() - ray).length() < 1e-9);
    assert!((rig.left.scaled(DVec2::splat(0.5)).skew + 1.125).abs() < 1e-12);
    let told = rig.describe(0.0).to_string();
    assert!(told.contains("axis skew -2.25 px"), "{told}");
}

#[test]
fn rows_and_disparities_of_a_skewed_camera_are_those_of_a_plain_one() {
    let plain = example();
    let skewed = load_text(&with_skew(3.5)).unwrap();
    let [plain, skewed] = [plain, skewed].map(|rig| {
        let rectification = crate::Rectification::compute(&rig, 640, 480, 0.0).unwrap();
        (rig, rectification)
    });
    for (x, y) in [(-0.3, -0.3), (0.2, 0.3), (0.0, 0.0)] {
        let point = DVec3::new(x, y, 1.0) * 1.2;
        let pixel = skewed.0.left.project(point);
        let moved = pixel - plain.0.left.project(point);
        assert!((moved.x - 3.5 * (pixel.y - 237.6) / 530.9).abs() < 1e-9 && moved.y == 0.0, "{moved}");
        // the projection into the skewed camera and back returns the same point
        let ray = skewed.1.rotation_left * skewed.0.left.ray(pixel).unwrap();
        assert!((ray / ray.z - skewed.1.rotation_left * point / (skewed.1.rotation_left * point).z).length() < 1e-9);
    }
}

#[test]
fn an_axis_skew_comes_back_from_the_files_that_hold_it() {
    let rig = load_text(&with_skew(1.75)).unwrap();
    for output in [Output::Toml, Output::OpenCvYaml, Output::OpenCvXml, Output::RosArchive] {
        let files = write(&rig, output, 0.0).unwrap();
        assert_eq!(load("rig", &files[0].1).unwrap().left, rig.left, "{output:?}");
    }
    let refusal = write(&rig, Output::Kalibr, 0.0).unwrap_err().to_string();
    assert!(refusal.contains("left camera has an axis skew of 1.75 px, which a camchain cannot hold"), "{refusal}");
    let doubts = load_text(&with_skew(48.0)).unwrap().doubts.join("; ");
    assert!(doubts.contains("left camera's axis skew of 48.0 px means rows and columns 5.2 degrees off"), "{doubts}");
}

#[test]
fn a_tilted_sensor_comes_back_from_the_files_that_hold_it() {
    let mut rig = example();
    let mut lens = [0.0; 14];
    (lens[12], lens[13]) = (0.0002, -0.0005);
    rig.left.distortion = Distortion::from_opencv("D1", &lens).unwrap();
    for output in [Output::Toml, Output::OpenCvYaml, Output::OpenCvXml] {
        let files = write(&rig, output, 0.0).unwrap();
        assert_eq!(load("rig", &files[0].1).unwrap().left, rig.left, "{output:?}");
    }
    for (output, words) in [
        (Output::RosArchive, "the left camera has coefficients of thin prisms or of a tilted sensor, which ROS's"),
        (Output::Kalibr, "the left camera's lens has tau_x = 0.0002"),
    ] {
        let refusal = write(&rig, output, 0.0).unwrap_err().to_string();
        assert!(refusal.contains(words), "{refusal}");
    }
}

#[test]
fn transposed_and_other_matrices_are_no_camera_matrices() {
    let k = "531.4, 0., 322.8, 0., 530.9, 237.6, 0., 0., 1.";
    let text = refused(&replaced(EXAMPLE, k, "531.4, 0., 0., 0., 530.9, 0., 322.8, 237.6, 1."));
    assert!(text.contains("K1 is transposed, as MATLAB stores it: its principal point (322.8, 237.6)"), "{text}");
    assert!(text.contains("transpose it and the other camera's, and R too"), "{text}");
    let skewed = refused(&replaced(EXAMPLE, k, "531.4, 0., 0., -1.5, 530.9, 0., 322.8, 237.6, 1."));
    assert!(skewed.contains("K1 is transposed"), "{skewed}");
    for wrong in
        ["531.4, 0., 322.8, 0., 530.9, 237.6, 0., 0., 531.4", "531.4, 0., 322.8, 0., 530.9, 237.6, 0.1, 0., 1."]
    {
        let text = refused(&replaced(EXAMPLE, k, wrong));
        assert!(text.contains("K1 is no camera matrix") && text.contains("its third is"), "{text}");
    }
}

#[test]
fn two_projections_alone_are_a_rectified_rig() {
    let text = "P1: [[701.2, 0, 633.5, 0], [0, 701.2, 361.25, 0], [0, 0, 1, 0]]\n\
                P2: [[701.2, 0, 640.0, -84.144], [0, 701.2, 361.25, 0], [0, 0, 1, 0]]\nimage_size: [1280, 720]\n";
    let rig = load_text(text).unwrap();
    let geometry = rig.rectifier(1280, 720, 0.0).unwrap().geometry();
    assert_eq!((geometry.focal_px, geometry.doffs_px, geometry.cx_px), (701.2, 6.5, 633.5));
    assert!((geometry.baseline_m - 0.12).abs() < 1e-12 && rig.rotation == DMat3::IDENTITY);
    assert!(rig.doubts[0].starts_with("the file has P1 and P2 alone: the images are taken to be rectified already"));
    let sources = rig.rectifier(1280, 720, 0.0).unwrap().sources(77, 99);
    assert_eq!(sources, [Some([77.0, 99.0]); 2]);
    let leaning = load_text(&text.replacen("701.2, 0, 633.5", "701.2, 52.5, 633.5", 1)).unwrap();
    assert!(leaning.doubts.join("; ").contains("P1 has an axis skew of 52.5 px"), "{:?}", leaning.doubts);
    let camera = refused(&replaced(text, "[0, 0, 1, 0]", "[0.01, 0, 0.99, 0]"));
    assert!(camera.contains("P1 is of no rectified camera") && camera.contains("third with 0.01 0 0.99"), "{camera}");
    let with_rotations = format!("{text}R: [[1, 0, 0], [0, 1, 0], [0, 0, 1]]\nT: [-0.12, 0, 0]\n");
    assert!(refused(&with_rotations).contains("the left camera matrix is missing"));
}

#[test]
fn coefficients_of_zeds_tool_are_a_fisheyes() {
    let (before, after) = EXAMPLE.split_at(EXAMPLE.find("R: ").unwrap());
    let cameras = "Size: [640, 480]\nK_LEFT: [[281.5, 0, 322], [0, 281, 238], [0, 0, 1]]\nK_RIGHT: [[280, 0, 317], [0, 280.5, 243], [0, \
                   0, 1]]\nD_LEFT_FE: [-0.02, 0.003, -0.001, 0.0002]\nD_RIGHT_FE: [-0.021, 0.002, -0.002, 0.0003]\n";
    assert!(before.contains("K1"));
    let rig = load_text(&format!("{cameras}{after}")).unwrap();
    let fisheye = |k: [f64; 4]| Distortion::from_fisheye("D", &k).unwrap();
    assert_eq!(rig.left.distortion, fisheye([-0.02, 0.003, -0.001, 0.0002]));
    assert_eq!(rig.right.distortion, fisheye([-0.021, 0.002, -0.002, 0.0003]));
    assert_eq!(rig.doubts, [""; 0]);
}

/// Encodes `[ 1.5, … ]` as OpenCV does: a header of 24 bytes and doubles, in base64.
fn packed(data: &str) -> String {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let numbers = data.split(',').map(|number| number.trim().trim_end_matches('.').parse::<f64>().unwrap());
    let bytes: Vec<u8> =
        format!("{:24}", "1d").into_bytes().into_iter().chain(numbers.flat_map(f64::to_le_bytes)).collect();
    let four = |bytes: &[u8]| {
        let bits = (0..3).fold(0, |bits, i| bits << 8 | u32::from(bytes.get(i).copied().unwrap_or(0)));
        let digit =
            |i: usize| if i > bytes.len() { '=' } else { char::from(DIGITS[(bits >> (18 - 6 * i) & 63) as usize]) };
        [0, 1, 2, 3].map(digit).iter().collect::<String>()
    };
    bytes.chunks(3).map(four).collect()
}

fn with_data(text: &str, change: impl Fn(&str) -> String) -> String {
    let mut parts = text.split("data: [");
    let first = parts.next().unwrap().to_owned();
    parts.fold(first, |text, part| {
        let (data, rest) = part.split_once(']').unwrap();
        format!("{text}data: {}{rest}", change(data))
    })
}

#[test]
fn matrices_in_base64_are_read() {
    let in_lines =
        with_data(EXAMPLE, |data| format!("!!binary |\n      {}", packed(data).replacen("AAA", "AA\n      A", 1)));
    assert!(in_lines.contains("!!binary"), "{in_lines}");
    assert_eq!(load_text(&in_lines).unwrap(), example());
    let as_json = with_data(EXAMPLE, |data| format!("\"$base64${}\"", packed(data)));
    assert_eq!(load_text(&as_json).unwrap(), example());
    let torn = with_data(EXAMPLE, |data| format!("\"{}\"", &packed(data)[..41]));
    assert!(refused(&torn).contains("K1 has no data that can be read"), "{}", refused(&torn));
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut writer = GzEncoder::new(Vec::new(), Compression::default());
    writer.write_all(bytes).unwrap();
    writer.finish().unwrap()
}

#[test]
fn packed_texts_are_read() {
    let rig = example();
    assert_eq!(load("rig.yml.gz", &gzip(EXAMPLE.as_bytes())).unwrap(), rig);
    let xml = write(&rig, Output::OpenCvXml, 0.0).unwrap().remove(0).1;
    assert_eq!(load("rig.xml.gz", &gzip(&xml)).unwrap(), load("rig.xml", &xml).unwrap());
    let (intrinsics, extrinsics) = EXAMPLE.split_at(EXAMPLE.find("R: ").unwrap());
    let files = [("a0.yml.gz", intrinsics), ("b.yml.gz", extrinsics)];
    let files = files.map(|(name, text)| (name.into(), gzip(text.as_bytes())));
    assert_eq!(read(&files, &LoadOptions::default()).unwrap(), rig);
    let whole = gzip(EXAMPLE.as_bytes());
    let refused = |bytes: &[u8]| load("rig.yml.gz", bytes).unwrap_err().to_string();
    let cut = refused(&whole[..whole.len() / 2]);
    assert!(cut.contains("a .gz that is damaged") && cut.len() < 200, "{cut}");
    assert!(refused(&gzip(&whole)).contains("a .gz in a .gz"), "{}", refused(&gzip(&whole)));
    assert!(refused(&gzip(&vec![b'#'; 5 << 20])).contains("more than any calibration"));
}

#[test]
fn texts_in_other_letters_are_read() {
    let text = replaced(EXAMPLE, "---\n", "---\n# Prüfstand in Zürich, 3 °C\n");
    let rig = load_text(&text).unwrap();
    let latin1: Vec<u8> = text.chars().map(|c| u8::try_from(u32::from(c)).unwrap_or(b'?')).collect();
    assert!(std::str::from_utf8(&latin1).is_err());
    let utf16: Vec<u8> = format!("\u{feff}{text}").encode_utf16().flat_map(u16::to_le_bytes).collect();
    for bytes in [&latin1, &utf16, &gzip(&latin1), &gzip(&utf16)] {
        assert_eq!(load("rig.yml", bytes).unwrap(), rig);
    }
    let xml = String::from_utf8(write(&rig, Output::OpenCvXml, 0.0).unwrap().remove(0).1).unwrap();
    let marked = replaced(&xml, "\"1.0\"?>\n", "\"1.0\" encoding=\"ISO-8859-1\"?>\n<!-- \u{fc} -->\n");
    let latin1: Vec<u8> = marked.chars().map(|c| c as u8).collect();
    assert_eq!(load("rig.xml", &latin1).unwrap().left, rig.left);
    assert!(load("rig.yml", b"K1: \xff\x00\x07").unwrap_err().to_string().contains("it is no text"));
}
