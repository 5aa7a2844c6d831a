//! Settings of the process, made before it has a second thread.

/// Makes all of them.
pub(super) fn prepare() {
    #[cfg(feature = "zenoh")]
    give_zenoh_one_thread();
    #[cfg(target_os = "linux")]
    leave_out_device_select();
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    keep_freed_memory();
    #[cfg(unix)]
    fail_at_file_limit();
}

/// Lets a write beyond the user's limit of file sizes (`ulimit -f`) fail like one on a full disk. Otherwise the system ends the program
/// without a word. Threads have the mask of the one that begins them.
#[cfg(unix)]
fn fail_at_file_limit() {
    use nix::sys::signal::{SigSet, Signal};
    let beyond = SigSet::from(Signal::SIGXFSZ);
    // a mask that the system refuses leaves the default
    let _ = beyond.thread_block();
}

/// Makes glibc keep freed memory for the next pair: new pages from the system cost more time than the pair's rectification. glibc
/// returns what exceeds twice the largest block that was mapped and freed, up to blocks of 32 MiB. It keeps as much for each of its
/// arenas, of which threads have eight for each core, and an arena outlives its threads: the short jobs of a window, which allocate
/// images, would leave memory in all of them. Two serve all threads, because matching allocates little.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
#[allow(unsafe_code, reason = "glibc has no safe form of its settings")]
fn keep_freed_memory() {
    unsafe extern "C" {
        fn mallopt(parameter: std::ffi::c_int, value: std::ffi::c_int) -> std::ffi::c_int;
    }
    /// `M_ARENA_MAX` of malloc.h.
    const ARENA_MAX: std::ffi::c_int = -8;
    // SAFETY: mallopt is glibc's, with this signature; it takes two numbers and locks the allocator itself.
    unsafe {
        mallopt(ARENA_MAX, 2); // refused by other allocators, which have no arenas
    }
    drop(std::hint::black_box(Vec::<u8>::with_capacity(31 << 20)));
}

/// Disables Mesa's Vulkan layer that looks for a compositor and puts its GPU first, where there is no compositor: Wayland's library
/// prints an error for each attempt. The program chooses its GPU itself.
#[cfg(target_os = "linux")]
fn leave_out_device_select() {
    let is_set = |name| std::env::var_os(name).is_some();
    let is_path = |name| std::env::var_os(name).is_some_and(|value| std::path::Path::new(&value).is_absolute());
    if is_path("XDG_RUNTIME_DIR") || is_path("WAYLAND_DISPLAY") || is_set("MESA_VK_DEVICE_SELECT") {
        return;
    }
    set_variable("NODEVICE_SELECT", "1");
}

/// Makes Zenoh receive and send on one thread. It shares the state of a TLS connection between both without a lock (1.10.2, its issue
/// 2557): of 600 new connections 5 broke at once, and messages could be damaged later.
#[cfg(feature = "zenoh")]
fn give_zenoh_one_thread() {
    const VARIABLE: &str = "ZENOH_RUNTIME";
    if std::env::var_os(VARIABLE).is_none() {
        set_variable(VARIABLE, "(rx: (handover: tx))");
    }
}

/// Sets an environment variable, the only way to tell some libraries, unless there is a second thread.
#[cfg(any(target_os = "linux", feature = "zenoh"))]
fn set_variable(name: &str, value: &str) {
    let is_alone = !cfg!(target_os = "linux") || std::fs::read_dir("/proc/self/task").map_or(0, Iterator::count) == 1;
    if is_alone {
        #[allow(unsafe_code, reason = "some libraries are told by a variable only")]
        // SAFETY: no other thread could read variables meanwhile: on Linux there is none, elsewhere the main function has just begun.
        unsafe {
            std::env::set_var(name, value);
        }
    }
}

#[cfg(test)]
#[cfg(all(target_os = "linux", target_env = "gnu"))]
mod tests {
    use std::sync::{Arc, Barrier};

    fn resident_bytes() -> usize {
        let status = std::fs::read_to_string("/proc/self/status").unwrap();
        let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap();
        line.trim().trim_end_matches(" kB").parse::<usize>().unwrap() * 1024
    }

    /// Name of the variable by which the test runs itself in a process of its own, whose memory nothing else changes.
    const ALONE: &str = "STEREOPSIS_TEST_ALONE";

    #[test]
    fn ended_threads_leave_little_memory() {
        if std::env::var_os(ALONE).is_none() {
            let mut own = std::process::Command::new(std::env::current_exe().unwrap());
            own.args(["--exact", "cli::process::tests::ended_threads_leave_little_memory"]).env(ALONE, "1");
            let output = own.output().unwrap();
            assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stdout));
            return;
        }
        super::keep_freed_memory();
        let before = resident_bytes();
        let all_there = Arc::new(Barrier::new(16));
        let work = |_| {
            let all_there = Arc::clone(&all_there);
            let allocate = move || {
                let images: Vec<_> = (0..20).map(|_| std::hint::black_box(vec![1_u8; 1 << 20])).collect();
                all_there.wait();
                drop(images);
            };
            std::thread::Builder::new().name("allocates".into()).spawn(allocate).unwrap()
        };
        let threads: Vec<_> = (0..16).map(work).collect();
        for thread in threads {
            thread.join().unwrap();
        }
        let left_mb = resident_bytes().saturating_sub(before) >> 20;
        assert!(left_mb < 150, "{left_mb} MB of 320 are left");
    }
}
