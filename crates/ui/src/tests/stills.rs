//! Pairs of files in the window: stills, folders with their time line, truth, and dropped files.

use super::harness::{SIZE, Window, gpu, options, pair};
use crate::WindowOptions;
use crate::core::notices::Level;
use egui::Key;
use egui::accesskit::Role;
use egui_kittest::kittest::{NodeT as _, Queryable as _};
use std::path::{Path, PathBuf};
use stereopsis_frame::SourceSpec;

fn three_pairs(folder: &Path) -> SourceSpec {
    pair(folder);
    for side in ["left", "right"] {
        let first = folder.join(format!("{side}.png"));
        for k in 1..=3 {
            std::fs::copy(&first, folder.join(format!("{side}{k}.png"))).unwrap();
        }
        std::fs::remove_file(first).unwrap();
    }
    SourceSpec::Folder(folder.to_owned())
}

fn shown(window: &Window) -> Option<String> {
    window.result().map(|output| output.job.frame.raw.name.clone())
}

fn steps_to(window: &mut Window, key: Key, name: &str, number: f64) {
    window.harness.key_press(key);
    window.until(name, |w| (shown(w).as_deref() == Some(name)).then_some(()));
    window.until("its name", |w| w.has(&format!("of 3, {name}")).then_some(()));
    let field = window.harness.get_by_role_and_label(Role::SpinButton, "Pair").accesskit_node().numeric_value();
    assert_eq!(field, Some(number));
}

#[test]
fn a_folder_has_a_time_line_and_is_held_until_it_is_played() {
    let Some(gpu) = gpu() else { return };
    let folder = tempfile::tempdir().unwrap();
    let mut window = Window::open(&gpu, options(three_pairs(folder.path())));
    window.until("its name", |w| w.has("of 3, left1").then_some(()));
    assert_eq!(window.still_sequence(), 0, "nothing plays");
    let computed = window.core().live().status().engine.computed;
    assert!(computed <= 3, "{computed} results of one pair: with its numbers, for the range, for the pixel");
    steps_to(&mut window, Key::ArrowRight, "left2", 2.0);
    steps_to(&mut window, Key::ArrowRight, "left3", 3.0);
    steps_to(&mut window, Key::ArrowLeft, "left2", 2.0);
    window.harness.key_press(Key::Space);
    window.until("playback", |w| {
        w.core().live().transport().is_some_and(|transport| transport.get().playing).then_some(())
    });
    window.until("the first pair again", |w| (shown(w).as_deref() == Some("left1")).then_some(()));
}

#[test]
fn a_still_has_no_time_line_and_says_what_cannot_be_recorded() {
    let Some(gpu) = gpu() else { return };
    let folder = tempfile::tempdir().unwrap();
    let mut window = Window::open(&gpu, options(pair(folder.path())));
    assert!(!window.has("Position") && !window.has("30/s"));
    window.click(window.harness.get_by_label("Record").rect());
    window.until("why not", |w| w.has("is one pair: nothing comes that could be recorded").then_some(()));
}

#[test]
fn a_pair_that_cannot_be_read_shows_no_other_pair() {
    let Some(gpu) = gpu() else { return };
    let folder = tempfile::tempdir().unwrap();
    let source = three_pairs(folder.path());
    let last = folder.path().join("right3.png");
    let bytes = std::fs::read(&last).unwrap();
    std::fs::write(&last, &bytes[..bytes.len() / 2]).unwrap();
    let mut window = Window::open(&gpu, options(source));
    window.until("the first pair", |w| w.has("left view").then_some(()));
    window.harness.key_press(Key::End);
    window.until("the reason", |w| w.has("pair 3 cannot be read").then_some(()));
    assert!(window.has("right3.png"), "its name");
    for view in ["left view", "depth view", "disparity view"] {
        assert!(!window.has(view), "{view} is another pair's");
    }
    window.harness.key_press(Key::S);
    window.harness.run_steps(3);
    assert!(!window.has("snapshot:"), "nor is that kept as its own");
    window.harness.key_press(Key::ArrowLeft);
    window.until("the pair before", |w| (shown(w).as_deref() == Some("left2") && w.has("left view")).then_some(()));
    window.until("the end of the error", |w| {
        let core = w.core();
        core.notices.all().iter().all(|notice| notice.level != Level::Error).then_some(())
    });
}

