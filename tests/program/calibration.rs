//! Runs `stereopsis calibration` like a user.

use super::start;
use std::path::Path;

const EXAMPLE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/calibration/example-rig.toml");

fn done(folder: &Path, args: &[&str]) -> String {
    start::printed(folder, &[&["calibration"], args].concat())
}

fn refused(folder: &Path, args: &[&str], code: i32, words: &[&str]) {
    start::refused(folder, &[&["calibration"], args].concat(), code, words);
}

#[test]
fn show_prints_the_same_for_people_and_programs() {
    let folder = tempfile::tempdir().unwrap();
    let text = done(folder.path(), &["show", EXAMPLE]);
    assert!(
        text.contains("640x480 per image, focal 531 px, baseline 0.0799 m (file: 0.0799, read as m), left is left"),
        "{text}"
    );
    for word in ["toe-in", "field of view", "pixels kept", "the lens moves corners by"] {
        assert!(text.contains(word), "{word} is not in: {text}");
    }
    let told: serde_json::Value = serde_json::from_str(&done(folder.path(), &["show", EXAMPLE, "--json"])).unwrap();
    assert!((told["baseline_m"].as_f64().unwrap() - 0.07991).abs() < 1e-4);
    assert!(told["focal_px"].as_f64().unwrap() > 300.0 && told["rectified"]["kept_percent"].as_f64().unwrap() > 50.0);
    assert_eq!(told["size"], serde_json::json!([640, 480]));
    let wide = done(folder.path(), &["show", EXAMPLE, "--json", "--alpha", "1"]);
    let wide: serde_json::Value = serde_json::from_str(&wide).unwrap();
    assert!(wide["rectified"]["kept_percent"].as_f64() > told["rectified"]["kept_percent"].as_f64());
    let middle = done(folder.path(), &["show", EXAMPLE, "--json", "--rectified-fov-deg", "40"]);
    let middle: serde_json::Value = serde_json::from_str(&middle).unwrap();
    assert!((middle["rectified"]["horizontal_deg"].as_f64().unwrap() - 40.0).abs() < 1e-6, "{middle}");
    assert!(middle["rectified"]["focal_px"].as_f64() > told["rectified"]["focal_px"].as_f64());
}

#[test]
fn a_crop_of_the_mode_moves_the_principal_point() {
    let folder = tempfile::tempdir().unwrap();
    let cy_px = |more: &[&str]| {
        let told = done(folder.path(), &[&["show", EXAMPLE, "--json"], more].concat());
        serde_json::from_str::<serde_json::Value>(&told).unwrap()["left"]["cy_px"].as_f64().unwrap()
    };
    let whole = cy_px(&[]);
    for (crop, size, moved) in [("centre", "640x360", -60.0), ("10,20", "600x400", -20.0), ("-10,-20", "660x520", 20.0)]
    {
        let moved_px = cy_px(&["--calibration-crop", crop, "--size", size]) - whole;
        assert!((moved_px - moved).abs() < 1e-9, "{crop}: {moved_px}");
    }
}

#[test]
fn images_of_two_sizes_are_matched_by_a_calibration_of_both() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let texture = |x: u32, y: u32| image::Luma([((x * 7919 % 251) ^ (y * 6007 % 241) ^ (x * y % 113)) as u8]);
    image::GrayImage::from_fn(80, 40, texture).save(folder.join("left.png")).unwrap();
    image::GrayImage::from_fn(160, 80, |x, y| texture(x / 2 + 6, y / 2)).save(folder.join("right.png")).unwrap();
    let camera = |number: u32, pose: &str, [f, cx, cy]: [f64; 3], size: &str| {
        format!(
            "cam{number}:\n{pose}  camera_model: pinhole\n  distortion_coeffs: [0, 0, 0, 0]\n  distortion_model: radtan\n  \
             intrinsics: [{f}, {f}, {cx}, {cy}]\n  resolution: {size}\n"
        )
    };
    let pose = "  T_cn_cnm1: [[1, 0, 0, -0.1], [0, 1, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1]]\n";
    let text = camera(0, "", [80.0, 39.5, 19.5], "[80, 40]") + &camera(1, pose, [160.0, 79.5, 39.5], "[160, 80]");
    std::fs::write(folder.join("rig.yaml"), text).unwrap();
    let args = ["compute", "left.png", "right.png", "-o", "out.png", "--num-disparities", "16", "--engine", "cpu"];
    start::refused(folder, &args, 1, &["80x40", "160x80", "--calibration"]);
    start::printed(folder, &[&args[..], &["--calibration", "rig.yaml"]].concat());
    let map = image::open(folder.join("out.png")).unwrap().to_luma16();
    assert_eq!(map.dimensions(), (80, 40));
    assert!(map.get_pixel(40, 20).0[0].abs_diff(6 * 256) < 64, "{:?}", map.get_pixel(40, 20));
}

