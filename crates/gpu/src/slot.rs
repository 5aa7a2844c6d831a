//! Transfers of one job in flight: staging buffer, input textures, read-back buffer. The host writes pair n + 1 into its own slot while
//! the device computes pair n from another.

use super::device::Gpu;
use super::layout::{host_map_bytes, host_map_columns};
use super::resource::Resource;
use super::uniforms::{PARAMS_STRIDE, Params};
use crate::error::GpuError;
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use stereopsis_base::image::{Image, Luma};
use stereopsis_frame::engine::EngineError;
use stereopsis_stereo::DisparityMap;

/// Maximum number of spans of passes that are timed: two queries each.
pub(super) const MAX_TIMED: usize = 512;
/// Maximum levels of a job: the pair, the coarser levels, and the pair with its images swapped.
const MAX_LEVELS: usize = 8;
const TICKS_SIZE: usize = 2 * MAX_TIMED * size_of::<u64>();
/// Offset of the maps in the read-back buffer, behind the timestamps.
const MAP_OFFSET: usize = TICKS_SIZE.next_multiple_of(wgpu::MAP_ALIGNMENT as usize);

/// Format of a pair; slots are reused for pairs of the same format.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct PairFormat {
    width: usize,
    height: usize,
    /// Whether pixels have 16 instead of 8 bits.
    wide: bool,
    /// Number of images with colours, the left one first.
    colored: usize,
    /// Whether the right image's map comes back too.
    wants_right: bool,
}

impl PairFormat {
    pub(super) fn new((width, height): (usize, usize), wide: bool, colored: usize, wants_right: bool) -> Self {
        Self { width, height, wide, colored, wants_right }
    }

    /// Returns the bytes of a slot in host memory, and with `with_device` those of its images on the device.
    pub(super) fn slot_bytes(&self, with_device: bool) -> u64 {
        let pictures = if with_device { self.pictures_bytes() } else { 0 };
        (self.pictures_bytes() + pictures + self.read_back_bytes()) as u64
    }

    fn pictures_bytes(&self) -> usize {
        (2 * self.row_pitch() + self.colored * self.color_pitch()) * self.height
    }

    /// Returns the bytes of the maps that come back, behind the timestamps.
    fn read_back_bytes(&self) -> usize {
        MAP_OFFSET + (1 + usize::from(self.wants_right)) * self.map_bytes()
    }

    fn map_bytes(&self) -> usize {
        host_map_bytes((self.width, self.height))
    }

    /// Returns the bytes of packed map `number` in the read-back buffer.
    fn map_range(&self, number: usize, with_confidence: bool) -> Range<usize> {
        let first = MAP_OFFSET + number * self.map_bytes();
        first..first + if with_confidence { self.map_bytes() } else { self.map_bytes() / 4 * 3 }
    }

    /// Returns the bytes from row to row in the staging buffer.
    fn row_pitch(&self) -> usize {
        let bytes = if self.wide { 2 * self.width } else { self.width };
        bytes.next_multiple_of(wgpu::COPY_BYTES_PER_ROW_ALIGNMENT as usize)
    }

    /// Returns the bytes from row to row of colours.
    fn color_pitch(&self) -> usize {
        (size_of::<u32>() * self.color_words()).next_multiple_of(wgpu::COPY_BYTES_PER_ROW_ALIGNMENT as usize)
    }

    /// Returns the words of a row of colours: three bytes a pixel, and a word behind them that `color_at` of the shaders may read.
    fn color_words(&self) -> usize {
        (3 * self.width).div_ceil(size_of::<u32>()) + 1
    }
}

/// Slot of the upload and read-back rings.
pub(super) struct Slot {
    pub(super) format: PairFormat,
    /// Luma of the left and of the right image.
    textures: [InputTexture; 2],
    /// Colours of as many images as the format has: bytes of red, green and blue, four to a texel.
    colors: Vec<InputTexture>,
    params: wgpu::Buffer,
    timestamps: Option<Timestamps>,
    staging: wgpu::Buffer,
    staging_mapped: Arc<AtomicBool>,
    read_back: wgpu::Buffer,
}

struct InputTexture {
    texture: wgpu::Texture,
    view: wgpu::TextureView,
}

impl InputTexture {
    fn new(gpu: &Gpu, label: &'static str, size: (usize, usize), format: wgpu::TextureFormat) -> Self {
        let usage = wgpu::TextureUsages::COPY_DST | wgpu::TextureUsages::TEXTURE_BINDING;
        let texture = gpu.texture(label, size, format, usage);
        let view = texture.create_view(&wgpu::TextureViewDescriptor::default());
        Self { texture, view }
    }
}

struct Timestamps {
    queries: wgpu::QuerySet,
    resolved: wgpu::Buffer,
}

