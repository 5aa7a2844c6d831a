//! Checks exported files against the recorded data.

use super::{packets, record_scene, refused, run};
use glam::DMat3;
use image::DynamicImage;
use std::path::{Path, PathBuf};
use stereopsis::inside::{Body, Packet, PairNote, ResultNote, decode, topic};
use stereopsis::inside::{Encoding, ImageBody};
use stereopsis::rectification::{self, LoadOptions};

/// Creates a folder with `in.mcap`, a recording of the scene, and its export in `out`.
fn exported(frames: u32, streams: &str, args: &[&str]) -> (tempfile::TempDir, PathBuf, String) {
    let folder = tempfile::tempdir().unwrap();
    record_scene(folder.path(), "in.mcap", frames, streams);
    let said = run(folder.path(), &[&["export", "in.mcap", "--to", "out"], args].concat());
    let out = folder.path().join("out");
    (folder, out, said)
}

fn body(packet: &Packet) -> Body {
    decode(&packet.channel, &packet.data).unwrap().body
}

fn image_of(packet: &Packet) -> ImageBody {
    let Body::Image(image) = body(packet) else { panic!("{} is no image", packet.channel.topic) };
    image
}

fn words(bytes: &[u8]) -> Vec<u16> {
    bytes.chunks(2).map(|b| u16::from_le_bytes(b.try_into().unwrap())).collect()
}

fn open(path: &Path) -> DynamicImage {
    image::open(path).unwrap_or_else(|err| panic!("{}: {err}", path.display()))
}

fn floats(bytes: &[u8]) -> Vec<f32> {
    bytes.chunks(4).map(|b| f32::from_le_bytes(b.try_into().unwrap())).collect()
}

/// Reads the disparities of a PFM, from the top.
fn pfm(path: &Path) -> Vec<f32> {
    let bytes = std::fs::read(path).unwrap();
    let px = floats(bytes.strip_prefix(b"Pf\n96 64\n-1.0\n").unwrap());
    px.chunks(96).rev().flatten().copied().collect()
}

#[test]
fn exported_numbers_equal_the_recorded_ones() {
    let (folder, out, said) = exported(3, "raw,disparity,depth", &[]);
    let input = folder.path().join("in.mcap");
    let (depths, disparities) = (packets(&input, topic::DEPTH), packets(&input, topic::DISPARITY));
    let lefts = packets(&input, topic::LEFT_RAW);
    assert_eq!((depths.len(), disparities.len(), lefts.len()), (3, 3, 3), "{said}");
    for k in 0..3 {
        let path = |ending: &str| out.join(format!("{k:06}{ending}"));
        let depth = image_of(&depths[k]);
        assert_eq!(open(&path("_depth_mm.png")).as_luma16().unwrap().as_raw(), &words(&depth.data));
        let Body::Disparity(disparity) = body(&disparities[k]) else { panic!("no disparity") };
        let recorded = disparity.disparity_px.pixels();
        let same = |stored: &[f32], hole: fn(f32) -> bool| {
            recorded.iter().zip(stored).all(|(&a, &b)| a.to_bits() == b.to_bits() || (a.is_nan() && hole(b)))
        };
        assert!(recorded.iter().any(|px| px.is_nan()) && recorded.iter().any(|px| px.is_finite()));
        assert!(same(&pfm(&path("_disp.pfm")), |b| b == f32::INFINITY));
        let tiff = std::fs::File::open(path("_disp.tiff")).unwrap();
        let decoded = tiff::decoder::Decoder::new(tiff).unwrap().read_image().unwrap();
        let tiff::decoder::DecodingResult::F32(tiff) = decoded else { panic!("not float") };
        assert!(same(&tiff, f32::is_nan));
        let x256 = open(&path("_disp_x256.png")).to_luma16().into_raw();
        let x256: Vec<f32> = x256.iter().map(|&v| if v == 0 { f32::NAN } else { f32::from(v) / 256.0 }).collect();
        // 0 marks an invalid pixel, so the smallest number replaces a disparity of 0
        let small = |(&a, &b): (&f32, &f32)| if a < 1.0 / 256.0 && b < 1.5 / 256.0 { a } else { b };
        let x256: Vec<f32> = recorded.iter().zip(&x256).map(small).collect();
        assert!(same(&x256, f32::is_nan));
        let left = image_of(&lefts[k]);
        let stored = open(&path("_left.png"));
        match left.encoding {
            Encoding::Mono8 => assert_eq!(stored.as_luma8().unwrap().as_raw()[..], left.data[..]),
            _ => assert_eq!(stored.to_rgb8().as_raw()[..], left.data[..]),
        }
        assert!(path("_right.png").is_file());
    }
}

