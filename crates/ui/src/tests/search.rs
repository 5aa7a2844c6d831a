//! Pages that try settings in the background: the map of two parameters, and the search for better settings.

use super::harness::{Window, gpu, options, pair};
use egui::Key;
use egui::accesskit::Role;
use egui_kittest::kittest::{NodeT as _, Queryable as _};
use std::sync::Arc;
use stereopsis_frame::SourceSpec;
use stereopsis_search::{Cell, SearchLimits, SearchProgress};
use stereopsis_stereo::{Preset, StereoParams};

fn open(engine: &str) -> Option<Window> {
    let mut options = options(SourceSpec::Scene);
    options.words[0].text = engine.into();
    // small images, since trials have a low priority beside other tests
    options.words[1].text = "12".into();
    options.source_options.size = Some((64, 48));
    Some(Window::held(&gpu()?, options))
}

#[test]
fn a_sweep_fills_its_map_while_depth_goes_on_and_a_click_takes_a_cell() {
    for engine in ["cpu", "gpu"] {
        let Some(mut window) = open(engine) else { return };
        let before = window.params();
        window.harness.key_press(Key::G);
        window.until("the page", |w| w.has("judged by").then_some(()));
        assert!(window.has("pixels off by more than 1 px"), "the scene has its truth with it");
        assert!(!window.is_enabled("Stop the sweep"));
        window.click(window.harness.get_by_label("Start the sweep").rect());
        let (x, y) = window.until("some cells", |w| {
            let core = w.core();
            let sweep = core.search.sweep.as_ref()?;
            // coarse first: the fourth cell of the fourth row precedes its neighbours by far
            (matches!(sweep.cell(4, 4), Cell::Tried(_)) && matches!(sweep.cell(3, 4), Cell::Waiting)).then_some((4, 4))
        });
        assert_eq!(window.params(), before, "nothing is taken without a click");
        let label = window.until("the cell's label", |w| {
            let core = w.core();
            let sweep = core.search.sweep.as_ref()?;
            let [p1, p2] = [sweep.axes[0].values()[x], sweep.axes[1].values()[y]];
            Some(format!("P1 {p1}, P2 {p2}: "))
        });
        window.until("the cell", |w| w.has(&label).then_some(()));
        let mut named = window.harness.query_all_by_label_contains(&label);
        let is_cell = |node: &egui_kittest::Node<'_>| node.accesskit_node().role() == Role::Button;
        let cell = named.find(is_cell).expect("the cell").rect().center();
        drop(named);
        window.harness.hover_at(cell);
        window.until("its image", |w| w.has("Map of the cell").then_some(()));
        window.click_at(cell);
        let taken = window.until("other parameters", |w| Some(w.params()).filter(|params| *params != before));
        assert!(label.contains(&format!("P1 {}, P2 {}:", taken.p1, taken.p2)), "{label} {taken:?}");
        assert_eq!(StereoParams { p1: before.p1, p2: before.p2, p2_min: before.p2_min, ..taken }, before);
        if window.is_enabled("Stop the sweep") {
            window.click(window.harness.get_by_label("Stop the sweep").rect());
            window.until("the stop", |w| w.is_enabled("Start the sweep").then_some(()));
        }
        window.harness.key_press_modifiers(egui::Modifiers::COMMAND, Key::Z);
        window.until("the way back", |w| (w.params() == before).then_some(()));
    }
}

#[test]
fn a_search_shows_its_front_and_what_is_taken_becomes_b() {
    let Some(mut window) = open("cpu") else { return };
    let before = window.params();
    window.harness.key_press(Key::U);
    window.until("the page", |w| w.has("judged by").then_some(()));
    window.click(window.harness.get_by_label("Add this pair").rect());
    window.until("a pair", |w| w.has("1 pair").then_some(()));
    window.click(window.harness.get_by_label("Start the search").rect());
    window.until("presets", |w| (w.has("balanced loss") && w.has("fast loss")).then_some(()));
    assert!(window.has("Quality against time of the settings that were tried"));
    assert!(window.has("Only presets are proposed"), "one pair says too little for more");
    window.until("the end", |w| (!w.core().search.is_searching()).then_some(()));
    assert_eq!(window.params(), before, "nothing is forced");
    let search = Arc::clone(window.core().search.search.as_ref().expect("a search"));
    let (preset, trial) = search.presets.last().expect("a preset");
    let limits = SearchLimits { max_ms: Some(trial.time_ms / 2.0), ..search.limits };
    window.core_mut().search.search = Some(Arc::new(SearchProgress { limits, ..(*search).clone() }));
    window.harness.run_steps(2);
    assert!(window.has(&format!("Why not {preset}: it takes {:.1} ms a pair, and the limit is", trial.time_ms)));
    window.core_mut().search.search = Some(search);
    window.harness.run_steps(2);
    window.press("Take fast as B");
    let taken = window.until("other parameters", |w| Some(w.params()).filter(|params| *params != before));
    let mut fast = before.clone();
    Preset::Fast.apply(&mut fast);
    assert_eq!((taken.paths, taken.cost), (fast.paths, fast.cost));
    let core = window.core();
    let kept = &core.comparison.as_ref().expect("a comparison").kept;
    assert_eq!(kept.params, before, "A is what was in force");
}

#[test]
fn settings_that_cannot_be_judged_are_not_tried() {
    let Some(gpu) = gpu() else { return };
    let folder = tempfile::tempdir().unwrap();
    let mut window = Window::open(&gpu, options(pair(folder.path())));
    window.harness.key_press(Key::U);
    window.until("the page", |w| w.has("score without truth").then_some(()));
    assert!(window.is_enabled("Start the search"));
    let params = StereoParams { left_right: None, ..window.params() };
    window.core_mut().matching.params = params;
    window.until("the reason", |w| w.has("needs the left-right check").then_some(()));
    assert!(!window.is_enabled("Start the search"));
}
