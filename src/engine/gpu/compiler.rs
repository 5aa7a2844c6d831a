//! Compute pipelines.

use super::device::Gpu;
use super::shaders::Binding;
use crate::engine::EngineError;
use std::collections::HashMap;
use std::sync::Arc;

/// One shader module's text with what it declares.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Source {
    /// Folder and file name below `shaders/`, without the extension.
    pub stem: &'static str,
    /// The text.
    pub text: String,
    /// Name and kind of each binding of group 0, numbered by place.
    pub bindings: Vec<(String, Binding)>,
}

/// A pipeline to be compiled.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Request {
    pub source: Arc<Source>,
    pub entry: &'static str,
    pub constants: Vec<(&'static str, u32)>,
}

#[derive(Clone)]
pub struct Pipeline {
    pub pipeline: wgpu::ComputePipeline,
    pub layout: wgpu::BindGroupLayout,
}

pub struct Compiler {
    gpu: Gpu,
    compiled: HashMap<Request, Pipeline>,
}

impl Compiler {
    pub fn new(gpu: Gpu) -> Self {
        Self { gpu, compiled: HashMap::new() }
    }

    pub fn get(&mut self, request: &Request) -> Option<Pipeline> {
        self.compiled.get(request).cloned()
    }

    pub fn wait_for(&mut self, request: &Request) -> Result<Pipeline, EngineError> {
        if let Some(found) = self.compiled.get(request) {
            return Ok(found.clone());
        }
        let device = &self.gpu.device;
        let entries: Vec<_> =
            (0..).zip(&request.source.bindings).map(|(i, (_, binding))| layout_entry(i, *binding)).collect();
        let layout = device.create_bind_group_layout(&wgpu::BindGroupLayoutDescriptor { label: Some(request.source.stem), entries: &entries });
        let pipeline_layout = device.create_pipeline_layout(&wgpu::PipelineLayoutDescriptor {
            label: Some(request.source.stem),
            bind_group_layouts: &[Some(&layout)],
            immediate_size: 0,
        });
        let module = device.create_shader_module(wgpu::ShaderModuleDescriptor {
            label: Some(request.source.stem),
            source: wgpu::ShaderSource::Wgsl(request.source.text.as_str().into()),
        });
        let constants: Vec<_> = request.constants.iter().map(|&(name, value)| (name, f64::from(value))).collect();
        let pipeline = device.create_compute_pipeline(&wgpu::ComputePipelineDescriptor {
            label: Some(request.source.stem),
            layout: Some(&pipeline_layout),
            module: &module,
            entry_point: Some(request.entry),
            compilation_options: wgpu::PipelineCompilationOptions { constants: &constants, zero_initialize_workgroup_memory: false },
            cache: None,
        });
        let made = Pipeline { pipeline, layout };
        self.compiled.insert(request.clone(), made.clone());
        Ok(made)
    }
}

fn layout_entry(binding: u32, kind: Binding) -> wgpu::BindGroupLayoutEntry {
    let buffer = |ty| wgpu::BindingType::Buffer { ty, has_dynamic_offset: false, min_binding_size: None };
    let ty = match kind {
        Binding::Uniform(_) => buffer(wgpu::BufferBindingType::Uniform),
        Binding::Read => buffer(wgpu::BufferBindingType::Storage { read_only: true }),
        Binding::Write => buffer(wgpu::BufferBindingType::Storage { read_only: false }),
        Binding::Texture => wgpu::BindingType::Texture {
            sample_type: wgpu::TextureSampleType::Uint,
            view_dimension: wgpu::TextureViewDimension::D2,
            multisampled: false,
        },
    };
    wgpu::BindGroupLayoutEntry { binding, visibility: wgpu::ShaderStages::COMPUTE, ty, count: None }
}
