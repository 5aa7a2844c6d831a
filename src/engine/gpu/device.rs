//! The GPU: one adapter, device and queue, for the engine and for the window that draws with the same ones.
//!
//! Vulkan, Metal and DX12 only: a GL adapter can draw and not compute. A lost device and errors that nobody
//! caught are noted here by callbacks, which may run on any thread.

use super::layout::Limits;
use super::variant::Abilities;
use crate::engine::{EngineError, EngineInfo, EngineKind};
use std::fmt;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

/// Which adapter to open.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum AdapterChoice {
    /// A discrete GPU before an integrated one before software.
    #[default]
    Best,
    /// By its number in [`Gpu::list`].
    Index(usize),
    /// The best whose name contains this, upper and lower case alike.
    Name(String),
}

impl AdapterChoice {
    /// A number or part of a name, as `--adapter` takes it.
    pub fn from_word(word: &str) -> Self {
        word.parse().map_or_else(|_| Self::Name(word.to_owned()), Self::Index)
    }
}

/// What the list of devices says of an adapter.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
#[allow(clippy::struct_excessive_bools, reason = "each is a fact of its own")]
pub struct AdapterSummary {
    /// Its number for `--adapter`.
    pub index: usize,
    /// Its name, as the driver tells it.
    pub name: String,
    /// `Vulkan`, `Metal` or `Dx12`.
    pub backend: String,
    /// Name and version of the driver.
    pub driver: String,
    /// True for the CPU in disguise.
    pub software: bool,
    /// Largest buffer that a kernel can see at once, MiB; larger volumes are spread over several.
    pub largest_binding_mib: u64,
    /// Lanes of its smallest subgroup; 0 without subgroups.
    pub subgroup: u32,
    /// Whether it computes with 16-bit floats.
    pub f16: bool,
    /// Whether it computes with 16-bit integers.
    pub i16: bool,
    /// Whether it tells how long stages take.
    pub timestamps: bool,
}

impl fmt::Display for AdapterSummary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { index, name, backend, driver, software, largest_binding_mib, .. } = self;
        let software = if *software { ", software" } else { "" };
        write!(f, "{index}: {name} ({backend}{software}), driver {driver}, buffers of {largest_binding_mib} MiB")?;
        if self.subgroup > 0 {
            write!(f, ", subgroups of {}", self.subgroup)?;
        }
        for (has, what) in [(self.f16, "16-bit floats"), (self.i16, "16-bit integers"), (self.timestamps, "timestamps")]
        {
            f.write_str(if has { ", " } else { ", no " })?;
            f.write_str(what)?;
        }
        Ok(())
    }
}

/// An open GPU. Cheap to clone; all clones are the same device.
#[derive(Clone)]
pub struct Gpu {
    /// What the adapter came from; a window makes its surface with it.
    pub instance: wgpu::Instance,
    /// The chosen adapter.
    pub adapter: wgpu::Adapter,
    /// The device, with the adapter's own limits.
    pub device: wgpu::Device,
    /// Its only queue.
    pub queue: wgpu::Queue,
    /// What results say of this device.
    pub info: Arc<EngineInfo>,
    faults: Arc<Faults>,
    /// A window draws with it too.
    draws: bool,
}

#[derive(Default)]
struct Faults {
    lost: OnceLock<String>,
    error: Mutex<Option<String>>,
}

impl Gpu {
    /// Opens an adapter. Takes some tens of milliseconds.
    ///
    /// # Errors
    /// [`EngineError::NoAdapter`] says what was looked for, what was found, and what to install.
    pub fn open(choice: &AdapterChoice) -> Result<Self, EngineError> {
        let instance = new_instance();
        let mut adapters = usable_adapters(&instance);
        let found: Vec<_> = adapters.iter().enumerate().map(|(i, a)| summary(i, a).to_string()).collect();
        let found = if found.is_empty() { "none".to_owned() } else { found.join("; ") };
        let chosen = match choice {
            AdapterChoice::Best => best(&adapters, |_| true),
            AdapterChoice::Index(index) => (*index < adapters.len()).then_some(*index),
            AdapterChoice::Name(part) => {
                let part = part.to_lowercase();
                best(&adapters, |info| info.name.to_lowercase().contains(&part))
            }
        };
        let Some(chosen) = chosen else {
            let wanted = match choice {
                AdapterChoice::Best => "no GPU that can compute".to_owned(),
                AdapterChoice::Index(index) => format!("no GPU with number {index}"),
                AdapterChoice::Name(part) => format!("no GPU whose name contains '{part}'"),
            };
            return Err(EngineError::NoAdapter(format!(
                "{wanted} (looked for Vulkan, Metal and DX12; found: {found}): {INSTALL}, or choose --engine cpu"
            )));
        };
        Self::open_adapter(instance, adapters.swap_remove(chosen))
    }