impl Slot {
    pub(super) fn new(gpu: &Gpu, format: PairFormat) -> Self {
        let PairFormat { width, height, wide, colored, .. } = format;
        let pixels = if wide { wgpu::TextureFormat::R16Uint } else { wgpu::TextureFormat::R8Uint };
        let textures = ["left", "right"].map(|label| InputTexture::new(gpu, label, (width, height), pixels));
        let labels = ["left colors", "right colors"].into_iter().take(colored);
        let color_size = (format.color_words(), height);
        let colors =
            labels.map(|label| InputTexture::new(gpu, label, color_size, wgpu::TextureFormat::R32Uint)).collect();
        let timestamps = gpu.times_passes().then(|| Timestamps {
            queries: gpu.device.create_query_set(&wgpu::QuerySetDescriptor {
                label: Some("stages"),
                ty: wgpu::QueryType::Timestamp,
                count: 2 * MAX_TIMED as u32,
            }),
            resolved: gpu.buffer(
                "timestamps",
                TICKS_SIZE as u64,
                wgpu::BufferUsages::QUERY_RESOLVE | wgpu::BufferUsages::COPY_SRC,
            ),
        });
        let params_bytes = MAX_LEVELS * PARAMS_STRIDE;
        let staging = gpu.device.create_buffer(&wgpu::BufferDescriptor {
            label: Some("staging"),
            size: (format.pictures_bytes() + params_bytes) as u64,
            usage: wgpu::BufferUsages::MAP_WRITE | wgpu::BufferUsages::COPY_SRC,
            mapped_at_creation: true,
        });
        let (uniform, copied) = (wgpu::BufferUsages::UNIFORM, wgpu::BufferUsages::COPY_DST);
        Self {
            format,
            textures,
            colors,
            params: gpu.buffer("params", params_bytes as u64, uniform | copied),
            timestamps,
            staging,
            staging_mapped: Arc::new(AtomicBool::new(true)),
            read_back: gpu.buffer("read back", format.read_back_bytes() as u64, wgpu::BufferUsages::MAP_READ | copied),
        }
    }

    pub(super) fn has_timestamps(&self) -> bool {
        self.timestamps.is_some()
    }

    /// Whether the staging buffer belongs to the host again.
    pub(super) fn is_writable(&self) -> bool {
        self.staging_mapped.load(Ordering::Acquire)
    }

