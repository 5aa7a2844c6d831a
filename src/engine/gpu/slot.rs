//! What one job in flight owns: the staging buffer that the host writes, the input textures, and what comes back.
//!
//! The host writes pair n + 1 into its own slot while the device still reads pair n from another.

use super::device::Gpu;
use super::plan::extent;
use super::uniforms::{DIRECTION_STRIDE, DIRECTIONS_SIZE, Direction, Params, map_pitch};
use crate::engine::EngineError;
use crate::frame::Luma;
use crate::image::Image;
use crate::stereo::aggregate::MAX_PATHS;
use crate::stereo::{DisparityMap, StereoParams};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Pieces of a job, at most, each of them timed: cost, directions, winner, filters.
pub(super) const MAX_PIECES: usize = MAX_PATHS as usize + 3;
/// Bytes of all timestamps: begin and end of each piece.
const TICKS_SIZE: usize = 2 * MAX_PIECES * size_of::<u64>();
/// Where the map begins in the read-back buffer, after the timestamps.
const MAP_OFFSET: usize = TICKS_SIZE.next_multiple_of(wgpu::MAP_ALIGNMENT as usize);

/// What decides whether a slot can be used again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Pictures {
    width: usize,
    height: usize,
    /// 16 instead of 8 bits a pixel.
    wide: bool,
}

impl Pictures {
    pub(super) fn of(left: &Luma, right: &Luma) -> Self {
        let (width, height) = left.size();
        Self { width, height, wide: left.bits().max(right.bits()) > 8 }
    }

    /// Bytes from row to row in the staging buffer.
    fn row_pitch(&self) -> usize {
        let bytes = if self.wide { 2 * self.width } else { self.width };
        bytes.next_multiple_of(wgpu::COPY_BYTES_PER_ROW_ALIGNMENT as usize)
    }
}

/// One place in the upload and read-back rings.
pub(super) struct Slot {
    pub(super) pictures: Pictures,
    pub(super) left: wgpu::TextureView,
    pub(super) right: wgpu::TextureView,
    pub(super) params: wgpu::Buffer,
    directions: wgpu::Buffer,
    timestamps: Option<Timestamps>,
    textures: [wgpu::Texture; 2],
    staging: wgpu::Buffer,
    staging_mapped: Arc<AtomicBool>,
    read_back: wgpu::Buffer,
}

/// Queries, and the buffer into which they resolve.
struct Timestamps {
    queries: wgpu::QuerySet,
    resolved: wgpu::Buffer,
}

impl Slot {
    pub(super) fn new(gpu: &Gpu, pictures: Pictures) -> Self {
        let Pictures { width, height, wide } = pictures;
        let buffer = |label, size, usage, mapped_at_creation| {
            gpu.device.create_buffer(&wgpu::BufferDescriptor { label: Some(label), size, usage, mapped_at_creation })
        };
        let texture = |label| {
            gpu.device.create_texture(&wgpu::TextureDescriptor {
                label: Some(label),
                size: extent(width, height),
                mip_level_count: 1,
                sample_count: 1,
                dimension: wgpu::TextureDimension::D2,
                format: if wide { wgpu::TextureFormat::R16Uint } else { wgpu::TextureFormat::R8Uint },
                usage: wgpu::TextureUsages::COPY_DST | wgpu::TextureUsages::TEXTURE_BINDING,
                view_formats: &[],
            })
        };
        let textures = [texture("left"), texture("right")];
        let [left, right] = [0, 1].map(|i: usize| textures[i].create_view(&wgpu::TextureViewDescriptor::default()));
        let queries = 2 * MAX_PIECES as u32;
        let timestamps = gpu.device.features().contains(wgpu::Features::TIMESTAMP_QUERY).then(|| Timestamps {
            queries: gpu.device.create_query_set(&wgpu::QuerySetDescriptor {
                label: Some("stages"),
                ty: wgpu::QueryType::Timestamp,
                count: queries,
            }),
            resolved: buffer(
                "timestamps",
                TICKS_SIZE as u64,
                wgpu::BufferUsages::QUERY_RESOLVE | wgpu::BufferUsages::COPY_SRC,
                false,
            ),
        });
        let staging_bytes = 2 * pictures.row_pitch() * height + size_of::<Params>() + DIRECTIONS_SIZE;
        let read_bytes = MAP_OFFSET + map_pitch(width) * height * 4;
        Self {
            pictures,
            left,
            right,
            textures,
            params: buffer(
                "params",
                size_of::<Params>() as u64,
                wgpu::BufferUsages::UNIFORM | wgpu::BufferUsages::COPY_DST,
                false,
            ),
            directions: buffer(
                "directions",
                DIRECTIONS_SIZE as u64,
                wgpu::BufferUsages::UNIFORM | wgpu::BufferUsages::COPY_DST,
                false,
            ),
            timestamps,
            staging: buffer(
                "staging",
                staging_bytes as u64,
                wgpu::BufferUsages::MAP_WRITE | wgpu::BufferUsages::COPY_SRC,
                true,
            ),
            staging_mapped: Arc::new(AtomicBool::new(true)),
            read_back: buffer(
                "read back",
                read_bytes as u64,
                wgpu::BufferUsages::MAP_READ | wgpu::BufferUsages::COPY_DST,
                false,
            ),
        }
    }

