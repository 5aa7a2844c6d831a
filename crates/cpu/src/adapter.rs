//! Description of the CPU for people: brand, SIMD level and number of threads.

use super::simd::SimdLevel;
use stereopsis_base::console::counted;

/// Returns text like `AMD EPYC, AVX-512, 2 threads`.
pub(super) fn describe(level: SimdLevel, threads: usize) -> String {
    let info = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let brand = brand_in(&info).unwrap_or(std::env::consts::ARCH);
    format!("{brand}, {}, {}", level.name(), counted(threads as u64, "thread"))
}

/// Returns the first processor's name in the text of /proc/cpuinfo, if there is one.
pub fn brand_in(text: &str) -> Option<&str> {
    let line = text.lines().find(|line| line.starts_with("model name"))?;
    let name = line.split_once(':')?.1.trim();
    (!name.is_empty()).then_some(name)
}
