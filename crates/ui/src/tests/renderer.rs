//! Pictures of a window of tests, drawn by the test's own GPU. The one that `egui_kittest` brings would compile wgpu with more features
//! than the program has, and so a second time.

use crossbeam_channel::bounded;
use eframe::egui_wgpu::{
    RenderState, RendererOptions, ScreenDescriptor, WgpuConfiguration, WgpuSetup, WgpuSetupExisting,
};
use egui::{Context, FullOutput, TexturesDelta};
use egui_kittest::TestRenderer;
use image::RgbaImage;
use stereopsis_gpu::Gpu;

pub(super) struct GpuRenderer(RenderState);

impl GpuRenderer {
    pub(super) fn new(gpu: &Gpu) -> Self {
        let setup = WgpuSetup::Existing(WgpuSetupExisting {
            instance: gpu.instance.clone(),
            adapter: gpu.adapter.clone(),
            device: gpu.device.clone(),
            queue: gpu.queue.clone(),
        });
        let configuration = WgpuConfiguration { wgpu_setup: setup, ..WgpuConfiguration::default() };
        let state = RenderState::create(&configuration, &gpu.instance, None, RendererOptions::PREDICTABLE);
        Self(pollster::block_on(state).expect("an open device draws"))
    }
}

impl TestRenderer for GpuRenderer {
    fn setup_eframe(&self, cc: &mut eframe::CreationContext<'_>, frame: &mut eframe::Frame) {
        frame.wgpu_render_state = Some(self.0.clone());
        cc.wgpu_render_state = Some(self.0.clone());
    }

    fn handle_delta(&mut self, delta: &mut TexturesDelta) {
        let RenderState { device, queue, renderer, .. } = &self.0;
        let mut renderer = renderer.write();
        for (id, parts) in delta.set.drain() {
            parts.iter().for_each(|part| renderer.update_texture(device, queue, id, part));
        }
        delta.free.drain().for_each(|id| renderer.free_texture(&id));
    }

    fn render(&mut self, ctx: &Context, output: &FullOutput) -> Result<RgbaImage, String> {
        let RenderState { device, queue, renderer, target_format, .. } = &self.0;
        let scale = ctx.pixels_per_point();
        let size = (ctx.content_rect().size() * scale).round();
        let (width, height) = (size.x as u32, size.y as u32);
        let target = device.create_texture(&wgpu::TextureDescriptor {
            label: Some("picture of a window"),
            size: wgpu::Extent3d { width, height, depth_or_array_layers: 1 },
            mip_level_count: 1,
            sample_count: 1,
            dimension: wgpu::TextureDimension::D2,
            format: *target_format,
            usage: wgpu::TextureUsages::RENDER_ATTACHMENT | wgpu::TextureUsages::COPY_SRC,
            view_formats: &[],
        });
        let pitch = (4 * width).next_multiple_of(wgpu::COPY_BYTES_PER_ROW_ALIGNMENT);
        let pixels = device.create_buffer(&wgpu::BufferDescriptor {
            label: Some("pixels of a window"),
            size: u64::from(pitch) * u64::from(height),
            usage: wgpu::BufferUsages::COPY_DST | wgpu::BufferUsages::MAP_READ,
            mapped_at_creation: false,
        });

        let meshes = ctx.tessellate(output.shapes.clone(), scale);
        let screen = ScreenDescriptor { size_in_pixels: [width, height], pixels_per_point: scale };
        let mut encoder = device.create_command_encoder(&wgpu::CommandEncoderDescriptor::default());
        let mut renderer = renderer.write();
        let uploads = renderer.update_buffers(device, queue, &mut encoder, &meshes, &screen);
        let view = target.create_view(&wgpu::TextureViewDescriptor::default());
        let pass = encoder.begin_render_pass(&wgpu::RenderPassDescriptor {
            color_attachments: &[Some(wgpu::RenderPassColorAttachment {
                view: &view,
                depth_slice: None,
                resolve_target: None,
                ops: wgpu::Operations {
                    load: wgpu::LoadOp::Clear(wgpu::Color::TRANSPARENT),
                    store: wgpu::StoreOp::Store,
                },
            })],
            ..wgpu::RenderPassDescriptor::default()
        });
        renderer.render(&mut pass.forget_lifetime(), &meshes, &screen);
        let layout = wgpu::TexelCopyBufferLayout { offset: 0, bytes_per_row: Some(pitch), rows_per_image: None };
        let copy = wgpu::TexelCopyBufferInfo { buffer: &pixels, layout };
        encoder.copy_texture_to_buffer(target.as_image_copy(), copy, target.size());
        queue.submit(uploads.into_iter().chain([encoder.finish()]));

        let (sender, mapped) = bounded(1);
        pixels.map_async(wgpu::MapMode::Read, .., move |result| drop(sender.send(result)));
        device.poll(wgpu::PollType::wait_indefinitely()).map_err(|err| err.to_string())?;
        mapped.recv().expect("the wait is over").map_err(|err| err.to_string())?;
        let bytes = pixels.get_mapped_range(..).map_err(|err| err.to_string())?;
        let rows = bytes.chunks_exact(pitch as usize).flat_map(|row| &row[..4 * width as usize]).copied().collect();
        RgbaImage::from_raw(width, height, rows).ok_or_else(|| "the picture has another size".into())
    }
}
