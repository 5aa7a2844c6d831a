//! What the CPU is called: brand, SIMD level, threads.

/// `AMD EPYC, AVX-512, 2 threads`.
pub(super) fn describe(threads: usize) -> String {
    let brand = brand().unwrap_or_else(|| std::env::consts::ARCH.to_owned());
    let simd = simd().map_or_else(String::new, |simd| format!(", {simd}"));
    format!("{brand}{simd}, {threads} thread{}", if threads == 1 { "" } else { "s" })
}

/// The first processor's name, where the system has it in a file.
fn brand() -> Option<String> {
    let text = std::fs::read_to_string("/proc/cpuinfo").ok()?;
    let line = text.lines().find(|line| line.starts_with("model name"))?;
    let name = line.split_once(':')?.1.trim();
    (!name.is_empty()).then(|| name.to_owned())
}

/// The widest instructions that the loops are compiled for and this processor has.
#[cfg(target_arch = "x86_64")]
fn simd() -> Option<&'static str> {
    if is_x86_feature_detected!("avx512bw")
        && is_x86_feature_detected!("avx512vl")
        && is_x86_feature_detected!("avx512vpopcntdq")
    {
        Some("AVX-512")
    } else if is_x86_feature_detected!("avx2") {
        Some("AVX2")
    } else if is_x86_feature_detected!("sse4.2") {
        Some("SSE4.2")
    } else {
        Some("SSE2")
    }
}

/// The widest instructions that the loops are compiled for and this processor has.
#[cfg(not(target_arch = "x86_64"))]
fn simd() -> Option<&'static str> {
    cfg!(target_arch = "aarch64").then_some("NEON")
}
