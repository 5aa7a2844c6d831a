//! Window at every size: each page and view is drawn.

use super::harness::{Window, gpu, options};
use crate::WindowOptions;
use egui::{Key, Modifiers, Vec2, ViewportId, vec2};
use fastrand::Rng;
use std::path::Path;
use stereopsis_frame::SourceSpec;

/// Sizes of windows in px; the smallest one exceeds the minimum of 640 x 400 points, which a system may ignore.
const SIZES_PX: [(f32, f32); 12] = [
    (320.0, 200.0),
    (900.0, 180.0),
    (240.0, 900.0),
    (640.0, 400.0),
    (800.0, 480.0),
    (1024.0, 600.0),
    (1280.0, 700.0),
    (1366.0, 768.0),
    (1600.0, 900.0),
    (1920.0, 1080.0),
    (2560.0, 1440.0),
    (3840.0, 2160.0),
];
/// Number of pixels per point.
const SCALES: [f32; 3] = [1.0, 1.5, 2.0];
/// Keys of all pages.
const PAGES: [(Modifiers, Key); 13] = [
    (Modifiers::NONE, Key::C),
    (Modifiers::NONE, Key::R),
    (Modifiers::NONE, Key::B),
    (Modifiers::NONE, Key::D),
    (Modifiers::NONE, Key::L),
    (Modifiers::NONE, Key::G),
    (Modifiers::NONE, Key::U),
    (Modifiers::NONE, Key::P),
    (Modifiers::NONE, Key::E),
    (Modifiers::NONE, Key::Z),
    (Modifiers::SHIFT, Key::S),
    (Modifiers::SHIFT, Key::F1),
    (Modifiers::NONE, Key::F1),
];
const VIEWS: [Key; 10] =
    [Key::Num1, Key::Num2, Key::Num3, Key::Num4, Key::Num5, Key::Num6, Key::Num7, Key::Num8, Key::Num9, Key::V];

#[derive(Clone, Copy, Debug, PartialEq)]
enum Views {
    /// One of [`VIEWS`].
    One(usize),
    All,
    /// All views, with two compared settings.
    Compared,
}

type OpenPage = Box<dyn Fn(&Window)>;

/// Window on a held pair with all pages and views to open.
struct Resizable {
    window: Window,
    pages: Vec<OpenPage>,
    views: Vec<OpenPage>,
    shown: Views,
}

impl Drop for Resizable {
    fn drop(&mut self) {
        if std::thread::panicking() {
            let core = self.window.core();
            let (page, size) = (core.page, self.window.harness.ctx.content_rect().size());
            println!("at {size:?} points with {page:?}, {:?}", self.shown);
        }
    }
}

impl Resizable {
    fn open(source: SourceSpec, folder: &Path) -> Option<Self> {
        let gpu = gpu()?;
        let mut window = Window::open(&gpu, WindowOptions { folder: folder.to_owned(), ..options(source) });
        window.harness.set_size(vec2(1280.0, 800.0));
        // each page is opened by its key
        let mut pages: Vec<OpenPage> = vec![Box::new(|w| w.core_mut().page = None)];
        let mut names = Vec::new();
        for (modifiers, key) in PAGES {
            window.harness.key_press_modifiers(modifiers, key);
            window.harness.run_steps(2);
            let page = window.core().page.expect("its page is open");
            names.push(format!("{page:?}"));
            pages.push(Box::new(move |w| w.core_mut().page = Some(page)));
        }
        names.sort();
        names.dedup();
        let of_panels = include_str!("../app/list.rs").matches("(Place::Page(").count();
        assert_eq!(names.len(), of_panels + window.feature_pages(), "every page: {names:?}");
        pages[0](&window);
        let mut kinds = Vec::new();
        for key in VIEWS {
            let before = window.core().view.wide.views.clone();
            window.harness.key_press(key);
            window.harness.run_steps(2);
            let now = window.core().view.wide.views.clone();
            kinds.extend(now.iter().chain(&before).find(|kind| now.contains(kind) != before.contains(kind)).copied());
        }
        assert_eq!(kinds.len(), VIEWS.len(), "{kinds:?}");
        let views = kinds
            .iter()
            .map(|&kind| -> Box<dyn Fn(&Window)> { Box::new(move |w| w.core_mut().view.alone = Some(kind)) });
        let mut views: Vec<_> = views.collect();
        views.push(Box::new(move |w| {
            let view = &mut w.core_mut().view;
            view.alone = None;
            (view.wide.views, view.narrow.views) = (kinds.clone(), kinds.clone());
        }));
        let mut sized = Self { window, pages, views, shown: Views::All };
        sized.show(Views::All);
        Some(sized)
    }

