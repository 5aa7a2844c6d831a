//! Drawing of textures of views into the window: `shaders/picture.wgsl` and its bindings.

use eframe::egui_wgpu::{CallbackResources, CallbackTrait, RenderState};
use egui::emath::{GuiRounding as _, RectTransform};
use egui::{PaintCallbackInfo, Painter, Rect};
use wgpu::util::{BufferInitDescriptor, DeviceExt as _};

const SOURCE: &str = stereopsis_shaders::text("picture");

/// Brightness of a stale image from a lost camera, relative to a new one.
const STALE_BRIGHTNESS: f32 = 0.35;

/// Uniform `Part` of the shader.
#[repr(C)]
#[derive(Clone, Copy, bytemuck::Pod, bytemuck::Zeroable)]
struct Part {
    low: [f32; 2],
    high: [f32; 2],
    brightness: [f32; 4],
}

pub(super) struct PicturePass {
    device: wgpu::Device,
    pipeline: wgpu::RenderPipeline,
    sampler: wgpu::Sampler,
}

impl PicturePass {
    pub(super) fn new(state: &RenderState) -> Self {
        let device = state.device.clone();
        let shader = device.create_shader_module(wgpu::ShaderModuleDescriptor {
            label: Some("picture"),
            source: wgpu::ShaderSource::Wgsl(SOURCE.into()),
        });
        let colours = if state.target_format.is_srgb() { "linear" } else { "as_it_is" };
        let pipeline = device.create_render_pipeline(&wgpu::RenderPipelineDescriptor {
            label: Some("picture"),
            layout: None, // that of the shader
            vertex: wgpu::VertexState {
                module: &shader,
                entry_point: Some("whole_viewport"),
                compilation_options: wgpu::PipelineCompilationOptions::default(),
                buffers: &[],
            },
            fragment: Some(wgpu::FragmentState {
                module: &shader,
                entry_point: Some(colours),
                compilation_options: wgpu::PipelineCompilationOptions::default(),
                targets: &[Some(state.target_format.into())],
            }),
            primitive: wgpu::PrimitiveState::default(),
            depth_stencil: None,
            multisample: wgpu::MultisampleState::default(),
            multiview_mask: None,
            cache: None,
        });
        // enlarged pixels stay squares, reduced ones are averaged
        let sampler = device.create_sampler(&wgpu::SamplerDescriptor {
            label: Some("picture"),
            mag_filter: wgpu::FilterMode::Nearest,
            min_filter: wgpu::FilterMode::Linear,
            ..Default::default()
        });
        Self { device, pipeline, sampler }
    }
}

#[derive(Clone, Copy)]
pub(crate) struct Drawable<'a> {
    pub(super) pass: &'a PicturePass,
    pub(super) texture: &'a wgpu::Texture,
}

impl Drawable<'_> {
    /// Draws `part` of the image (0 to 1 along each axis) into `rect` within the painter's clip rectangle, dark if it is stale.
    pub(crate) fn paint(self, painter: &Painter, rect: Rect, part: Rect, is_stale: bool) {
        let PicturePass { device, pipeline, sampler } = self.pass;
        // a viewport must have whole pixels and lie in the window
        let seen = rect.intersect(painter.clip_rect()).intersect(painter.ctx().viewport_rect());
        let drawn = seen.round_to_pixels(painter.pixels_per_point());
        if !drawn.is_positive() {
            return;
        }
        let brightness = if is_stale { STALE_BRIGHTNESS } else { 1.0 };
        let part = RectTransform::from_to(rect, part).transform_rect(drawn);
        let part =
            Part { low: part.min.into(), high: part.max.into(), brightness: [brightness, brightness, brightness, 1.0] };
        let part = device.create_buffer_init(&BufferInitDescriptor {
            label: Some("part of an image"),
            contents: bytemuck::bytes_of(&part),
            usage: wgpu::BufferUsages::UNIFORM,
        });
        let view = self.texture.create_view(&wgpu::TextureViewDescriptor::default());
        let bindings = device.create_bind_group(&wgpu::BindGroupDescriptor {
            label: Some("picture"),
            layout: &pipeline.get_bind_group_layout(0),
            entries: &[
                wgpu::BindGroupEntry { binding: 0, resource: part.as_entire_binding() },
                wgpu::BindGroupEntry { binding: 1, resource: wgpu::BindingResource::TextureView(&view) },
                wgpu::BindGroupEntry { binding: 2, resource: wgpu::BindingResource::Sampler(sampler) },
            ],
        });
        let drawing = PictureCallback { pipeline: pipeline.clone(), bindings };
        painter.add(eframe::egui_wgpu::Callback::new_paint_callback(drawn, drawing));
    }
}

struct PictureCallback {
    pipeline: wgpu::RenderPipeline,
    bindings: wgpu::BindGroup,
}

impl CallbackTrait for PictureCallback {
    fn paint(&self, _: PaintCallbackInfo, pass: &mut wgpu::RenderPass<'static>, _: &CallbackResources) {
        pass.set_pipeline(&self.pipeline);
        pass.set_bind_group(0, &self.bindings, &[]);
        pass.draw(0..3, 0..1);
    }
}

#[cfg(test)]
mod tests {
    use super::super::struct_of;
    use super::*;
    use std::mem::offset_of;

    #[test]
    fn rust_mirrors_the_shader() {
        let members = [
            ("low", offset_of!(Part, low)),
            ("high", offset_of!(Part, high)),
            ("brightness", offset_of!(Part, brightness)),
        ];
        let members = members.map(|(name, offset)| (name.to_owned(), offset)).to_vec();
        assert_eq!(struct_of(SOURCE, "Part"), (members, size_of::<Part>()));
    }
}
