//! Runs the program like a user: exit codes, messages, files.

use super::start::refused;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// Runs the program without a display, in `folder`.
fn stereopsis(folder: &Path, args: &[&str]) -> Output {
    super::start::stereopsis(folder, args).output().unwrap()
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// Creates a folder with a texture, `left.png`, and the same texture 6 px further left, `right.png`.
fn pair(size: (u32, u32)) -> (tempfile::TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let mut random = fastrand::Rng::with_seed(3);
    let texture: Vec<u8> = (0..(size.0 + 6) * size.1).map(|_| random.u8(..)).collect();
    for (name, offset) in [("left.png", 0), ("right.png", 6)] {
        let view = image::GrayImage::from_fn(size.0, size.1, |x, y| {
            image::Luma([texture[(y * (size.0 + 6) + x + offset) as usize]])
        });
        view.save(folder.path().join(name)).unwrap();
    }
    let path = folder.path().to_owned();
    (folder, path)
}

#[test]
fn pair_gives_a_disparity_map_and_a_json_report() {
    let (_keep, folder) = pair((80, 40));
    let args =
        ["compute", "left.png", "right.png", "-o", "out.png", "--num-disparities", "16", "--engine", "cpu", "--json"];
    let output = stereopsis(&folder, &args);
    assert!(output.status.success(), "{}", text(&output.stderr));
    let about: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    let result = &about["results"][0];
    assert_eq!(result["engine"]["kind"], "cpu");
    assert_eq!(result["parameters"]["num-disparities"], 16);
    assert!(result["valid_share"].as_f64().unwrap() > 0.8, "{result}");
    let map = image::open(folder.join("out.png")).unwrap().to_luma16();
    assert_eq!(map.get_pixel(40, 20).0[0], 6 * 256);

    assert!(about["engine_why"].is_null(), "it was asked for: {about}");
    let args = ["compute", "left.png", "right.png", "-o", "auto.png", "--num-disparities", "16", "--json"];
    let about: serde_json::Value = serde_json::from_slice(&stereopsis(&folder, &args).stdout).unwrap();
    assert!(about["engine_why"].as_str().is_some_and(|why| !why.is_empty()), "{about}");
}

#[test]
fn the_same_parameters_from_flags_and_from_a_file_give_the_same_bytes() {
    let (_keep, folder) = pair((60, 30));
    std::fs::write(folder.join("my.toml"), "p1 = 9\np2 = 50\nmedian = 5\nnum-disparities = 12\nengine = \"cpu\"\n")
        .unwrap();
    let flags = ["--p1", "9", "--p2", "50", "--median", "5", "--num-disparities", "12", "--engine", "cpu"];
    let runs: [&[&str]; 2] = [&["--settings", "my.toml"], &flags];
    let maps = runs.map(|settings| {
        let args = [&["compute", "left.png", "right.png", "-o", "out.pfm", "--overwrite"], settings].concat();
        let output = stereopsis(&folder, &args);
        assert!(output.status.success(), "{}", text(&output.stderr));
        std::fs::read(folder.join("out.pfm")).unwrap()
    });
    assert!(maps[0] == maps[1]);
}

#[test]
fn a_folder_of_pairs_becomes_a_folder_of_maps() {
    let (_keep, folder) = pair((60, 30));
    std::fs::create_dir(folder.join("in")).unwrap();
    for number in ["1", "2"] {
        for side in ["left", "right"] {
            std::fs::copy(folder.join(format!("{side}.png")), folder.join(format!("in/{side}{number}.png"))).unwrap();
        }
    }
    let args = ["compute", "in", "-o", "maps", "--format", "tiff", "--num-disparities", "12", "--engine", "cpu"];
    let output = stereopsis(&folder, &args);
    assert!(output.status.success(), "{}", text(&output.stderr));
    let mut names: Vec<_> = std::fs::read_dir(folder.join("maps")).unwrap().map(|e| e.unwrap().file_name()).collect();
    names.sort();
    assert_eq!(names.len(), 2, "{names:?}");
    assert!(names.iter().all(|name| name.to_string_lossy().ends_with(".tiff")), "{names:?}");
}

#[test]
fn tiff_pairs_of_any_depth_give_the_bytes_that_others_give() {
    let (_keep, folder) = pair((60, 30));
    let map = |left: &str, right: &str, name: &str| {
        let args = ["compute", left, right, "-o", name, "--num-disparities", "12", "--engine", "cpu"];
        let output = stereopsis(&folder, &args);
        assert!(output.status.success(), "{}", text(&output.stderr));
        std::fs::read(folder.join(name)).unwrap()
    };
    let from_png = map("left.png", "right.png", "png.tif");
    for side in ["left", "right"] {
        let grey = image::open(folder.join(format!("{side}.png"))).unwrap();
        grey.to_luma8().save(folder.join(format!("{side}.tif"))).unwrap();
        // 257 times as bright: the same order of all pixels, and the same upper eight bits
        grey.to_luma16().save(folder.join(format!("{side}16.tiff"))).unwrap();
    }
    assert!(map("left.tif", "right.tif", "tif.tif") == from_png);
    assert!(map("left16.tiff", "right16.tiff", "tiff.tif") == from_png);
    let decoded = tiff::decoder::Decoder::new(std::io::Cursor::new(from_png)).unwrap().read_image().unwrap();
    let tiff::decoder::DecodingResult::F32(px) = decoded else { panic!("not float") };
    assert!((px[15 * 60 + 40] - 6.0).abs() < 0.1 && px.iter().any(|d| d.is_nan()), "invalid is NaN");
    // a map is no image
    refused(&folder, &["compute", "png.tif", "right.tif", "-o", "out.tif"], 1, &["png.tif", "holds floats"]);
}

#[test]
fn confidence_map_switches_confidence_on() {
    let (_keep, folder) = pair((80, 40));
    let args = ["compute", "left.png", "right.png", "-o", "out.pfm", "--num-disparities", "16", "--overwrite"];
    let with = |more: &[&'static str]| [&args[..], more].concat();
    let output = stereopsis(&folder, &with(&["--json", "--confidence-map", "sure.png"]));
    assert!(output.status.success(), "{}", text(&output.stderr));
    let about: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(about["results"][0]["parameters"]["confidence"], true);
    let confidence = image::open(folder.join("sure.png")).unwrap();
    let confidence = confidence.as_luma8().expect("8 bits, grey");
    assert_eq!(confidence.dimensions(), (80, 40));
    assert_eq!(confidence.get_pixel(2, 20).0[0], 0, "its partner is outside");
    assert!(confidence.get_pixel(40, 20).0[0] > 100, "a texture like no other");

    std::fs::create_dir(folder.join("in")).unwrap();
    for side in ["left", "right"] {
        std::fs::copy(folder.join(format!("{side}.png")), folder.join(format!("in/{side}1.png"))).unwrap();
    }
    let folders = ["compute", "in", "-o", "maps", "--confidence-map", "sure", "--num-disparities", "16"];
    assert!(stereopsis(&folder, &folders).status.success());
    let files: Vec<_> = std::fs::read_dir(folder.join("sure")).unwrap().map(|e| e.unwrap().path()).collect();
    assert_eq!(files.len(), 1, "{files:?}");
    assert_eq!(image::open(&files[0]).unwrap().as_luma8().unwrap(), confidence);

    refused(&folder, &with(&["--engine", "cpu", "--confidence-map", "sure.jpg"]), 1, &["sure.jpg", ".png"]);
}

#[test]
fn the_right_pictures_map_is_written_too_by_either_engine() {
    let (_keep, folder) = pair((80, 40));
    let args = ["compute", "left.png", "right.png", "-o", "out.pfm", "--num-disparities", "16", "--overwrite"];
    let with = |more: &[&'static str]| [&args[..], more].concat();
    // row after row from the bottom, after the first three lines
    let px = |name: &str, x: usize| {
        let bytes = std::fs::read(folder.join(name)).unwrap();
        let at = bytes.len() - 4 * 80 * 40 + 4 * (20 * 80 + x);
        f32::from_le_bytes(bytes[at..at + 4].try_into().unwrap())
    };
    for engine in ["cpu", "gpu"] {
        if engine == "gpu" && std::env::var_os("REQUIRE_GPU").is_none() {
            continue;
        }
        let output = stereopsis(&folder, &with(&["--engine", engine, "--json", "--right-map", "right.pfm"]));
        assert!(output.status.success(), "{}", text(&output.stderr));
        let about: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
        assert_eq!(about["results"][0]["right_map"], "right.pfm");
        assert!((px("right.pfm", 30) - 6.0).abs() < 0.1 && (px("out.pfm", 36) - 6.0).abs() < 0.1);
        // the columns of one image that lie outside the other one have no partner
        assert!(px("right.pfm", 78).is_infinite() && px("out.pfm", 78).is_finite());
        assert!(px("out.pfm", 1).is_infinite() && px("right.pfm", 1).is_finite());
        std::fs::remove_file(folder.join("right.pfm")).unwrap();
    }

    std::fs::create_dir(folder.join("in")).unwrap();
    for side in ["left", "right"] {
        std::fs::copy(folder.join(format!("{side}.png")), folder.join(format!("in/{side}1.png"))).unwrap();
    }
    let folders = ["compute", "in", "-o", "maps", "--right-map", "right maps", "--format", "tiff", "--engine", "cpu"];
    assert!(stereopsis(&folder, &folders).status.success());
    let files: Vec<_> = std::fs::read_dir(folder.join("right maps")).unwrap().map(|e| e.unwrap().path()).collect();
    assert!(files.len() == 1 && files[0].extension().unwrap() == "tiff", "{files:?}");

    refused(&folder, &with(&["--engine", "cpu", "--right-map", "right.jpg"]), 1, &["right.jpg", ".pfm"]);
    refused(&folder, &with(&["--engine", "cpu", "--right-map", "out.pfm"]), 2, &["--right-map", "--output", "out.pfm"]);
}

#[test]
fn without_a_display_the_scene_ends_with_a_preview() {
    let folder = tempfile::tempdir().unwrap();
    let args =
        ["--size", "160x120", "--frames", "5", "--engine", "cpu", "--rate", "max", "--num-disparities", "32", "--json"];
    let output = stereopsis(folder.path(), &args);
    assert!(output.status.success(), "{}", text(&output.stderr));
    let preview = image::open(folder.path().join("stereopsis-preview.png")).unwrap();
    assert!(preview.width() > 3 * 160, "left, disparity and depth beside each other");
    let about: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert!(about["truth_error"].is_object(), "the scene knows the truth: {about}");
    assert!(text(&output.stderr).contains("valid"), "{}", text(&output.stderr));
}

#[test]
fn bench_prints_the_form_that_others_read() {
    let folder = tempfile::tempdir().unwrap();
    let args = ["bench", "--engine", "cpu", "--size", "96x64", "--frames", "2", "--num-disparities", "16", "--json"];
    let output = stereopsis(folder.path(), &args);
    assert!(output.status.success(), "{}", text(&output.stderr));
    let report: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    let result = &report["results"][0];
    assert_eq!(result["size"], serde_json::json!([96, 64]), "{result}");
    assert_eq!((&result["engine"]["kind"], &result["parameters"]["paths"]), (&"cpu".into(), &8.into()), "{result}");
    assert!(result["frame_ms"]["best"].as_f64() <= result["frame_ms"]["median"].as_f64());
    assert!(result["stages_ms"]["paths + winner"].is_number(), "{result}");
}

#[test]
fn gpu_commands_are_refused_for_other_engines() {
    let folder = tempfile::tempdir().unwrap();
    let refused = |args: &[&str], words: &[&str]| refused(folder.path(), args, 2, words);
    for (old, new) in [("--grid=banz", "reproduce banz"), ("--stages", "reproduce banz")] {
        refused(&["bench", old], &[&format!("use `stereopsis-lab {new}`")]);
    }
    refused(&["tune", "--engine", "cpu"], &["nothing to tune", "--engine gpu"]);
    refused(&["tune", "--near-m", "1"], &["--near-m", "--num-disparities"]);
    let forced = Command::new(env!("CARGO_BIN_EXE_stereopsis"))
        .arg("tune")
        .current_dir(folder.path())
        .env("STEREOPSIS_GPU", "words=2")
        .output()
        .unwrap();
    assert_eq!(forced.status.code(), Some(2));
    assert!(text(&forced.stderr).contains("leave STEREOPSIS_GPU unset"), "{}", text(&forced.stderr));
}

#[test]
fn tuning_keeps_the_quickest_variant() {
    let folder = tempfile::tempdir().unwrap();
    let run = |args: &[&str]| {
        Command::new(env!("CARGO_BIN_EXE_stereopsis"))
            .args(args)
            .args(["--size", "24x16", "--num-disparities", "4", "--json"])
            .current_dir(folder.path())
            .env("HOME", folder.path())
            .env("XDG_CACHE_HOME", folder.path().join("cache"))
            .output()
            .unwrap()
    };
    let output = run(&["tune"]);
    if !output.status.success() {
        let said = text(&output.stderr);
        assert!(said.contains("no GPU") && std::env::var_os("REQUIRE_GPU").is_none(), "{said}");
        return;
    }
    let study: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    let trials = study["trials"].as_array().unwrap();
    assert!(trials.len() > 20, "{study}");
    let best = trials.iter().map(|trial| trial["pair_ms"].as_f64().unwrap()).fold(f64::INFINITY, f64::min);
    assert_eq!(study["best"]["pair_ms"].as_f64(), Some(best));
    assert_eq!(study["engine"]["software"].as_bool().unwrap(), study["note"].is_string(), "{study}");
    assert!(Path::new(study["kept_in"].as_str().unwrap()).is_file());
}

#[test]
fn simd_level_can_be_forced_and_a_wrong_word_lists_the_levels() {
    let folder = tempfile::tempdir().unwrap();
    let bench = |level: &str| {
        Command::new(env!("CARGO_BIN_EXE_stereopsis"))
            .args(["bench", "--engine", "cpu", "--size", "64x48", "--frames", "1", "--num-disparities", "16"])
            .current_dir(folder.path())
            .env("STEREOPSIS_SIMD", level)
            .output()
            .unwrap()
    };
    let forced = bench("portable");
    let name = if cfg!(target_arch = "x86_64") { "SSE2" } else { "NEON" };
    assert!(forced.status.success() && text(&forced.stdout).contains(name), "{}", text(&forced.stdout));
    let refused = bench("mmx");
    assert_eq!(refused.status.code(), Some(1));
    let message = text(&refused.stderr);
    assert!(message.contains("STEREOPSIS_SIMD=mmx") && message.contains("portable"), "{message}");
}

#[test]
fn bad_pictures_are_refused_with_their_names() {
    let (_keep, folder) = pair((40, 30));
    image::GrayImage::new(41, 30).save(folder.join("wide.png")).unwrap();
    std::fs::write(folder.join("empty.png"), "").unwrap();
    let whole = std::fs::read(folder.join("left.png")).unwrap();
    std::fs::write(folder.join("half.png"), &whole[..whole.len() / 2]).unwrap();
    std::fs::write(folder.join("text.png"), "not an image").unwrap();
    std::fs::create_dir(folder.join("nothing")).unwrap();
    for (inputs, words) in [
        (&["left.png", "empty.png"][..], &["empty.png", "empty"][..]),
        (&["left.png", "half.png"], &["half.png"]),
        (&["left.png", "text.png"], &["text.png"]),
        (&["left.png", "wide.png"], &["40x30", "41x30"]),
        (&["nothing"], &["nothing", "left"]),
    ] {
        refused(&folder, &[&["compute"], inputs, &["-o", "out.pfm", "--engine", "cpu"]].concat(), 1, words);
    }
}

#[test]
fn bad_calibrations_and_settings_are_refused_with_the_place() {
    let (_keep, folder) = pair((40, 20));
    let example = std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/calibration/example-rig.yml")).unwrap();
    std::fs::write(folder.join("rig.yml"), &example).unwrap();
    std::fs::write(folder.join("none.yml"), "%YAML:1.0\n---\nhello: 1\n").unwrap();
    std::fs::write(folder.join("typo.toml"), "cost = \"rank\"\npp2 = 7\n").unwrap();
    std::fs::write(folder.join("order.toml"), "p1 = 60\np2 = 60\n").unwrap();
    let compute = ["compute", "left.png", "right.png", "-o", "out.pfm", "--engine", "cpu"];
    let with = |more: &[&'static str]| [&compute[..], more].concat();
    refused(&folder, &with(&["--calibration", "gone.yml"]), 1, &["gone.yml"]);
    refused(&folder, &with(&["--calibration", "none.yml"]), 1, &["none.yml"]);
    refused(&folder, &with(&["--calibration", "rig.yml", "--num-disparities", "8"]), 1, &["40x20", "640x480"]);
    refused(&folder, &with(&["--settings", "typo.toml"]), 1, &["typo.toml", "line 2", "did you mean 'p2'"]);
    refused(&folder, &with(&["--settings", "order.toml"]), 1, &["--p1 60", "--p2 60"]);
    refused(&folder, &with(&["--settings", "gone.toml"]), 1, &["gone.toml"]);
}

#[test]
fn a_wrong_command_line_is_code_2() {
    let (_keep, folder) = pair((40, 30));
    let compute = ["compute", "left.png", "right.png", "-o", "out.pfm"];
    let with = |more: &[&'static str]| [&compute[..], more].concat();
    refused(&folder, &with(&["--p1", "60", "--p2", "60"]), 2, &["--p1 60", "--p2 60"]);
    refused(&folder, &with(&["--p1", "many"]), 2, &["--p1", "whole number"]);
    refused(&folder, &with(&["--cost", "magic"]), 2, &["--cost", "census-5x5"]);
    refused(&folder, &with(&["--min-disparity", "40"]), 2, &["match nowhere", "40 px wide"]);
    refused(&folder, &with(&["--near-m", "0.5"]), 2, &["--near-m", "calibration"]);
    refused(&folder, &with(&["--depth", "depth.png", "--num-disparities", "8"]), 2, &["--depth", "calibration"]);
    refused(&folder, &["compute", "left.png", "right.png", "-o", "out.jpg"], 1, &["out.jpg", ".pfm"]);
    refused(&folder, &["live", "--source", "webcam:x", "--headless"], 2, &["webcam:x", "webcam:0,1"]);
    for lens in [&["--focal-px", "500"][..], &["--fov-deg", "60"], &["--focal-mm", "4", "--sensor-width-mm", "5"]] {
        refused(&folder, &[&["live"], lens].concat(), 2, &[lens[0], "--baseline-m", "--rectify auto"]);
        refused(&folder, &[&["live", "--calibration", "rig.yml"], lens].concat(), 2, &[lens[0], "--calibration"]);
    }
    refused(&folder, &["live", "--focal-mm", "4"], 2, &["--sensor-width-mm"]);
    refused(&folder, &["live", "--fov-deg", "60", "--focal-px", "500"], 2, &["--fov-deg", "--focal-px"]);
    refused(&folder, &["bench", "webcam:0"], 2, &["webcam:0", "live --headless"]);
    refused(&folder, &["bench", "--rate", "30", "--frames", "9"], 2, &["--rate", "--frames"]);
    refused(&folder, &["bench", "--presets", "--p1", "9"], 2, &["--presets", "leave out --p1"]);
    refused(&folder, &["bench", "--presets", "--rate", "30"], 2, &["--presets", "--rate"]);
    refused(&folder, &["--nonsense"], 2, &["--nonsense"]);
}

#[test]
fn no_camera_is_said_and_is_no_error_in_the_list() {
    let folder = tempfile::tempdir().unwrap();
    let output = stereopsis(folder.path(), &["devices"]);
    assert!(output.status.success());
    assert!(text(&output.stdout).contains("camera"), "{}", text(&output.stdout));
    refused(folder.path(), &["live", "--headless", "--source", "webcam:63"], 1, &["camera 63"]);
}

#[cfg(unix)]
#[test]
fn closed_output_pipe_is_no_error() {
    let mut child = Command::new(env!("CARGO_BIN_EXE_stereopsis"))
        .arg("devices")
        .stdout(std::process::Stdio::piped())
        .stderr(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success() && output.stderr.is_empty(), "{}", text(&output.stderr));
}

#[test]
fn help_shows_every_setting_with_its_default() {
    let folder = tempfile::tempdir().unwrap();
    for command in
        [&["--help"][..], &["live", "--help"], &["compute", "--help"], &["bench", "--help"], &["tune", "--help"]]
    {
        let output = stereopsis(folder.path(), command);
        let help = text(&output.stdout);
        assert!(output.status.success());
        for (name, _) in stereopsis::matching::StereoParams::default().words() {
            assert!(help.contains(&format!("--{name}")), "{command:?}: --{name}");
        }
        let (own, literature) = help.split_once("From the literature:").expect("a heading");
        for &preset in stereopsis::matching::Preset::ALL {
            // the preset of a paper has a year in its name
            let part = if preset.to_string().contains(char::is_numeric) { literature } else { own };
            assert!(part.contains(&format!("- {preset}: ")), "{command:?}: {preset}");
        }
        let command = &command[..command.len() - 1];
        // the commands leave no room for them
        if command.is_empty() {
            continue;
        }
        let short = text(&stereopsis(folder.path(), &[command, &["-h"]].concat()).stdout);
        assert!(short.split_whitespace().collect::<Vec<_>>().join(" ").contains("from the literature]"), "{short}");
    }
}

#[test]
fn crooked_pictures_are_rectified_by_what_they_show() {
    let folder = tempfile::tempdir().unwrap();
    let scene = ["live", "--headless", "--frames", "3", "--scene-vertical-px", "4", "--engine", "cpu", "--json"];
    let run = |more: &[&str]| {
        let output = stereopsis(folder.path(), &[&scene, more].concat());
        assert!(output.status.success(), "{}", text(&output.stderr));
        (serde_json::from_slice::<serde_json::Value>(&output.stdout).unwrap(), text(&output.stderr))
    };
    let (crooked, said) = run(&[]);
    let whole = &crooked["run"];
    assert!(whole["computed"].as_u64().unwrap() >= 3 && whole["latency_ms"]["largest"].is_number(), "{whole}");
    assert!(said.contains("pairs came") && said.contains("dropped"), "{said}");
    let auto = ["--rectify", "auto", "--baseline-m", "0.065", "--fov-deg", "58"];
    let (straight, said) = run(&auto);
    assert!(said.contains("depth is an estimate"), "{said}");
    assert_eq!(straight["geometry"]["estimated"], true, "{straight}");
    let valid = |about: &serde_json::Value| about["valid_share"].as_f64().unwrap();
    assert!(valid(&straight) > 0.8 && valid(&crooked) < 0.7, "{} {}", valid(&straight), valid(&crooked));
    // the bounds of its depth, which a known distance narrows
    let (known, said) = run(&[&auto[..], &["--known-distance", "520,80:4.9"]].concat());
    assert!(said.contains("depth is fitted to 1 known distance: the first place is at "), "{said}");
    let widths = [&straight, &known].map(|about| {
        let ends = about["depth_m"]["between"].as_array().unwrap();
        let inverse = |end: &serde_json::Value| end.as_f64().map_or(0.0, |m| 1.0 / m);
        inverse(&ends[0]) - inverse(&ends[1])
    });
    assert!(widths[0] > 0.0 && widths[1] < 0.5 * widths[0], "{widths:?}");
    // a recording keeps both, also of the scene, whose images are straight unless it is asked otherwise
    let crooked = ["--source", "scene", "--size", "320x240", "--scene-vertical-px", "4", "--frames", "2"];
    let record = [&["record", "-o", "crooked.mcap"], &crooked[..], &auto].concat();
    assert!(stereopsis(folder.path(), &record).status.success());
    let again = stereopsis(folder.path(), &["compute", "crooked.mcap", "-o", "maps", "--engine", "cpu", "--json"]);
    let again: serde_json::Value = serde_json::from_slice(&again.stdout).unwrap();
    let first = &again["results"][0];
    assert!(valid(first) > 0.8 && first["depth_m"]["between"].is_array(), "{first}");
    let refused = stereopsis(folder.path(), &[&scene[..], &auto, &["--known-distance", "9999,80:4.9"]].concat());
    assert!(!refused.status.success() && text(&refused.stderr).contains("outside the image"), "{refused:?}");
}

#[test]
fn a_rig_file_stands_for_its_flags() {
    let (_keep, folder) = pair((80, 40));
    std::fs::write(folder.join("rig.toml"), "[calibration]\nfocal_px = 100\nbaseline_m = 0.1\n").unwrap();
    let depth = |rig: &[&str]| {
        let args = ["compute", "left.png", "right.png", "-o", "out.pfm", "--depth", "z.png", "--overwrite"];
        let args = [&args[..], rig].concat();
        let output = stereopsis(&folder, &args);
        assert!(output.status.success(), "{}", text(&output.stderr));
        image::open(folder.join("z.png")).unwrap().to_luma16().get_pixel(40, 20).0[0]
    };
    let focal = 100.0 * 0.1 / 6.0 * 1000.0;
    assert!((f64::from(depth(&["--rig", "rig.toml"])) - focal).abs() < 30.0);
    assert!((f64::from(depth(&["--rig", "rig.toml", "--baseline-m", "0.2"])) - 2.0 * focal).abs() < 60.0);
    // another lens of the same cameras: 80 columns are 4 mm, so that 10 mm are 200 px
    let lens = ["--focal-mm", "10", "--sensor-width-mm", "4"];
    assert!((f64::from(depth(&[&["--rig", "rig.toml"], &lens[..]].concat())) - 2.0 * focal).abs() < 60.0);
    assert!((f64::from(depth(&[&["--baseline-m", "0.1"], &lens[..]].concat())) - 2.0 * focal).abs() < 60.0);
    std::fs::write(folder.join("mm.toml"), "[calibration]\nfocal_mm = 10\nsensor_width_mm = 4\nbaseline_m = 0.1\n")
        .unwrap();
    assert!((f64::from(depth(&["--rig", "mm.toml"])) - 2.0 * focal).abs() < 60.0);
    refused(&folder, &["compute", "left.png", "right.png", "-o", "o.pfm", "--rig", "none.toml"], 1, &["no such file"]);
    refused(&folder, &["live", "--fov-deg", "60"], 2, &["--rectify auto"]);
}

#[cfg(not(feature = "publish"))]
#[test]
fn build_without_publish_does_not_mention_it() {
    let folder = tempfile::tempdir().unwrap();
    let help = stereopsis(folder.path(), &["live", "--help"]);
    assert!(!text(&help.stdout).contains("foxglove"));
    refused(folder.path(), &["live", "--publish", "foxglove"], 2, &["--publish"]);
}

#[test]
#[cfg(target_os = "linux")]
fn libraries_print_nothing_without_a_session() {
    let folder = tempfile::tempdir().unwrap();
    let mut command = super::start::stereopsis(folder.path(), &["devices", "--gpu"]);
    for name in ["XDG_RUNTIME_DIR", "MESA_VK_DEVICE_SELECT", "NODEVICE_SELECT"] {
        command.env_remove(name);
    }
    // Mesa's layer of Vulkan looks for a compositor, where it is installed
    let said = command.output().unwrap().stderr;
    let said = String::from_utf8_lossy(&said);
    assert!(!said.contains("XDG_RUNTIME_DIR"), "{said}");
}
