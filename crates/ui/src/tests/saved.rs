//! Saved state: the window starts as it was closed, also by an earlier version, and after a crash.

use super::harness::{SIZE, Window, gpu, options};
use crate::core::ViewSettings;
use crate::core::saved::SavedState;
use crate::view::ViewKind;
use crate::{Session, WindowOptions};
use egui::accesskit::Role;
use egui_kittest::kittest::{NodeT as _, Queryable as _};
use std::path::{Path, PathBuf};
use stereopsis_frame::{SourceOptions, SourceSpec};
use stereopsis_stereo::{CostKind, Fill, StereoParams, Temporal};

#[test]
fn a_window_that_an_earlier_version_saved_opens_unchanged() {
    let Some(gpu) = gpu() else { return };
    let folder = tempfile::tempdir().unwrap();
    let saved = folder.path().join("window.toml");
    let fixture = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/fixtures/ecdb518/window.toml");
    std::fs::copy(&fixture, &saved).unwrap();
    let source_options = SourceOptions { size: Some(SIZE), ..WindowOptions::default().source_options };
    let options = WindowOptions { saved_state: Some(saved.clone()), source_options, ..WindowOptions::default() };
    let window = Window::open(&gpu, options);
    let params = window.core().live().params();
    let StereoParams { cost, p1, paths, num_disparities, fill, temporal, .. } = *params;
    let expected = (CostKind::Rank, 20, 4, 48, Fill::Interpolate, Temporal::On);
    assert_eq!((cost, p1, paths, num_disparities, fill, temporal), expected);
    let by_reason = window.harness.get_by_role_and_label(Role::CheckBox, "Colour invalid by reason");
    assert_eq!(by_reason.accesskit_node().toggled(), Some(egui::accesskit::Toggled::True));
    // this version saves an equal state
    window.core_mut().save();
    let table = |path: &Path| std::fs::read_to_string(path).unwrap().parse::<toml::Table>().unwrap();
    let (before, after) = (table(&fixture), table(&saved));
    for (key, value) in &before {
        assert_eq!(after.get(key), Some(value), "{key}");
    }
    assert!(names(folder.path(), "before").is_empty(), "nothing of it is wrong");
}

#[test]
fn unusable_state_is_kept_and_named_on_the_screen() {
    let Some(gpu) = gpu() else { return };
    let folder = tempfile::tempdir().unwrap();
    let saved = folder.path().join("window.toml");
    let text = |p1: &str| format!("views = [\"left\"]\nfuture = 1\n[settings]\nengine = \"cpu\"\np1 = {p1}\n");
    let all = ViewSettings::default().wide.views;
    let cases = [
        (text("[20"), all, "the saved state of the window cannot be read: line "),
        (text("\"many\""), vec![ViewKind::Left], "the saved state of the window has wrong values: settings.p1"),
    ];
    let place = format!("rename it to window.toml while no window is open, in {}", folder.path().display());
    for ((before, views, why), aside) in cases.into_iter().zip(["window-before.toml", "window-before_2.toml"]) {
        std::fs::write(&saved, &before).unwrap();
        let mut window = Window::open(&gpu, kept(&saved, true));
        window.until("the message", |w| w.has(why).then_some(()));
        assert!(window.has(&format!("It is kept as {aside}: to use it, correct it and {place}")), "{aside}");
        let aside = folder.path().join(aside);
        assert_eq!(std::fs::read_to_string(&aside).unwrap(), before);
        assert_eq!(window.params().p1, StereoParams::default().p1);
        assert_eq!(window.core().view.wide.views, views, "{why}");
        assert!(SavedState::read(&saved).is_ok());
        window.click(window.harness.get_by_label("Dismiss").rect());
        window.until("its end", |w| (!w.has(why)).then_some(()));
    }
    let written = std::fs::read_to_string(&saved).unwrap();
    assert!(written.contains("future = 1"), "of a later version: {written}");
    let mut window = Window::open(&gpu, kept(&saved, true));
    window.harness.run_steps(3);
    assert!(!window.has("It is kept as"), "it is said once");
}

#[test]
fn session_without_a_window_writes_no_state() {
    let folder = tempfile::tempdir().unwrap();
    let saved = folder.path().join("window.toml");
    for text in ["source = \"scene\"\nfuture = 1\n", "views = [\n"] {
        std::fs::write(&saved, text).unwrap();
        let mut session = Session::start(kept(&saved, true), None).unwrap();
        session.core.save();
        session.core.note_closed();
        drop(session);
        assert_eq!(std::fs::read_to_string(&saved).unwrap(), text);
        assert_eq!(names(folder.path(), "").len(), 2, "the file and its lock");
    }
}

fn names(folder: &Path, part: &str) -> Vec<PathBuf> {
    let paths = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    paths.filter(|path| path.file_name().unwrap().to_string_lossy().contains(part)).collect()
}

/// Returns options on the scene with this saved state, and with flags or without.
fn kept(saved: &Path, has_flags: bool) -> WindowOptions {
    let options = WindowOptions { saved_state: Some(saved.to_owned()), ..options(SourceSpec::Scene) };
    let source_options = WindowOptions::default().source_options;
    if has_flags { options } else { WindowOptions { words: Vec::new(), source: None, source_options, ..options } }
}