    /// Returns the slot's resources: parameters and the pair.
    pub(super) fn get(&self, resource: Resource) -> Option<wgpu::BindingResource<'_>> {
        Some(match resource {
            Resource::Params(level) => wgpu::BindingResource::Buffer(wgpu::BufferBinding {
                buffer: &self.params,
                offset: (level * PARAMS_STRIDE) as u64,
                size: std::num::NonZeroU64::new(size_of::<Params>() as u64),
            }),
            Resource::Picture(side, 0) => wgpu::BindingResource::TextureView(&self.textures[side as usize].view),
            Resource::Colors(side) => wgpu::BindingResource::TextureView(&self.colors.get(side as usize)?.view),
            _ => return None,
        })
    }

    /// Writes a pair, its colours where the format has them, and the parameters of its levels into the staging buffer. Returns the copies
    /// to the device; after their submission [`Self::return_staging`] has to be called.
    pub(super) fn write(
        &mut self,
        gpu: &Gpu,
        pair: [&Luma; 2],
        colors: [Option<&Image<[u8; 3]>>; 2],
        levels: &[Params],
    ) -> Result<wgpu::CommandBuffer, EngineError> {
        let (pitch, color_pitch) = (self.format.row_pitch(), self.format.color_pitch());
        let (picture_bytes, color_bytes) = (pitch * self.format.height, color_pitch * self.format.height);
        let colors_at = 2 * picture_bytes;
        let params_at = colors_at + self.format.colored * color_bytes;
        {
            let mut staging = self.staging.get_mapped_range_mut(..).map_err(|err| device_error(gpu, &err))?;
            for (n, (luma, rgb)) in pair.into_iter().zip(colors).enumerate() {
                write_luma(&mut staging, n * picture_bytes, pitch, luma, self.format.wide);
                if let Some(rgb) = rgb.filter(|_| n < self.format.colored) {
                    for y in 0..rgb.height() {
                        let at = colors_at + n * color_bytes + y * color_pitch;
                        let row = rgb.row(y).as_flattened();
                        staging.slice(at..at + row.len()).copy_from_slice(row);
                    }
                }
            }
            for (level, params) in levels.iter().enumerate() {
                let at = params_at + level * PARAMS_STRIDE;
                staging.slice(at..at + size_of::<Params>()).copy_from_slice(bytemuck::bytes_of(params));
            }
        }
        self.staging.unmap();
        let mut encoder = gpu.device.create_command_encoder(&wgpu::CommandEncoderDescriptor { label: Some("upload") });
        let mut copy = |offset: usize, pitch: usize, InputTexture { texture, .. }: &InputTexture| {
            let source = wgpu::TexelCopyBufferInfo {
                buffer: &self.staging,
                layout: wgpu::TexelCopyBufferLayout {
                    offset: offset as u64,
                    bytes_per_row: Some(pitch as u32),
                    rows_per_image: None,
                },
            };
            encoder.copy_buffer_to_texture(source, texture.as_image_copy(), texture.size());
        };
        for (n, texture) in self.textures.iter().enumerate() {
            copy(n * picture_bytes, pitch, texture);
        }
        for (n, texture) in self.colors.iter().enumerate() {
            copy(colors_at + n * color_bytes, color_pitch, texture);
        }
        let params_bytes = (levels.len() * PARAMS_STRIDE) as u64;
        encoder.copy_buffer_to_buffer(&self.staging, params_at as u64, &self.params, 0, params_bytes);
        self.staging_mapped = Arc::new(AtomicBool::new(false));
        Ok(encoder.finish())
    }

    /// Returns the staging buffer to the host once the copies from it, just submitted, are done.
    pub(super) fn return_staging(&self) {
        let mapped = Arc::clone(&self.staging_mapped);
        self.staging.map_async(wgpu::MapMode::Write, .., move |result| mapped.store(result.is_ok(), Ordering::Release));
    }

    /// Records the copies of the timestamps of `spans` spans and of the packed maps into the read-back buffer: each map with its number,
    /// its buffer, and whether its confidences come too.
    pub(super) fn record_read_back<'a>(
        &self,
        encoder: &mut wgpu::CommandEncoder,
        spans: usize,
        maps: impl IntoIterator<Item = (usize, &'a wgpu::Buffer, bool)>,
    ) {
        if let Some(Timestamps { queries, resolved }) = &self.timestamps {
            let count = 2 * spans.min(MAX_TIMED);
            encoder.resolve_query_set(queries, 0..count as u32, resolved, 0);
            encoder.copy_buffer_to_buffer(resolved, 0, &self.read_back, 0, (count * size_of::<u64>()) as u64);
        }
        for (number, map, with_confidence) in maps {
            let range = self.format.map_range(number, with_confidence);
            encoder.copy_buffer_to_buffer(map, 0, &self.read_back, range.start as u64, range.len() as u64);
        }
    }

    /// Returns the timestamps of a pass, as begin and end of the spans with these indices.
    pub(super) fn timestamp_writes(
        &self,
        (begin, end): (Option<usize>, Option<usize>),
    ) -> Option<wgpu::ComputePassTimestampWrites<'_>> {
        let timestamps = self.timestamps.as_ref().filter(|_| begin.is_some() || end.is_some())?;
        Some(wgpu::ComputePassTimestampWrites {
            query_set: &timestamps.queries,
            beginning_of_pass_write_index: begin.map(|span| 2 * span as u32),
            end_of_pass_write_index: end.map(|span| 2 * span as u32 + 1),
        })
    }

    /// Maps the read-back buffer; `done` receives whether that succeeded.
    pub(super) fn request_read_back(&self, done: impl FnOnce(bool) + Send + 'static) {
        self.read_back.map_async(wgpu::MapMode::Read, .., move |result| done(result.is_ok()));
    }

    /// Returns the timestamps and the copied maps: the left one if `with_map` is given, which is whether it has confidences, the right
    /// one if `with_right`. The buffer must be mapped; it is unmapped afterwards.
    pub(super) fn take_read_back(
        &self,
        gpu: &Gpu,
        with_map: Option<bool>,
        with_right: bool,
    ) -> Result<(Vec<u64>, [Option<DisparityMap>; 2]), EngineError> {
        let result = {
            let bytes = self.read_back.get_mapped_range(..).map_err(|err| device_error(gpu, &err))?;
            let ticks = bytemuck::pod_collect_to_vec(&bytes[..TICKS_SIZE]);
            let map = |number: usize, with_confidence| {
                let bytes = &bytes[self.format.map_range(number, with_confidence)];
                host_map(bytes, (self.format.width, self.format.height), with_confidence)
            };
            (ticks, [with_map.map(|it| map(0, it)), with_right.then(|| map(1, false))])
        };
        self.read_back.unmap();
        Ok(result)
    }
}

fn host_map(bytes: &[u8], size: (usize, usize), with_confidence: bool) -> DisparityMap {
    let pixels = host_map_columns(size.0) * size.1;
    let (values, bytes) = bytes.split_at(2 * pixels);
    let (reasons, confidence) = bytes.split_at(pixels);
    DisparityMap {
        values: host_image(bytemuck::cast_slice(values), size),
        reasons: host_image(reasons, size),
        confidence: with_confidence.then(|| host_image(confidence, size)),
    }
}

fn host_image<T: Copy>(pixels: &[T], (width, height): (usize, usize)) -> Image<T> {
    let columns = host_map_columns(width);
    let pixels = if columns == width {
        pixels.to_vec()
    } else {
        pixels.chunks(columns).flat_map(|row| &row[..width]).copied().collect()
    };
    Image::new(width, height, pixels)
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
    gpu.check().err().unwrap_or_else(|| GpuError::Unreadable(err.clone()).into())
}
