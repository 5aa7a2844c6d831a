//! A model, dropped onto the window, beside semi-global matching on the same pair.

use super::harness::{Window, gpu, options, pair};
use egui::Key;
use egui::accesskit::Role;
use egui_kittest::kittest::{NodeT as _, Queryable as _};
use stereopsis_frame::engine::EngineKind;
use stereopsis_model::testing::BlockMatching;

/// Returns the engines of A and B once both have results.
fn engines(window: &Window) -> Option<[EngineKind; 2]> {
    let core = window.core();
    let both = core.comparison.as_ref()?.shown.as_ref()?;
    Some(both.each_ref().map(|output| output.engine.kind))
}

/// Returns whether P1 can be changed.
fn has_p1(window: &Window) -> bool {
    !window.harness.get_by_role_and_label(Role::Slider, "P1").accesskit_node().is_disabled()
}

#[test]
fn a_dropped_model_matches_beside_semi_global_matching() {
    let Some(gpu) = gpu() else { return };
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("blocks.onnx");
    std::fs::write(&file, BlockMatching::default().file()).unwrap();
    let mut window = Window::open(&gpu, options(pair(folder.path())));
    window.until("a result", |w| w.core().output().map(drop));
    let before = window.core().output().unwrap().engine.kind;
    assert!(has_p1(&window));
    window.harness.key_press(Key::A);
    window.until("A", |w| engines(w).filter(|both| *both == [before; 2]));
    window.drop_files(std::slice::from_ref(&file));
    window.until("the model as B", |w| engines(w).filter(|both| *both == [before, EngineKind::Model]));
    window.harness.run_steps(3);
    assert!(window.has("model · blocks.onnx, licence MIT"), "its licence stands beside its name");
    assert!(!has_p1(&window), "a model has no P1");
    let command = window.core().command_line();
    assert!(command.contains("--engine model --model") && command.contains("blocks.onnx"), "{command}");
    window.click(window.harness.get_by_label("Exchange").rect());
    window.until("the model as A", |w| engines(w).filter(|both| *both == [EngineKind::Model, before]));
}

#[test]
fn a_file_that_is_no_model_leaves_the_window_matching() {
    let Some(gpu) = gpu() else { return };
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("notes.onnx");
    std::fs::write(&file, "not a model").unwrap();
    let mut window = Window::open(&gpu, options(pair(folder.path())));
    window.until("a result", |w| w.core().output().map(drop));
    window.drop_files(std::slice::from_ref(&file));
    window.until("the reason", |w| (w.has("notes.onnx") && w.has("in the format ONNX?")).then_some(()));
    window.drop_files(&[folder.path().join("missing.onnx")]);
    window.until("the other reason", |w| w.has("there is no such file; the CPU computes instead").then_some(()));
    window.until("a result of the CPU", |w| {
        w.core().output().filter(|output| output.engine.kind == EngineKind::Cpu).map(drop)
    });
    window.harness.run_steps(2);
    assert!(has_p1(&window));
}