    /// Whether the device times the pieces of a job.
    pub(super) fn has_timestamps(&self) -> bool {
        self.timestamps.is_some()
    }

    /// Whether the staging buffer belongs to the host again.
    pub(super) fn is_writable(&self) -> bool {
        self.staging_mapped.load(Ordering::Acquire)
    }

    /// The uniform of the path direction number `index`.
    pub(super) fn direction(&self, index: usize) -> wgpu::BindingResource<'_> {
        wgpu::BindingResource::Buffer(wgpu::BufferBinding {
            buffer: &self.directions,
            offset: (index * DIRECTION_STRIDE) as u64,
            size: std::num::NonZeroU64::new(size_of::<Direction>() as u64),
        })
    }

    /// Writes a pair and its parameters, and submits their way to the device. Does not wait.
    pub(super) fn upload(
        &mut self,
        gpu: &Gpu,
        left: &Luma,
        right: &Luma,
        params: &StereoParams,
    ) -> Result<(), EngineError> {
        let pitch = self.pictures.row_pitch();
        let picture_bytes = pitch * self.pictures.height;
        let (params_at, directions_at) = (2 * picture_bytes, 2 * picture_bytes + size_of::<Params>());
        let directions = Direction::all(params);
        {
            let mut staging = self.staging.get_mapped_range_mut(..).map_err(|err| device_error(gpu, &err))?;
            write_luma(&mut staging, 0, pitch, left, self.pictures.wide);
            write_luma(&mut staging, picture_bytes, pitch, right, self.pictures.wide);
            let params = Params::new(left, right, params);
            staging.slice(params_at..directions_at).copy_from_slice(bytemuck::bytes_of(&params));
            staging.slice(directions_at..directions_at + directions.len()).copy_from_slice(&directions);
        }
        self.staging.unmap();
        let mut encoder = gpu.device.create_command_encoder(&wgpu::CommandEncoderDescriptor { label: Some("upload") });
        for (offset, texture) in [(0, &self.textures[0]), (picture_bytes, &self.textures[1])] {
            let source = wgpu::TexelCopyBufferInfo {
                buffer: &self.staging,
                layout: wgpu::TexelCopyBufferLayout {
                    offset: offset as u64,
                    bytes_per_row: Some(pitch as u32),
                    rows_per_image: None,
                },
            };
            encoder.copy_buffer_to_texture(source, texture.as_image_copy(), texture.size());
        }
        for (offset, buffer, bytes) in
            [(params_at, &self.params, size_of::<Params>()), (directions_at, &self.directions, directions.len())]
        {
            encoder.copy_buffer_to_buffer(&self.staging, offset as u64, buffer, 0, bytes as u64);
        }
        gpu.queue.submit([encoder.finish()]);

        let mapped = Arc::new(AtomicBool::new(false));
        self.staging_mapped = Arc::clone(&mapped);
        self.staging.map_async(wgpu::MapMode::Write, .., move |result| mapped.store(result.is_ok(), Ordering::Release));
        Ok(())
    }

    /// Records the copy of the timestamps of `pieces` pieces and, if wanted, of the map into the read-back buffer.
    pub(super) fn record_read_back(
        &self,
        encoder: &mut wgpu::CommandEncoder,
        pieces: usize,
        map: Option<&wgpu::Buffer>,
    ) {
        if let Some(Timestamps { queries, resolved }) = &self.timestamps {
            encoder.resolve_query_set(queries, 0..2 * pieces as u32, resolved, 0);
            encoder.copy_buffer_to_buffer(resolved, 0, &self.read_back, 0, (2 * pieces * size_of::<u64>()) as u64);
        }
        if let Some(map) = map {
            encoder.copy_buffer_to_buffer(map, 0, &self.read_back, MAP_OFFSET as u64, map.size());
        }
    }

    /// Has the device write the begin and end of piece number `index`.
    pub(super) fn timestamp_writes(&self, index: usize) -> Option<wgpu::ComputePassTimestampWrites<'_>> {
        self.timestamps.as_ref().map(|timestamps| wgpu::ComputePassTimestampWrites {
            query_set: &timestamps.queries,
            beginning_of_pass_write_index: Some(2 * index as u32),
            end_of_pass_write_index: Some(2 * index as u32 + 1),
        })
    }

    /// Asks for the read-back buffer; `done` hears whether it came.
    pub(super) fn request_read_back(&self, done: impl FnOnce(bool) + Send + 'static) {
        self.read_back.map_async(wgpu::MapMode::Read, .., move |result| done(result.is_ok()));
    }

    /// The timestamps, and the map if it was copied. The buffer must be mapped; it is the device's again afterwards.
    pub(super) fn take_read_back(
        &self,
        gpu: &Gpu,
        with_map: bool,
    ) -> Result<(Vec<u64>, Option<DisparityMap>), EngineError> {
        let result = {
            let bytes = self.read_back.get_mapped_range(..).map_err(|err| device_error(gpu, &err))?;
            let ticks = bytemuck::pod_collect_to_vec(&bytes[..TICKS_SIZE]);
            let map = with_map.then(|| {
                let words = bytemuck::cast_slice(&bytes[MAP_OFFSET..]);
                decode_map(words, self.pictures.width, self.pictures.height)
            });
            (ticks, map)
        };
        self.read_back.unmap();
        Ok(result)
    }
}

