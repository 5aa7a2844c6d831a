//! Memory that this process can still allocate: the free memory of the machine, and the rest of the limits of its control groups and of its
//! own. Linux only.

use super::bytes_in;
use crate::console;
use std::fmt;
use std::path::{Component, Path, PathBuf};

/// Memory that can still be allocated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FreeMemory {
    /// Size in bytes.
    pub bytes: u64,
    /// Bound that is met first.
    pub bound: Bound,
}

/// Bound of the memory of a process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Bound {
    /// Memory of the machine, with swap.
    Machine,
    /// Limit of a control group of this process, such as that of a container or of a service.
    Group,
    /// Limit of the address space.
    Addresses,
    /// Limit of the data segment.
    Data,
}

// end of a sentence: `this machine has 1.2 GB of memory free`
impl fmt::Display for FreeMemory {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let free = console::bytes(self.bytes);
        match self.bound {
            Bound::Machine => write!(f, "this machine has {free} of memory free"),
            Bound::Group => {
                write!(f, "the control group of this process (container, service) has {free} of memory free")
            }
            Bound::Addresses => write!(f, "the limit of addresses (ulimit -v) leaves {free}"),
            Bound::Data => write!(f, "the limit of data (ulimit -d) leaves {free}"),
        }
    }
}

/// Smallest size that is checked, bytes: below it the check takes longer than it is worth.
const LITTLE: u64 = 64 << 20;

/// Checks whether `bytes` can be allocated.
///
/// # Errors
/// The free memory, which is less.
pub fn check(bytes: u64) -> Result<(), FreeMemory> {
    let free = if bytes > LITTLE { Places::usual().free() } else { None };
    free.filter(|free| free.bytes < bytes).map_or(Ok(()), Err)
}

/// Folders in which the kernel reports memory.
#[derive(Clone, Copy, Debug)]
pub struct Places<'a> {
    /// `/proc`.
    pub proc: &'a Path,
    /// Folder in which control groups are mounted.
    pub groups: &'a Path,
}

impl Places<'static> {
    /// Returns the folders of this machine.
    pub fn usual() -> Self {
        Self { proc: Path::new("/proc"), groups: Path::new("/sys/fs/cgroup") }
    }
}

impl Places<'_> {
    /// Returns the memory that can still be allocated; `None` if the system reports none.
    pub fn free(self) -> Option<FreeMemory> {
        let machine = Machine::of(self.proc);
        let swap = machine.as_ref().map_or(0, |machine| machine.swap);
        let machine = machine.map(|machine| FreeMemory { bytes: machine.free, bound: Bound::Machine });
        let groups = self.groups(swap).map(|bytes| FreeMemory { bytes, bound: Bound::Group });
        machine.into_iter().chain(groups).chain(self.limits()).min_by_key(|free| free.bytes)
    }

    fn limits(self) -> impl Iterator<Item = FreeMemory> {
        let read = |name: &str| std::fs::read_to_string(self.proc.join("self").join(name)).unwrap_or_default();
        let (limits, status) = (read("limits"), read("status"));
        let kinds = [("Max address space", "VmSize:", Bound::Addresses), ("Max data size", "VmData:", Bound::Data)];
        kinds.into_iter().filter_map(move |(limit, used, bound)| {
            let line = limits.lines().find_map(|line| line.strip_prefix(limit))?;
            let most: u64 = line.split_whitespace().next()?.parse().ok()?; // or `unlimited`
            Some(FreeMemory { bytes: most.saturating_sub(bytes_in(&status, used)?), bound })
        })
    }

    /// Returns the rest of the limit of each control group of this process, and of each enclosing group.
    fn groups(self, swap: u64) -> impl Iterator<Item = u64> {
        let own = std::fs::read_to_string(self.proc.join("self/cgroup")).unwrap_or_default();
        let mut found = Vec::new();
        for line in own.lines() {
            let mut parts = line.splitn(3, ':');
            let (Some(_), Some(controllers), Some(path)) = (parts.next(), parts.next(), parts.next()) else { continue };
            let path: PathBuf =
                Path::new(path).components().filter(|part| matches!(part, Component::Normal(_))).collect();
            let is_first = controllers.split(',').any(|controller| controller == "memory");
            let roots: &[&str] = match controllers {
                "" => &["", "unified"],
                _ if is_first => &["memory"],
                _ => &[],
            };
            for root in roots.iter().map(|root| self.groups.join(root)) {
                let left = |folder: &Path| {
                    if is_first { left_in_version_1(folder, swap) } else { left_in_version_2(folder, swap) }
                };
                // in a container the path may be that of the host: only the outermost folder exists then
                found.extend(path.ancestors().filter_map(|path| left(&root.join(path))));
            }
        }
        found.into_iter()
    }
}

