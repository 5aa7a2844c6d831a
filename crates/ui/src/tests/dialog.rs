//! Files named by a typed path where the system has no dialog.

use super::harness::{Window, gpu, options, pair};
use crate::WindowOptions;
use egui::{Key, Modifiers};
use egui_kittest::kittest::Queryable as _;
use stereopsis_frame::SourceSpec;

const FIELD: &str = "Path of the file or folder";

impl Window {
    fn type_path(&mut self, text: &str) {
        self.until("the field", |w| w.has(FIELD).then_some(()));
        self.harness.run_steps(2);
        self.harness.key_press_modifiers(Modifiers::COMMAND, Key::A);
        self.harness.get_by_label(FIELD).type_text(text);
        self.harness.run_steps(2);
    }
}

#[test]
fn typed_path_opens_a_source_or_shows_its_error() {
    let Some(gpu) = gpu() else { return };
    let folder = tempfile::tempdir().unwrap();
    let SourceSpec::Files { left, right, .. } = pair(folder.path()) else { unreachable!("two files") };
    let mut window = Window::open(&gpu, options(SourceSpec::Scene));
    window.harness.key_press_modifiers(Modifiers::COMMAND, Key::O);
    window.type_path("/no/such/file.png");
    window.press("OK");
    assert!(window.has("/no/such/file.png does not exist"));
    window.type_path(&format!("{}; {}", left.display(), right.display()));
    window.harness.key_press(Key::Enter);
    let expected = left.clone();
    window.until("the pair", |w| {
        let core = w.core();
        let is_open = matches!(&core.source.running, Some(SourceSpec::Files { left, .. }) if *left == expected);
        is_open.then_some(())
    });
    assert!(!window.has(FIELD));
}

#[test]
fn typed_path_replaces_a_settings_file_only_on_consent() {
    let Some(gpu) = gpu() else { return };
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("mine.toml");
    std::fs::write(&path, "kept").unwrap();
    let options = WindowOptions { folder: folder.path().to_owned(), ..options(SourceSpec::Scene) };
    let mut window = Window::open(&gpu, options);
    window.harness.key_press(Key::Z);
    window.harness.run_steps(3);
    window.press("Save as …");
    window.type_path("mine");
    window.press("OK");
    assert!(window.has("mine.toml exists"));
    assert_eq!(std::fs::read_to_string(&path).unwrap(), "kept");
    window.harness.key_press(Key::Escape);
    window.harness.run_steps(3);
    assert!(!window.has(FIELD), "Escape cancels");
    assert_eq!(std::fs::read_to_string(&path).unwrap(), "kept");
    window.press("Save as …");
    window.type_path("mine");
    window.press("OK");
    window.press("Replace it");
    window.until("the settings", |_| std::fs::read_to_string(&path).unwrap().contains("num-disparities").then_some(()));
}
