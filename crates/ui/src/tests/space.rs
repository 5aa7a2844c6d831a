//! 3-D view: opened by its key, turned by the pointer, saved as a file.

use super::harness::{SIZE, Window, gpu, options, pair};
use crate::Surface;
use crate::core::Theme;
use crate::space::PointsWish;
use crate::space::commands::Points;
use egui::{Key, Modifiers, PointerButton, Pos2, vec2};
use egui_kittest::kittest::{NodeT as _, Queryable as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use stereopsis_frame::SourceSpec;
use stereopsis_frame::engine::Output;
use stereopsis_images::CloudShape;
use stereopsis_images::fixture::read_ply;
use stereopsis_stereo::depth;

/// Opens a window on a held pair of the scene with the 3-D view alone.
fn open(engine: &str) -> Option<Window> {
    let mut options = options(SourceSpec::Scene);
    options.words[0].text = engine.into();
    let mut window = Window::held(&gpu()?, options);
    window.harness.key_press(Key::V);
    window.until("the view", |w| w.has("3d view").then_some(()));
    let title = window.harness.get_by_label("3d title").rect().left_center() + vec2(12.0, 0.0);
    double_click(&mut window, title);
    window.until("the view alone", |w| (!w.has("left view")).then_some(()));
    window.harness.run_steps(3);
    Some(window)
}

fn button(window: &mut Window, pos: Pos2, button: PointerButton, pressed: bool) {
    let modifiers = Modifiers::NONE;
    window.harness.input_mut().events.push(egui::Event::PointerButton { pos, button, pressed, modifiers });
}

fn double_click(window: &mut Window, place: Pos2) {
    window.harness.hover_at(place);
    window.harness.step();
    for _ in 0..2 {
        button(window, place, PointerButton::Primary, true);
        button(window, place, PointerButton::Primary, false);
    }
    window.harness.run_steps(3);
}

fn drag(window: &mut Window, with: PointerButton, from: (f32, f32), to: (f32, f32)) {
    let [from, to] = [from, to].map(|share| window.place("3d view", share));
    window.harness.hover_at(from);
    window.harness.step();
    button(window, from, with, true);
    window.harness.step();
    window.harness.hover_at(to);
    window.harness.step();
    button(window, to, with, false);
    window.harness.run_steps(2);
    window.harness.remove_cursor();
    window.harness.run_steps(2);
}

fn choose(window: &mut Window, label: &str) {
    window.click(window.harness.get_by_label("Points shown").rect());
    window.harness.run_steps(3);
    window.click(window.harness.get_by_label(label).rect());
    window.harness.run_steps(3);
    assert!(window.has("automatic"), "the menu stays open for more");
    window.harness.key_press(Key::Escape);
    window.harness.run_steps(3);
    assert!(!window.has("automatic") && !window.has("left view"), "the menu is closed, and nothing else");
}

/// Returns the drawn view without its borders.
fn picture(window: &mut Window) -> Vec<[u8; 4]> {
    let view = window.harness.get_by_label("3d view").rect().shrink(2.0);
    let all = window.harness.render().expect("an image");
    let rows = view.top() as u32..view.bottom() as u32;
    let places = rows.flat_map(|y| (view.left() as u32..view.right() as u32).map(move |x| (x, y)));
    places.map(|(x, y)| all.get_pixel(x, y).0).collect()
}

/// Returns the share of the pixels that differ.
fn difference(a: &[[u8; 4]], b: &[[u8; 4]]) -> f32 {
    a.iter().zip(b).filter(|(a, b)| a != b).count() as f32 / a.len() as f32
}

fn held(window: &mut Window) -> Arc<Output> {
    window.core().live().set_read_back(true);
    window.until("numbers on the host", |w| w.result().filter(|output| output.map.is_some()))
}

#[test]
fn the_view_turns_and_goes_back_to_what_the_camera_sees() {
    for engine in ["cpu", "gpu"] {
        let Some(mut window) = open(engine) else { return };
        assert!(window.has("3d view") && window.core().pose.is_none());
        window.harness.remove_cursor();
        window.harness.run_steps(2);
        let before = picture(&mut window);
        let colours: std::collections::HashSet<_> = before.iter().collect();
        assert!(colours.len() > 100, "{} colours of {engine}", colours.len());
        drag(&mut window, PointerButton::Primary, (0.4, 0.5), (0.6, 0.55));
        let pose = window.core().pose.expect("a pose");
        assert!(pose.yaw_rad > 0.3 && pose.pitch_rad > 0.0, "{pose:?}");
        let turned = picture(&mut window);
        assert!(difference(&before, &turned) > 0.2, "{}", difference(&before, &turned));

        drag(&mut window, PointerButton::Secondary, (0.5, 0.5), (0.6, 0.5));
        let moved = window.core().pose.expect("a pose");
        assert!((moved.yaw_rad - pose.yaw_rad).abs() < 1e-12 && moved.pivot_m != pose.pivot_m, "{moved:?}");
        assert!(difference(&turned, &picture(&mut window)) > 0.2);

        window.click(window.harness.get_by_label("As the camera sees it").rect());
        window.harness.run_steps(3);
        window.harness.remove_cursor();
        window.harness.run_steps(2);
        assert!(window.core().pose.is_none());
        assert!(picture(&mut window) == before, "as before");
    }
}

#[test]
fn keys_fly_after_a_click_and_step_through_pairs_otherwise() {
    let Some(mut window) = open("cpu") else { return };
    let middle = window.place("3d view", (0.5, 0.5));
    window.click_at(middle);
    let sequence = window.sequence();
    for key in [Key::ArrowRight, Key::ArrowUp, Key::PageUp] {
        window.harness.key_press(key);
        window.harness.run_steps(2);
    }
    let pose = window.core().pose.expect("a pose");
    let step_m = 0.05 * pose.distance_m;
    let eye = pose.eye_m();
    assert!((eye - glam::dvec3(step_m, -step_m, step_m)).length() < 1e-9, "{eye} by steps of {step_m}");
    assert_eq!(window.still_sequence(), sequence, "the arrows were the view's");
    window.harness.key_press(Key::Num0);
    window.harness.run_steps(2);
    assert!(window.core().pose.is_none(), "the whole image");
    window.harness.remove_cursor();
    window.harness.run_steps(2);
    let left = window.harness.get_by_label("3d title").rect().right_center() + vec2(0.0, -200.0);
    window.harness.hover_at(left);
    window.harness.run_steps(2);
    window.harness.key_press(Key::ArrowRight);
    window.until("the next pair", |w| (w.sequence() != sequence).then_some(()));
}

#[test]
fn the_wheel_goes_nearer_and_a_double_click_back() {
    let Some(mut window) = open("cpu") else { return };
    let middle = window.place("3d view", (0.5, 0.5));
    window.harness.hover_at(middle);
    window.harness.step();
    window.harness.input_mut().events.push(egui::Event::MouseWheel {
        unit: egui::MouseWheelUnit::Line,
        delta: vec2(0.0, 3.0),
        phase: egui::TouchPhase::Move,
        modifiers: Modifiers::NONE,
        source: egui::MouseWheelSource::Wheel,
    });
    window.harness.run_steps(10);
    let pose = window.core().pose.expect("a pose");
    assert!(pose.eye_m().z > 0.1 && pose.eye_m().x == 0.0, "nearer: {pose:?}");
    double_click(&mut window, middle);
    assert!(window.core().pose.is_none());
}

#[test]
fn space_view_without_calibration_shows_the_reason() {
    let Some(gpu) = gpu() else { return };
    let folder = tempfile::tempdir().unwrap();
    let mut window = Window::open(&gpu, options(pair(folder.path())));
    window.harness.key_press(Key::V);
    window.until("the reason", |w| w.has("No points: no calibration").then_some(()));
    assert!(!window.has("Save points"));
}

#[test]
fn colour_surface_and_density_change_what_is_drawn() {
    let Some(mut window) = open("cpu") else { return };
    let settings = |w: &Window| w.core().view.space;
    let mut before = picture(&mut window);
    for choice in ["points by depth", "as points", "every 4th pixel", "grid and cameras", "as mesh"] {
        let old = settings(&window);
        choose(&mut window, choice);
        window.harness.remove_cursor();
        window.harness.run_steps(2);
        let now = picture(&mut window);
        assert!(settings(&window) != old && difference(&before, &now) > 0.0, "{choice}");
        before = now;
    }
    assert_eq!(settings(&window).every, Some(4));
    window.click(window.harness.get_by_label("Points shown").rect());
    window.harness.run_steps(3);
    assert!(!window.is_enabled("points by confidence"), "it is not computed");
}

fn wish(every: usize, has_faces: bool) -> PointsWish {
    PointsWish { shape: CloudShape { every, has_faces, ..CloudShape::default() }, has_colours: true }
}

/// Writes the shown points as after the dialog.
fn save(window: &Window, path: PathBuf, output: &Arc<Output>, wish: PointsWish) {
    let mut core = window.core_mut();
    let file = crate::space::commands::points_file(&core, Arc::clone(output), wish).expect("a calibrated source");
    crate::space::commands::write_points(&mut core, path, false, file);
}

fn read(path: &Path) -> (Vec<Vec<f64>>, usize) {
    let ply = read_ply(&std::fs::read(path).unwrap());
    assert_eq!(ply.names.join(" "), "x y z red green blue");
    (ply.points, ply.faces.len())
}

#[test]
fn the_saved_file_has_the_points_that_are_shown() {
    for engine in ["cpu", "gpu"] {
        let Some(mut window) = open(engine) else { return };
        {
            let view = &mut window.core_mut().view;
            view.depth_range_m = Some((1.0, 3.0));
            (view.space.is_limited, view.space.surface) = (true, Surface::Points);
        }
        window.harness.run_steps(2);
        let output = held(&mut window);
        let folder = tempfile::tempdir().unwrap();
        let (map, geometry) = (output.map.as_ref().unwrap(), output.job.frame.geometry.unwrap());
        let rgb = output.job.frame.left.rgb.as_ref();
        for every in [1, 3] {
            let asked = folder.path().join(format!("points-{every}.ply"));
            save(&window, asked.clone(), &output, wish(every, false));
            window.until("the message", |w| w.has(&format!("points-{every}.ply")).then_some(()));
            let (points, faces) = read(&asked);
            let pixels = (0..SIZE.1).step_by(every).flat_map(|y| (0..SIZE.0).step_by(every).map(move |x| (x, y)));
            let depth = |(x, y)| depth::depth_m(map.values.at(x, y), &geometry);
            let shown: Vec<_> = pixels.filter(|&pixel| (1.0..=3.0).contains(&depth(pixel))).collect();
            assert_eq!((points.len(), faces), (shown.len(), 0), "every {every}");
            assert!(points.len() > 1000 / (every * every));
            let number = shown.len() / 2;
            let ((x, y), point) = (shown[number], &points[number]);
            let z = depth((x, y));
            let wanted = [
                (x as f32 - geometry.cx_px as f32) * z / geometry.focal_px as f32,
                (y as f32 - geometry.cy_px as f32) * z / geometry.focal_px as f32,
                z,
            ];
            let is_there = point.iter().zip(wanted).all(|(a, b)| (a - f64::from(b)).abs() < 1e-5);
            assert!(is_there, "{point:?} instead of {wanted:?}");
            let colour = point[3..].iter().map(|&part| part as u8);
            assert!(rgb.is_none_or(|rgb| colour.eq(rgb.at(x, y))), "{point:?}");
        }
        // an existing file is never replaced without a confirmation
        save(&window, folder.path().join("points-3.ply"), &output, wish(1, false));
        window.until("the error", |w| {
            let core = w.core();
            let says = |text: &str| text.contains("points-3.ply") && !text.contains('→');
            core.notices.all().iter().any(|notice| says(&notice.text)).then_some(())
        });
        let size = |name: &str| read(&folder.path().join(name)).0.len();
        assert!(size("points-3.ply") < size("points-1.ply"));
        save(&window, folder.path().join("mesh.ply"), &output, wish(1, true));
        window.until("the message", |w| w.has("triangles").then_some(()));
        let (points, faces) = read(&folder.path().join("mesh.ply"));
        assert!(faces > points.len(), "{faces} triangles");
    }
}

#[test]
fn a_narrow_window_has_room_for_the_controls() {
    let Some(mut window) = Window::on_scene() else { return };
    for size in [vec2(512.0, 700.0), vec2(1024.0, 700.0)] {
        window.harness.set_size(size);
        window.harness.run_steps(4);
        if !window.has("3d view") {
            window.harness.key_press(Key::V);
            window.until("the view", |w| w.has("3d view").then_some(()));
            window.harness.run_steps(3);
        }
        let view = window.harness.get_by_label("3d view").rect();
        let rects: Vec<_> = ["Points shown", "As the camera sees it", "Save points …"]
            .map(|label| window.harness.get_by_label(label).rect())
            .into();
        for (i, rect) in rects.iter().enumerate() {
            assert!(rect.left() >= view.left() && rect.right() <= view.right(), "{size:?}: {rect:?} in {view:?}");
            assert!(rect.bottom() <= view.top() + 1.0, "above the image: {rect:?}, {view:?}");
            assert!(rects[..i].iter().all(|other| !other.shrink(0.5).intersects(*rect)), "{size:?}: {rects:?}");
        }
        let depth = window.harness.get_by_label("depth view").rect();
        assert!(!depth.shrink(0.5).intersects(view));
        assert!(window.harness.get_by_label("3d view").accesskit_node().label().is_some());
    }
}

#[test]
fn menu_shows_the_size_of_the_written_file() {
    for engine in ["cpu", "gpu"] {
        let Some(mut window) = open(engine) else { return };
        window.click(window.harness.get_by_label("Save points …").rect());
        window.until("the number of triangles", |w| w.has("triangles").then_some(()));
        let has_size = |w: &Window, wish: PointsWish| {
            let size = w.core().points_size;
            size.filter(|(counted, _)| *counted == wish).map(|(_, size)| size)
        };
        let mesh = window.until("its size", |w| has_size(w, wish(1, true)));
        window.click(window.harness.get_by_label("points only").rect());
        let points = window.until("its size", |w| has_size(w, wish(1, false)));
        assert_eq!((points.points, points.faces), (mesh.points, 0));
        window.harness.run_steps(3);
        assert!(window.has(&format!("{} points", points.points)) && !window.has("triangles"));
        for label in ["colours", "normals"] {
            window.click(window.harness.get_by_label(label).rect());
            window.harness.run_steps(3);
        }
        let chosen = window.feature::<Points>().offered.expect("the menu is open");
        assert!(chosen.shape.has_normals && !chosen.has_colours && !chosen.shape.has_faces);
        let output = held(&mut window);
        let folder = tempfile::tempdir().unwrap();
        for (name, wish, names) in
            [("mesh.ply", wish(1, true), "x y z red green blue"), ("normals.ply", chosen, "x y z nx ny nz")]
        {
            let path = folder.path().join(name);
            save(&window, path.clone(), &output, wish);
            window.until("the message", |w| w.has(name).then_some(()));
            let ply = read_ply(&std::fs::read(&path).unwrap());
            assert_eq!((ply.names.join(" ").as_str(), ply.points.len()), (names, mesh.points), "{engine}");
            assert_eq!(ply.faces.len(), if wish.shape.has_faces { mesh.faces } else { 0 });
        }
        window.harness.key_press(Key::Escape);
        window.harness.run_steps(3);
        assert!(window.feature::<Points>().offered.is_none(), "closed, nothing is counted");
    }
}

#[test]
fn the_ground_follows_the_theme_until_another_is_chosen() {
    let Some(mut window) = open("cpu") else { return };
    window.core_mut().view.space.is_limited = true;
    window.core_mut().view.depth_range_m = Some((900.0, 1000.0)); // leaves nothing but the ground
    window.core_mut().view.space.has_lines = false;
    let ground = |window: &mut Window, theme: Theme| {
        window.core_mut().view.theme = theme;
        window.harness.remove_cursor();
        window.harness.run_steps(3);
        let picture = picture(window);
        picture[picture.len() / 3][0]
    };
    assert_eq!([Theme::Dark, Theme::Light].map(|theme| ground(&mut window, theme)), [10, 255]);
    choose(&mut window, "background dark");
    assert_eq!([Theme::Light, Theme::Dark].map(|theme| ground(&mut window, theme)), [10, 10]);
    choose(&mut window, "background light");
    assert_eq!([Theme::Light, Theme::Dark].map(|theme| ground(&mut window, theme)), [255, 255]);
}

#[test]
fn a_moved_view_is_coarse_at_once_and_fine_a_moment_later() {
    let Some(gpu) = gpu() else { return };
    if !gpu.info.software {
        return; // other adapters always draw all points
    }
    let mut options = options(SourceSpec::Scene);
    options.source_options.size = Some((640, 480));
    let mut window = Window::held(&gpu, options);
    window.harness.key_press(Key::V);
    window.until("the view", |w| w.has("3d view").then_some(()));
    window.harness.run_steps(20);
    let still = picture(&mut window);
    let [from, to] = [(0.4, 0.5), (0.6, 0.5)].map(|share| window.place("3d view", share));
    window.harness.hover_at(from);
    window.harness.step();
    button(&mut window, from, PointerButton::Primary, true);
    window.harness.run_steps(2);
    assert!(difference(&still, &picture(&mut window)) < 0.01, "a press moves nothing, and changes nothing");
    window.harness.hover_at(to);
    window.harness.run_steps(2);
    let moving = picture(&mut window);
    window.harness.run_steps(3); // 0.25 s each
    let settled = picture(&mut window);
    assert!(difference(&moving, &settled) > 0.05, "in full: {}", difference(&moving, &settled));
    button(&mut window, to, PointerButton::Primary, false);
    for _ in 0..4 {
        window.harness.step();
        assert!(difference(&picture(&mut window), &settled) < 0.01, "and stays so");
    }
}
