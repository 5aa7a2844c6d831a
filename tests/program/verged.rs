//! Tests cameras that look towards each other, from images to recordings and back, without a word about the search range.

use super::start::{printed, run};
use glam::{DMat3, DVec3};
use serde_json::Value;
use std::path::Path;

const SIZE: (u32, u32) = (240, 180);
const FOCAL_PX: f64 = 340.0;
/// Depth at which the cameras' axes cross, m.
const CROSSING_M: f64 = 0.6;
/// Depths of a wall and of a thing in its middle, m.
const WALL_M: f64 = 0.64;
const THING_M: f64 = 0.58;

/// Returns a texture that has no two places alike, with details of 7 mm.
fn texture(x_m: f64, y_m: f64) -> f64 {
    let (x, y) = (x_m / 0.007 + 500.0, y_m / 0.007 + 500.0);
    let at = |x: f64, y: f64| {
        let seed = (x as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ (y as u64).wrapping_mul(0xc2b2_ae3d_27d4_eb4f);
        fastrand::Rng::with_seed(seed).f64()
    };
    let ((x0, y0), (u, v)) = ((x.floor(), y.floor()), (x.fract(), y.fract()));
    let row = |y: f64| at(x0, y) * (1.0 - u) + at(x0 + 1.0, y) * u;
    row(y0) * (1.0 - v) + row(y0 + 1.0) * v
}

/// Writes `left.png`, `right.png` and `rig.yml` of cameras turned by this angle towards each other, and returns the baseline, m.
fn verged_pair(folder: &Path, degrees: f64) -> f64 {
    let half = degrees.to_radians() / 2.0;
    let baseline_m = 2.0 * CROSSING_M * half.tan();
    let middle = DVec3::new(f64::from(SIZE.0) - 1.0, f64::from(SIZE.1) - 1.0, 0.0) / 2.0;
    for (name, side) in [("left.png", -1.0), ("right.png", 1.0)] {
        let (centre_m, to_room) = (side * baseline_m / 2.0, DMat3::from_rotation_y(-side * half));
        let view = image::GrayImage::from_fn(SIZE.0, SIZE.1, |column, row| {
            let pixel = DVec3::new(f64::from(column), f64::from(row), 0.0) - middle;
            let ray = to_room * (pixel / FOCAL_PX + DVec3::Z);
            let at = |depth_m: f64| (centre_m + ray.x / ray.z * depth_m, ray.y / ray.z * depth_m);
            let ((x, y), (wall_x, wall_y)) = (at(THING_M), at(WALL_M));
            let is_thing = x.abs() < 0.07 && y.abs() < 0.07;
            let grey = if is_thing { texture(x + 1.0, y) } else { texture(wall_x, wall_y) };
            image::Luma([(20.0 + 215.0 * grey) as u8])
        });
        view.save(folder.join(name)).unwrap();
    }
    let turn = DMat3::from_rotation_y(2.0 * half);
    let translation_m = DMat3::from_rotation_y(half) * DVec3::new(-baseline_m, 0.0, 0.0);
    let matrix = |name: &str, rows: usize, columns: usize, data: &[f64]| {
        format!("{name}: !!opencv-matrix\n   rows: {rows}\n   cols: {columns}\n   dt: d\n   data: {data:?}\n")
    };
    let lens = [FOCAL_PX, 0.0, middle.x, 0.0, FOCAL_PX, middle.y, 0.0, 0.0, 1.0];
    let text = [
        format!("%YAML:1.0\n---\nimage_width: {}\nimage_height: {}\n", SIZE.0, SIZE.1),
        matrix("K1", 3, 3, &lens),
        matrix("D1", 1, 5, &[0.0; 5]),
        matrix("K2", 3, 3, &lens),
        matrix("D2", 1, 5, &[0.0; 5]),
        matrix("R", 3, 3, &turn.transpose().to_cols_array()),
        matrix("T", 3, 1, &translation_m.to_array()),
    ];
    std::fs::write(folder.join("rig.yml"), text.concat()).unwrap();
    baseline_m
}

fn json(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_else(|err| panic!("{err}: {text}"))
}

/// Returns the share of a depth image that has depth, and the depth in its middle, mm.
fn depth(path: &Path) -> (f64, f64) {
    let depth = image::open(path).unwrap_or_else(|err| panic!("{}: {err}", path.display())).to_luma16();
    let measured = depth.pixels().filter(|pixel| pixel.0[0] > 0).count();
    let mut middle: Vec<u16> = (-8..=8)
        .flat_map(|y| (-8..=8).map(move |x| (x, y)))
        .map(|(x, y)| depth.get_pixel(SIZE.0.strict_add_signed(x) / 2, SIZE.1.strict_add_signed(y) / 2).0[0])
        .collect();
    middle.sort_unstable();
    (measured as f64 / depth.len() as f64, f64::from(middle[middle.len() / 2]))
}

#[test]
fn verged_cameras_measure_metres_in_a_range_that_is_found() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    for (degrees, least) in [(15.0, 0.8), (30.0, 0.7), (60.0, 0.5)] {
        verged_pair(folder, degrees);
        let args = ["compute", "left.png", "right.png", "-o", "o.pfm", "--depth", "z.png", "--calibration", "rig.yml"];
        let told = json(&printed(folder, &[&args[..], &["--engine", "cpu", "--overwrite", "--json"]].concat()));
        let (measured, middle_mm) = depth(&folder.join("z.png"));
        assert!(measured > least && (middle_mm / 580.0 - 1.0).abs() < 0.01, "{degrees}: {measured} {middle_mm}");
        let remarks = told["remarks"].to_string();
        assert!(remarks.contains("look towards each other") && remarks.contains("the search goes from -"), "{remarks}");
        let params = &told["results"][0]["parameters"];
        assert!(params["min-disparity"].as_i64().unwrap() < 0, "{told}");
    }
    // a range that was said stays, even the usual one
    let said = ["--min-disparity", "0", "--num-disparities", "64", "--engine", "cpu", "--calibration", "rig.yml"];
    let told = run(folder, &[&["compute", "left.png", "right.png", "-o", "said.pfm"], &said[..]].concat());
    assert!(!told.contains("the search goes from"), "{told}");
}

