//! Recomputation and export of a recording from the window: progress, cancellation, and earlier output.

use super::harness::{Window, gpu, options};
use crate::features::conversion::{Conversion, ConversionState, ConversionStep};
use egui::accesskit::Role;
use egui::{Key, Modifiers};
use egui_kittest::kittest::{NodeT as _, Queryable as _};
use std::path::Path;
use stereopsis_frame::SourceSpec;
use stereopsis_recording::fixture::{SIZE, ours_with_depth};
use stereopsis_recording::{Format, Recording, topic};

const PAIRS: u64 = 24;

/// Opens a window on the held first pair of a recording, in which every fifth pair from the third one on has depth.
fn on_recording(path: &Path) -> Option<Window> {
    let gpu = gpu()?;
    std::fs::write(path, ours_with_depth(Format::Ros2, PAIRS, |k| k % 5 == 2)).unwrap();
    let mut options = options(SourceSpec::Recording(path.to_owned()));
    options.source_options.watched = true;
    options.calibration.fov_deg = Some(60.0);
    options.calibration.baseline_m = Some(0.065);
    let mut window = Window::open(&gpu, options);
    window.until("the search", |w| {
        let transport = w.core().live().transport()?;
        transport.get().recorded.filter(|recorded| recorded.len() as u64 == PAIRS).map(drop)
    });
    Some(window)
}

fn open_page(window: &mut Window) {
    window.harness.key_press(Key::E);
    window.until("what is in it", |w| w.has("New recording").then_some(()));
}

fn press(window: &mut Window, label: &str) {
    window.harness.get_by_role_and_label(Role::Button, label).scroll_to_me();
    window.harness.run_steps(3);
    window.click(window.harness.get_by_role_and_label(Role::Button, label).rect());
    window.harness.run_steps(2);
}

#[test]
fn pairs_with_recorded_depth_are_marked_and_gone_to() {
    let folder = tempfile::tempdir().unwrap();
    let Some(mut window) = on_recording(&folder.path().join("walk.mcap")) else { return };
    window.harness.key_press(Key::Home);
    window.harness.key_press(Key::Space);
    window.still_sequence();
    window.harness.key_press(Key::Home);
    window.until("the first pair", |w| (w.sequence() == 0).then_some(()));
    for pair in [2, 7, 12] {
        window.harness.key_press_modifiers(Modifiers::COMMAND, Key::ArrowRight);
        window.until("recorded depth", |w| (w.sequence() == pair).then_some(()));
    }
    window.click(window.harness.get_by_label("Back to recorded depth").rect());
    window.until("recorded depth before", |w| (w.sequence() == 7).then_some(()));
    assert!(window.core().live().is_paused());
    window.harness.key_press(Key::Home);
    window.until("the first pair", |w| (w.sequence() == 0).then_some(()));
    window.harness.key_press_modifiers(Modifiers::COMMAND, Key::ArrowLeft);
    window.until("why nothing happens", |w| w.has("no pair before this one has recorded depth").then_some(()));

    // ticks: five of 24 places have the colour of a mark
    window.harness.remove_cursor();
    window.harness.run_steps(3);
    let mark = window.harness.ctx.global_style().visuals.hyperlink_color;
    let rect = window.harness.get_by_role_and_label(Role::Slider, "Position").rect();
    let picture = window.harness.render().expect("an image");
    let row = rect.bottom() as u32 - 2;
    let is_marked = |x: u32| picture.get_pixel(x, row).0[..3] == mark.to_array()[..3];
    let marked: Vec<bool> = (rect.left() as u32..rect.right() as u32).map(is_marked).collect();
    let runs = marked.chunk_by(|a, b| a == b).filter(|run| run[0]).count();
    assert_eq!(runs, 5, "{marked:?}");
}

