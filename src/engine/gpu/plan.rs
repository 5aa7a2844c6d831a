//! What a size, a search range and a cost need on the device: volumes, maps, result textures. Made anew when one of
//! these changes; sliders that only change uniforms leave it alone.

use super::device::{Gpu, largest_volume};
use super::stages::Product;
use super::uniforms::map_pitch;
use crate::engine::EngineError;
use crate::stereo::{CostKind, StereoParams};

/// Results that exist at a time: one being shown, two in flight.
const RESULTS: usize = 3;

/// What the shaders count with: lines of paths and the bits of a row when it is filled.
const LARGEST_SIDE_PX: usize = 32_768;

/// What decides the buffers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Needs {
    pub(super) width: usize,
    pub(super) height: usize,
    pub(super) candidates: usize,
    pub(super) cost: CostKind,
    /// Whether there are paths; how many and which decides no buffer.
    pub(super) sums_paths: bool,
}

impl Needs {
    pub(super) fn new((width, height): (usize, usize), params: &StereoParams) -> Self {
        let candidates = params.num_disparities as usize;
        Self { width, height, candidates, cost: params.cost, sums_paths: params.paths > 0 }
    }

    fn pixels(&self) -> u64 {
        self.width as u64 * self.height as u64
    }

    /// Words of costs that a pixel owns.
    pub(super) fn words(&self) -> usize {
        self.candidates.div_ceil(4)
    }

    /// SAD without paths: exact sums instead of a byte.
    pub(super) fn exact_sums(&self) -> bool {
        !self.sums_paths && self.cost == CostKind::Sad
    }

    /// Bits of what the winner compares: sums over paths, exact sums, or the costs themselves.
    pub(super) fn sum_bits(&self) -> u32 {
        if self.sums_paths {
            16
        } else if self.exact_sums() {
            32
        } else {
            8
        }
    }

    fn code_bytes(&self) -> u64 {
        let per_pixel = match self.cost {
            CostKind::Census5x5 | CostKind::Census7x7 | CostKind::Census9x7 | CostKind::Census9x7Symmetric => 8,
            CostKind::Rank => 4,
            CostKind::Sad => 0,
        };
        2 * per_pixel * self.pixels()
    }

    pub(super) fn cost_bytes(&self) -> u64 {
        if self.exact_sums() { 0 } else { self.volume_bytes(8) }
    }

    pub(super) fn sum_bytes(&self) -> u64 {
        if self.sum_bits() == 8 { 0 } else { self.volume_bytes(self.sum_bits()) }
    }

    fn volume_bytes(&self, bits: u32) -> u64 {
        self.pixels() * self.words() as u64 * 4 * u64::from(bits) / 8
    }

    pub(super) fn map_bytes(&self) -> u64 {
        map_pitch(self.width) as u64 * self.height as u64 * 4
    }

    /// Bytes of everything together.
    fn total_bytes(&self) -> u64 {
        self.code_bytes() + self.cost_bytes() + self.sum_bytes() + self.map_bytes() * (6 + RESULTS as u64)
    }
}

/// The buffers. A buffer that this plan does not use has 16 bytes, so that it can be bound all the same.
pub(super) struct Plan {
    pub(super) needs: Needs,
    pub(super) codes: wgpu::Buffer,
    pub(super) costs: wgpu::Buffer,
    sums: wgpu::Buffer,
    /// Map before and after a filter, in turns.
    pub(super) left: [wgpu::Buffer; 2],
    pub(super) right: [wgpu::Buffer; 2],
    pub(super) parents: wgpu::Buffer,
    pub(super) sizes: wgpu::Buffer,
    results: [wgpu::Texture; RESULTS],
    next_result: usize,
}

