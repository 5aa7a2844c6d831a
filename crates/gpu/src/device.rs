//! The GPU: one adapter, device and queue, shared by the engine and the window that draws with them.
//!
//! Vulkan, Metal and DX12 only: GL adapters can draw and not compute. Callbacks, which may run on any thread, record here the loss of
//! the device and uncaught errors.

use super::limits::{Limits, too_few};
use super::memory;
use crate::error::GpuError;
use parking_lot::Mutex;
use std::fmt;
use std::sync::{Arc, OnceLock};
use stereopsis_frame::engine::{AdapterChoice, EngineError, EngineInfo, EngineKind};

/// Adapter in the list of devices.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
#[allow(clippy::struct_excessive_bools, reason = "each is a fact of its own")]
pub struct AdapterSummary {
    /// Number of the adapter for `--adapter`.
    pub index: usize,
    /// Name of the adapter, from the driver.
    pub name: String,
    /// `Vulkan`, `Metal` or `Dx12`.
    pub backend: String,
    /// Name and version of the driver.
    pub driver: String,
    /// Whether it is a software adapter: a driver that runs on the CPU.
    pub software: bool,
    /// Largest buffer that a kernel can see at once, MiB; larger volumes are spread over several.
    pub largest_binding_mib: u64,
    /// Lanes of its smallest subgroup; 0 without subgroups.
    pub subgroup: u32,
    /// Whether it has 16-bit floats, in which paths can be computed.
    pub f16: bool,
    /// Whether it has 16-bit integers, in which paths can be computed.
    pub i16: bool,
    /// Whether it has timestamps, which time stages.
    pub timestamps: bool,
    /// Storage buffers that a kernel can bind; see [`Self::misfit`].
    pub storage_buffers: u32,
    /// Bytes of memory that the invocations of a workgroup can share; see [`Self::misfit`].
    pub workgroup_bytes: u32,
}

impl AdapterSummary {
    /// Returns text like `0: NVIDIA H200 (Vulkan), driver NVIDIA 570.1, buffers of 4095 MiB`.
    pub fn heading(&self) -> String {
        let Self { index, name, backend, driver, software, largest_binding_mib, .. } = self;
        let software = if *software { ", software" } else { "" };
        format!("{index}: {name} ({backend}{software}), driver {driver}, buffers of {largest_binding_mib} MiB")
    }

    /// Returns the reason why the GPU engine cannot run on it, although it computes and a window can draw with it; `None` if it can.
    pub fn misfit(&self) -> Option<String> {
        too_few(self.storage_buffers, self.workgroup_bytes)
    }
}

impl fmt::Display for AdapterSummary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.heading())?;
        if self.subgroup > 0 {
            write!(f, ", subgroups of {}", self.subgroup)?;
        }
        for (has, what) in [(self.f16, "16-bit floats"), (self.i16, "16-bit integers"), (self.timestamps, "timestamps")]
        {
            f.write_str(if has { ", " } else { ", no " })?;
            f.write_str(what)?;
        }
        if let Some(why) = self.misfit() {
            write!(f, "; {why}")?;
        }
        Ok(())
    }
}

/// Open GPU. Cheap to clone; all clones share the device.
#[derive(Clone)]
pub struct Gpu {
    /// Instance that made the adapter; a window makes its surface with it.
    pub instance: wgpu::Instance,
    /// Chosen adapter.
    pub adapter: wgpu::Adapter,
    /// Device, with the adapter's own limits.
    pub device: wgpu::Device,
    /// Only queue of the device.
    pub queue: wgpu::Queue,
    /// Name and kind of the device, for results.
    pub info: Arc<EngineInfo>,
    errors: Arc<DeviceErrors>,
    shared_with_window: bool,
}

#[derive(Default)]
struct DeviceErrors {
    lost: OnceLock<String>,
    error: Mutex<Option<String>>,
}

impl Gpu {
    /// Opens an adapter. Takes some tens of milliseconds.
    ///
    /// # Errors
    /// [`EngineError::NoAdapter`] lists the existing adapters, and the driver to install.
    pub fn open(choice: &AdapterChoice) -> Result<Self, EngineError> {
        let instance = new_instance();
        let mut adapters = usable_adapters(&instance);
        let found = adapters.iter().enumerate().map(|(i, a)| summary(i, a).to_string()).collect();
        let chosen = match choice {
            AdapterChoice::Best => best(&adapters, |_| true),
            AdapterChoice::Index(index) => (*index < adapters.len()).then_some(*index),
            AdapterChoice::Name(part) => {
                let part = part.to_lowercase();
                best(&adapters, |info| info.name.to_lowercase().contains(&part))
            }
        };
        let Some(chosen) = chosen else {
            return Err(GpuError::NoAdapter { choice: choice.clone(), found }.into());
        };
        Self::open_adapter(instance, adapters.swap_remove(chosen))
    }

