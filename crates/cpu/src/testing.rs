//! Hooks for tests that stand outside: the engine is compiled once for all of them.

use super::{CpuEngine, need, new_pool};
use crate::engine::EngineError;
use crate::engine::demand::Demand;
use crate::process::OfProcess;
use crate::process::memory::FreeMemory;
use crossbeam_channel::Receiver;

impl CpuEngine {
    /// The same with so much free memory, whatever the system says.
    #[must_use]
    pub fn with_free(mut self, free: FreeMemory) -> Self {
        self.buffers.free = Some(free);
        self
    }

    /// Bytes that a demand is computed to need while it is matched.
    pub fn needed_bytes(&self, demand: &Demand) -> u64 {
        need::bytes(demand, self.machine())
    }

    /// Bytes of these that are computed to be kept from pair to pair.
    pub fn kept_bytes(&self, demand: &Demand) -> u64 {
        need::kept(demand, self.machine())
    }

    /// Becomes as it is in a process that was forked: its threads are missing. They do nothing until `end` is disconnected.
    ///
    /// # Errors
    /// The system gives no threads.
    pub fn lose_threads(&mut self, end: Receiver<()>) -> Result<(), EngineError> {
        let pool = new_pool(1)?;
        pool.spawn(move || {
            let _ = end.recv();
        });
        self.pool = Some(OfProcess::elsewhere(pool));
        Ok(())
    }
}
