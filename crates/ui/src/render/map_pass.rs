//! Render pass that colours a disparity map: `shaders/display.wgsl` and its bindings.

use super::upload;
use eframe::egui_wgpu::RenderState;
use stereopsis_images::colormap::reason_color;
use wgpu::util::{BufferInitDescriptor, DeviceExt as _};

const SOURCE: &str = stereopsis_shaders::text("display");
const NUM_COLOURS: usize = 256;
const NUM_REASONS: usize = 8; // bits of the byte

/// Uniform `Display` of the shader: the values of the first and the last colour.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, bytemuck::Pod, bytemuck::Zeroable)]
pub(crate) struct Display {
    /// Focal length times baseline, px m; 0 for disparity.
    pub(crate) focal_times_baseline: f32,
    /// Negated disparity of infinity, px.
    pub(crate) doffs_px: f32,
    /// Value of the first colour: px, 1/m, or %.
    pub(crate) low: f32,
    pub(crate) high: f32,
    /// Quantity, one of the constants below.
    pub(crate) quantity: u32,
    /// Whether invalid pixels are coloured by reason (1) or black (0).
    pub(crate) colour_reasons: u32,
}

impl Display {
    /// Disparity in px.
    pub(crate) const DISPARITY: u32 = 0;
    /// Inverse depth in 1/m.
    pub(crate) const INVERSE_DEPTH: u32 = 1;
    /// Confidence in %.
    pub(crate) const CONFIDENCE: u32 = 2;
    /// Absolute difference from a reference, px.
    pub(crate) const DIFFERENCE: u32 = 3;
}

/// Pipeline and colours of the maps.
pub(super) struct MapPass {
    value: wgpu::RenderPipeline,
    difference: wgpu::RenderPipeline,
    /// Colours of the values, then one for each reason.
    colours: wgpu::Texture,
}

impl MapPass {
    pub(super) fn new(state: &RenderState) -> Self {
        let device = &state.device;
        let shader = device.create_shader_module(wgpu::ShaderModuleDescriptor {
            label: Some("display"),
            source: wgpu::ShaderSource::Wgsl(SOURCE.into()),
        });
        let pipeline = |entry_point| {
            device.create_render_pipeline(&wgpu::RenderPipelineDescriptor {
                label: Some(entry_point),
                layout: None, // that of the shader
                vertex: wgpu::VertexState {
                    module: &shader,
                    entry_point: Some("whole_target"),
                    compilation_options: wgpu::PipelineCompilationOptions::default(),
                    buffers: &[],
                },
                fragment: Some(wgpu::FragmentState {
                    module: &shader,
                    entry_point: Some(entry_point),
                    compilation_options: wgpu::PipelineCompilationOptions::default(),
                    targets: &[Some(wgpu::TextureFormat::Rgba8Unorm.into())],
                }),
                primitive: wgpu::PrimitiveState::default(),
                depth_stencil: None,
                multisample: wgpu::MultisampleState::default(),
                multiview_mask: None,
                cache: None,
            })
        };
        let usage = wgpu::TextureUsages::TEXTURE_BINDING | wgpu::TextureUsages::COPY_DST;
        let size = (NUM_COLOURS + NUM_REASONS, 1);
        let colours = upload::texture(device, "colours", size, wgpu::TextureFormat::Rgba8Unorm, usage);
        Self { value: pipeline("value"), difference: pipeline("difference"), colours }
    }

    /// Sets the 256 colours of the maps.
    pub(super) fn set_colours(&self, queue: &wgpu::Queue, colours: &[[u8; 3]]) {
        let reasons: [_; NUM_REASONS] = std::array::from_fn(|bit| reason_color(1 << bit));
        upload::write(queue, &self.colours, &stereopsis_images::screen::with_alpha(&[colours, &reasons].concat()));
    }

    /// Returns the 256 colours of the maps as a row, followed by those of the reasons.
    pub(super) fn colours(&self) -> &wgpu::Texture {
        &self.colours
    }