#[test]
fn convert_goes_around_all_kinds_and_overwrites_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    for step in [[EXAMPLE, "a.yml"], ["a.yml", "b.xml"], ["b.xml", "c.tar.gz"], ["c.tar.gz", "d.toml"]] {
        done(folder, &["convert", step[0], "-o", step[1]]);
    }
    done(folder, &["convert", "d.toml", "--to", "ros", "-o", "ros"]);
    done(folder, &["convert", "ros/left.yaml,ros/right.yaml", "-o", "e.toml"]);
    let read = |name: &str| std::fs::read_to_string(folder.join(name)).unwrap();
    assert_eq!(read("d.toml").lines().next(), read("e.toml").lines().next());
    let told =
        |name: &str| -> serde_json::Value { serde_json::from_str(&done(folder, &["show", name, "--json"])).unwrap() };
    let (first, last) = (told(EXAMPLE), told("e.toml"));
    for (camera, number) in [("left", "fx_px"), ("right", "cy_px")] {
        assert_eq!(first[camera][number], last[camera][number]);
    }
    assert!((first["baseline_m"].as_f64().unwrap() - last["baseline_m"].as_f64().unwrap()).abs() < 1e-12);

    std::fs::write(folder.join("mine.toml"), "precious").unwrap();
    refused(
        folder,
        &["convert", EXAMPLE, "-o", "mine.toml"],
        1,
        &["mine.toml exists and is not overwritten", "--overwrite"],
    );
    refused(folder, &["convert", EXAMPLE, "-o", "ros"], 1, &["left.yaml exists and is not overwritten", "--overwrite"]);
    assert_eq!(read("mine.toml"), "precious");
    done(folder, &["convert", EXAMPLE, "-o", "mine.toml", "--force"]);
    assert!(read("mine.toml").contains("baseline_m = "));
}

#[test]
fn a_camchain_is_written_on_request_and_read() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    // the example's lenses have a k3
    refused(folder, &["convert", EXAMPLE, "-o", "camchain.yaml", "--to", "kalibr"], 1, &["k3 = ", "CALIB_FIX_K3"]);
    let four = std::fs::read_to_string(EXAMPLE).unwrap();
    let four: Vec<_> = four
        .lines()
        .map(|line| match line.split_once("= [").filter(|(key, _)| key.trim() == "distortion") {
            Some(_) => "distortion = [-0.2, 0.08, -0.001, 0.0003]".to_owned(),
            None => line.to_owned(),
        })
        .collect();
    std::fs::write(folder.join("four.toml"), four.join("\n")).unwrap();
    done(folder, &["convert", "four.toml", "-o", "camchain.yaml", "--to", "kalibr"]);
    let text = std::fs::read_to_string(folder.join("camchain.yaml")).unwrap();
    assert!(text.starts_with("cam0:\n") && text.contains("distortion_model: radtan"), "{text}");
    assert!(done(folder, &["show", "camchain.yaml"]).contains("Kalibr camchain"));
    refused(folder, &["convert", "four.toml", "-o", "a.toml", "--to", "kalibr"], 2, &["a.toml", "another kind"]);
}

#[test]
fn impossible_conversions_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    refused(folder, &["show", "none.yml"], 2, &["none.yml", "there is no such file"]);
    refused(folder, &["show"], 2, &["FILE"]);
    refused(folder, &["show", EXAMPLE, "--alpha", "2"], 2, &["from 0 to 1"]);
    refused(folder, &["show", EXAMPLE, "--rectified-fov-deg", "170"], 2, &["from 5 to 150"]);
    refused(folder, &["show", EXAMPLE, "--rectified-fov-deg", "60", "--alpha", "1"], 2, &["cannot be used with"]);
    refused(
        folder,
        &["show", EXAMPLE, "--calibration-swap"],
        1,
        &["left of the left one", "leave --calibration-swap out"],
    );
    refused(folder, &["show", EXAMPLE, "--calibration-crop", "centre"], 2, &["needs the size", "--size"]);
    refused(folder, &["show", EXAMPLE, "--calibration-crop", "40"], 2, &["expected centre", "0,40"]);
    for name in ["l.png", "r.png"] {
        std::fs::write(folder.join(name), "not read").unwrap();
    }
    start::refused(
        folder,
        &["compute", "l.png", "r.png", "-o", "o.pfm", "--calibration-crop", "-3,4"],
        2,
        &["--calibration-crop needs --calibration"],
    );
    refused(folder, &["convert", EXAMPLE, "-o", "rig.dat"], 2, &["rig.dat", "--to toml"]);
    refused(folder, &["convert", EXAMPLE, "-o", "rig.xml", "--to", "ros"], 2, &["rig.xml", "another kind"]);
    std::fs::write(folder.join("poem.txt"), "roses: red\n").unwrap();
    refused(folder, &["show", "poem.txt"], 1, &["poem.txt", "looked for", "Kalibr", "Middlebury"]);
}