    fn show(&mut self, views: Views) {
        self.shown = views;
        let compares = self.window.core().comparison.is_some();
        if compares != (views == Views::Compared) {
            let modifiers = if compares { Modifiers::SHIFT } else { Modifiers::NONE };
            self.window.harness.key_press_modifiers(modifiers, Key::A);
            self.window.until("the comparison, or its end", |w| {
                let core = w.core();
                let shown = core.comparison.as_ref().map(|comparison| comparison.shown.is_some());
                (shown == (views == Views::Compared).then_some(true)).then_some(())
            });
        }
        let index = if let Views::One(index) = views { index } else { VIEWS.len() };
        self.views[index](&self.window);
    }

    fn record(&mut self, records: bool) {
        if records != self.window.has("Stop recording") {
            self.window.harness.set_size(vec2(1280.0, 800.0));
            self.window.harness.key_press_modifiers(Modifiers::SHIFT, Key::R);
            self.window.until("the recording, or its end", |w| (w.has("Stop recording") == records).then_some(()));
        }
    }

    fn draw(&mut self, page: usize, (width, height): (f32, f32), scale: f32) {
        self.pages[page](&self.window);
        let input = self.window.harness.input_mut();
        input.viewports.entry(ViewportId::ROOT).or_default().native_pixels_per_point = Some(scale);
        self.window.harness.set_size(Vec2::new(width, height) / scale);
        self.window.harness.step();
    }
}

fn sizes() -> impl Iterator<Item = ((f32, f32), f32)> {
    SIZES_PX.into_iter().flat_map(|size| SCALES.map(|scale| (size, scale)))
}

/// Draws every page with one, all and compared views, with and without a recording, where `draws` returns true.
fn draw_pages(draws: impl Fn(usize, usize, usize, bool) -> bool) {
    let folder = tempfile::tempdir().unwrap();
    let Some(mut sized) = Resizable::open(SourceSpec::Scene, folder.path()) else { return };
    let sizes: Vec<_> = sizes().collect();
    for records in [false, true] {
        sized.record(records);
        for views in 0..3 {
            for page in 0..sized.pages.len() {
                let chosen = sizes.iter().enumerate().filter(|(at, _)| draws(page, *at, views, records));
                for (at, &(size, scale)) in chosen {
                    sized.show([Views::One((page + at) % VIEWS.len()), Views::All, Views::Compared][views]);
                    sized.draw(page, size, scale);
                }
            }
        }
    }
}

#[test]
fn every_page_is_drawn_at_every_size() {
    // each page at each size, each in one combination
    draw_pages(|page, at, views, records| {
        let (size, scale) = (at / 3, at % 3);
        scale == (page + size) % 3 && views == (page + 2 * size) % 3 && records == ((page + size / 3) % 2 == 1)
    });
}

#[test]
#[ignore = "some minutes; tools/attack.sh runs it"]
fn every_page_is_drawn_at_every_size_in_every_way() {
    draw_pages(|_, _, _, _| true);
}

#[test]
fn time_line_and_calibration_are_drawn_at_every_size() {
    let folder = tempfile::tempdir().unwrap();
    let recording = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/fixtures/ecdb518/ros2.mcap");
    let Some(mut sized) = Resizable::open(SourceSpec::Recording(recording), folder.path()) else { return };
    sizes().for_each(|(size, scale)| sized.draw(0, size, scale));
    sized.window.harness.set_size(vec2(1280.0, 800.0));
    sized.window.harness.key_press(Key::B);
    sized.window.until("the page", |w| w.has("1 Board").then_some(()));
    sized.window.press("Start");
    sized.window.until("the raw images", |w| w.has("left, raw").then_some(()));
    for (size, scale) in sizes() {
        sized.draw(3, size, scale);
        assert!(sized.window.core().shows_guide());
    }
}

#[test]
#[ignore = "a minute; tools/attack.sh runs it"]
fn window_is_drawn_at_random_sizes() {
    let folder = tempfile::tempdir().unwrap();
    let recording = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/fixtures/ecdb518/foxglove.mcap");
    let mut rng = Rng::with_seed(std::env::var("ATTACK_SEED").map_or(7, |seed| seed.parse().unwrap()));
    for source in [SourceSpec::Scene, SourceSpec::Recording(recording)] {
        let is_live = source == SourceSpec::Scene;
        let Some(mut sized) = Resizable::open(source, folder.path()) else { return };
        for _ in 0..20 {
            sized.record(is_live && rng.bool());
            let compares = rng.bool();
            for _ in 0..50 {
                let views = if rng.bool() { Views::One(rng.usize(..VIEWS.len())) } else { Views::All };
                sized.show(if compares { Views::Compared } else { views });
                let side = |rng: &mut Rng, least: f32, most: f32| least * (most / least).powf(rng.f32());
                let (width, height) = (side(&mut rng, 40.0, 3840.0), side(&mut rng, 30.0, 2160.0));
                let (page, scale) = (rng.usize(..sized.pages.len()), side(&mut rng, 0.6, 3.0));
                sized.draw(page, (width.round(), height.round()), scale);
            }
        }
    }
}