struct Machine {
    /// Free memory with swap, bytes.
    free: u64,
    swap: u64,
}

impl Machine {
    fn of(proc: &Path) -> Option<Self> {
        let info = std::fs::read_to_string(proc.join("meminfo")).ok()?;
        let swap = bytes_in(&info, "SwapFree:").unwrap_or(0);
        let free = bytes_in(&info, "MemAvailable:")? + swap;
        // without overcommit, promised memory counts as used
        let is_strict =
            std::fs::read_to_string(proc.join("sys/vm/overcommit_memory")).is_ok_and(|mode| mode.trim() == "2");
        let promised = || Some(bytes_in(&info, "CommitLimit:")?.saturating_sub(bytes_in(&info, "Committed_AS:")?));
        let left = if is_strict { promised() } else { None };
        Some(Self { free: left.map_or(free, |left| left.min(free)), swap })
    }
}

fn number_in(file: &Path) -> Option<u64> {
    std::fs::read_to_string(file).ok()?.trim().parse().ok()
}

/// Returns the bytes of cached files of a group, which the kernel frees on demand.
fn kept_files(folder: &Path, names: [&str; 2]) -> u64 {
    let stat = std::fs::read_to_string(folder.join("memory.stat")).unwrap_or_default();
    let of = |name: &str| {
        let line = stat.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(' '));
        line.and_then(|number| number.trim().parse::<u64>().ok()).unwrap_or(0)
    };
    names.into_iter().map(of).sum()
}

/// Returns the rest of the limit of a control group of version 1; `None` without a limit.
fn left_in_version_1(folder: &Path, swap: u64) -> Option<u64> {
    let files = kept_files(folder, ["total_inactive_file", "total_active_file"]);
    let left = |kind: &str| {
        let limit = number_in(&folder.join(format!("memory.{kind}limit_in_bytes")))?;
        let used = number_in(&folder.join(format!("memory.{kind}usage_in_bytes")))?;
        Some(limit.saturating_sub(used.saturating_sub(files)))
    };
    let memory = left("")?.saturating_add(swap);
    Some(left("memsw.").map_or(memory, |both| both.min(memory)))
}

