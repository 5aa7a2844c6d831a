//! Recording from the window: button, menu of streams and folder, and events that end a recording.

use super::harness::{Window, gpu, options, pair};
use crate::core::recording::commands::finish;
use crate::{Command, WindowOptions};
use egui::accesskit::Role;
use egui::{Key, Modifiers};
use egui_kittest::kittest::{NodeT as _, Queryable as _};
use std::path::{Path, PathBuf};
use stereopsis_frame::SourceSpec;
use stereopsis_recording::{Recording, Stream, topic};
use stereopsis_stereo::Preset;

/// Opens a window on the scene that records into this folder.
fn recording_into(folder: &Path) -> Option<Window> {
    let options = WindowOptions { folder: folder.to_owned(), ..options(SourceSpec::Scene) };
    Some(Window::open(&gpu()?, options))
}

fn files(folder: &Path) -> Vec<PathBuf> {
    let files = std::fs::read_dir(folder).unwrap().map(|file| file.unwrap().path());
    files.filter(|path| path.extension().is_some_and(|ending| ending == "mcap")).collect()
}

/// Returns the only file, which must be complete.
fn complete_recording(folder: &Path) -> Recording {
    let files = files(folder);
    assert_eq!(files.len(), 1, "{files:?}");
    let recording = Recording::open(&files[0]).unwrap();
    assert_eq!(recording.damage(), None);
    recording
}

/// Starts a recording in a window, or returns `None` without a GPU.
fn begun_in(folder: &Path) -> Option<Window> {
    let mut window = recording_into(folder)?;
    window.click(window.harness.get_by_label("Record").rect());
    begun(&mut window);
    Some(window)
}

/// Waits for the start of the recording and for some more results.
fn begun(window: &mut Window) {
    window.until("the recording", |w| w.has("Stop recording").then_some(()));
    // the first result may belong to a pair from before the start
    for _ in 0..4 {
        let before = window.sequence();
        window.until("another result", |w| (w.sequence() != before).then_some(()));
    }
}

/// Returns whether the question about the end of the recording is shown.
fn asks(window: &Window) -> Option<()> {
    window.has("Keep recording").then_some(())
}

fn end_and_switch(window: &mut Window) {
    window.click(window.harness.get_by_label("End the recording and switch").rect());
    window.harness.run_steps(2);
}

/// Waits until the question is gone and more pairs are recorded.
fn goes_on(window: &mut Window) {
    let recorded = |w: &Window| {
        let core = w.core();
        core.recording.running().map(|status| status.counters.pairs)
    };
    window.until("the answer", |w| asks(w).is_none().then_some(()));
    let before = recorded(window).unwrap();
    window.until("more pairs", |w| recorded(w).filter(|&pairs| pairs > before));
}

fn menu(window: &mut Window) {
    window.click(window.harness.get_by_label("What is recorded").rect());
    window.harness.run_steps(3);
}

#[test]
fn one_click_records_and_another_ends_it() {
    let folder = tempfile::tempdir().unwrap();
    let Some(mut window) = begun_in(folder.path()) else { return };
    window.focus_slider("P1");
    window.harness.key_press(Key::ArrowRight);
    let p1 = window.params().p1;
    window.until_computed(|params| params.p1 > p1.min(14));
    window.click(window.harness.get_by_label("Stop recording").rect());
    window.until("the end", |w| w.has(&folder.path().display().to_string()).then_some(()));
    window.until("the button as before", |w| w.is_enabled("Record").then_some(()));
    let recording = complete_recording(folder.path());
    let about = recording.about().unwrap();
    assert_eq!((about.source.as_str(), about.streams.has(Stream::Depth)), ("scene", true));
    assert!(recording.pairs().len() >= 3, "{} pairs", recording.pairs().len());
    assert!(recording.len(topic::PARAMETERS) >= 2, "the changed P1 is noted");
}

