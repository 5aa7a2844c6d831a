//! Runs `stereopsis calibrate` like a user.

use super::start;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

fn done(folder: &Path, args: &[&str]) -> String {
    start::printed(folder, &[&["calibrate"], args].concat())
}

fn refused(folder: &Path, args: &[&str], code: i32, words: &[&str]) {
    start::refused(folder, &[&["calibrate"], args].concat(), code, words);
}

/// Returns images of a real board, where the shared data sets are installed.
fn boards() -> Option<PathBuf> {
    let data = std::env::var_os("STEREOPSIS_DATA").map(|data| Path::new(&data).join("calib/opencv_chessboard"));
    if data.is_none() {
        eprintln!("skipped: STEREOPSIS_DATA names no data");
    }
    data
}

#[test]
fn a_board_is_printed_and_never_over_another_file() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let text = done(folder, &["--print-board", "board.pdf"]);
    assert!(text.contains("--board charuco:10x7:24mm:18mm:DICT_5X5_100 -o rig.toml"), "{text}");
    assert!(std::fs::read(folder.join("board.pdf")).unwrap().starts_with(b"%PDF-"));
    refused(folder, &["--print-board", "board.pdf"], 1, &["board.pdf"]);
    let text = done(folder, &["--print-board", "s.svg", "--kind", "chessboard", "--square-mm", "30", "--paper", "A3"]);
    assert!(text.contains("chessboard:") && text.contains("30mm"), "{text}");
    refused(folder, &["--print-board", "b.svg", "--square-mm", "90"], 1, &["A4"]);
    let target = "target_type: 'aprilgrid'\ntagCols: 6\ntagRows: 4\ntagSize: 0.028\ntagSpacing: 0.25\n";
    std::fs::write(folder.join("april.yaml"), target).unwrap();
    let text = done(folder, &["--print-board", "april.svg", "--board", "april.yaml"]);
    assert!(text.contains("--board aprilgrid:6x4:28mm:7mm -o rig.toml") && text.contains("the side of one"), "{text}");
    refused(folder, &["--print-board", "b.svg", "--board", "none.yaml"], 2, &["cannot read none.yaml"]);
    std::fs::write(folder.join("april.yaml"), "target_type: 'circlegrid'").unwrap();
    refused(
        folder,
        &["--print-board", "b.svg", "--board", "april.yaml"],
        2,
        &["april.yaml", "--print-board board.pdf"],
    );
    refused(folder, &["--print-board", "b.svg", "--board", "circles:4x11:20mm"], 2, &["print a ChArUco board instead"]);
    refused(folder, &["--print-board", "b.png"], 1, &[".pdf", ".svg"]);
}

#[test]
fn missing_arguments_are_named() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    refused(folder, &[], 2, &["what shall be calibrated?", "--print-board"]);
    let grey = image::GrayImage::from_fn(64, 48, |x, y| image::Luma([((x * 7) ^ (y * 11)) as u8]));
    for side in ["left", "right"] {
        std::fs::create_dir(folder.join(side)).unwrap();
        grey.save(folder.join(side).join("0.png")).unwrap();
    }
    refused(folder, &["."], 2, &["which board do the images show?", "--board chessboard:9x6:25mm"]);
    let board = ["--board", "chessboard:9x6:25mm"];
    refused(folder, &[".", board[0], board[1]], 1, &["no image shows the board chessboard:9x6:25mm"]);
    refused(folder, &[".", "--board", "chessboard:9x6"], 2, &["two parts behind its name"]);
    refused(folder, &[".", board[0], board[1], "-o", "rig.png"], 2, &["end it with .toml"]);
    assert!(std::fs::read_dir(folder).unwrap().count() == 2, "nothing is left behind");
}

