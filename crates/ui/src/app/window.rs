//! Window on winit's event loop, reopened after a loss or a return of its device while the session stays.

use super::ending::Termination;
use super::{App, NoWgpu, Session};
use anyhow::bail;
use eframe::egui_wgpu::{SurfaceConfig, WgpuConfiguration, WgpuSetup, WgpuSetupExisting};
use eframe::{EframeWinitApplication, UserEvent};
use std::cell::RefCell;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::rc::Rc;
use stereopsis_gpu::Gpu;
use winit::application::ApplicationHandler;
use winit::event::{DeviceEvent, DeviceId, StartCause, WindowEvent};
use winit::event_loop::{ActiveEventLoop, EventLoop};
use winit::platform::run_on_demand::EventLoopExtRunOnDemand;
use winit::window::WindowId;

const NAME: &str = "stereopsis";

/// Shows `session` until the user closes the window or the system ends it; `reopen` opens another device after a loss.
///
/// # Errors
/// No display, no surface on this GPU, or no device after a loss.
pub(crate) fn show(
    session: &Rc<RefCell<Session>>,
    mut gpu: Gpu,
    icon: &[u8],
    ending: &Termination,
    mut reopen: impl FnMut() -> anyhow::Result<Gpu>,
) -> anyhow::Result<()> {
    let mut event_loop = EventLoop::<UserEvent>::with_user_event().build().map_err(|err| no_display(&err))?;
    ending.wake(event_loop.create_proxy());
    loop {
        let opened = Rc::new(RefCell::new(None::<Result<(), NoWgpu>>));
        let creator = {
            let (session, opened) = (Rc::clone(session), Rc::clone(&opened));
            move |cc: &eframe::CreationContext<'_>| {
                let app = App::new(cc, session);
                *opened.borrow_mut() = Some(app.as_ref().map(|_| ()).map_err(Clone::clone));
                Ok(Box::new(app?) as Box<dyn eframe::App>)
            }
        };
        let size = session.borrow().core.view.window_size;
        let window = eframe::create_native(NAME, options(&gpu, icon, size), Box::new(creator), &event_loop);
        let (gpu_used, session_shown) = (gpu.clone(), Rc::clone(session));
        let mut watched = DeviceGuard { window, gpu: gpu_used, session: session_shown, ending: ending.clone() };
        event_loop.run_app_on_demand(&mut watched)?;
        if ending.is_asked() {
            return Ok(());
        }
        match opened.take() {
            Some(Ok(())) => {}
            Some(Err(why)) => return Err(why.into()),
            None => bail!("{} cannot draw into a window here: choose another GPU with --adapter", gpu.info.adapter),
        }
        if let Some(why) = gpu.lost().map(str::to_owned) {
            gpu = reopen()?;
            session.borrow_mut().core.device_replaced(&gpu, &why);
        } else if let Some(next) = session.borrow_mut().core.move_device() {
            gpu = next;
        } else {
            return Ok(());
        }
    }
}

/// Event handler that passes events to eframe only while the device lives and the window uses it: eframe panics without a device.
struct DeviceGuard<'a> {
    window: EframeWinitApplication<'a>,
    gpu: Gpu,
    session: Rc<RefCell<Session>>,
    ending: Termination,
}

impl DeviceGuard<'_> {
    /// Polls the device, so that it reports a loss.
    fn note_loss(&self) {
        let _ = self.gpu.device.poll(wgpu::PollType::Poll); // a failure is a loss, which the callback records
    }

    fn pass(&mut self, event_loop: &ActiveEventLoop, event: impl FnOnce(&mut EframeWinitApplication<'_>)) {
        self.note_loss();
        let stays = self.session.borrow().core.next_device().is_none() && !self.ending.is_asked();
        if self.gpu.lost().is_none() && stays {
            let passed = catch_unwind(AssertUnwindSafe(|| event(&mut self.window)));
            let Err(panic) = passed else { return };
            self.note_loss(); // in the same frame
            if self.gpu.lost().is_none() {
                resume_unwind(panic);
            }
        }
        event_loop.exit();
    }
}

impl ApplicationHandler<UserEvent> for DeviceGuard<'_> {
    fn new_events(&mut self, event_loop: &ActiveEventLoop, cause: StartCause) {
        self.pass(event_loop, |window| window.new_events(event_loop, cause));
    }

    fn resumed(&mut self, event_loop: &ActiveEventLoop) {
        self.pass(event_loop, |window| window.resumed(event_loop));
    }

    fn suspended(&mut self, event_loop: &ActiveEventLoop) {
        self.pass(event_loop, |window| window.suspended(event_loop));
    }

    fn user_event(&mut self, event_loop: &ActiveEventLoop, event: UserEvent) {
        self.pass(event_loop, |window| window.user_event(event_loop, event));
    }

    fn window_event(&mut self, event_loop: &ActiveEventLoop, id: WindowId, event: WindowEvent) {
        self.pass(event_loop, |window| window.window_event(event_loop, id, event));
    }

    fn device_event(&mut self, event_loop: &ActiveEventLoop, id: DeviceId, event: DeviceEvent) {
        self.pass(event_loop, |window| window.device_event(event_loop, id, event));
    }

    fn about_to_wait(&mut self, event_loop: &ActiveEventLoop) {
        self.pass(event_loop, |window| window.about_to_wait(event_loop));
    }

    fn exiting(&mut self, event_loop: &ActiveEventLoop) {
        self.window.exiting(event_loop);
    }
}

fn options(gpu: &Gpu, icon: &[u8], size: [f32; 2]) -> eframe::NativeOptions {
    let setup = WgpuSetupExisting {
        instance: gpu.instance.clone(),
        adapter: gpu.adapter.clone(),
        device: gpu.device.clone(),
        queue: gpu.queue.clone(),
    };
    // tests decode the program's icon, so this cannot fail
    let icon = eframe::icon_data::from_png_bytes(icon).unwrap_or_default();
    eframe::NativeOptions {
        viewport: egui::ViewportBuilder::default()
            .with_icon(icon)
            .with_title("Stereopsis")
            .with_app_id(NAME)
            .with_inner_size(size)
            .with_min_inner_size([640.0, 400.0])
            .with_drag_and_drop(true),
        renderer: eframe::Renderer::Wgpu,
        dithering: false, // each pixel has the exact colour of its value
        wgpu_options: WgpuConfiguration { wgpu_setup: WgpuSetup::Existing(setup), ..WgpuConfiguration::default() }
            .with_surface_config(SurfaceConfig::LOW_LATENCY),
        ..Default::default()
    }
}

/// Explains winit's error, whose text begins with a line of its source code, by its cause.
fn no_display(err: &winit::error::EventLoopError) -> anyhow::Error {
    let text = err.to_string();
    let cause = text.rsplit(": ").next().unwrap_or(&text);
    anyhow::anyhow!("no window can be opened here ({cause}): check DISPLAY or WAYLAND_DISPLAY, or use --headless")
}
