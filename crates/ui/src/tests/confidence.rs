//! Confidence: its view switches it on, and the read-out shows it in per cent.

use super::harness::{SIZE, Window, gpu, options};
use egui::Key;
use egui::accesskit::{Role, Toggled};
use egui_kittest::kittest::{NodeT as _, Queryable as _};
use std::collections::HashSet;
use stereopsis_frame::SourceSpec;
use stereopsis_frame::engine::Output;
use stereopsis_images::colormap::Colormap;
use stereopsis_stereo::map::reason;

/// Returns the pixel of highest confidence with a measured disparity or, if `measured` is false, one without because of its range.
fn pixel(output: &Output, measured: bool) -> ((usize, usize), u8) {
    let map = output.map.as_ref().expect("a map on the host");
    let confidence = map.confidence.as_ref().expect("it was asked for");
    let all = (0..SIZE.1).flat_map(|y| (0..SIZE.0).map(move |x| (x, y)));
    let fits = |&(x, y): &(usize, usize)| (map.reasons.at(x, y) & reason::RANGE == 0) == measured;
    let at = all.filter(fits).max_by_key(|&(x, y)| confidence.at(x, y)).expect("such a pixel");
    (at, confidence.at(at.0, at.1))
}

#[test]
fn confidence_view_enables_confidence_and_its_read_out() {
    let Some(gpu) = gpu() else { return };
    for engine in ["cpu", "gpu"] {
        let mut options = options(SourceSpec::Scene);
        options.words[0].text = engine.into();
        check_view(Window::open(&gpu, options));
    }
}

fn check_view(mut window: Window) {
    assert!(!window.has("confidence"), "closed at first");
    window.in_grid();
    window.harness.key_press(Key::Space);
    window.until("the pause", |w| w.core().live().is_paused().then_some(()));
    window.click(window.harness.get_by_label("Views ▾").rect());
    window.harness.run_steps(2);
    window.click(window.harness.get_by_role_and_label(Role::CheckBox, "confidence").rect());
    window.until_computed(|params| params.confidence);
    window.until("the view", |w| w.has("confidence view").then_some(()));
    window.harness.key_press(Key::Escape);
    window.harness.run_steps(3);
    let output = window.result().expect("the pair that is held");
    assert!(!window.is_enabled("Back to balanced"), "the method is that of the preset");

    let share = |at: usize, of: usize| (at as f32 + 0.5) / of as f32;
    let place = |window: &Window, view: &str, x, y| window.place(view, (share(x, SIZE.0), share(y, SIZE.1)));
    let picture = window.harness.render().expect("an image");
    let map = output.map.as_ref().expect("a map on the host");
    let mut colours = HashSet::new();
    for (x, y) in (5..SIZE.1).step_by(11).flat_map(|y| (3..SIZE.0).step_by(7).map(move |x| (x, y))) {
        let at = place(&window, "confidence view", x, y);
        let [r, g, b, _] = picture.get_pixel(at.x as u32, at.y as u32).0;
        let confidence = map.confidence.as_ref().map_or(0, |confidence| confidence.at(x, y));
        let measured = map.disparity_px(x, y).is_some();
        let wanted = if measured { Colormap::default().lookup()[usize::from(confidence)] } else { [0; 3] };
        let off = [r, g, b].iter().zip(wanted).map(|(&a, b)| a.abs_diff(b)).max();
        assert!(off <= Some(8), "({x}, {y}), {confidence}: {:?} instead of {wanted:?}", [r, g, b]);
        colours.insert(wanted);
    }
    assert!(colours.len() > 20, "{} colours", colours.len());

    for (measured, view) in [(true, "confidence view"), (true, "left view"), (false, "confidence view")] {
        let ((x, y), confidence) = pixel(&output, measured);
        window.harness.hover_at(place(&window, view, x, y));
        window.harness.run_steps(3);
        assert!(window.has(&format!("x, y {x}, {y} px")));
        let wanted = measured.then(|| (f32::from(confidence) / 2.55).round());
        assert_eq!(window.read("confidence"), wanted, "({x}, {y}) in the {view}");
    }

    window.harness.key_press(Key::Num5);
    window.until_computed(|params| !params.confidence);
    assert!(!window.has("confidence"));
}

#[test]
fn the_view_says_what_to_do_where_it_is_switched_off() {
    let Some(mut window) = Window::on_scene() else { return };
    window.harness.key_press(Key::Num5);
    window.until_computed(|params| params.confidence);
    window.click(window.harness.get_by_label_contains("more").rect());
    window.harness.run_steps(3);
    let switch = window.harness.get_by_role_and_label(Role::CheckBox, "Confidence");
    assert_eq!(switch.accesskit_node().toggled(), Some(Toggled::True));
    switch.scroll_to_me();
    window.harness.run_steps(3);
    window.click(window.harness.get_by_role_and_label(Role::CheckBox, "Confidence").rect());
    window.until_computed(|params| !params.confidence);
    window.until("the advice", |w| w.has("No confidence: it is switched off").then_some(()));
}