#[test]
fn state_is_written_soon_and_only_after_a_change() {
    let Some(gpu) = gpu() else { return };
    let folder = tempfile::tempdir().unwrap();
    let saved = folder.path().join("deep/window.toml");
    let mut window = Window::open(&gpu, kept(&saved, true));
    let text = || std::fs::read_to_string(&saved).unwrap_or_default();
    window.until("the first state", |_| text().contains("colour-reasons = false").then_some(()));
    window.harness.key_press(egui::Key::I);
    window.until("the changed state", |_| text().contains("colour-reasons = true").then_some(()));
    // the depth range is fitted to the first results, so the file changes for a while
    let is_same = (0..5).any(|_| {
        let at = || saved.metadata().unwrap().modified().unwrap();
        let (before, written) = (text(), at());
        let end = std::time::Instant::now() + std::time::Duration::from_millis(2500);
        window.until("some time", |_| (std::time::Instant::now() > end).then_some(()));
        assert!(text() != before || at() == written, "the same is not written again");
        text() == before
    });
    assert!(is_same);
    drop(window);
    assert!(names(saved.parent().unwrap(), "running").is_empty(), "it was closed");
}

#[test]
fn window_after_a_crash_names_restored_settings() {
    let Some(gpu) = gpu() else { return };
    let folder = tempfile::tempdir().unwrap();
    let saved = folder.path().join("window.toml");
    let before = "source = \"scene\"\ndepth-range-m = [0.5, 4.0]\n[settings]\np1 = \"11\"\nengine = \"cpu\"\n[rig.source]\nsize = \"160x120\"\n[rig.calibration]\nscale = \"1/2\"\n";
    std::fs::write(&saved, before).unwrap();
    std::fs::write(folder.path().join("window-1-0.running"), "").unwrap();
    let mut window = Window::open(&gpu, kept(&saved, false));
    window.until("what goes on", |w| w.has("the window was not closed the last time").then_some(()));
    for part in ["--scale 1/2", "p1 11", "engine cpu", "depth range 0.50 to 4.00 m"] {
        assert!(window.has(part), "{part}");
    }
    assert_eq!(names(folder.path(), "running").len(), 1, "its own");
    window.click(window.harness.get_by_label("Start fresh").rect());
    window.until_computed(|params| params.p1 == StereoParams::default().p1);
    window.until("what is discarded", |w| w.has("back to the defaults without rig --scale 1/2").then_some(()));
    let aside = &names(folder.path(), "before")[0];
    let kept_aside = std::fs::read_to_string(aside).unwrap();
    assert!(kept_aside.contains("p1 = \"11\"") && kept_aside.contains("scale = \"1/2\""), "{kept_aside}");
    window.until("the usual size", |w| (w.result()?.job.frame.size().0 > SIZE.0).then_some(()));
    drop(window);
    let mut window = Window::open(&gpu, kept(&saved, false));
    window.harness.run_steps(3);
    assert!(!window.has("the window was not closed"), "the one before was");
}

#[test]
fn unwritable_folder_gives_one_message_until_writable() {
    let Some(gpu) = gpu() else { return };
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("a file");
    std::fs::write(&file, "").unwrap();
    let mut window = Window::open(&gpu, kept(&file.join("window.toml"), true));
    window.until("the message", |w| w.has("the window's state is not saved: cannot write").then_some(()));
    window.click(window.harness.get_by_label("Dismiss").rect());
    let end = std::time::Instant::now() + std::time::Duration::from_millis(4500);
    window.harness.key_press(egui::Key::I);
    window.until("some time", |_| (std::time::Instant::now() > end).then_some(()));
    assert!(!window.has("the window's state is not saved"), "it is said once");
}

#[test]
fn an_address_is_kept_without_its_secrets_and_asked_for() {
    let Some(gpu) = gpu() else { return };
    let folder = tempfile::tempdir().unwrap();
    let saved = folder.path().join("window.toml");
    // an earlier version kept the token
    let before = "source = \"http://admin:***@127.0.0.1:9/x\"\nrecent = [\"http://127.0.0.1:9/y?token=geheim\"]\n";
    std::fs::write(&saved, before).unwrap();
    let options = WindowOptions {
        source_options: SourceOptions { size: Some(SIZE), ..WindowOptions::default().source_options },
        ..kept(&saved, false)
    };
    let mut window = Window::open(&gpu, options);
    window.until("what is missing", |w| w.has("was kept without what stands before the @").then_some(()));
    let shown = |w: &Window| {
        let core = w.core();
        let sources = core.source.recent.iter().chain([&core.source.spec]);
        sources.map(ToString::to_string).collect::<Vec<_>>().join(" ")
    };
    assert_eq!(shown(&window), "http://127.0.0.1:9/y?token=*** http://***@127.0.0.1:9/x");
    window.core_mut().save();
    let text = std::fs::read_to_string(&saved).unwrap();
    assert!(text.contains("token=***") && text.contains("//***@") && !text.contains("geheim"), "{text}");
    window.core_mut().open_again();
    window.until("the field", |w| w.harness.query_by_label("Address of the stream").map(drop));
    window.press("OK");
    window.until("the field again", |w| w.harness.query_by_label("Address of the stream").map(drop));
    let typed = window.core().typed.clone().unwrap();
    assert_eq!(typed.text, "http://***@127.0.0.1:9/x");
    assert!(typed.error.unwrap().contains("give the whole address again"));
    window.harness.key_press_modifiers(egui::Modifiers::COMMAND, egui::Key::A);
    window.harness.get_by_label("Address of the stream").type_text("scene");
    window.harness.run_steps(2);
    window.press("OK");
    window.until("the scene", |w| (w.core().source.spec == SourceSpec::Scene).then_some(()));
    let mut core = window.core_mut();
    core.source.note_opened(&SourceSpec::parse("http://127.0.0.1:9/y?token=other").unwrap());
    assert_eq!(core.source.recent.len(), 1, "the same address");
    core.notices.error("cannot read http://me:geheim@127.0.0.1:9/y");
    assert!(core.notices.all().iter().all(|notice| !notice.text.contains("geheim")));
}
