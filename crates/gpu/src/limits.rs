//! Capabilities of an adapter, as far as layouts and variants depend on them.

/// Storage buffers that a kernel of ours may bind: what WebGPU promises of every device. Old software drivers have fewer.
pub(crate) const STORAGE_BUFFERS: u32 = 8;

/// Bytes of workgroup memory that a kernel of ours may have: what WebGPU promises of every device. A test counts those of every kernel.
pub const WORKGROUP_BYTES: u32 = 16384;

/// Why the kernels cannot run where one can bind so many storage buffers and has so many bytes of workgroup memory; `None` if they can.
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
    /// A discrete GPU: memory of its own, high bandwidth, more lanes than an image has rows.
    pub discrete: bool,
    /// A GPU beside the processor's cores, with whom it shares the bandwidth of their memory.
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
    fn a_device_has_what_kernels_need_or_is_told_what_it_lacks() {
        assert_eq!(too_few(STORAGE_BUFFERS, WORKGROUP_BYTES), None);
        assert!(too_few(4, WORKGROUP_BYTES).is_some_and(|why| why.contains("4 storage buffers")));
        assert!(too_few(32, 8192).is_some_and(|why| why.contains("8192 bytes") && why.contains("needs 16384")));
    }
}
