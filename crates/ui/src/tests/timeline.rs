//! Time line: play, hold, step and seek by buttons, keys and the pointer.

use super::harness::{SIZE, Window};
use egui::accesskit::Role;
use egui::{Key, Modifiers, Pos2};
use egui_kittest::kittest::{NodeT as _, Queryable as _};
use std::sync::Arc;
use std::time::{Duration, Instant};
use stereopsis_base::image::Image;
use stereopsis_frame::{
    CaptureError, Next, PairSource, RawPair, Recorded, SceneOptions, SourceInfo, SourceSpec, Speed, Transport,
};
use stereopsis_live::capture::CaptureOptions;

const PAIRS: u64 = 40;
const PERIOD: Duration = Duration::from_millis(200);

/// Source that plays one pair of the scene as a recording of 40 pairs at 5 Hz.
struct LoopedPair {
    pair: RawPair,
    transport: Arc<Transport>,
    due: Instant,
}

impl LoopedPair {
    fn new() -> Self {
        let times: Vec<_> = (0..PAIRS as u32).map(|k| k * PERIOD).collect();
        let options = SceneOptions { width: SIZE.0, height: SIZE.1, ..SceneOptions::default() };
        let transport = Arc::new(Transport::new(times.into(), Speed::Times(1.0), false));
        Self { pair: stereopsis_scene::render(&options, 0, false), transport, due: Instant::now() }
    }
}

impl PairSource for LoopedPair {
    fn info(&self) -> SourceInfo {
        SourceInfo {
            name: "tape".into(),
            width: SIZE.0,
            height: SIZE.1,
            num_pairs: Some(PAIRS),
            is_rectified: true,
            ..SourceInfo::default()
        }
    }

    fn next(&mut self, _: Duration) -> Result<Next, CaptureError> {
        let Some((pair, _)) = self.transport.next_pair().filter(|&(_, at_once)| at_once || self.due <= Instant::now())
        else {
            std::thread::sleep(Duration::from_millis(2));
            return Ok(Next::Waiting);
        };
        self.transport.delivered(pair);
        let times = match self.transport.get().speed {
            Speed::Times(times) => times,
            Speed::Max => 1e3,
        };
        self.due = Instant::now() + PERIOD.div_f64(times);
        Ok(Next::Pair(Box::new(RawPair { sequence: pair, ..self.pair.clone() })))
    }

    fn transport(&self) -> Option<Arc<Transport>> {
        Some(Arc::clone(&self.transport))
    }
}

fn on_looped_pair() -> Option<Window> {
    let mut window = Window::on_scene()?;
    let source = LoopedPair::new();
    source.transport.step(0);
    window.core().live().set_source(Box::new(source), CaptureOptions::default());
    window.until("the time line", |w| w.has("Position").then_some(()));
    shows(&mut window, 0);
    Some(window)
}

/// Waits until this pair is shown, and checks that it stays.
fn shows(window: &mut Window, pair: u64) {
    window.until(&format!("pair {pair}"), |w| {
        let output = w.result()?;
        let raw = &output.job.frame.raw;
        (raw.sequence == pair && w.core().live().status().source.name == "tape").then_some(())
    });
    std::thread::sleep(Duration::from_millis(50));
    window.harness.run_steps(2);
    assert_eq!(window.sequence(), pair, "it stays");
    let frame = window.harness.get_by_role_and_label(Role::SpinButton, "Frame").accesskit_node().numeric_value();
    assert_eq!(frame, Some(pair as f64), "and the time line says so");
}

fn transport(window: &Window) -> Arc<Transport> {
    window.core().live().transport().expect("a transport")
}

fn type_into(window: &mut Window, field: &str, text: &str) {
    window.click(window.harness.get_by_role_and_label(Role::SpinButton, field).rect());
    window.harness.run_steps(2);
    window.harness.event(egui::Event::Text(text.into()));
    window.harness.key_press(Key::Enter);
    window.harness.run_steps(2);
}