/// Writes pairs of walls at one distance each, whose right lens is longer than in `rig.yaml` by a share; 250 px, 60 mm, 320x240.
fn walls(folder: &Path, longer: f64, pairs: u32) {
    let wave = |x: f64, y: f64, n: f64| {
        let soft =
            ((0.31 + 0.01 * n) * x + n).sin() * (0.27 * y + 0.05 * x).cos() + (0.11 * x - 0.19 * y + 2.0 * n).sin();
        128.0 + 38.0 * (soft + 0.6 * ((0.73 - 0.02 * n) * x + 0.41 * y).sin() * (0.07 * y + n).cos())
    };
    for n in 0..pairs {
        let disparity_px = 6.0 + 4.0 * f64::from(n);
        let view = |shift_px: f64, longer: f64| {
            image::GrayImage::from_fn(320, 240, |x, y| {
                let [x, y] =
                    [(x, 159.5), (y, 119.5)].map(|(at, middle)| (f64::from(at) - middle) / (1.0 + longer) + middle);
                image::Luma([wave(x + shift_px, y, f64::from(n)).round() as u8])
            })
        };
        view(0.0, 0.0).save(folder.join(format!("left{n}.png"))).unwrap();
        view(disparity_px, longer).save(folder.join(format!("right{n}.png"))).unwrap();
    }
    let camera = "  camera_model: pinhole\n  distortion_coeffs: [0, 0, 0, 0]\n  distortion_model: radtan\n  \
                  intrinsics: [250, 250, 159.5, 119.5]\n  resolution: [320, 240]\n";
    let pose = "  T_cn_cnm1: [[1, 0, 0, -0.06], [0, 1, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1]]\n";
    std::fs::write(folder.join("../rig.yaml"), format!("cam0:\n{camera}cam1:\n{pose}{camera}")).unwrap();
}

/// Returns the median depths of the left and of the right fifth of a depth image, m.
fn sides_m(path: &Path) -> [f64; 2] {
    let map = image::open(path).unwrap().to_luma16();
    [40..64, 256..310].map(|columns: std::ops::Range<u32>| {
        let mut mm: Vec<u16> =
            columns.flat_map(|x| (0..240).map(move |y| (x, y))).map(|(x, y)| map.get_pixel(x, y).0[0]).collect();
        mm.retain(|mm| *mm > 0);
        mm.sort_unstable();
        f64::from(mm[mm.len() / 2]) / 1000.0
    })
}

#[test]
fn a_longer_lens_is_named_by_one_pair_and_corrected_by_several() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    std::fs::create_dir(folder.join("pairs")).unwrap();
    walls(&folder.join("pairs"), 0.01, 5);
    let settings = ["--calibration", "rig.yaml", "--engine", "cpu", "--num-disparities", "32"];
    let one = ["compute", "pairs/left0.png", "pairs/right0.png", "-o", "one.pfm", "--self-calibrate"];
    let said = start::run(folder, &[&one[..], &settings].concat());
    assert!(
        said.contains("the right lens is 1.0 % longer than calibrated") && said.contains("1 view so far"),
        "{said}"
    );

    let all = |out: &str, more: &[&str]| {
        let args = ["compute", "pairs", "-o", "maps", "--depth", out, "--overwrite"];
        start::run(folder, &[&args[..], &settings, more].concat());
        let [left_m, right_m] = sides_m(&folder.join(out).join("left1.png"));
        right_m / left_m
    };
    let (as_calibrated, corrected) = (all("before", &[]), all("after", &["--self-calibrate"]));
    assert!(as_calibrated > 1.15 && (corrected - 1.0).abs() < 0.02, "{as_calibrated} {corrected}");
    let args = ["calibrate", "--check", "rig.yaml", "pairs", "--json"];
    let output = start::finished(start::stereopsis(folder, &args), 0).1.stdout;
    let drift = &serde_json::from_slice::<serde_json::Value>(&output).unwrap()["drift"];
    assert!(drift["views"] == 5 && drift["is_offered"] == true && drift["depth"][2]["depth_m"] == 5.0, "{drift}");
    assert!((drift["correction"]["right_focal_percent"].as_f64().unwrap() - 1.0).abs() < 0.1, "{drift}");

    // the correction of a rig file is in force, and without it the rig is as calibrated
    let correction = format!(
        "[calibration.correction]\ndate = \"2026-05-17\"\nright_deg = [0.0, 0.0, 0.0]\nright_focal_percent = {}\n",
        drift["correction"]["right_focal_percent"]
    );
    std::fs::write(folder.join("kept.toml"), format!("[calibration]\nfiles = [\"rig.yaml\"]\n{correction}")).unwrap();
    let args =
        ["compute", "pairs", "-o", "maps", "--depth", "kept", "--overwrite", "--rig", "kept.toml", "--engine", "cpu"];
    let said = start::run(folder, &[&args[..], &["--num-disparities", "32"]].concat());
    assert!(said.contains("as it stands since 2026-05-17"), "{said}");
    let [left_m, right_m] = sides_m(&folder.join("kept/left1.png"));
    assert!((right_m / left_m - 1.0).abs() < 0.02, "{left_m} {right_m}");

    start::refused(folder, &["compute", "pairs", "-o", "maps", "--self-calibrate"], 2, &["needs --calibration"]);
    std::fs::write(folder.join("kept.toml"), correction).unwrap();
    let args = ["compute", "pairs", "-o", "maps", "--rig", "kept.toml"];
    start::refused(folder, &args, 1, &["need files, whose rig they correct"]);
}
