//! Off-screen drawing of a part of the window into a texture, or into shapes, at any scale.

use crate::render::is_software;
use crate::style;
use eframe::egui_wgpu::{RenderState, Renderer, RendererOptions, ScreenDescriptor};
use egui::epaint::ClippedShape;
use egui::{ColorImage, Context, Pos2, RawInput, Rect, Theme, Ui, Vec2, ViewportId};

/// Number of passes before the final one, in which plots and texts find their sizes.
const LAYOUT_PASSES: usize = 2;
/// Height offered to drawings that find their height while drawing, points.
const MAX_HEIGHT: f32 = 4096.0;
/// Alignment of the rows of a buffer that receives a texture, bytes.
const ROW_ALIGNMENT: u32 = wgpu::COPY_BYTES_PER_ROW_ALIGNMENT;

/// Sheet to draw on, in points; a height of `None` follows from the drawing.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sheet {
    pub(crate) width: f32,
    pub(crate) height: Option<f32>,
    pub(crate) pixels_per_point: f32,
    pub(crate) is_dark: bool,
}

/// Drawing as egui's shapes.
pub(crate) struct ShapeDrawing {
    ctx: Context,
    textures: Vec<egui::TexturesDelta>,
    pub(crate) shapes: Vec<ClippedShape>,
    /// Size in points.
    pub(crate) size: Vec2,
    pub(crate) background: egui::Color32,
    pixels_per_point: f32,
}

impl Sheet {
    /// Draws with `draw` in a separate egui context that receives no input of the window.
    pub(crate) fn draw(self, mut draw: impl FnMut(&mut Ui)) -> ShapeDrawing {
        let ctx = Context::default();
        style::apply(&ctx);
        ctx.set_theme(if self.is_dark { Theme::Dark } else { Theme::Light });
        let mut size = Vec2::new(self.width, self.height.unwrap_or(MAX_HEIGHT));
        let mut textures = Vec::new();
        let mut shapes = Vec::new();
        for pass in 0..=LAYOUT_PASSES {
            let mut input =
                RawInput { screen_rect: Some(Rect::from_min_size(Pos2::ZERO, size)), ..RawInput::default() };
            if let Some(viewport) = input.viewports.get_mut(&ViewportId::ROOT) {
                viewport.native_pixels_per_point = Some(self.pixels_per_point);
            }
            let mut used = size;
            let output = ctx.run_ui(input, |ui| {
                draw(ui);
                used = ui.min_rect().max.to_vec2();
            });
            textures.push(output.textures_delta);
            shapes = output.shapes;
            if pass + 1 == LAYOUT_PASSES && self.height.is_none() {
                size.y = used.y.ceil();
            }
        }
        let dark = || style::background(&ctx.style_of(Theme::Dark).visuals);
        let background = if self.is_dark { dark() } else { egui::Color32::WHITE };
        ShapeDrawing { ctx, textures, shapes, size, background, pixels_per_point: self.pixels_per_point }
    }
}

impl Drop for ShapeDrawing {
    /// Marks the textures as forgotten on purpose, as egui's check requires.
    fn drop(&mut self) {
        self.textures.iter_mut().for_each(egui::TexturesDelta::clear);
    }
}

/// Pixels that the GPU has not returned yet.
pub(crate) struct PendingPixels {
    device: wgpu::Device,
    buffer: wgpu::Buffer,
    size: [u32; 2],
    bytes_per_row: u32,
    is_bgra: bool,
}

/// Reason why an image is not drawn.
#[derive(Debug, thiserror::Error)]
pub(crate) enum DrawError {
    #[error("an image of {} × {} px is larger than the {largest} px that this GPU draws: choose a smaller scale", size[0], size[1])]
    TooLarge { size: [u32; 2], largest: u32 },
    #[error("the GPU was lost while it drew the image: save it again")]
    Lost,
}

impl ShapeDrawing {
    pub(crate) fn size_px(&self) -> [u32; 2] {
        [self.size.x, self.size.y].map(|points| (points * self.pixels_per_point).round().max(1.0) as u32)
    }