#[test]
fn steps_and_seeks_by_keys_and_buttons_while_held() {
    let Some(mut window) = on_looped_pair() else { return };
    window.harness.key_press(Key::ArrowRight);
    shows(&mut window, 1);
    window.click(window.harness.get_by_label("Step").rect());
    shows(&mut window, 2);
    window.harness.key_press(Key::ArrowLeft);
    shows(&mut window, 1);
    window.click(window.harness.get_by_label("Step back").rect());
    shows(&mut window, 0);
    window.harness.key_press_modifiers(Modifiers::SHIFT, Key::ArrowRight);
    shows(&mut window, 5);
    window.harness.key_press_modifiers(Modifiers::SHIFT, Key::ArrowLeft);
    shows(&mut window, 0);
    window.harness.key_press(Key::End);
    shows(&mut window, PAIRS - 1);
    window.click(window.harness.get_by_label("To the start").rect());
    shows(&mut window, 0);
    window.click(window.harness.get_by_label("To the end").rect());
    shows(&mut window, PAIRS - 1);
    window.harness.key_press(Key::Home);
    shows(&mut window, 0);

    type_into(&mut window, "Frame", "17");
    shows(&mut window, 17);
    type_into(&mut window, "Time", "0:06.2");
    shows(&mut window, 31);
    type_into(&mut window, "Time", "1.05");
    shows(&mut window, 5);
    type_into(&mut window, "Frame", "1000");
    shows(&mut window, PAIRS - 1);
    assert!(window.has("/ 39") && window.has("/ 0:07.800"), "where it ends");

    // a held pair is matched again with other parameters
    let p1 = window.params().p1;
    window.focus_slider("P1");
    window.harness.key_press(Key::ArrowRight);
    window.until_computed(|params| params.p1 == p1 + 1);
    shows(&mut window, PAIRS - 1);
}

#[test]
fn dragging_shows_each_place_and_playback_goes_on_from_there() {
    let Some(mut window) = on_looped_pair() else { return };
    let rect = window.harness.get_by_role_and_label(Role::Slider, "Position").rect();
    assert!(rect.width() > 300.0, "{rect:?}");
    let place = |share: f32| Pos2::new(rect.left() + share * rect.width(), rect.center().y);
    for (held, last) in [(true, 0.5), (false, 0.6)] {
        if !held {
            window.harness.key_press(Key::Space);
            window.until("playback", |w| transport(w).get().playing.then_some(()));
        }
        window.harness.hover_at(place(0.1));
        window.harness.step();
        window.harness.drag_at(place(0.1));
        window.harness.step();
        for share in [0.3, 0.9, 0.2, last] {
            window.harness.hover_at(place(share));
            window.harness.step();
            let target = transport(&window).get().target().expect("a place");
            assert!((target as f32 / 39.0 - share).abs() < 0.04, "{target} at {share}");
        }
        std::thread::sleep(2 * PERIOD);
        let target = transport(&window).get().target().expect("a place");
        shows(&mut window, target); // playback waits under the pointer
        window.harness.drop_at(place(last));
        window.harness.run_steps(2);
        assert_eq!(transport(&window).get().playing, !held);
    }
    let from = window.sequence();
    window.until("the next pairs", |w| (w.sequence() > from + 1).then_some(()));
}

#[test]
fn a_quick_press_on_the_time_line_goes_there() {
    let Some(mut window) = on_looped_pair() else { return };
    let rect = window.harness.get_by_role_and_label(Role::Slider, "Position").rect();
    for (share, pair) in [(0.5_f32, 20), (0.0, 0), (1.0, PAIRS - 1)] {
        let place = Pos2::new(rect.left() + share * rect.width(), rect.center().y);
        window.harness.hover_at(place);
        window.harness.step();
        // press and release within one frame of the window
        window.harness.drag_at(place);
        window.harness.drop_at(place);
        window.harness.run_steps(3);
        shows(&mut window, pair);
    }
}

#[test]
fn nothing_lies_over_another_thing_in_a_narrow_window() {
    let Some(mut window) = on_looped_pair() else { return };
    for width in [1200.0, 860.0, 700.0, 512.0] {
        window.harness.set_size(egui::vec2(width, 400.0));
        window.harness.run_steps(4);
        let parts = [
            (Role::Button, "To the end"),
            (Role::SpinButton, "Frame"),
            (Role::SpinButton, "Time"),
            (Role::Slider, "Position"),
            (Role::ComboBox, "Speed"),
            (Role::CheckBox, "loop"),
        ];
        let rects = parts.map(|(role, label)| (label, window.harness.get_by_role_and_label(role, label).rect()));
        for (i, (label, rect)) in rects.iter().enumerate() {
            assert!(rect.right() <= width, "{label} at {width}: {rect:?}");
            for (other, other_rect) in &rects[..i] {
                assert!(!rect.shrink(1.0).intersects(*other_rect), "{label} and {other} at {width}: {rects:?}");
            }
        }
        let slider = rects[3].1;
        assert!(slider.width() > 150.0, "the slider has {} points of {width}", slider.width());
    }
}

