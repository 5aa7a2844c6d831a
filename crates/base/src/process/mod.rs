//! This process: memory and processor time, as the system reports them, and values that a forked process must not use.

pub mod memory;

use std::time::Duration;

/// Returns the largest resident memory so far, or since [`forget_peak`], bytes. Linux only.
pub fn peak_bytes() -> Option<u64> {
    status_bytes("VmHWM:")
}

/// Returns the resident memory, bytes. Linux only.
pub fn resident_bytes() -> Option<u64> {
    status_bytes("VmRSS:")
}

/// Resets [`peak_bytes`]. If the system refuses, the peak still counts from the start of the program.
pub fn forget_peak() {
    if cfg!(target_os = "linux")
        && let Err(err) = std::fs::write("/proc/self/clear_refs", "5")
    {
        log::debug!("the peak of memory counts from the start of the program: {err}");
    }
}

/// Returns the processor time of all threads so far, in the program and in the kernel. Linux only.
pub fn cpu_time() -> Option<Duration> {
    clock(false)
}

/// Returns the processor time of the calling thread. Linux only.
pub fn thread_cpu_time() -> Option<Duration> {
    clock(true)
}

#[cfg(target_os = "linux")]
fn clock(of_thread: bool) -> Option<Duration> {
    use rustix::time::{ClockId, clock_gettime};
    let clock = if of_thread { ClockId::ThreadCPUTime } else { ClockId::ProcessCPUTime };
    Duration::try_from(clock_gettime(clock)).ok()
}

#[cfg(not(target_os = "linux"))]
fn clock(_: bool) -> Option<Duration> {
    None
}

/// Returns the idle time of all cores together so far, to a hundredth of a second. Linux only.
pub fn idle_time() -> Option<Duration> {
    idle_in(&std::fs::read_to_string("/proc/stat").ok()?)
}

fn idle_in(text: &str) -> Option<Duration> {
    let mut words = text.lines().next()?.strip_prefix("cpu ")?.split_whitespace().map(str::parse::<u64>);
    // after user, nice and system; a core that waits for a disk is idle too
    let (idle, waiting) = (words.nth(3)?.ok()?, words.next()?.ok()?);
    Some(Duration::from_millis(idle.saturating_add(waiting).saturating_mul(TICK_MS)))
}

/// Unit of the times in /proc/stat, ms, the same on all common Linux systems.
const TICK_MS: u64 = 10;

/// Lowers the priority of the calling thread and of threads that it starts. Linux only.
pub(crate) fn lower_priority() {
    #[cfg(target_os = "linux")]
    // on Linux each thread has its own niceness
    if let Err(err) = rustix::process::setpriority_process(None, LOW_PRIORITY) {
        log::debug!("this thread keeps its priority: {err}");
    }
}

/// Niceness of work without a deadline; 0 is usual, 19 the lowest priority.
#[cfg(target_os = "linux")]
const LOW_PRIORITY: i32 = 5;

/// Processor time over wall time since a start.
#[derive(Clone, Copy, Debug)]
pub struct CpuShare {
    start: std::time::Instant,
    used: Option<Duration>,
}

impl CpuShare {
    /// Starts now.
    pub fn start() -> Self {
        Self { start: std::time::Instant::now(), used: cpu_time() }
    }

    /// Returns the wall time since the start.
    pub fn elapsed(&self) -> Duration {
        self.start.elapsed()
    }

    /// Returns the share since the start, per cent of one core: 200 are two busy cores. `None` if the system does not report it.
    pub fn percent(&self) -> Option<f64> {
        let used = cpu_time()?.saturating_sub(self.used?);
        Some(100.0 * used.as_secs_f64() / self.elapsed().as_secs_f64().max(1e-9))
    }
}

/// Value that owns threads or a device of the process that made it.
///
/// A forked process has the value's memory, but not its threads, and would wait for them forever. There the value is never returned
/// and never dropped.
#[derive(Debug)]
pub struct ProcessLocal<T> {
    value: Option<T>,
    process: u32,
}

impl<T> ProcessLocal<T> {
    /// Wraps a value of this process.
    pub fn new(value: T) -> Self {
        Self { value: Some(value), process: std::process::id() }
    }

    /// Wraps a value as if another process had made it.
    pub fn elsewhere(value: T) -> Self {
        Self { value: Some(value), process: std::process::id() + 1 }
    }

