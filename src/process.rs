//! Memory and processor time of this process, where the system reports them.

pub mod memory;

use std::time::Duration;

/// Largest resident memory so far, or since [`forget_peak`], bytes. Linux only.
pub fn peak_bytes() -> Option<u64> {
    of_status("VmHWM:")
}

/// Resident memory now, bytes. Linux only.
#[cfg(test)]
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

fn of_status(key: &str) -> Option<u64> {
    bytes_in(&std::fs::read_to_string("/proc/self/status").ok()?, key)
}

/// The number of a line such as `MemTotal:  16314 kB` of a file of /proc, bytes; `None` where there is no such line.
pub fn bytes_in(text: &str, key: &str) -> Option<u64> {
    let line = text.lines().find_map(|line| line.strip_prefix(key))?;
    Some(line.trim().trim_end_matches("kB").trim().parse::<u64>().ok()? << 10)
}

#[cfg(test)]
#[cfg(target_os = "linux")]
mod tests {
    use super::*;
    use std::hint::black_box;
    use std::time::Instant;

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
