//! Texture of the 3-D view, drawn again only after a change.

use super::drawing::Drawing;
use super::pass::{Inputs, SpacePass, Target};
use eframe::egui_wgpu::RenderState;
use std::sync::Arc;
use stereopsis_frame::engine::Output;

struct LastDrawing {
    output: Arc<Output>,
    drawing: Drawing,
    colours: Arc<[[u8; 3]; 256]>,
}

/// Target with the inputs of its last drawing.
pub(crate) struct SpaceScreen {
    state: RenderState,
    pass: SpacePass,
    target: Option<Target>,
    drawn: Option<LastDrawing>,
}

impl SpaceScreen {
    /// Compiles the shader for this window's device.
    pub(crate) fn new(state: &RenderState) -> Self {
        Self { pass: SpacePass::new(&state.device), state: state.clone(), target: None, drawn: None }
    }

    /// Returns the drawing of `output` from the pixels of `inputs`, redrawn without waiting after a change of output, colours or drawing.
    pub(crate) fn update(
        &mut self,
        output: &Arc<Output>,
        inputs: Inputs<'_>,
        drawing: Drawing,
        colours: &Arc<[[u8; 3]; 256]>,
    ) -> &wgpu::Texture {
        let is_known = self.drawn.as_ref().is_some_and(|drawn| {
            Arc::ptr_eq(&drawn.output, output) && drawn.drawing == drawing && drawn.colours == *colours
        });
        let (width, height) = drawing.size;
        let fits = |target: &Target| (target.colour.width(), target.colour.height()) == (width.max(1), height.max(1));
        let device = &self.state.device;
        let kept = self.target.take().filter(fits);
        let is_known = is_known && kept.is_some();
        let target = self.target.insert(kept.unwrap_or_else(|| Target::new(device, drawing.size)));
        if !is_known {
            let mut encoder = device.create_command_encoder(&wgpu::CommandEncoderDescriptor::default());
            self.pass.draw(device, &mut encoder, inputs, &drawing, target);
            self.state.queue.submit([encoder.finish()]);
            self.drawn = Some(LastDrawing { output: Arc::clone(output), drawing, colours: Arc::clone(colours) });
        }
        &target.colour
    }
}
