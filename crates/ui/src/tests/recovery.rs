//! Failed actions lose nothing of the user's, and wrong input is diagnosed with a remedy.

use super::harness::{SIZE, Window, gpu, options, pair};
use crate::{Command, WindowOptions};
use egui::Key;
use egui_kittest::kittest::Queryable as _;
use std::path::{Path, PathBuf};
use stereopsis_base::process::memory::{Bound, FreeMemory};
use stereopsis_cpu::CpuEngine;
use stereopsis_engine::worker::EngineSource;
use stereopsis_frame::{SceneOptions, SourceOptions, SourceSpec};
use stereopsis_images::write_picture;
use stereopsis_scene::render;
use stereopsis_settings::rig::{CalibrationChoice, RectifyChoice};
use stereopsis_stereo::Preset;

/// Writes a pair of the scene with exchanged views and enough texture for matches.
fn exchanged(folder: &Path) -> SourceSpec {
    let raw = render(&SceneOptions { width: 320, height: 240, ..SceneOptions::default() }, 0, false);
    let (left, right) = (folder.join("a.png"), folder.join("b.png"));
    write_picture(&left, &raw.right).unwrap();
    write_picture(&right, &raw.left).unwrap();
    SourceSpec::Files { left, right, truth: None }
}

fn spec(window: &Window) -> SourceSpec {
    window.core().source.spec.clone()
}

#[test]
fn exchanged_sides_are_reported_and_swapped_by_the_message() {
    let Some(gpu) = gpu() else { return };
    let folder = tempfile::tempdir().unwrap();
    let source = exchanged(folder.path());
    let mut window = Window::open(&gpu, options(source.clone()));
    window.until("the diagnosis", |w| w.has("left and right look exchanged").then_some(()));
    window.click(window.harness.get_by_label("Swap left and right").rect());
    let SourceSpec::Files { left, right, .. } = source else { unreachable!() };
    let swapped = SourceSpec::Files { left: right, right: left, truth: None };
    window.until("the swap", |w| (spec(w) == swapped).then_some(()));
    window.until("the end of the diagnosis", |w| (!w.has("look exchanged")).then_some(()));
}

#[test]
fn failed_estimate_keeps_rectification_and_offers_a_remedy() {
    let Some(gpu) = gpu() else { return };
    let folder = tempfile::tempdir().unwrap();
    let saved = folder.path().join("window.toml");
    let source = exchanged(folder.path());
    let options = WindowOptions { saved_state: Some(saved.clone()), ..options(source.clone()) };
    let mut window = Window::open(&gpu, options);
    let before = window.core().rig.choice.clone();
    window.harness.key_press(Key::R);
    window.until("the rig's page", |w| w.has("Estimate from the images").then_some(()));
    window.click(window.harness.get_by_label("Estimate from the images").rect());
    window.until("the refusal", |w| w.has("left and right are swapped").then_some(()));
    assert_eq!(spec(&window), source);
    assert_eq!(window.core().rig.choice, before);
    window.core_mut().save();
    let text = std::fs::read_to_string(&saved).unwrap();
    assert!(text.contains("a.png") && !text.contains("source = \"scene\""), "{text}");
    // the message ends with its cause
    window.harness.key_press(Key::X);
    window.until("the swap", |w| (spec(w) != source).then_some(()));
    window.until("the end of the message", |w| (!w.has("left and right are swapped")).then_some(()));
    window.until("its pair", |w| w.result().filter(|output| output.job.frame.raw.name == "b"));
    window.harness.run_steps(3);
    window.click(window.harness.get_by_label("Estimate from the images").rect());
    window.until("the estimate", |w| {
        let core = w.core();
        (core.rig.choice.rectify() == RectifyChoice::Auto).then_some(())
    });
}

#[test]
fn a_source_that_cannot_be_opened_changes_nothing() {
    let Some(gpu) = gpu() else { return };
    let folder = tempfile::tempdir().unwrap();
    let source = pair(folder.path());
    let mut window = Window::open(&gpu, options(source.clone()));
    let missing = SourceSpec::Folder(PathBuf::from("no/such/folder"));
    window.execute(crate::Command::Open(missing));
    window.until("the error", |w| w.has("no/such/folder").then_some(()));
    assert_eq!(spec(&window), source);
    assert!(!window.has("built-in scene"));
}

#[test]
fn missing_source_is_kept_for_the_next_start() {
    let Some(gpu) = gpu() else { return };
    let folder = tempfile::tempdir().unwrap();
    let saved = folder.path().join("window.toml");
    let missing = SourceSpec::Folder(folder.path().join("not/yet"));
    let mut window = Window::open(&gpu, WindowOptions { saved_state: Some(saved.clone()), ..options(missing.clone()) });
    window.until("the scene", |w| w.has("the built-in scene is shown instead").then_some(()));
    window.core_mut().save();
    assert!(std::fs::read_to_string(&saved).unwrap().contains("not/yet"));
    // the message's button opens the source once it exists
    std::fs::create_dir_all(folder.path().join("not/yet")).unwrap();
    let SourceSpec::Files { left, right, .. } = pair(folder.path()) else { unreachable!() };
    std::fs::copy(left, folder.path().join("not/yet/left1.png")).unwrap();
    std::fs::copy(right, folder.path().join("not/yet/right1.png")).unwrap();
    let button = window.harness.get_all_by_label("Open again").next().expect("beside the words").rect();
    window.click(button);
    window.until("the folder", |w| (w.core().source.running == Some(missing.clone())).then_some(()));
    assert!(!window.has("built-in scene"));
}

