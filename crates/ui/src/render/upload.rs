//! Upload of pixels from the host to textures of the window's device.

use eframe::egui_wgpu::RenderState;
use stereopsis_images::screen;
use stereopsis_stereo::DisparityMap;

/// Creates a texture of one layer and one mip level.
pub(super) fn texture(
    device: &wgpu::Device,
    label: &str,
    (width, height): (usize, usize),
    format: wgpu::TextureFormat,
    usage: wgpu::TextureUsages,
) -> wgpu::Texture {
    device.create_texture(&wgpu::TextureDescriptor {
        label: Some(label),
        size: wgpu::Extent3d { width: width as u32, height: height as u32, depth_or_array_layers: 1 },
        mip_level_count: 1,
        sample_count: 1,
        dimension: wgpu::TextureDimension::D2,
        format,
        usage,
        view_formats: &[],
    })
}

/// Fills a texture of four bytes per pixel.
pub(super) fn write(queue: &wgpu::Queue, texture: &wgpu::Texture, bytes: &[u8]) {
    let layout =
        wgpu::TexelCopyBufferLayout { offset: 0, bytes_per_row: Some(texture.width() * 4), rows_per_image: None };
    queue.write_texture(texture.as_image_copy(), bytes, layout, texture.size());
}

/// Uploads a map in the GPU engine's packed format into `old` if its size fits, or else into a new texture.
pub(super) fn map(state: &RenderState, map: &DisparityMap, old: Option<wgpu::Texture>) -> wgpu::Texture {
    packed(state, &screen::words(map), map.size(), old)
}

pub(super) fn packed(
    state: &RenderState,
    words: &[u32],
    (width, height): (usize, usize),
    old: Option<wgpu::Texture>,
) -> wgpu::Texture {
    let usage = wgpu::TextureUsages::TEXTURE_BINDING | wgpu::TextureUsages::COPY_DST;
    // textures of the GPU engine cannot be written here
    let fits = |t: &wgpu::Texture| t.usage() == usage && (t.width(), t.height()) == (width as u32, height as u32);
    let texture = old.filter(fits).unwrap_or_else(|| {
        texture(&state.device, "uploaded disparities", (width, height), wgpu::TextureFormat::R32Uint, usage)
    });
    write(&state.queue, &texture, bytemuck::cast_slice(words));
    texture
}