#[test]
fn notice_opens_the_recording_with_its_depth() {
    let folder = tempfile::tempdir().unwrap();
    let Some(mut window) = begun_in(folder.path()) else { return };
    window.click(window.harness.get_by_label("Stop recording").rect());
    window.until("the notice", |w| w.has("Open it").then_some(()));
    window.click(window.harness.get_by_label("Open it").rect());
    window.until("the time line", |w| w.has("Position").then_some(()));
    window.until("a pair of the file", |w| {
        let info = w.core().live().status().source;
        (info.name.starts_with("stereopsis_") && w.result().is_some()).then_some(())
    });
    window.harness.key_press(Key::Num6);
    window.harness.key_press(Key::Space);
    window.still_sequence();
    // pairs during a slow match have no result
    let recorded = (0..).find_map(|pair| {
        window.harness.key_press(if pair == 0 { Key::Home } else { Key::ArrowRight });
        window.until("the pair", |w| (w.sequence() == pair).then_some(()));
        window.result()?.job.frame.raw.recorded.clone()
    });
    let recorded = recorded.expect("recorded depth");
    let depth = recorded.depth_m.as_ref().unwrap();
    assert!(depth.pixels().iter().filter(|z| z.is_finite()).count() > depth.pixels().len() / 2);
    window.until("its view", |w| (w.has("recorded view") && !w.has("No recorded depth")).then_some(()));
}

#[test]
fn recording_ends_for_another_source_after_consent() {
    let folder = tempfile::tempdir().unwrap();
    let Some(mut window) = recording_into(folder.path()) else { return };
    window.harness.key_press_modifiers(Modifiers::SHIFT, Key::R);
    begun(&mut window);
    assert!(!window.has("Estimate from the images"), "R alone is another key");
    let SourceSpec::Files { left, right, .. } = pair(folder.path()) else { panic!("two files") };
    window.drop_files(&[left.clone(), right.clone()]);
    window.until("the question", |w| w.has("right.png would be another").then_some(()));
    window.harness.key_press(Key::Escape);
    goes_on(&mut window);
    assert_eq!(window.core().live().status().source.name, "scene");
    window.drop_files(&[left, right]);
    window.until("the question", |w| asks(w));
    end_and_switch(&mut window);
    window.until("why it ended", |w| w.has("the source was changed").then_some(()));
    assert!(!complete_recording(folder.path()).pairs().is_empty());
    window.until("the other source", |w| (w.core().live().status().source.name == "left").then_some(()));
    assert!(window.is_enabled("Record"));
}

#[test]
fn swap_asks_before_it_ends_a_recording_with_depth() {
    let folder = tempfile::tempdir().unwrap();
    let Some(mut window) = recording_into(folder.path()) else { return };
    let is_swapped = |w: &Window| w.core().live().preparation().swapped;
    window.harness.key_press_modifiers(Modifiers::SHIFT, Key::R);
    begun(&mut window);
    for answer in [Key::Escape, Key::Enter, Key::Space] {
        window.harness.key_press(Key::X);
        window.until("the question", |w| asks(w));
        // keys are answers during the question, and the same key is not an answer
        for key in [Key::X, Key::R, Key::S] {
            window.harness.key_press(key);
            window.harness.run_steps(2);
        }
        window.harness.key_press_modifiers(Modifiers::SHIFT, Key::R);
        window.harness.run_steps(2);
        assert!(asks(&window).is_some() && !window.has("Estimate from the images"), "{answer:?}");
        window.harness.key_press(answer);
        goes_on(&mut window);
        assert!(!is_swapped(&window), "{answer:?}");
    }
    window.harness.key_press(Key::X);
    window.until("the question", |w| asks(w));
    window.harness.key_press(Key::Tab);
    window.harness.run_steps(2);
    window.harness.key_press(Key::Enter);
    window.until("the exchange", |w| is_swapped(w).then_some(()));
    window.until("why it ended", |w| w.has("calibration or working size was changed").then_some(()));
    assert!(!complete_recording(folder.path()).pairs().is_empty());
}

