//! Window without a display for tests, operated by its labels.

use super::renderer::GpuRenderer;
use crate::core::Core;
use crate::core::ViewLayout;
use crate::core::command::Command;
use crate::core::feature::Feature;
use crate::{App, Session, WindowOptions};
use egui::accesskit::Role;
use egui::{Key, Modifiers, PointerButton, Pos2, Rect};
use egui_kittest::Harness;
use egui_kittest::kittest::{NodeT as _, Queryable as _};
use parking_lot::Mutex;
use std::cell::{Ref, RefCell, RefMut};
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::sync::{Arc, LazyLock};
use std::time::{Duration, Instant};
use stereopsis_frame::engine::Output;
use stereopsis_frame::{PairSource, SceneOptions, SourceOptions, SourceSpec};
use stereopsis_gpu::Gpu;
use stereopsis_images::write_picture;
use stereopsis_settings::settings::{Origin, Word};
use stereopsis_stereo::StereoParams;

pub(crate) const SIZE: (usize, usize) = (160, 120);

/// App on the window's background colour, since the harness begins with a transparent image.
pub(crate) struct OnBackground(App);

impl eframe::App for OnBackground {
    fn ui(&mut self, ui: &mut egui::Ui, frame: &mut eframe::Frame) {
        let [r, g, b, a] = self.0.clear_color(ui.visuals()).map(|part| (255.0 * part).round() as u8);
        let colour = egui::Color32::from_rgba_premultiplied(r, g, b, a);
        ui.painter().rect_filled(ui.ctx().content_rect(), 0.0, colour);
        self.0.ui(ui, frame);
    }
}

pub(crate) struct Window {
    pub(crate) harness: Harness<'static, OnBackground>,
    session: Rc<RefCell<Session>>,
}

pub(crate) fn gpu() -> Option<Gpu> {
    Gpu::for_test().map(Gpu::for_window)
}

pub(crate) fn options(source: SourceSpec) -> WindowOptions {
    let word = |name: &str, text: &str| Word { name: name.into(), text: text.into(), origin: Origin::Flag };
    WindowOptions {
        words: vec![word("engine", "cpu"), word("num-disparities", "24")],
        source: Some(source),
        source_options: SourceOptions { size: Some(SIZE), ..WindowOptions::default().source_options },
        saved_state: None,
        ..WindowOptions::default()
    }
}

impl Window {
    /// Opens a window on the built-in scene, or returns `None` without an adapter.
    pub(crate) fn on_scene() -> Option<Self> {
        Some(Self::open(&gpu()?, options(SourceSpec::Scene)))
    }

    /// Opens a window on a held pair and waits for its result.
    pub(crate) fn held(gpu: &Gpu, options: WindowOptions) -> Self {
        let mut window = Self::open(gpu, options);
        window.harness.key_press(Key::Space);
        window.until("the pause", |w| w.core().live().is_paused().then_some(()));
        if window.core().live().transport().is_some() {
            window.still_sequence();
        } else {
            window.until_all_matched();
        }
        window
    }

    /// Opens a window and waits for its first result.
    pub(crate) fn open(gpu: &Gpu, options: WindowOptions) -> Self {
        // the scene is rendered once for all windows: one of its sources lives until the end
        static SCENE: LazyLock<Mutex<Box<dyn PairSource>>> = LazyLock::new(|| {
            let same = self::options(SourceSpec::Scene).source_options;
            Mutex::new(stereopsis_sources::open(&SourceSpec::Scene, &same).expect("the scene"))
        });
        LazyLock::force(&SCENE);
        let session = Rc::new(RefCell::new(Session::start(options, Some(gpu.clone())).expect("a session")));
        let shown = Rc::clone(&session);
        let harness = Harness::builder()
            .with_size([1200.0, 760.0])
            .with_theme(egui::Theme::Dark)
            .renderer(GpuRenderer::new(gpu))
            .build_eframe(move |cc| OnBackground(App::new(cc, shown).expect("an app")));
        let mut window = Self { harness, session };
        window.until("the first result", |w| w.result().map(drop));
        window.harness.step();
        window
    }

