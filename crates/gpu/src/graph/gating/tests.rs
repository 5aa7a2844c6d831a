//! Tests of both gating shaders against the reference, with images and maps that no pair would produce.

use crate::Gpu;
use crate::compiler::Compiler;
use crate::graph::{Dispatch, GraphBuilder, Resource};
use crate::layout::{Layout, Structure, map_pitch};
use crate::trace::decode_map;
use crate::uniforms::Params;
use crate::variant::Variant;
use fastrand::Rng;
use std::sync::mpsc;
use std::time::Duration;
use stereopsis_base::image::{Image, Luma};
use stereopsis_frame::Side;
use stereopsis_stereo::gating::{Gate, bounds_from};
use stereopsis_stereo::map::SUBPIXEL_STEPS;
use stereopsis_stereo::pyramid::{self, halve};
use stereopsis_stereo::{DisparityMap, GateBounds, INVALID, StereoParams};
use wgpu::util::{BufferInitDescriptor, DeviceExt};
use wgpu::{BufferUsages, TextureUsages};

struct Levels {
    gpu: Gpu,
    compiler: Compiler,
    layouts: Vec<Layout>,
    params: Vec<wgpu::Buffer>,
}

impl Levels {
    fn new(gpu: &Gpu, [left, right]: [&Luma; 2], params: &StereoParams) -> Self {
        let limits = gpu.limits();
        let levels = Structure::levels(left.size(), params);
        let layout = |structure: &Structure| {
            let variant = Variant::baseline(&limits, &structure.requirements());
            Layout::new(structure.clone(), variant, &limits, "test").expect("a small image")
        };
        let layouts: Vec<_> = levels.iter().map(|(structure, _)| layout(structure)).collect();
        let uniform = |((_, params), layout): (&(Structure, StereoParams), &Layout)| {
            let params = Params::new([left, right], false, params, layout, false);
            buffer(gpu, bytemuck::bytes_of(&params), BufferUsages::UNIFORM)
        };
        let params = levels.iter().zip(&layouts).map(uniform).collect();
        Self { compiler: Compiler::with_checks(gpu.clone()), gpu: gpu.clone(), layouts, params }
    }

    /// Records a builder's dispatches; `other` resolves the resources that are not uniforms.
    fn run<'a>(
        &'a self,
        builder: &GraphBuilder,
        other: impl Fn(Resource) -> wgpu::BindingResource<'a>,
    ) -> wgpu::CommandEncoder {
        let uniforms: Vec<_> = builder
            .dispatch_params
            .iter()
            .map(|params| buffer(&self.gpu, bytemuck::bytes_of(params), BufferUsages::UNIFORM))
            .collect();
        let mut encoder = self.gpu.device.create_command_encoder(&wgpu::CommandEncoderDescriptor::default());
        for Dispatch { request, resources, groups: [x, y, z], .. } in
            builder.steps.iter().flat_map(|step| &step.dispatches)
        {
            let pipeline = self.compiler.wait_for(request).expect("a pipeline");
            let resource = |resource: &Resource| match *resource {
                Resource::Params(level) => self.params[level].as_entire_binding(),
                Resource::DispatchParams(number) => uniforms[number].as_entire_binding(),
                resource => other(resource),
            };
            let entries: Vec<_> = (0..)
                .zip(resources)
                .map(|(binding, named)| wgpu::BindGroupEntry { binding, resource: resource(named) })
                .collect();
            let bindings = self.gpu.device.create_bind_group(&wgpu::BindGroupDescriptor {
                label: None,
                layout: &pipeline.layout,
                entries: &entries,
            });
            let mut pass = encoder.begin_compute_pass(&wgpu::ComputePassDescriptor::default());
            pass.set_pipeline(&pipeline.pipeline);
            pass.set_bind_group(0, &bindings, &[]);
            pass.dispatch_workgroups(*x, *y, *z);
        }
        encoder
    }

    fn read(&self, encoder: wgpu::CommandEncoder, buffer: &wgpu::Buffer) -> Vec<u32> {
        self.gpu.queue.submit([encoder.finish()]);
        let (mapped, is_mapped) = mpsc::sync_channel(1);
        buffer.map_async(wgpu::MapMode::Read, .., move |result| drop(mapped.send(result)));
        while is_mapped.recv_timeout(Duration::from_micros(100)).is_err() {
            self.gpu.check().expect("a device");
            self.gpu.device.poll(wgpu::PollType::Poll).expect("a device that answers");
        }
        bytemuck::pod_collect_to_vec(&buffer.get_mapped_range(..).expect("mapped"))
    }

    fn builder(&self, rng: &mut Rng) -> GraphBuilder {
        let max_work = *rng.choice(&[1, 300_000, u64::MAX]).expect("some work");
        assert_eq!(self.layouts.len(), 2, "one coarser level");
        GraphBuilder { coarse_stage: Some("gates"), ..GraphBuilder::new(max_work) }
    }
}

