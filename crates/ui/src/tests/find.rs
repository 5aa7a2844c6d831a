//! Search field for all actions and settings, and the menu and the row of tools.

use super::harness::Window;
use crate::core::action::Action;
use egui::accesskit::Role;
use egui::{Key, Modifiers};
use egui_kittest::kittest::Queryable as _;
use stereopsis_stereo::Preset;

const FIELD: &str = "Words to find";

fn find(window: &mut Window, words: &str) {
    window.harness.key_press_modifiers(Modifiers::COMMAND, Key::K);
    window.until("the field", |w| w.has(FIELD).then_some(()));
    window.harness.run_steps(2);
    window.harness.get_by_label(FIELD).type_text(words);
    window.harness.run_steps(3);
}

#[test]
fn pages_settings_presets_and_sources_are_found_by_their_words() {
    let Some(mut window) = Window::on_scene() else { return };
    find(&mut window, "sweep");
    window.harness.key_press(Key::Enter);
    window.harness.run_steps(3);
    assert!(!window.has(FIELD) && window.core().is_open(Action::Sweep));

    find(&mut window, "two webcams");
    window.harness.key_press(Key::Enter);
    window.harness.run_steps(3);
    assert!(window.core().is_open(Action::Rig));

    // a folded parameter is shown and marked
    assert!(!window.has("Rank window"), "folded at first");
    window.core_mut().view.arrangement_mut().controls = false;
    find(&mut window, "speckle range");
    window.harness.key_press(Key::Enter);
    window.harness.run_steps(3);
    assert!(window.harness.query_by_role_and_label(Role::Slider, "Speckle range").is_some());
    assert_eq!(window.core().revealed.map(|(name, _)| name), Some("speckle-range"));

    find(&mut window, "fast preset");
    window.harness.key_press(Key::Enter);
    window.until("the preset", |w| (w.core().matching.preset == Preset::Fast).then_some(()));

    // second one of several results, and no result
    find(&mut window, "theme");
    window.harness.key_press(Key::ArrowDown);
    window.harness.run_steps(2);
    window.harness.key_press(Key::Enter);
    window.harness.run_steps(3);
    assert_eq!(window.core().view.theme, crate::core::Theme::ALL[1]);
    find(&mut window, "no such thing");
    assert!(window.has("nothing has all of these words"));
    window.harness.key_press(Key::Enter);
    window.harness.run_steps(2);
    assert!(window.has(FIELD), "there is nothing to take");
    window.harness.key_press(Key::Escape);
    window.harness.run_steps(3);
    assert!(!window.has(FIELD) && window.core().is_open(Action::Rig), "the page stays");
}

#[test]
fn letters_in_the_field_are_no_keys_and_a_click_takes_a_line() {
    let Some(mut window) = Window::on_scene() else { return };
    let before = window.params();
    find(&mut window, "x");
    assert_eq!(window.params(), before);
    assert!(window.core().page.is_none());
    window.harness.key_press_modifiers(Modifiers::COMMAND, Key::K);
    window.harness.run_steps(3);
    assert!(!window.has(FIELD), "the same key closes it");
    find(&mut window, "distance and error");
    window.click(window.harness.get_by_label("Distance and error, action").rect());
    window.harness.run_steps(3);
    assert!(window.core().is_open(Action::Reach));
}

#[test]
fn tools_stand_in_a_row_and_in_a_menu() {
    let Some(mut window) = Window::on_scene() else { return };
    for action in [Action::Explain, Action::Sweep, Action::Suggest, Action::Measure, Action::History] {
        window.click(window.harness.get_by_label(action.label()).rect());
        window.harness.run_steps(3);
        assert!(window.core().is_open(action), "{action:?}");
    }
    window.click(window.harness.get_by_label("Keep as A").rect());
    window.harness.run_steps(3);
    assert!(window.core().comparison.is_some());
    window.click(window.harness.get_by_label("Tools ▾").rect());
    window.harness.run_steps(2);
    window.click(window.harness.get_by_label_contains("Distance and error").rect());
    window.until("the page", |w| w.core().is_open(Action::Reach).then_some(()));
}