    /// Submits the drawing without waiting.
    ///
    /// # Errors
    /// The image is larger than the adapter draws.
    pub(crate) fn submit(mut self, state: &RenderState) -> Result<PendingPixels, DrawError> {
        let (device, queue, format) = (&state.device, &state.queue, state.target_format);
        let size = self.size_px();
        let largest = device.limits().max_texture_dimension_2d;
        if size.iter().any(|&side| side > largest) {
            return Err(DrawError::TooLarge { size, largest });
        }
        // only a software adapter must filter like its own shader
        let options = RendererOptions {
            dithering: false,
            predictable_texture_filtering: is_software(state),
            ..RendererOptions::default()
        };
        let mut renderer = Renderer::new(device, format, options);
        for (id, deltas) in self.textures.iter().flat_map(|textures| &textures.set) {
            for delta in deltas {
                renderer.update_texture(device, queue, *id, delta);
            }
        }
        let primitives = self.ctx.tessellate(std::mem::take(&mut self.shapes), self.pixels_per_point);
        let screen = ScreenDescriptor { size_in_pixels: size, pixels_per_point: self.pixels_per_point };
        let mut encoder = device.create_command_encoder(&wgpu::CommandEncoderDescriptor::default());
        let more = renderer.update_buffers(device, queue, &mut encoder, &primitives, &screen);
        let extent = wgpu::Extent3d { width: size[0], height: size[1], depth_or_array_layers: 1 };
        let target = device.create_texture(&wgpu::TextureDescriptor {
            label: Some("image to take along"),
            size: extent,
            mip_level_count: 1,
            sample_count: 1,
            dimension: wgpu::TextureDimension::D2,
            format,
            usage: wgpu::TextureUsages::RENDER_ATTACHMENT | wgpu::TextureUsages::COPY_SRC,
            view_formats: &[],
        });
        let view = target.create_view(&wgpu::TextureViewDescriptor::default());
        let [r, g, b, _] = self.background.to_normalized_gamma_f32().map(f64::from);
        let pass = encoder.begin_render_pass(&wgpu::RenderPassDescriptor {
            label: Some("image to take along"),
            color_attachments: &[Some(wgpu::RenderPassColorAttachment {
                view: &view,
                depth_slice: None,
                resolve_target: None,
                ops: wgpu::Operations {
                    load: wgpu::LoadOp::Clear(wgpu::Color { r, g, b, a: 1.0 }),
                    store: wgpu::StoreOp::Store,
                },
            })],
            ..Default::default()
        });
        renderer.render(&mut pass.forget_lifetime(), &primitives, &screen);
        let bytes_per_row = (4 * size[0]).next_multiple_of(ROW_ALIGNMENT);
        let buffer = device.create_buffer(&wgpu::BufferDescriptor {
            label: Some("image to take along"),
            size: u64::from(bytes_per_row) * u64::from(size[1]),
            usage: wgpu::BufferUsages::COPY_DST | wgpu::BufferUsages::MAP_READ,
            mapped_at_creation: false,
        });
        let layout =
            wgpu::TexelCopyBufferLayout { offset: 0, bytes_per_row: Some(bytes_per_row), rows_per_image: None };
        encoder.copy_texture_to_buffer(
            target.as_image_copy(),
            wgpu::TexelCopyBufferInfo { buffer: &buffer, layout },
            extent,
        );
        queue.submit(more.into_iter().chain([encoder.finish()]));
        let is_bgra = matches!(format, wgpu::TextureFormat::Bgra8Unorm | wgpu::TextureFormat::Bgra8UnormSrgb);
        Ok(PendingPixels { device: device.clone(), buffer, size, bytes_per_row, is_bgra })
    }
}

impl PendingPixels {
    /// Waits for the pixels.
    ///
    /// # Errors
    /// The device was lost meanwhile.
    pub(crate) fn wait(self) -> Result<ColorImage, DrawError> {
        let (sender, receiver) = crossbeam_channel::bounded(1);
        self.buffer.map_async(wgpu::MapMode::Read, .., move |mapped| {
            let _ = sender.send(mapped); // fails only after the receiver gave up with an error
        });
        self.device.poll(wgpu::PollType::wait_indefinitely()).map_err(|_| DrawError::Lost)?;
        receiver.recv().map_err(|_| DrawError::Lost)?.map_err(|_| DrawError::Lost)?;
        let bytes = self.buffer.get_mapped_range(..).map_err(|_| DrawError::Lost)?;
        let [width, height] = self.size.map(|side| side as usize);
        let rows = bytes.chunks(self.bytes_per_row as usize).take(height);
        let pixels = rows.flat_map(|row| row[..4 * width].chunks_exact(4));
        let rgba: Vec<u8> = pixels
            .flat_map(|pixel| {
                let [first, green, third, _] = [pixel[0], pixel[1], pixel[2], pixel[3]];
                if self.is_bgra { [third, green, first, 255] } else { [first, green, third, 255] }
            })
            .collect();
        Ok(ColorImage::from_rgba_unmultiplied([width, height], &rgba))
    }
}
