//! What the CPU is called: brand, SIMD level, threads.

/// `AMD EPYC, AVX-512, 2 threads`.
pub(super) fn describe(threads: usize) -> String {
    let brand = brand().unwrap_or_else(|| std::env::consts::ARCH.to_owned());
    format!("{brand}{}, {threads} thread{}", simd(), if threads == 1 { "" } else { "s" })
}

/// The first processor's name, where the system has it in a file.
fn brand() -> Option<String> {
    let text = std::fs::read_to_string("/proc/cpuinfo").ok()?;
    let line = text.lines().find(|line| line.starts_with("model name"))?;
    let name = line.split_once(':')?.1.trim();
    (!name.is_empty()).then(|| name.to_owned())
}

/// The widest instructions that the loops are compiled for and this processor has; empty where that says nothing.
#[cfg(target_arch = "x86_64")]
fn simd() -> &'static str {
    if is_x86_feature_detected!("avx512bw")
        && is_x86_feature_detected!("avx512vl")
        && is_x86_feature_detected!("avx512vpopcntdq")
    {
        ", AVX-512"
    } else if is_x86_feature_detected!("avx2") {
        ", AVX2"
    } else if is_x86_feature_detected!("sse4.2") {
        ", SSE4.2"
    } else {
        ", SSE2"
    }
}

/// The widest instructions that the loops are compiled for and this processor has; empty where that says nothing.
#[cfg(not(target_arch = "x86_64"))]
fn simd() -> &'static str {
    if cfg!(target_arch = "aarch64") { ", NEON" } else { "" }
}
