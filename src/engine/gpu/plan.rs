//! The buffers of a job on the device. Made anew when a size changes; sliders that only change uniforms leave them alone.

use super::device::Gpu;
use super::layout::Layout;
use super::recipe::{Recipe, Resource};
use super::tables::Tables;
use crate::engine::EngineError;

/// Results that exist at a time: one being shown, and those in flight.
const RESULTS: usize = 4;

/// What decides a level's buffers.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Sizes {
    size: (usize, usize),
    slabs: u32,
    volumes: u32,
    codes: u64,
    costs: u64,
    aggregated: u64,
    arms: u64,
    arm_sums: u64,
    path: u64,
    sums: u64,
    exact: u64,
    map: u64,
    gates: u64,
    kept: u64,
}

impl Sizes {
    fn new(layout: &Layout, keeps_sums: bool) -> Self {
        let all_sums = layout.structure.pixels() * u64::from(layout.words) * 16;
        Self {
            size: (layout.structure.width, layout.structure.height),
            slabs: layout.slabs(),
            volumes: layout.volumes,
            codes: layout.code_bytes(),
            costs: layout.cost_bytes(),
            aggregated: layout.aggregated_bytes(),
            arms: layout.arm_bytes(),
            arm_sums: layout.arm_sum_bytes(),
            path: layout.path_bytes(),
            sums: layout.sum_bytes(),
            exact: layout.exact_bytes(),
            map: layout.map_bytes(),
            gates: layout.gate_bytes(),
            kept: if keeps_sums { all_sums } else { 0 },
        }
    }
}

/// One level's buffers. One that is not used has 16 bytes, so that it can be bound all the same.
#[derive(Clone)]
struct Level {
    codes: wgpu::Buffer,
    costs: Vec<wgpu::Buffer>,
    aggregated: Vec<wgpu::Buffer>,
    arms: wgpu::Buffer,
    arm_sums: Vec<wgpu::Buffer>,
    paths: Vec<Vec<wgpu::Buffer>>,
    sums: Vec<wgpu::Buffer>,
    exact: Vec<wgpu::Buffer>,
    /// Map before and after a filter, in turns.
    left: [wgpu::Buffer; 2],
    right: [wgpu::Buffer; 2],
    right_keys: wgpu::Buffer,
    gates: wgpu::Buffer,
    /// The halved or mirrored pictures; the pair itself lies in its slot.
    pictures: Option<[wgpu::TextureView; 2]>,
}

pub(super) struct Plan {
    sizes: Vec<Sizes>,
    levels: Vec<Level>,
    parents: wgpu::Buffer,
    region_sizes: wgpu::Buffer,
    kept: wgpu::Buffer,
    tables: Tables,
    results: [wgpu::Texture; RESULTS],
    next_result: usize,
}

impl Plan {
    /// Whether these buffers serve `recipe`.
    pub(super) fn fits(&self, recipe: &Recipe, keeps_sums: bool) -> bool {
        let sizes = recipe.layouts.iter().enumerate().map(|(i, layout)| Sizes::new(layout, keeps_sums && i == 0));
        self.sizes.iter().cloned().eq(sizes) && (self.tables.has_information() || !recipe.needs_information())
    }

    /// # Errors
    /// [`EngineError::TooLarge`] with the numbers if the device has no room.
    pub(super) fn new(gpu: &Gpu, recipe: &Recipe, keeps_sums: bool) -> Result<Self, EngineError> {
        let scope = gpu.device.push_error_scope(wgpu::ErrorFilter::OutOfMemory);
        let buffer = |label, size: u64| {
            gpu.device.create_buffer(&wgpu::BufferDescriptor {
                label: Some(label),
                size: size.max(16).next_multiple_of(16),
                usage: wgpu::BufferUsages::STORAGE | wgpu::BufferUsages::COPY_SRC,
                mapped_at_creation: false,
            })
        };
        let sizes: Vec<_> =
            recipe.layouts.iter().enumerate().map(|(i, layout)| Sizes::new(layout, keeps_sums && i == 0)).collect();
        let level = |(number, sizes): (usize, &Sizes)| {
            let slabs = |label, bytes| (0..sizes.slabs).map(|_| buffer(label, bytes)).collect::<Vec<_>>();
            let map = |label| buffer(label, sizes.map);
            Level {
                codes: buffer("codes", sizes.codes),
                costs: slabs("costs", sizes.costs),
                aggregated: slabs("aggregated costs", sizes.aggregated),
                arms: buffer("arms", sizes.arms),
                arm_sums: slabs("sums over arms", sizes.arm_sums),
                paths: (0..sizes.volumes).map(|_| slabs("path costs", sizes.path)).collect(),
                sums: slabs("sums", sizes.sums),
                exact: slabs("exact sums", sizes.exact),
                left: [map("left map"), map("left map")],
                right: [map("right map"), map("right map")],
                right_keys: map("right keys"),
                gates: buffer("gates", sizes.gates),
                pictures: (number > 0).then(|| [made_picture(gpu, sizes.size), made_picture(gpu, sizes.size)]),
            }
        };
        let swapped = recipe.layouts.iter().position(|layout| layout.structure.mirrored);
        let own = &sizes[..swapped.unwrap_or(sizes.len())];
        let mut levels: Vec<_> = own.iter().enumerate().map(level).collect();
        if let Some(number) = swapped {
            // matched when the pair is and its left map is not filtered yet: all but what it starts from is the pair's own
            let Sizes { size, gates, .. } = sizes[number];
            let [taken, free] = levels[0].left.clone();
            levels.push(Level {
                left: [free, taken],
                gates: buffer("gates", gates),
                pictures: Some([made_picture(gpu, size), made_picture(gpu, size)]),
                ..levels[0].clone()
            });
        }
        let plan = Self {
            levels,
            parents: buffer("parents", sizes[0].map),
            region_sizes: buffer("region sizes", sizes[0].map),
            kept: buffer("kept sums", sizes[0].kept),
            tables: Tables::new(gpu, recipe.needs_information()),
            results: std::array::from_fn(|_| result_texture(gpu, sizes[0].size)),
            next_result: 0,
            sizes,
        };
        if let Some(err) = pollster::block_on(scope.pop()) {
            return Err(EngineError::TooLarge(format!(
                "{} has no room for {} MiB ({err}); lower --num-disparities or --scale",
                gpu.info.adapter,
                recipe.bytes().div_ceil(1 << 20)
            )));
        }
        Ok(plan)
    }