#[test]
fn points_are_the_recorded_depth_with_the_colours_of_the_left_picture() {
    let (folder, out, _) = exported(1, "raw,depth", &["--what", "ply,left,json"]);
    let depth = words(&image_of(&packets(&folder.path().join("in.mcap"), topic::DEPTH)[0]).data);
    let about: serde_json::Value = serde_json::from_slice(&std::fs::read(out.join("recording.json")).unwrap()).unwrap();
    let number = |name: &str| about["geometry"][name].as_f64().unwrap();
    let left = open(&out.join("000000_left.png")).to_rgb8();
    let bytes = std::fs::read(out.join("000000_cloud.ply")).unwrap();
    let end = bytes.windows(11).position(|w| w == b"end_header\n").unwrap() + 11;
    let header = std::str::from_utf8(&bytes[..end]).unwrap();
    let measured: Vec<usize> = (0..depth.len()).filter(|&i| depth[i] > 0).collect();
    assert!(measured.len() > 1000 && measured.len() < depth.len());
    assert!(header.contains(&format!("element vertex {}\n", measured.len())), "{header}");
    assert_eq!(bytes.len() - end, 15 * measured.len());
    for (point, &i) in bytes[end..].chunks(15).zip(&measured) {
        let (column, row) = (i % 96, i / 96);
        let at = floats(&point[..12]);
        assert_eq!((f64::from(at[2]) * 1000.0).round() as u16, depth[i]);
        let column_back = f64::from(at[0]) / f64::from(at[2]) * number("focal_px") + number("cx_px");
        let row_back = f64::from(at[1]) / f64::from(at[2]) * number("focal_px") + number("cy_px");
        assert!((column_back - column as f64).abs() < 1e-3 && (row_back - row as f64).abs() < 1e-3);
        assert_eq!(point[12..], left.get_pixel(column as u32, row as u32).0);
    }
}

#[test]
fn the_table_has_each_pair_with_its_times_and_json_names_each_file() {
    let (folder, out, _) = exported(4, "raw,depth", &["--from", "1", "--every", "2"]);
    let input = folder.path().join("in.mcap");
    let table = std::fs::read_to_string(out.join("frames.csv")).unwrap();
    let lines: Vec<Vec<&str>> = table.lines().map(|line| line.split(',').collect()).collect();
    assert_eq!(lines.len(), 3);
    let (pairs, results) = (packets(&input, topic::PAIRS), packets(&input, topic::RESULTS));
    for (line, k) in lines[1..].iter().zip([1, 3]) {
        let Body::Json(value) = body(&pairs[k]) else { panic!("no JSON") };
        let pair: PairNote = serde_json::from_value(value).unwrap();
        let Body::Json(value) = body(&results[k]) else { panic!("no JSON") };
        let result: ResultNote = serde_json::from_value(value).unwrap();
        assert_eq!(line[0], k.to_string());
        assert_eq!(line[1], pair.sequence.to_string());
        assert_eq!(line[2], packets(&input, topic::LEFT_RAW)[k].publish_time_ns.to_string());
        assert_eq!(line[5], pair.name);
        // the engine's name before it contains a comma
        assert_eq!(line[line.len() - 3], format!("{:.3}", result.compute_ms));
        assert_eq!(line.last(), Some(&"0"));
    }
    let about: serde_json::Value = serde_json::from_slice(&std::fs::read(out.join("recording.json")).unwrap()).unwrap();
    let files = about["files"].as_object().unwrap();
    let mut found = 0;
    for entry in std::fs::read_dir(&out).unwrap().chain(std::fs::read_dir(out.join("calibration")).unwrap()) {
        let path = entry.unwrap().path();
        let name = path.strip_prefix(&out).unwrap().to_str().unwrap().to_owned();
        let name = if name.starts_with("0000") { format!("NNNNNN{}", &name[6..]) } else { name };
        if path.is_file() && name != "recording.json" {
            assert!(files.contains_key(&name), "{name} is not in {files:?}");
            found += 1;
        }
    }
    assert_eq!(found, 2 * 4 + 1 + 4, "left, right, depth and points of two pairs, the table, the calibration");
    assert_eq!(about["pairs"], 2);
    assert_eq!(about["parameters"][0]["parameters"]["num-disparities"], "24");
    assert!(about["geometry"]["baseline_m"].as_f64().unwrap() > 0.0);
}

