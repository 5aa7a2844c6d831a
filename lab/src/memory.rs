//! Memory bandwidth available to the CPU engine.

use anyhow::Context as _;
use rayon::prelude::*;
use std::time::Instant;

/// Size of the copied array, several times the caches, bytes.
const COPIED_BYTES: usize = 256 << 20;
/// Number of rounds, of which the best counts because other programs may use the memory.
const ROUNDS: usize = 5;

/// Measures the rate in bytes/s of reads and writes while the threads (default: one per core) copy a large array.
///
/// # Errors
/// The threads cannot be started.
pub(super) fn bytes_per_s(threads: Option<usize>) -> anyhow::Result<f64> {
    let pool = rayon::ThreadPoolBuilder::new()
        .num_threads(threads.unwrap_or(0))
        .thread_name(|i| format!("memory {i}"))
        .build()
        .context("cannot start the threads that measure memory")?;
    let piece = (COPIED_BYTES / 8).div_ceil(pool.current_num_threads());
    let source = vec![1u64; COPIED_BYTES / 8];
    let mut target = vec![2u64; COPIED_BYTES / 8];
    let mut best_s = f64::INFINITY;
    for _ in 0..ROUNDS {
        let start = Instant::now();
        pool.install(|| {
            let pieces = target.par_chunks_mut(piece).zip(source.par_chunks(piece));
            pieces.for_each(|(target, source)| target.copy_from_slice(source));
        });
        best_s = best_s.min(start.elapsed().as_secs_f64());
        std::hint::black_box(&mut target);
    }
    Ok(2.0 * COPIED_BYTES as f64 / best_s)
}