#[test]
fn every_way_out_has_the_metres_of_verged_cameras() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let baseline_m = verged_pair(folder, 30.0);
    let input = ["left.png", "right.png", "--calibration", "rig.yml", "--engine", "cpu"];
    let measure = [&["measure"], &input[..], &["--json", "--region", "105,75,30,30"]].concat();
    let told = json(&printed(folder, &measure));
    let distance_mm = told["results"][0]["plane_distance_mm"].as_f64().unwrap();
    assert!((distance_mm / 580.0 - 1.0).abs() < 0.01, "{told}");

    let live = [&["live", "--headless"], &input[..], &["--json", "--frames", "1", "--preview", "p.png"]].concat();
    let told = json(&printed(folder, &live));
    assert!(told["parameters"]["min-disparity"].as_i64().unwrap() < 0, "{told}");

    let record = ["--once", "--lossless", "--streams", "raw,disparity,depth", "-o", "in.mcap"];
    run(folder, &[&["record"], &input[..], &record].concat());
    run(folder, &["recompute", "in.mcap", "-o", "again.mcap", "--engine", "cpu"]);
    for name in ["in", "again"] {
        run(folder, &["export", &format!("{name}.mcap"), "--to", name]);
        let (measured, middle_mm) = depth(&folder.join(name).join("000000_depth_mm.png"));
        assert!(measured > 0.7 && (middle_mm / 580.0 - 1.0).abs() < 0.01, "{name}: {measured} {middle_mm}");
    }
    let about = json(&std::fs::read_to_string(folder.join("in/recording.json")).unwrap());
    let first = about["parameters"][0]["parameters"]["min-disparity"].as_str().unwrap();
    assert!(first.parse::<i32>().unwrap() < 0, "{about}");
    let number = |name: &str| about["geometry"][name].as_f64().unwrap();
    assert!((number("baseline_m") - baseline_m).abs() < 1e-6 && number("doffs_px") > 150.0, "{about}");

    // files have the program's disparities, which the offset and Q make depth of
    let pixels = std::fs::read(folder.join("in/000000_disp.pfm")).unwrap();
    let middle = pixels.len() - 4 * (SIZE.0 * SIZE.1) as usize + 4 * (SIZE.1 / 2 * SIZE.0 + SIZE.0 / 2) as usize;
    let disparity_px = f64::from(f32::from_le_bytes(pixels[middle..middle + 4].try_into().unwrap()));
    let depth_m = number("focal_px") * baseline_m / (disparity_px + number("doffs_px"));
    assert!((depth_m / 0.58 - 1.0).abs() < 0.01, "{disparity_px}");
    let text = std::fs::read_to_string(folder.join("in/calibration/opencv.yaml")).unwrap();
    let q = text.split("Q:").nth(1).and_then(|text| text.split('[').nth(1)?.split(']').next()).unwrap();
    let q: Vec<f64> = q.split(',').map(|number| number.trim().parse().unwrap()).collect();
    let depth_m = q[11] / (q[14] * disparity_px + q[15]);
    assert!((depth_m / 0.58 - 1.0).abs() < 0.01, "{q:?}");

    // points lie where they are seen from the left camera: the thing is 14 cm wide, in the middle between both cameras
    let bytes = std::fs::read(folder.join("in/000000_cloud.ply")).unwrap();
    let end = bytes.windows(11).position(|w| w == b"end_header\n").unwrap() + 11;
    let float = |bytes: &[u8]| f64::from(f32::from_le_bytes(bytes.try_into().unwrap()));
    let points = bytes[end..].chunks(15).map(|point| [0, 4, 8].map(|at| float(&point[at..at + 4])));
    let (low, high) = points
        .filter(|[_, y, z]| y.abs() < 0.05 && (z - THING_M).abs() < 0.01)
        .fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), [x, ..]| (low.min(x), high.max(x)));
    assert!((f64::midpoint(low, high) - baseline_m / 2.0).abs() < 0.01, "{low} to {high}");
    assert!((high - low - 0.14).abs() < 0.02, "{low} to {high}");
}