#[test]
fn raw_recording_continues_through_swap_and_preset() {
    let folder = tempfile::tempdir().unwrap();
    let Some(mut window) = recording_into(folder.path()) else { return };
    menu(&mut window);
    window.click(window.harness.get_by_role_and_label(Role::CheckBox, "depth").rect());
    window.harness.run_steps(2);
    window.harness.key_press(Key::Escape);
    window.harness.run_steps(2);
    window.harness.key_press_modifiers(Modifiers::SHIFT, Key::R);
    begun(&mut window);
    window.harness.key_press(Key::X);
    window.until("the exchange", |w| w.core().live().preparation().swapped.then_some(()));
    assert!(asks(&window).is_none());
    window.execute(Command::SetPreset(Preset::Fast));
    goes_on(&mut window);
    window.click(window.harness.get_by_label("Stop recording").rect());
    window.until("the end", |w| w.has("recorded raw into").then_some(()));
    let mut recording = complete_recording(folder.path());
    let numbers: Vec<_> =
        (0..recording.len(topic::PAIRS)).map(|pair| recording.packet(topic::PAIRS, pair).unwrap().sequence).collect();
    assert!(numbers.windows(2).all(|pair| pair[1] == pair[0] + 1), "no pair is missing: {numbers:?}");
    assert!(!recording.about().unwrap().calibration.swapped, "as at the beginning");
    assert!(recording.len(topic::PARAMETERS) >= 2 && recording.len(topic::EVENTS) >= 2);
}

#[test]
fn question_ends_with_the_recording_and_the_change_is_made() {
    let folder = tempfile::tempdir().unwrap();
    let Some(mut window) = begun_in(folder.path()) else { return };
    window.harness.key_press(Key::X);
    window.until("the question", |w| asks(w));
    // as after a full disk
    window.core().recording.recorder().unwrap().close();
    window.until("the exchange", |w| w.core().live().preparation().swapped.then_some(()));
    assert!(asks(&window).is_none());
    assert!(!complete_recording(folder.path()).pairs().is_empty());
}

#[test]
fn a_window_that_is_closed_during_the_question_leaves_a_whole_file() {
    let folder = tempfile::tempdir().unwrap();
    let Some(mut window) = begun_in(folder.path()) else { return };
    window.harness.key_press(Key::X);
    window.until("the question", |w| asks(w));
    finish(&mut window.core_mut()).unwrap().unwrap();
    assert!(!complete_recording(folder.path()).pairs().is_empty());
}

#[test]
fn letters_belong_to_an_open_menu() {
    let Some(mut window) = Window::on_scene() else { return };
    menu(&mut window);
    for key in [Key::X, Key::R, Key::Z, Key::H, Key::Num6, Key::Space] {
        window.harness.key_press(key);
        window.harness.run_steps(2);
    }
    assert!(window.has("compressed") && window.has("P1") && !window.has("recorded view"));
    let core = window.core();
    assert!(core.page.is_none() && !core.live().preparation().swapped && !core.live().is_paused());
    drop(core);
    window.harness.key_press(Key::Escape);
    window.harness.run_steps(3);
    assert!(!window.has("not compressed"));
    window.harness.key_press(Key::R);
    window.until("the page", |w| w.has("Crop, row errors").then_some(()));
}

#[test]
fn a_closed_window_leaves_a_whole_file() {
    let folder = tempfile::tempdir().unwrap();
    let Some(window) = begun_in(folder.path()) else { return };
    let said = finish(&mut window.core_mut()).unwrap().unwrap();
    assert!(said.contains("recorded") && said.contains(&folder.path().display().to_string()), "{said}");
    assert!(!complete_recording(folder.path()).pairs().is_empty());
}

#[test]
fn another_working_size_ends_a_recording() {
    let folder = tempfile::tempdir().unwrap();
    let Some(mut window) = begun_in(folder.path()) else { return };
    window.harness.key_press(Key::R);
    window.until("the rig's window", |w| w.has("Crop, row errors").then_some(()));
    window.press("Crop, row errors, working size");
    window.until("the sizes", |w| w.has("Working size").then_some(()));
    window.choose("Working size", (Role::Button, "1/2"));
    window.until("the question", |w| asks(w));
    end_and_switch(&mut window);
    window.until("why it ended", |w| w.has("working size was changed").then_some(()));
    assert!(!complete_recording(folder.path()).pairs().is_empty());
}

