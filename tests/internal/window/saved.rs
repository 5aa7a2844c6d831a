//! The window starts as an earlier version of it was closed.

use super::harness::{SIZE, Window, gpu};
use egui::accesskit::Role;
use egui_kittest::kittest::{NodeT as _, Queryable as _};
use std::path::Path;
use stereopsis::capture::SourceOptions;
use stereopsis::stereo::{CostKind, Fill, StereoParams};
use stereopsis::ui::WindowOptions;

#[test]
fn a_window_that_an_earlier_version_saved_opens_unchanged() {
    let Some(gpu) = gpu() else { return };
    let folder = tempfile::tempdir().unwrap();
    let saved = folder.path().join("window.toml");
    let fixture = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/ecdb518/window.toml");
    std::fs::copy(&fixture, &saved).unwrap();
    let source_options = SourceOptions { size: Some(SIZE), ..WindowOptions::default().source_options };
    let options = WindowOptions { saved_state: Some(saved.clone()), source_options, ..WindowOptions::default() };
    let window = Window::open(&gpu, options);
    let params = window.session.borrow().live().params();
    let StereoParams { cost, p1, paths, num_disparities, fill, temporal, .. } = *params;
    let expected = (CostKind::Rank, 20, 4, 48, Fill::Interpolate, true);
    assert_eq!((cost, p1, paths, num_disparities, fill, temporal), expected);
    let by_reason = window.harness.get_by_role_and_label(Role::CheckBox, "Colour invalid by reason");
    assert_eq!(by_reason.accesskit_node().toggled(), Some(egui::accesskit::Toggled::True));
    // and what this version saves says the same
    window.session.borrow().save();
    let table = |path: &Path| std::fs::read_to_string(path).unwrap().parse::<toml::Table>().unwrap();
    let (before, after) = (table(&fixture), table(&saved));
    for (key, value) in &before {
        assert_eq!(after.get(key), Some(value), "{key}");
    }
}
