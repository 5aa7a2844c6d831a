//! Tables on the device: those that the reference computes once for all engines, and room for that of mutual information.

use super::device::Gpu;
use super::recipe::{Information, Resource};
use crate::stereo::CostKind;
use crate::stereo::cost::Comparison;
use crate::stereo::cost::mutual_information::{LEVELS, LOG_TABLE_BITS, log_table};

/// Pairs of levels of brightness.
const PAIRS: u64 = (LEVELS * LEVELS) as u64;

pub(super) struct Tables {
    ad_census: wgpu::Buffer,
    gradient_census: wgpu::Buffer,
    logs: wgpu::Buffer,
    /// In the order of [`Information`]; none where nobody learns.
    information: Vec<wgpu::Buffer>,
}

impl Tables {
    pub(super) fn new(gpu: &Gpu, with_information: bool) -> Self {
        let constant = |label, numbers: Vec<u32>| {
            let contents: &[u8] = bytemuck::cast_slice(&numbers);
            let buffer = gpu.device.create_buffer(&wgpu::BufferDescriptor {
                label: Some(label),
                size: contents.len() as u64,
                usage: wgpu::BufferUsages::STORAGE,
                mapped_at_creation: true,
            });
            // a device that is lost maps nothing, and says so elsewhere
            if let Ok(mut mapped) = buffer.get_mapped_range_mut(..) {
                mapped.slice(..).copy_from_slice(contents);
            }
            buffer.unmap();
            buffer
        };
        let buffer = |(label, size)| {
            gpu.device.create_buffer(&wgpu::BufferDescriptor {
                label: Some(label),
                size,
                usage: wgpu::BufferUsages::STORAGE | wgpu::BufferUsages::COPY_SRC,
                mapped_at_creation: false,
            })
        };
        Self {
            ad_census: constant("AD-census", numbers(CostKind::AdCensus)),
            gradient_census: constant("gradient-census", numbers(CostKind::GradientCensus)),
            logs: constant("logarithms", log_table()),
            information: if with_information { SIZES.map(buffer).to_vec() } else { Vec::new() },
        }
    }

    /// Whether there is room for mutual information.
    pub(super) fn has_information(&self) -> bool {
        !self.information.is_empty()
    }

    /// The buffer that a resource names.
    pub(super) fn get(&self, resource: Resource) -> Option<&wgpu::Buffer> {
        match resource {
            Resource::AdCensusTables => Some(&self.ad_census),
            Resource::GradientCensusTables => Some(&self.gradient_census),
            Resource::LogTable => Some(&self.logs),
            Resource::Information(what) => self.information.get(what as usize),
            _ => None,
        }
    }
}

/// Label and bytes of each buffer of mutual information, in the order of [`Information`].
const SIZES: [(&str, u64); Information::Table as usize + 1] = [
    ("joint histogram", 4 * PAIRS),
    ("logarithms of counts", 4 * PAIRS),
    ("rows and columns of counts", 2 * 4 * LEVELS as u64),
    ("extremes of costs", 16),
    ("costs of levels", PAIRS),
];

/// Bytes of all tables.
pub(super) fn bytes(with_information: bool) -> u64 {
    let constant = 4 * (2 * (256 + 64) + (1 << LOG_TABLE_BITS));
    constant + if with_information { SIZES.iter().map(|(_, bytes)| bytes).sum() } else { 0 }
}

/// What each difference costs, then what each Hamming distance does, a word each so that one load finds it.
fn numbers(cost: CostKind) -> Vec<u32> {
    let Comparison::Tables { scale, .. } = cost.comparison() else { return Vec::new() };
    let tables = scale.tables();
    tables.difference.into_iter().chain(tables.census).map(u32::from).collect()
}
