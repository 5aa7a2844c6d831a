//! Tests pairs of cameras one above the other, from images to recordings and back.

use super::recording::record_scene;
use super::start::{printed, run};
use image::imageops::rotate270;
use std::path::Path;

const SETTINGS: [&str; 4] = ["--num-disparities", "24", "--engine", "cpu"];
const LENS: [&str; 4] = ["--focal-px", "86", "--baseline-m", "0.065"];

/// Writes three pairs of the scene turned clockwise, whose left image is then the upper one.
fn upright_pairs(folder: &Path) {
    record_scene(folder, "scene.mcap", 3, "raw");
    run(folder, &["export", "scene.mcap", "--to", "beside", "--what", "left,right"]);
    for (name, views) in [("left", "top"), ("right", "bottom")] {
        std::fs::create_dir_all(folder.join(format!("pairs/{views}"))).unwrap();
        for k in 0..3 {
            let picture = image::open(folder.join(format!("beside/{k:06}_{name}.png"))).unwrap();
            picture.rotate90().save(folder.join(format!("pairs/{views}/{k:06}.png"))).unwrap();
        }
    }
}

#[test]
fn vertical_maps_and_recordings_are_upright_and_match_the_turned_pair() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    upright_pairs(folder);
    let compute = |args: &[&str]| printed(folder, &[&["compute"], args, &SETTINGS, &LENS, &["--json"]].concat());
    compute(&["beside/000001_left.png", "beside/000001_right.png", "-o", "beside.png"]);
    let told = compute(&["pairs", "--vertical", "-o", "maps", "--format", "png"]);
    let told: serde_json::Value = serde_json::from_str(&told).unwrap();
    assert_eq!(told["results"][1]["geometry"]["axis"], "vertical", "{told}");
    let map = |name: &str| image::open(folder.join(name)).unwrap().to_luma16();
    let (beside, upright) = (map("beside.png"), map("maps/000001.png"));
    assert!(rotate270(&upright) == beside && upright.height() > upright.width());

    let record = ["record", "pairs", "--vertical", "--lossless", "--rate", "max", "-o", "rig.mcap"];
    run(folder, &[&record[..], &["--streams", "rectified,disparity,depth"], &SETTINGS, &LENS].concat());
    run(folder, &["export", "rig.mcap", "--to", "files", "--what", "disp-x256,calibration"]);
    assert!(map("files/000001_disp_x256.png") == upright);
    let right = std::fs::read_to_string(folder.join("files/calibration/right.yaml")).unwrap();
    assert!(right.contains("[86.0, 0.0, 31.5, 0.0, 0.0, 86.0, 47.5, -5.59"), "{right}");
    // the recording contains how the cameras stand
    run(
        folder,
        &[&["recompute", "rig.mcap", "-o", "again.mcap", "--streams", "rectified,disparity"], &SETTINGS[..]].concat(),
    );
    run(folder, &["export", "again.mcap", "--to", "again", "--what", "disp-x256"]);
    assert!(map("again/000001_disp_x256.png") == upright);
}
