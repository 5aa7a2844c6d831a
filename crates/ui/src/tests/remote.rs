//! Remote client that receives results and moves the window's sliders.

use super::harness::{Window, gpu, options};
use crate::WindowOptions;
use egui::Key;
use egui::accesskit::Role;
use egui_kittest::kittest::{NodeT as _, Queryable as _};
use parking_lot::Mutex;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use stereopsis_frame::engine::Output;
use stereopsis_frame::{Frame, FrameTap, ResultTap, SourceInfo, SourceSpec, Taps, Wake};
use stereopsis_live::{News, Remote};
use stereopsis_recording::About;
use stereopsis_stereo::StereoParams;

/// Client that requests the test's parameters and counts its events.
#[derive(Default)]
struct WatchingClient {
    wanted: Mutex<Option<StereoParams>>,
    in_force: Mutex<StereoParams>,
    news: Mutex<Vec<News>>,
    about: Mutex<Option<About>>,
    frames: AtomicUsize,
    results: AtomicUsize,
}

impl FrameTap for WatchingClient {
    fn frame(&self, _: &Arc<Frame>, _: &SourceInfo) {
        self.frames.fetch_add(1, Ordering::Relaxed);
    }
}

impl ResultTap for WatchingClient {
    fn result(&self, _: &Arc<Output>) {
        self.results.fetch_add(1, Ordering::Relaxed);
    }
}

impl Remote for WatchingClient {
    fn exchange(&self, in_force: &StereoParams) -> Option<StereoParams> {
        *self.in_force.lock() = in_force.clone();
        self.wanted.lock().take()
    }

    fn news(&self) -> Vec<News> {
        std::mem::take(&mut self.news.lock())
    }

    fn invitation(&self) -> String {
        "elsewhere: ws://127.0.0.1:8765".into()
    }

    fn standing(&self) -> String {
        "elsewhere 3 clients".into()
    }

    fn set_about(&self, about: About) {
        *self.about.lock() = Some(about);
    }

    fn stop(&self) {}

    fn set_wake(&self, _: Wake) {}
}

#[test]
fn remote_client_moves_sliders_and_receives_their_values() {
    let Some(gpu) = gpu() else { return };
    let elsewhere = Arc::new(WatchingClient::default());
    let remote: Arc<dyn Remote> = elsewhere.clone();
    let mut window = Window::open(&gpu, WindowOptions { remotes: vec![remote], ..options(SourceSpec::Scene) });
    assert!(window.has("elsewhere 3 clients"));
    let about = elsewhere.about.lock().clone().expect("the source is told");
    assert_eq!((about.source.as_str(), about.width, about.calibration.geometry.is_some()), ("scene", 160, true));

    *elsewhere.wanted.lock() = Some(StereoParams { p1: 11, ..window.params() });
    window.until_computed(|params| params.p1 == 11);
    window.harness.step();
    let slider = window.harness.get_by_role_and_label(Role::Slider, "P1").accesskit_node().numeric_value();
    assert_eq!(slider, Some(11.0));

    window.focus_slider("P1");
    window.harness.key_press(Key::ArrowRight);
    window.until_computed(|params| params.p1 == 12);
    assert_eq!(elsewhere.in_force.lock().p1, 12);

    elsewhere.news.lock().push(News { text: "asked in vain".into(), is_error: true });
    window.until("the refusal is shown", |w| w.has("asked in vain").then_some(()));
    // another source and a recorder's taps leave the client's taps connected
    let seen = || (elsewhere.frames.load(Ordering::Relaxed), elsewhere.results.load(Ordering::Relaxed));
    window.core().live().set_taps(Taps::default(), Vec::new());
    let before = seen();
    window.until("frames and results are still seen", |_| {
        let now = seen();
        (now.0 > before.0 && now.1 > before.1).then_some(())
    });
}
