//! Measured limits of a device: copy bandwidth, integer arithmetic and transfer times.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;
use stereopsis_frame::engine::EngineError;
use stereopsis_gpu::compiler::{Compiler, Request, Source};
use stereopsis_gpu::device::{Gpu, largest_binding};
use stereopsis_gpu::layout::map_pitch;

/// Number of repetitions, of which the best counts because other programs may use the device.
const ROUNDS: usize = 6;
/// Largest copied buffer, about ten times the caches, bytes.
const MAX_BYTES: u64 = 512 << 20;
/// Smallest buffer that measures memory and not caches, bytes.
const MIN_BYTES: u64 = 1 << 20;
const WORKGROUP: u64 = 256;
/// Number of 16-byte vectors copied by an invocation.
const EACH: u64 = 4;
/// Number of workgroups of the arithmetic kernel, more than any device runs at a time.
const BUSY_GROUPS: u32 = 4096;
/// Number of loop iterations of the arithmetic kernel.
const TURNS: u64 = 64;
/// Number of operations per iteration: an addition and a minimum, in two vectors of four chains, sixteen times.
const TURN_OPERATIONS: u64 = 2 * 2 * 4 * 16;

#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize)]
pub(super) struct Rates {
    /// Rate of bytes read and written while a shader copies a large buffer, bytes/s.
    pub(super) bytes_per_s: f64,
    /// Rate of 32-bit additions and minima in independent chains, operations/s.
    pub(super) operations_per_s: f64,
    pub(super) copied_bytes: u64,
}

/// Transfer times of a pair and its map.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize)]
pub(super) struct Transfers {
    /// Time of both images to the device, ms.
    pub(super) upload_ms: f64,
    /// Time of the map to the host, ms.
    pub(super) read_back_ms: f64,
    /// Whether the device measured the times, and not the host from submission to completion.
    pub(super) by_device: bool,
}

/// Returns the kernels' source; `fill` writes incompressible data.
fn kernels() -> String {
    let step = "a = min(a + vec4<u32>(3u), limit);\n        b = min(b + vec4<u32>(5u), limit);\n        ";
    format!(
        "@group(0) @binding(0) var<storage, read_write> source: array<vec4<u32>>;\n\
         @group(0) @binding(1) var<storage, read_write> target_words: array<vec4<u32>>;\n\
         const EACH: u32 = {EACH}u;\n\
         fn first(group: vec3<u32>, index: u32) -> u32 {{\n    return group.x * {WORKGROUP}u * EACH + index;\n}}\n\
         @compute @workgroup_size({WORKGROUP})\n\
         fn fill(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) index: u32) {{\n    \
         for (var i = 0u; i < EACH; i++) {{\n        let at = first(group, index) + i * {WORKGROUP}u;\n        \
         source[at] = (vec4<u32>(4u * at) + vec4<u32>(0u, 1u, 2u, 3u)) * vec4<u32>(2654435761u);\n    }}\n}}\n\
         @compute @workgroup_size({WORKGROUP})\n\
         fn copy(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) index: u32) {{\n    \
         for (var i = 0u; i < EACH; i++) {{\n        let at = first(group, index) + i * {WORKGROUP}u;\n        \
         target_words[at] = source[at];\n    }}\n}}\n\
         @compute @workgroup_size({WORKGROUP})\n\
         fn compute(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) index: u32) {{\n    \
         let limit = source[0];\n    \
         var a = vec4<u32>(index, group.x, index + group.x, index ^ group.x);\n    \
         var b = a + vec4<u32>(7u);\n    \
         for (var turn = 0u; turn < {TURNS}u; turn++) {{\n        {}\n    }}\n    \
         // never true, which only this program knows\n    \
         if all(a == limit + vec4<u32>(1u)) && all(b == a) {{\n        target_words[0] = a + b;\n    }}\n}}\n",
        step.repeat(16)
    )
}

impl Rates {
    /// Measures a device; the figures of a software adapter are the processor's.
    ///
    /// # Errors
    /// [`EngineError::TooLarge`] if even a small buffer does not fit; an error or loss of the device.
    pub(super) fn measure(gpu: &Gpu) -> Result<Self, EngineError> {
        let most = MAX_BYTES.min(largest_binding(&gpu.device.limits()));
        Self::measure_with(gpu, &Compiler::new(gpu.clone()), most, BUSY_GROUPS)
    }