impl Plan {
    /// # Errors
    /// [`EngineError::TooLarge`] with the numbers if a volume or a picture exceeds what the device can bind or hold.
    pub(super) fn new(gpu: &Gpu, needs: Needs) -> Result<Self, EngineError> {
        check_limits(gpu, &needs)?;
        let scope = gpu.device.push_error_scope(wgpu::ErrorFilter::OutOfMemory);
        let buffer = |label, size: u64| {
            gpu.device.create_buffer(&wgpu::BufferDescriptor {
                label: Some(label),
                size: size.max(16),
                usage: wgpu::BufferUsages::STORAGE | wgpu::BufferUsages::COPY_SRC,
                mapped_at_creation: false,
            })
        };
        let map = |label| buffer(label, needs.map_bytes());
        let plan = Self {
            codes: buffer("codes", needs.code_bytes()),
            costs: buffer("costs", needs.cost_bytes()),
            sums: buffer("sums", needs.sum_bytes()),
            left: [map("left map"), map("left map")],
            right: [map("right map"), map("right map")],
            parents: map("parents"),
            sizes: map("sizes"),
            results: std::array::from_fn(|_| result_texture(gpu, &needs)),
            next_result: 0,
            needs,
        };
        if let Some(err) = pollster::block_on(scope.pop()) {
            return Err(EngineError::TooLarge(format!(
                "{} has no room for {} MiB ({err}); lower --num-disparities or --scale",
                gpu.info.adapter,
                needs.total_bytes().div_ceil(1 << 20)
            )));
        }
        Ok(plan)
    }

    /// What the winner compares, [`Needs::sum_bits`] each.
    pub(super) fn sums(&self) -> &wgpu::Buffer {
        if self.needs.sum_bits() == 8 { &self.costs } else { &self.sums }
    }

    /// The buffer with the product of a step, and for a volume how many bits each value has.
    pub(super) fn product(&self, product: Product) -> (&wgpu::Buffer, Option<u32>) {
        match product {
            Product::Costs => (&self.costs, Some(8)),
            Product::Sums => (self.sums(), Some(self.needs.sum_bits())),
            Product::Left(index) => (&self.left[index], None),
            Product::Right(index) => (&self.right[index], None),
        }
    }

    /// The texture for the next result; the one before the last two is written again.
    pub(super) fn next_result(&mut self) -> wgpu::Texture {
        self.next_result = (self.next_result + 1) % RESULTS;
        self.results[self.next_result].clone()
    }
}

fn check_limits(gpu: &Gpu, needs: &Needs) -> Result<(), EngineError> {
    let limits = gpu.device.limits();
    let Needs { width, height, candidates, .. } = *needs;
    let adapter = &gpu.info.adapter;
    let largest_side = LARGEST_SIDE_PX.min(limits.max_texture_dimension_2d as usize);
    if width.max(height) > largest_side {
        return Err(EngineError::TooLarge(format!(
            "a picture of {width}x{height} is too large for {adapter}, which allows {largest_side} px a side; lower --scale"
        )));
    }
    let needed = needs.cost_bytes().max(needs.sum_bytes());
    let allowed = largest_volume(&limits);
    if needed > allowed {
        return Err(EngineError::TooLarge(format!(
            "{width}x{height} with {candidates} disparities needs a volume of {} MiB, and {adapter} allows {} MiB; \
             lower --num-disparities or --scale",
            needed.div_ceil(1 << 20),
            allowed >> 20
        )));
    }
    Ok(())
}

fn result_texture(gpu: &Gpu, needs: &Needs) -> wgpu::Texture {
    gpu.device.create_texture(&wgpu::TextureDescriptor {
        label: Some("disparity map"),
        size: extent(needs.width, needs.height),
        mip_level_count: 1,
        sample_count: 1,
        dimension: wgpu::TextureDimension::D2,
        format: wgpu::TextureFormat::R32Uint,
        usage: wgpu::TextureUsages::COPY_DST | wgpu::TextureUsages::COPY_SRC | wgpu::TextureUsages::TEXTURE_BINDING,
        view_formats: &[],
    })
}

pub(super) fn extent(width: usize, height: usize) -> wgpu::Extent3d {
    wgpu::Extent3d { width: width as u32, height: height as u32, depth_or_array_layers: 1 }
}
