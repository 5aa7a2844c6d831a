//! This process: its memory and processor time, where the system reports them, and what it does not share with processes forked from it.

pub mod memory;

use std::time::Duration;

/// Largest resident memory so far, or since [`forget_peak`], bytes. Linux only.
pub fn peak_bytes() -> Option<u64> {
    of_status("VmHWM:")
}

/// Resident memory now, bytes. Linux only.
pub fn resident_bytes() -> Option<u64> {
    of_status("VmRSS:")
}

/// Resets [`peak_bytes`]. Where the system refuses, the peak still counts from the start of the program.
pub fn forget_peak() {
    if cfg!(target_os = "linux")
        && let Err(err) = std::fs::write("/proc/self/clear_refs", "5")
    {
        log::debug!("the peak of memory counts from the start of the program: {err}");
    }
}

/// Processor time of all threads so far, in the program and in the kernel for it. Linux only.
pub fn cpu_time() -> Option<Duration> {
    clock(false)
}

/// Processor time of the calling thread. Linux only.
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

/// Time that all cores together had nothing to do so far, to a hundredth of a second. Linux only.
pub fn idle_time() -> Option<Duration> {
    idle_in(&std::fs::read_to_string("/proc/stat").ok()?)
}

/// The idle time of a text like that of /proc/stat; `None` where it does not tell.
fn idle_in(text: &str) -> Option<Duration> {
    let mut words = text.lines().next()?.strip_prefix("cpu ")?.split_whitespace().map(str::parse::<u64>);
    // behind user, nice and system; a core that waits for a disk could compute
    let (idle, waiting) = (words.nth(3)?.ok()?, words.next()?.ok()?);
    Some(Duration::from_millis(idle.saturating_add(waiting).saturating_mul(TICK_MS)))
}

/// Unit of the times in /proc/stat, ms: the same on every Linux that matters.
const TICK_MS: u64 = 10;

/// Lets other threads go first: the calling thread and those that it starts compute with what they leave. Linux only.
pub fn lower_priority() {
    #[cfg(target_os = "linux")]
    // on Linux each thread has a niceness of its own
    if let Err(err) = rustix::process::setpriority_process(None, LOW_PRIORITY) {
        log::debug!("this thread keeps its priority: {err}");
    }
}

/// Niceness of work that nothing waits for; 0 is usual, 19 the lowest.
#[cfg(target_os = "linux")]
const LOW_PRIORITY: i32 = 5;

/// Processor time over wall time from one moment on.
#[derive(Clone, Copy, Debug)]
pub struct CpuShare {
    start: std::time::Instant,
    used: Option<Duration>,
}

impl CpuShare {
    /// Counts from now.
    pub fn start() -> Self {
        Self { start: std::time::Instant::now(), used: cpu_time() }
    }

    /// Wall time until now.
    pub fn elapsed(&self) -> Duration {
        self.start.elapsed()
    }

    /// Share until now in per cent of one core: 200 are two busy cores. `None` where the system does not report it.
    pub fn percent(&self) -> Option<f64> {
        let used = cpu_time()?.saturating_sub(self.used?);
        Some(100.0 * used.as_secs_f64() / self.elapsed().as_secs_f64().max(1e-9))
    }
}

/// A value with threads or a device of the process that made it.
///
/// A process that was forked from that one has the value's memory, but not its threads: to use the value, or to drop it, would wait for
/// them forever. There it is never given and never dropped.
#[derive(Debug)]
pub struct OfProcess<T> {
    value: Option<T>,
    process: u32,
}

impl<T> OfProcess<T> {
    /// A value of this process.
    pub fn new(value: T) -> Self {
        Self { value: Some(value), process: std::process::id() }
    }

    /// A value of another process.
    #[cfg(any(test, feature = "testing"))]
    pub fn elsewhere(value: T) -> Self {
        Self { value: Some(value), process: std::process::id() + 1 }
    }

    /// The value; `None` in any other process than the one that made it.
    pub fn get(&mut self) -> Option<&mut T> {
        self.value.as_mut().filter(|_| self.process == std::process::id())
    }

    /// The value that is kept for this process; one that `make` gives where there is none, or another process' one.
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

impl<T> Drop for OfProcess<T> {
    fn drop(&mut self) {
        if self.get().is_none() {
            std::mem::forget(self.value.take());
        }
    }
}

fn of_status(key: &str) -> Option<u64> {
    bytes_in(&std::fs::read_to_string("/proc/self/status").ok()?, key)
}

/// The number of a line such as `MemTotal:  16314 kB` of a file of /proc, bytes; `None` where there is no such line.
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
        let mut here = OfProcess::new(Arc::clone(&value));
        assert!(here.get().is_some());
        drop(here);
        assert_eq!(Arc::strong_count(&value), 1);
        let mut elsewhere = OfProcess::elsewhere(Arc::clone(&value));
        assert!(elsewhere.get().is_none());
        let mut kept = Some(elsewhere);
        for _ in 0..2 {
            let made = OfProcess::kept(&mut kept, || Ok::<_, ()>(Arc::new(()))).unwrap();
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
    use std::time::Instant;

    #[test]
    fn idle_cores_are_those_without_work_and_those_that_wait_for_a_disk() {
        let text = "cpu  10 20 30 400 50 6 7 8 9 0\ncpu0 1 2 3 4 5\n";
        assert_eq!(idle_in(text), Some(Duration::from_millis(4500)));
        for other in ["", "cpu", "cpu  1 2 3 4", "cpu0 1 2 3 4 5", "cpu  1 2 3 x 5"] {
            assert_eq!(idle_in(other), None, "{other}");
        }
        assert!(idle_time().is_some_and(|idle| idle <= idle_time().unwrap()));
    }

    #[test]
    fn memory_that_is_used_shows() {
        let before = resident_bytes().unwrap();
        let block = black_box(vec![1_u8; 64 << 20]);
        let (now, peak) = (resident_bytes().unwrap(), peak_bytes().unwrap());
        // other tests come and go beside this one
        assert!(now > before + (32 << 20), "{before} then {now} with {} more", block.len());
        assert!(peak >= now - (8 << 20), "{peak} {now}");
    }

    #[test]
    fn work_counts() {
        use rustix::time::{ClockId, clock_gettime};
        // of this thread: other tests work beside it
        let own = || Duration::try_from(clock_gettime(ClockId::ThreadCPUTime)).unwrap().as_secs_f64();
        let all = || cpu_time().unwrap().as_secs_f64();
        let share = CpuShare::start();
        let (all_before, own_before) = (all(), own());
        let end = Instant::now() + Duration::from_millis(60);
        while Instant::now() < end {}
        let (own_used, all_used) = (own() - own_before, all() - all_before);
        assert!(own_used > 0.01 && all_used >= own_used, "{own_used} of {all_used} s");
        let percent = 100.0 * own_used / share.elapsed().as_secs_f64();
        assert!(share.percent().unwrap() > 0.9 * percent, "{:?} of at least {percent} %", share.percent());
    }
}
