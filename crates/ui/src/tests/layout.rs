//! Layout: room for the images, nothing that moves, and a distinct look of unmeasured pixels.

use super::harness::{Window, gpu, options};
use crate::{WindowOptions, widgets};
use egui::accesskit::{Role, Toggled};
use egui::{Key, Modifiers, Pos2, Vec2, vec2};
use egui_kittest::kittest::{NodeT as _, Queryable as _};
use stereopsis_frame::SourceSpec;
use stereopsis_settings::settings::{Origin, Word};
use stereopsis_stereo::StereoParams;

fn resize(window: &mut Window, size: Vec2) {
    window.harness.set_size(size);
    window.harness.run_steps(4);
}

fn width_of(window: &Window, view: &str) -> f32 {
    window.harness.query_by_label(view).map_or(0.0, |node| node.rect().width())
}

#[test]
fn narrow_window_shows_two_views_and_a_wide_one_all() {
    let Some(mut window) = Window::on_scene() else { return };
    assert!(window.has("disparity view") && window.has("P1"));
    resize(&mut window, vec2(1024.0, 700.0));
    assert!(window.has("left view") && window.has("depth view") && !window.has("right view"));
    assert!(!window.has("DEPTH DISPLAY"), "the read-outs are folded");
    assert!(width_of(&window, "depth view") > 500.0, "{}", width_of(&window, "depth view"));
    // a panel closed in a narrow window belongs to narrow windows
    window.harness.key_press(Key::M);
    window.harness.run_steps(3);
    assert!(window.harness.query_by_role_and_label(Role::Slider, "P1").is_none());
    assert!(width_of(&window, "depth view") > 600.0, "{}", width_of(&window, "depth view"));
    window.harness.key_press(Key::M);
    resize(&mut window, vec2(720.0, 450.0));
    assert!(width_of(&window, "depth view") > 240.0, "{}", width_of(&window, "depth view"));
    resize(&mut window, vec2(1440.0, 900.0));
    assert!(window.has("right view") && window.has("disparity view"));
}

#[test]
fn penalties_range_and_cost_are_on_screen_from_1024_by_700_on() {
    let Some(mut window) = Window::on_scene() else { return };
    for size in [(1024.0, 700.0), (1199.0, 700.0), (1200.0, 700.0), (1440.0, 900.0)] {
        resize(&mut window, size.into());
        // the lower edge of the panels, where the lines of messages and status begin
        let bottom = window.harness.get_by_label_contains("computed").rect().top();
        for (role, label) in [
            (Role::Slider, "P1"),
            (Role::Slider, "P2"),
            (Role::Slider, "Disparities"),
            (Role::Slider, "First disparity"),
            (Role::ComboBox, "Cost"),
        ] {
            let rect = window.harness.get_by_role_and_label(role, label).rect();
            let room = egui::Rect::from_min_max(Pos2::ZERO, Pos2::new(size.0, bottom));
            assert!(room.contains_rect(rect), "{label} at {size:?}: {rect:?} in {room:?}");
        }
        let [large, small] = ["depth view", "left view"].map(|view| window.harness.get_by_label(view).rect());
        assert!(large.width() > 420.0 && large.height() > 0.4 * size.1, "{size:?}: {large:?} beside {small:?}");
    }
}

#[test]
fn one_view_is_large_beside_an_open_page_and_a_click_exchanges_it() {
    let Some(mut window) = Window::on_scene() else { return };
    for (size, least) in [((1440.0, 900.0), 700.0), ((1024.0, 700.0), 560.0)] {
        resize(&mut window, size.into());
        window.harness.key_press(Key::R);
        window.harness.run_steps(4);
        assert!(window.has("6 Save"), "the page is open");
        let widths = ["depth view", "left view"].map(|view| width_of(&window, view));
        assert!(widths[0] >= least && (60.0..0.6 * least).contains(&widths[1]), "{size:?}: {widths:?}");
        window.harness.key_press(Key::R);
        window.harness.run_steps(4);
    }
    resize(&mut window, vec2(1440.0, 900.0));
    let [large, small] = ["depth view", "left view"].map(|view| width_of(&window, view));
    let at = window.place("left view", (0.5, 0.5));
    window.click_at(at);
    assert!(width_of(&window, "left view") >= large && width_of(&window, "depth view") <= small + 1.0);
    assert!(window.core().pointer.pinned.is_none(), "a click in the strip holds no pixel");
    let at = window.place("left view", (0.5, 0.5));
    window.click_at(at);
    assert!(window.core().pointer.pinned.is_some(), "one in the large image does");
    // a click on the title has the same effect, and a key shows all views in one size
    let title = window.harness.get_by_label("depth title").rect().left_center() + vec2(12.0, 0.0);
    window.click_at(title);
    assert!(width_of(&window, "depth view") >= large);
    window.harness.key_press(Key::J);
    window.harness.run_steps(3);
    assert!((width_of(&window, "left view") - width_of(&window, "depth view")).abs() < 1.0);
}