#[test]
fn the_exported_calibration_is_that_of_the_recording() {
    let (folder, out, _) = exported(1, "raw,depth", &["--what", "calibration,json"]);
    let about: serde_json::Value = serde_json::from_slice(&std::fs::read(out.join("recording.json")).unwrap()).unwrap();
    for files in [&["opencv.yaml"][..], &["calibration.toml"], &["left.yaml", "right.yaml"]] {
        let paths: Vec<_> = files.iter().map(|name| out.join("calibration").join(name)).collect();
        let rig = rectification::load(&paths, &LoadOptions::default()).unwrap();
        let geometry = rig.rectifier(96, 64, 0.0).unwrap().geometry();
        let near = |name: &str, value: f64| (about["geometry"][name].as_f64().unwrap() - value).abs() < 1e-6;
        assert!(
            near("focal_px", geometry.focal_px) && near("baseline_m", geometry.baseline_m),
            "{files:?}: {geometry:?}"
        );
        assert!(near("cx_px", geometry.cx_px) && near("doffs_px", geometry.doffs_px), "{files:?}: {geometry:?}");
    }
    drop(folder);
}

/// Creates a pair of textures, `left.png` and `right.png`, and `rig.toml` with turned and distorted cameras.
fn turned_rig(folder: &Path) {
    let mut random = fastrand::Rng::with_seed(5);
    let texture: Vec<u8> = (0..102 * 64).map(|_| random.u8(..)).collect();
    for (name, offset) in [("left.png", 0), ("right.png", 6)] {
        let view = image::GrayImage::from_fn(96, 64, |x, y| image::Luma([texture[(y * 102 + x + offset) as usize]]));
        view.save(folder.join(name)).unwrap();
    }
    let turn = DMat3::from_rotation_z(0.01) * DMat3::from_rotation_y(0.02);
    let rows = turn.transpose().to_cols_array_2d();
    let camera = |side: &str, cx_px: f64| {
        format!(
            "[{side}]\nfx_px = 90.0\nfy_px = 90.0\ncx_px = {cx_px:?}\ncy_px = 31.0\nmodel = \"plumb_bob\"\ndistortion = [-0.05, 0.0, 0.0, 0.0, 0.0]\n"
        )
    };
    let rig = [
        "format = \"stereopsis-rig-1\"\nsize_px = [96, 64]\nfocal_px = 90.0\nbaseline_m = 0.10002499687578101\n"
            .to_owned(),
        camera("left", 47.0),
        camera("right", 48.0),
        format!("[right_from_left]\nrotation = {rows:?}\ntranslation_m = [-0.1, 0.001, 0.002]\n"),
    ]
    .concat();
    std::fs::write(folder.join("rig.toml"), rig).unwrap();
}

#[test]
fn exported_eyes_and_calibration_give_the_recorded_depth_again() {
    let keep = tempfile::tempdir().unwrap();
    let folder = keep.path();
    turned_rig(folder);
    let settings = ["--num-disparities", "24", "--engine", "cpu"];
    let source = ["record", "left.png", "right.png", "--calibration", "rig.toml", "--once", "--lossless"];
    run(folder, &[&source[..], &settings, &["--streams", "raw,depth", "-o", "in.mcap"]].concat());
    run(folder, &["export", "in.mcap", "--to", "out"]);
    let depth = std::fs::read(folder.join("out/000000_depth_mm.png")).unwrap();
    assert!(image::load_from_memory(&depth).unwrap().to_luma16().iter().filter(|&&mm| mm > 0).count() > 2000);
    let eyes = ["out/000000_left.png", "out/000000_right.png"];
    for calibration in ["out/calibration/opencv.yaml", "out/calibration/calibration.toml"] {
        let output = ["-o", "again.pfm", "--depth", "again.png", "--overwrite", "--calibration", calibration];
        run(folder, &[&["compute"], &eyes[..], &output, &settings].concat());
        assert!(std::fs::read(folder.join("again.png")).unwrap() == depth, "{calibration}");
    }
    // the rectified pair needs no calibration any more
    let eyes = ["out/000000_left_rectified.png", "out/000000_right_rectified.png"];
    run(folder, &[&["compute"], &eyes[..], &["-o", "rectified.png"], &settings].concat());
    let shown = open(&folder.join("rectified.png")).to_luma16();
    let measured = image::load_from_memory(&depth).unwrap().to_luma16();
    assert!(shown.iter().zip(measured.iter()).all(|(&px, &mm)| px > 0 || mm == 0), "depth belongs to these pixels");
}

