//! Limits of an adapter on which layouts and variants depend, and the minimum that the kernels need.

/// Maximum storage buffers of a kernel of this crate: the minimum of WebGPU for every device. Old software drivers have fewer.
pub(crate) const STORAGE_BUFFERS: u32 = 8;

/// Maximum bytes of workgroup memory of a kernel of this crate: the minimum of WebGPU for every device. A test counts them.
pub const WORKGROUP_BYTES: u32 = 16384;

/// Returns the reason why the kernels cannot run with these limits; `None` if they can.
pub fn too_few(storage_buffers: u32, workgroup_bytes: u32) -> Option<String> {
    let text = if storage_buffers < STORAGE_BUFFERS {
        format!("its kernels can bind {storage_buffers} storage buffers, and the GPU engine needs {STORAGE_BUFFERS}")
    } else if workgroup_bytes < WORKGROUP_BYTES {
        format!(
            "its kernels can have {workgroup_bytes} bytes of workgroup memory, and the GPU engine needs {WORKGROUP_BYTES}"
        )
    } else {
        return None;
    };
    Some(text)
}

/// Limits of a device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(clippy::struct_excessive_bools, reason = "each is a fact of its own")]
pub struct Limits {
    /// Lanes of its smallest subgroup; 0 without subgroups.
    pub subgroup: u32,
    /// Maximum invocations of a workgroup.
    pub workgroup: u32,
    /// Whether it computes with 16-bit floats.
    pub has_f16: bool,
    /// Whether it computes with 16-bit integers.
    pub has_i16: bool,
    /// Whether its compiler packs two of them into a register. NVIDIA's does not: an H100 takes 12 to 18 % longer with 16 bits.
    pub packs_i16: bool,
    /// Whether it is a discrete GPU: memory of its own, high bandwidth, more lanes than an image has rows.
    pub discrete: bool,
    /// Whether it is a GPU beside the processor's cores, with which it shares the bandwidth of their memory.
    pub integrated: bool,
    /// Maximum bytes of one binding.
    pub binding_bytes: u64,
    /// Maximum storage buffers of a kernel.
    pub storage_buffers: u32,
    /// Maximum texture side, px.
    pub side_px: usize,
    /// Maximum bytes of stored path costs.
    pub path_bytes: u64,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits_suffice_or_the_lack_is_named() {
        assert_eq!(too_few(STORAGE_BUFFERS, WORKGROUP_BYTES), None);
        assert!(too_few(4, WORKGROUP_BYTES).is_some_and(|why| why.contains("4 storage buffers")));
        assert!(too_few(32, 8192).is_some_and(|why| why.contains("8192 bytes") && why.contains("needs 16384")));
    }
}