#[test]
fn missing_folder_is_reported() {
    let Some(mut window) = recording_into(Path::new("/no/such/folder")) else { return };
    window.click(window.harness.get_by_label("Record").rect());
    window.until("why not", |w| w.has("cannot write /no/such/folder").then_some(()));
    window.harness.run_steps(3);
    assert!(window.is_enabled("Record") && window.has("Dismiss"));
}

#[test]
fn recording_menu_shows_size_and_missing_streams() {
    let Some(gpu) = gpu() else { return };
    let folder = tempfile::tempdir().unwrap();
    // two pairs, which have a rate
    let pictures = tempfile::tempdir().unwrap();
    pair(pictures.path());
    for side in ["left", "right"] {
        std::fs::copy(pictures.path().join(format!("{side}.png")), pictures.path().join(format!("{side}2.png")))
            .unwrap();
    }
    let source = SourceSpec::Folder(pictures.path().to_owned());
    let mut window = Window::open(&gpu, WindowOptions { folder: folder.path().to_owned(), ..options(source) });
    menu(&mut window);
    assert!(window.has("no calibration, so no depth: disparity is recorded instead"));
    let both = window.until("the size", |w| w.read("less than"));
    assert!(window.has("the disk lasts"));
    window.click(window.harness.get_by_role_and_label(Role::CheckBox, "raw").rect());
    let disparity = window.until("a smaller size", |w| w.read("less than").filter(|&size| size < both));
    assert!((disparity - 1800.0 * 160.0 * 120.0 * 4.0 / 1e6).abs() < 8.0, "{disparity} MB");
    window.click(window.harness.get_by_role_and_label(Role::CheckBox, "depth").rect());
    window.until("that it is nothing", |w| w.has("Nothing is chosen").then_some(()));
    window.harness.key_press(Key::Escape);
    window.harness.run_steps(2);
    window.harness.key_press_modifiers(Modifiers::SHIFT, Key::R);
    window.until("why not", |w| w.has("nothing is chosen to be recorded").then_some(()));
    assert!(files(folder.path()).is_empty());
}

#[test]
fn choices_are_there_again_at_the_next_start() {
    let Some(gpu) = gpu() else { return };
    let folder = tempfile::tempdir().unwrap();
    let saved = folder.path().join("window.toml");
    let options = || WindowOptions { saved_state: Some(saved.clone()), ..options(SourceSpec::Scene) };
    let mut window = Window::open(&gpu, options());
    menu(&mut window);
    for choice in ["rectified", "fill holes"] {
        window.click(window.harness.get_by_role_and_label(Role::CheckBox, choice).rect());
    }
    window.click(window.harness.get_by_label("foxglove").rect());
    window.harness.run_steps(3);
    window.core_mut().save();
    drop(window);
    let mut window = Window::open(&gpu, options());
    menu(&mut window);
    for (choice, on) in [("rectified", true), ("fill holes", true), ("raw", true), ("eyes", false)] {
        let node = window.harness.get_by_role_and_label(Role::CheckBox, choice);
        let toggled = node.accesskit_node().toggled() == Some(egui::accesskit::Toggled::True);
        assert_eq!(toggled, on, "{choice}");
    }
    let text = std::fs::read_to_string(saved).unwrap();
    assert!(text.contains("record-format = \"foxglove\""), "{text}");
}

#[test]
fn pause_and_failed_opening_leave_the_recording_intact() {
    let folder = tempfile::tempdir().unwrap();
    let Some(mut window) = recording_into(folder.path()) else { return };
    window.until("a pair", |w| w.result().map(drop));
    window.harness.key_press(Key::Space);
    window.until("the pause", |w| w.core().live().status().paused.then_some(()));
    window.click(window.harness.get_by_label("Record").rect());
    window.until("why not", |w| w.has("nothing comes that could be recorded").then_some(()));
    window.harness.key_press(Key::Space);
    let empty = folder.path().join("empty.mcap");
    std::fs::write(&empty, b"").unwrap();
    window.drop_files(&[empty]);
    window.until("why it cannot be opened", |w| w.has("the file is empty").then_some(()));
    assert!(!window.has("is shown instead"));
    let before = window.sequence();
    window.until("the pair goes on", |w| (w.sequence() != before).then_some(()));
}