    /// Lists every adapter that can compute, in the order of their numbers.
    pub fn list() -> Vec<AdapterSummary> {
        usable_adapters(&new_instance()).iter().enumerate().map(|(i, a)| summary(i, a)).collect()
    }

    fn open_adapter(instance: wgpu::Instance, adapter: wgpu::Adapter) -> Result<Self, EngineError> {
        let adapter_info = adapter.get_info();
        let name = format!("{} ({:?})", adapter_info.name, adapter_info.backend);
        let (device, queue) = pollster::block_on(adapter.request_device(&wgpu::DeviceDescriptor {
            label: Some("stereopsis"),
            required_features: adapter.features() & OPTIONAL_FEATURES,
            required_limits: adapter.limits(),
            ..Default::default()
        }))
        .map_err(|cause| GpuError::NotOpened { name: name.clone(), cause })?;

        let errors = Arc::new(DeviceErrors::default());
        let noted = Arc::clone(&errors);
        device.set_device_lost_callback(move |reason, text| {
            let text = if text.is_empty() { format!("{reason:?}") } else { text };
            noted.lost.get_or_init(|| text);
        });
        let noted = Arc::clone(&errors);
        device.on_uncaptured_error(Arc::new(move |err: wgpu::Error| {
            log::error!("GPU: {err}");
            let mut error = noted.error.lock();
            error.get_or_insert_with(|| err.to_string());
        }));
        let software = adapter_info.device_type == wgpu::DeviceType::Cpu;
        let info = Arc::new(EngineInfo { kind: EngineKind::Gpu, adapter: name, software });
        Ok(Self { instance, adapter, device, queue, info, errors, shared_with_window: false })
    }

    pub(super) fn limits(&self) -> Limits {
        let (limits, info) = (self.device.limits(), self.adapter.get_info());
        let has_subgroups = self.device.features().contains(wgpu::Features::SUBGROUP);
        let discrete = info.device_type == wgpu::DeviceType::DiscreteGpu;
        let integrated = info.device_type == wgpu::DeviceType::IntegratedGpu;
        let has_i16 = self.device.features().contains(wgpu::Features::SHADER_I16);
        Limits {
            subgroup: if has_subgroups { info.subgroup_min_size } else { 0 },
            workgroup: limits.max_compute_invocations_per_workgroup.min(limits.max_compute_workgroup_size_x),
            has_f16: self.device.features().contains(wgpu::Features::SHADER_F16),
            has_i16,
            packs_i16: has_i16 && info.vendor != NVIDIA,
            discrete,
            integrated,
            binding_bytes: largest_binding(&limits),
            storage_buffers: limits.max_storage_buffers_per_shader_stage,
            side_px: (limits.max_texture_dimension_2d as usize).min(MAX_SIDE_PX),
            path_bytes: memory::path_bytes(discrete, memory::of(self)),
        }
    }

    /// Returns the reason why the GPU engine cannot run on it; `None` if it can.
    pub(super) fn misfit(&self) -> Option<String> {
        let limits = self.device.limits();
        too_few(limits.max_storage_buffers_per_shader_stage, limits.max_compute_workgroup_storage_size)
    }

    /// Whether the device computes in the memory of the machine.
    pub(super) fn shares_memory(&self) -> bool {
        matches!(self.adapter.get_info().device_type, wgpu::DeviceType::Cpu | wgpu::DeviceType::IntegratedGpu)
    }

    /// Returns the initial work of one submission on a device of this kind, in pixels times candidates.
    pub(super) fn initial_submission_work(&self) -> u64 {
        match self.adapter.get_info().device_type {
            // a whole pair of a megapixel: the time of the first pair decides about the next one
            wgpu::DeviceType::DiscreteGpu => 1 << 31,
            wgpu::DeviceType::Cpu => 1 << 20,
            _ => 1 << 24,
        }
    }

    /// Returns the minimum work of a submission: each submission takes time of the host.
    pub(super) fn min_submission_work(&self) -> u64 {
        if self.info.software { 1 << 20 } else { 1 << 18 }
    }

