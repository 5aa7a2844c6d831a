//! Hooks for the integration tests: the engine is compiled once for all of them.

use super::{CpuEngine, need, new_pool};
use crossbeam_channel::Receiver;
use stereopsis_base::process::ProcessLocal;
use stereopsis_base::process::memory::FreeMemory;
use stereopsis_frame::engine::EngineError;
use stereopsis_frame::engine::demand::Demand;

impl CpuEngine {
    /// Sets the amount of free memory that the engine assumes.
    #[must_use]
    pub fn with_free(mut self, free: FreeMemory) -> Self {
        self.buffers.free = Some(free);
        self
    }

    /// Returns the computed number of bytes that a demand needs while it is matched.
    pub fn needed_bytes(&self, demand: &Demand) -> u64 {
        need::bytes(demand, self.machine())
    }

    /// Returns the computed number of bytes that are kept from pair to pair.
    pub fn kept_bytes(&self, demand: &Demand) -> u64 {
        need::kept(demand, self.machine())
    }

    /// Simulates a forked process, whose threads are missing: they do nothing until `end` is disconnected.
    ///
    /// # Errors
    /// The system gives no threads.
    pub fn lose_threads(&mut self, end: Receiver<()>) -> Result<(), EngineError> {
        let pool = new_pool(1)?;
        pool.spawn(move || {
            let _ = end.recv();
        });
        self.pool = Some(ProcessLocal::elsewhere(pool));
        Ok(())
    }
}
