//! Live calibration in the window: a board is typed, detected and taken as views, and a view is deleted.

use super::harness::{Window, gpu, options};
use crate::WindowOptions;
use egui::accesskit::{Role, Toggled};
use egui::{Key, Modifiers};
use egui_kittest::kittest::{NodeT as _, Queryable as _};
use glam::{DMat3, DVec3};
use std::path::Path;
use std::time::{Duration, Instant};
use stereopsis_base::image::{Luma, Picture};
use stereopsis_calibrate::fixture::{BoardRenderer, ImagingConditions, random_pose, random_rig};
use stereopsis_calibrate::{Board, Pose};
use stereopsis_frame::SourceSpec;
use stereopsis_images::write_picture;

const BOARD: &str = "charuco:7x5:30mm:22mm:DICT_5X5_100";

/// Writes a pair in which both cameras see a board.
fn board_pair(folder: &Path) -> SourceSpec {
    let board: Board = BOARD.parse().unwrap();
    let rig = random_rig(5);
    // board as wide as half of the image
    let distance_m = rig.left.fx * 0.21 / 320.0;
    let pose = Pose { rotation: DMat3::from_rotation_y(0.3), translation_m: DVec3::new(-0.04, -0.05, distance_m) };
    let [left, right] = BoardRenderer::new(&rig).pair(&board, &pose, &ImagingConditions::usual(1));
    let paths = ["left.png", "right.png"].map(|name| folder.join(name));
    for (path, image) in paths.iter().zip([left, right]) {
        write_picture(path, &Picture { luma: Luma::U8(image), rgb: None }).unwrap();
    }
    let [left, right] = paths;
    SourceSpec::Files { left, right, truth: None }
}

fn on_page(options: WindowOptions) -> Option<Window> {
    let mut window = Window::open(&gpu()?, options);
    window.harness.key_press(Key::B);
    window.until("the page", |w| w.has("1 Board").then_some(()));
    Some(window)
}

fn type_board(window: &mut Window, words: &str) {
    window.harness.get_by_role_and_label(Role::TextInput, "Board").focus();
    window.harness.run_steps(2);
    window.harness.key_press_modifiers(Modifiers::COMMAND, Key::A);
    window.harness.step();
    window.harness.get_by_role_and_label(Role::TextInput, "Board").type_text(words);
    window.harness.run_steps(3);
}

fn click(window: &mut Window, label: &str) {
    window.harness.get_by_label(label).scroll_to_me();
    window.harness.run_steps(4);
    window.click(window.harness.get_by_label(label).rect());
    window.harness.run_steps(2);
}

fn view_count(window: &Window) -> usize {
    let core = window.core();
    let Some(running) = &core.guide.running else { return 0 };
    running.count()
}

#[test]
fn a_board_is_typed_looked_at_and_taken_and_its_view_deleted() {
    let folder = tempfile::tempdir().unwrap();
    let Some(mut window) = on_page(options(board_pair(folder.path()))) else { return };
    type_board(&mut window, "charuco:7x5:30mm:31mm:DICT_5X5_100");
    assert!(window.has("does not fit into a square"), "why it is no board");
    assert!(!window.is_enabled("Start"));
    type_board(&mut window, BOARD);
    assert!(window.has("7 squares across, 5 down, of 30 mm"));
    window.click(window.harness.get_by_label("Start").rect());
    window.until("the raw images", |w| w.has("left, raw · 24 corners of the board").then_some(()));
    assert!(!window.has("depth view"), "they stand in place of the views");
    assert!(window.has("Next: hold the board"));

    // views by Space alone
    window.click(window.harness.get_by_role_and_label(Role::CheckBox, "by itself").rect());
    // the calibration may still examine and take a pair before the setting reaches it
    window.until("no automatic", |w| {
        let core = w.core();
        let running = core.guide.running.as_ref()?;
        (!running.progress.is_automatic).then_some(())
    });
    window.harness.run_steps(3);
    let check = window.harness.get_by_role_and_label(Role::CheckBox, "by itself");
    assert_eq!(check.accesskit_node().toggled(), Some(Toggled::False));
    let before = view_count(&window);
    window.harness.key_press(Key::Space);
    let count = before + 1;
    window.until("the notice", |w| w.has(&format!("View {count} taken")).then_some(()));
    assert!(!window.core().live().is_paused(), "Space takes a view instead");
    window.until("the count", |w| w.has(&format!("{} to go at least", 8 - count)).then_some(()));
    window.click(window.harness.get_by_label("Delete view 001").rect());
    window.until("no such view", |w| (!w.has("Delete view 001")).then_some(()));
    window.until("one view less", |w| (view_count(w) == count - 1).then_some(()));
}

