//! Number of paths by one click, by dragging or by typing, and their first angle.

use super::harness::{Window, gpu, options};
use egui::accesskit::Role;
use egui::{Key, Vec2};
use egui_kittest::kittest::{NodeT as _, Queryable as _};
use stereopsis_frame::SourceSpec;
use stereopsis_settings::settings::{Origin, Word};

/// Opens a window with all parameters shown on the GPU, whose engine sums any directions.
fn unfolded(also: Option<Word>) -> Option<Window> {
    let mut options = options(SourceSpec::Scene);
    options.words[0].text = "gpu".into();
    // hundreds of directions take a software GPU long
    options.words[1].text = "8".into();
    options.source_options.size = Some((64, 48));
    options.words.extend(also);
    let mut window = Window::open(&gpu()?, options);
    window.click(window.harness.get_by_label_contains("more").rect());
    window.harness.run_steps(3);
    Some(window)
}

fn type_paths(window: &mut Window, number: &str) {
    window.click(window.harness.get_by_role_and_label(Role::SpinButton, "Paths").rect());
    window.harness.run_steps(2);
    window.harness.event(egui::Event::Text(number.into()));
    window.harness.key_press(Key::Enter);
    window.harness.run_steps(2);
}

#[test]
fn paths_are_clicked_dragged_and_typed() {
    let Some(mut window) = unfolded(None) else { return };
    for paths in [16, 4, 8] {
        window.click(window.harness.get_by_label(&format!("{paths} paths")).rect());
        window.until_computed(|params| params.paths == paths);
    }
    let number = window.harness.get_by_role_and_label(Role::SpinButton, "Paths").rect().center();
    window.harness.drag_at(number);
    window.harness.step();
    window.harness.hover_at(number + Vec2::new(20.0, 0.0));
    window.harness.step();
    window.harness.drop_at(number + Vec2::new(20.0, 0.0));
    let dragged = window.until_computed(|params| params.paths > 8).job.params.paths;
    assert!((9..=16).contains(&dragged), "20 points are a few paths, not {dragged}");

    type_paths(&mut window, "5");
    window.until_computed(|params| params.paths == 5);
    type_paths(&mut window, "1000");
    window.until_computed(|params| params.paths == 384);
    type_paths(&mut window, "2");
    window.focus_slider("Start angle");
    window.harness.key_press(Key::ArrowRight);
    window.until_computed(|params| (params.paths, params.start_angle_deg) == (2, 1));
}

#[test]
fn without_paths_the_start_angle_is_disabled_and_says_why() {
    let Some(mut window) = unfolded(None) else { return };
    let is_disabled = |window: &Window, label: &str| {
        window.harness.get_by_role_and_label(Role::Slider, label).accesskit_node().is_disabled()
    };
    assert!(!is_disabled(&window, "Start angle"));
    type_paths(&mut window, "0");
    window.until_computed(|params| params.paths == 0);
    assert!(is_disabled(&window, "Start angle"));
    let place = window.harness.get_by_role_and_label(Role::Slider, "Start angle").rect().center();
    window.harness.hover_at(place);
    let why = "Without paths there are no directions.";
    window.until("the reason", |w| w.has(why).then_some(()));
}

#[test]
fn sums_beyond_16_bits_are_not_offered() {
    let sad = Word { name: "cost".into(), text: "sad".into(), origin: Origin::Flag };
    let Some(mut window) = unfolded(Some(sad)) else { return };
    type_paths(&mut window, "384");
    let params = window.until_computed(|params| params.paths > 8).job.params.clone();
    assert_eq!(params.paths, 65534 / (255 + params.p2), "as many as fit");
    window.focus_slider("P2");
    let before = params.p2;
    for _ in 0..5 {
        window.harness.key_press(Key::ArrowRight);
        window.harness.step();
    }
    assert!((before..before + 5).contains(&window.params().p2), "P2 ends where the sum is full");
    assert!(!window.has("exceed"), "nothing had to be refused");
}
