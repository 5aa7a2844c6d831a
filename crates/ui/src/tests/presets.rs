//! Chooser of presets: two groups, description, measured rate, and changes since the choice.

use super::harness::{Window, gpu, options, pair};
use egui::accesskit::Role;
use egui_kittest::kittest::{NodeT as _, Queryable as _};
use stereopsis_settings::settings::{FROM_THE_LITERATURE, preset_of};
use stereopsis_stereo::Preset;

#[test]
fn presets_stand_in_two_groups_with_their_papers_and_rates() {
    let Some(gpu) = gpu() else { return };
    let folder = tempfile::tempdir().unwrap();
    let mut window = Window::open(&gpu, options(pair(folder.path())));
    window.open_list("Preset");
    let top = |window: &Window, label: &str| window.harness.get_by_label(label).rect().top();
    let heading = top(&window, &FROM_THE_LITERATURE.to_uppercase());
    for &preset in Preset::ALL {
        let entry = window.harness.get_by_role_and_label(Role::RadioButton, preset.word());
        assert_eq!(entry.rect().top() > heading, preset.paper().is_some(), "{preset}");
    }
    let last = window.harness.get_by_role_and_label(Role::RadioButton, Preset::Banz2011.word());
    last.hover();
    window.until("what it is", |w| w.has("ICCV Workshops 2011").then_some(()));
    assert!(window.has("not run yet here"), "it has not run");
    window.click(window.harness.get_by_role_and_label(Role::RadioButton, "fast").rect());
    window.until_computed(|params| preset_of(params) == Some(Preset::Fast));
    window.open_list("Preset");
    window.harness.get_by_role_and_label(Role::RadioButton, "fast").hover();
    window.until("its rate", |w| w.has("pairs/s here, at this size and range").then_some(()));
    assert_eq!(window.params().num_disparities, 24, "the range stays");
}

#[test]
fn changed_parameters_are_marked_and_restored() {
    let Some(mut window) = Window::on_scene() else { return };
    let before = window.params();
    assert!(!window.is_enabled("Back to balanced"));
    window.focus_slider("P1");
    window.harness.key_press(egui::Key::ArrowRight);
    window.until_computed(|params| params.p1 == before.p1 + 1);
    window.harness.step();
    assert!(window.has("changed") && window.is_enabled("Back to balanced"));
    window.harness.get_by_label("changed").hover();
    let change = format!("P1 {} → {}", before.p1, before.p1 + 1);
    window.until("what was changed", |w| w.has(&change).then_some(()));
    window.click(window.harness.get_by_label("Back to balanced").rect());
    window.until_computed(|params| params.p1 == before.p1);
    window.harness.run_steps(2);
    let mark = window.harness.query_by_label("Back to balanced");
    assert!(mark.is_none_or(|node| node.accesskit_node().is_disabled()));
}
