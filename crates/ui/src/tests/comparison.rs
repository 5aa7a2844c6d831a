//! Comparison of two settings: A is kept, B follows the sliders, and both match the same pair.

use super::harness::{Window, gpu, options, pair};
use egui::{Key, Modifiers};
use egui_kittest::kittest::{NodeT as _, Queryable as _};
use stereopsis_stereo::{StereoParams, Subpixel};

/// Returns P1 of A and B once both have results.
fn p1(window: &Window) -> Option<[u32; 2]> {
    let core = window.core();
    let [a, b] = core.comparison.as_ref()?.shown.as_ref()?;
    assert!(std::sync::Arc::ptr_eq(&a.job.frame, &b.job.frame), "of one pair");
    Some([a.job.params.p1, b.job.params.p1])
}

/// Returns the drawn part of the disparity view left of a share of its width.
fn left_part(window: &mut Window, share: f32) -> Vec<[u8; 4]> {
    let view = window.harness.get_by_label("disparity view").rect().shrink(8.0);
    let all = window.harness.render().expect("an image");
    let (left, right) = (view.left() as u32, (view.left() + (share - 0.05) * view.width()) as u32);
    let rows = view.top() as u32..view.bottom() as u32 - 24; // above the letters
    rows.flat_map(|y| (left..right).map(move |x| (x, y))).map(|(x, y)| all.get_pixel(x, y).0).collect()
}

/// Returns whether the time of A or B is a median of several results.
fn is_median(window: &Window, name: &str) -> bool {
    let label = format!("{name} time ");
    window.harness.query_all_by_label_contains(&label).any(|node| {
        let node = node.accesskit_node();
        node.label().or(node.value()).is_some_and(|text| text.ends_with("ms, median of 5 results"))
    })
}

#[test]
fn a_is_kept_b_follows_the_sliders_and_a_key_flips() {
    let Some(gpu) = gpu() else { return };
    let folder = tempfile::tempdir().unwrap();
    let mut window = Window::open(&gpu, options(pair(folder.path())));
    let before = window.params();
    window.harness.key_press(Key::A);
    window.until("both", |w| p1(w).filter(|both| *both == [before.p1; 2]));
    window.harness.run_steps(3);
    let alone = left_part(&mut window, 0.5);
    let changed = StereoParams { subpixel: Subpixel::Off, left_right: None, p1: before.p1 + 9, ..before.clone() };
    window.core().live().set_params(changed.clone());
    window.core_mut().matching.params = changed.clone();
    window.until("B's own", |w| p1(w).filter(|both| *both == [before.p1, before.p1 + 9]));
    window.until("what differs", |w| w.has(&format!("P1 {} → {}", before.p1, before.p1 + 9)).then_some(()));
    window.until("figures and scores", |w| (w.has("A time") && w.has("B measured") && w.has("A score ")).then_some(()));
    window.harness.run_steps(3);
    assert!(left_part(&mut window, 0.5) == alone, "left of the line stands A");
    // a held pair has no time of its own
    window.until("medians", |w| ["A", "B"].iter().all(|name| is_median(w, name)).then_some(()));

    // the line at the left border leaves only B
    let line = window.harness.get_by_label("line between A and B in disparity").rect().center();
    let view = window.harness.get_by_label("disparity view").rect();
    window.harness.hover_at(line);
    window.harness.step();
    window.harness.drag_at(line);
    window.harness.step();
    window.harness.hover_at(egui::pos2(view.left() + 1.0, line.y));
    window.harness.step();
    window.harness.drop_at(egui::pos2(view.left() + 1.0, line.y));
    window.harness.run_steps(3);
    assert!(window.core().comparison.as_ref().unwrap().wiper < 0.05);
    let b = left_part(&mut window, 0.5);
    assert!(b != alone, "B differs");
    window.harness.key_press(Key::T);
    window.harness.run_steps(3);
    assert!(left_part(&mut window, 0.5) == alone, "all of it is A");
    window.harness.key_press(Key::T);

    window.click(window.harness.get_by_label("Exchange").rect());
    window.until("the other way round", |w| p1(w).filter(|both| *both == [before.p1 + 9, before.p1]));
    assert_eq!(window.params(), before);
    window.harness.key_press_modifiers(Modifiers::SHIFT, Key::A);
    window.until("the end", |w| (!w.has("Exchange")).then_some(()));
    assert_eq!(window.params(), before, "the present settings stay");
}

#[test]
fn difference_view_compares_with_a() {
    let Some(mut window) = Window::on_scene() else { return };
    window.harness.key_press(Key::A);
    window.until("both", |w| p1(w).map(drop));
    window.harness.key_press(Key::Num7);
    window.until("the difference", |w| w.has("difference view").then_some(()));
    window.harness.run_steps(3);
    assert!(!window.has("No difference"));
    window.harness.key_press(Key::T);
    window.harness.run_steps(2);
    window.until("live pairs", |w| p1(w).map(drop));
}
