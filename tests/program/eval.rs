//! Runs `stereopsis eval` like a user: on tiny pairs with truth, on the built-in scene, and on a recording of it.

use super::start::{printed, refused, run};
use serde_json::Value;
use std::fs;
use std::path::Path;

const ON_CPU: [&str; 2] = ["--engine", "cpu"];

/// Creates `scenes` with two pairs whose true disparity is 6 px, one in the layout of Middlebury 2014, one in that of KITTI 2015.
fn scenes(folder: &Path) {
    let (width, height) = (64, 32);
    let mut random = fastrand::Rng::with_seed(3);
    let texture: Vec<u8> = (0..(width + 6) * height).map(|_| random.u8(..)).collect();
    let view = |offset: u32| {
        image::GrayImage::from_fn(width, height, |x, y| image::Luma([texture[(y * (width + 6) + x + offset) as usize]]))
    };
    let place = |path: &str| {
        let path = folder.join("scenes").join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        path
    };
    for (left, right) in [("a/im0.png", "a/im1.png"), ("k/image_2/000000_10.png", "k/image_3/000000_10.png")] {
        view(0).save(place(left)).unwrap();
        view(6).save(place(right)).unwrap();
    }
    let pixels: Vec<u8> = (0..width * height).flat_map(|_| 6.0_f32.to_le_bytes()).collect();
    fs::write(place("a/disp0.pfm"), [format!("Pf\n{width} {height}\n-1\n").as_bytes(), &pixels].concat()).unwrap();
    // the left half is visible
    for (name, visible) in [("disp_occ_0", width), ("disp_noc_0", width / 2)] {
        let truth = |x, _| image::Luma([if x < visible { 6 * 256_u16 } else { 0 }]);
        let picture = image::ImageBuffer::from_fn(width, height, truth);
        picture.save(place(&format!("k/{name}/000000_10.png"))).unwrap();
    }
}

fn eval(folder: &Path, args: &[&str]) -> String {
    printed(folder, &[&["eval"], args, &ON_CPU].concat())
}

fn json(folder: &Path, args: &[&str]) -> Value {
    let text = eval(folder, &[args, &["--json"]].concat());
    serde_json::from_str(&text).unwrap_or_else(|err| panic!("{args:?}: {err}: {text}"))
}

#[test]
fn pairs_with_truth_have_figures_tables_and_pictures() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    scenes(folder);
    let more = ["--csv", "all.csv", "--errors", "errors", "--maps", "maps"];
    let text = eval(folder, &[&["scenes"], &more[..]].concat());
    for words in ["2 pairs with truth", "bad-0.5", "A99", "Middlebury 2014", "KITTI 2015", "nonocc", "mean of 2 pairs"]
    {
        assert!(text.contains(words), "no '{words}': {text}");
    }
    let found = json(folder, &["scenes"]);
    let results = found["results"].as_array().unwrap();
    let names: Vec<_> = results.iter().map(|result| result["scene"].as_str().unwrap()).collect();
    assert_eq!(names, ["a", "k/000000_10"]);
    let all = &results[0]["regions"]["all"];
    assert_eq!((&all["pixels"], &results[0]["size"]), (&(64 * 32).into(), &serde_json::json!([64, 32])));
    assert_eq!(results[0]["parameters"]["num-disparities"], 7, "one more than the largest true one: {}", results[0]);
    // the first 6 columns have no partner, and the rest has a texture like no other
    let density = all["density_percent"].as_f64().unwrap();
    assert!((80.0..=100.0 * 58.0 / 64.0).contains(&density), "{all}");
    assert!((all["bad_2_percent"].as_f64().unwrap() - (100.0 - density)).abs() < 1e-9, "holes are bad: {all}");
    assert!(all["badv_1_percent"].as_f64().unwrap() < 1e-9 && all["a99_px"].as_f64().unwrap() < 0.5, "{all}");
    assert_eq!(results[1]["regions"]["nonocc"]["pixels"], 32 * 32);
    assert!(results[0]["regions"]["nonocc"].is_null(), "nothing tells what is hidden there");
    let mean = &found["means"][0]["regions"];
    assert_eq!((&mean["all"]["pairs"], &mean["nonocc"]["pairs"]), (&2.into(), &1.into()));

    let table = fs::read_to_string(folder.join("all.csv")).unwrap();
    let lines: Vec<_> = table.lines().collect();
    assert!(lines[0].starts_with("scene,layout,setting,region,pixels,bad_05_percent,"), "{table}");
    assert!(lines[1].starts_with("a,\"Middlebury 2014, 2021\",present,all,2048,"), "{table}");
    assert_eq!(lines.len(), 1 + 3 + 2, "{table}");
    assert!(lines.iter().all(|line| line.replace(", ", " ").split(',').count() == 20), "{table}");

    let errors = image::open(folder.join("errors/a-present.png")).unwrap().to_rgb8();
    assert_eq!(errors.get_pixel(1, 16).0, [255; 3], "no disparity");
    let [red, _, blue] = errors.get_pixel(40, 16).0;
    assert!(blue > red, "exact");
    assert!(folder.join("errors/k-000000_10-present.png").exists() && folder.join("maps/a-present.pfm").exists());
    refused(
        folder,
        &["eval", "scenes", "--errors", "errors", "--engine", "cpu"],
        1,
        &["a-present.png exists", "--overwrite"],
    );
    refused(folder, &["eval", "scenes", "--csv", "all.csv"], 1, &["all.csv exists", "--overwrite"]);
    run(folder, &[&["eval", "scenes", "--overwrite"], &more[..], &ON_CPU].concat());
}

