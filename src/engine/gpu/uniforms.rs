//! What the shaders' uniforms hold, as in `shaders/common.wgsl` and `shaders/aggregate/paths.wgsl`.

use crate::frame::Luma;
use crate::stereo::StereoParams;
use crate::stereo::aggregate::{self, Axis, MAX_PATHS, penalty_table};

/// `Params` of `common.wgsl`; see there for what each means.
#[repr(C)]
#[derive(Clone, Copy, Debug, bytemuck::Pod, bytemuck::Zeroable)]
#[allow(missing_docs, reason = "documented in the shader")]
pub struct Params {
    pub width: u32,
    pub height: u32,
    pub pitch: u32,
    pub candidates: u32,
    pub words: u32,
    pub min_disparity: i32,
    pub left_shift: u32,
    pub right_shift: u32,
    pub p1: u32,
    pub subpixel: u32,
    pub uniqueness: u32,
    pub left_right: u32,
    pub speckle_size: u32,
    pub speckle_range: u32,
    pub unused: [u32; 2], // an array of vec4 starts at a multiple of 16 bytes
    pub p2_of_step: [u32; 256],
}

impl Params {
    /// For one job.
    pub fn new(left: &Luma, right: &Luma, params: &StereoParams) -> Self {
        let (width, height) = left.size();
        Self {
            width: width as u32,
            height: height as u32,
            pitch: map_pitch(width) as u32,
            candidates: params.num_disparities,
            words: params.num_disparities.div_ceil(4),
            min_disparity: params.min_disparity,
            left_shift: u32::from(left.bits() - 8),
            right_shift: u32::from(right.bits() - 8),
            p1: params.p1,
            subpixel: u32::from(params.subpixel),
            uniqueness: params.uniqueness,
            left_right: params.left_right.unwrap_or(0),
            speckle_size: params.speckle_size,
            speckle_range: params.speckle_range,
            unused: [0; 2],
            p2_of_step: penalty_table(params),
        }
    }
}

/// Words from one row of a map to the next: rows of 256 bytes can be copied into a texture.
pub fn map_pitch(width: usize) -> usize {
    width.next_multiple_of(wgpu::COPY_BYTES_PER_ROW_ALIGNMENT as usize / size_of::<u32>())
}

/// `Direction` of `paths.wgsl`; see there for what each means.
#[repr(C)]
#[derive(Clone, Copy, Debug, bytemuck::Pod, bytemuck::Zeroable)]
#[allow(missing_docs, reason = "documented in the shader")]
pub struct Direction {
    pub y_is_major: u32,
    pub dx: i32,
    pub dy: i32,
    pub slope: u32,
    pub first: u32,
}

/// Distance of the directions in their buffer: uniforms start at multiples of this on every device.
pub const DIRECTION_STRIDE: usize = 256;

/// Bytes of the buffer with all directions of a job.
pub const DIRECTIONS_SIZE: usize = MAX_PATHS as usize * DIRECTION_STRIDE;

impl Direction {
    /// The directions of one job as they lie in their buffer.
    pub fn all(params: &StereoParams) -> Vec<u8> {
        let mut bytes = vec![0; params.paths as usize * DIRECTION_STRIDE];
        let directions = aggregate::directions(params.paths, params.start_angle_deg);
        for (i, (place, direction)) in bytes.chunks_exact_mut(DIRECTION_STRIDE).zip(directions).enumerate() {
            let aggregate::Direction { major, dx, dy, slope } = direction;
            let direction = Self {
                y_is_major: u32::from(major == Axis::Y),
                dx: dx as i32,
                dy: dy as i32,
                slope,
                first: u32::from(i == 0),
            };
            place[..size_of::<Self>()].copy_from_slice(bytemuck::bytes_of(&direction));
        }
        bytes
    }
}
