//! Buffers and images on the device for the current dispatch graph. A buffer that keeps its size keeps its contents.

use super::device::Gpu;
use super::graph::DispatchGraph;
use super::layout::map_pitch;
use super::resource::Resource;
use crate::error::GpuError;
use std::collections::HashMap;
use stereopsis_frame::engine::EngineError;
use stereopsis_stereo::cost::mutual_information::log_table;
use stereopsis_stereo::filter::choice;

/// Number of results that exist at a time: the one on show, and those in flight.
pub(super) const RESULTS: usize = 4;

/// Format of results: 32 bits a pixel, because shaders can write such textures on every device.
const FORMAT: wgpu::TextureFormat = wgpu::TextureFormat::R32Uint;

#[derive(Default)]
pub(super) struct Buffers {
    linear: HashMap<Resource, wgpu::Buffer>,
    /// Halved and mirrored images; the pair itself lies in its slot.
    pictures: HashMap<Resource, wgpu::TextureView>,
    results: Vec<wgpu::Texture>,
    next_result: usize,
}

impl Buffers {
    /// Allocates the graph's buffers and frees all others. Returns whether any changed, which unbinds programs.
    ///
    /// # Errors
    /// [`EngineError::TooLarge`] with the numbers if the device has no room; then only earlier buffers are left.
    pub(super) fn fit(&mut self, gpu: &Gpu, graph: &DispatchGraph) -> Result<bool, EngineError> {
        let buffers = graph.buffer_sizes();
        let pictures = graph.made_pictures();
        let size = graph.size();
        let before = self.linear.len() + self.pictures.len();
        self.linear.retain(|resource, buffer| buffers.get(resource) == Some(&buffer.size()));
        self.pictures.retain(|resource, picture| pictures.get(resource) == Some(&size_of(picture.texture())));
        self.results.retain(|result| size_of(result) == size);
        let is_reduced = self.linear.len() + self.pictures.len() < before;
        let mut created = Vec::new();

        let scope = gpu.device.push_error_scope(wgpu::ErrorFilter::OutOfMemory);
        for (&resource, &bytes) in &buffers {
            self.linear.entry(resource).or_insert_with(|| {
                created.push(resource);
                new_buffer(gpu, resource, bytes)
            });
        }
        for (&resource, &size) in &pictures {
            self.pictures.entry(resource).or_insert_with(|| {
                created.push(resource);
                let usage = wgpu::TextureUsages::STORAGE_BINDING | wgpu::TextureUsages::TEXTURE_BINDING;
                let texture = gpu.texture("made image", size, FORMAT, usage);
                texture.create_view(&wgpu::TextureViewDescriptor::default())
            });
        }
        let usage =
            wgpu::TextureUsages::COPY_DST | wgpu::TextureUsages::COPY_SRC | wgpu::TextureUsages::TEXTURE_BINDING;
        self.results.resize_with(RESULTS, || gpu.texture("disparity map", size, FORMAT, usage));
        if let Some(cause) = pollster::block_on(scope.pop()) {
            self.results.clear();
            for resource in created {
                self.linear.remove(&resource);
                self.pictures.remove(&resource);
            }
            let (adapter, mib) = (gpu.info.adapter.clone(), graph.bytes().div_ceil(1 << 20));
            return Err(GpuError::NoRoom { adapter, mib, cause }.into());
        }
        Ok(is_reduced || !created.is_empty())
    }

    pub(super) fn bytes(&self) -> u64 {
        let of_texture = |texture: &wgpu::Texture| 4 * u64::from(texture.width()) * u64::from(texture.height());
        let pictures = self.pictures.values().map(|picture| of_texture(picture.texture()));
        let textures = pictures.chain(self.results.iter().map(of_texture));
        self.linear.values().map(wgpu::Buffer::size).chain(textures).sum()
    }

    pub(super) fn buffer(&self, resource: Resource) -> Option<&wgpu::Buffer> {
        self.linear.get(&resource)
    }

    pub(super) fn get(&self, resource: Resource) -> Option<wgpu::BindingResource<'_>> {
        let picture = self.pictures.get(&resource).map(wgpu::BindingResource::TextureView);
        picture.or_else(|| self.buffer(resource).map(wgpu::Buffer::as_entire_binding))
    }

    pub(super) fn next_result(&mut self) -> wgpu::Texture {
        self.next_result = (self.next_result + 1) % RESULTS;
        self.results[self.next_result].clone()
    }
}

fn new_buffer(gpu: &Gpu, resource: Resource, bytes: u64) -> wgpu::Buffer {
    let label = format!("{resource:?}");
    let usage = wgpu::BufferUsages::STORAGE | wgpu::BufferUsages::COPY_SRC | wgpu::BufferUsages::COPY_DST;
    match contents(resource) {
        Some(contents) => gpu.buffer_of(&label, bytemuck::cast_slice(&contents), usage),
        None => gpu.buffer(&label, bytes, usage),
    }
}

/// Returns the contents of tables that the reference computes once for all engines.
fn contents(resource: Resource) -> Option<Vec<u32>> {
    match resource {
        Resource::LogTable => Some(log_table()),
        Resource::ChoiceNet => Some(choice::numbers().map(|number| number as u32).collect()),
        Resource::CostTable(scale) => {
            let tables = scale.tables();
            // a word for each entry, so that one load reads it
            Some(tables.difference.into_iter().chain(tables.census).map(u32::from).collect())
        }
        _ => None,
    }
}

fn size_of(texture: &wgpu::Texture) -> (usize, usize) {
    (texture.width() as usize, texture.height() as usize)
}

/// Copies a map into a texture of its size.
pub(super) fn copy_to_texture(encoder: &mut wgpu::CommandEncoder, map: &wgpu::Buffer, texture: &wgpu::Texture) {
    let layout = wgpu::TexelCopyBufferLayout {
        offset: 0,
        bytes_per_row: Some(4 * map_pitch(texture.width() as usize) as u32),
        rows_per_image: None,
    };
    let source = wgpu::TexelCopyBufferInfo { buffer: map, layout };
    encoder.copy_buffer_to_texture(source, texture.as_image_copy(), texture.size());
}