/// A map from its words, `pitch` to a row.
pub(super) fn decode_map(words: &[u32], width: usize, height: usize) -> DisparityMap {
    let pitch = map_pitch(width);
    let rows = || words.chunks(pitch).take(height).flat_map(|row| &row[..width]);
    DisparityMap {
        values: Image::new(width, height, rows().map(|&word| word as u16 as i16).collect()),
        reasons: Image::new(width, height, rows().map(|&word| (word >> 16) as u8).collect()),
        confidence: None, // `GpuEngine::lacks` it
    }
}

fn write_luma(staging: &mut wgpu::BufferViewMut, offset: usize, pitch: usize, luma: &Luma, wide: bool) {
    for y in 0..luma.size().1 {
        let at = offset + y * pitch;
        let mut put = |bytes: &[u8]| staging.slice(at..at + bytes.len()).copy_from_slice(bytes);
        match luma {
            Luma::U8(image) if wide => {
                let row: Vec<u16> = image.row(y).iter().map(|&v| u16::from(v)).collect();
                put(bytemuck::cast_slice(&row));
            }
            Luma::U8(image) => put(image.row(y)),
            Luma::U16 { image, .. } => put(bytemuck::cast_slice(image.row(y))),
        }
    }
}

fn device_error(gpu: &Gpu, err: &wgpu::MapRangeError) -> EngineError {
    gpu.check().err().unwrap_or_else(|| EngineError::Device(format!("a buffer of the GPU cannot be read: {err}")))
}
