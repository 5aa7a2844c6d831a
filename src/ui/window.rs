//! Opens the window on winit's own loop, and again after its device was lost: the session stays, the window goes.

use super::app::App;
use super::session::Session;
use crate::engine::gpu::Gpu;
use anyhow::{Context as _, bail};
use eframe::UserEvent;
use eframe::egui_wgpu::{SurfaceConfig, WgpuConfiguration, WgpuSetup, WgpuSetupExisting};
use std::cell::RefCell;
use std::rc::Rc;
use winit::event_loop::EventLoop;
use winit::platform::run_on_demand::EventLoopExtRunOnDemand;

const NAME: &str = "stereopsis";

/// Shows `session` until the user closes the window. After a lost device `reopen` gives another one.
///
/// # Errors
/// There is no display, no surface on this GPU, or no device any more.
pub(super) fn show(
    session: &Rc<RefCell<Session>>,
    mut gpu: Gpu,
    mut reopen: impl FnMut() -> anyhow::Result<Gpu>,
) -> anyhow::Result<()> {
    let mut event_loop = EventLoop::<UserEvent>::with_user_event().build().context("no window can be opened here")?;
    loop {
        let opened = Rc::new(RefCell::new(None::<Result<(), String>>));
        let creator = {
            let (session, gpu, opened) = (Rc::clone(session), gpu.clone(), Rc::clone(&opened));
            move |cc: &eframe::CreationContext<'_>| {
                let app = App::new(cc, session, Some(gpu));
                *opened.borrow_mut() = Some(app.as_ref().map(|_| ()).map_err(Clone::clone));
                Ok(Box::new(app?) as Box<dyn eframe::App>)
            }
        };
        let mut window = eframe::create_native(NAME, options(&gpu), Box::new(creator), &event_loop);
        event_loop.run_app_on_demand(&mut window)?;
        drop(window);
        match opened.take() {
            Some(Ok(())) => {}
            Some(Err(why)) => bail!(why),
            None => bail!("{} cannot draw into a window here: choose another GPU with --adapter", gpu.info.adapter),
        }
        let Some(why) = gpu.lost().map(str::to_owned) else { return Ok(()) };
        gpu = reopen()?;
        session.borrow_mut().device_replaced(&gpu, &why);
    }
}

fn options(gpu: &Gpu) -> eframe::NativeOptions {
    let setup = WgpuSetupExisting {
        instance: gpu.instance.clone(),
        adapter: gpu.adapter.clone(),
        device: gpu.device.clone(),
        queue: gpu.queue.clone(),
    };
    eframe::NativeOptions {
        viewport: egui::ViewportBuilder::default()
            .with_title("Stereopsis")
            .with_app_id(NAME)
            .with_inner_size([1440.0, 900.0])
            .with_min_inner_size([800.0, 500.0])
            .with_drag_and_drop(true),
        renderer: eframe::Renderer::Wgpu,
        wgpu_options: WgpuConfiguration { wgpu_setup: WgpuSetup::Existing(setup), ..WgpuConfiguration::default() }
            .with_surface_config(SurfaceConfig::LOW_LATENCY),
        ..Default::default()
    }
}