#[test]
fn calibration_views_stay_until_discarded() {
    let folder = tempfile::tempdir().unwrap();
    let Some(mut window) = on_page(options(board_pair(folder.path()))) else { return };
    type_board(&mut window, BOARD);
    window.click(window.harness.get_by_label("Start").rect());
    window.until("a view that is taken by itself", |w| w.has("Delete view 001").then_some(()));
    window.harness.key_press(Key::Escape);
    window.until("the views", |w| w.has("left view").then_some(()));
    window.harness.key_press(Key::B);
    window.until("the raw images again", |w| w.has("left, raw").then_some(()));
    window.click(window.harness.get_by_label("Stop").rect());
    window.until("the question", |w| w.has("Discard 1 view?").then_some(()));
    assert!(window.has("left view") && window.is_enabled("Go on"));

    window.drop_files(&[folder.path().join("right.png"), folder.path().join("left.png")]);
    window.until("the end", |w| w.has("the calibration has ended: the source was changed").then_some(()));
    assert!(!window.has("Go on"));
    window.click(window.harness.get_by_label("Discard 1 view?").rect());
    window.until("a new start", |w| w.is_enabled("Start").then_some(()));
}

/// Returns whether all views are in the solution.
fn is_solved(window: &Window) -> bool {
    let core = window.core();
    let Some(running) = &core.guide.running else { return false };
    running.progress.outcome.is_some() && !running.progress.is_solving
}

/// Writes pairs of the board in nine places as a folder.
fn board_folder(folder: &Path) -> SourceSpec {
    let board: Board = BOARD.parse().unwrap();
    let (rig, mut rng) = (random_rig(5), fastrand::Rng::with_seed(4));
    let studio = BoardRenderer::new(&rig);
    for number in 0..9 {
        let pictures = studio.pair(&board, &random_pose(&rig, &board, &mut rng), &ImagingConditions::usual(number));
        for (side, image) in ["left", "right"].into_iter().zip(pictures) {
            std::fs::create_dir_all(folder.join(side)).unwrap();
            let path = folder.join(side).join(format!("{number}.png"));
            write_picture(&path, &Picture { luma: Luma::U8(image), rgb: None }).unwrap();
        }
    }
    SourceSpec::Folder(folder.to_owned())
}

#[test]
fn calibration_is_saved_used_and_replaced_only_on_consent() {
    let folder = tempfile::tempdir().unwrap();
    let spec = board_folder(&folder.path().join("pairs"));
    let place = folder.path().join("rigs");
    std::fs::create_dir(&place).unwrap();
    std::fs::write(place.join("mine.toml"), "kept").unwrap();
    let Some(mut window) = on_page(WindowOptions { folder: place.clone(), ..options(spec) }) else { return };
    type_board(&mut window, BOARD);
    window.click(window.harness.get_by_label("Start").rect());
    // a folder is held at its start, and each pair is examined until a view is taken
    for count in 1..=9 {
        window.until("a view", |w| (view_count(w) >= count).then_some(()));
        window.harness.key_press(Key::ArrowRight);
        window.harness.run_steps(3);
    }
    // takes minutes beside other tests
    let end = Instant::now() + Duration::from_mins(5);
    while !is_solved(&window) {
        assert!(Instant::now() < end, "no result");
        window.harness.step();
        std::thread::sleep(Duration::from_millis(20));
    }
    assert!(window.keeps_open(), "closed now, the views would be lost");
    window.until("the question", |w| w.has("9 views of the board would be lost").then_some(()));
    window.core_mut().guide.running.as_mut().unwrap().taken_at = Some(Instant::now());
    window.harness.step();
    assert!(!window.keeps_open(), "a second time it closes, however soon after the last view");
    let save = if window.has("Save and use") { "Save and use" } else { "Save as doubtful" };
    window.core_mut().guide.save_as = "mine.toml".to_owned();
    window.until("the button", |w| w.has(save).then_some(()));
    click(&mut window, save);
    window.until("the question", |w| w.has("mine.toml exists. Replace it, and what belongs to it?").then_some(()));
    assert_eq!(std::fs::read_to_string(place.join("mine.toml")).unwrap(), "kept");
    click(&mut window, "Keep");
    window.until("no question", |w| w.has(save).then_some(()));
    click(&mut window, save);
    window.until("the question again", |w| w.has("Replace").then_some(()));
    click(&mut window, "Replace");
    window.until("the file", |w| w.has("calibration written: ").then_some(()));
    let text = std::fs::read_to_string(place.join("mine.toml")).unwrap();
    assert!(text.contains("[left]") || text.contains("left"), "{text}");
    for file in ["report.html", "opencv.yml", "views/left/001.png", "views/right/009.png", "views/board.txt"] {
        assert!(place.join("mine-calibration").join(file).is_file(), "{file} is missing");
    }
    assert!(!window.keeps_open(), "nothing would be lost");
    // the calibration is in force: depth is in metres
    window.until("metres", |w| {
        let core = w.core();
        core.output()?.job.frame.geometry.filter(|geometry| geometry.baseline_m > 0.03).map(drop)
    });
}
