//! Render pass of the 3-D view: `shaders/space.wgsl`, its pipelines and bindings.

use super::drawing::Drawing;
use super::lines::LineEnd;
use super::settings::Surface;
use wgpu::util::{BufferInitDescriptor, DeviceExt as _};

const SOURCE: &str = stereopsis_shaders::text("space");
const VERTICES_PER_CELL: u32 = 6;
const COLOUR_FORMAT: wgpu::TextureFormat = wgpu::TextureFormat::Rgba8Unorm;
const DEPTH_FORMAT: wgpu::TextureFormat = wgpu::TextureFormat::Depth32Float;

/// Textures on the device, read pixel by pixel.
#[derive(Clone, Copy)]
pub(crate) struct Inputs<'a> {
    /// Packed disparities, see [`stereopsis_frame::engine::ResultTexture`].
    pub(crate) map: &'a wgpu::Texture,
    /// Left image, of the map's size.
    pub(crate) picture: &'a wgpu::Texture,
    /// Row of 256 colours, far to near.
    pub(crate) colours: &'a wgpu::Texture,
}

/// Colour and depth textures of the target.
pub(super) struct Target {
    pub(super) colour: wgpu::Texture,
    depth: wgpu::Texture,
}

impl Target {
    /// Creates a target of at least one pixel.
    pub(super) fn new(device: &wgpu::Device, (width, height): (u32, u32)) -> Self {
        let texture = |label, format, usage| {
            device.create_texture(&wgpu::TextureDescriptor {
                label: Some(label),
                size: wgpu::Extent3d { width: width.max(1), height: height.max(1), depth_or_array_layers: 1 },
                mip_level_count: 1,
                sample_count: 1,
                dimension: wgpu::TextureDimension::D2,
                format,
                usage: usage | wgpu::TextureUsages::RENDER_ATTACHMENT,
                view_formats: &[],
            })
        };
        let shown = wgpu::TextureUsages::TEXTURE_BINDING | wgpu::TextureUsages::COPY_SRC;
        Self {
            colour: texture("space", COLOUR_FORMAT, shown),
            depth: texture("depth of space", DEPTH_FORMAT, wgpu::TextureUsages::empty()),
        }
    }
}

/// Pipelines of squares, surface and lines.
pub(super) struct SpacePass {
    layout: wgpu::BindGroupLayout,
    squares: wgpu::RenderPipeline,
    surface: wgpu::RenderPipeline,
    lines: wgpu::RenderPipeline,
}

impl SpacePass {
    pub(super) fn new(device: &wgpu::Device) -> Self {
        let shader = device.create_shader_module(wgpu::ShaderModuleDescriptor {
            label: Some("space"),
            source: wgpu::ShaderSource::Wgsl(SOURCE.into()),
        });
        let layout = layout(device);
        let bound = device.create_pipeline_layout(&wgpu::PipelineLayoutDescriptor {
            label: Some("space"),
            bind_group_layouts: &[Some(&layout)],
            immediate_size: 0,
        });
        let ends = [Some(wgpu::VertexBufferLayout {
            array_stride: size_of::<LineEnd>() as u64,
            step_mode: wgpu::VertexStepMode::Vertex,
            attributes: &wgpu::vertex_attr_array![0 => Float32x3, 1 => Unorm8x4],
        })];
        let pipeline = |[vertex, fragment]: [&str; 2], topology, buffers: &[Option<wgpu::VertexBufferLayout<'_>>]| {
            device.create_render_pipeline(&wgpu::RenderPipelineDescriptor {
                label: Some(vertex),
                layout: Some(&bound),
                vertex: wgpu::VertexState {
                    module: &shader,
                    entry_point: Some(vertex),
                    compilation_options: wgpu::PipelineCompilationOptions::default(),
                    buffers,
                },
                fragment: Some(wgpu::FragmentState {
                    module: &shader,
                    entry_point: Some(fragment),
                    compilation_options: wgpu::PipelineCompilationOptions::default(),
                    targets: &[Some(COLOUR_FORMAT.into())],
                }),
                primitive: wgpu::PrimitiveState { topology, ..wgpu::PrimitiveState::default() },
                depth_stencil: Some(wgpu::DepthStencilState {
                    format: DEPTH_FORMAT,
                    depth_write_enabled: Some(true),
                    depth_compare: Some(wgpu::CompareFunction::Greater), // 1 is near
                    stencil: wgpu::StencilState::default(),
                    bias: wgpu::DepthBiasState::default(),
                }),
                multisample: wgpu::MultisampleState::default(),
                multiview_mask: None,
                cache: None,
            })
        };
        Self {
            squares: pipeline(["square", "colour"], wgpu::PrimitiveTopology::TriangleList, &[]),
            surface: pipeline(["surface", "colour"], wgpu::PrimitiveTopology::TriangleList, &[]),
            lines: pipeline(["line_end", "line_colour"], wgpu::PrimitiveTopology::LineList, &ends),
            layout,
        }
    }