    /// The best GPU for a test, which says so and returns where there is none; unless `REQUIRE_GPU=1`, then it fails.
    #[cfg(test)]
    pub(crate) fn for_test() -> Option<Self> {
        match Self::open(&AdapterChoice::Best) {
            Ok(gpu) => Some(gpu),
            Err(err) if std::env::var("REQUIRE_GPU").is_ok_and(|v| v == "1") => panic!("{err}"),
            Err(err) => {
                eprintln!("skipped: {err}");
                None
            }
        }
    }

    /// Every adapter that can compute, in the order of their numbers.
    pub fn list() -> Vec<AdapterSummary> {
        usable_adapters(&new_instance()).iter().enumerate().map(|(i, a)| summary(i, a)).collect()
    }

    fn open_adapter(instance: wgpu::Instance, adapter: wgpu::Adapter) -> Result<Self, EngineError> {
        let adapter_info = adapter.get_info();
        let name = format!("{} ({:?})", adapter_info.name, adapter_info.backend);
        let (device, queue) = pollster::block_on(adapter.request_device(&wgpu::DeviceDescriptor {
            label: Some("stereopsis"),
            required_features: adapter.features() & WELCOME,
            required_limits: adapter.limits(),
            ..Default::default()
        }))
        .map_err(|err| EngineError::NoAdapter(format!("{name} cannot be opened: {err}; choose --engine cpu")))?;

        let faults = Arc::new(Faults::default());
        let noted = Arc::clone(&faults);
        device.set_device_lost_callback(move |reason, text| {
            let text = if text.is_empty() { format!("{reason:?}") } else { text };
            noted.lost.get_or_init(|| text);
        });
        let noted = Arc::clone(&faults);
        device.on_uncaptured_error(Arc::new(move |err: wgpu::Error| {
            log::error!("GPU: {err}");
            let mut error = noted.error.lock().unwrap_or_else(PoisonError::into_inner);
            error.get_or_insert_with(|| err.to_string());
        }));
        let software = adapter_info.device_type == wgpu::DeviceType::Cpu;
        let info = Arc::new(EngineInfo { kind: EngineKind::Gpu, adapter: name, software });
        Ok(Self { instance, adapter, device, queue, info, faults, draws: false })
    }

    /// What the engine may use of the device.
    pub(super) fn limits(&self) -> Limits {
        let (limits, info) = (self.device.limits(), self.adapter.get_info());
        let has = |feature| self.device.features().contains(feature);
        let discrete = info.device_type == wgpu::DeviceType::DiscreteGpu;
        Limits {
            abilities: Abilities {
                subgroup: if has(wgpu::Features::SUBGROUP) { info.subgroup_min_size } else { 0 },
                f16: has(wgpu::Features::SHADER_F16),
                i16: has(wgpu::Features::SHADER_I16),
                workgroup: limits.max_compute_invocations_per_workgroup.min(limits.max_compute_workgroup_size_x),
                discrete,
            },
            binding_bytes: largest_binding(&limits),
            storage_buffers: limits.max_storage_buffers_per_shader_stage,
            side_px: (limits.max_texture_dimension_2d as usize).min(MAX_SIDE_PX),
            path_bytes: if discrete { 4 << 30 } else { 1 << 30 },
        }
    }

    /// Pixels times candidates that take a device of this kind about as long as one submission may take.
    pub(super) fn work_to_start_with(&self) -> u64 {
        match self.adapter.get_info().device_type {
            wgpu::DeviceType::DiscreteGpu => 1 << 28,
            wgpu::DeviceType::Cpu => 1 << 20,
            _ => 1 << 24,
        }
    }

    /// A submission has at least so much of it: each costs the host some time, and the more there are, the longer others on a
    /// busy machine keep each of them waiting.
    pub(super) fn least_work(&self) -> u64 {
        if self.info.software { 1 << 20 } else { 1 << 18 }
    }

    /// The same device, for a window that draws with it.
    #[must_use]
    pub fn for_window(self) -> Self {
        Self { draws: true, ..self }
    }

    /// Whether the device tells when passes begin and end. Once a window draws, Mesa's software adapter notes times that lie
    /// close together and do not span what was computed between them.
    pub fn times_passes(&self) -> bool {
        let tells = self.device.features().contains(wgpu::Features::TIMESTAMP_QUERY);
        tells && !(self.draws && self.info.software)
    }