#[test]
fn the_right_one_of_two_videos_is_shifted() {
    let Some(mut window) = on_looped_pair() else { return };
    assert!(!window.has("Right shift"), "it is no video");
    let folder = tempfile::tempdir().unwrap();
    let [left, right] = ["l.y4m", "r.y4m"].map(|name| folder.path().join(name));
    let frame = [b"FRAME\n".as_slice(), &[90; 64 * 48]].concat();
    for path in [&left, &right] {
        std::fs::write(path, [b"YUV4MPEG2 W64 H48 F10:1 Cmono\n".as_slice(), &frame.repeat(10)].concat()).unwrap();
    }
    window.execute(crate::Command::Open(SourceSpec::from_paths(&[left, right]).unwrap()));
    let pairs = |window: &Window| window.core().live().transport().map(|transport| transport.get().num_pairs());
    window.until("the videos", |w| (w.has("Right shift") && pairs(w) == Some(10)).then_some(()));
    type_into(&mut window, "Right shift", "0.2");
    window.until("the videos again", |w| (pairs(w) == Some(8)).then_some(()));
    window.core_mut().swap_pictures();
    window.until("the views exchanged", |w| (w.core().rig.options.right_shift_s < 0.0).then_some(()));
    // it is theirs alone
    window.execute(crate::Command::Open(SourceSpec::Scene));
    window.until("the scene", |w| (w.core().rig.options.right_shift_s == 0.0).then_some(()));
}

#[test]
fn playback_has_speed_loop_and_end() {
    let Some(mut window) = on_looped_pair() else { return };
    window.choose("Speed", (Role::Button, "10 ×"));
    assert_eq!(transport(&window).get().speed, Speed::Times(10.0));
    type_into(&mut window, "Frame", "30");
    shows(&mut window, 30);
    window.click(window.harness.get_by_label("Pause").rect());
    shows(&mut window, PAIRS - 1);
    assert!(window.core().live().is_paused(), "it stands still at the end");
    window.harness.key_press(Key::Space);
    window.until("the start again", |w| (w.sequence() < 30).then_some(()));
    shows(&mut window, PAIRS - 1);

    window.click(window.harness.get_by_role_and_label(Role::CheckBox, "loop").rect());
    window.until("the start again, by itself", |w| (w.sequence() < 30).then_some(()));
    window.until("the end", |w| (w.sequence() > 35).then_some(()));
    window.until("the start once more", |w| (w.sequence() < 30).then_some(()));
    window.choose("Speed", (Role::Button, "max"));
    assert_eq!(transport(&window).get().speed, Speed::Max);
}

#[test]
fn recorded_and_computed_maps_are_shown_together() {
    let Some(mut window) = Window::on_scene() else { return };
    window.harness.key_press(Key::Num6);
    window.harness.run_steps(3);
    assert!(!window.has("recorded view"), "no empty view for a source that has nothing recorded");
    let mut source = LoopedPair::new();
    // a slope from 1 m at the left to 5 m with a hole, at half the size
    let (width, height) = (SIZE.0 / 2, SIZE.1 / 2);
    let hole = |x: usize, y: usize| x < width / 2 && y < height / 4;
    let depth_m = |x: usize, y: usize| if hole(x, y) { f32::NAN } else { 1.0 + 4.0 * x as f32 / width as f32 };
    let recorded = Recorded { depth_m: Some(Image::from_fn(width, height, depth_m)), disparity_px: None };
    source.pair.recorded = Some(Arc::new(recorded));
    source.transport.step(0);
    window.core().live().set_source(Box::new(source), CaptureOptions::default());
    window.until("the time line", |w| w.has("Position").then_some(()));
    shows(&mut window, 0);
    window.until("the map", |w| (!w.has("No recorded depth")).then_some(()));
    let at = |window: &Window, x, y| window.place("recorded view", (x, y));
    for (x, y, words) in [(0.25, 0.5, "recorded 2.00 m"), (0.75, 0.5, "recorded 4.00 m"), (0.25, 0.1, "recorded –")] {
        let place = at(&window, x, y);
        window.harness.hover_at(place);
        window.until(words, |w| w.has(words).then_some(()));
    }
    window.harness.remove_cursor();
    window.harness.run_steps(3);
    let picture = window.harness.render().expect("an image");
    let colour = |x, y| {
        let place = at(&window, x, y);
        let [r, g, b, _] = picture.get_pixel(place.x as u32, place.y as u32).0;
        [r, g, b]
    };
    assert!(colour(0.25, 0.1).iter().all(|&v| v < 8), "nothing there: {:?}", colour(0.25, 0.1));
    let columns: std::collections::HashSet<_> = (1..40).map(|i| colour(i as f32 / 40.0, 0.5)).collect();
    assert!(columns.len() > 20, "{} colours of a slope", columns.len());

    window.harness.key_press(Key::Num6);
    window.until("the view to close", |w| (!w.has("recorded view")).then_some(()));
}

#[test]
fn without_a_recording_there_is_no_time_line() {
    let Some(mut window) = Window::on_scene() else { return };
    assert!(!window.has("Position") && !window.has("To the start"));
    window.harness.key_press(Key::Home);
    window.until("why nothing happens", |w| w.has("only in a recording").then_some(()));
}