fn buffer(gpu: &Gpu, contents: &[u8], usage: BufferUsages) -> wgpu::Buffer {
    gpu.device.create_buffer_init(&BufferInitDescriptor { label: None, contents, usage })
}

fn copy_of(gpu: &Gpu, size: u64) -> wgpu::Buffer {
    let usage = BufferUsages::MAP_READ | BufferUsages::COPY_DST;
    gpu.device.create_buffer(&wgpu::BufferDescriptor { label: None, size, usage, mapped_at_creation: false })
}

fn noise(rng: &mut Rng, (width, height): (usize, usize), bits: u8) -> Luma {
    let largest = ((1u32 << bits) - 1) as u16;
    let image = Image::from_fn(width, height, |_, _| rng.u16(0..=largest));
    if bits == 8 { Luma::U8(image.map(|&v| v as u8)) } else { Luma::U16 { image, bits } }
}

fn texture(gpu: &Gpu, (width, height): (usize, usize), wide: bool, usage: TextureUsages) -> wgpu::Texture {
    gpu.device.create_texture(&wgpu::TextureDescriptor {
        label: None,
        size: wgpu::Extent3d { width: width as u32, height: height as u32, depth_or_array_layers: 1 },
        mip_level_count: 1,
        sample_count: 1,
        dimension: wgpu::TextureDimension::D2,
        format: if wide { wgpu::TextureFormat::R32Uint } else { wgpu::TextureFormat::R16Uint },
        usage,
        view_formats: &[],
    })
}

/// Uploads an image: with 16 bits a pixel as the host writes it, or with 32 as a shader does.
fn upload(gpu: &Gpu, luma: &Luma, wide: bool) -> wgpu::TextureView {
    let (size, pixels) = (luma.size(), luma.to_u16());
    let texture = texture(gpu, size, wide, TextureUsages::COPY_DST | TextureUsages::TEXTURE_BINDING);
    let words: Vec<_> = pixels.pixels().iter().map(|&v| u32::from(v)).collect();
    let bytes: &[u8] = if wide { bytemuck::cast_slice(&words) } else { bytemuck::cast_slice(pixels.pixels()) };
    let layout = wgpu::TexelCopyBufferLayout {
        offset: 0,
        bytes_per_row: Some((size.0 * if wide { 4 } else { 2 }) as u32),
        rows_per_image: None,
    };
    gpu.queue.write_texture(texture.as_image_copy(), bytes, layout, texture.size());
    texture.create_view(&wgpu::TextureViewDescriptor::default())
}

#[test]
fn halves_images_of_any_size_and_depth() {
    let Some(gpu) = Gpu::for_test() else { return };
    let rng = &mut Rng::with_seed(21);
    for i in 0..24 {
        let size = (rng.usize(3..=140), rng.usize(3..=40));
        let bits = [rng.u8(8..=16), rng.u8(8..=16)];
        let pair = bits.map(|bits| noise(rng, size, bits));
        let params = StereoParams { gating: Some(1), ..StereoParams::default() };
        let levels = Levels::new(&gpu, [&pair[0], &pair[1]], &params);
        let half = (levels.layouts[1].structure.width, levels.layouts[1].structure.height);
        let pictures = [0, 1].map(|side: usize| upload(&gpu, &pair[side], i % 2 == 1));
        let usage = TextureUsages::STORAGE_BINDING | TextureUsages::COPY_SRC;
        let halves = [0, 1].map(|_| texture(&gpu, half, true, usage));
        let views = [0, 1].map(|side: usize| halves[side].create_view(&wgpu::TextureViewDescriptor::default()));
        let mut builder = levels.builder(rng);
        builder.halve(1, &levels.layouts[1]);
        let mut encoder = levels.run(&builder, |resource| {
            wgpu::BindingResource::TextureView(match resource {
                Resource::Picture(side, 0) => &pictures[side as usize],
                Resource::Picture(side, 1) => &views[side as usize],
                other => panic!("{other:?}"),
            })
        });
        let pitch = map_pitch(half.0);
        let bytes = 4 * (pitch * half.1) as u64;
        let copy = copy_of(&gpu, 2 * bytes);
        for (side, texture) in (0..).zip(&halves) {
            let layout = wgpu::TexelCopyBufferLayout {
                offset: side * bytes,
                bytes_per_row: Some(4 * pitch as u32),
                rows_per_image: None,
            };
            let target = wgpu::TexelCopyBufferInfo { buffer: &copy, layout };
            encoder.copy_texture_to_buffer(texture.as_image_copy(), target, texture.size());
        }
        let words = levels.read(encoder, &copy);
        for (side, luma) in pair.iter().enumerate() {
            let got = Image::from_fn(half.0, half.1, |x, y| words[(side * half.1 + y) * pitch + x] as u16);
            assert_eq!(got.pixels(), halve(luma).to_u16().pixels(), "{size:?} with {bits:?} bits, side {side}");
        }
    }
}