    fn measure_with(gpu: &Gpu, compiler: &Compiler, max_bytes: u64, groups: u32) -> Result<Self, EngineError> {
        let of_group = 16 * WORKGROUP * EACH;
        let mut bytes = max_bytes / of_group * of_group;
        let buffers = loop {
            match buffers(gpu, bytes) {
                Ok(buffers) => break buffers,
                Err(_) if bytes / 2 >= MIN_BYTES => bytes = bytes / 2 / of_group * of_group,
                Err(err) => return Err(err),
            }
        };
        let clock = Clock::new(gpu);
        let source = Arc::new(Source { stem: "probe", text: kernels() });
        let best_ms = |entry, groups: u32| {
            let request = Request { source: Arc::clone(&source), entry, constants: Vec::new() };
            let pipeline = compiler.wait_for(&request)?;
            let entries: Vec<_> = (0..)
                .zip(&buffers)
                .map(|(binding, buffer)| wgpu::BindGroupEntry { binding, resource: buffer.as_entire_binding() })
                .collect();
            let bindings = gpu.device.create_bind_group(&wgpu::BindGroupDescriptor {
                label: Some("probe"),
                layout: &pipeline.layout,
                entries: &entries,
            });
            clock.best_pass_ms(|pass| {
                pass.set_pipeline(&pipeline.pipeline);
                pass.set_bind_group(0, &bindings, &[]);
                pass.dispatch_workgroups(groups, 1, 1);
            })
        };
        let copying = (bytes / of_group) as u32;
        best_ms("fill", copying)?;
        let copy_s = best_ms("copy", copying)? * 1e-3;
        let compute_s = best_ms("compute", groups)? * 1e-3;
        let operations = u64::from(groups) * WORKGROUP * TURNS * TURN_OPERATIONS;
        Ok(Self {
            bytes_per_s: 2.0 * bytes as f64 / copy_s,
            operations_per_s: operations as f64 / compute_s,
            copied_bytes: bytes,
        })
    }
}

fn buffers(gpu: &Gpu, bytes: u64) -> Result<[wgpu::Buffer; 2], EngineError> {
    let scope = gpu.device.push_error_scope(wgpu::ErrorFilter::OutOfMemory);
    let make = |()| buffer(gpu, bytes, wgpu::BufferUsages::STORAGE);
    let buffers = [(); 2].map(make);
    match pollster::block_on(scope.pop()) {
        None => Ok(buffers),
        Some(err) => Err(EngineError::TooLarge(
            format!(
                "{} has no room for two buffers of {} MiB to measure its memory with ({err}); close other programs",
                gpu.info.adapter,
                bytes >> 20
            )
            .into(),
        )),
    }
}

fn buffer(gpu: &Gpu, size: u64, usage: wgpu::BufferUsages) -> wgpu::Buffer {
    gpu.buffer("probe", size, usage)
}

impl Transfers {
    /// Transfers a pair and a map of this size on an idle device.
    ///
    /// # Errors
    /// An error or loss of the device.
    pub(super) fn measure(gpu: &Gpu, (width, height): (usize, usize), bits: u32) -> Result<Self, EngineError> {
        let (format, bytes) =
            if bits > 8 { (wgpu::TextureFormat::R16Uint, 2) } else { (wgpu::TextureFormat::R8Uint, 1) };
        let pitch = (bytes * width).next_multiple_of(wgpu::COPY_BYTES_PER_ROW_ALIGNMENT as usize);
        let picture_bytes = (pitch * height) as u64;
        let staging = buffer(gpu, 2 * picture_bytes, wgpu::BufferUsages::MAP_WRITE | wgpu::BufferUsages::COPY_SRC);
        let textures = [(); 2].map(|()| {
            let usage = wgpu::TextureUsages::COPY_DST | wgpu::TextureUsages::TEXTURE_BINDING;
            gpu.texture("probe", (width, height), format, usage)
        });
        let map_bytes = (map_pitch(width) * height * 4) as u64;
        let map = buffer(gpu, map_bytes, wgpu::BufferUsages::STORAGE | wgpu::BufferUsages::COPY_SRC);
        let back = buffer(gpu, map_bytes, wgpu::BufferUsages::MAP_READ | wgpu::BufferUsages::COPY_DST);
        let clock = Clock::new(gpu);
        let upload_ms = clock.best_ms(|encoder| {
            for (offset, texture) in [(0, &textures[0]), (picture_bytes, &textures[1])] {
                let layout =
                    wgpu::TexelCopyBufferLayout { offset, bytes_per_row: Some(pitch as u32), rows_per_image: None };
                let source = wgpu::TexelCopyBufferInfo { buffer: &staging, layout };
                encoder.copy_buffer_to_texture(source, texture.as_image_copy(), texture.size());
            }
        })?;
        let read_back_ms = clock.best_ms(|encoder| encoder.copy_buffer_to_buffer(&map, 0, &back, 0, map_bytes))?;
        Ok(Self { upload_ms, read_back_ms, by_device: clock.times_copies() })
    }
}

/// Timer of device work by timestamps if available, or else by the host's clock.
struct Clock<'a> {
    gpu: &'a Gpu,
    queries: Option<wgpu::QuerySet>,
    resolved: wgpu::Buffer,
    read: wgpu::Buffer,
}

const TICK_BYTES: u64 = 16;