#[test]
fn real_boards_give_a_calibration_that_the_program_reads() {
    let Some(boards) = boards() else { return };
    let folder = tempfile::tempdir().unwrap();
    let (folder, boards) = (folder.path(), boards.to_str().unwrap());
    // the squares of this set have side 1, which a user would have measured
    let board = ["--board", "chessboard:9x6:25mm"];
    let common = [boards, board[0], board[1], "--model", "pinhole", "-o", "rig.toml"];
    let text = done(folder, &common);
    assert!(text.contains("good enough for") && text.contains("26 views") || text.contains("13 views used"), "{text}");
    for file in ["opencv.yml", "ros/left.yaml", "ros/right.yaml", "report.html", "board.txt"] {
        assert!(folder.join("rig-calibration").join(file).is_file(), "{file} is missing");
    }
    let shown = start::printed(folder, &["calibration", "show", "rig.toml", "--json"]);
    let shown: serde_json::Value = serde_json::from_str(&shown).unwrap();
    // OpenCV's reference: 532.8 px and 3.328 squares
    assert!((shown["left"]["fx_px"].as_f64().unwrap() / 532.8 - 1.0).abs() < 0.005, "{shown}");
    assert!((shown["baseline_m"].as_f64().unwrap() / (3.328 * 0.025) - 1.0).abs() < 0.005, "{shown}");
    // nothing is overwritten
    refused(folder, &common, 1, &["rig.toml", "--overwrite"]);
    let text = done(folder, &["--check", "rig.toml", boards, board[0], board[1]]);
    assert!(text.contains("turned by 0.0"), "{text}");
    let wrong = ["--board", "chessboard:8x6:25mm"];
    refused(folder, &[boards, wrong[0], wrong[1]], 1, &["9x6", "8x6 named"]);
    // three views are too few, and nothing is written
    let few = folder.join("few");
    for side in ["left", "right"] {
        std::fs::create_dir_all(few.join(side)).unwrap();
        let mut files: Vec<_> =
            std::fs::read_dir(Path::new(boards).join(side)).unwrap().map(|file| file.unwrap().path()).collect();
        files.sort();
        for file in &files[..4] {
            std::fs::copy(file, few.join(side).join(file.file_name().unwrap())).unwrap();
        }
    }
    let few = ["few", board[0], board[1], "--model", "pinhole", "-o", "few.toml"];
    refused(folder, &few, 1, &["only 4 views show the board to both cameras", "it was not written"]);
    assert!(!folder.join("few.toml").exists() && !folder.join("few-calibration").exists());
    done(folder, &[&few[..], &["--force"]].concat());
    assert!(std::fs::read_to_string(folder.join("few.toml")).unwrap().contains("estimated = true"));
    // a recording with too few views gives nothing either: its views are kept apart, and all existing files stay
    let before = files(folder, "rig-calibration");
    let hold = folder.join("hold");
    std::fs::create_dir(&hold).unwrap();
    for (number, pair) in (0..20).map(|number| (number, number / 5)) {
        for side in ["left", "right"] {
            let mut files: Vec<_> =
                std::fs::read_dir(folder.join("few").join(side)).unwrap().map(|file| file.unwrap().path()).collect();
            files.sort();
            std::fs::copy(&files[pair], hold.join(format!("{side}{number:02}.jpg"))).unwrap();
        }
    }
    start::run(folder, &["record", "--source", "hold", "--rate", "30", "--streams", "raw", "-o", "few.mcap"]);
    let of_recording = ["few.mcap", board[0], board[1], "--model", "pinhole", "-o", "rig.toml", "--overwrite"];
    for _ in 0..2 {
        let kept = "the views are kept in rig-calibration/refused-views: `stereopsis calibrate";
        refused(folder, &of_recording, 1, &[kept]);
        let now = files(folder, "rig-calibration");
        assert!(now.keys().any(|path| path.starts_with("rig-calibration/refused-views/left")), "{:?}", now.keys());
        let rest: Vec<_> = now.iter().filter(|(path, _)| !path.starts_with("rig-calibration/refused-views")).collect();
        assert!(rest == before.iter().collect::<Vec<_>>(), "the earlier calibration was touched");
    }
    let beside: Vec<_> = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert!(beside.iter().all(|name| !name.to_string_lossy().contains("unsaved")), "{beside:?}");
}

/// Reads all files below a folder, by their paths in its parent.
fn files(parent: &Path, name: &str) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut found = BTreeMap::new();
    for entry in std::fs::read_dir(parent.join(name)).unwrap() {
        let name = Path::new(name).join(entry.unwrap().file_name());
        if parent.join(&name).is_dir() {
            found.extend(files(parent, name.to_str().unwrap()));
        } else {
            found.insert(name.clone(), std::fs::read(parent.join(&name)).unwrap());
        }
    }
    found
}