    /// Creates a buffer of `size` bytes.
    pub fn buffer(&self, label: &str, size: u64, usage: wgpu::BufferUsages) -> wgpu::Buffer {
        let label = Some(label);
        self.device.create_buffer(&wgpu::BufferDescriptor { label, size, usage, mapped_at_creation: false })
    }

    pub(super) fn buffer_of(&self, label: &str, contents: &[u8], usage: wgpu::BufferUsages) -> wgpu::Buffer {
        let (label, size) = (Some(label), contents.len() as u64);
        let descriptor = wgpu::BufferDescriptor { label, size, usage, mapped_at_creation: true };
        let buffer = self.device.create_buffer(&descriptor);
        // mapping fails on a lost device, which is reported elsewhere
        if let Ok(mut mapped) = buffer.get_mapped_range_mut(..) {
            mapped.slice(..).copy_from_slice(contents);
        }
        buffer.unmap();
        buffer
    }

    /// Creates a texture of one level.
    pub fn texture(
        &self,
        label: &str,
        (width, height): (usize, usize),
        format: wgpu::TextureFormat,
        usage: wgpu::TextureUsages,
    ) -> wgpu::Texture {
        self.device.create_texture(&wgpu::TextureDescriptor {
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

    /// Marks the device as shared with a window that draws with it.
    #[must_use]
    pub fn for_window(self) -> Self {
        Self { shared_with_window: true, ..self }
    }

    /// Whether passes can be timed. While a window draws, the timestamps of Mesa's software adapter do not span the work of a pass.
    pub fn times_passes(&self) -> bool {
        self.device.features().contains(wgpu::Features::TIMESTAMP_QUERY) && !self.draws_by_software()
    }

    /// Whether it is a software adapter that draws a window.
    pub(super) fn draws_by_software(&self) -> bool {
        self.shared_with_window && self.info.software
    }

    /// Returns the reason for the loss of the device, once it is lost.
    pub fn lost(&self) -> Option<&str> {
        self.errors.lost.get().map(String::as_str)
    }

    /// Returns the first uncaught error since the last call.
    pub fn take_error(&self) -> Option<String> {
        self.errors.error.lock().take()
    }

    pub(super) fn mark_lost(&self, why: &str) -> EngineError {
        EngineError::DeviceLost(self.errors.lost.get_or_init(|| why.to_owned()).clone())
    }

    pub(super) fn mark_hung(&self, why: &str) -> EngineError {
        // keeps the queue: dropping its last handle would wait for the end of all work, and block the thread that computes on the CPU
        std::mem::forget(self.queue.clone());
        self.mark_lost(why)
    }

    /// Checks that the device works.
    ///
    /// # Errors
    /// The device is lost, or an error occurred since the last call.
    pub fn check(&self) -> Result<(), EngineError> {
        if let Some(why) = self.lost() {
            return Err(EngineError::DeviceLost(why.to_owned()));
        }
        self.take_error().map_or(Ok(()), |text| Err(GpuError::Reported(text).into()))
    }
}

const NVIDIA: u32 = 0x10de;

/// Features that are enabled where an adapter has them.
const OPTIONAL_FEATURES: wgpu::Features = wgpu::Features::TIMESTAMP_QUERY
    .union(wgpu::Features::TIMESTAMP_QUERY_INSIDE_ENCODERS)
    .union(wgpu::Features::PIPELINE_CACHE)
    .union(wgpu::Features::SHADER_F16)
    .union(wgpu::Features::SHADER_I16)
    .union(wgpu::Features::SUBGROUP);

/// Maximum side of images, px, so that steps along a line fit into 32 bits.
const MAX_SIDE_PX: usize = 32768;

fn new_instance() -> wgpu::Instance {
    wgpu::Instance::new(wgpu::InstanceDescriptor {
        backends: wgpu::Backends::VULKAN | wgpu::Backends::METAL | wgpu::Backends::DX12,
        // a loader that finds no driver would print errors of its own; WGPU_VALIDATION=1 and WGPU_DEBUG=1 turn them on
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

/// Returns the index of the best adapter among those that `fits` accepts; the first one of equals.
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
        storage_buffers: adapter.limits().max_storage_buffers_per_shader_stage,
        workgroup_bytes: adapter.limits().max_compute_workgroup_storage_size,
    }
}

/// Returns the bytes that one binding can hold.
pub fn largest_binding(limits: &wgpu::Limits) -> u64 {
    limits.max_storage_buffer_binding_size.min(limits.max_buffer_size)
}
