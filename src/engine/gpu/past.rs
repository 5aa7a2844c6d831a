//! What is remembered on the device from pair to pair, see [`crate::stereo::Past`].
//!
//! The buffers are the engine's and not the plan's: they outlive a change of the variant. Several jobs are in flight, but the
//! queue runs them in order, so what one leaves behind is there for the next; whether there is anything travels in the job's
//! uniform, `has_past`.

use super::device::Gpu;
use super::graph::{DispatchGraph, Resource};
use crate::engine::EngineError;
use crate::stereo::StereoParams;
use std::sync::Arc;

/// The past of a sequence whose pairs have the same size and parameters.
#[derive(Default)]
pub(super) struct Past {
    of: Option<((usize, usize), Arc<StereoParams>)>,
    /// Whether a job of the sequence is on its way, or done.
    has_pairs: bool,
    /// Bytes of the two buffers.
    bytes: [u64; 2],
    /// The last job's finished left map.
    last: Option<wgpu::Buffer>,
    /// Running means of the temporal filter. The job itself reads and writes them.
    smoothed: Option<wgpu::Buffer>,
}

impl Past {
    /// The next job begins a sequence.
    pub(super) fn forget(&mut self) {
        (self.of, self.has_pairs) = (None, false);
    }

    /// Whether a job like this goes on with what came before.
    pub(super) fn follow(&mut self, size: (usize, usize), params: &Arc<StereoParams>) -> bool {
        let belongs = self.of.as_ref().is_some_and(|(old_size, old)| *old_size == size && old == params);
        if !belongs {
            (self.of, self.has_pairs) = (Some((size, Arc::clone(params))), false);
        }
        self.has_pairs
    }

    /// The job that was followed last is on its way: what it leaves behind is the past of the next one.
    pub(super) fn remember(&mut self) {
        self.has_pairs = true;
    }

    /// Has the buffers that a graph needs, and no others. True where they are new, so that nothing is bound to them.
    ///
    /// # Errors
    /// [`EngineError::TooLarge`] with the numbers if the device has no room.
    pub(super) fn hold(&mut self, gpu: &Gpu, graph: &DispatchGraph) -> Result<bool, EngineError> {
        let bytes = graph.layouts.first().map_or([0; 2], super::layout::Layout::past_bytes);
        if bytes == self.bytes {
            return Ok(false);
        }
        *self = Self::default(); // its memory first
        let scope = gpu.device.push_error_scope(wgpu::ErrorFilter::OutOfMemory);
        let buffer = |label, size: u64| {
            (size > 0).then(|| {
                gpu.device.create_buffer(&wgpu::BufferDescriptor {
                    label: Some(label),
                    size,
                    usage: wgpu::BufferUsages::STORAGE | wgpu::BufferUsages::COPY_DST | wgpu::BufferUsages::COPY_SRC,
                    mapped_at_creation: false,
                })
            })
        };
        let (last, smoothed) = (buffer("last map", bytes[0]), buffer("running means", bytes[1]));
        if let Some(err) = pollster::block_on(scope.pop()) {
            return Err(EngineError::TooLarge(format!(
                "{} has no room for {} MiB of what is remembered from pair to pair ({err}); lower --scale",
                gpu.info.adapter,
                (bytes[0] + bytes[1]).div_ceil(1 << 20)
            )));
        }
        *self = Self { bytes, last, smoothed, ..Self::default() };
        Ok(true)
    }

    /// The buffer that a resource names.
    pub(super) fn get(&self, resource: Resource) -> Option<wgpu::BindingResource<'_>> {
        let buffer = match resource {
            Resource::Last => self.last.as_ref(),
            Resource::Smoothed => self.smoothed.as_ref(),
            _ => None,
        };
        buffer.map(wgpu::Buffer::as_entire_binding)
    }

    /// Records what keeps the finished map, if anybody asks for it.
    pub(super) fn record(&self, encoder: &mut wgpu::CommandEncoder, result: &wgpu::Buffer) {
        if let Some(last) = &self.last {
            encoder.copy_buffer_to_buffer(result, 0, last, 0, last.size());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sequence_is_of_one_size_and_parameters_until_it_is_forgotten() {
        let mut past = Past::default();
        let params = Arc::new(StereoParams::default());
        let other = Arc::new(StereoParams { p1: 3, ..StereoParams::default() });
        assert!(!past.follow((4, 3), &params));
        assert!(!past.follow((4, 3), &params), "no job came through");
        past.remember();
        assert!(past.follow((4, 3), &Arc::new(StereoParams::default())), "the same values, elsewhere");
        for (size, params) in [((3, 4), &params), ((4, 3), &params), ((4, 3), &other)] {
            assert!(!past.follow(size, params));
            past.remember();
            assert!(past.follow(size, params));
        }
        past.forget();
        assert!(!past.follow((4, 3), &other));
    }
}