#[test]
fn settings_stand_side_by_side_with_their_differences() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    scenes(folder);
    fs::write(folder.join("filled.toml"), "fill = \"interpolate\"\n").unwrap();
    let found = json(folder, &["scenes/a", "--compare", "filled.toml"]);
    assert_eq!(found["settings"], serde_json::json!(["present", "filled"]));
    let [present, filled] = [&found["results"][0], &found["results"][1]];
    assert!(present["differences"].is_null());
    let of = |result: &Value, name: &str| result["regions"]["all"][name].as_f64().unwrap();
    assert!((of(filled, "density_percent") - 100.0).abs() < 1e-9, "filled pixels are judged: {filled}");
    let gain = of(filled, "bad_1_percent") - of(present, "bad_1_percent");
    assert!(gain < -5.0, "{found}");
    assert!((filled["differences"]["all"]["bad_1_percent"].as_f64().unwrap() - gain).abs() < 1e-9, "{filled}");
    let text = eval(folder, &["scenes", "--presets", "fast,balanced", "--region", "nonocc"]);
    assert!(text.contains("fast") && text.contains("balanced") && text.contains("+0.00"), "{text}");
    assert!(
        !text.contains(" all ") && text.contains("1 pair with truth"),
        "the pair of 2014 has no such region: {text}"
    );
    refused(folder, &["eval", "scenes", "--presets", "fast,quick"], 2, &["quick", "no such preset"]);
    refused(folder, &["eval", "scenes", "--presets", "fast", "--preset", "fast"], 2, &["--preset"]);
}

#[test]
fn the_scene_and_its_recordings_have_the_same_truth() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let record = ["record", "--lossless", "--size", "96x72", "--frames", "2", "--scene-seed", "5", "-o"];
    run(folder, &[&record[..], &["walk.mcap", "--num-disparities", "16"], &ON_CPU].concat());
    let scene = ["--size", "96x72", "--scene-seed", "5", "--frames", "1"];
    let [by_scene, recorded] = ["scene", "walk.mcap"].map(|input| json(folder, &[&[input], &scene[..]].concat()));
    let [by_scene, recorded] = [&by_scene["results"][0], &recorded["results"][0]];
    assert_eq!(by_scene["regions"], recorded["regions"]);
    assert!(by_scene["regions"]["nonocc"]["bad_2_percent"].as_f64().unwrap() < 40.0, "{by_scene}");
    assert_eq!((&by_scene["scene"], &recorded["scene"]), (&"scene-000000".into(), &"walk/scene-000000".into()));
    let all = json(folder, &["walk.mcap", "--scene-seed", "5"]);
    assert_eq!(all["results"].as_array().unwrap().len(), 2);
    refused(folder, &["eval", "walk.mcap"], 1, &["walk.mcap", "not what the built-in scene shows", "--scene-seed"]);
}

#[test]
fn pairs_without_truth_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    run(folder, &["bench", "--write-pairs", ".", "--size", "96x72", "--frames", "1", "--num-disparities", "8"]);
    refused(folder, &["eval", "96x72"], 1, &["96x72 has no pair with truth", "KITTI 2015", "meta.json"]);
    refused(folder, &["eval", "gone"], 2, &["gone", "there is no such file"]);
    refused(folder, &["eval", "96x72/left0.png"], 2, &["left0.png", "no truth", "a folder of pairs with truth"]);
    refused(folder, &["eval", "webcam:0,1"], 2, &["webcam:0,1", "no truth"]);
    let record = ["record", "96x72", "--lossless", "-o", "pairs.mcap", "--num-disparities", "8", "--once"];
    run(folder, &[&record[..], &ON_CPU].concat());
    refused(folder, &["eval", "pairs.mcap"], 1, &["pairs.mcap has no truth", "built-in scene"]);
    refused(folder, &["eval", "--near-m", "1"], 2, &["--near-m", "--num-disparities"]);
    refused(
        folder,
        &["eval", "--size", "96x72", "--frames", "1", "--region", "disc", "--engine", "cpu"],
        2,
        &["--region disc"],
    );
}
