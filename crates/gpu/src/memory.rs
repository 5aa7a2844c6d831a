//! Memory of a device, as far as it can be known. Path costs of all directions may take half of it.

#![allow(
    unsafe_code,
    reason = "wgpu does not tell sizes of memory; where the driver is asked, a comment says why that is sound"
)]

use super::device::Gpu;
use stereopsis_base::process::bytes_in;

/// Returns the maximum bytes of path costs: more are computed in batches of directions. A driver without room may move buffers silently
/// into slower memory, hence half of the device's memory where that is known.
pub(super) fn path_bytes(discrete: bool, memory: Option<u64>) -> u64 {
    let most = if discrete { 4 << 30 } else { 1 << 30 };
    memory.map_or(most, |bytes| most.min(bytes / 2))
}

/// Returns the bytes of the memory in which a device computes; `None` where it is unknown.
pub(super) fn of(gpu: &Gpu) -> Option<u64> {
    if gpu.shares_memory() { of_machine() } else { of_adapter(&gpu.adapter) }
}

/// Returns the bytes of the largest memory of an adapter's own.
#[cfg(any(target_os = "linux", target_os = "windows"))]
fn of_adapter(adapter: &wgpu::Adapter) -> Option<u64> {
    /// `VK_MEMORY_HEAP_DEVICE_LOCAL_BIT` of Vulkan.
    const OWN: u32 = 1;
    // SAFETY: the borrowed handle is only queried, and is not destroyed.
    let vulkan = unsafe { adapter.as_hal::<wgpu::hal::api::Vulkan>() }?;
    let instance = vulkan.shared_instance().raw_instance();
    // SAFETY: the device is one of this instance, which lives as long as its adapter; the call reads and changes nothing.
    let memory = unsafe { instance.get_physical_device_memory_properties(vulkan.raw_physical_device()) };
    let heaps = memory.memory_heaps.iter().take(memory.memory_heap_count as usize);
    heaps.filter(|heap| heap.flags.as_raw() & OWN != 0).map(|heap| heap.size).max()
}

/// Returns `None`: without Vulkan nothing is known.
#[cfg(not(any(target_os = "linux", target_os = "windows")))]
fn of_adapter(_: &wgpu::Adapter) -> Option<u64> {
    None
}

/// Returns the bytes of memory of this machine; `None` where the system does not report them.
fn of_machine() -> Option<u64> {
    bytes_in(&std::fs::read_to_string("/proc/meminfo").ok()?, "MemTotal:")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn path_costs_take_half_of_a_small_memory_and_are_capped() {
        assert_eq!([false, true].map(|discrete| path_bytes(discrete, None)), [1 << 30, 4 << 30]);
        assert_eq!([false, true].map(|discrete| path_bytes(discrete, Some(80 << 30))), [1 << 30, 4 << 30]);
        assert_eq!(path_bytes(false, Some(900 << 20)), 450 << 20, "a Raspberry Pi with 1 GB");
        assert_eq!(path_bytes(true, Some(6 << 30)), 3 << 30);
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn machine_reports_its_memory() {
        assert!(of_machine().is_some_and(|bytes| bytes > 64 << 20));
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn device_reports_its_memory() {
        let Some(gpu) = Gpu::for_test() else { return };
        let own = of_adapter(&gpu.adapter);
        assert!(own.is_some_and(|bytes| bytes > 64 << 20), "{own:?}");
        if gpu.shares_memory() {
            assert!(of(&gpu) == of_machine() && own <= of_machine(), "{own:?} of the machine's {:?}", of_machine());
        }
    }
}
