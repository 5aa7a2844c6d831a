//! Memory of a device, as far as it can be known: path costs of all directions share half of it.

use crate::process::bytes_in;

/// Bytes of path costs at most: more are computed in batches of directions. A driver that has no room left may move buffers into slower
/// memory and not say so, hence half of the device's memory where that is known.
pub(super) fn path_bytes(discrete: bool, memory: Option<u64>) -> u64 {
    let most = if discrete { 4 << 30 } else { 1 << 30 };
    memory.map_or(most, |bytes| most.min(bytes / 2))
}

/// Bytes of memory of this machine; `None` where the system does not tell.
pub(super) fn of_machine() -> Option<u64> {
    bytes_in(&std::fs::read_to_string("/proc/meminfo").ok()?, "MemTotal:")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn path_costs_have_half_of_a_small_memory_and_no_more_than_before_of_a_large_one() {
        assert_eq!([false, true].map(|discrete| path_bytes(discrete, None)), [1 << 30, 4 << 30]);
        assert_eq!([false, true].map(|discrete| path_bytes(discrete, Some(80 << 30))), [1 << 30, 4 << 30]);
        assert_eq!(path_bytes(false, Some(900 << 20)), 450 << 20, "a Raspberry Pi with 1 GB");
        assert_eq!(path_bytes(true, Some(6 << 30)), 3 << 30);
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn the_machine_tells_its_memory() {
        assert!(of_machine().is_some_and(|bytes| bytes > 64 << 20));
    }
}
