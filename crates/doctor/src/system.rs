//! Checks of program, operating system, processor and memory.

use super::report::Check;
use std::path::Path;
use stereopsis_base::console;
use stereopsis_base::console::{counted, foreign};
use stereopsis_base::process::bytes_in;
use stereopsis_base::process::memory::{Bound, Places};
use stereopsis_cpu::brand_in;
use stereopsis_cpu::simd::SimdLevel;

/// Minimum free memory, for a 1280x720 pair with 128 disparities, bytes.
const MIN_FREE_BYTES: u64 = 512 << 20;

/// Reports version and features of this build.
pub(super) fn program() -> Check {
    let features = [("publish", cfg!(feature = "publish")), ("zenoh", cfg!(feature = "zenoh"))];
    let features: Vec<_> = features.into_iter().filter_map(|(name, has)| has.then_some(name)).collect();
    let features = if features.is_empty() { "no features".to_owned() } else { format!("with {}", features.join(", ")) };
    let text = format!("stereopsis {}, {features}", env!("CARGO_PKG_VERSION"));
    Check::ok("program", text)
}

/// Reports name, kernel and architecture of the system, from folders like /etc and /proc.
pub(super) fn system(etc: &Path, proc: &Path) -> Check {
    let release = std::fs::read_to_string(etc.join("os-release")).unwrap_or_default();
    let name = release.lines().find_map(|line| line.strip_prefix("PRETTY_NAME="));
    let name = name.map_or(std::env::consts::OS, |name| name.trim_matches(['"', '\'']));
    let kernel = std::fs::read_to_string(proc.join("sys/kernel/osrelease"));
    let kernel = kernel.map_or_else(|_| String::new(), |kernel| format!(", Linux {}", foreign(kernel.trim())));
    Check::ok("system", format!("{}{kernel}, {}", foreign(name), std::env::consts::ARCH))
}

/// Reports the processor, its threads, and the vector instructions in use; `forced` is the user's variable.
pub(super) fn processor(proc: &Path, forced: Option<&str>) -> Check {
    let info = std::fs::read_to_string(proc.join("cpuinfo")).unwrap_or_default();
    let brand = brand_in(&info).map_or_else(|| std::env::consts::ARCH.to_owned(), foreign);
    let threads = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    let level = forced.and_then(|word| SimdLevel::find(word).ok()).unwrap_or_else(SimdLevel::best);
    let has: Vec<_> = SimdLevel::all().into_iter().map(SimdLevel::name).collect();
    let threads = counted(threads as u64, "thread");
    Check::ok("processor", format!("{brand}, {threads}, {} in use (it has {})", level.name(), has.join(", ")))
}

/// Reports the memory available to this process, if known.
pub(super) fn memory(places: Places<'_>) -> Option<Check> {
    let info = std::fs::read_to_string(places.proc.join("meminfo")).ok()?;
    let (total, free) = (bytes_in(&info, "MemTotal:")?, places.free()?);
    let text = match free.bound {
        Bound::Machine => format!("{}, {} free", console::bytes(total), console::bytes(free.bytes)),
        _ => format!("{}, but {free}", console::bytes(total)),
    };
    if free.bytes < MIN_FREE_BYTES {
        let todo = "close other programs, or lower --num-disparities or --scale";
        return Some(Check::note("memory", format!("{text}: large images have no room"), todo));
    }
    Some(Check::ok("memory", text))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::State;

    #[test]
    fn reads_system_and_processor_from_files() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        std::fs::create_dir_all(at("sys/kernel")).unwrap();
        std::fs::write(at("os-release"), "ID=debian\nPRETTY_NAME=\"Debian GNU/Linux 13 (trixie)\"\n").unwrap();
        std::fs::write(at("sys/kernel/osrelease"), "6.12.0-amd64\n").unwrap();
        std::fs::write(at("cpuinfo"), "processor\t: 0\nmodel name\t: A CPU\u{1b} of ours\n").unwrap();
        let arch = std::env::consts::ARCH;
        let check = system(folder.path(), folder.path());
        assert_eq!(check.text, format!("Debian GNU/Linux 13 (trixie), Linux 6.12.0-amd64, {arch}"));
        let text = processor(folder.path(), Some("portable")).text;
        let portable = SimdLevel::find("portable").unwrap().name();
        assert!(
            text.starts_with("A CPU\\u{1b} of ours, ") && text.contains(&format!("{portable} in use (it has ")),
            "{text}"
        );
        let empty = folder.path().join("none");
        assert_eq!(system(&empty, &empty).text, format!("{}, {arch}", std::env::consts::OS));
        assert!(processor(&empty, None).text.starts_with(arch));
    }

    #[test]
    fn little_memory_and_a_debug_build_are_noted() {
        let folder = tempfile::tempdir().unwrap();
        let of = |free: u64| {
            let text = format!("MemTotal: 16000000 kB\nMemAvailable: {free} kB\n");
            std::fs::write(folder.path().join("meminfo"), text).unwrap();
            memory(Places { proc: folder.path(), groups: &folder.path().join("groups") }).unwrap()
        };
        assert_eq!((of(8_000_000).state, of(8_000_000).text.as_str()), (State::Ok, "16.4 GB, 8.2 GB free"));
        std::fs::create_dir_all(folder.path().join("self")).unwrap();
        std::fs::write(folder.path().join("self/status"), "VmSize: 1000000 kB\n").unwrap();
        std::fs::write(folder.path().join("self/limits"), "Max address space  3024000000  unlimited  bytes\n").unwrap();
        assert_eq!(of(8_000_000).text, "16.4 GB, but the limit of addresses (ulimit -v) leaves 2.0 GB");
        let little = of(100_000);
        assert!(little.state == State::Note && little.todo.unwrap().contains("--num-disparities"));
    }
}