    /// The buffer or picture that a resource names; the slot has the others.
    pub(super) fn get(&self, resource: Resource) -> Option<wgpu::BindingResource<'_>> {
        if let Resource::LeftPicture(level) | Resource::RightPicture(level) = resource {
            let [left, right] = self.levels[level].pictures.as_ref()?;
            let view = if matches!(resource, Resource::LeftPicture(_)) { left } else { right };
            return Some(wgpu::BindingResource::TextureView(view));
        }
        self.buffer(resource).map(wgpu::Buffer::as_entire_binding)
    }

    /// The buffer that a resource names.
    pub(super) fn buffer(&self, resource: Resource) -> Option<&wgpu::Buffer> {
        Some(match resource {
            Resource::Params(_)
            | Resource::Part(_)
            | Resource::LeftPicture(_)
            | Resource::RightPicture(_)
            | Resource::Last
            | Resource::Smoothed => return None,
            Resource::Information(_)
            | Resource::AdCensusTables
            | Resource::GradientCensusTables
            | Resource::LogTable => {
                return self.tables.get(resource);
            }
            Resource::Codes(level) => &self.levels[level].codes,
            Resource::Costs(level, slab) => &self.levels[level].costs[slab as usize],
            Resource::Aggregated(level, slab) => &self.levels[level].aggregated[slab as usize],
            Resource::Arms(level) => &self.levels[level].arms,
            Resource::ArmSums(level, slab) => &self.levels[level].arm_sums[slab as usize],
            Resource::Path(level, volume, slab) => &self.levels[level].paths[volume as usize][slab as usize],
            Resource::Sums(level, slab) => &self.levels[level].sums[slab as usize],
            Resource::Exact(level, slab) => &self.levels[level].exact[slab as usize],
            Resource::Kept => &self.kept,
            Resource::LeftMap(level, index) => &self.levels[level].left[index],
            Resource::RightMap(level, index) => &self.levels[level].right[index],
            Resource::RightKeys(level) => &self.levels[level].right_keys,
            Resource::Gates(level) => &self.levels[level].gates,
            Resource::Parents => &self.parents,
            Resource::Sizes => &self.region_sizes,
        })
    }

    /// The texture for the next result; the oldest one is written again.
    pub(super) fn next_result(&mut self) -> wgpu::Texture {
        self.next_result = (self.next_result + 1) % RESULTS;
        self.results[self.next_result].clone()
    }
}

/// A picture that is made from one of the pair: halved, or mirrored. Pixels of 32 bits, because a shader can write those everywhere.
fn made_picture(gpu: &Gpu, size: (usize, usize)) -> wgpu::TextureView {
    let usage = wgpu::TextureUsages::STORAGE_BINDING | wgpu::TextureUsages::TEXTURE_BINDING;
    texture(gpu, "made picture", size, usage).create_view(&wgpu::TextureViewDescriptor::default())
}

fn result_texture(gpu: &Gpu, size: (usize, usize)) -> wgpu::Texture {
    let usage = wgpu::TextureUsages::COPY_DST | wgpu::TextureUsages::COPY_SRC | wgpu::TextureUsages::TEXTURE_BINDING;
    texture(gpu, "disparity map", size, usage)
}

fn texture(gpu: &Gpu, label: &str, (width, height): (usize, usize), usage: wgpu::TextureUsages) -> wgpu::Texture {
    gpu.device.create_texture(&wgpu::TextureDescriptor {
        label: Some(label),
        size: extent(width, height),
        mip_level_count: 1,
        sample_count: 1,
        dimension: wgpu::TextureDimension::D2,
        format: wgpu::TextureFormat::R32Uint,
        usage,
        view_formats: &[],
    })
}

pub(crate) fn extent(width: usize, height: usize) -> wgpu::Extent3d {
    wgpu::Extent3d { width: width as u32, height: height as u32, depth_or_array_layers: 1 }
}