/// Returns a map of whole pixels within the range of a coarser level, and the words of a map with reasons and confidence.
fn coarse_map(rng: &mut Rng, (width, height): (usize, usize), (min, max): (i32, i32)) -> (DisparityMap, Vec<u32>) {
    let valid_percent = *rng.choice(&[0, 1, 20, 95, 100]).expect("a share");
    let spread = *rng.choice(&[1, 3, 40, 1024]).expect("a spread");
    let (slope_x, slope_y) = (rng.i32(-3..=3), rng.i32(-3..=3));
    let offset = rng.i32(min..=max);
    let mut words = vec![0; map_pitch(width) * height];
    for (y, row) in words.chunks_exact_mut(map_pitch(width)).enumerate() {
        for (x, word) in row.iter_mut().enumerate() {
            let around = offset + (slope_x * x as i32 + slope_y * y as i32) / 4;
            let px = (around + rng.i32(0..spread) - spread / 2).clamp(min, max);
            let is_valid = rng.u32(0..100) < valid_percent;
            let value = if is_valid { (SUBPIXEL_STEPS * px) as i16 } else { INVALID };
            *word = u32::from(value as u16) | u32::from(rng.u16(..)) << 16;
        }
    }
    (decode_map(&words, width, height, false), words)
}

#[test]
fn finds_the_gates_of_any_range() {
    let Some(gpu) = Gpu::for_test() else { return };
    let rng = &mut Rng::with_seed(22);
    let mut cases = vec![((3, 3), -1, 1024), ((4, 301), -1024, 1024), ((301, 4), 1023, 1), ((270, 260), 0, 256)];
    cases.extend((0..20).map(|i| {
        let num_disparities = rng.u32(1..=if i % 2 == 0 { 140 } else { 1024 });
        ((rng.usize(3..=160), rng.usize(3..=190)), rng.i32(-1024..=1023), num_disparities)
    }));
    let both = cases.into_iter().flat_map(|case| GateBounds::ALL.iter().map(move |&bounds| (case, bounds)));
    for ((size, min_disparity, num_disparities), gate_bounds) in both {
        let params =
            StereoParams { min_disparity, num_disparities, gating: Some(1), gate_bounds, ..StereoParams::default() };
        let flat = Luma::U8(Image::filled(size.0, size.1, 0));
        let levels = Levels::new(&gpu, [&flat, &flat], &params);
        let (width, height) = (levels.layouts[1].structure.width, levels.layouts[1].structure.height);
        let (coarse, words) = coarse_map(rng, (width, height), pyramid::coarse_range(&params));
        let map = buffer(&gpu, bytemuck::cast_slice(&words), BufferUsages::STORAGE);
        let bytes = levels.layouts[0].bytes(Resource::Gates(0));
        let gates = gpu.device.create_buffer(&wgpu::BufferDescriptor {
            label: None,
            size: bytes,
            usage: BufferUsages::STORAGE | BufferUsages::COPY_SRC,
            mapped_at_creation: false,
        });
        let mut builder = levels.builder(rng);
        builder.bounds(1, &levels.layouts[1], Resource::Map(Side::Left, 1, 0), (0, gate_bounds));
        let mut encoder = levels.run(&builder, |resource| match resource {
            Resource::Map(Side::Left, 1, 0) => map.as_entire_binding(),
            Resource::Gates(0) => gates.as_entire_binding(),
            other => panic!("{other:?}"),
        });
        let copy = copy_of(&gpu, bytes);
        encoder.copy_buffer_to_buffer(&gates, 0, &copy, 0, bytes);
        let words = levels.read(encoder, &copy);
        let expected = bounds_from(&coarse, size, gate_bounds, &params.disparities());
        for (x, y) in (0..size.1).flat_map(|y| (0..size.0).map(move |x| (x, y))) {
            let word = words[y / 2 * width + x / 2];
            let gate = Gate { first: word as u16, last: (word >> 16) as u16 };
            let what = format!("({x}, {y}) of {size:?}, {num_disparities} from {min_disparity} px, {gate_bounds}");
            assert_eq!(gate, expected.at(x, y), "{what}");
        }
    }
}
