//! Description of the CPU: brand, SIMD level, threads.

use super::simd::SimdLevel;
use crate::console::counted;

/// `AMD EPYC, AVX-512, 2 threads`.
pub(super) fn describe(level: SimdLevel, threads: usize) -> String {
    let brand = brand().unwrap_or_else(|| std::env::consts::ARCH.to_owned());
    format!("{brand}, {}, {}", level.name(), counted(threads as u64, "thread"))
}

/// The first processor's name, where the system has it in a file.
fn brand() -> Option<String> {
    let text = std::fs::read_to_string("/proc/cpuinfo").ok()?;
    let line = text.lines().find(|line| line.starts_with("model name"))?;
    let name = line.split_once(':')?.1.trim();
    (!name.is_empty()).then(|| name.to_owned())
}
