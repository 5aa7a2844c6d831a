//! Page of measurements: a rectangle is dragged, two points are clicked, and the numbers equal those of the metrics.

use super::harness::{SIZE, Window, gpu, options, pair};
use egui::{Key, Pos2};
use egui_kittest::kittest::Queryable as _;
use stereopsis_frame::SourceSpec;
use stereopsis_metrics::depth_quality::{STEP_PX, depth_quality, distance};

fn open(engine: &str) -> Option<Window> {
    let mut options = options(SourceSpec::Scene);
    options.words[0].text = engine.into();
    let mut window = Window::held(&gpu()?, options);
    window.harness.key_press(Key::L);
    window.until("the numbers", |w| w.has("fill rate").then_some(()));
    window.in_grid();
    Some(window)
}

fn place(window: &Window, view: &str, (x, y): (usize, usize)) -> Pos2 {
    let share = |at: usize, of: usize| (at as f32 + 0.5) / of as f32;
    window.place(view, (share(x, SIZE.0), share(y, SIZE.1)))
}

fn drag(window: &mut Window, from: Pos2, to: Pos2) {
    window.harness.hover_at(from);
    window.harness.step();
    window.harness.drag_at(from);
    window.harness.step();
    window.harness.hover_at(to);
    window.harness.step();
    window.harness.drop_at(to);
    window.harness.run_steps(2);
}

#[test]
fn a_dragged_rectangle_and_two_clicked_points_are_measured_on_both_engines() {
    for engine in ["cpu", "gpu"] {
        let Some(mut window) = open(engine) else { return };
        let (from, to) = (place(&window, "left view", (20, 30)), place(&window, "left view", (69, 69)));
        drag(&mut window, from, to);
        let region = window.core().marked.region.expect("a rectangle");
        let sides = [(region.x, 20), (region.y, 30), (region.width, 50), (region.height, 40)];
        assert!(sides.iter().all(|(side, wanted)| side.abs_diff(*wanted) <= 1), "{region:?}");
        let output = window.until("a map on the host", |w| w.result().filter(|output| output.map.is_some()));
        assert_eq!(output.engine.kind.word(), engine);
        let (map, geometry) = (output.map.as_ref().unwrap(), output.job.frame.geometry.as_ref());
        let quality = depth_quality(map, geometry, region, None);
        let fill = window.until("the rectangle's fill rate", |w| {
            let fill = w.read("fill rate")?;
            (f64::from(fill) - quality.fill_percent).abs().lt(&0.06).then_some(fill)
        });
        assert!(fill > 50.0, "{fill}");
        let plane = quality.plane.expect("a plane");
        let read = f64::from(window.read("distance of the plane").expect("a distance"));
        assert!((read - plane.distance_mm).abs() <= 5e-4 * plane.distance_mm.max(1.0), "{read} {plane:?}");
        assert!(window.has("no true distance was given"));

        let measured = |x: usize, y: usize| map.disparity_px(x, y).is_some() && map.reasons.at(x, y) == 0;
        let pixels = (0..SIZE.1).step_by(7).flat_map(|y| (0..SIZE.0).step_by(7).map(move |x| (x, y)));
        let pixels: Vec<_> = pixels.filter(|&(x, y)| measured(x, y)).collect();
        let [first, .., second] = pixels[..] else { panic!("pixels with a disparity") };
        for pixel in [first, second] {
            let at = place(&window, "depth view", pixel);
            window.click_at(at);
        }
        let found = distance(map, geometry, [first, second], STEP_PX).expect("a distance");
        let near = |read: f32, exact: f64| (f64::from(read) - exact).abs() <= 1e-3 * exact.max(1.0);
        window.until("the distance", |w| w.read("distance of the points").filter(|mm| near(*mm, found.distance_mm)));
        assert!(near(window.read("its expected error ±").expect("an error"), found.total_mm), "{found:?}");
        assert!(near(window.read("± of quantisation").expect("a part"), found.quantisation_mm), "{found:?}");
        assert!(window.has("the calibration does not say how exact it is"), "an unknown part is named");
        assert!(!window.has("step of 1/16 px"));
        let third = place(&window, "left view", (5, 5));
        window.click_at(third);
        assert!(window.has("click the second one"), "a third point begins anew");
        assert!(window.core().pointer.pinned.is_none(), "a click measures, and holds no pixel");
        window.click(window.harness.get_by_label("Middle").rect());
        window.until("the middle", |w| w.core().marked.region.is_none().then_some(()));
    }
}

#[test]
fn trends_come_with_pairs_and_begin_anew_on_request() {
    let Some(mut window) = Window::on_scene() else { return };
    window.harness.key_press(Key::L);
    let results = |w: &Window| w.core().pipeline.measured.as_ref().map_or(0, |found| found.results);
    window.until("twenty pairs", |w| (results(w) >= 20).then_some(()));
    window.until("trends", |w| ["better", "worse", "steady"].iter().any(|word| w.has(word)).then_some(()));
    assert!(window.read("temporal noise").is_some());
    window.press("Begin anew");
    window.until("fewer", |w| (1..20).contains(&results(w)).then_some(()));
    window.harness.key_press(Key::L);
    window.harness.run_steps(2);
    assert!(!window.has("fill rate"), "the page is closed");
}

#[test]
fn quantities_without_calibration_show_the_reason() {
    let Some(gpu) = gpu() else { return };
    let folder = tempfile::tempdir().unwrap();
    let mut window = Window::open(&gpu, options(pair(folder.path())));
    window.harness.key_press(Key::L);
    window.until("the numbers", |w| w.read("fill rate"));
    assert!(window.has("no calibration: only with focal length and baseline"));
    assert!(window.read("sub-pixel RMS").is_some(), "a plane in disparities needs none");
    assert!(window.read("score without truth").is_some());
    window.press("Copy as measure command");
    window.until("the command", |w| w.has("stereopsis measure --source").then_some(()));
}
