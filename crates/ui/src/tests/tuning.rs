//! Comparison, explanation, measurement and sweep on a recording that keeps playing.

use super::harness::{Window, gpu, options};
use egui::Key;
use egui_kittest::kittest::Queryable as _;
use stereopsis_frame::SourceSpec;
use stereopsis_recording::Format;
use stereopsis_recording::fixture::ours_with_depth;

/// Number of pairs of the recording, 50 ms apart.
const PAIRS: u64 = 60;

/// Opens a window on a recording that plays in a loop.
fn on_recording() -> Option<(Window, tempfile::TempDir)> {
    let gpu = gpu()?;
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("walk.mcap");
    std::fs::write(&path, ours_with_depth(Format::Ros2, PAIRS, |_| false)).unwrap();
    let mut options = options(SourceSpec::Recording(path));
    options.source_options.looped = true;
    options.calibration.fov_deg = Some(60.0);
    options.calibration.baseline_m = Some(0.065);
    Some((Window::open(&gpu, options), folder))
}

fn plays_on(window: &mut Window) {
    for _ in 0..3 {
        let before = window.sequence();
        window.until("another pair", |w| (w.sequence() != before).then_some(()));
    }
}

#[test]
fn the_pages_work_while_a_recording_plays() {
    let Some((mut window, _folder)) = on_recording() else { return };
    plays_on(&mut window);

    window.harness.key_press(Key::A);
    window.until("both settings of one pair", |w| {
        let core = w.core();
        core.comparison.as_ref()?.judged.as_ref().map(drop)
    });
    plays_on(&mut window);
    let compared = |w: &Window| {
        let core = w.core();
        let [_, b] = core.comparison.as_ref()?.shown.as_ref()?;
        Some(b.job.frame.raw.sequence)
    };
    let before = window.until("a compared pair", |w| compared(w));
    window.until("another compared pair", |w| compared(w).filter(|pair| *pair != before));

    window.harness.key_press(Key::P);
    window.harness.run_steps(3);
    let middle = window.place("left view", (0.5, 0.5));
    window.harness.hover_at(middle);
    window.until("the explanation", |w| w.has("Cost and sum over disparity").then_some(()));
    plays_on(&mut window);

    window.harness.key_press(Key::L);
    window.until("values of several pairs", |w| {
        w.core().pipeline.measured.as_ref().filter(|measured| measured.results > 3).map(drop)
    });
    plays_on(&mut window);

    window.harness.key_press(Key::G);
    window.until("the page", |w| w.has("Start the sweep").then_some(()));
    window.click(window.harness.get_by_label("Start the sweep").rect());
    window.until("cells", |w| w.core().search.sweep.as_ref().filter(|sweep| sweep.done > 3).map(drop));
    plays_on(&mut window);
}