    /// Returns the value; `None` in another process than the one that made it.
    pub fn get(&mut self) -> Option<&mut T> {
        self.value.as_mut().filter(|_| self.process == std::process::id())
    }

    /// Returns the value kept for this process; without one, or with another process' value, that of `make`.
    ///
    /// # Errors
    /// As `make`.
    pub fn kept<E>(kept: &mut Option<Self>, make: impl FnOnce() -> Result<T, E>) -> Result<&mut T, E> {
        let here = match kept.take_if(|own| own.get().is_some()) {
            Some(own) => own,
            None => Self::new(make()?),
        };
        Ok(kept.insert(here).value.as_mut().expect("only a drop takes it"))
    }
}

impl<T> Drop for ProcessLocal<T> {
    fn drop(&mut self) {
        if self.get().is_none() {
            std::mem::forget(self.value.take());
        }
    }
}

fn status_bytes(key: &str) -> Option<u64> {
    bytes_in(&std::fs::read_to_string("/proc/self/status").ok()?, key)
}

/// Returns the number of a line of a /proc file such as `MemTotal:  16314 kB`, bytes; `None` without such a line.
pub fn bytes_in(text: &str, key: &str) -> Option<u64> {
    let line = text.lines().find_map(|line| line.strip_prefix(key))?;
    Some(line.trim().trim_end_matches("kB").trim().parse::<u64>().ok()? << 10)
}

#[cfg(test)]
mod tests_of_forks {
    use super::*;
    use std::sync::Arc;

    #[test]
    fn a_value_of_another_process_is_neither_given_nor_dropped() {
        let value = Arc::new(());
        let mut here = ProcessLocal::new(Arc::clone(&value));
        assert!(here.get().is_some());
        drop(here);
        assert_eq!(Arc::strong_count(&value), 1);
        let mut elsewhere = ProcessLocal::elsewhere(Arc::clone(&value));
        assert!(elsewhere.get().is_none());
        let mut kept = Some(elsewhere);
        for _ in 0..2 {
            let made = ProcessLocal::kept(&mut kept, || Ok::<_, ()>(Arc::new(()))).unwrap();
            assert!(!Arc::ptr_eq(made, &value));
        }
        assert_eq!(Arc::strong_count(&value), 2, "it was not dropped");
    }
}

#[cfg(test)]
#[cfg(target_os = "linux")]
mod tests {
    use super::*;
    use std::hint::black_box;

    #[test]
    fn idle_time_includes_waiting_for_a_disk() {
        let text = "cpu  10 20 30 400 50 6 7 8 9 0\ncpu0 1 2 3 4 5\n";
        assert_eq!(idle_in(text), Some(Duration::from_millis(4500)));
        for other in ["", "cpu", "cpu  1 2 3 4", "cpu0 1 2 3 4 5", "cpu  1 2 3 x 5"] {
            assert_eq!(idle_in(other), None, "{other}");
        }
        assert!(idle_time().is_some_and(|idle| idle <= idle_time().unwrap()));
    }

    #[test]
    fn allocated_memory_is_resident() {
        let before = resident_bytes().unwrap();
        let block = black_box(vec![1_u8; 64 << 20]);
        let (now, peak) = (resident_bytes().unwrap(), peak_bytes().unwrap());
        // other tests allocate at the same time
        assert!(now > before + (32 << 20), "{before} then {now} with {} more", block.len());
        assert!(peak >= now - (8 << 20), "{peak} {now}");
    }

    #[test]
    fn busy_work_counts_as_cpu_time() {
        use rustix::time::{ClockId, clock_gettime};
        // of this thread only, because other tests run at the same time
        let own = || Duration::try_from(clock_gettime(ClockId::ThreadCPUTime)).unwrap().as_secs_f64();
        let all = || cpu_time().unwrap().as_secs_f64();
        let share = CpuShare::start();
        let (all_before, own_before) = (all(), own());
        while own() - own_before < 0.03 {}
        let (own_used, all_used) = (own() - own_before, all() - all_before);
        assert!(all_used >= own_used, "{own_used} of {all_used} s");
        let percent = share.percent().unwrap();
        let at_least = 100.0 * own_used / share.elapsed().as_secs_f64();
        assert!(percent > 0.99 * at_least, "{percent} of at least {at_least} %");
    }
}
