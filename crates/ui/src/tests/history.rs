//! Undo and redo of changes, and a settings file that is followed.

use super::harness::{Window, gpu, options, pair};
use egui::{Key, Modifiers};
use egui_kittest::kittest::Queryable as _;
use stereopsis_frame::SourceSpec;

fn press(window: &mut Window, modifiers: Modifiers, key: Key) {
    window.harness.key_press_modifiers(modifiers, key);
    window.harness.run_steps(3);
}

#[test]
fn changes_are_undone_redone_and_chosen_from_the_list() {
    let Some(mut window) = Window::on_scene() else { return };
    let before = window.params();
    window.focus_slider("P1");
    window.harness.key_press(Key::ArrowRight);
    window.until_computed(|params| params.p1 == before.p1 + 1);
    window.choose("Preset", (egui::accesskit::Role::RadioButton, "fast"));
    window.until("the preset", |w| (w.params().p1 != before.p1 + 1).then_some(()));
    let fast = window.params();
    window.harness.run_steps(2);

    press(&mut window, Modifiers::COMMAND, Key::Z);
    assert_eq!(window.params().p1, before.p1 + 1, "the preset is taken back");
    press(&mut window, Modifiers::COMMAND, Key::Z);
    assert_eq!(window.params(), before, "and the penalty");
    press(&mut window, Modifiers::COMMAND, Key::Z);
    assert!(window.has("there is no older change"));
    press(&mut window, Modifiers::COMMAND | Modifiers::SHIFT, Key::Z);
    assert_eq!(window.params().p1, before.p1 + 1);

    press(&mut window, Modifiers::NONE, Key::Z);
    let first = format!("P1 {} → {}", before.p1, before.p1 + 1);
    window.until("the list", |w| w.has(&first).then_some(()));
    window.click(window.harness.get_by_label("Preset balanced → fast").rect());
    window.until("the preset again", |w| (w.params() == fast).then_some(()));
    window.click(window.harness.get_by_label("as it began").rect());
    window.until("the beginning", |w| (w.params() == before).then_some(()));
}

#[test]
fn another_source_is_a_step_too() {
    let Some(gpu) = gpu() else { return };
    let folder = tempfile::tempdir().unwrap();
    let spec = pair(folder.path());
    let mut window = Window::open(&gpu, options(SourceSpec::Scene));
    let SourceSpec::Files { left, right, .. } = spec else { panic!("two files") };
    window.drop_files(&[left, right]);
    let running = |w: &mut Window| w.core().source.running.clone();
    window.until("the pair", |w| matches!(running(w), Some(SourceSpec::Files { .. })).then_some(()));
    window.harness.run_steps(3);
    press(&mut window, Modifiers::COMMAND, Key::Z);
    window.until("the scene", |w| (running(w) == Some(SourceSpec::Scene)).then_some(()));
    window.harness.run_steps(3);
    press(&mut window, Modifiers::COMMAND | Modifiers::SHIFT, Key::Z);
    window.until("the pair again", |w| matches!(running(w), Some(SourceSpec::Files { .. })).then_some(()));
}

#[test]
fn a_settings_file_that_is_edited_takes_effect_and_a_wrong_line_does_not() {
    let Some(mut window) = Window::on_scene() else { return };
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("desk.toml");
    std::fs::write(&path, "engine = \"cpu\"\nnum-disparities = 24\np1 = 9\n").unwrap();
    window.drop_files(std::slice::from_ref(&path));
    window.until_computed(|params| params.p1 == 9);
    press(&mut window, Modifiers::NONE, Key::Z);
    window.until("its name", |w| w.has("desk.toml: changes of it take effect here").then_some(()));
    // edited during the use of a slider
    window.focus_slider("P2");
    window.harness.key_press(Key::ArrowRight);
    std::fs::write(&path, "engine = \"cpu\"\nnum-disparities = 24\np1 = 11\n").unwrap();
    window.until_computed(|params| params.p1 == 11);
    std::fs::write(&path, "num-disparities = 24\n\np1 = lots\n").unwrap();
    window.until("what is wrong", |w| w.has("desk.toml, line 3").then_some(()));
    assert_eq!(window.params().p1, 11, "the settings stay");
    std::fs::write(&path, "engine = \"cpu\"\nnum-disparities = 24\np1 = 12\n").unwrap();
    window.until_computed(|params| params.p1 == 12);
    assert!(!window.has("line 3"));

    // the window writes its own change, but never over a foreign one
    window.focus_slider("P1");
    window.harness.key_press(Key::ArrowRight);
    window.until_computed(|params| params.p1 == 13);
    window.click(window.harness.get_by_label("Save").rect());
    window.until("the file", |w| w.has("settings written: --settings").then_some(()));
    assert!(std::fs::read_to_string(&path).unwrap().contains("p1 = \"13\""));
    window.click(window.harness.get_by_label("Follow no more").rect());
    window.harness.run_steps(3);
    std::fs::write(&path, "p1 = 20\n").unwrap();
    std::thread::sleep(std::time::Duration::from_millis(700));
    window.harness.run_steps(3);
    assert_eq!(window.params().p1, 13);
}