    /// Why the device is gone, once it is. The window asks each frame and closes.
    pub fn lost(&self) -> Option<&str> {
        self.faults.lost.get().map(String::as_str)
    }

    /// The first error since the last call that nobody caught.
    pub fn take_error(&self) -> Option<String> {
        self.faults.error.lock().unwrap_or_else(PoisonError::into_inner).take()
    }

    /// Takes the device for lost.
    pub(super) fn lose(&self, why: &str) -> EngineError {
        EngineError::DeviceLost(self.faults.lost.get_or_init(|| why.to_owned()).clone())
    }

    /// Fails if the device is lost, or if something went wrong since the last call.
    pub(crate) fn check(&self) -> Result<(), EngineError> {
        if let Some(why) = self.lost() {
            return Err(EngineError::DeviceLost(why.to_owned()));
        }
        self.take_error().map_or(Ok(()), |text| Err(EngineError::Device(format!("the GPU reports: {text}"))))
    }
}

/// What to install where no GPU is found.
pub const INSTALL: &str = if cfg!(target_os = "linux") {
    "install the driver's Vulkan part (Debian, Ubuntu: libvulkan1 with mesa-vulkan-drivers or the NVIDIA driver)"
} else {
    "install the newest driver of the graphics card"
};

/// What is used where an adapter has it.
const WELCOME: wgpu::Features = wgpu::Features::TIMESTAMP_QUERY
    .union(wgpu::Features::TIMESTAMP_QUERY_INSIDE_ENCODERS)
    .union(wgpu::Features::PIPELINE_CACHE)
    .union(wgpu::Features::SUBGROUP)
    .union(wgpu::Features::SHADER_F16)
    .union(wgpu::Features::SHADER_I16);

/// Sides of pictures, so that steps along a line fit into 32 bits.
const MAX_SIDE_PX: usize = 32768;

fn new_instance() -> wgpu::Instance {
    wgpu::Instance::new(wgpu::InstanceDescriptor {
        backends: wgpu::Backends::VULKAN | wgpu::Backends::METAL | wgpu::Backends::DX12,
        // A loader that finds no driver would print errors of its own; WGPU_VALIDATION=1 and WGPU_DEBUG=1 turn them on.
        flags: wgpu::InstanceFlags::empty().with_env(),
        ..wgpu::InstanceDescriptor::new_without_display_handle()
    })
}

fn usable_adapters(instance: &wgpu::Instance) -> Vec<wgpu::Adapter> {
    let mut adapters = pollster::block_on(instance.enumerate_adapters(wgpu::Backends::all()));
    adapters.retain(|adapter| {
        adapter.get_downlevel_capabilities().flags.contains(wgpu::DownlevelFlags::COMPUTE_SHADERS)
            && adapter.limits().max_compute_invocations_per_workgroup >= 256
    });
    adapters
}

/// Index of the best adapter among those that `fits` accepts; the first one of equals.
fn best(adapters: &[wgpu::Adapter], fits: impl Fn(&wgpu::AdapterInfo) -> bool) -> Option<usize> {
    let rank = |info: &wgpu::AdapterInfo| match info.device_type {
        wgpu::DeviceType::DiscreteGpu => 0,
        wgpu::DeviceType::IntegratedGpu => 1,
        wgpu::DeviceType::VirtualGpu => 2,
        wgpu::DeviceType::Other => 3,
        wgpu::DeviceType::Cpu => 4,
    };
    let candidates = adapters.iter().map(wgpu::Adapter::get_info).enumerate().filter(|(_, info)| fits(info));
    candidates.min_by_key(|(_, info)| rank(info)).map(|(index, _)| index)
}

fn summary(index: usize, adapter: &wgpu::Adapter) -> AdapterSummary {
    let info = adapter.get_info();
    let has = |feature| adapter.features().contains(feature);
    AdapterSummary {
        index,
        name: info.name,
        backend: format!("{:?}", info.backend),
        driver: format!("{} {}", info.driver, info.driver_info).trim().to_owned(),
        software: info.device_type == wgpu::DeviceType::Cpu,
        largest_binding_mib: largest_binding(&adapter.limits()) >> 20,
        subgroup: if has(wgpu::Features::SUBGROUP) { info.subgroup_min_size } else { 0 },
        f16: has(wgpu::Features::SHADER_F16),
        i16: has(wgpu::Features::SHADER_I16),
        timestamps: has(wgpu::Features::TIMESTAMP_QUERY),
    }
}

/// Bytes that one binding can hold.
pub(crate) fn largest_binding(limits: &wgpu::Limits) -> u64 {
    limits.max_storage_buffer_binding_size.min(limits.max_buffer_size)
}