#[test]
fn a_still_has_a_time_and_no_rates() {
    let Some(gpu) = gpu() else { return };
    let folder = tempfile::tempdir().unwrap();
    let mut window = Window::open(&gpu, options(pair(folder.path())));
    window.until("its time", |w| w.has("one pair, matched in").then_some(()));
    for words in ["computed", "shown 0", "latency", "dropped", "Pause", "Step"] {
        assert!(!window.has(words), "{words} of one pair");
    }
}

/// Writes a truth of 5 px at all pixels.
fn write_truth(path: &Path) {
    let head = format!("Pf\n{} {}\n-1\n", SIZE.0, SIZE.1).into_bytes();
    let values = std::iter::repeat_n(5.0_f32.to_le_bytes(), SIZE.0 * SIZE.1).flatten();
    std::fs::write(path, head.into_iter().chain(values).collect::<Vec<_>>()).unwrap();
}

#[test]
fn dropped_pair_has_its_truth_in_the_read_out() {
    let Some(mut window) = Window::on_scene() else { return };
    let folder = tempfile::tempdir().unwrap();
    pair(folder.path());
    let files = ["right.png", "disp.pfm", "left.png"].map(|name| folder.path().join(name));
    write_truth(&files[1]);
    window.drop_files(&files);
    window.until("the pair", |w| (shown(w).as_deref() == Some("left")).then_some(()));
    let place = window.place("left view", (0.5, 0.5));
    window.harness.hover_at(place);
    window.until("the truth without a calibration", |w| w.has("truth 5.00 px").then_some(()));
    window.until("the share of errors", |w| w.read("bad-1 all").filter(|percent| *percent > 10.0));
}

#[test]
fn failed_opening_is_reported_and_recent_sources_offered() {
    let Some(gpu) = gpu() else { return };
    let folder = tempfile::tempdir().unwrap();
    let saved = Some(folder.path().join("window.toml"));
    let (one, many) = (folder.path().join("one"), folder.path().join("many"));
    for folder in [&one, &many] {
        std::fs::create_dir(folder).unwrap();
    }
    pair(&one);
    three_pairs(&many);
    let options = || WindowOptions { saved_state: saved.clone(), ..options(SourceSpec::Scene) };
    let mut window = Window::open(&gpu, options());
    window.drop_files(&["clip.mkv".into()]);
    window.until("that it is not there", |w| w.has("cannot open clip.mkv").then_some(()));
    window.drop_files(&[one.join("left.png"), one.join("right.png"), many.clone()]);
    window.until("what was dropped", |w| w.has("cannot be opened together").then_some(()));
    window.drop_files(std::slice::from_ref(&many));
    window.until("the folder", |w| (shown(w).as_deref() == Some("left1")).then_some(()));
    window.drop_files(&[one.join("left.png"), one.join("right.png")]);
    window.until("the pair", |w| (shown(w).as_deref() == Some("left")).then_some(()));
    window.core_mut().save();
    drop(window);

    let mut window = Window::open(&gpu, options());
    let recent = window.core().source.recent.clone();
    let pair = SourceSpec::from_paths(&[one.join("left.png"), one.join("right.png")]).unwrap();
    assert_eq!(recent, [pair, SourceSpec::Folder(PathBuf::from(&many))]);
    window.click(window.harness.get_by_label("Source ▾").rect());
    window.harness.run_steps(3);
    assert!(window.has("one/left.png, right.png"));
    window.click(window.harness.get_by_label_contains("/many").rect());
    window.until("the folder again", |w| (shown(w).as_deref() == Some("left1")).then_some(()));
    assert_eq!(window.core().source.recent[0], SourceSpec::Folder(many));
}