#[test]
fn a_title_clicked_twice_shows_its_view_alone() {
    let Some(mut window) = Window::on_scene() else { return };
    window.in_grid();
    let before = width_of(&window, "depth view");
    let title = window.harness.get_by_label("depth title").rect().left_center() + vec2(12.0, 0.0);
    window.harness.hover_at(title);
    window.harness.step();
    for pressed in [true, false, true, false] {
        let (button, modifiers) = (egui::PointerButton::Primary, Modifiers::NONE);
        window.harness.input_mut().events.push(egui::Event::PointerButton { pos: title, button, pressed, modifiers });
    }
    window.until("one view", |w| (!w.has("left view")).then_some(()));
    assert!(width_of(&window, "depth view") > 1.3 * before);
    window.harness.key_press(Key::Escape);
    window.until("all views", |w| w.has("left view").then_some(()));
}

#[test]
fn each_panel_has_a_key_and_one_key_hides_both() {
    let Some(mut window) = Window::on_scene() else { return };
    let has_parameters = |w: &Window| w.harness.query_by_role_and_label(Role::Slider, "P1").is_some();
    for (key, parameters, readings) in [
        (Key::M, false, true),
        (Key::M, true, true),
        (Key::N, true, false),
        (Key::H, false, false),
        (Key::H, true, true),
    ] {
        window.harness.key_press(key);
        window.harness.run_steps(3);
        assert_eq!((has_parameters(&window), window.has("DEPTH DISPLAY")), (parameters, readings), "{key:?}");
    }
}

#[test]
fn pages_stand_beside_the_pictures_one_at_a_time_and_escape_closes_them() {
    let Some(mut window) = Window::on_scene() else { return };
    for (key, inside) in [(Key::R, "6 Save"), (Key::D, "Error of a disparity"), (Key::F1, "drag an image")] {
        window.harness.key_press(key);
        window.until("the page", |w| w.has(inside).then_some(()));
        window.harness.run_steps(2);
        let page = window.harness.get_by_label("Close the page").rect();
        for view in ["left view", "depth view", "right view", "disparity view"] {
            assert!(window.harness.get_by_label(view).rect().right() <= page.left(), "{view} under {inside}");
        }
    }
    assert!(!window.has("6 Save"));
    window.harness.key_press(Key::Escape);
    window.until("no page", |w| (!w.has("Close the page")).then_some(()));
}

#[test]
fn messages_and_read_outs_move_nothing() {
    let Some(mut window) = Window::on_scene() else { return };
    window.harness.key_press(Key::Space);
    window.harness.run_steps(3);
    let places = |w: &Window| {
        let view = w.harness.get_by_label("left view").rect();
        (view.min, view.max, w.harness.get_by_role_and_label(Role::ComboBox, "Colour map").rect().min)
    };
    let before = places(&window);
    for number in 0..3 {
        window.core_mut().notices.error(format!("error {number}"));
    }
    window.harness.run_steps(3);
    assert!(window.has("error 2") && window.has("3 messages"));
    assert_eq!(places(&window), before);
    let (at, _) = window.rest_until_read("depth view", (0.5, 0.5), "disparity");
    window.click_at(at);
    window.until("the read-out", |w| w.read("disparity"));
    assert_eq!(places(&window), before);
    // the list contains all messages
    window.click(window.harness.get_by_label_contains("3 messages").rect());
    window.until("the list", |w| (w.has("error 0") && w.has("error 1")).then_some(()));
}

#[test]
fn the_wheel_scrolls_until_the_pointer_has_rested_on_a_slider() {
    let Some(mut window) = Window::on_scene() else { return };
    let before = window.params().p1;
    let slider = window.harness.get_by_role_and_label(Role::Slider, "P1").rect().center();
    let turn = |window: &mut Window| {
        let notch = egui::Event::MouseWheel {
            unit: egui::MouseWheelUnit::Line,
            delta: vec2(0.0, 1.0),
            phase: egui::TouchPhase::Move,
            modifiers: Modifiers::NONE,
            source: egui::MouseWheelSource::Wheel,
        };
        window.harness.input_mut().events.push(notch);
        window.harness.step();
    };
    window.harness.hover_at(slider);
    window.harness.step();
    turn(&mut window);
    window.harness.run_steps(2);
    assert_eq!(window.params().p1, before, "it came by with the wheel turning");
    for _ in 0..60 {
        window.harness.step(); // each step advances the clock
    }
    turn(&mut window);
    window.until_computed(|params| params.p1 == before + 1);
}