#[test]
fn recomputation_is_stopped_and_resumed() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("walk.mcap");
    let Some(mut window) = on_recording(&path) else { return };
    let before = std::fs::read(&path).unwrap();
    open_page(&mut window);
    assert!(window.has("24 pairs, raw and depth, less than"), "what is written, and how large");
    window.execute(ConversionStep::Convert(Conversion::Recompute).into());
    window.execute(ConversionStep::Stop.into());
    window.until("its end", |w| w.has("stopped after").then_some(()));
    let new = folder.path().join("walk-again.mcap");
    let part = folder.path().join("walk-again.mcap.part");
    assert!(part.exists() && !new.exists());
    press(&mut window, "Compute again");
    window.until("the new recording", |w| w.has("24 pairs, 24 results → ").then_some(()));
    assert!(!part.exists());
    assert_eq!(std::fs::read(&path).unwrap(), before, "what was recorded stays");
    let recording = Recording::open(&new).unwrap();
    assert_eq!((recording.pairs().len() as u64, recording.len(topic::DEPTH)), (PAIRS, PAIRS));
    window.until("the next name", |w| {
        w.feature::<ConversionState>().choices.recording.ends_with("_2.mcap").then_some(())
    });
    window.until("its button", |w| w.has("Open it").then_some(()));
    window.click(window.harness.get_by_label("Open it").rect());
    window.until("the new recording", |w| (w.core().live().status().source.name == "walk-again").then_some(()));
}

#[test]
fn export_writes_chosen_parts_and_names_missing_ones() {
    let folder = tempfile::tempdir().unwrap();
    let Some(mut window) = on_recording(&folder.path().join("walk.mcap")) else { return };
    open_page(&mut window);
    let is_off =
        |w: &Window, part: &str| w.harness.get_by_role_and_label(Role::CheckBox, part).accesskit_node().is_disabled();
    assert!(is_off(&window, "pfm") && !is_off(&window, "depth-mm"), "there is depth and no disparity");
    for part in ["right", "csv", "json"] {
        press_box(&mut window, part);
    }
    window.feature_mut::<ConversionState>().choices.pairs = (2, 7);
    press(&mut window, "Export");
    window.until("the files", |w| w.has("6 pairs → ").then_some(()));
    let mut names: Vec<_> = std::fs::read_dir(folder.path().join("walk-export"))
        .unwrap()
        .map(|file| file.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    let left: Vec<_> = (2..8).map(|k| format!("{k:06}_left.png")).collect();
    assert!(left.iter().all(|name| names.contains(name)), "{names:?}");
    assert!(names.contains(&"000007_depth_mm.png".to_owned()) && !names.contains(&"000003_depth_mm.png".to_owned()));
    assert!(!names.iter().any(|name| name.ends_with("right.png") || name.ends_with("csv")), "{names:?}");
    let size = image::image_dimensions(folder.path().join("walk-export/000002_left.png")).unwrap();
    assert_eq!(size, (SIZE.0 as u32, SIZE.1 as u32));

    // folder with other content
    let other = folder.path().join("mine");
    std::fs::create_dir(&other).unwrap();
    std::fs::write(other.join("notes.txt"), "mine").unwrap();
    window.until("the next name", |w| w.feature::<ConversionState>().choices.folder.ends_with("_2").then_some(()));
    window.feature_mut::<ConversionState>().choices.folder = other.display().to_string();
    press(&mut window, "Export");
    window.until("why not", |w| w.has("holds something already, and nothing is overwritten").then_some(()));
    assert_eq!(std::fs::read_dir(&other).unwrap().count(), 1);
}

fn press_box(window: &mut Window, label: &str) {
    window.harness.get_by_role_and_label(Role::CheckBox, label).scroll_to_me();
    window.harness.run_steps(3);
    window.click(window.harness.get_by_role_and_label(Role::CheckBox, label).rect());
    window.harness.run_steps(2);
}

#[test]
fn without_a_recording_the_page_says_how_to_get_one() {
    let Some(mut window) = Window::on_scene() else { return };
    window.harness.key_press(Key::E);
    window.until("the way to one", |w| w.has("There is no recording open").then_some(()));
    assert!(!window.has("Compute again"));
}