/// Returns the rest of the limit of a control group of version 2; `None` without a limit.
fn left_in_version_2(folder: &Path, swap: u64) -> Option<u64> {
    let left = |kind: &str| {
        // or `max`
        let limit = number_in(&folder.join(format!("memory.{kind}max")))?;
        Some(limit.saturating_sub(number_in(&folder.join(format!("memory.{kind}current")))?))
    };
    let files = kept_files(folder, ["inactive_file", "active_file"]);
    Some(left("")?.saturating_add(files).saturating_add(left("swap.").unwrap_or(swap).min(swap)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    const MB: u64 = 1 << 20;

    fn machine() -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        write(&folder, "proc/meminfo", &format!("MemAvailable: {} kB\nSwapFree: {} kB\n", 8000 << 10, 1000 << 10));
        folder
    }

    fn write(folder: &tempfile::TempDir, name: &str, text: &str) {
        let path = folder.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    fn free(folder: &tempfile::TempDir) -> Option<(u64, Bound)> {
        let (proc, groups) = (folder.path().join("proc"), folder.path().join("groups"));
        let free = Places { proc: &proc, groups: &groups }.free()?;
        Some((free.bytes / MB, free.bound))
    }

    #[test]
    fn the_tightest_bound_counts() {
        assert_eq!(free(&tempfile::tempdir().unwrap()), None, "a system that tells nothing");
        let folder = machine();
        assert_eq!(free(&folder), Some((9000, Bound::Machine)));
        let limits = |addresses: &str, data: &str| {
            format!(
                "Limit  Soft Limit  Hard Limit  Units\nMax data size   {data}   unlimited bytes\nMax address space   \
                 {addresses}   unlimited bytes\n"
            )
        };
        write(&folder, "proc/self/status", &format!("VmSize:\t{} kB\nVmData:\t{} kB\n", 300 << 10, 100 << 10));
        write(&folder, "proc/self/limits", &limits("unlimited", "unlimited"));
        assert_eq!(free(&folder), Some((9000, Bound::Machine)));
        write(&folder, "proc/self/limits", &limits(&(2000 * MB).to_string(), "unlimited"));
        assert_eq!(free(&folder), Some((1700, Bound::Addresses)));
        write(&folder, "proc/self/limits", &limits(&(2000 * MB).to_string(), &(500 * MB).to_string()));
        assert_eq!(free(&folder), Some((400, Bound::Data)));
        write(&folder, "proc/self/limits", &limits(&(200 * MB).to_string(), "unlimited"));
        assert_eq!(free(&folder), Some((0, Bound::Addresses)));
    }

    #[test]
    fn strict_overcommit_counts_promised_memory() {
        let folder = machine();
        let info = fs::read_to_string(folder.path().join("proc/meminfo")).unwrap();
        write(
            &folder,
            "proc/meminfo",
            &format!("{info}CommitLimit: {} kB\nCommitted_AS: {} kB\n", 5000 << 10, 2000 << 10),
        );
        write(&folder, "proc/sys/vm/overcommit_memory", "0\n");
        assert_eq!(free(&folder), Some((9000, Bound::Machine)));
        write(&folder, "proc/sys/vm/overcommit_memory", "2\n");
        assert_eq!(free(&folder), Some((3000, Bound::Machine)));
    }

    #[test]
    fn control_groups_of_both_versions_and_their_parents_count() {
        let folder = machine();
        let mb = |mb: u64| format!("{}\n", mb * MB);
        write(&folder, "proc/self/cgroup", "0::/user/job\n");
        write(&folder, "groups/user/job/memory.max", "max\n");
        write(&folder, "groups/user/job/memory.current", &mb(100));
        assert_eq!(free(&folder), Some((9000, Bound::Machine)), "no limit");
        write(&folder, "groups/user/memory.max", &mb(2000));
        write(&folder, "groups/user/memory.current", &mb(1500));
        write(&folder, "groups/user/memory.swap.max", &mb(0));
        write(&folder, "groups/user/memory.swap.current", &mb(0));
        assert_eq!(free(&folder), Some((500, Bound::Group)), "that of the group around it");
        write(
            &folder,
            "groups/user/memory.stat",
            &format!("anon 5\ninactive_file {}\nactive_file {}\n", 300 * MB, 100 * MB),
        );
        assert_eq!(free(&folder), Some((900, Bound::Group)), "files that are kept make room");
        write(&folder, "groups/user/memory.swap.max", "max\n");
        assert_eq!(free(&folder), Some((1900, Bound::Group)), "it can be swapped out");

        // the path of the host, which does not exist in this container
        let folder = machine();
        write(&folder, "proc/self/cgroup", "4:cpu,memory:/../docker/77\n1:name=systemd:/\n");
        write(&folder, "groups/memory/memory.limit_in_bytes", &mb(3000));
        write(&folder, "groups/memory/memory.usage_in_bytes", &mb(1000));
        assert_eq!(free(&folder), Some((3000, Bound::Group)), "with 1000 MB of swap");
        write(&folder, "groups/memory/memory.memsw.limit_in_bytes", &mb(3000));
        write(&folder, "groups/memory/memory.memsw.usage_in_bytes", &mb(1000));
        write(&folder, "groups/memory/memory.stat", &format!("inactive_file 7\ntotal_inactive_file {}\n", 200 * MB));
        assert_eq!(free(&folder), Some((2200, Bound::Group)));
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn this_machine_reports_free_memory() {
        let free = Places::usual().free().unwrap().bytes;
        assert!(free > 64 * MB, "{free}");
        let text = FreeMemory { bytes: 1_234_000_000, bound: Bound::Machine }.to_string();
        assert_eq!(text, "this machine has 1.2 GB of memory free");
    }
}