#[test]
fn filled_pixels_are_hatched_and_counted_apart() {
    let Some(gpu) = gpu() else { return };
    let word = |name: &str, text: &str| Word { name: name.into(), text: text.into(), origin: Origin::Flag };
    let options = |fill: &str| {
        let plain = options(SourceSpec::Scene);
        let words = [plain.words, vec![word("fill", fill)]].concat();
        WindowOptions { words, ..plain }
    };
    let mut window = Window::open(&gpu, options("interpolate"));
    window.in_grid();
    window.harness.key_press(Key::Space);
    window.until("the shares", |w| (w.has("measured") && w.has("+ filled")).then_some(()));
    window.still_sequence();
    let output = window.result().unwrap();
    let map = output.map.as_ref().expect("numbers of the CPU engine");
    let (width, height) = map.size();
    let filled = (0..height).flat_map(|y| (0..width).map(move |x| (x, y)));
    let is_filled = |x: usize, y: usize| map.reasons.at(x, y) & stereopsis_stereo::reason::FILLED != 0;
    // a hatched block of filled pixels has dark and bright ones for the same disparity
    let block = filled
        .filter(|&(x, y)| x + 4 < width && (0..4).all(|i| is_filled(x + i, y)))
        .find(|&(x, y)| (1..4).all(|i| (map.values.at(x + i, y) - map.values.at(x, y)).abs() < 8));
    let (x, y) = block.expect("four filled pixels in a row");
    let view = window.harness.get_by_label("disparity view").rect();
    let image = window.harness.render().expect("an image");
    let brightness = |i: usize| {
        let at = Pos2::new(
            view.left() + (x as f32 + i as f32 + 0.5) / width as f32 * view.width(),
            view.top() + (y as f32 + 0.5) / height as f32 * view.height(),
        );
        image.get_pixel(at.x as u32, at.y as u32).0[..3].iter().map(|&c| u32::from(c)).sum::<u32>()
    };
    let (darkest, brightest) = ((0..4).map(brightness).min().unwrap(), (0..4).map(brightness).max().unwrap());
    assert!(10 * darkest < 6 * brightest, "{darkest} and {brightest}: filled pixels look measured");
}

#[test]
fn a_changed_parameter_has_a_mark_that_takes_it_back() {
    let Some(mut window) = Window::on_scene() else { return };
    let before = window.params();
    window.focus_slider("P1");
    window.harness.key_press(Key::ArrowRight);
    window.until_computed(|params| params.p1 == before.p1 + 1);
    window.harness.run_steps(2);
    window.click(window.harness.get_by_label(&format!("P1 back to {}", before.p1)).rect());
    window.until_computed(|params| params.p1 == before.p1);
    window.harness.run_steps(2);
    assert!(!window.has("P1 back to"));
}

#[test]
fn groups_of_parameters_fold_each_on_its_own() {
    let Some(mut window) = Window::on_scene() else { return };
    assert!(!window.has("Start angle") && !window.has("Uniqueness"));
    window.click(window.harness.get_by_label("Paths parameters").rect());
    window.harness.run_steps(3);
    assert!(window.has("Start angle") && !window.has("Uniqueness"));
    let group = window.harness.get_by_label("Paths parameters");
    assert_eq!(group.accesskit_node().toggled(), Some(Toggled::True));
}

#[test]
fn settings_of_last_time_are_announced_and_can_be_forgotten() {
    let Some(gpu) = gpu() else { return };
    let folder = tempfile::tempdir().unwrap();
    let saved = folder.path().join("window.toml");
    std::fs::write(&saved, "source = \"scene\"\n[settings]\np1 = \"11\"\nengine = \"cpu\"\n").unwrap();
    let options =
        WindowOptions { saved_state: Some(saved), words: Vec::new(), source: None, ..options(SourceSpec::Scene) };
    let mut window = Window::open(&gpu, options);
    window.until("the announcement", |w| w.has("settings of last time: p1 11").then_some(()));
    window.click(window.harness.get_by_label("Start fresh").rect());
    window.until_computed(|params| params.p1 == stereopsis_stereo::StereoParams::default().p1);
}