impl<'a> Clock<'a> {
    fn new(gpu: &'a Gpu) -> Self {
        let has_queries = gpu.device.features().contains(wgpu::Features::TIMESTAMP_QUERY);
        let queries = has_queries.then(|| {
            let (label, ty) = (Some("probe"), wgpu::QueryType::Timestamp);
            gpu.device.create_query_set(&wgpu::QuerySetDescriptor { label, ty, count: 2 })
        });
        Self {
            gpu,
            queries,
            resolved: buffer(gpu, TICK_BYTES, wgpu::BufferUsages::QUERY_RESOLVE | wgpu::BufferUsages::COPY_SRC),
            read: buffer(gpu, TICK_BYTES, wgpu::BufferUsages::MAP_READ | wgpu::BufferUsages::COPY_DST),
        }
    }

    fn times_copies(&self) -> bool {
        self.gpu.device.features().contains(wgpu::Features::TIMESTAMP_QUERY_INSIDE_ENCODERS)
    }

    fn best_pass_ms(&self, record: impl Fn(&mut wgpu::ComputePass)) -> Result<f64, EngineError> {
        let all = self.queries.as_ref();
        self.best_of(all, |encoder| {
            let timestamp_writes = all.map(|query_set| wgpu::ComputePassTimestampWrites {
                query_set,
                beginning_of_pass_write_index: Some(0),
                end_of_pass_write_index: Some(1),
            });
            record(
                &mut encoder
                    .begin_compute_pass(&wgpu::ComputePassDescriptor { label: Some("probe"), timestamp_writes }),
            );
        })
    }

    /// Returns the shortest time of other commands, such as copies, ms.
    fn best_ms(&self, record: impl Fn(&mut wgpu::CommandEncoder)) -> Result<f64, EngineError> {
        let usable = self.queries.as_ref().filter(|_| self.times_copies());
        self.best_of(usable, |encoder| {
            usable.inspect(|queries| encoder.write_timestamp(queries, 0));
            record(encoder);
            usable.inspect(|queries| encoder.write_timestamp(queries, 1));
        })
    }

    fn best_of(
        &self,
        queries: Option<&wgpu::QuerySet>,
        record: impl Fn(&mut wgpu::CommandEncoder),
    ) -> Result<f64, EngineError> {
        let mut best = f64::INFINITY;
        for _ in 0..ROUNDS {
            let descriptor = wgpu::CommandEncoderDescriptor { label: Some("probe") };
            let mut encoder = self.gpu.device.create_command_encoder(&descriptor);
            record(&mut encoder);
            if let Some(queries) = queries {
                encoder.resolve_query_set(queries, 0..2, &self.resolved, 0);
                encoder.copy_buffer_to_buffer(&self.resolved, 0, &self.read, 0, TICK_BYTES);
            }
            let start = Instant::now();
            self.gpu.queue.submit([encoder.finish()]);
            let done = Arc::new(AtomicBool::new(false));
            let noted = Arc::clone(&done);
            if queries.is_some() {
                self.read.map_async(wgpu::MapMode::Read, .., move |_| noted.store(true, Ordering::Release));
            } else {
                self.gpu.queue.on_submitted_work_done(move || noted.store(true, Ordering::Release));
            }
            while !done.load(Ordering::Acquire) {
                self.gpu.check()?;
                self.gpu
                    .device
                    .poll(wgpu::PollType::Poll)
                    .map_err(|err| EngineError::Device(err.to_string().into()))?;
                std::thread::yield_now();
            }
            let mut ms = start.elapsed().as_secs_f64() * 1e3;
            if queries.is_some() {
                let ticks: Vec<u64> = {
                    let bytes =
                        self.read.get_mapped_range(..).map_err(|err| EngineError::Device(err.to_string().into()))?;
                    bytemuck::pod_collect_to_vec(&bytes)
                };
                self.read.unmap();
                ms = ticks[1].saturating_sub(ticks[0]) as f64 * f64::from(self.gpu.queue.get_timestamp_period()) * 1e-6;
            }
            best = best.min(ms);
        }
        self.gpu.check()?;
        Ok(best.max(1e-6))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use stereopsis_frame::engine::AdapterChoice;

    #[test]
    fn kernels_run_with_all_checks_and_measure_rates() {
        let Ok(gpu) = Gpu::open(&AdapterChoice::Best) else {
            assert!(std::env::var_os("REQUIRE_GPU").is_none(), "REQUIRE_GPU is set, and there is no GPU");
            return;
        };
        let rates = Rates::measure_with(&gpu, &Compiler::with_checks(gpu.clone()), 3 << 20, 4).unwrap();
        assert_eq!(rates.copied_bytes, 3 << 20);
        assert!((1e6..1e14).contains(&rates.bytes_per_s), "{rates:?}");
        assert!((1e6..1e15).contains(&rates.operations_per_s), "{rates:?}");
        for bits in [8, 12] {
            let transfers = Transfers::measure(&gpu, (33, 20), bits).unwrap();
            assert!(transfers.upload_ms > 0.0 && transfers.read_back_ms > 0.0, "{transfers:?}");
        }
    }
}
