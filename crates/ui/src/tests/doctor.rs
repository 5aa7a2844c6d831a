//! Page of the examination of this machine.

use super::harness::Window;
use egui::{Key, Modifiers, OutputCommand};
use egui_kittest::kittest::Queryable as _;

#[test]
fn the_page_says_what_is_wrong_and_copies_the_report() {
    let Some(mut window) = Window::on_scene() else { return };
    window.harness.key_press_modifiers(Modifiers::SHIFT, Key::F1);
    window.until("the examination", |w| w.has("Examining this machine").then_some(()));
    window.until("the report", |w| w.has("self-test: ").then_some(()));
    window.harness.run_steps(3);
    assert!(window.has(" wrong, ") && window.is_enabled("Examine again"));
    window.click(window.harness.get_by_label("Copy").rect());
    let commands = &window.harness.output().platform_output.commands;
    let copied = commands.iter().find_map(|command| match command {
        OutputCommand::CopyText(text) => Some(text.clone()),
        _ => None,
    });
    let copied = copied.expect("the text in the click's own frame");
    for words in ["program     stereopsis ", "the same bits as the plain loops", " wrong, "] {
        assert!(copied.contains(words), "{words}: {copied}");
    }
}