    pub(crate) fn core(&self) -> Ref<'_, Core> {
        Ref::map(self.session.borrow(), |session| &session.core)
    }

    pub(crate) fn core_mut(&self) -> RefMut<'_, Core> {
        RefMut::map(self.session.borrow_mut(), |session| &mut session.core)
    }

    /// Returns the number of pages that features draw.
    pub(crate) fn feature_pages(&self) -> usize {
        self.session.borrow().features.iter().map(|feature| feature.pages().len()).sum()
    }

    pub(crate) fn feature<F: Feature>(&self) -> Ref<'_, F> {
        Ref::map(self.session.borrow(), |session| session.feature())
    }

    pub(crate) fn feature_mut<F: Feature>(&self) -> RefMut<'_, F> {
        RefMut::map(self.session.borrow_mut(), |session| session.feature_mut())
    }

    pub(crate) fn execute(&self, command: Command) {
        self.session.borrow_mut().execute(command, &self.harness.ctx);
    }

    pub(crate) fn keeps_open(&self) -> bool {
        self.session.borrow_mut().keeps_open()
    }

    pub(crate) fn in_grid(&mut self) {
        self.core_mut().view.layout = ViewLayout::Grid;
        self.harness.run_steps(3);
    }

    /// Draws frames until `found` returns a value.
    pub(crate) fn until<T>(&mut self, what: &str, mut found: impl FnMut(&mut Self) -> Option<T>) -> T {
        let deadline = Instant::now() + Duration::from_mins(1);
        loop {
            self.harness.step();
            if let Some(found) = found(self) {
                return found;
            }
            if Instant::now() >= deadline {
                let picture = std::env::current_exe().expect("has a path").with_file_name("in-vain.png");
                let saved = self.harness.render().map(|image| image.save(&picture).is_ok());
                panic!("waited for {what} in vain; {} is what there is to see: {saved:?}", picture.display());
            }
            std::thread::sleep(Duration::from_millis(5));
        }
    }

    pub(crate) fn result(&self) -> Option<Arc<Output>> {
        self.core().live().latest()
    }

    pub(crate) fn params(&self) -> StereoParams {
        (*self.core().live().params()).clone()
    }

    pub(crate) fn sequence(&self) -> u64 {
        self.result().map_or(0, |output| output.job.frame.raw.sequence)
    }

    /// Returns the number of the held pair once earlier ones are shown.
    pub(crate) fn still_sequence(&mut self) -> u64 {
        loop {
            let before = self.sequence();
            let end = Instant::now() + Duration::from_secs(1); // a reader delivers what it has begun to read
            while Instant::now() < end {
                self.harness.step();
                std::thread::sleep(Duration::from_millis(20));
            }
            self.until_all_matched();
            if self.sequence() == before {
                return before;
            }
        }
    }

    /// Waits until the engine has matched all pairs that it has taken, and then the last one again.
    fn until_all_matched(&mut self) {
        let params = {
            let core = self.core();
            let live = core.live();
            live.set_params((*live.params()).clone()); // equal to the earlier ones, but not the same
            live.match_again();
            live.params()
        };
        self.until("the pairs that were taken", |w| {
            w.result().filter(|output| Arc::ptr_eq(&output.job.params, &params)).map(drop)
        });
    }

    /// Waits for a result whose parameters satisfy `fits`, and draws once more: it may be there before the frame after the change.
    pub(crate) fn until_computed(&mut self, fits: impl Fn(&StereoParams) -> bool) -> Arc<Output> {
        let output =
            self.until("a result with the new parameters", |w| w.result().filter(|output| fits(&output.job.params)));
        self.harness.step();
        output
    }

    pub(crate) fn has(&self, label: &str) -> bool {
        self.harness.query_all_by_label_contains(label).next().is_some()
    }

    /// Draws a frame in which the middle of `rect` is clicked. `Node::click` takes three, and a result between them can move what it is on.
    pub(crate) fn click(&mut self, rect: Rect) {
        let (pos, button) = (rect.center(), PointerButton::Primary);
        let events = &mut self.harness.input_mut().events;
        events.push(egui::Event::PointerMoved(pos));
        for pressed in [true, false] {
            events.push(egui::Event::PointerButton { pos, button, pressed, modifiers: Modifiers::NONE });
        }
        self.harness.step();
    }

    /// Focuses a slider, which receives the arrow keys from the next frame on.
    pub(crate) fn focus_slider(&mut self, label: &str) {
        self.harness.get_by_role_and_label(Role::Slider, label).focus();
        self.harness.run_steps(2);
    }

    /// Presses a key until the parameters satisfy `wanted`.
    pub(crate) fn press_until(&mut self, key: Key, wanted: impl Fn(&StereoParams) -> bool) {
        for _ in 0..200 {
            if wanted(&self.params()) {
                return;
            }
            self.harness.key_press(key);
            self.harness.step();
        }
        panic!("200 times {key:?} lead to {:?}", self.params());
    }

    pub(crate) fn is_enabled(&self, label: &str) -> bool {
        self.harness.query_by_label(label).is_some_and(|node| !node.accesskit_node().is_disabled())
    }

    /// Returns the position of a point in a view, from (0, 0) at its upper left to (1, 1) at its lower right corner.
    pub(crate) fn place(&self, view: &str, (x, y): (f32, f32)) -> Pos2 {
        let rect: Rect = self.harness.get_by_label(view).rect();
        Pos2::new(rect.left() + x * rect.width(), rect.top() + y * rect.height())
    }

    /// Rests the pointer on a view until it reads a number, at a place or up to a tenth of the view to the right of it: a scene that moves
    /// is held at a moment in which some pixels have no depth.
    pub(crate) fn rest_until_read(&mut self, view: &str, (x, y): (f32, f32), number: &str) -> (Pos2, f32) {
        let mut hundredths = (0..10).cycle();
        self.until(&format!("a {number} to read"), |w| {
            let at = w.place(view, (x + 0.01 * hundredths.next()? as f32, y));
            w.harness.hover_at(at);
            w.harness.run_steps(2);
            Some((at, w.read(number)?))
        })
    }

    pub(crate) fn click_at(&mut self, place: Pos2) {
        self.click(Rect::from_pos(place));
        self.harness.run_steps(3);
    }

    /// Presses a button as soon as it is enabled, by the accessibility tree: a page that grows meanwhile moves it from under a pointer.
    pub(crate) fn press(&mut self, label: &str) {
        self.harness.get_by_label(label).scroll_to_me();
        self.harness.run_steps(3);
        self.until(&format!("'{label}' to be enabled"), |w| {
            let button = w.harness.get_by_label(label);
            (!button.accesskit_node().is_disabled()).then(|| button.click_accesskit())
        });
        self.harness.run_steps(2);
    }

    /// Chooses an entry of a list by the accessibility tree.
    pub(crate) fn choose(&mut self, list: &str, (role, entry): (Role, &str)) {
        self.open_list(list);
        self.harness.get_by_role_and_label(role, entry).click_accesskit();
        self.harness.run_steps(3);
    }

    pub(crate) fn open_list(&mut self, list: &str) {
        self.harness.get_by_role_and_label(Role::ComboBox, list).click_accesskit();
        self.harness.run_steps(3);
    }

    pub(crate) fn drop_files(&mut self, paths: &[PathBuf]) {
        let files = paths.iter().map(|path| Arc::new(FakeDroppedFile(path.clone())) as _);
        self.harness.input_mut().dropped_files.extend(files);
        self.harness.step();
        std::thread::sleep(Duration::from_millis(1));
    }

    /// Returns the number after `name` in the read-out.
    pub(crate) fn read(&self, name: &str) -> Option<f32> {
        self.harness.query_all_by_label_contains(name).find_map(|node| {
            let node = node.accesskit_node();
            let label = node.label().or(node.value())?;
            label.strip_prefix(name)?.strip_prefix(' ')?.split(' ').next()?.parse().ok()
        })
    }
}

#[derive(Debug)]
struct FakeDroppedFile(PathBuf);

impl egui::DroppedFile for FakeDroppedFile {
    fn path(&self) -> &Path {
        &self.0
    }

    fn bytes(&self) -> Result<Vec<u8>, String> {
        std::fs::read(&self.0).map_err(|err| err.to_string())
    }
}

pub(crate) fn pair(folder: &Path) -> SourceSpec {
    pair_of(folder, &SceneOptions { width: SIZE.0, height: SIZE.1, ..SceneOptions::default() })
}

pub(crate) fn pair_of(folder: &Path, options: &SceneOptions) -> SourceSpec {
    let raw = stereopsis_scene::render(options, 0, false);
    let (left, right) = (folder.join("left.png"), folder.join("right.png"));
    write_picture(&left, &raw.left).unwrap();
    write_picture(&right, &raw.right).unwrap();
    SourceSpec::Files { left, right, truth: None }
}
