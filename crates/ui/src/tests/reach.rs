//! Distance and its error over the disparity: curves, sentences, and the mark of the pointer.

use super::harness::{Window, gpu, options, pair};
use egui::Key;
use egui::accesskit::Role;
use egui_kittest::kittest::Queryable as _;
use stereopsis_frame::SourceSpec;

const CURVES: &str = "Distance and its error over the disparity";

#[test]
fn the_curves_follow_the_rig_the_range_and_the_pointer() {
    let Some(mut window) = Window::on_scene() else { return };
    assert!(!window.has(CURVES), "closed at first");
    window.harness.key_press(Key::Space);
    window.harness.key_press(Key::D);
    window.until("the curves", |w| w.has(CURVES).then_some(()));
    let geometry = window.result().and_then(|output| output.job.frame.geometry).expect("the scene's rig");
    let exact_m = geometry.focal_px * geometry.baseline_m / 20.0;
    assert!(window.has(&format!("off by 1 px: within 5 % up to {exact_m:.2} m")), "{exact_m}");
    assert!(window.has(&format!("off by 0.25 px: within 5 % up to {:.2} m", 4.0 * exact_m)));
    assert!(window.has("Rest the pointer on an image"));
    let field = window.harness.get_by_role_and_label(Role::SpinButton, "Error of a disparity").rect();
    assert!(field.width() > 10.0);

    let (_, depth) = window.rest_until_read("left view", (0.4, 0.95), "depth");
    window.harness.run_steps(2);
    assert!(window.has(" m ± "), "the pointer's distance with its error");
    let at = window.read("under the pointer:").expect("its disparity");
    assert!((f64::from(depth) - geometry.depth_m(f64::from(at)).unwrap()).abs() < 0.02, "{depth} m at {at} px");

    window.harness.remove_cursor();
    window.harness.key_press(Key::D);
    window.harness.run_steps(3);
    assert!(!window.has(CURVES));
}

#[test]
fn without_a_calibration_there_are_no_distances() {
    let Some(gpu) = gpu() else { return };
    let folder = tempfile::tempdir().unwrap();
    let mut window = Window::open(&gpu, options(pair(folder.path())));
    window.click(window.harness.get_by_label("Tools ▾").rect());
    window.harness.run_steps(2);
    window.click(window.harness.get_by_label_contains("Distance and error").rect());
    window.until("why there are none", |w| w.has("No distances: there is no calibration").then_some(()));
    assert!(!window.has(CURVES));
    assert_ne!(window.core().live().status().source.name, SourceSpec::Scene.to_string());
}
