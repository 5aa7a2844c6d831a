//! The texture of the 3-D view, drawn again only after a change.

use super::drawing::Drawing;
use super::pass::{Inputs, SpacePass, Target};
use crate::engine::Output;
use eframe::egui_wgpu::RenderState;
use egui::TextureId;
use std::sync::Arc;

/// What was drawn last.
struct Drawn {
    output: Arc<Output>,
    drawing: Drawing,
    colours: Arc<[[u8; 3]; 256]>,
}

/// The target and its name in egui.
pub(crate) struct SpaceScreen {
    state: RenderState,
    pass: SpacePass,
    target: Option<(Target, TextureId)>,
    drawn: Option<Drawn>,
}

impl SpaceScreen {
    /// Compiles the shader for this window's device.
    pub(crate) fn new(state: &RenderState) -> Self {
        Self { pass: SpacePass::new(&state.device), state: state.clone(), target: None, drawn: None }
    }

    /// Whether the adapter computes on the CPU.
    pub(crate) fn is_software(&self) -> bool {
        self.state.adapter.get_info().device_type == wgpu::DeviceType::Cpu
    }

    /// Draws `output`, whose pixels are `inputs`, if anything has changed; `colours` are those in `inputs`. Submits, and never waits.
    pub(crate) fn update(
        &mut self,
        output: &Arc<Output>,
        inputs: Inputs<'_>,
        drawing: Drawing,
        colours: &Arc<[[u8; 3]; 256]>,
    ) -> TextureId {
        let is_known = self.drawn.as_ref().is_some_and(|drawn| {
            Arc::ptr_eq(&drawn.output, output) && drawn.drawing == drawing && drawn.colours == *colours
        });
        if let Some((_, id)) = self.target.as_ref().filter(|_| is_known) {
            return *id;
        }
        let id = self.fit(drawing.size);
        if let Some((target, _)) = &self.target {
            let device = &self.state.device;
            let mut encoder = device.create_command_encoder(&wgpu::CommandEncoderDescriptor::default());
            self.pass.draw(device, &mut encoder, inputs, &drawing, target);
            self.state.queue.submit([encoder.finish()]);
        }
        self.drawn = Some(Drawn { output: Arc::clone(output), drawing, colours: Arc::clone(colours) });
        id
    }

    /// Makes the target anew where its size has changed; its name in egui stays.
    fn fit(&mut self, (width, height): (u32, u32)) -> TextureId {
        if let Some((target, id)) = &self.target
            && (target.colour.width(), target.colour.height()) == (width, height)
        {
            return *id;
        }
        let device = &self.state.device;
        let target = Target::new(device, (width, height));
        let view = target.colour.create_view(&wgpu::TextureViewDescriptor::default());
        let filter = wgpu::FilterMode::Nearest; // shown pixel by pixel
        let mut renderer = self.state.renderer.write();
        let id = match &self.target {
            Some((_, id)) => {
                renderer.update_egui_texture_from_wgpu_texture(device, &view, filter, *id);
                *id
            }
            None => renderer.register_native_texture(device, &view, filter),
        };
        drop(renderer);
        self.target = Some((target, id));
        id
    }
}