#[test]
fn two_numbers_in_the_depth_view_make_depth_of_a_rectified_pair() {
    let Some(gpu) = gpu() else { return };
    let folder = tempfile::tempdir().unwrap();
    let mut window = Window::open(&gpu, options(super::harness::pair(folder.path())));
    assert!(!window.has("Show depth"), "the disparity is large while there is no depth");
    let at = window.place("depth view", (0.5, 0.5));
    window.click_at(at);
    window.until("the fields", |w| w.has("Show depth").then_some(()));
    assert!(!window.is_enabled("Show depth"), "nobody has given a number");
    for (field, number) in [("Field of view of the lens", "70"), ("Baseline", "0.06")] {
        window.click(window.harness.get_by_role_and_label(Role::SpinButton, field).rect());
        window.harness.run_steps(2);
        window.harness.get_by_role_and_label(Role::SpinButton, field).focus();
        window.harness.run_steps(2);
        window.harness.input_mut().events.push(egui::Event::Text(number.to_owned()));
        window.harness.run_steps(2);
        window.harness.key_press(Key::Enter);
        window.harness.run_steps(2);
    }
    window.click(window.harness.get_by_label("Show depth").rect());
    let geometry = window.until("depth", |w| w.result()?.job.frame.geometry);
    assert!((geometry.baseline_m - 0.06).abs() < 1e-9, "{geometry:?}");
    window.until("the image", |w| (!w.has("No depth")).then_some(()));
}

#[test]
fn colours_follow_a_fitted_range_and_a_click_on_their_bar() {
    let Some(mut window) = Window::on_scene() else { return };
    let range = |w: &Window| w.core().view.depth_range_m;
    let first = window.until("the first fit", |w| range(w));
    window.core_mut().view.depth_range_m = Some((20.0, 21.0));
    window.click(window.harness.get_by_label("Fit the colours").rect());
    let fitted = window.until("the fit", |w| range(w).filter(|range| range.0 < 10.0));
    assert!((fitted.0 - first.0).abs() < 0.5 * first.0, "{fitted:?} and {first:?}");
    window.core_mut().view.depth_range_m = Some((20.0, 21.0));
    window.harness.key_press_modifiers(Modifiers::SHIFT, Key::F);
    window.until("the fit to another search range", |w| range(w).filter(|range| range.0 < 10.0));
}

#[test]
fn the_status_line_is_never_cut_and_has_one_height() {
    let Some(mut window) = Window::on_scene() else { return };
    window.core_mut().start_job(
        crate::core::jobs::Job::stoppable("examining this machine, all of it, and its cameras too"),
        || {
            std::thread::sleep(std::time::Duration::from_secs(30));
            Ok::<_, std::convert::Infallible>(())
        },
        |_, ()| {},
    );
    for size in [(1440.0, 900.0), (1024.0, 700.0), (512.0, 350.0)] {
        resize(&mut window, size.into());
        window.until("the job", |w| w.has("Stop examining").then_some(()));
        let bottom = window.harness.ctx.content_rect().bottom();
        for label in ["computed", "Stop examining", "CPU"] {
            for node in window.harness.query_all_by_label_contains(label) {
                let rect = node.rect();
                assert!(rect.right() <= size.0 && rect.bottom() <= bottom, "{label} at {size:?}: {rect:?}");
            }
        }
        assert!(window.has("computed"), "what matters most is there");
        for label in ["Help", "Menu", "Tools ▾", "Record"] {
            let rect = window.harness.get_by_label(label).rect();
            assert!(rect.right() <= size.0, "{label} at {size:?}: {rect:?}");
        }
    }
}

#[test]
fn every_label_fits_beside_the_restore_button() {
    let Some(window) = Window::on_scene() else { return };
    let ctx = window.harness.ctx.clone();
    let font = egui::TextStyle::Body.resolve(&ctx.style_of(egui::Theme::Dark));
    let width = |text: &str| {
        let galley = ctx.fonts_mut(|fonts| fonts.layout_no_wrap(text.to_owned(), font.clone(), egui::Color32::WHITE));
        galley.size().x
    };
    let room = widgets::PARAMETER_WIDTH - width("↺") - 3.0;
    for parameter in StereoParams::table() {
        let width = width(parameter.label);
        assert!(width <= room, "{} is {width:.0} points wide of {room:.0}", parameter.label);
    }
}
