//! The program `stereopsis`; all of it is in the library.

fn main() -> std::process::ExitCode {
    #[cfg(target_os = "linux")]
    leave_out_device_select();
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    keep_freed_memory();
    #[cfg(unix)]
    fail_at_file_limit();
    stereopsis::main()
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
/// returns what exceeds twice the largest block that was mapped and freed, up to blocks of 32 MiB.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
fn keep_freed_memory() {
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
    let threads = std::fs::read_dir("/proc/self/task").map_or(0, Iterator::count);
    if threads == 1 {
        #[allow(unsafe_code, reason = "the layer is told by a variable only")]
        // SAFETY: there is no other thread that could read variables meanwhile.
        unsafe {
            std::env::set_var("NODEVICE_SELECT", "1");
        }
    }
}
