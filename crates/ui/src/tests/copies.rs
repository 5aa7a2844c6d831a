//! Maps copied from the GPU, limited to those that a figure or the pointer needs.

use super::harness::{Window, gpu, options};
use egui::Key;
use std::sync::Arc;
use std::time::{Duration, Instant};
use stereopsis_frame::SourceSpec;
use stereopsis_frame::engine::Output;

/// Shows two seconds of pairs, and returns the number of pairs, of maps on the host, and of maps that figures may need at most.
fn watch(window: &mut Window) -> (usize, usize, usize) {
    let start = Instant::now();
    let mut last: Option<Arc<Output>> = None;
    let (mut pairs, mut copies) = (0, 0);
    while start.elapsed() < Duration::from_secs(2) {
        window.harness.step();
        let output = window.result().expect("a result");
        if last.as_ref().is_none_or(|last| !Arc::ptr_eq(last, &output)) {
            pairs += 1;
            copies += usize::from(output.map.is_some());
            last = Some(output);
        }
        std::thread::sleep(Duration::from_millis(5));
    }
    let for_figures = start.elapsed().as_millis() as usize / 300 + 2; // one per 300 ms, and up to two in flight
    (pairs, copies, for_figures)
}

#[test]
fn maps_are_copied_to_the_host_only_on_demand() {
    let Some(gpu) = gpu() else { return };
    let mut options = options(SourceSpec::Scene);
    options.words[0].text = "gpu".into();
    let mut window = Window::open(&gpu, options);
    window.harness.remove_cursor();
    watch(&mut window); // the start needs maps of its own
    for view in ["the images", "the 3-D view"] {
        let (pairs, copies, for_figures) = watch(&mut window);
        assert!(
            pairs > 0 && copies <= for_figures,
            "{view}: {copies} copies of {pairs} pairs, for {for_figures} figures"
        );
        window.harness.key_press(Key::V);
        window.harness.run_steps(3);
    }
    let place = window.place("disparity view", (0.5, 0.5));
    window.harness.hover_at(place);
    window.until("the pixel under the pointer", |w| w.core().pointer.pixel());
    let (pairs, copies, _) = watch(&mut window);
    assert!(copies + 3 >= pairs, "the pointer reads a number of every pair: {copies} copies of {pairs} pairs");
    window.harness.remove_cursor();
    window.harness.run_steps(3);
    let last = window.sequence();
    window.until("pairs without the pointer", |w| (w.sequence() > last + 2).then_some(())); // two were in flight
    let (pairs, copies, for_figures) = watch(&mut window);
    assert!(copies <= for_figures, "without the pointer: {copies} copies of {pairs} pairs, for {for_figures} figures");
}