#[test]
fn a_range_that_is_too_short_is_named_and_fitted() {
    let Some(gpu) = gpu() else { return };
    let mut options = options(SourceSpec::Scene);
    options.words[1].text = "8".into();
    options.source_options = SourceOptions { size: Some((320, 240)), ..options.source_options };
    let mut window = Window::open(&gpu, options);
    window.until("the warning", |w| w.has("end at 7 px: nearer things are cut off").then_some(()));
    window.click(window.harness.get_by_label("Widen").rect());
    window.until_computed(|params| params.num_disparities == 16);
    window.click(window.harness.get_by_label("Fit range").rect());
    window.until("what was set", |w| w.has("the search goes from").then_some(()));
    window.until("the end of the warning", |w| (!w.has("nearer things are cut off")).then_some(()));
    let truth = window.result().and_then(|output| output.job.frame.truth.clone()).expect("the scene's truth");
    let nearest = truth.left_px.pixels().iter().copied().filter(|d| d.is_finite()).fold(0.0, f32::max);
    let last = window.params().last_disparity();
    assert!(last as f32 >= nearest && (last as f32) < 3.0 * nearest, "{last} px for {nearest} px");
}

#[test]
fn a_doubtful_baseline_marks_every_depth_until_it_is_confirmed() {
    let Some(gpu) = gpu() else { return };
    let folder = tempfile::tempdir().unwrap();
    let calibration = folder.path().join("board.yml");
    std::fs::write(&calibration, BOARD_IN_SQUARES).unwrap();
    let mut options = options(pair(folder.path()));
    options.calibration.files = vec![calibration];
    let mut window = Window::open(&gpu, options);
    window.until("the doubt", |w| w.has("a baseline of 3.400 m is doubtful").then_some(()));
    assert!(window.core().title().contains("baseline doubtful"));
    let at = window.place("depth view", (0.5, 0.6));
    window.click_at(at);
    window.until("the mark", |w| w.has("m, baseline doubtful").then_some(()));
    window.click(window.harness.get_by_label("It is right").rect());
    window.until("its end", |w| (!w.has("doubtful")).then_some(()));
    assert!(!window.core().title().contains("doubtful"));
}

#[test]
fn a_baseline_typed_in_centimetres_is_doubted_until_it_is_corrected() {
    let Some(gpu) = gpu() else { return };
    let folder = tempfile::tempdir().unwrap();
    let mut options = options(pair(folder.path()));
    options.calibration.fov_deg = Some(60.0);
    options.calibration.baseline_m = Some(6.0);
    let mut window = Window::open(&gpu, options);
    window.until("the doubt", |w| w.has("a baseline of 6 m is larger than that of nearly all rigs").then_some(()));
    let choice = CalibrationChoice { baseline_m: Some(0.06), ..window.core().rig.choice.clone() };
    window.execute(Command::Calibrate(Box::new(choice)));
    window.until("its end", |w| (!w.has("nearly all rigs")).then_some(()));
}

/// Calibration file in the format of OpenCV's tools, for a board whose squares have side 1.
const BOARD_IN_SQUARES: &str = "%YAML:1.0
---
image_width: 160
image_height: 120
M1: !!opencv-matrix
   rows: 3
   cols: 3
   dt: d
   data: [ 140., 0., 79.5, 0., 140., 59.5, 0., 0., 1. ]
D1: !!opencv-matrix
   rows: 1
   cols: 5
   dt: d
   data: [ 0., 0., 0., 0., 0. ]
M2: !!opencv-matrix
   rows: 3
   cols: 3
   dt: d
   data: [ 140., 0., 79.5, 0., 140., 59.5, 0., 0., 1. ]
D2: !!opencv-matrix
   rows: 1
   cols: 5
   dt: d
   data: [ 0., 0., 0., 0., 0. ]
R: !!opencv-matrix
   rows: 3
   cols: 3
   dt: d
   data: [ 1., 0., 0., 0., 1., 0., 0., 0., 1. ]
T: !!opencv-matrix
   rows: 3
   cols: 1
   dt: d
   data: [ -3.4, 0., 0. ]
";

#[test]
fn setting_beyond_memory_keeps_the_previous_one() {
    let Some(gpu) = gpu() else { return };
    let mut window = Window::open(&gpu, options(SourceSpec::Scene));
    let before = window.params();
    let engine = CpuEngine::new(Some(1)).with_free(FreeMemory { bytes: 12_000_000, bound: Bound::Machine });
    window.core().live().set_engine(EngineSource::Ready(Box::new(engine)));
    window.until("its first result", |w| w.result()?.engine.adapter.contains("1 thread").then_some(()));
    let mut wanted = before.clone();
    Preset::Best.apply(&mut wanted);
    wanted.num_disparities = 150;
    window.execute(Command::SetParams(wanted.clone()));
    window.until("the refusal", |w| w.has("this machine has 12.0 MB of memory free").then_some(()));
    let sequence = window.sequence();
    window.until("results of the setting before", |w| (w.sequence() > sequence + 3).then_some(()));
    assert_eq!(*window.result().unwrap().job.params, before);
    assert_eq!(window.params(), wanted, "it stays the wanted one");
    window.click(window.harness.get_by_label("Half size").rect());
    window.until("half the size", |w| (w.result()?.job.frame.size() == (SIZE.0 / 2, SIZE.1 / 2)).then_some(()));
    window.until("the end of the message", |w| (!w.has("of memory free")).then_some(()));
    window.until("the wanted setting", |w| (*w.result()?.job.params != before).then_some(()));
}