    /// Records `drawing` of `inputs` into `target`, which has the drawing's size.
    pub(super) fn draw(
        &self,
        device: &wgpu::Device,
        encoder: &mut wgpu::CommandEncoder,
        inputs: Inputs<'_>,
        drawing: &Drawing,
        target: &Target,
    ) {
        let uniform = device.create_buffer_init(&BufferInitDescriptor {
            label: Some("space"),
            contents: bytemuck::bytes_of(&drawing.space),
            usage: wgpu::BufferUsages::UNIFORM,
        });
        let view = |texture: &wgpu::Texture| texture.create_view(&wgpu::TextureViewDescriptor::default());
        let (map, picture, colours) = (view(inputs.map), view(inputs.picture), view(inputs.colours));
        let texture =
            |binding, view| wgpu::BindGroupEntry { binding, resource: wgpu::BindingResource::TextureView(view) };
        let bindings = device.create_bind_group(&wgpu::BindGroupDescriptor {
            label: Some("space"),
            layout: &self.layout,
            entries: &[
                wgpu::BindGroupEntry { binding: 0, resource: uniform.as_entire_binding() },
                texture(1, &map),
                texture(2, &picture),
                texture(3, &colours),
            ],
        });
        let ends = (!drawing.lines.is_empty()).then(|| {
            device.create_buffer_init(&BufferInitDescriptor {
                label: Some("lines"),
                contents: bytemuck::cast_slice(&drawing.lines),
                usage: wgpu::BufferUsages::VERTEX,
            })
        });
        let [r, g, b] = drawing.background.map(|v| f64::from(v) / 255.0);
        let background = wgpu::Color { r, g, b, a: 1.0 };
        let (colour, depth) = (view(&target.colour), view(&target.depth));
        let mut pass = encoder.begin_render_pass(&wgpu::RenderPassDescriptor {
            label: Some("space"),
            color_attachments: &[Some(wgpu::RenderPassColorAttachment {
                view: &colour,
                depth_slice: None,
                resolve_target: None,
                ops: wgpu::Operations { load: wgpu::LoadOp::Clear(background), store: wgpu::StoreOp::Store },
            })],
            depth_stencil_attachment: Some(wgpu::RenderPassDepthStencilAttachment {
                view: &depth,
                depth_ops: Some(wgpu::Operations { load: wgpu::LoadOp::Clear(0.0), store: wgpu::StoreOp::Discard }),
                stencil_ops: None,
            }),
            ..Default::default()
        });
        pass.set_bind_group(0, &bindings, &[]);
        if drawing.cells > 0 {
            pass.set_pipeline(if drawing.surface == Surface::Mesh { &self.surface } else { &self.squares });
            pass.draw(0..drawing.cells * VERTICES_PER_CELL, 0..1);
        }
        if let Some(ends) = &ends {
            pass.set_pipeline(&self.lines);
            pass.set_vertex_buffer(0, ends.slice(..));
            pass.draw(0..drawing.lines.len() as u32, 0..1);
        }
    }
}

/// Creates the layout of all pipelines: the uniform, and three textures read without a sampler.
fn layout(device: &wgpu::Device) -> wgpu::BindGroupLayout {
    let entry = |binding, ty| wgpu::BindGroupLayoutEntry {
        binding,
        visibility: wgpu::ShaderStages::VERTEX_FRAGMENT,
        ty,
        count: None,
    };
    let texture = |binding, sample_type| {
        let view_dimension = wgpu::TextureViewDimension::D2;
        entry(binding, wgpu::BindingType::Texture { sample_type, view_dimension, multisampled: false })
    };
    let uniform = wgpu::BindingType::Buffer {
        ty: wgpu::BufferBindingType::Uniform,
        has_dynamic_offset: false,
        min_binding_size: None,
    };
    let colour = wgpu::TextureSampleType::Float { filterable: false };
    device.create_bind_group_layout(&wgpu::BindGroupLayoutDescriptor {
        label: Some("space"),
        entries: &[
            entry(0, uniform),
            texture(1, wgpu::TextureSampleType::Uint),
            texture(2, colour),
            texture(3, colour),
        ],
    })
}