#[test]
fn both_views_in_one_image_have_the_nearest_things_on_the_screen() {
    let (folder, out, _) = exported(2, "raw,disparity,depth", &[]);
    assert!(!out.join("000000_sbs.png").exists() && !out.join("000000_depth_m.tiff").exists(), "on request only");
    let what = "side-by-side,top-bottom,anaglyph,mpo,depth-m,ply";
    let said = run(folder.path(), &["export", "in.mcap", "--to", "views", "--what", what, "--axes", "ros"]);
    let (_, screen) = said.split_once("the plane of the screen is at a disparity of ").unwrap();
    let screen_px: u32 = screen.split(' ').next().unwrap().parse().unwrap();
    let packets = packets(&folder.path().join("in.mcap"), topic::DISPARITY);
    let Body::Disparity(disparity) = body(&packets[0]) else { panic!("no disparity") };
    let px: Vec<f32> = disparity.disparity_px.pixels().iter().copied().filter(|d| d.is_finite()).collect();
    let in_front = px.iter().filter(|&&d| d > screen_px as f32 + 0.5).count();
    assert!(in_front * 50 <= px.len() + 50, "{in_front} of {} px", px.len());
    let views = folder.path().join("views");
    let sizes = ["sbs.png", "tb.png", "anaglyph.png"].map(|name| {
        let image = open(&views.join(format!("000001_{name}")));
        (image.width(), image.height())
    });
    let width = 96 - screen_px;
    assert_eq!(sizes, [(2 * width, 64), (width, 128), (width, 64)]);
    assert!(std::fs::read(views.join("000001_pair.mpo")).unwrap().windows(4).any(|word| word == b"MPF\0"));
    let tiff = std::fs::File::open(views.join("000001_depth_m.tiff")).unwrap();
    let tiff::decoder::DecodingResult::F32(depth_m) = tiff::decoder::Decoder::new(tiff).unwrap().read_image().unwrap()
    else {
        panic!("not float")
    };
    let mm = open(&out.join("000001_depth_mm.png")).to_luma16();
    let close = |(&m, &mm): (&f32, &u16)| {
        if mm == 0 { m.is_nan() || m > 65.5 } else { (1000.0 * m - f32::from(mm)).abs() <= 0.51 }
    };
    assert!(depth_m.iter().zip(mm.as_raw()).all(close));
    let points = std::fs::read(views.join("000001_cloud.ply")).unwrap();
    assert!(points.windows(24).any(|words| words == b"x forward, y left, z up,"));
    let nothing = ["export", "in.mcap", "--to", "none", "--what", "mpo", "--screen-px", "96"];
    refused(folder.path(), &nothing, 1, &["96 px", "screen-px"]);
}

#[test]
fn missing_parts_are_named_with_the_command_that_makes_them() {
    let (folder, out, said) = exported(2, "raw", &[]);
    assert!(said.contains("in.mcap has no depth: `stereopsis recompute in.mcap -o "), "{said}");
    assert!(said.contains("has no disparity") && said.contains("--streams raw,disparity,depth`"), "{said}");
    assert!(out.join("000001_left.png").is_file() && !out.join("000000_depth_mm.png").exists());
    let args = ["export", "in.mcap", "--to", "other", "--what", "left,depth-mm"];
    refused(folder.path(), &args, 1, &["--what depth-mm", "in.mcap has no depth", "stereopsis recompute"]);
    assert!(!folder.path().join("other").exists(), "nothing was begun");
    // a name that a shell would split is quoted
    std::fs::rename(folder.path().join("in.mcap"), folder.path().join("a walk.mcap")).unwrap();
    let args = ["export", "a walk.mcap", "--to", "other", "--what", "depth-mm"];
    refused(folder.path(), &args, 1, &["`stereopsis recompute 'a walk.mcap' -o 'a walk-again.mcap' "]);
}

#[test]
fn nothing_is_overwritten_and_nothing_chosen_is_no_export() {
    let (folder, out, _) = exported(2, "raw", &["--what", "left"]);
    let before = std::fs::read(out.join("000000_left.png")).unwrap();
    let args = ["export", "in.mcap", "--to", "out", "--what", "right"];
    refused(folder.path(), &args, 1, &["out holds something already", "name another"]);
    assert_eq!(std::fs::read(out.join("000000_left.png")).unwrap(), before);
    assert_eq!(std::fs::read_dir(&out).unwrap().count(), 2);
    let args = ["export", "in.mcap", "--to", "new", "--from", "9"];
    refused(folder.path(), &args, 1, &["none of its pairs is chosen (there are 2)"]);
    refused(folder.path(), &["export", "in.mcap", "--to", "new", "--what", "pictures"], 2, &["depth-mm"]);
    refused(folder.path(), &["export", "gone.mcap", "--to", "new"], 2, &["gone.mcap", "no such file"]);
}
