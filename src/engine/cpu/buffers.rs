//! The large arrays of the CPU engine, kept from pair to pair.

use super::Range;
use crate::engine::EngineError;

/// One array per kind of value; each grows when a pair or a search range asks for more.
#[derive(Default)]
pub(super) struct Buffers {
    /// Cost volume.
    pub(super) costs: Vec<u8>,
    /// Sums over the paths.
    pub(super) sums16: Vec<u16>,
    /// Exact sums over a window, where no paths are summed.
    pub(super) sums32: Vec<u32>,
}

impl Buffers {
    /// What they take.
    pub(super) fn bytes(&self) -> usize {
        size_of_val(&self.costs[..]) + size_of_val(&self.sums16[..]) + size_of_val(&self.sums32[..])
    }
}

/// Size of a volume.
#[derive(Clone, Copy)]
pub(super) struct Size {
    pub(super) width: usize,
    pub(super) height: usize,
    pub(super) range: Range,
}

/// `buffer` with room for a volume; its values are left over from the last pair.
pub(super) fn fit<T: Copy + Default>(buffer: &mut Vec<T>, size: Size) -> Result<&mut [T], EngineError> {
    let Size { width, height, range } = size;
    let len = width * height * range.stride;
    if buffer.len() / 4 > len {
        *buffer = Vec::new(); // a much larger pair was long ago
    }
    if buffer.len() < len {
        let more = len - buffer.len();
        buffer.try_reserve_exact(more).map_err(|_| {
            let megabytes = (len * size_of::<T>()) >> 20;
            EngineError::TooLarge(format!(
                "{width}x{height} with {} disparities needs {megabytes} MB for one volume, and there is no such memory: \
                 lower --num-disparities or --scale",
                range.candidates
            ))
        })?;
        buffer.resize(len, T::default());
    }
    Ok(&mut buffer[..len])
}
