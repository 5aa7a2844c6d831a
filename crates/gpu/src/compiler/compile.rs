//! One compilation: from a shader's text to a module, from a module to a pipeline.

#![allow(unsafe_code, reason = "leaving checks out of a shader is a promise about its text; its use says why it holds")]

use super::super::device::Gpu;
use super::request::{Pipeline, Request, Source};
use std::sync::Arc;
use stereopsis_base::remedy::Remedy;

/// Error of a compilation.
#[derive(Clone, Debug, thiserror::Error)]
pub(super) enum CompileError {
    #[error(
        "the GPU cannot compile the shader {shader}: {cause}; install the newest driver of the graphics card, or choose {}",
        Remedy::set("engine", "cpu")
    )]
    Refused { shader: String, cause: Arc<wgpu::Error> },
    /// The driver or a library panicked with this shader.
    #[error("compiling the shader {shader} panicked; choose {}", Remedy::set("engine", "cpu"))]
    Panicked { shader: &'static str },
}

impl CompileError {
    fn refused(shader: impl Into<String>) -> impl FnOnce(wgpu::Error) -> Self {
        move |cause| Self::Refused { shader: shader.into(), cause: Arc::new(cause) }
    }
}

pub(super) struct Module {
    shader: wgpu::ShaderModule,
    bindings: wgpu::BindGroupLayout,
    layout: wgpu::PipelineLayout,
}

impl Module {
    /// Compiles a module. With checks, its shaders check every index, divisor and loop at run time.
    pub(super) fn new(gpu: &Gpu, source: &Source, checks: bool) -> Result<Self, CompileError> {
        let label = Some(source.stem);
        let device = &gpu.device;
        let bindings = bindings(&source.text);
        let entries: Vec<_> = bindings.into_iter().map(|(number, kind)| layout_entry(number, kind)).collect();
        let descriptor =
            wgpu::ShaderModuleDescriptor { label, source: wgpu::ShaderSource::Wgsl(source.text.as_str().into()) };
        let make = || {
            let bindings =
                device.create_bind_group_layout(&wgpu::BindGroupLayoutDescriptor { label, entries: &entries });
            let layout = device.create_pipeline_layout(&wgpu::PipelineLayoutDescriptor {
                label,
                bind_group_layouts: &[Some(&bindings)],
                immediate_size: 0,
            });
            let shader = if checks {
                device.create_shader_module(descriptor)
            } else {
                // SAFETY: the texts are the program's own and take no numbers from outside but checked sizes. Their indices stay within
                // the buffers that the program binds, their divisors are not 0, their loops end. Tests run every one of them with the
                // checks on and get the same bits.
                unsafe { device.create_shader_module_trusted(descriptor, wgpu::ShaderRuntimeChecks::unchecked()) }
            };
            Self { shader, bindings, layout }
        };
        with_error_scopes(device, make).map_err(CompileError::refused(source.stem))
    }

    pub(super) fn pipeline(
        &self,
        gpu: &Gpu,
        request: &Request,
        cache: Option<&wgpu::PipelineCache>,
    ) -> Result<Pipeline, CompileError> {
        let constants: Vec<_> = request.constants.iter().map(|&(name, value)| (name, f64::from(value))).collect();
        let make = || {
            gpu.device.create_compute_pipeline(&wgpu::ComputePipelineDescriptor {
                label: Some(request.source.stem),
                layout: Some(&self.layout),
                module: &self.shader,
                entry_point: Some(request.entry),
                compilation_options: wgpu::PipelineCompilationOptions {
                    constants: &constants,
                    zero_initialize_workgroup_memory: false,
                },
                cache,
            })
        };
        let pipeline = with_error_scopes(&gpu.device, make)
            .map_err(CompileError::refused(format!("{} ({})", request.source.stem, request.entry)))?;
        Ok(Pipeline { pipeline, layout: self.bindings.clone() })
    }
}

/// Returns the result of `make`, or the first error that its calls of the device raise.
pub(super) fn with_error_scopes<T>(device: &wgpu::Device, make: impl FnOnce() -> T) -> Result<T, wgpu::Error> {
    let kinds = [wgpu::ErrorFilter::OutOfMemory, wgpu::ErrorFilter::Internal, wgpu::ErrorFilter::Validation];
    let scopes = kinds.map(|kind| device.push_error_scope(kind));
    let made = make();
    // the innermost scope first
    let errors = scopes.into_iter().rev().filter_map(|scope| pollster::block_on(scope.pop()));
    errors.reduce(|first, _| first).map_or(Ok(made), Err)
}

/// Kind of a binding.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Binding {
    /// Uniform.
    Uniform,
    /// `texture_2d<u32>`.
    Texture,
    /// `texture_storage_2d<r32uint, write>`.
    WriteTexture,
    /// Read-only storage buffer.
    Read,
    /// Storage buffer.
    Write,
}

/// Returns the bindings that a source declares, all in group 0 and each on a line of its own.
pub fn bindings(source: &str) -> Vec<(u32, Binding)> {
    let binding = |line: &str| {
        let (number, variable) = line.trim_start().strip_prefix("@group(0) @binding(")?.split_once(") var")?;
        let kind = if variable.starts_with("<uniform>") {
            Binding::Uniform
        } else if variable.starts_with("<storage, read>") {
            Binding::Read
        } else if variable.starts_with("<storage, read_write>") {
            Binding::Write
        } else if variable.contains("texture_storage_2d") {
            Binding::WriteTexture
        } else {
            Binding::Texture
        };
        Some((number.parse().ok()?, kind))
    };
    source.lines().filter_map(binding).collect()
}

fn layout_entry(binding: u32, kind: Binding) -> wgpu::BindGroupLayoutEntry {
    let buffer = |ty| wgpu::BindingType::Buffer { ty, has_dynamic_offset: false, min_binding_size: None };
    let ty = match kind {
        Binding::Uniform => buffer(wgpu::BufferBindingType::Uniform),
        Binding::Read => buffer(wgpu::BufferBindingType::Storage { read_only: true }),
        Binding::Write => buffer(wgpu::BufferBindingType::Storage { read_only: false }),
        Binding::Texture => wgpu::BindingType::Texture {
            sample_type: wgpu::TextureSampleType::Uint,
            view_dimension: wgpu::TextureViewDimension::D2,
            multisampled: false,
        },
        Binding::WriteTexture => wgpu::BindingType::StorageTexture {
            access: wgpu::StorageTextureAccess::WriteOnly,
            format: wgpu::TextureFormat::R32Uint,
            view_dimension: wgpu::TextureViewDimension::D2,
        },
    };
    wgpu::BindGroupLayoutEntry { binding, visibility: wgpu::ShaderStages::COMPUTE, ty, count: None }
}