    /// Records the colouring of `map` into `target`; map, target and the `reference` of a difference have one size.
    pub(super) fn draw(
        &self,
        device: &wgpu::Device,
        encoder: &mut wgpu::CommandEncoder,
        map: &wgpu::Texture,
        reference: Option<&wgpu::Texture>,
        target: &wgpu::Texture,
        display: &Display,
    ) {
        let uniform = device.create_buffer_init(&BufferInitDescriptor {
            label: Some("display"),
            contents: bytemuck::bytes_of(display),
            usage: wgpu::BufferUsages::UNIFORM,
        });
        let view = |texture: &wgpu::Texture| texture.create_view(&wgpu::TextureViewDescriptor::default());
        let compares = display.quantity == Display::DIFFERENCE;
        let pipeline = if compares { &self.difference } else { &self.value };
        let reference = view(reference.unwrap_or(map));
        let (map, colours) = (view(map), view(&self.colours));
        let texture =
            |binding, view| wgpu::BindGroupEntry { binding, resource: wgpu::BindingResource::TextureView(view) };
        let entries = [
            wgpu::BindGroupEntry { binding: 0, resource: uniform.as_entire_binding() },
            texture(1, &map),
            texture(2, &colours),
            texture(3, &reference),
        ];
        let bindings = device.create_bind_group(&wgpu::BindGroupDescriptor {
            label: Some("display"),
            layout: &pipeline.get_bind_group_layout(0),
            entries: &entries[..if compares { 4 } else { 3 }],
        });
        let target = view(target);
        let mut pass = encoder.begin_render_pass(&wgpu::RenderPassDescriptor {
            label: Some("display"),
            color_attachments: &[Some(wgpu::RenderPassColorAttachment {
                view: &target,
                depth_slice: None,
                resolve_target: None,
                ops: wgpu::Operations { load: wgpu::LoadOp::Clear(wgpu::Color::BLACK), store: wgpu::StoreOp::Store },
            })],
            ..Default::default()
        });
        pass.set_pipeline(pipeline);
        pass.set_bind_group(0, &bindings, &[]);
        pass.draw(0..3, 0..1);
    }
}

#[cfg(test)]
mod tests {
    use super::super::struct_of;
    use super::*;
    use wgpu::naga;

    #[test]
    fn rust_mirrors_the_shader() {
        let module = naga::front::wgsl::parse_str(SOURCE).expect("display.wgsl");
        let (members, size) = struct_of(SOURCE, "Display");
        assert_eq!(size, size_of::<Display>());
        let offsets: Vec<_> = members.iter().map(|(name, offset)| (name.as_str(), *offset)).collect();
        assert_eq!(
            offsets,
            [
                ("focal_times_baseline", std::mem::offset_of!(Display, focal_times_baseline)),
                ("doffs_px", std::mem::offset_of!(Display, doffs_px)),
                ("low", std::mem::offset_of!(Display, low)),
                ("high", std::mem::offset_of!(Display, high)),
                ("quantity", std::mem::offset_of!(Display, quantity)),
                ("colour_reasons", std::mem::offset_of!(Display, colour_reasons)),
            ]
        );
        let constant = |name: &str| {
            let (_, c) = module.constants.iter().find(|(_, c)| c.name.as_deref() == Some(name)).expect("constant");
            match module.global_expressions[c.init] {
                naga::Expression::Literal(naga::Literal::F32(v)) => v as i64,
                naga::Expression::Literal(naga::Literal::U32(v)) => i64::from(v),
                naga::Expression::Literal(naga::Literal::I32(v)) => i64::from(v),
                ref other => panic!("{name}: {other:?}"),
            }
        };
        assert_eq!(constant("NUM_COLOURS"), NUM_COLOURS as i64);
        assert_eq!(constant("STEPS_PER_PX"), i64::from(stereopsis_stereo::map::SUBPIXEL_STEPS));
        assert_eq!(constant("INVALID"), i64::from(stereopsis_stereo::INVALID as u16));
        assert_eq!(constant("HELD"), i64::from(stereopsis_stereo::reason::HELD));
        assert_eq!(constant("FILLED"), i64::from(stereopsis_stereo::reason::FILLED));
    }
}
