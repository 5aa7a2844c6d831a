//! Messages that end with their causes, and their short list.

use super::harness::Window;
use crate::core::notices::Level;
use egui::Key;
use egui_kittest::kittest::Queryable as _;

#[test]
fn an_error_ends_when_its_command_is_given_again() {
    let Some(mut window) = Window::on_scene() else { return };
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("a file");
    std::fs::write(&file, "").unwrap();
    let errors = |w: &Window| {
        let core = w.core();
        core.notices.all().iter().filter(|notice| notice.level == Level::Error).count()
    };
    window.core_mut().recording.choices.folder = Some(file);
    window.harness.key_press(Key::S);
    window.until("why nothing was written", |w| (errors(w) == 1).then_some(()));
    window.harness.key_press(Key::D);
    window.harness.run_steps(3);
    assert_eq!(errors(&window), 1, "another command ends nothing");
    window.core_mut().recording.choices.folder = Some(folder.path().to_owned());
    window.harness.key_press(Key::S);
    window.until("the snapshot", |w| w.has("snapshot: ").then_some(()));
    assert_eq!(errors(&window), 0);
}

#[test]
fn the_list_of_messages_is_small_and_each_has_its_buttons() {
    let Some(mut window) = Window::on_scene() else { return };
    for number in 1..=9 {
        window.core_mut().notices.error(format!("something failed for the {number}. time"));
    }
    window.harness.run_steps(3);
    window.click(window.harness.get_by_label("9 messages ▾").rect());
    window.harness.run_steps(4);
    // the newest message also appears in the line below
    let all = window.harness.query_all_by_label_contains("something failed").map(|node| node.rect().top());
    let mut tops: Vec<_> = all.collect();
    tops.sort_by(f32::total_cmp);
    let heights: Vec<_> = tops.windows(2).map(|pair| pair[1] - pair[0]).collect();
    assert_eq!(heights.iter().filter(|height| (20.0..80.0).contains(*height)).count(), 8, "{heights:?}");
    assert!(tops[0] > 0.4 * 760.0, "the list covers less than half of the window: {tops:?}");
    assert!(window.harness.query_all_by_label("Dismiss").count() >= 9);
}
