//! Compute pipelines, each compiled once: a slider changes uniforms, and only what changes a constant compiles.

use super::device::Gpu;
use super::shaders::{Binding, Shader};
use crate::engine::EngineError;
use std::collections::HashMap;

/// Values of a shader's `override` constants, by name.
pub(super) type Constants<'a> = &'a [(&'static str, u32)];

/// One dispatch, ready to be recorded.
pub(super) struct Dispatch {
    pipeline: wgpu::ComputePipeline,
    bindings: wgpu::BindGroup,
    groups: [u32; 3],
}

impl Dispatch {
    pub(super) fn record(&self, pass: &mut wgpu::ComputePass) {
        pass.set_pipeline(&self.pipeline);
        pass.set_bind_group(0, &self.bindings, &[]);
        let [x, y, z] = self.groups;
        pass.dispatch_workgroups(x, y, z);
    }
}

/// All pipelines made so far.
pub(super) struct Pipelines {
    gpu: Gpu,
    modules: HashMap<&'static str, Module>,
    compiled: HashMap<(&'static str, &'static str, Vec<u32>), wgpu::ComputePipeline>,
}

struct Module {
    shader: wgpu::ShaderModule,
    bindings: wgpu::BindGroupLayout,
    layout: wgpu::PipelineLayout,
}

impl Pipelines {
    pub(super) fn new(gpu: Gpu) -> Self {
        Self { gpu, modules: HashMap::new(), compiled: HashMap::new() }
    }

    /// A dispatch of `groups` workgroups; `resources` in the order of the shader's bindings.
    pub(super) fn dispatch(
        &mut self,
        shader: &'static Shader,
        entry: &'static str,
        constants: Constants,
        resources: &[wgpu::BindingResource],
        groups: [u32; 3],
    ) -> Result<Dispatch, EngineError> {
        let limit = self.gpu.device.limits().max_compute_workgroups_per_dimension;
        if groups.iter().any(|&n| n > limit) {
            return Err(EngineError::TooLarge(format!(
                "the picture is too large for {}: {groups:?} work groups, and it allows {limit} each way; lower --scale",
                self.gpu.info.adapter
            )));
        }
        let device = &self.gpu.device;
        let module = self.modules.entry(shader.stem).or_insert_with(|| Module::new(device, shader));
        let key = (shader.stem, entry, constants.iter().map(|&(_, value)| value).collect());
        let pipeline = self.compiled.entry(key).or_insert_with(|| {
            let constants: Vec<_> = constants.iter().map(|&(name, value)| (name, f64::from(value))).collect();
            device.create_compute_pipeline(&wgpu::ComputePipelineDescriptor {
                label: Some(shader.stem),
                layout: Some(&module.layout),
                module: &module.shader,
                entry_point: Some(entry),
                compilation_options: wgpu::PipelineCompilationOptions {
                    constants: &constants,
                    zero_initialize_workgroup_memory: false,
                },
                cache: None,
            })
        });
        let entries: Vec<_> = (0..)
            .zip(resources)
            .map(|(binding, resource)| wgpu::BindGroupEntry { binding, resource: resource.clone() })
            .collect();
        let bindings = device.create_bind_group(&wgpu::BindGroupDescriptor {
            label: Some(shader.stem),
            layout: &module.bindings,
            entries: &entries,
        });
        Ok(Dispatch { pipeline: pipeline.clone(), bindings, groups })
    }
}

impl Module {
    fn new(device: &wgpu::Device, shader: &Shader) -> Self {
        let entries: Vec<_> = (0..).zip(shader.bindings).map(|(i, &(_, binding))| layout_entry(i, binding)).collect();
        let bindings = device
            .create_bind_group_layout(&wgpu::BindGroupLayoutDescriptor { label: Some(shader.stem), entries: &entries });
        let layout = device.create_pipeline_layout(&wgpu::PipelineLayoutDescriptor {
            label: Some(shader.stem),
            bind_group_layouts: &[Some(&bindings)],
            immediate_size: 0,
        });
        let shader = device.create_shader_module(wgpu::ShaderModuleDescriptor {
            label: Some(shader.stem),
            source: wgpu::ShaderSource::Wgsl(shader.source.into()),
        });
        Self { shader, bindings, layout }
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
